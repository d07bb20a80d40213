"""The lines that YCSB prints while it runs (-s -p status.interval=1), as a series.

One line is ``2026-11-20 17:53:10:340 1 sec: 497 operations; 462 current ops/sec;
est completion in 3 second [READ: Count=226, Max=4, Min=0, Avg=0.39, ...]``. They
are in the standard error among lines of the drivers. Combined measurement types
go on in the next line.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kvstudy.errors import DataError, InvalidMeasurement, KvstudyError
from kvstudy.libraries import np, pd

_LINE = re.compile(
    r"(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) (?P<elapsed>\d{1,10}) sec: "
    r"(?P<operations>\d{1,18}) operations; (?:(?P<rate>\S+) current ops/sec; )?",
    re.ASCII,
)
# In s: by so much a clock may be set back or, for summer time, be off.
_BACK, _SUMMER_TIME = 1.0, 2.5 * 3600
# Between two lines, in s: nobody was running for so long.
_LONGEST = 24 * 3600
# Between two lines, in s: what lies between is not known. YCSB prints one each second, however slow
# the store is. In the reference run's cells, and next to 40 busy programs on two cores, lines came
# 0.1 s late at most, and our samples, which are taken each second too, 0.8 s.
SILENT_SECONDS = 3.0
# Of one of several clients, from SynchronizedWorkload.
_MARK = re.compile(
    r"^(?P<clock>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) together: (?P<what>began|ended)$",
    re.ASCII | re.MULTILINE,
)
# Those that went well: READ-FAILED has another name. A read-modify-write is a read and an update,
# and is counted whether they went well or not.
_WENT_WELL = re.compile(
    r"(?<![\w-])(?:Hdr)?(Intended-)?(?:READ|UPDATE|INSERT|SCAN|DELETE)"
    r"(?:: Count=| count: )(\d{1,18})\b",
    re.ASCII,
)
_COUNTED = re.compile(r": Count=| count: ")


class StatusLines(NamedTuple):
    """Arrays of status lines: time (s since the start of the run) and totals.

    ``good`` is how many operations went well since the line before; where YCSB does not count them
    apart, how many there were.
    """

    times: np.ndarray
    operations: list[int]
    good: list[int]


def read_status(text: str, name: str) -> StatusLines:
    """The status lines of ``text``, in order.

    A last line without its end is left out. KvstudyError, naming ``name``, when
    there is no status line, when one reports a time that cannot be, or when the total
    falls, as in a file of two runs.
    """
    lines = _lines(text)
    if not lines:
        raise DataError(
            f"{name}: no status lines of YCSB in it; measure with -s, and read the standard error"
        )
    totals = [int(match["operations"]) for match in lines]
    ends = [*(match.start() for match in lines[1:]), None]
    good = []
    for match, end, before, total in zip(lines, ends, [0, *totals], totals, strict=False):
        if total < before:
            raise DataError(
                f"{name}: line {_line_of(match)}: {total} operations after {before}; the file "
                "holds several runs, give each its own"
            )
        counts = _counts(match.string[match.end() : end])
        good.append(total - before if counts is None else _good(counts))
    return StatusLines(_times(lines, name), totals, good)


def _lines(text: str) -> list[re.Match]:
    """The status lines of ``text`` but for a last line without its end."""
    return list(_LINE.finditer(text[: text.rfind("\n") + 1]))


def operations_so_far(text: str, total: int, name: str) -> pd.Series:
    """Return the totals of one of several clients by its machine's clock (s, ascending).

    From the beginning of its first operation to the end of its last one, with which all ``total``
    are done. KvstudyError, naming ``name``, where the client does not say when that was.
    """
    marks = {match["what"]: _clock(match, name) for match in _MARK.finditer(text)}
    if len(marks) < 2 or marks["ended"] <= marks["began"]:
        raise DataError(
            f"{name}: does not say when the client's operations began and ended; it ended early, "
            "or the clock was set: measure again"
        )
    times = {_clock(match, name): int(match["operations"]) for match in _LINE.finditer(text)}
    within = {time: done for time, done in times.items() if marks["began"] < time < marks["ended"]}
    so_far = {marks["began"]: 0, **within, marks["ended"]: total}
    seconds = [(time - datetime(1970, 1, 1)).total_seconds() for time in so_far]
    return pd.Series(list(so_far.values()), index=seconds, dtype=float).sort_index()


def longest_stall(status: StatusLines) -> float:
    """The longest time (s) between two status lines in which no operation went well.

    Only of those that end: after the last good operation the client may just close its
    connections.
    """
    times = [0.0, *status.times]
    good = [0, *np.flatnonzero(status.good) + 1]
    return max((times[after - 1] - times[before] for before, after in pairwise(good)), default=0.0)


def silence(status: StatusLines) -> float:
    """The longest time (s) without a status line and with hardly an operation; 0 for none.

    Then the client did not run, or its clock was set. Where lines alone are missing, operations
    went on.
    """
    apart, done = np.diff(status.times), np.diff(status.operations)
    # Less than half of the rate of all other time.
    few = 2 * done * (apart.sum() - apart) <= (done.sum() - done) * apart
    return max(apart[few & (apart > SILENT_SECONDS)].tolist(), default=0.0)


class GoodOperations:
    """A counter of a running client's successful operations, by its standard error in ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read = 0
        self._counts: Counter[str] | None = None
        self._operations = 0

    def look(self) -> int:
        """Return the total so far, from all complete lines."""
        with self.path.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        new = new[: new.rfind(b"\n") + 1]
        self._read += len(new)
        text = new.decode("utf-8", errors="replace")
        if (counts := _counts(text)) is not None:
            self._counts = (self._counts or Counter()) + counts
        if latest := last_status(text):
            self._operations = latest.operations
        return self._operations if self._counts is None else _good(self._counts)


@dataclass(frozen=True)
class Status:
    """A status line: seconds since the start, operations so far, ops/s (None: not told)."""

    seconds: int
    operations: int
    rate: float | None


def last_status(text: str) -> Status | None:
    """The last whole status line of ``text``; None without one."""
    if not (lines := _lines(text)):
        return None
    seconds, operations, text = lines[-1].group("elapsed", "operations", "rate")
    try:
        # Some locales have a decimal comma; in the first line it is ∞, or ? in the C locale.
        rate = float((text or "").replace(",", "."))
    except ValueError:
        rate = math.nan
    return Status(int(seconds), int(operations), rate if math.isfinite(rate) else None)


def run_start(text: str) -> datetime | None:
    """Return the start of the run, by the clock and in the time zone of its machine.

    From the status lines in ``text``; None when there are none, or they report times
    that cannot be. It is late by less than a second, as the elapsed seconds of the lines
    are rounded down.
    """
    lines = _lines(text)
    try:
        return _clock(lines[0], "") - timedelta(seconds=_times(lines, "")[0]) if lines else None
    except (KvstudyError, OverflowError):
        return None


def check_interval(status: StatusLines, name: str) -> None:
    """KvstudyError, naming ``name``, when the lines are usually further apart than a second."""
    usual = np.median(np.diff(status.times)) if len(status.times) > 1 else 0
    if usual > 1.5:
        raise DataError(
            f"{name}: status lines are {usual:.0f} s apart; measure with status.interval=1"
        )


def operations_per_second(status: StatusLines, name: str) -> list[float]:
    """Operations in each whole second of a run, the first one first (ops/s).

    See ``each_second``. Left out are the second in which the clients finished, and those in which
    they only closed their connections. KvstudyError, naming ``name``, for a run of days.
    """
    times, totals = status.times, status.operations
    if (longest := max(np.diff(times, prepend=0))) > _LONGEST:
        raise InvalidMeasurement(
            f"{name}: two status lines are {longest:.0f} s apart; the machine was suspended, or "
            "the file is damaged: measure again"
        )
    last = int(np.argmax(totals))
    # The last operation was some time before the line that first counts it.
    end = times[last] if last == len(times) - 1 else times[max(last - 1, 0)]
    return each_second([0, *times], [0, *totals], np.arange(int(end) + 1)).tolist()


def each_second(times: Sequence[float], totals: Sequence[float], seconds: np.ndarray) -> np.ndarray:
    """Operations between every two of the ``seconds``, from the ``totals`` at rising ``times``.

    Interpolated, because a busy client prints its lines late; NaN where it is longer silent.
    """
    rates = np.diff(np.interp(seconds, times, totals))
    for before, after in pairwise(times):
        if after - before > SILENT_SECONDS:
            rates[(seconds[:-1] < after) & (seconds[1:] > before)] = np.nan
    return rates


def _times(lines: list[re.Match], name: str) -> np.ndarray:
    """Seconds since the start, rising.

    Clock times have the milliseconds but no start: the first line is up to half a
    second late. Elapsed seconds are rounded down, so the start is the earliest
    time of day less elapsed seconds. Where the clock changes for summer time, whole
    hours are set right by the elapsed seconds. KvstudyError for a time that cannot be.
    """
    clocks = np.array([_clock(match, name) for match in lines], dtype="datetime64[ms]")
    elapsed = np.array([int(match["elapsed"]) for match in lines])
    starts = (clocks - clocks[0]) / np.timedelta64(1, "s") - elapsed
    within_hour = starts - 3600 * np.round(starts / 3600)
    times = elapsed + within_hour - within_hour.min()
    wrong = (np.diff(times, prepend=0) < -_BACK) | (abs(starts - starts[0]) > _SUMMER_TIME)
    if wrong.any():
        match = lines[np.argmax(wrong)]
        raise DataError(
            f"{name}: line {_line_of(match)}: '{match['clock']} {match['elapsed']} sec' does not "
            "fit the status lines before; the clock was set, or the file is damaged: measure again"
        )
    return np.maximum.accumulate(times)


def _clock(match: re.Match, name: str) -> datetime:
    try:
        # A tenth of the time of strptime, for thousands of lines of each study.
        day_and_second, _, millisecond = match["clock"].rpartition(":")
        return datetime.fromisoformat(f"{day_and_second}.{millisecond}")
    except ValueError:
        raise DataError(
            f"{name}: line {_line_of(match)}: there is no time '{match['clock']}'; the file is "
            "damaged, measure again"
        ) from None


def _line_of(match: re.Match) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def _counts(text: str) -> Counter[str] | None:
    """Operations that went well by service ("") and by intended times; None without counts."""
    if not _COUNTED.search(text):
        return None
    counts: Counter[str] = Counter()
    for intended, count in _WENT_WELL.findall(text):
        counts[intended] += int(count)
    return counts


def _good(counts: Counter[str]) -> int:
    # With measurement.interval=both each appears twice, with intended only as such.
    return counts[""] or counts["Intended-"]
