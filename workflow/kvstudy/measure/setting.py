"""The context of every measurement: server, client, cores, and the folder of its logs."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from math import ceil
from pathlib import Path

from kvstudy.errors import DataError, EnvironmentFault, InputError, KvstudyError, RunError
from kvstudy.measure import environment
from kvstudy.measure.client import Client, find_client
from kvstudy.measure.controller import Interrupted, cell_lock
from kvstudy.measure.hosts import Connected, FarServer, connected
from kvstudy.measure.kernel import ALLOWED, Tree, core_numbers
from kvstudy.stores import docker, process, providers
from kvstudy.stores.configuration import changes, record_settings
from kvstudy.stores.definition import Store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import Server, ask, check_empty, free_port, running_server
from kvstudy.study.config import Hosts
from kvstudy.study.consistency import COMPARED, differences, read_manifests, refusal
from kvstudy.study.raw import is_complete, set_aside, stamp
from kvstudy.whole_file import ROOM, check_room, check_writable, free_bytes, full_disk

# A cell has at least so many bytes of logs, those of long ones are some megabytes: with less room
# none begins.
CELL_ROOM = 1 << 20
# So much is kept while a cell is measured, for the reason why it failed on a full disk.
KEPT_ROOM = 1 << 15
KEY = "config/config.yaml: pin_cpus"
NOT_EMPTY = (
    "a cell needs an empty one. Empty it, or set external.delete_all_data: true in "
    "config/config.yaml: then ALL of its data is deleted before each cell"
)
# Of the server, in the folder of a measurement.
SERVER_LOG = "server.log"


@dataclass(frozen=True, kw_only=True)
class MeasurementContext:
    """The context of ``store``; ``port`` 0 is any free one, for ``pin_cpus`` see ``pinning``.

    ``planned`` are the paths of the run's cells, in the order of the plan; others may be there from
    an earlier one.
    """

    run: str
    store: Store
    planned: Sequence[str]
    provider: str
    protocol: int
    port: int = 0
    address: str = ""
    delete_all_data: bool = False
    ycsb_home: str = ""
    pin_cpus: str = "false"
    mixed: bool = False
    hosts: Hosts | None = None

    @property
    def results(self) -> Path:
        return Path("results") / self.run

    @cached_property
    def used_provider(self) -> str:
        """Resolve ``auto`` for this run; servers on hosts are native programs."""
        if self.hosts:
            return "native"
        wanted = providers.provider_of(self.store, self.provider)
        return providers.resolve(wanted, self.results / "raw")

    @cached_property
    def pinned(self) -> Pinning | None:
        return pinning(self.pin_cpus, self.used_provider)

    @cached_property
    def manifests(self) -> dict[str, dict]:
        """Return the manifests of earlier cells, of a long run those of some of them."""
        raw = self.results / "raw"
        cells = [raw / path for path in self.planned if is_complete(raw / path)]
        of_store = [cell for cell in cells if cell.parts[-4] == self.store.name]
        some = dict.fromkeys([*_some(cells), *_some(of_store)])
        return read_manifests(raw, some)

    @cached_property
    def client(self) -> Client:
        return find_client(self.store, self.ycsb_home, self.pinned.client if self.pinned else "")

    def connected(self) -> AbstractContextManager[Connected | None]:
        """The hosts of server and clients while the block runs; None where they are here."""
        return connected(self.hosts, self.results) if self.hosts else nullcontext()

    def java(self, hosts: Connected | None) -> dict:
        """Return the clients' Java, see ``environment.java``."""
        return (
            hosts.java() if hosts else environment.java(process.pinning_prefix(self.client.cores))
        )

    def refuse_unlike(self, name: str, server: dict | None = None, **known: object) -> None:
        """Raise KvstudyError when the run's cells were measured otherwise than ``name`` would be.

        ``server`` and ``known`` are what its manifest will record, as far as it is known by now.
        Cells of the store whose options have changed since are to be measured again.
        """
        if self.mixed:
            return
        measured = {
            cell: manifest
            for cell, manifest in self.manifests.items()
            if cell != name
            if manifest["cell"]["store"] != self.store.name or not changes(manifest, self.store)
        }
        provider = "none" if self.store.embedded else self.used_provider
        known["cell"] = {
            "folder": self.store.folder.name,
            "store": self.store.name,
            "network": self.store.network,
        }
        known["server"] = {"provider": provider} | (server or {})
        if unlike := differences(measured | {f"{name} is next": known}):
            # Before the server runs, nothing is known that another cell would not have too.
            kind = EnvironmentFault if server else RunError
            raise kind(refusal(unlike, self.results / "raw"))

    @contextmanager
    def running_server(
        self, work: Path, name: str, fields: Sequence[str], hosts: Connected | None
    ) -> Iterator[Server]:
        """Run the store's server, with its data below ``work``, for as long as the context lasts.

        With hosts, it runs ``hosts``. It is empty, and able to take records with these ``fields``.
        ``name`` is what is measured. Its data is gone afterwards.
        """
        store, log = self.store, work / SERVER_LOG
        server = self._server(work / "data", log, hosts)
        with running_server(store, server, log) as version:
            # Only the server itself shows: a package may have been upgraded since the last cell.
            server.settings = record_settings(store, server, work)
            about = {"version": version, "settings": server.settings}
            self.refuse_unlike(name, server.describe() | about)
            if self.used_provider == "external" and self.delete_all_data:
                ask(store, server, "empty")
            # Only a server of somebody else can hold any records.
            check_empty(store, server, fields, NOT_EMPTY)
            yield server
        shutil.rmtree(work / "data", ignore_errors=True)

    def _server(self, data: Path, log: Path, hosts: Connected | None) -> Server:
        """The store's server, not yet started."""
        store = self.store
        if store.embedded:
            return Server()
        if hosts:
            return FarServer(hosts, store, self.port, log)
        if self.used_provider == "external":
            return providers.ExternalServer(store, self.address)
        port = free_port(self.port, store.side_ports.values())
        cores = self.pinned.server if self.pinned else ""
        kind = docker.DockerServer if self.used_provider == "docker" else NativeServer
        return kind(store, port, data, log, cores)

    @contextmanager
    def working(self, done: Path, name: str, hosts: Connected | None = None) -> Iterator[Path]:
        """An empty folder to measure ``name`` in, while nothing else is; ``done`` is for its logs.

        Where it is measured ``hosts``, nothing else is on those hosts. At the end it is moved to
        its place in one step. A failed measurement leaves nothing there: its logs and its reason
        go to ``results/<run>/failed/<name>/<time>/``, and the KvstudyError says so. It says
        beforehand when its place could not be written.
        """
        for folder in (done.parent, self.results / "measuring", self.results / "failed"):
            check_writable(folder)
        check_room(self.results, CELL_ROOM, f"{name} needs")
        work = self.results / "measuring" / name
        with process.measuring_alone(), cell_lock(work):
            for leftover in process.sweep() + docker.sweep():
                print(f"ended a leftover of an earlier cell: {leftover}", flush=True)
            # An earlier measurement may have been killed in the middle of it.
            shutil.rmtree(work, ignore_errors=True)
            try:
                work.mkdir(parents=True)
            except OSError as error:
                raise EnvironmentFault(
                    f"{work}: cannot be made again: {error.strerror}; remove it, or let its owner "
                    "do so"
                ) from None
            kept_room = self.results / f".room-{os.getpid()}"
            try:
                kept_room.write_bytes(bytes(KEPT_ROOM))
                if hosts:
                    hosts.be_alone()
                yield work
                if done.is_dir() and any(done.iterdir()):
                    kept = self.results / "replaced" / name / stamp()
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    done.rename(kept)
                    print(f"measured again; the earlier logs are in {kept}", flush=True)
                done.mkdir(parents=True, exist_ok=True)
                work.rename(done)
            except Interrupted as stop:
                shutil.rmtree(work, ignore_errors=True)
                raise Interrupted(f"{name}: {stop}") from None
            except (KvstudyError, OSError, ValueError) as error:
                full = _full_disk(error, work)
                reason = f"{full} ({error})" if full else str(error)
                kept_room.unlink(missing_ok=True)
                shutil.rmtree(work / "data", ignore_errors=True)
                try:
                    failed = set_aside(work, self.results, name, reason)
                    rest = f"\nIts logs are in {failed}; the same command measures it again."
                except OSError as problem:
                    shutil.rmtree(work, ignore_errors=True)
                    rest = f" (its logs could not be kept: {problem})"
                raise _kind(error, full)(f"{name}: {reason}{rest}") from None
            finally:
                kept_room.unlink(missing_ok=True)
                # Empty ones only.
                with suppress(OSError):
                    os.removedirs(work.parent)


def _some(cells: Sequence[Path]) -> Sequence[Path]:
    """Return as many of the cells as are compared, evenly spread; all where they are few."""
    return cells[:: max(1, ceil(len(cells) / COMPARED))]


def _kind(error: Exception, full: str) -> type[KvstudyError]:
    """The type to raise for ``error``; every other cell would meet a full disk too."""
    if full:
        return RunError
    if isinstance(error, KvstudyError):
        return type(error)
    return EnvironmentFault if isinstance(error, OSError) else DataError


def _full_disk(error: Exception, work: Path) -> str:
    """The true cause where the disk is full: servers, clients and logs break in many ways then."""
    free = free_bytes(work)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return full_disk(work.parent, free)
    room = work / "room"
    try:
        # A user's share may be full, and the disk not.
        room.write_bytes(bytes(ROOM))
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            return full_disk(work.parent, free)
    finally:
        room.unlink(missing_ok=True)
    return ""


@dataclass(frozen=True)
class Pinning:
    """Hardware threads of each side as lists that taskset and Docker read, such as ``0-1,4``."""

    server: str
    client: str


def pinning(wanted: str, provider: str, tree: Tree | None = None) -> Pinning | None:
    """``false``: None. ``true``: the usable cores in two halves. ``0,1/2,3``: server, client.

    KvstudyError when the cores cannot be had, or nothing is started here.
    """
    if wanted == "false":
        return None
    if provider == "external":
        raise InputError(
            f"{KEY}: a server that already runs (provider external) cannot be bound to cores from "
            "here; bind it where it is started, and set pin_cpus: false"
        )
    if shutil.which("taskset") is None:
        raise EnvironmentFault(
            f"{KEY}: no program taskset; install util-linux, or set pin_cpus: false"
        )
    tree = tree or Tree()
    try:
        usable = core_numbers(tree.fields("proc/self/status")[ALLOWED])
    except (KeyError, ValueError):
        raise InputError(
            f"{KEY}: the usable cores are not visible here; set pin_cpus: false"
        ) from None
    if len(usable) < 2:
        raise InputError(
            f"{KEY}: only core {usable[0]} is usable here, so server and client cannot have cores "
            "of their own; set pin_cpus: false"
        )
    of_server, slash, of_client = wanted.partition("/")
    if wanted == "true":
        server, client = _halves(tree, usable)
    elif slash:
        server, client = (
            _checked("server", of_server, usable),
            _checked("client", of_client, usable),
        )
    else:
        raise InputError(f"{KEY}: '{wanted}' is none of true, false and server/client (0,1/2,3)")
    if both := set(server) & set(client):
        raise InputError(
            f"{KEY}: server and client both have core {_text(sorted(both))}; give them others"
        )
    return Pinning(_text(server), _text(client))


def _halves(tree: Tree, usable: list[int]) -> tuple[list[int], list[int]]:
    """Server's and client's half; the client has the larger one.

    Threads of a core stay together, unless there is only one core.
    """
    cores: dict[tuple[int, ...], list[int]] = {}
    for number in usable:
        siblings = tree.text(f"sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        key = tuple(core_numbers(siblings)) if siblings else (number,)
        cores.setdefault(key, []).append(number)
    groups = list(cores.values()) if len(cores) > 1 else [[number] for number in usable]
    half = len(groups) // 2
    return [*chain(*groups[:half])], [*chain(*groups[half:])]


def _checked(side: str, text: str, usable: list[int]) -> list[int]:
    try:
        cores = core_numbers(text)
    except ValueError:
        raise InputError(f"{KEY}: {side}: '{text}' is no list of cores such as 0-1,4") from None
    if wrong := sorted(set(cores) - set(usable)):
        raise InputError(
            f"{KEY}: {side}: core {_text(wrong)} is not usable here; usable are {_text(usable)}"
        )
    return cores


def _text(cores: list[int]) -> str:
    """``[0, 1, 2, 5]`` as ``0-2,5``."""
    places = enumerate(sorted(cores))
    # Neighbours are as far from their places.
    runs = ([*run] for _, run in groupby(places, key=lambda core: core[1] - core[0]))
    ends = ((run[0][1], run[-1][1]) for run in runs)
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ends)
