"""Which lines of a log are of which call of YCSB: results belong to the call above them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.rows import RUN_TIME
from kvstudy.logs.imports.workloads import (
    CALL,
    LAUNCHER,
    MARK,
    find_command,
    joined_calls,
    read_command,
)

# A call's line as the shell, YCSB's launcher and YCSB itself have it, in this order.
_RANKS = (LAUNCHER, CALL, MARK)
_BEFORE = re.compile(r"(?:^YCSB Client \d.*\n|^[\[\]{},\s]+\n)\Z", re.MULTILINE)
_STATUS = re.compile(r" sec: (\d+) operations; ")
_TAKES_VALUE = re.compile(r"(?:^|\s)-(?:P|p|db|threads|target)$|\.\.\.$|…$")
# What can be no line of its own behind a command line.
_GOES_ON = re.compile(
    r"\s*(?:-(?:P|p|s|t|l|db|threads|target|load)\b|\d+\s*$|[\w.]+=\S"
    r"|\S+ -(?:P|p|s|t|db|threads)\b)"
)
_VERSION = re.compile(r"\s*YCSB Client \d")


@dataclass
class Call:
    """The lines of one call, or of results without one; ``printed`` is False where nothing came."""

    text: str
    results: int
    printed: bool = True


@dataclass
class _Start:
    """Where a call begins in the text; ``rank`` is -1 for results without a call."""

    position: int
    rank: int
    line: str = ""
    results: list[int] = field(default_factory=list)


def split_calls(text: str) -> list[Call]:
    """Return the calls in ``text`` in order, with all of its lines.

    Results belong to the call directly above them, once; what is before the first call belongs
    to it. Results without a call, or below others of the same call, are on their own.
    """
    text = joined_calls(text)
    events = [(match.start(), -1, match[0]) for match in RUN_TIME.finditer(text)]
    for rank, form in enumerate(_RANKS):
        events += [(match.start(), rank, _line_at(text, match)) for match in form.finditer(text)]
    starts: list[_Start] = []
    for position, rank, line in sorted(events):
        last = starts[-1] if starts else None
        if rank < 0:
            if last is None or last.results:
                starts.append(_Start(position, rank))
            starts[-1].results.append(position)
        elif (
            last and not last.results and _goes_on(last, text[last.position : position], rank, line)
        ):
            last.rank = rank
        else:
            starts.append(_Start(position, rank, line))
    if len(starts) == 2 and starts[0].rank < 0 and _counts_agree(text, starts[0], starts[1]):
        # The standard output stands before the standard error.
        starts = [_Start(0, starts[1].rank, results=starts[0].results)]
    if len(starts) < 2:
        return [Call(text, len(starts[0].results) if starts else 0)]
    bounds = [0, *(_begin(text, start.position) for start in starts[1:]), len(text)]
    calls = []
    for start, (begin, end) in zip(starts, pairwise(bounds), strict=True):
        below = text[start.position : end].partition("\n")[2].strip()
        calls.append(Call(text[begin:end], len(start.results), start.rank == 2 or bool(below)))
    return calls


def _line_at(text: str, match: re.Match) -> str:
    end = text.find("\n", match.end())
    return text[match.start() : end if end >= 0 else None]


def _begin(text: str, position: int) -> int:
    """Return where the lines of a call begin: YCSB 0.1 prints its version above them."""
    before = text[:position]
    while match := _BEFORE.search(before[-400:]):
        before = before[: len(before) - len(match[0])]
    return len(before)


def _goes_on(call: _Start, printed: str, rank: int, line: str) -> bool:
    """Return whether the ``line`` of a ``rank`` is of the call too, which has ``printed`` so far."""
    if rank <= call.rank or "Exception" in printed:
        return False
    first, second = (find_command(one) for one in (call.line, line))
    if first is None or second is None:
        return True
    calls = [read_command(one) for one in (first, second)]
    names = ("threadcount", "target", "recordcount", "operationcount")
    given = [[call.properties.get(name) for name in names] for call in calls]
    return calls[0].phase == calls[1].phase and given[0] == given[1]


def _counts_agree(text: str, results: _Start, call: _Start) -> bool:
    """Return whether the call's last status line counts as many operations as the results."""
    match = re.search(
        r"RunTime\(ms\), ([\d.]+)\n.*Throughput\(ops/sec\), ([\d.]+(?:E\d+)?)\n",
        text[results.position : call.position],
    )
    totals = _STATUS.findall(text[call.position :])
    if not match or not totals:
        return False
    return int(totals[-1]) == round(float(match[1]) * float(match[2]) / 1000)


def check_call(text: str) -> None:
    """KvstudyError when the command line of a call is cut off, or broken over several lines."""
    mark = MARK.search(text)
    if mark is None:
        return
    lines = text.split("\n")
    number = text.count("\n", 0, mark.start())
    shown, below = lines[number], lines[number + 1 : number + 4]
    # PowerShell breaks it, which find_command knows. Windows do at their width, so that no line
    # before is longer; YCSB's own next line is its version, if that comes after the command.
    narrow = " : Command line: " not in mark[0] and len(shown) + 1 >= max(
        map(len, lines[: number + 2])
    )
    between = below and below[0].strip() and not _VERSION.match(below[0])
    if narrow and between and (any(map(_VERSION.match, below)) or _GOES_ON.match(below[0])):
        raise KvstudyError(
            f"line {number + 1}: the command line goes on in the next line, as in a narrow window; "
            "put it on one line"
        )
    command = find_command(text) or ""
    lengths = Counter(map(len, lines))
    longest = max(lengths)
    if _TAKES_VALUE.search(command) or (lengths[longest] > 2 and longest - len(shown) in (0, 1)):
        raise KvstudyError(f"line {number + 1}: the command line is cut off in '{command[-40:]}'")
