"""Which provider runs a store's server, and what is missing for it."""

from __future__ import annotations

import json
from pathlib import Path

from kvstudy.language.reasons import reason
from kvstudy.stores import docker, external, native, process
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server
from kvstudy.study.raw import PROVIDER_IMPORTED


class InProcess(Server):
    """A store without a server: YCSB's BasicDB lives inside the client."""

    def describe(self) -> dict:
        return {"provider": "none", "command": []}

    def commands(self) -> dict[str, list[str]]:
        return {"start": ["# no server"], "stop": ["# no server"]}


def missing(store: Store, provider: str, address: str = "") -> str | None:
    """None when ``provider`` can run the store here, else what is missing and how to get it.

    ``address`` (host:port) counts for provider ``external`` only.
    """
    if store.ycsb is None:
        return reason("no-binding", store=store.title)
    if store.in_process:
        return None
    if provider == PROVIDER_IMPORTED:
        return "its run has imported logs, which are not mixed with measured cells"
    if provider == "external":
        return external.missing(store, address)
    return {"native": native, "docker": docker}[provider].missing(store)


def make_server(
    store: Store,
    provider: str,
    port: int,
    data: Path,
    log: Path,
    address: str = "",
    cores: str = "",
) -> Server:
    """The store's server, not yet started; ``cores`` are those that it may run on."""
    if store.in_process:
        return InProcess()
    if provider == "external":
        return external.ExternalServer(store, address)
    if provider == "docker":
        return docker.DockerServer(store, port, data, log, cores)
    return native.NativeServer(store, port, data, log, cores)


def resolve(wanted: str, raw: Path) -> str:
    """The provider of a run whose raw logs lie in ``raw``.

    ``auto`` keeps to the provider of the cells that are there already, so that
    a run never mixes by accident; without any it is Docker where a daemon
    answers (as published studies did it), else native.
    """
    if wanted != "auto":
        return wanted
    used = used_providers(raw)
    if len(used) == 1:
        return used.pop()
    return "native" if docker.daemon_problem() else "docker"


def used_providers(raw: Path) -> set[str]:
    """The providers of the cells that were measured already."""
    used = set()
    for manifest in raw.glob("*/*/*/rep*/manifest.json"):
        try:
            used.add(json.loads(manifest.read_text(encoding="utf-8"))["server"]["provider"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
    return used - {"none"}


def sweep() -> list[str]:
    """End what earlier cells left running, whatever their provider; returns what it was."""
    return process.sweep() + docker.sweep()
