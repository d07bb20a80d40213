"""Reading the files that the steps hand to each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.study.cells import cell_path
from kvstudy.study.raw import one_line


def read_csv(
    path: Path, columns: list[str], numbers: list[str], made_by: str, optional: Sequence[str] = ()
) -> pd.DataFrame:
    """Read ``path``; text columns have "" for nothing, the ``numbers`` are float with NaN.

    Raises KvstudyError when the file is missing, is no CSV, lacks one of the
    ``columns`` or has a word where a number belongs. ``made_by`` tells in the
    message where the file comes from. Columns that are ``optional`` are "" where the file
    has none.
    """
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
    except FileNotFoundError as error:
        raise KvstudyError(f"{path}: no such file; it is {made_by}") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise KvstudyError(f"{path}: not a CSV file ({error}); it is {made_by}") from error
    missing = [column for column in columns if column not in frame]
    if missing:
        raise KvstudyError(f"{path}: no column {', '.join(missing)}; the file is {made_by}")
    frame = frame.assign(**{column: "" for column in optional if column not in frame})
    for column in numbers:
        values = pd.to_numeric(frame[column].replace("", None), errors="coerce").astype(float)
        wrong = frame.index[values.isna() & (frame[column] != "")]
        if len(wrong):
            text = frame.loc[wrong[0], column]
            raise KvstudyError(
                f"{path}: line {wrong[0] + 2}, column {column}: {text!r} is no number; "
                f"the file is {made_by}"
            )
        frame[column] = values
    return frame[[*columns, *optional]]


CELL_COLUMNS = [
    *["store", "workload", "parameters", "repetition", "status", "reason", "void"],
    *["position", "started"],
]
MEASUREMENT_COLUMNS = [
    *["store", "workload", "parameters", "repetition", "phase"],
    *["operation", "metric", "unit", "value"],
]
SERIES_COLUMNS = [
    *["store", "workload", "parameters", "repetition", "phase", "second", "throughput"]
]
HISTOGRAM_COLUMNS = [
    *["store", "workload", "parameters", "repetition", "phase", "operation", "latency", "count"]
]
RESOURCE_NUMBERS = [
    *["second", "seconds", "cores_user", "cores_system", "rss", "switches"],
    *["read_bytes", "write_bytes", "cores_busy", "cores_steal"],
    *["cpu_pressure", "memory_pressure", "io_pressure", "loopback_bytes"],
]
RESOURCE_COLUMNS = [
    *["store", "workload", "parameters", "repetition", "phase", "side"],
    *RESOURCE_NUMBERS,
]
SUMMARY_KEYS = ["store", "workload", "parameters", "operation", "metric", "unit"]
SUMMARY_NUMBERS = ["n", "mean", "sd", "cov", "min", "max"]


def read_cells(path: Path) -> pd.DataFrame:
    """The planned cells of a run and what became of them (``cells.csv``), all text."""
    return read_csv(path, CELL_COLUMNS, [], "written by `kvstudy parse`")


def read_measurements(path: Path) -> pd.DataFrame:
    """One value a row (``measurements.csv``)."""
    return read_csv(path, MEASUREMENT_COLUMNS, ["value"], "written by `kvstudy parse`")


def read_series(path: Path) -> pd.DataFrame:
    """Throughput in each second of the cells' measured phases (``series.csv``)."""
    return read_csv(path, SERIES_COLUMNS, ["second", "throughput"], "written by `kvstudy parse`")


def read_resources(path: Path) -> pd.DataFrame:
    """What client, server and machine used second by second (``resources.csv``)."""
    return read_csv(path, RESOURCE_COLUMNS, RESOURCE_NUMBERS, "written by `kvstudy parse`")


def read_histograms(path: Path) -> pd.DataFrame:
    """Counts by latency (us) of the cells' measured phases (``histograms.csv``)."""
    return read_csv(path, HISTOGRAM_COLUMNS, ["latency", "count"], "written by `kvstudy parse`")


def read_summary(path: Path) -> pd.DataFrame:
    """Values over repetitions (``summary.csv``)."""
    columns = SUMMARY_KEYS + SUMMARY_NUMBERS
    return read_csv(path, columns, SUMMARY_NUMBERS, "written by `kvstudy summarise`")


def recorded_reason(path: Path) -> str:
    """The reason of a failure or a gap, on one line; that it cannot be read is one too."""
    try:
        return one_line(json.loads(path.read_text(encoding="utf-8"))["reason"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return f"{path}: cannot be read ({error})"


def read_environment(path: Path) -> dict:
    """``environment.json``: what was measured on; KvstudyError where it is not one."""
    try:
        environment = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KvstudyError(
            f"{path}: cannot be read ({error}); write it with 'kvstudy parse'"
        ) from None
    if not isinstance(environment, dict) or "stores" not in environment:
        raise KvstudyError(f"{path}: has no key 'stores'; write it with 'kvstudy parse'")
    return environment


def path_of(row) -> str:
    """The path of the cell in a ``row`` of ``cells.csv``, or of another table of cells."""
    return cell_path(row.store, row.workload, row.parameters, row.repetition)
