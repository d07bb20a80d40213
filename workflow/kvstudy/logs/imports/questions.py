"""Questions about logs that two readings fit: they go to ``import.csv`` and wait for an answer.

A log gives many values twice: threads by its command, by the connections that it closed and by
its latencies; operations by its command and its counts; store, phase, workload and threads by its
name too; and of two logs, the clocks say whether they are repetitions. What disagrees is asked.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from kvstudy.errors import InputError, KvstudyError
from kvstudy.logs.imports.mapping import BETWEEN, NAME, base_of
from kvstudy.logs.imports.names import PathReading, are_repetitions
from kvstudy.logs.imports.sources import LogBundle
from kvstudy.logs.ycsb.log import ADAPTERS, TIMES
from kvstudy.logs.ycsb.status import run_start
from kvstudy.study.metrics import METRICS

Readings = dict[LogBundle, PathReading]
_STATUS = re.compile(r" (\d{1,10}) sec: (\d{1,18}) operations; ")
_LATE = 12
_BY_CHANCE = 100
_CLEANUP = re.compile("(?:Hdr)?CLEANUP$")
# Of a run time and of the mean of a histogram, which is rounded.
_TOLERANCE = 1.02
# Two runs in turn seem to overlap by less (s), since the seconds of status lines are rounded down.
_OVERLAP = 0.5
# Standard deviations that a count may be off by chance.
_SPREAD = 7
# Logs that a question names; the rest is a number.
_NAMED = 4


def ask(sources: Iterable[LogBundle], question: str) -> None:
    """Put ``question`` into the row of each of the ``sources``."""
    for source in sources:
        row = source.row
        row.question = BETWEEN.join(filter(None, (row.question, question)))


def groups(
    sources: Iterable[LogBundle], key: Callable[[LogBundle], object]
) -> list[list[LogBundle]]:
    """Return those with the same key, in the order of the first of each."""
    groups: dict[object, list[LogBundle]] = defaultdict(list)
    for source in sources:
        groups[key(source)].append(source)
    return list(groups.values())


def cell_of(source: LogBundle) -> tuple:
    """All that repetitions of one cell have in common."""
    row = source.row
    return row.store, row.workload, row.phase, row.sizes, source.shape


def list_names(sources: Iterable[LogBundle]) -> str:
    """Return some of the names, and how many more there are."""
    names = [source.name for source in sources]
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


# --- one log by itself


def ask_threads(source: LogBundle) -> None:
    """Compare the three numbers of threads; set that of a log whose command does not say it.

    A connection is closed once for each thread ([CLEANUP]), or twice by a binding that measures its
    own cleanup. Latencies add up to the run time of each thread at most, and mostly to more than
    half of it.
    """
    row, closed, busy = source.row, closed_connections(source), busy_threads(source)
    if not row.threads:
        if closed and busy is not None and closed / 2 < busy / _TOLERANCE <= closed:
            row.threads = closed
        elif source.command and closed in (None, 1) and "threadcount" not in (source.given or {}):
            # The default of YCSB.
            row.threads = 1
        elif closed:
            text = "unknown" if busy is None else f"{busy:.1f} at a time by their latencies"
            ask([source], f"[CLEANUP] counts {closed} threads, but operations were {text}")
    if not row.threads or source.command is None:
        return
    threads, done = row.threads, source.log.attempted if source.log else None
    if done and closed == done < threads:
        # YCSB starts no more threads than there are operations.
        threads = row.threads = closed
    fits = busy is None or busy <= threads * _TOLERANCE
    is_doubled = closed == 2 * threads and busy is not None and fits and busy > threads / 2
    if closed and closed != threads and not is_doubled:
        ask([source], f"{threads} threads by its command, {closed} by [CLEANUP]")
    elif not fits:
        ask([source], f"{threads} threads by its command, over {busy:.1f} by its latencies")
    elif not closed and busy is not None and busy < threads / 2 and not _is_throttled(source):
        ask([source], f"{threads} threads by its command, about {busy:.1f} by its latencies")


def _is_throttled(source: LogBundle) -> bool:
    return "target" in (source.given or {})


def ask_counts(source: LogBundle) -> None:
    """Ask about a log with more operations than its command asked for: it is another one's."""
    row, log = source.row, source.log
    if source.command is None or log is None or row.phase != "run" or not row.operations:
        return
    if log.attempted > row.operations:
        ask([source], f"{row.operations} operations by its command, {log.attempted} by its counts")


def ask_status(source: LogBundle) -> None:
    """Ask about results that status lines deny: they are those of another run.

    The last line may come late, by the interval of YCSB 0.1.
    """
    log, lines = source.log, _STATUS.findall(source.talk)
    if log is None or not lines:
        return
    seconds, done = (max(map(int, column)) for column in zip(*lines, strict=True))
    if done > log.attempted or seconds > log.runtime / 1000 + _LATE:
        ask(
            [source],
            f"its status lines count {done} operations in {seconds} s, its results "
            f"{log.attempted} in {log.runtime / 1000:.0f} s: are they of another run?",
        )


def ask_mix(source: LogBundle, expected: dict[str, float]) -> None:
    """Ask about a run whose operations are not those of its workload: its file was another.

    ``expected`` are the proportions by operation. Chance may make some more or less.
    """
    if source.log is None:
        return
    counts = {
        name.casefold(): section.operations + section.failed
        for name, section in source.log.sections.items()
    }
    both = counts.get("read-modify-write", 0)
    # YCSB counts the reads and updates of a read-modify-write among the others too.
    counts |= {name: counts[name] - both for name in ("read", "update") if both and name in counts}
    whole, total = sum(expected.values()), source.log.attempted
    for name, proportion in expected.items():
        share, count = proportion / whole, counts.get(name, 0)
        spread = _SPREAD * math.sqrt(total * share * (1 - share))
        if abs(count - total * share) > spread + 1:
            ask(
                [source],
                f"{100 * share:.3g} % {name} operations by workload {source.base}, "
                f"{100 * count / total:.3g} % by its counts: was its file another? Put it next to "
                "the logs, or give the workload another name",
            )
            return


def ask_name(
    source: LogBundle, reading: PathReading, stores: Iterable[str], has_loads: bool
) -> None:
    """Compare what the log says with what its path says; ``has_loads`` if any path names a load."""
    row, stores = source.row, list(stores)
    store = base_of(row.store, stores) or row.store
    if store and reading.stores and store not in reading.stores:
        (named, *_) = sorted(reading.stores)
        new = "" if named in stores else f" (which needs 'kvstudy new store {named}')"
        ask([source], f"store {store} by its binding, {named}{new} by its name")
    if row.threads and reading.threads and row.threads not in reading.threads:
        named = " or ".join(map(str, sorted(reading.threads)))
        ask([source], f"{row.threads} threads by the log, {named} by its name")
    # A run with a number is a repetition where the path names a load, or none does.
    numbered = {"run-n"} if "load" in reading.phases else set()
    phases = {phase.removesuffix("-n") for phase in reading.phases - numbered}
    is_repetition = "run-n" in reading.phases and not has_loads
    if row.phase and phases and row.phase not in phases and not is_repetition:
        ask([source], f"a {row.phase} by its command, a {min(phases)} by its name")
    # A workload file next to the logs got the study's name before its own.
    letter = source.base.rpartition("-")[2]
    others = reading.workloads if len(letter) == 1 and row.phase == "run" else ()
    if others and letter not in others:
        named = " or ".join(sorted(reading.workloads))
        ask([source], f"workload {source.base} by its command, {named} by its name")


def check_threads(sources: Iterable[LogBundle]) -> None:
    """Raise InputError for threads filled in by hand that are fewer than those in calls."""
    for source in sources:
        row, busy = source.row, busy_threads(source)
        if source.command is None and busy is not None and busy > row.threads * _TOLERANCE:
            raise InputError(
                f"{NAME}: line {row.line} ({row.file}): {row.threads} threads cannot be, its "
                f"latencies say that {busy:.1f} operations ran at a time; correct threads"
            )


def closed_connections(source: LogBundle) -> int | None:
    """Return how many connections [CLEANUP] counts; None without."""
    text = source.results.text if source.results else ""
    # A value that is no number is the log's own fault, which its cell says.
    with contextlib.suppress(KvstudyError, ValueError):
        for form, read in ADAPTERS.items():
            for entry in read(text, source.name) if form.search(text) else ():
                if _CLEANUP.match(entry.section) and entry.label in METRICS["operations"].labels:
                    return int(float(entry.value))
    return None


def busy_threads(source: LogBundle) -> float | None:
    """Return how many operations ran at a time on average; None where no latency says it."""
    interval = (source.given or {}).get("measurement.interval", "op")
    if source.log is None or interval == "intended":
        return None
    total = 0.0
    for name, section in source.log.sections.items():
        if TIMES.get(name, 1) == 1 and section.operations:
            if "latency_mean" not in section.latencies:
                return None
            total += section.operations * section.latencies["latency_mean"]
    return total / 1000 / source.log.runtime


# --- logs next to each other


def ask_copies(sources: list[LogBundle]) -> str:
    """Ask about logs of one cell or command with the same results: no two runs have the same.

    Return a note on logs of other cells with the same results; "" without.
    """

    def results(source: LogBundle) -> object:
        log = source.log
        if log is None or not log.sections:
            return source.name
        return log.runtime, log.throughput, repr(sorted(log.sections.items()))

    others = []
    for group in groups(sources, results):
        clocks = {_start(source) for source in group}
        if None not in clocks and len(clocks) == len(group):
            # Of a few operations the results can be the same by chance.
            if len(group) > 1 and group[0].log.attempted >= _BY_CHANCE:
                ask(
                    group,
                    f"{list_names(group)} have the same results, but other clocks: these are "
                    "results of one run; take out the rows of the others",
                )
            continue
        for index, source in enumerate(group):
            same = [
                other
                for other in group[:index]
                if cell_of(other) == cell_of(source) or other.arguments == source.arguments
            ]
            if same:
                ask([source], f"has the same results as {same[0].name}: take out the row of a copy")
            elif index:
                others.append(source)
    if not others:
        return ""
    return f"{list_names(others)}: the same results as logs of other cells; look whether that is so"


def _start(source: LogBundle) -> datetime | None:
    return run_start(source.talk)


def overlapping(sources: Iterable[LogBundle]) -> list[tuple[LogBundle, LogBundle, float]]:
    """Return each two logs that ran at the same time by their clocks, and for how long (s)."""
    spans = []
    for source in sources:
        start = _start(source)
        if start and source.log:
            spans.append((start, start + timedelta(milliseconds=source.log.runtime), source))
    spans.sort(key=lambda span: span[0])
    groups = []
    for index, (start, end, source) in enumerate(spans):
        for start_2, end_2, other in spans[index + 1 :]:
            if start_2 >= end:
                break
            if (source.log.runtime, source.log.throughput) == (
                other.log.runtime,
                other.log.throughput,
            ):
                # A copy.
                continue
            both = (min(end, end_2) - start_2).total_seconds()
            shorter = min((end - start).total_seconds(), (end_2 - start_2).total_seconds())
            if both > min(_OVERLAP, shorter / 2):
                groups.append((source, other, both))
    return groups


def ask_overlaps(pairs: list[tuple[LogBundle, LogBundle, float]]) -> set[LogBundle]:
    """Ask about runs at the same time; return those that look like clients of one run."""
    neighbours: dict[LogBundle, dict[LogBundle, float]] = defaultdict(dict)
    for source, other, seconds in pairs:
        neighbours[source][other] = neighbours[other][source] = seconds
    clients = set()
    for group in groups(neighbours, lambda source: (source.row.store, source.row.phase)):
        same = {source for source in group if neighbours[source].keys() & {*group}}
        if same:
            clients |= same
            members = [source for source in group if source in same]
            ask(
                members,
                f"{list_names(members)} ran at the same time: clients of one run are no "
                "repetitions, and logs of YCSB cannot be added up, since they have no common start "
                "and end; take these rows out, or, if each had a server of its own, give each a "
                "store name of its own",
            )
    return clients


def overlap_note(pairs: list[tuple[LogBundle, LogBundle, float]]) -> str:
    """Return what to say of runs of two stores, or of a load and a run, at the same time."""
    apart = [
        (source, other)
        for source, other, _ in pairs
        if (source.row.store, source.row.phase) != (other.row.store, other.row.phase)
    ]
    if not apart:
        return ""
    count = len({source for pair in apart for source in pair})
    return (
        f"{count} logs overlap in time, such as {' and '.join(s.name for s in apart[0])}: if that "
        "was one machine, they slowed each other down"
    )


def ask_versions(sources: list[LogBundle]) -> None:
    """Ask about logs of another version of YCSB than most."""
    versions = Counter(source.version for source in sources if source.version)
    if len(versions) < 2:
        return
    (usual, _), *others = versions.most_common()
    for version, _ in others:
        of_version = [source for source in sources if source.version == version]
        ask(
            of_version,
            f"made by YCSB {version}, most other logs by YCSB {usual}: results of two versions do "
            "not compare",
        )


def systems(sources: list[LogBundle], readings: Readings, clients: set[LogBundle]) -> None:
    """Give logs of one cell that have names of two systems a store each, and ask.

    Their names differ by a word that is no repetition, date, store or size: redis-6.2 and
    redis-7.2, aof-on and aof-off, two hosts.
    """
    named = [source for source in sources if source.row.store and source not in clients]
    for of_store in groups(named, lambda source: source.row.store):
        apart: set[str] = set()
        for group in groups(of_store, cell_of):
            words = [{*readings[source].words} for source in group]
            apart |= set.union(*words) - set.intersection(*words)
        if not apart:
            continue
        store = of_store[0].row.store
        suffixes = {
            source: "-".join(word for word in readings[source].words if word in apart)
            for source in of_store
        }
        words = ", ".join(sorted(apart)[:_NAMED])
        for source, suffix in suffixes.items():
            source.row.store += f"-{slug(suffix)}" if suffix else ""
        ask(
            of_store,
            f"logs of one cell of {store} differ in their names by {words}: two systems, or "
            "repetitions? Taken for stores of their own; for repetitions, give them one store and "
            "different repetitions",
        )


def slug(text: str) -> str:
    """Return ``text`` as a part of a store's name."""
    return "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in text).split())


def ask_repetitions(sources: list[LogBundle], readings: Readings) -> None:
    """Ask about numbers in names that do not count repetitions, or in another order."""
    numbers = {number for reading in readings.values() for number in number_of(reading)}
    # A load has the repetition of its run.
    for group in groups([source for source in sources if not source.run], cell_of):
        programs = {(part.path, part.prefix) for source in group if (part := source.results)}
        if len(programs) > len({path for path, _ in programs}):
            prefixes = ", ".join(sorted({f"'{prefix}'" for _, prefix in programs})[:_NAMED])
            ask(
                group,
                f"{list_names(group)} are of several programs in one file ({prefixes}): "
                "repetitions, clients of one run or several servers? For servers, give each a "
                "store name of its own; of clients, take the rows out",
            )
            continue
        if not are_repetitions([readings[source] for source in group], numbers):
            ask(
                group,
                f"the numbers in the names of {list_names(group)} do not count from 1: "
                "repetitions, or sizes, hosts or versions? For the latter, give each a store or "
                "workload name of its own",
            )
            continue
        by_clock = [number_of(readings[source]) for source in sorted(group, key=_repetition)]
        if all(map(_start, group)) and by_clock != sorted(by_clock):
            ask(
                group,
                f"the clocks in {list_names(group)} give another order than the numbers in their "
                "names; the repetitions follow the clocks",
            )


def number_of(reading: PathReading) -> tuple[int, ...]:
    """Return the numbers that the path orders its log by."""
    repetition = () if reading.repetition is None else (reading.repetition,)
    return *repetition, *reading.numbers


def _repetition(source: LogBundle) -> int:
    return source.row.repetition or 0


def ask_loads(sources: list[LogBundle]) -> None:
    """Ask about loads without a run, where runs of their store and workload have no load."""
    # A run may follow another one's load.
    loaded = {_loaded(source) for source in sources if source.row.phase == "load"}
    runs = [source for source in sources if source.row.phase == "run"]
    runs = [run for run in runs if _loaded(run) not in loaded]
    for load in sources:
        if load.row.phase != "load" or load.run is not None:
            continue
        given = load.given or {}
        count, total = (given.get(name, "") for name in ("insertcount", "recordcount"))
        if count.isdecimal() and total.isdecimal() and int(count) < int(total):
            first = given.get("insertstart", "0")
            ask([load], f"loads {count} of {total} records, from number {first} on: a part")
            continue
        unlike = [run for run in runs if (run.row.store, run.base) == (load.row.store, load.base)]
        if unlike:
            sizes = " or ".join(sorted({_records(run) for run in unlike}))
            ask([load], f"loads {_records(load)}, but {list_names(unlike)} ran with {sizes}")


def _loaded(source: LogBundle) -> tuple:
    return source.row.store, source.base, source.row.records, source.shape


def _records(source: LogBundle) -> str:
    shape = f" ({source.shape})" if source.shape else ""
    return f"{source.row.records or 'unknown'} records{shape}"
