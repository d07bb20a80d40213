"""What the logs themselves say of their cells: the draft of ``import.csv``."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.mapping import UNLIMITED, Row, write_rows
from kvstudy.logs.imports.sources import Source
from kvstudy.logs.imports.workloads import (
    OF_WORKLOADS,
    CommandLine,
    base_workload,
    differences,
    file_properties,
    slug_of,
    study_name,
)
from kvstudy.logs.ycsb.status import run_start
from kvstudy.stores.definition import StoreFile
from kvstudy.study.load import STORES
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import WORKLOADS, load_workload, project_workloads

# Properties that say where a server or a file is, not what is measured.
_PLACES = re.compile(
    r"(^|\.)(hosts?|servers?|nodes?|port|user|username|debug|verbose|exporter|exportfile)$"
    r"|(?i:passwd|password|secret|token)$|^(status|hdrhistogram|measurement|histogram|timeseries)\."
    r"|^(db|db\.driver|dotransactions|threadcount)$"
)
# An address can have properties behind it: mongodb://host/base?w=0
_URL = re.compile(r"(^|\.)(url|uri)$")
_CLEANUP = re.compile(r"^\[(?:Hdr)?CLEANUP\], (?:Total )?Operations, (\d+)(?:\.0)?$", re.MULTILINE)
INSERT = "insert"
SIZES = ("records", "operations", "threads", "seconds")


@dataclass
class Guess:
    """A row with what is needed to complete it.

    ``named`` tells that names of files were read, which a person should look at.
    ``variant`` are the properties of the store's binding, sorted; ``base`` is the file under
    workloads/, ``shape`` what its load does differently; ``run`` is the run of a load.
    """

    row: Row
    source: Source
    variant: dict[str, str] = field(default_factory=dict)
    base: str = ""
    shape: str = ""
    run: Guess | None = None
    named: bool = False

    def sizes(self) -> tuple[int | None, ...]:
        return tuple(getattr(self.row, name) for name in SIZES)


def guess_rows(sources: list[Source], folder: Path, study: str) -> list[Guess]:
    """A row for each log, as complete as the logs make it.

    Reads the stores of the project; copies workload files beside the logs to workloads/.
    """
    stores = {
        path.parent.name: read_yaml(path, StoreFile) for path in sorted(STORES.glob("*/store.yaml"))
    }
    guesses = [_guess(source, folder, study, stores) for source in sources]
    _without_needless_limits(guesses)
    _name_variants(guesses)
    _records_of_loads(guesses)
    _name_sizes([guess for guess in guesses if guess.row.phase == "run"])
    _pair(guesses)
    _name_sizes([guess for guess in guesses if guess.row.phase == "load" and not guess.run])
    _number_repetitions(guesses)
    return guesses


def _guess(source: Source, folder: Path, study: str, stores: dict[str, StoreFile]) -> Guess:
    row = Row(file=source.name)
    guess = Guess(row, source)
    if source.command is None:
        _from_file_names(guess, stores)
    else:
        _from_command(guess, source.command, folder, study, stores)
    if row.seconds and not row.operations:
        row.operations = UNLIMITED
    if log := source.log:
        # What was done counts where nothing says what was asked.
        if row.phase == "load" and "INSERT" in log.sections:
            row.records = row.records or log.sections["INSERT"].operations
        elif row.phase == "run":
            row.operations = row.operations or log.attempted
        # Each client thread closes its connection once, and YCSB counts that.
        closed = _CLEANUP.search(source.results.text)
        row.threads = row.threads or (int(closed[1]) if closed else None)
    return guess


def _from_command(
    guess: Guess, command: CommandLine, folder: Path, study: str, stores: dict[str, StoreFile]
) -> None:
    row = guess.row
    row.phase = command.phase
    row.store = store_of(command, stores) or ""
    given = guess.source.given = {}
    for name in command.files:
        given |= file_properties(name, folder) or {}
    given |= command.properties
    row.threads = command.threads or _count(given, "threadcount") or 1
    # YCSB loads insertcount records, if it is given, and a run asks for no others.
    row.records = _count(given, "insertcount") or _count(given, "recordcount")
    row.operations, row.seconds = _count(given, "operationcount"), _count(given, "maxexecutiontime")
    guess.variant = variant_of(given)
    if command.phase == "load":
        row.operations = row.seconds = None
    if (base := base_workload(command, folder, study)) is None:
        return
    shipped = load_workload(WORKLOADS / base)
    row.workload = guess.base = base
    guess.shape = slug_of(differences(shipped | given, load_workload(WORKLOADS / INSERT), "shape"))
    if command.phase == "run" and (differing := differences(given, shipped)):
        row.workload = f"{base}-{slug_of(differing)}"
    done = guess.source.log.attempted if guess.source.log else None
    if row.phase == "run" and row.operations is None and done == _count(shipped, "operationcount"):
        # YCSB's own file, as it is: its sizes count too.
        row.operations = done
        row.records = row.records or _count(shipped, "recordcount")


def variant_of(properties: dict[str, str]) -> dict[str, str]:
    """Those of the ``properties`` that make another variant of the store, without addresses."""
    found = {}
    for name, value in sorted(properties.items()):
        if name in OF_WORKLOADS or _PLACES.search(name):
            continue
        if _URL.search(name):
            _, _, behind = value.replace(";", "?", 1).partition("?")
            parts = sorted(filter(None, re.split("[&;?]", behind)))
            parts = [part for part in parts if not _PLACES.search(part.split("=")[0])]
            if not parts:
                continue
            value = f"...?{'&'.join(parts)}"
        found[name] = value
    return found


def _without_needless_limits(guesses: list[Guess]) -> None:
    """A limit of time that none of the runs of a workload came to is none."""
    timed = [guess for guess in guesses if guess.row.seconds]
    for group in _groups(timed, lambda guess: (guess.row.workload, *guess.sizes())):
        done = {guess.source.log.attempted for guess in group if guess.source.log}
        if done == {group[0].row.operations}:
            for guess in group:
                guess.row.seconds = None


def _groups(guesses: Iterable[Guess], key: Callable[[Guess], object]) -> list[list[Guess]]:
    """Those with the same key, in the order of the first of each."""
    groups: dict[object, list[Guess]] = defaultdict(list)
    for guess in guesses:
        groups[key(guess)].append(guess)
    return list(groups.values())


def store_of(command: CommandLine, stores: dict[str, StoreFile]) -> str | None:
    """The store whose binding the log names; None when it is none of ours, or one of several."""
    db = command.db.replace("com.yahoo.ycsb.", "site.ycsb.").removesuffix("-cql")
    ours = {name: store.ycsb for name, store in stores.items() if store.ycsb}
    official = {name: ycsb.official for name, ycsb in ours.items() if ycsb.official}
    found = [
        name
        for name, ycsb in ours.items()
        if db == ycsb.db or (name in official and db in (official[name].db, official[name].binding))
    ]
    if len(found) > 1:
        # One binding for several stores: the address says which (JDBC), or it is named after one.
        own = [name for name in found if name in official and official[name].binding == name]
        found = [name for name in found if _same_scheme(command, ours[name].properties)] or own
    return found[0] if len(found) == 1 else None


def _same_scheme(command: CommandLine, properties: dict[str, str]) -> bool:
    return any(
        "://" in value
        and command.properties.get(name, "").startswith(value.partition("://")[0] + "://")
        for name, value in properties.items()
    )


def _count(properties: dict[str, str], name: str) -> int | None:
    value = properties.get(name, "")
    return int(value) or None if re.fullmatch(r"\d{1,18}", value) else None


def _from_file_names(guess: Guess, stores: dict[str, StoreFile]) -> None:
    """What the words of the path say, where the log says nothing."""
    guess.named = True
    row, log = guess.row, guess.source.log
    words = re.findall(r"[a-z]+\d*|\d+", row.file.casefold())
    named = [name for name in stores if name in words]
    row.store = named[0] if len(named) == 1 else ""
    inserts = log is not None and log.sections.keys() - {"CLEANUP"} == {"INSERT"}
    if log is not None and not inserts:
        row.phase = "run"
    elif "load" in words or (inserts and "insert" in words):
        row.phase = "load"
    else:
        row.phase = "run" if "run" in words else ""
    there = set(project_workloads()) - {INSERT}
    known = [study_name(word) for word in words if word.startswith("workload") or len(word) == 1]
    known += [after for word, after in pairwise(words) if word == "workload"]
    found = [name for name in dict.fromkeys(known) if name in there]
    row.workload = guess.base = found[0] if len(found) == 1 else ""


def _name_variants(guesses: list[Guess]) -> None:
    """One store with different properties of its binding is several, riak and riak-2; the most
    frequent keeps the name."""
    called = [guess for guess in guesses if guess.row.store and guess.source.command]
    for group in _groups(called, lambda guess: guess.row.store):
        variants = Counter(str(guess.variant) for guess in group)
        order = [variant for variant, _ in variants.most_common()]
        for guess in group:
            if number := order.index(str(guess.variant)):
                guess.row.store += f"-{number + 1}"


def _records_of_loads(guesses: list[Guess]) -> None:
    """A run that does not say its records has those of the store's only kind of load."""
    loaded: dict[str, set[int]] = defaultdict(set)
    for guess in guesses:
        if guess.row.phase == "load" and guess.row.records:
            loaded[guess.row.store].add(guess.row.records)
    for guess in guesses:
        row = guess.row
        if row.phase == "run" and not row.records and len(loaded[row.store]) == 1:
            (row.records,) = loaded[row.store]


def _in_order(group: list[Guess]) -> list[Guess]:
    """By the clock in the logs if all have it, else by name.

    Not by the times of the files: copying and unpacking set them anew.
    """
    if all(run_start(guess.source.talk) for guess in group):
        return sorted(group, key=lambda guess: run_start(guess.source.talk))

    def by_number(guess: Guess) -> list[str | int]:
        """rep2 before rep10."""
        parts = re.split(r"(\d+)", guess.row.file.casefold())
        return [int(part) if part.isdecimal() else part for part in parts]

    return sorted(group, key=by_number)


def _pair(guesses: list[Guess]) -> None:
    """Loads to their runs, in order: same store, workload file, shape of records and number.

    First where the threads are the same too. A load without a run is an insert-only cell.
    """

    def key(guess: Guess) -> tuple:
        threads = with_threads and guess.row.threads
        return guess.row.store, guess.base, guess.shape, guess.row.records, threads

    for with_threads in (True, False):
        taken = [id(guess.run) for guess in guesses]
        free = [guess for guess in guesses if not guess.run and id(guess) not in taken]
        known = [guess for guess in free if guess.row.store and guess.base and guess.row.records]
        for group in _groups(known, key):
            loads = [guess for guess in group if guess.row.phase != "run"]
            runs = _in_order([guess for guess in group if guess.row.phase == "run"])
            if with_threads or len(loads) == len(runs):
                if len(loads) < len(runs):
                    # The file as it is before what was run with other properties.
                    runs.sort(key=lambda guess: guess.row.workload != guess.base)
                for load, run in zip(_in_order(loads), runs, strict=False):
                    load.run = run
    for guess in guesses:
        if guess.row.phase == "load" and guess.run is None:
            guess.row.workload = f"{INSERT}-{guess.shape}" if guess.shape else INSERT


def _name_sizes(guesses: list[Guess]) -> None:
    """One workload with different sizes is several, a-t1 and a-t8; the most frequent keeps its
    name, if there is one."""
    named = [guess for guess in guesses if guess.row.workload]
    for group in _groups(named, lambda guess: guess.row.workload):
        sizes = Counter(guess.sizes() for guess in group)
        first, *others = sizes.most_common()
        plain = first[0] if not others or others[0][1] < first[1] else None
        varied = [len(set(numbers)) > 1 for numbers in zip(*sizes, strict=True)]
        for guess in group:
            size = guess.sizes()
            if size == plain:
                continue
            for name, value, differs in zip(SIZES, size, varied, strict=True):
                if differs and value:
                    guess.row.workload += f"-{name[0]}{value}"
            if not size[3] and any(size[:3] == other[:3] and other[3] for other in sizes):
                guess.row.workload += "-untimed"


def _number_repetitions(guesses: list[Guess]) -> None:
    """1, 2, ... in each store, workload and phase; a load has its run's."""
    alone = [guess for guess in guesses if guess.run is None]
    for group in _groups(alone, lambda each: (each.row.store, each.row.workload, each.row.phase)):
        for repetition, guess in enumerate(_in_order(group), start=1):
            guess.row.repetition = repetition
    for guess in guesses:
        if guess.run:
            run = guess.run.row
            guess.row.workload, guess.row.repetition = run.workload, run.repetition


def draft(path: Path, guesses: list[Guess]) -> None:
    """Write ``path``; KvstudyError when a person must look at it before it counts."""
    write_rows(path, [guess.row for guess in guesses])
    lines = []
    for line, guess in enumerate(guesses, start=2):
        row, command = guess.row, guess.source.command
        if not row.missing and not guess.named:
            continue
        text = f"{path}: line {line} ({row.file}): "
        text += f"complete {', '.join(row.missing)}" if row.missing else "look at it"
        if not row.store and command and command.db:
            text += f"; its binding is {command.db}"
        if not row.workload and command and command.files:
            text += f"; its workload file is {command.files[0]}"
        if guess.named:
            text += "; the log does not say how YCSB was called, so names of files were read"
        lines.append(text)
    if lines:
        lines.append(
            f"{path} was written: {len(lines)} of {len(guesses)} logs need a look. Remove the row "
            "of a log that is not to be imported, then run the command again"
        )
        raise KvstudyError("\n".join(lines))
