"""Measure one cell: server up, load, verify, run, collect, server down, raw logs in place."""

from __future__ import annotations

import datetime
import errno
import json
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from kvstudy import __version__
from kvstudy.errors import KvstudyError
from kvstudy.measure import environment
from kvstudy.measure.client import Client, find_client, phase_command
from kvstudy.measure.controller import Controller, Interrupted
from kvstudy.measure.phase import Phase, run_phase
from kvstudy.measure.transcript import commands_text
from kvstudy.stores import providers, registry
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server, free_port, serving
from kvstudy.study.cells import Cell
from kvstudy.study.raw import raw_directory, write_sums
from kvstudy.ycsb_log.check import check_load, check_run
from kvstudy.ycsb_log.parse import parse


@dataclass(frozen=True)
class Request:
    """What is measured and how; ``position`` counts from 1, ``port`` 0 is any free one."""

    cell: Cell
    run: str
    position: int
    provider: str
    protocol: int
    port: int = 0
    address: str = ""
    may_empty: bool = False
    ycsb_home: str = ""
    mixed_providers: bool = False

    @property
    def results(self) -> Path:
        return Path("results") / self.run

    @property
    def raw(self) -> Path:
        return raw_directory(self.run, self.cell)


def measure_cell(request: Request, store: Store) -> Path:
    """Measure the cell and return the directory of its raw logs.

    A failed measurement leaves nothing there; its logs and its reason go to
    ``results/<run>/failed/<cell>/<time>/``. KvstudyError says why.
    """
    began = time.monotonic()
    controller = Controller()
    raw = request.results / "raw"
    provider = providers.resolve(request.provider, raw)
    if not request.mixed_providers and not store.in_process:
        providers.refuse_mixture(provider, raw)
    client = find_client(store, request.ycsb_home)
    with registry.measuring_alone():
        for leftover in providers.sweep():
            print(f"ended a leftover of an earlier cell: {leftover}", flush=True)
        work = _fresh(request.results / "measuring" / request.cell.path)
        try:
            _measure(request, store, provider, client, controller, work, began)
            return _put_in_place(work, request)
        except Interrupted as stop:
            shutil.rmtree(work, ignore_errors=True)
            raise Interrupted(f"{request.cell.path}: {stop}") from None
        except (KvstudyError, OSError) as error:
            raise KvstudyError(_set_aside(work, request, _reason(error, work))) from None
        finally:
            _prune(work.parent, request.results)


def _measure(
    request: Request,
    store: Store,
    provider: str,
    client: Client,
    controller: Controller,
    work: Path,
    began: float,
) -> None:
    cell = request.cell
    log = work / "server.log"
    load_before = environment.load_average()
    started_here = provider != "external" and not store.in_process
    port = free_port(request.port, store.side_ports.values()) if started_here else 0
    server = providers.make_server(store, provider, port, work / "data", log, request.address)
    phases: dict[str, Phase] = {}
    started = datetime.datetime.now(datetime.UTC)
    clock = time.monotonic()
    with serving(store, server, log) as version:
        ready_seconds = time.monotonic() - clock
        if provider == "external" and request.may_empty:
            store.verbs.empty(server.host, server.port)
        if hasattr(store.verbs, "create"):
            store.verbs.create(server.host, server.port)
        _check_empty(store, server)
        held: dict[str, int | None] = {}
        for name in cell.phases:
            command = phase_command(client, store, cell, name, server.host, server.port, work)
            phases[name] = run_phase(
                command, client.classpath, work, name, store, server, log, controller
            )
            held[name] = store.verbs.records(server.host, server.port)
            _check(cell, name, work, store, held[name])
        described = server.describe()
        clock = time.monotonic()
    stop_seconds = time.monotonic() - clock
    shutil.rmtree(work / "data", ignore_errors=True)
    (work / "commands.sh").write_text(
        commands_text(client.classpath, server, phases), encoding="utf-8"
    )
    manifest = {
        "kvstudy": __version__,
        "protocol": request.protocol,
        "run": request.run,
        "cell": cell.as_json(),
        "position": request.position,
        "started": started.isoformat(timespec="seconds"),
        "server": {**described, "version": version, "records": held},
        "client": client.describe(),
        "phases": {name: asdict(phase) for name, phase in phases.items()},
        "load_average_before": load_before,
        "environment": environment.components(),
        "seconds": {"ready": round(ready_seconds, 3), "stop": round(stop_seconds, 3)},
    }
    # The last figure is the whole cell but for the moving of this directory.
    manifest["seconds"]["total"] = round(time.monotonic() - began, 3)
    (work / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    write_sums(work)


def _check(cell: Cell, phase: str, work: Path, store: Store, held: int | None) -> None:
    """Refuse a broken phase, by YCSB's own counts and by the server's."""
    name = f"{phase}.out"
    log = parse((work / name).read_text(encoding="utf-8", errors="replace"), name)
    if phase == "run":
        check_run(log, cell.operations, cell.seconds, name)
        return
    check_load(log, cell.records, name)
    if held is not None and held != cell.records:
        raise KvstudyError(
            f"load: YCSB stored {cell.records} records, the {store.title} server holds {held}; "
            "it lost or evicted the others: give it more memory"
        )


def _check_empty(store: Store, server: Server) -> None:
    """A cell starts with an empty store; only a server of somebody else can hold records."""
    records = store.verbs.records(server.host, server.port)
    if records:
        raise KvstudyError(
            f"the {store.title} server at {server.host}:{server.port} holds {records} records; "
            "a cell needs an empty one. Empty it, or set external.may_empty: true in "
            "config/config.yaml: then ALL of its data is deleted before each cell"
        )


def _fresh(work: Path) -> Path:
    """An empty working directory; an earlier cell may have been killed in the middle of it."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    return work


def _put_in_place(work: Path, request: Request) -> Path:
    """Move the finished logs to their place in one step; keep logs that were there before."""
    raw = request.raw
    if raw.is_dir() and any(raw.iterdir()):
        kept = request.results / "replaced" / request.cell.path / _stamp()
        kept.parent.mkdir(parents=True, exist_ok=True)
        raw.rename(kept)
        print(f"measured again; the earlier logs are in {kept}", flush=True)
    raw.mkdir(parents=True, exist_ok=True)
    work.rename(raw)
    return raw


def _set_aside(work: Path, request: Request, reason: str) -> str:
    """Keep the logs of a failed cell with the reason; returns the message for the user."""
    failed = request.results / "failed" / request.cell.path / _stamp()
    message = f"{request.cell.path}: {reason}"
    try:
        shutil.rmtree(work / "data", ignore_errors=True)
        (work / "failure.json").write_text(json.dumps({"reason": reason}) + "\n", encoding="utf-8")
        failed.parent.mkdir(parents=True, exist_ok=True)
        work.rename(failed)
    except OSError as error:
        shutil.rmtree(work, ignore_errors=True)
        return f"{message} (its logs could not be kept: {error})"
    return f"{message}\nIts logs are in {failed}; 'snakemake' measures it again."


def _reason(error: Exception, work: Path) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full ({work.parent}); free some space"
    return str(error)


def _stamp() -> str:
    # To the microsecond: two cells can fail within one second.
    return datetime.datetime.now().strftime("%Y%m%dT%H%M%S.%f")


def _prune(folder: Path, root: Path) -> None:
    """Remove the empty folders that the working directory needed."""
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
