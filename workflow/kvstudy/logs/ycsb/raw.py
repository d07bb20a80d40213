"""Every single latency of a run (measurementtype=raw, measurement.raw.output_file)."""

from __future__ import annotations

import re

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import OPERATIONS

_SECTION = rf"(?:Raw)?((?:Intended-)?(?:{'|'.join(OPERATIONS)})(?:-[A-Z_]+)?)"
_HEADER = re.compile(rf"^{_SECTION} latency raw data: op, timestamp\(ms\), latency\(us\)$")
_START = re.compile(rf"^{_SECTION},")
# Within Java's long.
_ROW = re.compile(rf"^{_SECTION},(\d{{1,18}}),(\d{{1,18}})$", re.ASCII)


def read_raw(text: str, name: str) -> pd.DataFrame:
    """One row per operation, in the order of ``text``.

    Columns: section (READ, Intended-READ, READ-FAILED, ...), timestamp (ms since
    1970, when the operation ended) and latency (us), both integers. Other lines
    are skipped: without an output file the rows stand in YCSB's standard output.
    Sections that are no operations (CLEANUP) are left out.

    KvstudyError, naming ``name`` and the line, for a torn row, for a second run
    (YCSB appends to a file that is there) and when there are no rows at all.
    ``kvstudy.logs.ycsb.check.check_raw`` tells whether rows are missing at the end.
    """
    headers: set[str] = set()
    rows: list[tuple[str, int, int]] = []
    lines = text.splitlines()
    for count, line in enumerate(lines, start=1):
        row = _ROW.match(line)
        if row and (count < len(lines) or text.endswith("\n")):
            rows.append((row[1], int(row[2]), int(row[3])))
        elif header := _HEADER.match(line):
            if header[1] in headers:
                raise KvstudyError(
                    f"{name}: line {count}: latencies of {header[1]} begin a second time; the file "
                    "holds several runs. Remove it before each run"
                )
            headers.add(header[1])
        elif _START.match(line):
            raise KvstudyError(
                f"{name}: line {count}: '{line}' is no latency (operation,ms,us); is the file cut "
                "off? Measure again"
            )
    if not rows:
        raise KvstudyError(
            f"{name}: no latencies of single operations in it; measure with measurementtype=raw"
        )
    return pd.DataFrame(rows, columns=["section", "timestamp", "latency"])
