"""From the raw logs of a run to tidy tables (``files`` has their columns), and environment.json.

The environment are the machines, servers and clients behind them, and the study.

What was read of a cell is kept in ``.snakemake/cells``: a study of ten thousand cells takes minutes
to read, and one that grows by a repetition should not take them again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from kvstudy.analyse.tidy.cell import Unreadable, key_of, read_cell, reading
from kvstudy.analyse.tidy.configuration import configurations
from kvstudy.analyse.tidy.files import CELLS, MEASUREMENTS, CsvTable
from kvstudy.analyse.tidy.resources import disturbance
from kvstudy.code_files import CLONE, code_files
from kvstudy.errors import DataError, KvstudyError
from kvstudy.libraries import pa, pd
from kvstudy.stores.definition import load_stores
from kvstudy.study.cells import Cell, closed_loop
from kvstudy.study.consistency import differences, refusal
from kvstudy.study.controls import measured_uses
from kvstudy.study.model import Study
from kvstudy.study.raw import (
    GAP,
    PROVIDER_IMPORTED,
    check_sums,
    is_gap,
    is_measured,
    raw_directory,
    reason_on_file,
    recorded_reason,
)
from kvstudy.whole_file import put

KEPT = Path(".snakemake/cells")
# Fewer are read before further processes have begun.
MANY = 64
# Of a study, what says nothing of a cell that is there.
_ELSEWHERE = {"title", "question", "planned_repetitions", "seed", "tables", "figures"}
NOT_IMPORTED = "not-imported"


class StoreRecord(BaseModel):
    """A store of the study. ``folder`` is its name under envs/stores/."""

    name: str
    folder: str
    title: str
    options: dict[str, str]


class WorkloadRecord(BaseModel):
    """A workload of the study, with all YCSB properties but the sizes."""

    name: str
    title: str
    properties: dict[str, str]


class StudyRecord(BaseModel):
    """The key ``study`` of ``environment.json``.

    The repetitions of an ``imported`` run only share a number: they are not paired.
    """

    name: str
    title: str
    seed: int
    repetitions: int
    imported: bool
    stores: list[StoreRecord]
    workloads: list[WorkloadRecord]


def study_record(study: Study, cells: list[Cell]) -> StudyRecord:
    """The record of ``study``, without the workloads of which its plan has no closed-loop cell."""
    properties = {cell.workload: dict(cell.properties) for cell in closed_loop(cells)}
    return StudyRecord(
        **{name: getattr(study, name) for name in ("name", "title", "seed", "repetitions")},
        imported=study.imported is not None,
        stores=[
            StoreRecord(name=use.name, folder=use.store, title=use.title, options=use.options)
            for use in study.stores
        ],
        workloads=[
            WorkloadRecord(name=use.name, title=use.title, properties=properties[use.name])
            for use in study.workloads
            if use.name in properties
        ],
    )


@dataclass(frozen=True)
class Collected:
    """The tidy tables of a run that were to be kept, by their names, and what it was measured on.

    ``manifests`` are those of the measured cells by their paths, ``unreadable`` are cells whose raw
    logs are there and cannot be read, with the reasons.
    """

    tables: dict[str, pd.DataFrame]
    environment: dict
    manifests: dict[str, dict]
    unreadable: dict[Cell, str]


def collect(
    study: Study,
    cells: list[Cell],
    run: str,
    mixed: bool = False,
    kept: Sequence[CsvTable] = (CELLS, MEASUREMENTS),
    take: Callable[[Cell, str, str], object] | None = None,
) -> Collected:
    """Read all raw logs of ``run``.

    Of its tables those to be ``kept`` are in the result. ``take`` is called with each cell, the
    name of a table and the cell's lines of it, one cell after the other: all lines of a large
    study do not fit into memory. A cell that cannot be read, or whose files differ from their
    checksums, is a failed one.
    DataError for cells of other parameters or options than the study now has, and for cells
    that were not measured under the same conditions, unless ``mixed``.
    """
    kept_lines: dict[str, list[str]] = {table.name: [] for table in kept}
    manifests: dict[str, dict] = {}
    shared: dict[bytes, object] = {}
    unreadable: dict[Cell, str] = {}
    is_there = {cell: is_measured(run, cell) and not is_gap(run, cell) for cell in cells}
    read = _read_cells(study, [cell for cell in cells if is_there[cell]], run)
    for position, cell in enumerate(cells, start=1):
        cell_tables = next(read) if is_there[cell] else _gap(study, cell, run)
        if isinstance(cell_tables, _Cell):
            manifests[cell.path] = _with_shared_parts(cell_tables.manifest, shared)
            lines = cell_tables.lines
        else:
            if isinstance(cell_tables, Unreadable):
                unreadable[cell] = str(cell_tables)
                cell_tables = {"status": "failed", "reason": str(cell_tables)}
            row = key_of(cell) | cell_tables | {"position": position}
            lines = {CELLS.name: CELLS.lines([row])}
        for name, text in lines.items():
            if take is not None:
                take(cell, name, text)
            if name in kept_lines:
                kept_lines[name].append(text)
    tables = {table.name: table.of_lines(kept_lines.pop(table.name)) for table in kept}
    raw, configured = Path("results") / run / "raw", {}
    if not study.imported:
        # First: cells with other arguments are unlike, too, and `mixed` does not allow them.
        stores = load_stores(study, measured_uses(study))
        configured = configurations(manifests, stores, raw)
    unlike = differences(manifests)
    if unlike and not mixed:
        raise DataError(refusal(unlike, raw))
    measured = list(manifests.values())
    mixtures = [
        {"what": what, "sides": [{"value": value, "cells": len(cells)} for value, cells in sides]}
        for what, sides in unlike.items()
    ]
    environment = _environment(measured) | _imported_facts(measured)
    environment |= {"mixed": mixtures, "disturbance": disturbance(tables["measurements"])}
    environment |= {"study": study_record(study, cells).model_dump()}
    # What the study's claims were when the cells were measured; older cells do not tell.
    claims = Counter(manifest["claims"] for manifest in measured if "claims" in manifest)
    if claims:
        environment["claims"] = [{"sha256": sha, "cells": n} for sha, n in claims.items()]
    for name, about in configured.items():
        environment["stores"][name] |= about
    # The tables of cells that do not show their node stay as they were packed in archives.
    if (tables["cells"]["node"] == "").all():
        tables["cells"] = tables["cells"].drop(columns="node")
    return Collected(tables, environment, manifests, unreadable)


class _Cell(NamedTuple):
    """``CellTables`` as it is kept."""

    manifest: dict
    lines: dict[str, str]


def _with_shared_parts(manifest: dict, shared: dict[bytes, object]) -> dict:
    """The manifest; of parts that others have too, one is kept: those of 10 000 cells take 1 GB."""

    def first(part: object) -> object:
        return shared.setdefault(hashlib.sha256(repr(part).encode()).digest(), part)

    return {
        name: list(map(first, part)) if isinstance(part, list) else first(part)
        for name, part in manifest.items()
    }


def _read_cells(study: Study, cells: Sequence[Cell], run: str) -> Iterator[_Cell | Unreadable]:
    """Each of the measured ``cells``, in their order; raises as ``read_cell``."""
    about = f"{_code()} {study.model_dump_json(exclude=_ELSEWHERE)}"
    read = partial(_read, study, run, hashlib.sha256(about.encode()).hexdigest())
    with contextlib.ExitStack() as stack:
        each = map
        if len(cells) >= MANY:
            workers = len(os.sched_getaffinity(0))
            each = partial(stack.enter_context(ProcessPoolExecutor(workers)).map, chunksize=16)
        yield from each(read, cells)


def _read(study: Study, run: str, about: str, cell: Cell) -> _Cell | Unreadable:
    raw, kept = raw_directory(run, cell), KEPT / run / cell.path
    files = sorted(
        (file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in os.scandir(raw)
    )
    key = (about, cell, files)
    # Whatever an interrupted or another version left there.
    with contextlib.suppress(Exception):
        known, tables = pickle.loads(pa.input_stream(kept, "zstd").read())
        if known == key:
            return tables
    try:
        read = read_cell(study, cell, raw)
    except Unreadable as error:
        return error
    tables = _Cell(read.manifest, read.lines())
    # What cannot be kept, as on a full disk, is read again.
    with contextlib.suppress(KvstudyError):
        with pa.CompressedOutputStream(packed := pa.BufferOutputStream(), "zstd") as stream:
            stream.write(pickle.dumps((key, tables)))
        put(packed.getvalue().to_pybytes(), kept)
    return tables


@functools.cache
def _code() -> str:
    """A checksum of the code that reads cells."""
    content = b"".join((CLONE / file).read_bytes() for file in code_files("parse"))
    return hashlib.sha256(content).hexdigest()


def _gap(study: Study, cell: Cell, run: str) -> dict | Unreadable:
    """The state of a cell without raw logs, with the reason that is on file."""
    status, reason = reason_on_file(run, cell.path, cell.store) or ("not measured", "no-logs")
    if is_gap(run, cell):
        raw = raw_directory(run, cell)
        try:
            with reading(raw, GAP):
                check_sums(raw)
                status, reason = "not measured", recorded_reason(raw / GAP)
        except Unreadable as error:
            return error
    if study.imported and status != "failed":
        reason = NOT_IMPORTED
    return {"status": status, "reason": reason}


def _environment(manifests: list[dict]) -> dict:
    """Distinct machines, and per store its versions, providers, images and clients."""
    machines = _distinct(manifest["environment"] for manifest in manifests)
    of_store: dict[str, list[dict]] = defaultdict(list)
    for manifest in manifests:
        of_store[manifest["cell"]["store"]].append(manifest)
    pinnings = [manifest.get("pinning") for manifest in manifests]
    return {
        "machines": machines,
        "components": machines[0] if machines else [],
        # Each different Java with its flags.
        "java": _distinct(manifest.get("java") for manifest in manifests),
        "findings": _findings(manifests),
        "measured": len(manifests),
        "looked_at": sum(bool(manifest.get("findings")) for manifest in manifests),
        # The cores that server and client were bound to.
        "pinned": [
            {side: cores[side] for side in ("server", "client")} | {"cells": pinnings.count(cores)}
            for cores in _distinct(pinnings)
        ],
        "stores": {name: _server(of_store[name]) for name in sorted(of_store)},
        **_hosts(manifests),
    }


def _hosts(manifests: list[dict]) -> dict[str, list[dict]]:
    """The key ``hosts``, each different set that server and clients had; nothing without any.

    ``round_trip`` are quartiles (s), medians over cells and clients of those of each.
    """
    of: dict[tuple[str, ...], list[dict]] = defaultdict(list)
    for hosts in filter(None, (manifest.get("hosts") for manifest in manifests)):
        of[hosts["server"], *hosts["clients"]].append(hosts)
    sets = []
    for (server, *clients), alike in of.items():
        trips = [clock["round_trip"] for hosts in alike for clock in hosts["clocks"].values()]
        trip = [statistics.median(quartile) for quartile in zip(*trips, strict=True)]
        about = {"environments": alike[0]["environments"], "round_trip": trip}
        sets.append({"server": server, "clients": clients} | about)
    return {"hosts": sets} if sets else {}


def _server(manifests: list[dict]) -> dict:
    """Server and client of one store."""
    servers = [manifest["server"] for manifest in manifests]
    versions = _distinct(server["version"] for server in servers)
    providers = _distinct(server["provider"] for server in servers)
    unknown = "not recorded" if PROVIDER_IMPORTED in providers else ""
    images = (f"{of['image']} ({of['digest']})" for of in servers if of.get("image"))
    return _delay(manifests) | {
        "versions": versions,
        "providers": providers,
        "images": _distinct(images),
        "packages": _distinct(server.get("package") for server in servers),
        "jars": {jar: of for each in manifests for jar, of in each["client"]["jars"].items()},
        "version": ", ".join(versions) or unknown,
        "provider": ", ".join(providers),
    }


def _delay(manifests: list[dict]) -> dict[str, dict[str, float]]:
    """The key ``delay``, or nothing where no request was delayed.

    ``micros`` were asked for; ``low``, ``median`` and ``high`` are of the cells' medians (us).
    """
    delays = [manifest["delay"] for manifest in manifests if "delay" in manifest]
    if not delays:
        return {}
    medians = [delay["p50"] for delay in delays]
    ends = {"low": min(medians), "median": statistics.median(medians), "high": max(medians)}
    return {"delay": {"micros": delays[0]["micros"], "cells": len(delays)} | ends}


def _distinct(values: Iterable) -> list:
    """The different ones that say something, in their order."""
    different: list = []
    for value in values:
        if value and value not in different:
            different.append(value)
    return different


def _findings(manifests: list[dict]) -> list[dict]:
    """The findings of the cells, equal ones together.

    Each has ``key``, ``title``, ``good``, ``consequence``, the number of
    ``cells`` with it, and their ``values``: the different ones, or the lowest
    and the highest where they are numbers.
    """
    equal: dict[str, dict[tuple, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for manifest in manifests:
        for finding in manifest.get("findings") or []:
            equal[finding["key"]][finding["good"], finding["consequence"]].append(finding)
    return [
        {key: findings[0][key] for key in ("key", "title", "good", "consequence")}
        | {"cells": len(findings), "values": _values(findings)}
        for of_key in equal.values()
        for findings in of_key.values()
    ]


def _values(findings: list[dict]) -> list[str]:
    numbers = {finding["value"]: finding.get("number") for finding in findings}
    if None in numbers.values() or len(numbers) < 3:
        return list(numbers)
    return [min(numbers, key=numbers.get), max(numbers, key=numbers.get)]


def _imported_facts(manifests: list[dict]) -> dict[str, dict]:
    """The key ``imported``, or nothing where all cells were measured here.

    ``cells`` and ``logs`` count what was imported; ``ycsb`` are the versions that the
    logs name. ``without`` counts the cells that lack something, by its name.
    """
    imported_ones = [manifest for manifest in manifests if "imported" in manifest]
    if not imported_ones:
        return {}
    without: Counter[str] = Counter()
    for manifest in imported_ones:
        imported, phases = manifest["imported"], manifest["phases"]
        kept = [origin["kept_as"] for origin in imported["from"]]
        without["start"] += manifest["started"] is None
        without["seconds"] += bool(imported["no_status_lines"])
        without["histograms"] += not any(name.endswith(".hdr") for name in kept)
        without["load"] += "load" not in phases
        without["command"] += None in [phase["command"] for phase in phases.values()]
    logs = sum(len(manifest["phases"]) for manifest in imported_ones)
    ycsb = sorted({m["client"]["ycsb"] for m in imported_ones if m["client"]["ycsb"]})
    return {
        "imported": {"cells": len(imported_ones), "logs": logs, "ycsb": ycsb, "without": without}
    }
