"""Which lines of YCSB's results a value comes from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvstudy.logs.ycsb.log import COUNTS, GOOD, Entry, metric_of, number, read_entries
from kvstudy.logs.ycsb.parse import SECTION
from kvstudy.study.metrics import METRICS

COMBINED, VERIFY = "READ-MODIFY-WRITE", "VERIFY"


@dataclass(frozen=True)
class Line:
    """A line of a log; ``number`` counts from 1. ``sign`` is that of its value in the sum."""

    number: int
    text: str
    sign: int = 1


def lines_of(
    path: Path, operation: str, metric: str, interval: str = "op"
) -> tuple[list[Line], float | None]:
    """The lines of the results ``path`` behind a value, and what they add up to.

    ``operation`` and ``metric`` are those of measurements.csv, ``interval`` the property
    measurement.interval of the run. None where the value is more than a sum. No line where
    another file tells it. KvstudyError for a log that is not YCSB's.
    """
    name = str(path)
    text = path.read_text(encoding="utf-8", errors="replace")
    entries = read_entries(text, name)
    signed = _signed(entries, name, operation, metric, interval)
    plain = text.splitlines()
    lines = [Line(entry.line, _text(plain, entry), sign) for sign, entry in signed]
    if not signed or any(sign == 0 for sign, _ in signed):
        return lines, None
    return lines, sum(sign * number(entry, name) for sign, entry in signed)


def _signed(
    entries: list[Entry], name: str, operation: str, metric: str, interval: str
) -> list[tuple[int, Entry]]:
    if operation != "overall":
        if metric == "operations":
            counts = _counts(entries, operation.upper())
            if operation.upper() == VERIFY:
                counts += [(-1, each) for _, each in _failed(entries, name, VERIFY)]
            return counts
        if metric == "failed":
            return _failed(entries, name, operation.upper())
        return _latency(entries, operation.upper(), metric, interval)
    if metric in ("runtime", "throughput"):
        return [
            (1, entry)
            for entry in entries
            if entry.section == "OVERALL" and entry.label in METRICS[metric].labels
        ]
    operations = dict.fromkeys(match["operation"] for match in map(_section, entries) if match)
    if metric == "failed":
        return [each for name_ in operations for each in _failed(entries, name, name_)]
    if metric == "operations":
        # A read-modify-write is among the reads and the updates too, and counts once.
        return [
            (-1 if name_ == COMBINED else 1, entry)
            for name_ in operations
            if name_ != VERIFY
            for _, entry in [*_counts(entries, name_), *_failed(entries, name, name_)]
        ]
    if metric in ("goodput", "in_call"):
        parts = _signed(entries, name, operation, "runtime", interval)
        parts += _signed(entries, name, operation, "operations", interval)
        return [(0, entry) for _, entry in parts]
    return []


def _section(entry: Entry):
    return SECTION.match(entry.section)


def _of(entries: list[Entry], operation: str, failed: bool):
    for entry in entries:
        section = _section(entry)
        if section and section["operation"] == operation and bool(section["failed"]) == failed:
            yield section, entry


def _counts(entries: list[Entry], operation: str) -> list[tuple[int, Entry]]:
    signed = [
        (1, entry)
        for section, entry in _of(entries, operation, failed=False)
        if entry.label in COUNTS and not section["intended"]
    ]
    # Histogram types beside each other tell it twice; the last one is taken.
    return signed[-1:]


def _failed(entries: list[Entry], name: str, operation: str) -> list[tuple[int, Entry]]:
    """By the failures' own sections or by the return codes, whichever tells of more."""
    sections = [
        (1, entry)
        for section, entry in _of(entries, operation, failed=True)
        if entry.label in COUNTS and not section["intended"]
    ]
    codes = [
        (1, entry)
        for _, entry in [*_of(entries, operation, False), *_of(entries, operation, True)]
        if entry.label.startswith("Return=") and entry.label.removeprefix("Return=") not in GOOD
    ]
    return max(sections, codes, key=lambda signed: sum(number(entry, name) for _, entry in signed))


def _latency(
    entries: list[Entry], operation: str, metric: str, interval: str
) -> list[tuple[int, Entry]]:
    # With "intended" the plain sections hold intended latencies.
    wants_intended = metric.startswith("intended_") and interval != "intended"
    signed = [
        (1, entry)
        for section, entry in _of(entries, operation, failed=False)
        if bool(section["intended"]) == wants_intended
        and metric_of(entry.label) == metric.removeprefix("intended_")
    ]
    return signed[-1:]


def _text(lines: list[str], entry: Entry) -> str:
    """The line as it stands; what it says where JSON puts it on several lines, or all on one."""
    line = lines[entry.line - 1].strip()
    whole = entry.label in line and entry.value in line and len(line) < 200
    return line if whole else f"[{entry.section}], {entry.label}, {entry.value}"
