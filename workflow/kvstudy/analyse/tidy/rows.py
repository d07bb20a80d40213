"""The rows of one measured cell, from its raw logs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kvstudy.analyse.tidy.outcomes import good, lost, missed, outcomes, void
from kvstudy.analyse.tidy.resources import resources, server_cpu_seconds
from kvstudy.analyse.tidy.series import STALL_SECONDS, histograms, series, status_of
from kvstudy.analyse.tidy.usage import cpu_shares, gc_pauses, usage
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import several
from kvstudy.logs.ycsb.check import read_rounds
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.logs.ycsb.parse import parse
from kvstudy.logs.ycsb.status import longest_stall
from kvstudy.study.alike import usable_cores
from kvstudy.study.cells import Cell
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study
from kvstudy.study.raw import SECOND
from kvstudy.study.workload import ROUNDS_FILE

NOT_IMPORTED = "not-imported"


def phases_of(manifest: dict, cell: Cell) -> list[str]:
    """The phases that have logs: of a cell that others measured, the load can be missing."""
    return [name for name in cell.phases if name in manifest["phases"]]


def interval_of(manifest: dict, cell: Cell, phase: str) -> str:
    """The property measurement.interval of ``phase``; those that others measured have their own."""
    own = manifest["phases"].get(phase, {}).get("interval")
    return own or dict(cell.properties).get("measurement.interval", "op")


def check_origin(study: Study, manifest: dict, raw: Path) -> None:
    """KvstudyError for an imported cell in a study that measures, and the other way round.

    Both in one mean would compare machines, and the report would say wrong things of one.
    """
    study_file = f"config/studies/{study.name}/study.yaml"
    if "imported" in manifest and not study.imported:
        raise KvstudyError(
            f"{raw}: was imported, but {study_file} has no key imported; imported and measured "
            "cells are not mixed. Set imported: true, or move the run's results away"
        )
    if study.imported and "imported" not in manifest:
        raise KvstudyError(
            f"{raw}: was measured here, but {study_file} says imported; imported and measured "
            "cells are not mixed. Remove that key, or move the run's results away"
        )


def imported_facts(manifests: list[dict]) -> dict[str, dict]:
    """For environment.json: the key ``imported``, or nothing where all cells were measured here.

    ``cells`` and ``logs`` count what was imported; ``ycsb`` are the versions that the
    logs name. ``without`` counts the cells that lack something, by its name.
    """
    found = [manifest for manifest in manifests if "imported" in manifest]
    if not found:
        return {}
    lacks = {
        "start": lambda manifest: manifest["started"] is None,
        "seconds": lambda manifest: bool(manifest["imported"]["no_status_lines"]),
        "histograms": lambda manifest: (
            not any(origin["kept_as"].endswith(".hdr") for origin in manifest["imported"]["from"])
        ),
        "load": lambda manifest: "load" not in manifest["phases"],
        "command": lambda manifest: any(
            phase["command"] is None for phase in manifest["phases"].values()
        ),
    }
    return {
        "imported": {
            "cells": len(found),
            "logs": sum(len(manifest["phases"]) for manifest in found),
            "ycsb": sorted({m["client"]["ycsb"] for m in found if m["client"]["ycsb"]}),
            "without": {name: sum(map(lack, found)) for name, lack in lacks.items()},
        }
    }


def rounds(raw: Path, cell: Cell, log: YcsbLog) -> Iterator[dict]:
    """The rows of one cell, without the cell. KvstudyError for a file that is broken."""
    for row in read_rounds(raw / ROUNDS_FILE, cell, log).to_dict("records"):
        counted = "no" if row["round"] <= cell.rounds.warmup else "yes"
        yield row | {"records": cell.records, "counted": counted}


@dataclass
class Rows:
    """Rows of the tidy tables, by the names that the tables have."""

    cells: list[dict] = field(default_factory=list)
    measurements: list[dict] = field(default_factory=list)
    series: list[dict] = field(default_factory=list)
    histograms: list[dict] = field(default_factory=list)
    resources: list[dict] = field(default_factory=list)
    outcomes: list[dict] = field(default_factory=list)
    rounds: list[dict] = field(default_factory=list)

    def add(self, other: Rows) -> None:
        """Append the other's rows."""
        for name, rows in vars(other).items():
            getattr(self, name).extend(rows)


def rows_of(study: Study, cell: Cell, raw: Path, manifest: dict) -> Rows:
    """Everything that the logs in ``raw`` tell. KvstudyError for a log that is broken."""
    rows = Rows()
    logs = {
        phase: _log(raw, phase, interval_of(manifest, cell, phase))
        for phase in phases_of(manifest, cell)
    }
    for phase, log in logs.items():
        rows.measurements += _phase(cell, phase, log, raw, manifest)
    phase = cell.measured_phase
    clients = [logs[phase]]
    key = key_of(cell)
    of_phase = key | {"phase": phase}
    if cell.clients:
        clients.append(_log(raw, SECOND, interval_of(manifest, cell, phase)))
        second = _value("overall", "second_throughput", "ops/s", clients[1].throughput)
        rows.measurements.append(of_phase | second)
    rows.measurements += [
        of_phase | _value("overall", metric, "%", share)
        for metric, share in cpu_shares(raw, phase, manifest).items()
    ]
    misses = missed(manifest, phase, clients)
    rows.measurements += _goodput(cell, phase, clients, misses)
    reasons = [*void(study, cell, clients, misses), *lost(cell, manifest, clients)]
    rows.cells.append(_measured(cell, manifest, several(reasons)))
    if cell.rounds:
        rows.rounds += [key | row for row in rounds(raw, cell, logs[phase])]
    rows.outcomes += [key | row for row in outcomes(manifest, phase, clients)]
    if not manifest.get("imported", {}).get("no_status_lines"):
        status = status_of(raw, phase)
        if status is not None:
            rows.series += [key | row for row in series(status, phase, str(raw))]
            stall = longest_stall(status)
            # Between two rounds, the table is emptied.
            if stall > STALL_SECONDS and not cell.rounds:
                rows.measurements.append(of_phase | _value("overall", "stalled", "s", stall))
    rows.histograms += [key | row for row in histograms(raw, phase, logs[phase])]
    started = manifest["phases"][phase].get("started")
    rows.resources += [key | row for row in resources(raw, phase, started)]
    return rows


def key_of(cell: Cell) -> dict:
    """What names a cell in every table."""
    return {
        "store": cell.store,
        "workload": cell.workload,
        "parameters": cell.parameters,
        "repetition": cell.repetition,
    }


def _log(raw: Path, phase: str, interval: str) -> YcsbLog:
    path = raw / f"{phase}.out"
    try:
        return parse(path.read_text(encoding="utf-8", errors="replace"), str(path), interval)
    except OSError as error:
        raise KvstudyError(f"{path}: cannot be read: {error.strerror}") from None


def _phase(cell: Cell, phase: str, log: YcsbLog, raw: Path, manifest: dict) -> list[dict]:
    """Values, usage and watching of one phase."""
    went = manifest["phases"][phase]
    cpu = {
        "client_cpu": went["client_cpu_seconds"],
        "server_cpu": None if "imported" in manifest else server_cpu_seconds(raw, phase),
    }
    lived = (went["client_cpu_seconds"], went["seconds"])
    bound = (manifest.get("pinning") or {}).get("client")
    threads = cell.client_threads[0] if phase == cell.measured_phase else cell.threads
    used = usage(raw, phase, threads, log, lived, bound, usable_cores(manifest))
    key = key_of(cell) | {"phase": phase}
    return [
        *_values(cell, phase, log, cpu),
        *(
            key | _value("overall", metric, METRICS[metric].unit, value)
            for metric, value in used.items()
        ),
        *_watched(cell, phase, raw, went),
    ]


def _values(
    cell: Cell, phase: str, log: YcsbLog, cpu_seconds: dict[str, float | None]
) -> list[dict]:
    key = key_of(cell) | {"phase": phase}
    rows = [
        key | _value("overall", "runtime", "ms", log.runtime),
        key | _value("overall", "throughput", "ops/s", log.throughput),
        key | _value("overall", "operations", "count", log.attempted),
        key | _value("overall", "failed", "count", log.failed),
    ]
    for metric, seconds in cpu_seconds.items():
        if seconds is not None:
            # The client's is of the whole process, its start included: short runs have more.
            per_operation = seconds * 1e6 / log.attempted
            rows.append(key | _value("overall", metric, "us", per_operation))
    for name, section in log.sections.items():
        operation = name.lower()
        rows.append(key | _value(operation, "operations", "count", section.operations))
        rows.append(key | _value(operation, "failed", "count", section.failed))
        for metric, value in section.latencies.items():
            rows.append(key | _value(operation, metric, "us", value))
        for metric, value in section.intended.items():
            rows.append(key | _value(operation, f"intended_{metric}", "us", value))
    return rows


def _watched(cell: Cell, phase: str, raw: Path, went: dict) -> list[dict]:
    """Pauses of the client's garbage collector, and what our own watching took of a core."""
    key = key_of(cell) | {"phase": phase}
    rows = []
    pauses = gc_pauses(raw, phase)
    if pauses is not None:
        rows.append(key | _value("overall", "gc_count", "count", pauses[0]))
        rows.append(key | _value("overall", "gc_pause", "ms", pauses[1]))
    if went.get("monitor_cpu_seconds") is not None and went.get("seconds"):
        share = 100 * went["monitor_cpu_seconds"] / went["seconds"]
        rows.append(key | _value("overall", "monitor_cpu", "%", share))
    return rows


def _value(operation: str, metric: str, unit: str, value: float) -> dict:
    return {"operation": operation, "metric": metric, "unit": unit, "value": value}


def _goodput(cell: Cell, phase: str, logs: list[YcsbLog], misses: int | None) -> list[dict]:
    """Operations that did what was asked, by the run time; and the reads that did not.

    Of all clients: the server's misses cannot be told apart by client.
    """
    key = key_of(cell) | {"phase": phase}
    goodput = good(logs, misses) / (max(log.runtime for log in logs) / 1000)
    rows = [key | _value("overall", "goodput", "ops/s", goodput)]
    if misses is not None:
        rows.append(key | _value("overall", "missed", "count", misses))
    return rows


def _measured(cell: Cell, manifest: dict, void: str) -> dict:
    return key_of(cell) | {
        "status": "measured",
        "reason": "",
        "void": void,
        "provider": manifest["server"]["provider"],
        "client": manifest["client"]["kind"],
        "server_version": manifest["server"]["version"],
        "started": manifest["started"],
        "wall_seconds": manifest["seconds"]["total"],
        "position": manifest["position"],
    }
