"""The CSV of redis-benchmark and valkey-benchmark (--csv)."""

from __future__ import annotations

import csv
import re

from kvstudy.errors import DataError
from kvstudy.logs.others.result_file import (
    OPERATIONS_PER_SECOND,
    ResultFile,
    Run,
    positive_number,
)

NAME = "redis-benchmark"
_HEADER = '"test","rps"'
# Before Redis 6.2 there was no header.
_ROW = re.compile(r'^"[A-Z][^"]*","\d+\.\d+"', re.MULTILINE)


def recognises(text: str) -> bool:
    return _HEADER in text or (
        (match := _ROW.search(text)) is not None and not text[: match.start()].strip()
    )


def read(text: str) -> ResultFile:
    """Return the requests per second of each test; a test that is there again is a further run.

    DataError: a row that is cut, a value that is none.
    """
    runs: list[dict[str, float]] = []
    columns = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(_HEADER):
            columns = len(next(csv.reader([line])))
            continue
        if not line.startswith('"'):
            # What a shell prints around it.
            continue
        row = next(csv.reader([line]))
        columns = columns or len(row)
        if len(row) != columns or not line.endswith('"'):
            raise DataError(
                f"line {number}: has {len(row)} of {columns} columns; the file is cut: run the "
                "benchmark again"
            )
        test, value = row[:2]
        run = next((run for run in runs if test not in run), None)
        if run is None:
            runs.append(run := {})
        run[test] = positive_number(value, f"line {number}: {test}")
    if not runs:
        raise DataError("has a header and no test below it; the file is cut: run it again")
    return ResultFile(OPERATIONS_PER_SECOND, list[Run](runs))
