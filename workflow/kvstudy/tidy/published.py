"""The values that a study's source printed (``config/studies/<study>/published.csv``)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.tidy.files import read_csv

COLUMNS = ["study", "table", "store", "workload", "operation", "metric", "unit", "value"]
KEYS = ["store", "workload", "operation", "metric"]
UNITS = {"throughput": "ops/s", "runtime": "ms", "operations": "count"}
# Shares and changes, as texts print them.
UNITS |= {"throughput_change": "%", "failed_share": "%"}


def read_published(path: Path) -> pd.DataFrame:
    """Read the published values; an empty value is one that the source left out.

    Units are those of ``measurements.csv``: ops/s, ms (run time), us (latency); and % for
    ``throughput_change`` (a store's against a comparison table's baseline) and
    ``failed_share`` (failed operations by all of that kind). The workload ``mean`` is the
    mean of all workloads.
    Raises KvstudyError for a missing file, another unit or a value given twice.
    """
    frame = read_csv(path, COLUMNS, ["value"], "part of the study, beside study.yaml")
    units = frame["metric"].map(UNITS).fillna("us")
    for row in frame[frame["unit"] != units].head(1).itertuples():
        raise KvstudyError(
            f"{path}: line {row.Index + 2}: {row.metric} in {row.unit!r}; "
            f"give it in {units[row.Index]!r}"
        )
    for row in frame[frame.duplicated(KEYS)].head(1).itertuples():
        raise KvstudyError(
            f"{path}: line {row.Index + 2}: a second {row.metric} of {row.operation} for "
            f"{row.store}, workload {row.workload}; keep one of them"
        )
    return frame
