"""The values that a study's source printed, as a table to work with."""

from __future__ import annotations

from pathlib import Path

from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.published import COLUMNS, PRINTED, read_rows

# Whether the audit of the source rejects the value; ``audit.doubts`` tells, the file does not.
REJECTED = "rejected"
NUMBERS = ["value", *SIZES]


def read_published(path: Path) -> pd.DataFrame:
    """Read the published values; an empty value is one that the source left out.

    Units are those of ``measurements.csv``: ops/s, ms (run time), us (latency); and % for
    ``throughput_change`` (a store's against a comparison table's baseline) and
    ``failed_share`` (failed operations by all of that kind); and places, 1 is best, for
    ``throughput_rank``. The workload ``mean`` is the
    mean of all workloads. Columns are ``COLUMNS``, records, operations and threads (NaN: the
    value is of no certain size), printed ("" where the source prints the value itself) and
    rejected (False). Raises KvstudyError as ``read_rows`` does.
    """
    frame = pd.DataFrame(read_rows(path), columns=[*COLUMNS, *SIZES, PRINTED])
    numbers = {name: pd.to_numeric(frame[name].replace("", None)) for name in NUMBERS}
    frame = frame.assign(**numbers).astype(dict.fromkeys(NUMBERS, float))
    return frame.assign(**{REJECTED: False})


def over_records(published: pd.DataFrame | None, workload: str) -> dict[tuple, tuple[float, str]]:
    """Values of ``workload`` by (store, operation, metric, records), each with its printed form.

    Also those that the source leaves empty, as NaN. A value without records is not among them.
    """
    if published is None:
        return {}
    rows = published[(published["workload"] == workload) & published["records"].notna()]
    return {
        (row.store, row.operation, row.metric, int(row.records)): (row.value, row.printed)
        for row in rows.itertuples()
    }


def nothing_published() -> pd.DataFrame:
    """As ``read_published`` gives it, of a source that printed no values."""
    columns = [*COLUMNS, *SIZES, PRINTED, REJECTED]
    return pd.DataFrame(columns=columns).astype(dict.fromkeys(NUMBERS, float))
