"""The provider of a store's server, and its missing requirements.

The provider ``external`` is a server that already runs somewhere: it is never started or stopped.
``make_ready`` waits for one that a person started by hand.
"""

import socket
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from kvstudy.errors import EnvironmentFault, InputError
from kvstudy.language.reasons import reason
from kvstudy.stores import docker, docker_daemon, native
from kvstudy.stores.definition import Store
from kvstudy.stores.server import POLL_SECONDS, Server, check_empty
from kvstudy.study.consistency import (
    COMPARED,
    chosen_provider,
    complete_cells,
    read_manifests,
)
from kvstudy.study.raw import PROVIDER_IMPORTED

KEY = "config/config.yaml: external.servers"


def missing_requirement(store: Store, provider: str, address: str = "") -> str | None:
    """Return what ``provider`` lacks for the store (external: at ``address``), with the remedy."""
    if store.ycsb is None:
        return reason("no-binding", store=store.title)
    if store.embedded:
        return None
    if provider == PROVIDER_IMPORTED:
        return "its run has imported logs, which are not mixed with measured cells"
    if provider == "external" and store.network:
        return reason("external-network", network=store.network)
    provider = provider_of(store, provider)
    if provider == "external":
        if arguments := [each for name in store.chosen for each in store.choices[name].arguments]:
            return reason("external-arguments", arguments=" ".join(arguments))
        why = f"no address of a {store.title} server; set {KEY}.{store.folder.name} to host:port"
        return None if address else why
    return {"native": native, "docker": docker}[provider].missing_requirement(store)


def provider_of(store: Store, otherwise: str) -> str:
    """The provider that the study's network of the store asks for, or else the other one."""
    if store.network is None:
        return otherwise
    return "native" if store.network == "loopback" else "docker"


def resolve(wanted: str, raw: Path) -> str:
    """The provider of a run whose raw logs are in ``raw``, where the study leaves it open.

    ``auto`` keeps to the provider of the cells that are there already, so that
    a run never mixes by accident; without any it is Docker where a daemon
    answers (as published studies did it), else native.
    """
    if wanted != "auto":
        return wanted
    manifests = (read_manifests(raw, [cell]) for cell in complete_cells(raw))
    known = (chosen_provider(manifest) for of in manifests for manifest in of.values())
    used = set(islice(filter(None, known), COMPARED))
    if len(used) == 1:
        return used.pop()
    return "native" if docker_daemon.daemon_problem() else "docker"


class ExternalServer(Server):
    """A server at host:port that belongs to somebody else."""

    def __init__(self, store: Store, address: str) -> None:
        host, colon, port = address.rpartition(":")
        if not (colon and host and port.isdecimal() and 0 < int(port) < 65536):
            raise InputError(f"{KEY}.{store.folder.name}: '{address}' is not host:port")
        self.host, self.port = host.strip("[]"), int(port)
        self.shown = f"the server runs at {self.host}:{self.port}"

    def died(self) -> str | None:
        """None while its port is open, else what connecting to it says."""
        try:
            with socket.create_connection((self.host, self.port), timeout=5):
                return None
        except OSError as error:
            return f"at {self.host}:{self.port} does not answer ({error})"

    def describe(self) -> dict:
        return {"provider": "external", "address": f"{self.host}:{self.port}"}


def make_ready(store: Store, address: str, fields: Sequence[str]) -> str:
    """Wait until the server at host:port answers its own protocol; returns the version it shows.

    Where the store needs a table, an empty one with the ``fields`` is made. KvstudyError when it
    does not get ready, or holds records: then it is not the one that was started for this.
    """
    server, version = ExternalServer(store, address), None
    limit = time.monotonic() + store.ready_seconds
    while version is None:
        try:
            version = store.verbs.version(server.host, server.port)
        except (OSError, ValueError) as error:
            if time.monotonic() > limit:
                raise EnvironmentFault(
                    f"no {store.title} server got ready at {address} in "
                    f"{store.ready_seconds:g} s ({error})"
                ) from None
            time.sleep(POLL_SECONDS)
    check_empty(store, server, fields, "stop it, or start yours at another port")
    return version
