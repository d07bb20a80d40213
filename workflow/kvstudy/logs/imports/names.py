"""Readings of a log's path: the store, workload, phase and threads it names, and what is left.

A path is a habit, not a format. So a reading never decides against the log; it is compared with
what the log says, and with the paths of the other logs of the same cell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath

# 2024-03-01, 20240301_1030, 01.03.2024, 1-mar-2024, 10h30m00; seconds since 1970, other long ids.
_TIME = r"[t_ .-]?\d\d[h:._-]?\d\d(?:[m:._-]?\d\d(?:\.\d+)?s?z?)?"
_DATE = re.compile(
    rf"(?<!\d)(?:19|20)\d\d([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12]\d|3[01])(?:{_TIME})?(?!\d)"
    rf"|(?<!\d)(?:0[1-9]|[12]\d|3[01])([-_.])(?:0[1-9]|1[0-2])\2(?:19|20)\d\d(?:{_TIME})?(?!\d)"
    r"|(?<![a-z\d])\d{1,2}[-_ ]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"(?:[-_ ]?(?:19|20)\d\d)?(?![a-z\d])"
    # But 1000000 records are no date.
    r"|(?<!\d)\d\d[h:]\d\d(?:[m:]\d\d)?(?!\d)|(?<![\d.])(?!\d+0{5}(?!\d))\d{7,}(?!\.?\d)"
)
_REPETITION = re.compile(
    r"(?<![a-z])(?:repetition|repeat|rep|run|iteration|iter|trial|try|attempt|round|pass)"
    r"[-_ .#]*(\d{1,4})(?![\da-z]|\.\d)"
)
_THREADS = re.compile(
    r"(?<![a-z\d])(?:(?:clients?[-_ ]?)?threads?[-_ =]?|thr[-_ =]?|th|t)(\d{1,5})(?![\da-z]|\.\d)"
    r"|(?<![\da-z.])(\d{1,5})(?:[-_ ]?(?:client[-_ ]?)?threads?|[-_ ]?thr|t)(?![a-z\d])"
)
# Hosts, parts, sizes and settings, whose number is one of theirs, however it is joined: node-1,
# 2_nodes, shards/3, eu-west-1.
_SIZED = (
    "node|server|machine|instance|client|worker|broker|replica|shard|partition|region|zone|"
    "datacenter|rack|cluster|core|v?cpu|connection|conn|disk|fieldcount|fieldlength|field"
)
_SETTING = (
    rf"{_SIZED}|host|az|dc|rf|cl|gb|mb|kb|aof|fsync|journal|cache|compression|pipeline|pool|level|"
    "quorum|consistency|config|conf|setup|scenario|variant|option|version|ver|experiment|exp|"
    "(?:north|south)?(?:east|west)|north|south|central"
)
_NUMBERED_SETTING = re.compile(
    rf"(?<![a-z])((?:{_SETTING})s?)[-_ =.#]+(\d{{1,6}})(?![\da-z]|\.\d)"
    rf"|(?<![a-z])((?:{_SIZED})s)/(\d{{1,6}})(?![\da-z]|\.\d)"
    rf"|(?<![\da-z.])(\d{{1,6}})[-_ ]((?:{_SIZED}|[gmk]b)s?)(?![a-z\d])"
)
_ORDINAL = re.compile(r"(?<![\da-z.])(\d+)(?:st|nd|rd|th)(?![a-z\d])")
_WORD = re.compile(r"v?\d+(?:\.\d+)+[a-z]*|[^\W\d_]+\d*[^\W_]*|\d+[^\W_]*")
_NUMBERED = re.compile(r"([a-z]+)(\d{1,4})")
_WORKLOAD = re.compile(r"(?<![a-z])(?:workload|wl)[-_ ]?([a-z]\w*?)(?=[-_ .#/\d]|$)")
_LOAD = re.compile(r"(?<![a-z])(?:re)?load(?:ing|ed)?(?![a-z]|[-_ ]?(?:test|gen))")
_RUN = re.compile(
    r"(?<![a-z])(?:(run)[-_ .#]*\d+(?![\da-z])|(?:run(?:ning)?|transactions?|txns?)(?![a-z]))"
)
# What says nothing of a cell; a number behind one of the first counts repetitions.
_COUNTED = frozenset(
    """
    out err stdout stderr output error log txt result results ycsb bench benchmark test load run
    day batch job r nr no
    """.split()  # noqa: SIM905
)
_PLAIN = _COUNTED | frozenset(
    """
    outputs errors logs text dat data csv tsv json md cmd benchmarks tests loading runs running
    transaction transactions txn insert workload workloads wl the of number store stores db
    """.split()  # noqa: SIM905
)
# Stores that kvstudy may not have, but which are measured with the bindings of those it has.
_OTHER_STORES = frozenset(
    """
    keydb dragonfly dragonflydb kvrocks garnet pika ssdb elasticache memorydb scylla scylladb tidb
    cockroach cockroachdb yugabyte yugabytedb percona aurora timescale timescaledb ferretdb
    documentdb cosmosdb couchbase couchdb hbase accumulo tarantool ignite hazelcast voltdb
    foundationdb bigtable arangodb orientdb neo4j janusgraph elasticsearch leveldb
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class PathReading:
    """Stores, workloads and phases that the path names, threads; the words and numbers left.

    The phase run-n is a numbered run, which may be a repetition.
    ``repetition`` is the number behind a word like rep or run, ``numbers`` are the others.
    """

    stores: frozenset[str]
    workloads: frozenset[str]
    phases: frozenset[str]
    threads: frozenset[int]
    repetition: int | None
    numbers: tuple[int, ...]
    words: tuple[str, ...]


def read_path(path: PurePath, stores: Iterable[str], workloads: Iterable[str]) -> PathReading:
    """Return what ``path`` names, with ``stores`` and ``workloads`` as the names there are."""
    stores, workloads = set(stores), set(workloads)
    text = path.as_posix().casefold()
    phases = {"load"} if _LOAD.search(text) else set()
    # A folder "run" may hold loads, too; and run-1 a load, which was its first repetition.
    if run := _RUN.search(path.name.casefold()):
        phases.add("run-n" if run[1] else "run")
    named = set(_WORKLOAD.findall(text))
    text = _ORDINAL.sub(r"\1", _WORKLOAD.sub(" ", _DATE.sub(" ", text)))
    repetitions = [int(number) for number in _REPETITION.findall(text)]
    text = _REPETITION.sub(" ", text)
    threads = {int(before or behind) for before, behind in _THREADS.findall(text)}
    text = _THREADS.sub(" ", text)
    text = _NUMBERED_SETTING.sub(lambda match: "".join(filter(None, match.groups())), text)
    named_stores, numbers, words = set(), repetitions[:-1], []
    for word in _WORD.findall(text):
        numbered = _NUMBERED.fullmatch(word)
        stem, number = numbered.groups() if numbered else (word, "")
        store = _store_of(stem, stores)
        if store:
            named_stores.add(store)
            # Measured with another store's binding, it is a word that sets logs apart.
            words += [] if store in stores else [store]
        elif len(stem) == 1 and stem in workloads:
            named.add(stem)
        elif word.isdecimal():
            number = word
        elif stem not in (_COUNTED if number else _PLAIN):
            words.append(word)
            continue
        if number:
            numbers.append(int(number))
    return PathReading(
        frozenset(named_stores),
        frozenset(named & workloads),
        frozenset(phases),
        frozenset(threads),
        repetitions[-1] if repetitions else None,
        tuple(numbers),
        tuple(words),
    )


def _store_of(word: str, stores: set[str]) -> str:
    """The store that ``word`` names in full, or by its first five letters or more; else ""."""
    if word in stores or word in _OTHER_STORES:
        return word
    longer = [name for name in stores if len(word) > 4 and name.startswith(word)]
    return longer[0] if len(longer) == 1 else ""


def are_repetitions(readings: list[PathReading], numbers: set[int]) -> bool:
    """Return whether the paths differ as those of repetitions do.

    By dates, by the number behind a word like rep, or by one bare number that counts from 0 or 1;
    what it leaves out is among the ``numbers`` of other logs. Where two numbers vary, or one has
    gaps (redis5, redis7), it may be a size, a host or a version.
    """
    length = max(len(reading.numbers) for reading in readings)
    # The first of several may have no number: redis.log, redis-2.log.
    rows = [
        (reading.repetition, *reading.numbers, *[1] * (length - len(reading.numbers)))
        for reading in readings
    ]
    marked, *bare = ({*column} for column in zip(*rows, strict=True))
    varied = [index for index, column in enumerate(bare, start=1) if len(column) > 1]
    if len(marked) > 1:
        # rep1/redis-1.log has its number twice.
        return all(
            len({(row[0], row[index]) for row in rows}) == len(marked) == len(bare[index - 1])
            for index in varied
        )
    if not varied:
        return True
    column = bare[varied[0] - 1]
    counted = {*range(min(column), max(column) + 1)}
    return len(varied) == 1 and min(column) <= 1 and counted <= column | numbers
