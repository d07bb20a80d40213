"""Measure one cell: server up, load, verify, run, collect, server down, raw logs in place.

Or probe one store: what each operation makes its server do, from the server's own counters.
"""

import datetime
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from kvstudy import __version__
from kvstudy.errors import InputError, InvalidMeasurement
from kvstudy.logs.ycsb.check import check_executed, check_load, check_raw, check_run, read_rounds
from kvstudy.logs.ycsb.latencies import keep_raw
from kvstudy.logs.ycsb.log import YcsbLog, parse
from kvstudy.measure import environment, preflight
from kvstudy.measure.client import check_class, phase_command, store_properties, ycsb_command
from kvstudy.measure.clients import meeting
from kvstudy.measure.delay import route
from kvstudy.measure.hosts import Connected, clocks
from kvstudy.measure.phase import LEAST_SHARE, Phases
from kvstudy.measure.setting import MeasurementContext
from kvstudy.stores.definition import Store
from kvstudy.stores.server import HOST, ask
from kvstudy.study.cells import Cell, Target
from kvstudy.study.probe import FACTS, SECONDS, STEPS, THREADS, Step
from kvstudy.study.raw import (
    GAP,
    kept_latencies,
    probe_directory,
    raw_directory,
    raw_latencies,
    write_sums,
)
from kvstudy.study.workload import ROUNDS_FILE, class_of, field_names
from kvstudy.study.ycsb_properties import CORE, TOGETHER

# How Java starts for a few seconds in which no time is measured: with its faster compiler alone it
# needs 40 % less CPU time.
SHORT = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


@dataclass(frozen=True, kw_only=True)
class Request(MeasurementContext):
    """A request to measure; ``position`` counts from 1, open-loop cells have a ``target``.

    ``claims`` is the checksum of the study's claims, "" where it has none: the report says whether
    they were made before the cell was measured. ``repetitions`` are the planned ones, as the study
    gives them: when a run may stop has to be known before it is measured.
    """

    cell: Cell
    position: int
    target: Target | None = None
    claims: str = ""
    repetitions: int | dict[str, int] = 1


def measure_cell(request: Request, read: Callable[[Path], object]) -> Path:
    """Measure the cell and return the directory of its raw logs.

    Before it counts as measured, ``read`` reads what will be read of that directory later. A
    KvstudyError, also of ``read``, makes it a failed cell, see ``MeasurementContext.working``.
    """
    began = time.monotonic()
    client, cell = request.client, request.cell
    with request.connected() as hosts:
        for key in ("delay", "network"):
            if hosts and getattr(cell, key) is not None:
                raise InputError(
                    f"stores: {cell.store} has the key {key}, which needs server and clients on "
                    "this machine; leave hosts out of config/config.yaml, or that key out of the "
                    "study"
                )
        java = request.java(hosts)
        # The manifest's entries on how it was measured, whatever the result.
        about = {
            "protocol": request.protocol,
            "client": client.describe(),
            "pinning": asdict(request.pinned) if request.pinned else None,
            "java": java,
            "node": environment.node(),
        }
        if hosts:
            about |= hosts.about(java, request.results)
        else:
            about["environment"] = environment.components(java)
        request.refuse_unlike(cell.path, **about)
        raw = raw_directory(request.run, cell)
        before = time.monotonic() - began
        with request.working(raw, cell.path, hosts) as work:
            # Another project's cell may have kept us waiting; that is no part of this one.
            began = time.monotonic() - before
            if hosts is None:
                about |= preflight.state(work)
            _measure(request, hosts, about, work, began)
            read(work)
    return raw


def leave_out(request: Request, reason: str) -> Path:
    """Put ``reason`` where the cell's raw logs belong: measuring it now would not help."""
    raw = raw_directory(request.run, request.cell)
    with request.working(raw, request.cell.path) as work:
        _complete(work, GAP, {"cell": request.cell.as_json(), "reason": reason})
    return raw


def _measure(
    request: Request, hosts: Connected | None, about: dict, work: Path, began: float
) -> None:
    cell, store, client = request.cell, request.store, request.client
    properties = dict(cell.properties)
    for name in [class_of(properties), *([TOGETHER] if cell.clients else [])]:
        check_class(client, name)
    rate = request.target.rate if request.target else None
    # The parts of a round may differ that much by themselves.
    least_share = 0 if cell.rounds else LEAST_SHARE
    held: dict[str, int | None] = {}
    started = datetime.datetime.now(datetime.UTC)
    with request.running_server(work, cell.path, field_names(properties), hosts) as server:
        phases = Phases(request, work, server, hosts)
        clocks_before = hosts.compare_clocks() if hosts else {}
        for phase in cell.phases:
            shares = cell.shares(phase)
            micros = cell.delay if phase == cell.measured_phase else None
            with (
                route(server, micros, client.classpath, work) as way,
                meeting(len(shares), hosts.here if hosts else HOST) as start,
            ):
                commands = {
                    share.label: phase_command(
                        client,
                        store,
                        cell,
                        phase,
                        host=way.host,
                        port=way.port,
                        directory=work,
                        rate=rate,
                        share=share,
                        start=start,
                    )
                    for share in shares
                }
                with phases.run(phase, commands, least_share, way):
                    held[phase] = ask(store, server, "records")
                    _check(cell, phase, work, store, held[phase])
        if hosts:
            clocks_read = clocks(clocks_before, hosts.compare_clocks(), several=bool(cell.clients))
            about["hosts"]["clocks"] = clocks_read
    if cell.raw_latencies:
        for share in cell.shares(cell.measured_phase):
            keep_latencies(work, share.label)
    phases.write_commands()
    manifest = {
        "run": request.run,
        "cell": cell.as_json(),
        "position": request.position,
        "target": request.target.model_dump() if request.target else None,
        "claims": request.claims,
        "repetitions": request.repetitions,
        "started": started.isoformat(timespec="seconds"),
        "server": {
            **server.describe(),
            "version": server.version,
            "settings": server.settings,
            "records": held,
            "counters": phases.counters,
            "misses": store.misses,
            "losses": store.losses,
        },
        "phases": phases.phases,
        **({"delay": way.facts} if way.facts else {}),
        **about,
        "seconds": {
            "ready": round(server.ready_seconds, 3),
            "stop": round(server.stop_seconds, 3),
            # The whole cell but for the reading and moving of this directory.
            "total": round(time.monotonic() - began, 3),
        },
    }
    _complete(work, "manifest.json", manifest)


def _complete(work: Path, name: str, content: dict) -> None:
    """Write the last file of a measurement, and the checksums of all."""
    content = {"kvstudy": __version__} | content
    (work / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    write_sums(work)


def _parsed(work: Path, label: str) -> YcsbLog:
    name = f"{label}.out"
    return parse((work / name).read_text(encoding="utf-8", errors="replace"), name)


def _check(cell: Cell, phase: str, work: Path, store: Store, held: int | None) -> None:
    """Refuse a broken phase, by YCSB's own counts and by the server's."""
    for share in cell.shares(phase):
        name, log = f"{share.label}.out", _parsed(work, share.label)
        if phase == "run":
            check_run(log, share.count, cell.seconds, name)
        else:
            check_load(log, share.count, name)
    if phase == "run":
        if cell.rounds:
            read_rounds(work / ROUNDS_FILE, cell, log)
        return
    if held is not None and held != cell.records:
        why = (
            "it lost or evicted the others: give it more memory"
            if held < cell.records
            else "it was not empty, or something else writes to it: stop that"
        )
        raise InvalidMeasurement(
            f"load: YCSB stored {cell.records} records, the {store.title} server holds {held}; "
            f"{why}"
        )


def keep_latencies(directory: Path, phase: str) -> None:
    """Leave the latencies of ``phase`` as ``<phase>.latencies.parquet``.

    InvalidMeasurement when they are not all: YCSB says nothing when it cannot write them.
    """
    path = raw_latencies(directory, phase)
    check_raw(
        keep_raw(path, kept_latencies(directory, phase)), _parsed(directory, phase), path.name
    )
    path.unlink()
    # Beside single latencies YCSB names its histograms run.HdrREAD.hdr.
    for histogram in directory.glob(f"{phase}.Hdr*.hdr"):
        histogram.rename(directory / histogram.name.replace(".Hdr", ".", 1))


def probe_store(setting: MeasurementContext, plan: dict) -> Path:
    """Run the steps on a fresh server and return the folder of the raw facts and logs.

    ``plan`` is what the probe depends on. A failed probe fails as a cell does.
    """
    shape = {"workload": CORE} | plan["shape"]
    client, store = setting.client, setting.store
    check_class(client, class_of(shape))
    name = f"the probe of {store.name}"
    setting.refuse_unlike(name)
    done = probe_directory(setting.run, store.name)
    with setting.connected() as hosts, setting.working(done, f"probes/{store.name}", hosts) as work:
        setting.java(hosts)
        steps: list[dict] = []
        size = None
        started = datetime.datetime.now(datetime.UTC)
        with setting.running_server(work, name, field_names(shape), hosts) as server:
            phases = Phases(setting, work, server, hosts)
            address = store_properties(store, server.host, server.port, work)
            for step in STEPS:
                if step.operation in store.unsupported:
                    continue
                properties = shape | address | step.properties
                load = step.operation == "insert"
                command = ycsb_command(client, load, THREADS, properties, jvm=SHORT)
                with phases.run(step.name, {step.name: command}):
                    returns = _returns(step, work)
                # Sizes are asked for outside of the counted time: asking is work for the server.
                before, size = size, ask(store, server, "record_bytes")
                steps.append(
                    {
                        "step": step.name,
                        "returns": returns,
                        "counters": phases.counters[step.name],
                        "record_bytes": {"before": before, "after": size},
                    }
                )
        phases.write_commands()
        facts = {
            "protocol": setting.protocol,
            "run": setting.run,
            "plan": plan,
            "misses": store.misses,
            "started": started.isoformat(timespec="seconds"),
            "server": server.describe() | {"version": server.version, "settings": server.settings},
            "client": client.describe(),
            "phases": phases.phases,
            "steps": steps,
        }
        _complete(work, FACTS, facts)
    return done


def _returns(step: Step, work: Path) -> dict[str, int]:
    """Count the operations by status; InvalidMeasurement for a broken step."""
    name, log = f"{step.name}.out", _parsed(work, step.name)
    if step.operation == "insert":
        check_load(log, step.count, name)
    else:
        out_of_time = log.runtime >= (SECONDS - 1) * 1000
        check_executed(log, step.count, SECONDS if out_of_time else None, name)
    section = log.sections.get(step.operation.upper())
    if not section:
        raise InvalidMeasurement(f"{name}: no operation ended in {SECONDS} s; is the machine busy?")
    return section.returns
