"""What the logs themselves say of their cells: the draft of ``import.csv``."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.mapping import COLUMNS, SIZES, UNLIMITED
from kvstudy.logs.imports.sources import Source
from kvstudy.logs.imports.workloads import (
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

_CLEANUP = re.compile(r"^\[(?:Hdr)?CLEANUP\], (?:Total )?Operations, (\d+)(?:\.0)?$", re.MULTILINE)
INSERT = "insert"


def guess_rows(sources: list[Source], folder: Path, study: str) -> None:
    """Make the row of each source as complete as the logs make it.

    Reads the stores of the project; copies workload files beside the logs to workloads/.
    """
    stores = {
        path.parent.name: read_yaml(path, StoreFile) for path in sorted(STORES.glob("*/store.yaml"))
    }
    for source in sources:
        if source.command is None:
            _from_file_names(source, stores)
        else:
            _from_command(source, source.command, folder, study, stores)
        _from_results(source)
    _without_needless_limits(sources)
    _name_variants(sources)
    _records_of_loads(sources)
    _name_sizes([source for source in sources if source.row.phase == "run"])
    _pair(sources)
    _name_sizes([source for source in sources if source.row.phase == "load" and not source.run])
    _number_repetitions(sources)


def _from_results(source: Source) -> None:
    """What was done counts where nothing says what was asked."""
    row, log = source.row, source.log
    if row.seconds and not row.operations:
        row.operations = UNLIMITED
    if log is None:
        return
    if row.phase == "load" and "INSERT" in log.sections:
        row.records = row.records or log.sections["INSERT"].operations
    elif row.phase == "run":
        row.operations = row.operations or log.attempted
    # Each client thread closes its connection once, and YCSB counts that.
    closed = _CLEANUP.search(source.results.text)
    row.threads = row.threads or (int(closed[1]) if closed else None)


def _from_command(
    source: Source, command: CommandLine, folder: Path, study: str, stores: dict[str, StoreFile]
) -> None:
    row, done = source.row, source.log.attempted if source.log else None
    row.phase = command.phase
    row.store = store_of(command, stores)
    given = source.given = {}
    for name in command.files:
        given |= file_properties(name, folder) or {}
    given |= command.properties
    row.threads = _count(given, "threadcount") or 1
    # YCSB loads insertcount records, if it is given, and a run asks for no others.
    row.records = _count(given, "insertcount") or _count(given, "recordcount")
    if row.phase == "run":
        row.operations = _count(given, "operationcount")
        row.seconds = _count(given, "maxexecutiontime")
    if (base := base_workload(command, folder, study)) is None:
        return
    shipped = load_workload(WORKLOADS / base)
    row.workload = source.base = base
    source.shape = slug_of(differences(shipped | given, load_workload(WORKLOADS / INSERT), "shape"))
    if row.phase == "load":
        return
    if differing := differences(given, shipped):
        row.workload = f"{base}-{slug_of(differing)}"
    if row.operations is None and done == _count(shipped, "operationcount"):
        # YCSB's own file, as it is: its sizes count too.
        row.operations = done
        row.records = row.records or _count(shipped, "recordcount")


def _without_needless_limits(sources: list[Source]) -> None:
    """A limit of time that none of the runs of a workload came to is none."""
    timed = [source for source in sources if source.row.seconds]
    for group in _groups(timed, lambda source: (source.row.workload, *source.row.sizes)):
        done = {source.log.attempted for source in group if source.log}
        if done == {group[0].row.operations}:
            for source in group:
                source.row.seconds = None


def _groups(sources: Iterable[Source], key: Callable[[Source], object]) -> list[list[Source]]:
    """Those with the same key, in the order of the first of each."""
    groups: dict[object, list[Source]] = defaultdict(list)
    for source in sources:
        groups[key(source)].append(source)
    return list(groups.values())


def store_of(command: CommandLine, stores: dict[str, StoreFile]) -> str:
    """The store whose binding the log names; "" when it is none of ours, or one of several."""
    db = command.db.replace("com.yahoo.ycsb.", "site.ycsb.").removesuffix("-cql")
    bindings: dict[str, str | None] = {}
    for name, store in stores.items():
        official = store.ycsb.official if store.ycsb else None
        names = (official.db, official.binding) if official else ()
        if store.ycsb and db in (store.ycsb.db, *names):
            bindings[name] = official and official.binding
    if len(bindings) < 2:
        return _only(bindings)
    # One binding for several stores: the address says which (JDBC), or it is named after one.
    of_address = [
        store
        for store in bindings
        for name, value in stores[store].ycsb.properties.items()
        if "://" in value
        and command.properties.get(name, "").startswith(f"{value.partition('://')[0]}://")
    ]
    return _only(of_address or [name for name, binding in bindings.items() if name == binding])


def _count(properties: dict[str, str], name: str) -> int | None:
    value = properties.get(name, "")
    return int(value) or None if re.fullmatch(r"\d{1,18}", value) else None


def _from_file_names(source: Source, stores: dict[str, StoreFile]) -> None:
    """What the words of the path say, where the log says nothing."""
    row, log = source.row, source.log
    words = re.findall(r"[a-z]+\d*|\d+", row.file.casefold())
    row.store = _only(name for name in stores if name in words)
    inserts = log is not None and log.sections.keys() - {"CLEANUP"} == {"INSERT"}
    if log is not None and not inserts:
        row.phase = "run"
    elif "load" in words or (inserts and "insert" in words):
        row.phase = "load"
    else:
        row.phase = "run" if "run" in words else ""
    named = {study_name(word) for word in words if word.startswith("workload") or len(word) == 1}
    named |= {after for word, after in pairwise(words) if word == "workload"}
    row.workload = source.base = _only(named.intersection(project_workloads()) - {INSERT})


def _only(names: Iterable[str]) -> str:
    """The name, if there is one only."""
    names = list(names)
    return names[0] if len(names) == 1 else ""


def _name_variants(sources: list[Source]) -> None:
    """One store with different properties of its binding is several, riak and riak-2; the most
    frequent keeps the name."""
    called = [source for source in sources if source.row.store and source.command]
    for group in _groups(called, lambda source: source.row.store):
        variants = Counter(str(source.variant) for source in group).most_common()
        order = [variant for variant, _ in variants]
        for source in group:
            if number := order.index(str(source.variant)):
                source.row.store += f"-{number + 1}"


def _records_of_loads(sources: list[Source]) -> None:
    """A run that does not say its records has those of the store's only kind of load."""
    for group in _groups(sources, lambda source: source.row.store):
        loaded = {source.row.records for source in group if source.row.phase == "load"} - {None, 0}
        for source in group:
            if source.row.phase == "run" and not source.row.records and len(loaded) == 1:
                (source.row.records,) = loaded


def _in_order(group: list[Source]) -> list[Source]:
    """By the clock in the logs if all have it, else by name.

    Not by the times of the files: copying and unpacking set them anew.
    """
    starts = {source: run_start(source.talk) for source in group}
    if all(starts.values()):
        return sorted(group, key=starts.__getitem__)

    def by_number(source: Source) -> list[str | int]:
        """rep2 before rep10."""
        parts = re.split(r"(\d+)", source.name.casefold())
        return [int(part) if part.isdecimal() else part for part in parts]

    return sorted(group, key=by_number)


def _pair(sources: list[Source]) -> None:
    """Loads to their runs, in order: same store, workload file, shape of records and number.

    First where the threads are the same too. A load without a run is an insert-only cell.
    """

    def key(source: Source) -> tuple:
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
        for group in _groups(free, key):
            loads = [source for source in group if source.row.phase != "run"]
            runs = _in_order([source for source in group if source.row.phase == "run"])
            if with_threads or len(loads) == len(runs):
                if len(loads) < len(runs):
                    # The file as it is before what was run with other properties.
                    runs.sort(key=lambda source: source.row.workload != source.base)
                for load, run in zip(_in_order(loads), runs, strict=False):
                    load.run = run
    for source in sources:
        if source.row.phase == "load" and source.run is None:
            source.row.workload = f"{INSERT}-{source.shape}" if source.shape else INSERT


def _name_sizes(sources: list[Source]) -> None:
    """One workload with different sizes is several, a-t1 and a-t8; the most frequent keeps its
    name, if there is one."""
    named = [source for source in sources if source.row.workload]
    for group in _groups(named, lambda source: source.row.workload):
        sizes = Counter(source.row.sizes for source in group)
        first, *others = sizes.most_common()
        plain = first[0] if not others or others[0][1] < first[1] else None
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


def _number_repetitions(sources: list[Source]) -> None:
    """1, 2, ... in each store, workload and phase; a load has its run's."""
    alone = [source for source in sources if source.run is None]
    for group in _groups(alone, lambda of: (of.row.store, of.row.workload, of.row.phase)):
        for repetition, source in enumerate(_in_order(group), start=1):
            source.row.repetition = repetition
    for source in sources:
        if source.run:
            run = source.run.row
            source.row.workload, source.row.repetition = run.workload, run.repetition


def draft(path: Path, sources: list[Source]) -> None:
    """Write ``path``; KvstudyError when a person must look at it before it counts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        # What is not known is left empty.
        writer = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(vars(source.row) for source in sources)
    lines = []
    for line, source in enumerate(sources, start=2):
        row, command = source.row, source.command
        text = f"{path}: line {line} ({row.file}): "
        text += f"complete {', '.join(row.missing)}" if row.missing else "look at it"
        if command is None:
            text += "; the log does not say how YCSB was called, so names of files were read"
        elif source.copy_of:
            text += f"; its results are those of {source.copy_of} to the last digit, is it a copy?"
        elif not row.missing:
            continue
        elif not row.store and command.db:
            text += f"; its binding is {command.db}"
        if command and command.files and not row.workload:
            text += f"; its workload file is {command.files[0]}"
        lines.append(text)
    if lines:
        lines.append(
            f"{path} was written: {len(lines)} of {len(sources)} logs need a look. Remove the row "
            "of a log that is not to be imported, then run the command again"
        )
        raise KvstudyError("\n".join(lines))
