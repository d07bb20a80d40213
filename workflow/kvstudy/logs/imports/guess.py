"""The draft of ``import.csv``, from the logs themselves."""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path, PurePath

from kvstudy.errors import InputError
from kvstudy.logs.imports.mapping import BETWEEN, COLUMNS, SIZES, UNLIMITED, Row, places
from kvstudy.logs.imports.names import PathReading, read_path
from kvstudy.logs.imports.questions import (
    Readings,
    ask,
    ask_copies,
    ask_counts,
    ask_loads,
    ask_mix,
    ask_name,
    ask_overlaps,
    ask_repetitions,
    ask_status,
    ask_threads,
    ask_versions,
    busy_threads,
    cell_of,
    groups,
    list_names,
    number_of,
    overlap_note,
    overlapping,
    systems,
)
from kvstudy.logs.imports.sources import LogBundle
from kvstudy.logs.imports.workloads import (
    CommandLine,
    WorkloadFiles,
    as_ycsb_reads,
    base_name,
    base_workload,
    differences,
    nearest_files,
    slug_of,
    study_name,
    workload_files,
)
from kvstudy.logs.ycsb.status import run_start
from kvstudy.stores.definition import StoreFile
from kvstudy.study.load import STORES
from kvstudy.study.reading import read_yaml
from kvstudy.study.workload import WORKLOADS, load_workload, project_workloads
from kvstudy.study.ycsb_properties import CORE, KNOWN, proportions_of

INSERT = "insert"
# What is around a store's name in that of its binding: Couchbase2Client, ScyllaCQLClient.
_BINDING = re.compile(r"^async|[-_]?(?:async|cql|rest|ycsb)?(?:client)?[-_]?\d*$", re.IGNORECASE)


def guess_rows(sources: list[LogBundle], folder: Path, study: str) -> list[str]:
    """Make the row of each source as complete as the logs make it; return notes for the user.

    Reads the stores of the project; copies workload files next to the logs to workloads/.
    """
    stores = {
        path.parent.name: read_yaml(path, StoreFile) for path in sorted(STORES.glob("*/store.yaml"))
    }
    known = project_workloads()
    readings: Readings = {
        source: read_path((source.results or source.errors).path, stores, known)
        for source in sources
    }
    files = workload_files(
        folder,
        {base_name(name) for source in sources if source.command for name in source.command.files},
    )
    has_loads = any("load" in reading.phases for reading in readings.values())
    for source, reading in readings.items():
        if source.command is None:
            _from_file_names(source, reading, stores)
        else:
            _from_command(source, source.command, files, study, stores, reading)
        _from_results(source)
        ask_threads(source)
        ask_counts(source)
        ask_status(source)
        ask_name(source, reading, stores, has_loads)
    _without_needless_limits(sources)
    _name_variants(sources)
    _records_of_loads(sources)
    _name_sizes([source for source in sources if source.row.phase == "run"])
    pairs = overlapping(sources)
    clients = ask_overlaps(pairs)
    systems(sources, readings, clients)
    _pair(sources, readings)
    _name_sizes([source for source in sources if source.row.phase == "load" and not source.run])
    _number_repetitions(sources)
    ask_versions(sources)
    ask_repetitions([source for source in sources if source not in clients], readings)
    ask_loads(sources)
    return list(filter(None, (overlap_note(pairs), ask_copies(sources))))


def _from_results(source: LogBundle) -> None:
    """Use the executed operations if the requested ones are unknown."""
    row, log = source.row, source.log
    if row.seconds and not row.operations:
        row.operations = UNLIMITED
    if log is None:
        return
    if row.phase == "load" and "INSERT" in log.sections:
        row.records = row.records or log.sections["INSERT"].operations
    elif row.phase == "run":
        row.operations = row.operations or log.attempted


def _from_command(
    source: LogBundle,
    command: CommandLine,
    files: WorkloadFiles,
    study: str,
    stores: dict[str, StoreFile],
    reading: PathReading,
) -> None:
    row, done = source.row, source.log.attempted if source.log else None
    row.phase = command.phase
    # A service in compose may be called after its store.
    prefix = source.results.prefix if source.results else ""
    of_prefix = read_path(PurePath(prefix), stores, ()).stores
    row.store = store_of(command, stores, reading.stores or of_prefix)
    source.binding = _binding_of(command, stores.get(row.store))
    given = source.given = {}
    log, log_file = (source.results or source.errors).path, None
    for number, name in enumerate(command.files):
        if len(candidates := nearest_files(name, files, log)) > 1:
            ask(
                [source],
                f"{len(candidates)} files {base_name(name)} with the logs differ: which belongs to "
                "this run? Put its own into the folder of the log",
            )
            return
        properties = candidates[0] if candidates else None
        if number == 0:
            # A file without a property of a workload is none.
            log_file = properties = properties if properties and properties.keys() & KNOWN else None
        elif properties is None and (slug := study_name(name)) in project_workloads():
            # Its values lie over those of the first.
            properties = load_workload(WORKLOADS / slug)
        elif properties is None:
            ask(
                [source],
                f"its file {name} is not with the logs, and may have changed the workload: put it "
                "there, or see that it has addresses only",
            )
        given |= properties or {}
    given |= command.properties
    row.threads = _count(given, "threadcount")
    # YCSB loads insertcount records, if it is given, and a run asks for no others.
    row.records = _count(given, "insertcount") or _count(given, "recordcount")
    if row.phase == "run":
        row.operations = _count(given, "operationcount")
        row.seconds = _count(given, "maxexecutiontime")
    base = base_workload(command.files[0], log_file, study) if any(command.files[:1]) else None
    if base is None:
        return
    shipped = load_workload(WORKLOADS / base)
    given = source.given = as_ycsb_reads(given, shipped)
    row.workload = source.base = base
    source.shape = slug_of(differences(shipped | given, load_workload(WORKLOADS / INSERT), "shape"))
    if row.phase == "load":
        return
    java = given.get("workload", shipped.get("workload", CORE)).split(".")[-1]
    with contextlib.suppress(ValueError):
        proportions = proportions_of(shipped | given)
        if java == CORE.split(".")[-1] and sum(proportions.values()) > 0:
            ask_mix(source, proportions)
    if differing := differences(given, shipped):
        row.workload = f"{base}-{slug_of(differing)}"
    if row.operations is None and done == _count(shipped, "operationcount"):
        # YCSB's own file, as it is: its sizes count too.
        row.operations = done
        row.records = row.records or _count(shipped, "recordcount")


def _without_needless_limits(sources: list[LogBundle]) -> None:
    """A limit of time that none of the runs of a workload came to is none."""
    timed = [source for source in sources if source.row.seconds]
    for group in groups(timed, lambda source: (source.row.workload, *source.row.sizes)):
        done = {source.log.attempted for source in group if source.log}
        if done == {group[0].row.operations}:
            for source in group:
                source.row.seconds = None


def store_of(command: CommandLine, stores: dict[str, StoreFile], named: Iterable[str] = ()) -> str:
    """Return the store whose binding the log names; "" when it is one of several.

    Of several with one binding (Redis and Valkey, MySQL and MariaDB) it is the one that the
    address names, or ``named`` by the log's path, or that the binding is named after. The binding
    of a store that is not there has its name: couchbase for Couchbase2Client.
    """
    db = _db(command)
    bindings = {name: store.ycsb for name, store in stores.items() if db in _bindings(store)}
    if not bindings:
        return _BINDING.sub("", _BINDING.sub("", db.rpartition(".")[2])).casefold()
    if len(bindings) == 1:
        return _only(bindings)
    of_address = [
        store
        for store, ycsb in bindings.items()
        for name, value in ycsb.properties.items()
        if "://" in value
        and command.properties.get(name, "").startswith(f"{value.partition('://')[0]}://")
    ]
    of_name = [name for name in bindings if name in named]
    of_binding = [
        name for name, ycsb in bindings.items() if ycsb.official and ycsb.official.binding == name
    ]
    return _only(of_address or of_name or of_binding)


def _db(command: CommandLine) -> str:
    return command.db.replace("com.yahoo.ycsb.", "site.ycsb.").removesuffix("-cql")


def _bindings(store: StoreFile) -> list[str]:
    """Return the binding that is kvstudy's, then the class and the name of that of YCSB."""
    if store.ycsb is None:
        return []
    official = store.ycsb.official
    return [store.ycsb.db, *([official.db, official.binding] if official else [])]


def _binding_of(command: CommandLine, store: StoreFile | None) -> str:
    """Return the class of the binding, also where the launcher was given its name."""
    db = _db(command)
    known = _bindings(store) if store else []
    return known[1] if db in known[1:] else db


def _count(properties: dict[str, str], name: str) -> int | None:
    value = properties.get(name, "")
    return int(value) or None if re.fullmatch(r"\d{1,18}", value) else None


def _from_file_names(source: LogBundle, reading: PathReading, stores: dict[str, StoreFile]) -> None:
    """Use the words of the path if the log does not give a value."""
    row, log = source.row, source.log
    row.store = _only(reading.stores.intersection(stores))
    inserts = log is not None and log.sections.keys() - {"CLEANUP"} == {"INSERT"}
    if log is not None and not inserts:
        row.phase = "run"
    elif "load" in reading.phases or (inserts and INSERT in row.file.casefold()):
        row.phase = "load"
    else:
        row.phase = "run" if "run" in reading.phases else ""
    row.workload = source.base = _only(reading.workloads - {INSERT})


def _only(names: Iterable[str]) -> str:
    """The name, if there is one only."""
    names = list(names)
    return names[0] if len(names) == 1 else ""


def _name_variants(sources: list[LogBundle]) -> None:
    """One store with another binding or other properties of it is several, riak and riak-2; the
    most frequent keeps the name."""
    called = [source for source in sources if source.row.store and source.command]
    for group in groups(called, lambda source: source.row.store):
        if len({source.binding for source in group}) > 1:
            for source in group:
                source.variant["db"] = source.binding
        variants = Counter(str(source.variant) for source in group).most_common()
        order = [variant for variant, _ in variants]
        for source in group:
            if number := order.index(str(source.variant)):
                source.row.store += f"-{number + 1}"


def _records_of_loads(sources: list[LogBundle]) -> None:
    """A run that does not say its records has those of the store's only kind of load."""
    for group in groups(sources, lambda source: source.row.store):
        loaded = {source.row.records for source in group if source.row.phase == "load"} - {None, 0}
        for source in group:
            if source.row.phase == "run" and not source.row.records and len(loaded) == 1:
                (source.row.records,) = loaded


def _in_order(group: list[LogBundle]) -> list[LogBundle]:
    """By the clock in the logs if all have it, else by name.

    Not by the times of the files: copying and unpacking set them again.
    """
    starts = {source: run_start(source.talk) for source in group}
    if all(starts.values()):
        return sorted(group, key=starts.__getitem__)

    def by_number(source: LogBundle) -> list[str | int]:
        """rep2 before rep10."""
        parts = re.split(r"(\d+)", source.name.casefold())
        return [int(part) if part.isdecimal() else part for part in parts]

    return sorted(group, key=by_number)


def _pair(sources: list[LogBundle], readings: Readings) -> None:
    """Loads to their runs: same store, workload file, shape of records and number.

    First where the threads are the same too. A load without a run is an insert-only cell.
    """

    def key(source: LogBundle) -> tuple:
        threads = with_threads and source.row.threads
        return source.row.store, source.base, source.shape, source.row.records, threads

    for with_threads in (True, False):
        taken = [source.run for source in sources]
        free = [
            source
            for source in sources
            if not source.run and source not in taken
            if source.row.store and source.base and source.row.records
        ]
        for group in groups(free, key):
            loads = _in_order([source for source in group if source.row.phase != "run"])
            runs = _in_order([source for source in group if source.row.phase == "run"])
            if loads and runs:
                for load, run in _matches(loads, runs, readings, with_threads):
                    load.run = run
    for source in sources:
        if source.row.phase == "load" and source.run is None:
            source.row.workload = f"{INSERT}-{source.shape}" if source.shape else INSERT


def _matches(
    loads: list[LogBundle], runs: list[LogBundle], readings: Readings, in_order: bool
) -> list[tuple[LogBundle, LogBundle]]:
    """Return loads with their runs: by the numbers in their names, by the clock, or in order.

    In order where ``in_order``, or where there are as many loads as runs.
    """
    by_number, runs_by_number = (
        {number_of(readings[source]): source for source in of} for of in (loads, runs)
    )
    numbers = by_number.keys() & runs_by_number.keys() - {()}
    unique = len(by_number) == len(loads) and len(runs_by_number) == len(runs)
    starts = {source: run_start(source.talk) for source in (*loads, *runs)}
    if unique and numbers:
        pairs = [(by_number[number], runs_by_number[number]) for number in sorted(numbers)]
        for load, run in pairs:
            if starts[load] and starts[run] and starts[run] < starts[load]:
                ask([load, run], f"{run.name} began before {load.name}, which has its number")
        return pairs
    if all(starts.values()):
        pairs, last = [], None
        for source in sorted(starts, key=starts.__getitem__):
            if source in loads:
                last = source
            elif last:
                pairs.append((last, source))
                last = None
        return pairs
    if not in_order and len(loads) != len(runs):
        return []
    if len(loads) > len(runs):
        ask(loads, f"{len(loads)} loads, but {len(runs)} runs ({list_names(runs)}): which is whose")
    if len(loads) < len(runs):
        # The file as it is before what was run with other properties.
        runs.sort(key=lambda source: source.row.workload != source.base)
    return list(zip(loads, runs, strict=False))


def _name_sizes(sources: list[LogBundle]) -> None:
    """One workload with different sizes is several, a-t1 and a-t8; the most frequent keeps its
    name, if there is one. A sweep stays one workload."""
    named = [source for source in sources if source.row.workload]
    for group in groups(named, lambda source: source.row.workload):
        if _is_sweep(group):
            continue
        sizes = {
            of[0].row.sizes: (len({source.row.store for source in of}), len(of))
            for of in groups(group, lambda source: source.row.sizes)
        }
        # That of most stores, of these that of most logs.
        first, *others = sorted(sizes, key=sizes.__getitem__, reverse=True)
        plain = first if not others or sizes[others[0]] < sizes[first] else None
        varied = [len(set(numbers)) > 1 for numbers in zip(*sizes, strict=True)]
        for source in group:
            size = source.row.sizes
            if size == plain:
                continue
            for name, value, differs in zip(SIZES, size, varied, strict=True):
                if differs and value:
                    source.row.workload += f"-{name[0]}{value}"
            if not size[3] and any(size[:3] == other[:3] and other[3] for other in sizes):
                source.row.workload += "-untimed"


def _is_sweep(group: list[LogBundle]) -> bool:
    """Return whether one store has all combinations of several sizes."""
    sizes = {source.row.sizes for source in group}
    of_dimension = [set(numbers) for numbers in zip(*sizes, strict=True)]
    return (
        len(of_dimension[3]) == 1
        and not any(None in numbers and len(numbers) > 1 for numbers in of_dimension)
        and math.prod(map(len, of_dimension)) == len(sizes)
        and len({(source.row.store, source.row.sizes) for source in group})
        > len({source.row.store for source in group})
    )


def _number_repetitions(sources: list[LogBundle]) -> None:
    """1, 2, ... in each cell; a load has the repetition and the threads of its run."""
    alone = [source for source in sources if source.run is None]
    for group in groups(alone, cell_of):
        for repetition, source in enumerate(_in_order(group), start=1):
            source.row.repetition = repetition
    for source in sources:
        if source.run:
            row, run = source.row, source.run.row
            row.workload, row.repetition = run.workload, run.repetition
            row.threads = run.threads


def draft(path: Path, sources: list[LogBundle]) -> None:
    """Write ``path``; InputError when a person must look at it before it counts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        # What is not known is left empty.
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(vars(source.row) for source in sources)
    questions: dict[str, list[Row]] = defaultdict(list)
    lines, open_questions = [], 0
    for line, source in enumerate(sources, start=2):
        row, command = source.row, source.command
        row.line = line
        for question in filter(None, row.question.split(BETWEEN)):
            questions[question].append(row)
        text = f"complete {', '.join(row.missing)}" if row.missing else "look at it"
        if command is None:
            text += "; the log does not say how YCSB was called, so names of files were read"
        if command and not row.store and command.db:
            text += f"; its binding is {command.db}"
        if command and command.files and not row.workload:
            text += f"; its workload file is {command.files[0]}"
        if not row.threads and (busy := busy_threads(source)):
            text += f"; {busy:.1f} operations ran at a time"
        needs_look = bool(row.missing) or command is None
        lines += [f"{path}: {places([row])}: {text}"] if needs_look else []
        open_questions += needs_look or bool(row.question)
    lines += [f"{path}: {places(rows)}: {question}" for question, rows in questions.items()]
    if lines:
        lines.append(
            f"{path} was written; rows to check: {open_questions} of {len(sources)}. Correct them "
            "and empty the column question, or remove the row of a log that is not to be "
            "imported; then run the command again"
        )
        raise InputError("\n".join(lines))
