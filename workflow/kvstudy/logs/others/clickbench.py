"""The result files of ClickBench: the times of 43 queries, each tried three times."""

from __future__ import annotations

from kvstudy.errors import DataError
from kvstudy.logs.others.result_file import SECONDS, ResultFile, Run, parse_json, positive_number

NAME = "ClickBench"
COLD = (
    "The first try of each query in ClickBench begins with empty caches; it is left out. The "
    "others follow each other on the same server."
)


def recognises(text: str) -> bool:
    return text.lstrip()[:1] == "{" and '"system"' in text and '"result"' in text


def read(text: str) -> ResultFile:
    """Return the seconds of each query (Q1, Q2, ...), a run for each try but the first.

    A query that failed (null) is left out. DataError: no JSON, no system, rows that are no tries.
    """
    content = parse_json(text)
    system, rows = content.get("system"), content.get("result")
    if not isinstance(system, str) or not system:
        raise DataError('"system": is no name')
    if not isinstance(rows, list) or not all(isinstance(row, list) and row for row in rows):
        raise DataError('"result": must be a list of queries, each a list of times')
    tries = max((len(row) for row in rows), default=0)
    if tries < 2:
        raise DataError('"result": has one time for each query at most; ClickBench tries it thrice')
    runs: list[Run] = [
        {
            f"Q{number}": positive_number(row[place], f'"result", query {number}')
            for number, row in enumerate(rows, start=1)
            if place < len(row) and row[place] is not None
        }
        for place in range(1, tries)
    ]
    conditions = {name: str(content.get(name, "")) for name in ("machine", "cluster_size")}
    tests = dict.fromkeys(test for run in runs for test in run)
    return ResultFile(SECONDS, runs, system, dict.fromkeys(tests, conditions), (COLD,))
