"""The values that a study's source printed (``config/studies/<study>/published.csv``)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.study.base import SIZES
from kvstudy.tidy.files import read_csv

COLUMNS = ["study", "table", "store", "workload", "operation", "metric", "unit", "value"]
# May be left out, as may the sizes of the source's cells: the value as the source prints it.
PRINTED = "printed"
NUMBERS = ["value", *SIZES]
KEYS = ["store", "workload", "operation", "metric", *SIZES]
UNITS = {"throughput": "ops/s", "runtime": "ms", "operations": "count"}
# Shares and changes, as texts print them.
UNITS |= {"throughput_change": "%", "failed_share": "%", "throughput_rank": "place"}
# Of one store by another, and of a cache.
UNITS |= {"relative_performance": "ratio", "break_even": "reads/write", "hit_probability": "%"}


def read_published(path: Path) -> pd.DataFrame:
    """Read the published values; an empty value is one that the source left out.

    Units are those of ``measurements.csv``: ops/s, ms (run time), us (latency); and % for
    ``throughput_change`` (a store's against a comparison table's baseline) and
    ``failed_share`` (failed operations by all of that kind); and places, 1 is best, for
    ``throughput_rank``. The workload ``mean`` is the
    mean of all workloads. Columns are ``COLUMNS``, records, operations and threads (NaN: the
    value is of no certain size), printed ("" where the source prints the value itself).
    Raises KvstudyError for a missing file, another unit or a value given twice.
    """
    made_by = "part of the study, beside study.yaml"
    frame = read_csv(path, COLUMNS, NUMBERS, made_by, [*SIZES, PRINTED])
    units = frame["metric"].map(UNITS).fillna("us")
    for row in frame[frame["unit"] != units].head(1).itertuples():
        raise KvstudyError(
            f"{path}: line {row.Index + 2}: {row.metric} in {row.unit!r}; "
            f"give it in {units[row.Index]!r}"
        )
    for row in frame[frame.duplicated(KEYS)].head(1).itertuples():
        raise KvstudyError(
            f"{path}: line {row.Index + 2}: a second {row.metric} of {row.operation} for "
            f"{row.store}, workload {row.workload} (and the same sizes); keep one of them"
        )
    return frame


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
    return pd.DataFrame(columns=[*COLUMNS, *SIZES, PRINTED]).astype(dict.fromkeys(NUMBERS, float))
