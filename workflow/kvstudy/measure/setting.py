"""How something is measured, whatever it is: on which server, by which client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.measure.client import Client, find_client
from kvstudy.measure.pinning import Pinning, pinning
from kvstudy.stores import providers
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server, ask, free_port
from kvstudy.study.alike import differences, read_manifests, refusal


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the configuration says; ``port`` 0 is any free one, ``pin_cpus`` see ``pinning``.

    ``planned`` are the paths of the run's cells; others may lie there from an earlier plan.
    """

    run: str
    planned: frozenset[str]
    provider: str
    protocol: int
    port: int = 0
    address: str = ""
    may_empty: bool = False
    ycsb_home: str = ""
    pin_cpus: str = "false"
    mixed: bool = False

    @property
    def results(self) -> Path:
        return Path("results") / self.run

    def resolve(self, store: Store) -> tuple[str, Client, Pinning | None]:
        """The provider of the run, the store's client, and the cores of server and client."""
        provider = providers.resolve(self.provider, self.results / "raw")
        pinned = pinning(self.pin_cpus, provider)
        cores = pinned.client if pinned else ""
        return provider, find_client(store, self.ycsb_home, cores), pinned

    def refuse_unlike(self, store: Store, name: str, known: dict) -> None:
        """KvstudyError when the run's cells were measured otherwise than ``name`` would be.

        ``known`` is what its manifest will record, as far as it is known by now.
        """
        if self.mixed:
            return
        raw = self.results / "raw"
        measured = {
            cell: manifest
            for cell, manifest in read_manifests(raw).items()
            if cell in self.planned and cell != name
        }
        known = {"cell": {"folder": store.folder.name}, **known}
        if found := differences(measured | {f"{name} is next": known}):
            raise KvstudyError(refusal(found, raw))

    def make_server(
        self, store: Store, provider: str, work: Path, log: Path, pinned: Pinning | None
    ) -> Server:
        """The store's server with its data below ``work``, not yet started."""
        started_here = provider != "external" and not store.in_process
        port = free_port(self.port, store.side_ports.values()) if started_here else 0
        cores = pinned.server if pinned else ""
        return providers.make_server(store, provider, port, work / "data", log, self.address, cores)

    def make_ready(
        self, store: Store, provider: str, server: Server, fields: Sequence[str]
    ) -> None:
        """Let the running server be empty and able to take records with these ``fields``."""
        if provider == "external" and self.may_empty:
            ask(store, server, "empty")
        ask(store, server, "create", fields)
        _check_empty(store, server)


def _check_empty(store: Store, server: Server) -> None:
    """A cell starts with an empty store; only a server of somebody else can hold records."""
    records = ask(store, server, "records")
    if records:
        raise KvstudyError(
            f"the {store.title} server at {server.host}:{server.port} holds {records} records; "
            "a cell needs an empty one. Empty it, or set external.may_empty: true in "
            "config/config.yaml: then ALL of its data is deleted before each cell"
        )


Counters = dict[str, int] | None


def counters(store: Store, server: Server) -> Counters:
    """The server's running totals under its own names; None when the store tells none.

    KvstudyError when the counter that store.yaml names for misses is not among them.
    """
    told = ask(store, server, "counters")
    if store.misses and store.misses not in (told or {}):
        raise KvstudyError(
            f"{store.file}: misses: {store.title} has no counter '{store.misses}'; "
            f"counters() in verbs.py tells of: {', '.join(told or {}) or 'nothing'}"
        )
    return told


def moved(store: Store, before: Counters, after: Counters) -> Counters:
    """The counters that moved, and by how much; None when the store tells none.

    KvstudyError for a counter that fell or vanished: then the server was started
    anew, and what it held and counted before is lost.
    """
    if before is None or after is None:
        return None
    change = {name: after.get(name, 0) - before.get(name, 0) for name in before | after}
    for name, count in change.items():
        if count < 0:
            raise KvstudyError(
                f"{store.title}: its counter {name} fell by {-count}; was the server started anew?"
            )
    return {name: count for name, count in change.items() if count}
