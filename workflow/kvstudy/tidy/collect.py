"""From the raw logs of a run to tidy tables.

``measurements.csv``: one row per value of a measured cell. ``cells.csv``: one
row per planned cell, with a reason where there is no valid number.
``environment.json``: the machines, servers and clients behind them, and the study.
``series.csv``: one row per second of a cell's measured phase. ``histograms.csv``:
one row per latency of an operation of that phase, with its count.
``resources.csv``: one row per second of that phase and side, with what it used.
``outcomes.csv``: how its operations ended (see ``tidy.outcomes``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.study.alike import differences, refusal, usable_cores
from kvstudy.study.cells import Cell
from kvstudy.study.model import Study
from kvstudy.study.raw import (
    GAP,
    PROVIDER_IMPORTED,
    SECOND,
    check_sums,
    is_gap,
    is_measured,
    raw_directory,
)
from kvstudy.tidy import surroundings
from kvstudy.tidy.files import (
    HISTOGRAM_COLUMNS,
    MEASUREMENT_COLUMNS,
    RESOURCE_COLUMNS,
    SERIES_COLUMNS,
    recorded_reason,
)
from kvstudy.tidy.foreign import cpu_shares, disturbance
from kvstudy.tidy.gc import gc_pauses
from kvstudy.tidy.imports import NOT_IMPORTED, check_origin, imported_facts, phases_of
from kvstudy.tidy.outcomes import COLUMNS as OUTCOME_COLUMNS
from kvstudy.tidy.outcomes import good, missed, outcomes, void
from kvstudy.tidy.record import study_record
from kvstudy.tidy.resources import resources, server_cpu_seconds
from kvstudy.tidy.series import histograms, series
from kvstudy.tidy.usage import USAGE_UNITS, usage
from kvstudy.ycsb_log.log import YcsbLog
from kvstudy.ycsb_log.parse import parse

CELL_COLUMNS = [
    *("store", "workload", "parameters", "repetition", "status", "reason", "void", "provider"),
    *("client", "server_version", "started", "wall_seconds", "position"),
]


@dataclass(frozen=True)
class Collected:
    """The tidy tables of a run and what it was measured on."""

    cells: pd.DataFrame
    measurements: pd.DataFrame
    series: pd.DataFrame
    histograms: pd.DataFrame
    resources: pd.DataFrame
    outcomes: pd.DataFrame
    environment: dict


def collect(study: Study, cells: list[Cell], run: str, mixed: bool = False) -> Collected:
    """Read all raw logs of ``run``.

    KvstudyError for a cell whose files differ from their checksums, or that was
    measured with other parameters than the study now has, and for cells that
    were not measured alike, unless ``mixed``.
    """
    cell_rows, value_rows = [], []
    manifests: dict[str, dict] = {}
    second_rows, latency_rows, resource_rows, outcome_rows = [], [], [], []
    for position, cell in enumerate(cells, start=1):
        if not is_measured(run, cell) or is_gap(run, cell):
            gap = _gap(cell, run)
            if study.imported and gap["status"] != "failed":
                gap["reason"] = NOT_IMPORTED
            cell_rows.append(gap | {"position": position})
            continue
        raw = raw_directory(run, cell)
        check_sums(raw)
        manifest = _manifest(raw, cell)
        check_origin(study, manifest, raw)
        manifests[cell.path] = manifest
        logs = {phase: _log(raw, phase, cell) for phase in phases_of(manifest, cell)}
        for phase, log in logs.items():
            cpu = {
                "client_cpu": manifest["phases"][phase]["client_cpu_seconds"],
                "server_cpu": None if "imported" in manifest else server_cpu_seconds(raw, phase),
            }
            value_rows += _values(cell, phase, log, cpu)
            lived = (cpu["client_cpu"], manifest["phases"][phase]["seconds"])
            bound = (manifest.get("pinning") or {}).get("client")
            measured = phase == cell.measured_phase
            threads = cell.client_threads[0] if measured else cell.threads
            value_rows += [
                _key(cell)
                | {"phase": phase}
                | _value("overall", metric, USAGE_UNITS[metric], value)
                for metric, value in usage(
                    raw, phase, threads, log, lived, bound, usable_cores(manifest)
                ).items()
            ]
            value_rows += _watched(cell, phase, raw, manifest["phases"][phase])
        phase, log = cell.measured_phase, logs[cell.measured_phase]
        clients = [log]
        if cell.clients:
            clients.append(_log(raw, SECOND, cell))
            found = _value("overall", "second_throughput", "ops/s", clients[1].throughput)
            value_rows.append(_key(cell) | {"phase": phase} | found)
        key = _key(cell) | {"phase": phase}
        for metric, share in cpu_shares(raw, phase, manifest).items():
            value_rows.append(key | _value("overall", metric, "%", share))
        misses = missed(manifest, phase, clients)
        reasons = void(study, cell, clients, misses)
        cell_rows.append(_measured(cell, manifest, "; ".join(reasons)))
        value_rows += _goodput(cell, phase, clients, misses)
        outcome_rows += [_key(cell) | row for row in outcomes(manifest, phase, clients)]
        if not manifest.get("imported", {}).get("no_status_lines"):
            second_rows += [_key(cell) | row for row in series(raw, phase)]
        latency_rows += [_key(cell) | row for row in histograms(raw, phase, log)]
        started = manifest["phases"][phase].get("started")
        resource_rows += [_key(cell) | row for row in resources(raw, phase, started)]
    unlike = differences(manifests)
    if unlike and not mixed:
        raise KvstudyError(refusal(unlike, Path("results") / run / "raw"))
    return Collected(
        pd.DataFrame(cell_rows, columns=CELL_COLUMNS),
        pd.DataFrame(value_rows, columns=MEASUREMENT_COLUMNS),
        pd.DataFrame(second_rows, columns=SERIES_COLUMNS),
        pd.DataFrame(latency_rows, columns=HISTOGRAM_COLUMNS),
        pd.DataFrame(resource_rows, columns=RESOURCE_COLUMNS),
        pd.DataFrame(outcome_rows, columns=OUTCOME_COLUMNS),
        _environment(list(manifests.values()))
        | imported_facts(list(manifests.values()))
        | {"mixed": surroundings.mixtures(unlike), "disturbance": disturbance(value_rows)}
        | {"study": study_record(study, cells).model_dump()},
    )


def _key(cell: Cell) -> dict:
    return {
        "store": cell.store,
        "workload": cell.workload,
        "parameters": cell.parameters,
        "repetition": cell.repetition,
    }


def _gap(cell: Cell, run: str) -> dict:
    """A cell without raw logs, with the reason that is on file."""
    results = Path("results") / run
    failures = sorted((results / "failed" / cell.path).glob("*/failure.json"))
    no_server = results / "gaps" / f"{cell.store}.json"
    if is_gap(run, cell):
        status, reason = "not measured", recorded_reason(raw_directory(run, cell) / GAP)
    elif failures:
        status, reason = "failed", recorded_reason(failures[-1])
    elif no_server.is_file():
        status, reason = "not measured", recorded_reason(no_server)
    else:
        status, reason = "not measured", "there are no raw logs of it yet"
    return _key(cell) | {"status": status, "reason": reason}


def _manifest(raw: Path, cell: Cell) -> dict:
    path = raw / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        measured = manifest["cell"]
    except (OSError, ValueError, KeyError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error}); measure the cell again") from None
    planned = cell.as_json()
    changes = _differences(measured, planned)
    if changes:
        raise KvstudyError(
            f"{raw}: measured with other parameters than the study has now: {changes}. Put the "
            "study or workload file back, or remove that folder to measure the cell again"
        )
    if cell.clients and not manifest.get("second_client"):
        raise KvstudyError(
            f"{path}: has no key second_client: an earlier version gave each of the two clients "
            f"all threads; remove {raw} to measure the cell again"
        )
    return manifest


def _differences(measured: dict, planned: dict) -> str:
    flat = [
        {key: value for key, value in side.items() if key != "properties"} | side["properties"]
        for side in (measured, planned)
    ]
    return ", ".join(
        f"{key} was {flat[0].get(key)}, is now {flat[1].get(key)}"
        for key in sorted(flat[0].keys() | flat[1].keys())
        if flat[0].get(key) != flat[1].get(key)
    )


def _log(raw: Path, phase: str, cell: Cell) -> YcsbLog:
    path = raw / f"{phase}.out"
    interval = dict(cell.properties).get("measurement.interval", "op")
    try:
        return parse(path.read_text(encoding="utf-8", errors="replace"), str(path), interval)
    except OSError as error:
        raise KvstudyError(
            f"{path}: cannot be read: {error}; make it readable, or remove {raw} to measure the "
            "cell again"
        ) from None


def _values(
    cell: Cell, phase: str, log: YcsbLog, cpu_seconds: dict[str, float | None]
) -> list[dict]:
    key = _key(cell) | {"phase": phase}
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
    key = _key(cell) | {"phase": phase}
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
    key = _key(cell) | {"phase": phase}
    goodput = good(logs, misses) / (max(log.runtime for log in logs) / 1000)
    rows = [key | _value("overall", "goodput", "ops/s", goodput)]
    if misses is not None:
        rows.append(key | _value("overall", "missed", "count", misses))
    return rows


def _measured(cell: Cell, manifest: dict, void: str) -> dict:
    return _key(cell) | {
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


def _environment(manifests: list[dict]) -> dict:
    """Distinct machines, and per store its versions, providers, images and clients."""
    machines: list[list[dict]] = []
    stores: dict[str, dict] = {}
    for manifest in manifests:
        if manifest["environment"] and manifest["environment"] not in machines:
            machines.append(manifest["environment"])
        store = stores.setdefault(
            manifest["cell"]["store"], {"versions": [], "providers": [], "images": [], "jars": {}}
        )
        server = manifest["server"]
        _add(store["versions"], server["version"])
        _add(store["providers"], server["provider"])
        if server.get("image"):
            _add(store["images"], f"{server['image']} ({server['digest']})")
        store["jars"] |= manifest["client"]["jars"]
    return {
        "machines": machines,
        "components": machines[0] if machines else [],
        "java": surroundings.java(manifests),
        "findings": surroundings.findings(manifests),
        "measured": len(manifests),
        "looked_at": surroundings.looked_at(manifests),
        "pinned": surroundings.pinnings(manifests),
        "stores": {
            name: store
            | {
                "version": ", ".join(store["versions"])
                or ("not recorded" if PROVIDER_IMPORTED in store["providers"] else ""),
                "provider": ", ".join(store["providers"]),
            }
            for name, store in sorted(stores.items())
        },
    }


def _add(values: list[str], value: str | None) -> None:
    if value and value not in values:
        values.append(value)
