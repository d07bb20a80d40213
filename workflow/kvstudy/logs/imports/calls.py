"""Which lines of a log are of which call of YCSB: results belong to the call above them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
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
# YCSB 0.1 prints its version above its command line; an object of JSON begins above its first key.
_ABOVE = re.compile(r"^(?:YCSB Client \d.*|[\[ \t]*\{[ \t]*)\n\Z", re.MULTILINE)
# What YCSB, Java or a shell prints of a call that died.
_OUTPUT = re.compile(
    r"Exception|^\s+at |Loading workload|Starting test|DBWrapper|SLF4J| sec: \d|Killed|refused"
    r"|not found|[Ff]ailed|[Ee]rror|[Aa]borted|timed out|Terminated|core dumped|^usage:",
    re.MULTILINE,
)
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
    """The lines of one call, or of results without one.

    ``has_output`` is False where a shell's line is all that is there of it.
    """

    text: str
    has_results: bool = False
    has_output: bool = True


@dataclass
class _Start:
    """Where a call begins in the text; ``rank`` is -1 for results without a call."""

    position: int
    rank: int
    line: str = ""
    has_results: bool = False


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
            if last is None or last.has_results:
                starts.append(_Start(position, rank))
            starts[-1].has_results = True
        elif last and _is_same(last, text[last.position : position], rank, line):
            last.rank = rank
        else:
            starts.append(_Start(position, rank, line))
    # The standard output may stand before the standard error.
    if len(starts) < 2 or (len(starts) == 2 and _are_halves(text, *starts)):
        return [Call(text, any(start.has_results for start in starts))]
    bounds = [0, *(_begin(text, start.position) for start in starts[1:]), len(text)]
    calls = []
    for start, (begin, end) in zip(starts, pairwise(bounds), strict=True):
        has_output = start.rank == 2 or bool(_OUTPUT.search(text[start.position : end]))
        calls.append(Call(text[begin:end], start.has_results, has_output or start.has_results))
    return calls


def _line_at(text: str, match: re.Match) -> str:
    end = text.find("\n", match.end())
    return text[match.start() : end if end >= 0 else None]


def _begin(text: str, position: int) -> int:
    above = _ABOVE.search(text, max(0, position - 200), position)
    return above.start() if above else position


def _is_same(call: _Start, printed: str, rank: int, line: str) -> bool:
    """Return whether a further ``line``, of this rank, is of a call that has ``printed`` so far."""
    if call.has_results or rank <= call.rank or "Exception" in printed:
        return False
    first, second = (find_command(one) for one in (call.line, line))
    if first is None or second is None:
        return True
    calls = [read_command(one) for one in (first, second)]
    names = ("threadcount", "target", "recordcount", "operationcount")
    given = [[call.properties.get(name) for name in names] for call in calls]
    return calls[0].phase == calls[1].phase and given[0] == given[1]


def _are_halves(text: str, results: _Start, call: _Start) -> bool:
    """Return whether a call below results counts their operations in its last status line."""
    if results.rank >= 0 or call.has_results:
        return False
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
