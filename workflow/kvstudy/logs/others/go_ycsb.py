"""The standard output of go-ycsb: plain, as a table, or as JSON (outputstyle)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kvstudy.errors import DataError
from kvstudy.logs.others.result_file import (
    OPERATIONS_PER_SECOND,
    ResultFile,
    parse_json,
    positive_number,
)

NAME = "go-ycsb"
_ANY = re.compile(
    r"^[A-Z_]+\s+- Takes\(s\): |\|\s*(?i:takes\(s\))\s*\||\"Takes\(s\)\"\s*:", re.MULTILINE
)
_PLAIN = re.compile(r"^([A-Z_]+)\s+- Takes\(s\): .*\bOPS: ([\d.]+)", re.MULTILINE)
_PROPERTY = re.compile(r'^"([\w.]+)"="(.*)"$', re.MULTILINE)
_FINISHED = re.compile(r"^Run finished, takes .*$", re.MULTILINE)
_SHARE = re.compile(r"(read|update|insert|scan|readmodifywrite)proportion")
_CONDITIONS = (
    *("threadcount", "recordcount", "operationcount", "requestdistribution"),
    *("fieldcount", "fieldlength", "readallfields", "target"),
)
LOAD, ALL = "load", "all operations"
TOTAL = "TOTAL"
TOGETHER = (
    "Where go-ycsb printed no line TOTAL, the rates of its operations were added; each is over the "
    "time of that operation's own first to last call."
)


def recognises(text: str) -> bool:
    return _ANY.search(text) is not None


def read(text: str) -> ResultFile:
    """Return the rate of all operations together, for each call in the file.

    DataError: a call that has not finished, a result without a rate.
    """
    ends = list(_FINISHED.finditer(text))
    if not ends:
        raise DataError("has no line 'Run finished'; go-ycsb was ended before its last results")
    if "- Takes(s): " in text[: ends[0].start()] and not _rates(text[ends[-1].end() :]):
        raise DataError("nothing is below its last line 'Run finished'; the file is cut")
    runs: list[dict[str, float]] = []
    conditions, notes, start = {}, set(), 0
    for place, end in enumerate(ends):
        properties = dict(_PROPERTY.findall(text[start : end.start()]))
        behind = ends[place + 1].start() if place + 1 < len(ends) else len(text)
        start = end.end()
        rates = _rates(_results(text[start:behind]))
        if not rates:
            raise DataError(f"nothing is below '{end[0]}'; the file is cut")
        test = _test(properties, rates)
        conditions[test] = {name: properties[name] for name in _CONDITIONS if name in properties}
        run = next((run for run in runs if test not in run), None)
        if run is None:
            runs.append(run := {})
        counted = {name: rate for name, rate in rates.items() if not name.endswith("_ERROR")}
        if TOTAL not in counted and len(counted) > 1:
            notes.add(TOGETHER)
        run[test] = counted.get(TOTAL) or sum(counted.values())
        positive_number(run[test], test)
    return ResultFile(OPERATIONS_PER_SECOND, runs, conditions=conditions, notes=tuple(notes))


def _results(text: str) -> str:
    """Return the part before the properties or the results of a next call."""
    return text.split('\n"', 1)[0] if _PROPERTY.search(text) else text


def _rates(text: str) -> dict[str, float]:
    """Return operations per second by operation."""
    return {name: positive_number(value, name) for name, value in _cells(text)}


def _cells(text: str) -> Iterator[tuple[str, str]]:
    if plain := _PLAIN.findall(text):
        yield from plain
    elif (start := text.find("[")) >= 0 and '"Takes(s)"' in text:
        end = text.rfind("]") + 1
        rows = parse_json(text[start : end or None])
        yield from ((row["Operation"], row["OPS"]) for row in rows)
    else:
        rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in text.splitlines()
            if line.strip().startswith("|")
        ]
        heads = [head.upper() for head in rows[0]] if rows else []
        if "OPS" in heads:
            column = heads.index("OPS")
            yield from ((row[0], row[column]) for row in rows[1:] if len(row) == len(heads))


def _test(properties: Mapping[str, str], rates: Mapping[str, float]) -> str:
    """Return ``50 % read, 50 % update``, or that the call loads."""
    if properties.get("dotransactions") == "false" or set(rates) <= {"INSERT", "BATCH_INSERT"}:
        return LOAD
    shares = {
        match[1]: float(value)
        for name, value in sorted(properties.items())
        if (match := _SHARE.fullmatch(name)) and re.fullmatch(r"[\d.]+", value)
    }
    parts = [f"{100 * share:g} % {name}" for name, share in shares.items() if share]
    return ", ".join(parts) or ALL
