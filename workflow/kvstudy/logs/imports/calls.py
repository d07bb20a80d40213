"""The assignment of a log's lines to calls of YCSB.

Results belong to the call above them, or to that below in a file that begins with results and ends
with a call: there each standard output is before its standard error.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from kvstudy.errors import DataError
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
_ABOVE = re.compile(r"^(?:YCSB Client \d.*|[\[ \t]*\{[ \t]*)\n+\Z", re.MULTILINE)
# What YCSB, Java or a shell prints of a call that died.
_OUTPUT = re.compile(
    r"Exception|^\s+at |Loading workload|Starting test|DBWrapper|SLF4J| sec: \d|Killed|refused"
    r"|not found|[Ff]ailed|[Ee]rror|[Aa]borted|timed out|Terminated|core dumped|^usage:",
    re.MULTILINE,
)
# PowerShell calls each line of the standard error a RemoteException.
_DEATH = re.compile(r"(?<!Remote)Exception|OutOfMemoryError|refused|Killed|Terminated|core dumped")
_STATUS = re.compile(r" sec: (\d+) operations; ")
_RATE = re.compile(
    r"RunTime\(ms\)\W+(?:value\W+)?([\d.]+)[\s\S]{1,200}?"
    r"Throughput\(ops/sec\)\W+(?:value\W+)?([\d.]+(?:E\d+)?)"
)
_TAKES_VALUE = re.compile(r"(?:^|\s)-(?:P|p|db|threads|target)$|\.\.\.$|…$")
# What can be no line of its own behind a command line.
_GOES_ON = re.compile(
    r"\s*(?:-(?:P|p|s|t|l|db|threads|target|load)\b|\d+\s*$|[\w.]+=\S"
    r"|\S+ -(?:P|p|s|t|db|threads)\b)"
)
# A shell that shows a file: its name.
_SHOWS = re.compile(
    r"^(?:.*?[$#>%] +|\+ )?(?:cat|type|head|tail|less|more|bat|gc|Get-Content) (?:.*[\s/\\])?"
    r"([\w.@+-]+)[\"']?[ \t]*$",
    re.MULTILINE,
)
_VERSION = re.compile(r"\s*YCSB Client \d")


@dataclass
class Call:
    """The lines of one call, or of results without one.

    ``has_output`` is False where a shell's line is all that is there of it. ``line`` counts the
    lines above it.
    """

    text: str
    has_results: bool = False
    has_output: bool = True
    line: int = 0


@dataclass
class _Start:
    """The start of a call in the text, and its results; ``rank`` is -1 for results without one."""

    position: int
    rank: int
    line: str = ""
    results: int | None = None

    @property
    def has_results(self) -> bool:
        return self.results is not None


def split_calls(text: str) -> list[Call]:
    """Return the calls in ``text`` in order, with all of its lines.

    Results belong to the call directly above them, once; what is before the first call belongs
    to it. Results without a call, below others of the same call, or of a file that a shell
    shows, are on their own. DataError where they may as well be of the call below.
    """
    text = joined_calls(text)
    events = [(match.start(), -1, match[0]) for match in RUN_TIME.finditer(text)]
    for rank, form in enumerate(_RANKS):
        events += [(match.start(), rank, _line_at(text, match)) for match in form.finditer(text)]
    starts: list[_Start] = []
    for position, rank, line in sorted(events):
        last = starts[-1] if starts else None
        if rank < 0:
            if (
                last is None
                or last.has_results
                or _shows_another(last, text[last.position : position])
            ):
                starts.append(_Start(position, rank))
            starts[-1].results = position
        elif last and _is_same(last, text[last.position : position], rank, line):
            last.rank = rank
        else:
            starts.append(_Start(position, rank, line))
    if len(starts) < 2:
        return [Call(text, any(start.has_results for start in starts))]
    if _may_be_of_the_call_below(text, starts):
        starts = _with_results_first(text, starts)
    _check_order(text, starts)
    bounds = [0, *(_begin(text, start.position) for start in starts[1:]), len(text)]
    calls = []
    for start, (begin, end) in zip(starts, pairwise(bounds), strict=True):
        has_output = start.rank == 2 or bool(_OUTPUT.search(text[start.position : end]))
        call = Call(text[begin:end], start.has_results, has_output or start.has_results)
        call.line = text.count("\n", 0, begin)
        calls.append(call)
    return calls


def _shows_another(call: _Start, printed: str) -> bool:
    """Return whether a shell shows a file below the call that its line does not name."""
    shown = _SHOWS.findall(printed[len(call.line) :])
    return bool(shown) and shown[-1] not in call.line


def _check_order(text: str, starts: list[_Start]) -> None:
    """Raise DataError where results without a call may be of a call that seems to have none."""
    ends = [*(start.position for start in starts[1:]), len(text)]
    parts = [text[start.position : end] for start, end in zip(starts, ends, strict=True)]
    rates = [match and match.groups() for match in map(_RATE.search, parts)]
    silent, alone = [], []
    for start, part, rate in zip(starts, parts, rates, strict=True):
        if start.rank < 0:
            # What is shown again below is none of another call.
            alone += [part] if rates.count(rate) == 1 else []
        elif not start.has_results and not _DEATH.search(part):
            silent += [part] if start.rank == 2 or _OUTPUT.search(part) else []
    may_fit = any(_is_counted(results, call) is not False for results in alone for call in silent)
    if may_fit and len(starts) > 2:
        raise DataError(
            "has calls without results, and results without a call, so nothing says which results "
            "are whose; give each run a file of its own"
        )


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


def _may_be_of_the_call_below(text: str, starts: list[_Start]) -> bool:
    """Return whether the file begins with results, and its last call that lived has none below.

    A call that died above the first results is none of theirs either.
    """
    first, ends = starts[0], [*(start.position for start in starts[1:]), len(text)]
    if not first.has_results:
        return False
    results = text[first.results : ends[0]]
    lived = []
    for start, end in zip(starts, ends, strict=True):
        printed = text[start.position : end]
        if start.has_results or not _DEATH.search(printed) or _is_counted(results, printed):
            lived.append(start)
    above = text[first.position : first.results]
    return (first.rank < 0 or bool(_DEATH.search(above))) and not lived[-1].has_results


def _with_results_first(text: str, starts: list[_Start]) -> list[_Start]:
    """Return the calls with the results above each; ``starts`` where status lines deny them.

    DataError where nothing says which it is.
    """
    blocks: list[tuple[int, _Start]] = []
    for start in starts:
        blocks += [(start.position, start)] if start.rank >= 0 else []
        blocks += [(start.results, start)] if start.has_results else []
    bounds = [position for position, _ in blocks[1:]]
    calls: list[_Start] = []
    above: tuple[int, str] | None = None
    answers = []
    for (position, start), end in zip(blocks, [*bounds, len(text)], strict=True):
        if position == start.results:
            calls += [_Start(above[0], -1, results=above[0])] if above else []
            above = position, text[position:end]
        elif above:
            answers.append(_is_counted(above[1], text[position:end]))
            calls.append(_Start(above[0], start.rank, start.line, above[0]))
            above = None
        else:
            calls.append(_Start(position, start.rank, start.line))
    if False in answers:
        return starts
    if answers and all(answers):
        return calls
    if len(starts) == 2 and starts[0].rank < 0:
        # Results without a call, and a call without results: both are asked about.
        return starts
    raise DataError(
        "has results above its first call and none below its last one, so they may be of the calls "
        "above or below them; give each run a file of its own"
    )


def _is_counted(results: str, call: str) -> bool | None:
    """Return whether the last status line of ``call`` counts as many operations as ``results``.

    None without status lines.
    """
    rate, totals = _RATE.search(results), _STATUS.findall(call)
    if not totals or not rate:
        return None
    return int(totals[-1]) == round(float(rate[1]) * float(rate[2]) / 1000)


def check_call(text: str) -> None:
    """Raise DataError when the command line of a call is cut off, or broken over several lines."""
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
        raise DataError(
            f"line {number + 1}: the command line goes on in the next line, as in a narrow window; "
            "put it on one line"
        )
    command = find_command(text) or ""
    lengths = Counter(map(len, lines))
    longest = max(lengths)
    if _TAKES_VALUE.search(command) or (lengths[longest] > 2 and longest - len(shown) in (0, 1)):
        raise DataError(f"line {number + 1}: the command line is cut off in '{command[-40:]}'")
