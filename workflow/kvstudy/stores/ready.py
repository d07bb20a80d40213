"""Waiting for a server that a person started by hand."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence

from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import Store
from kvstudy.stores.external import ExternalServer
from kvstudy.stores.server import POLL_SECONDS, ask


def make_ready(store: Store, address: str, fields: Sequence[str]) -> str:
    """Wait until the server at host:port answers its own protocol; returns the version it tells.

    Where the store needs a table, an empty one with the ``fields`` is made. KvstudyError when it
    does not answer within the store's ``ready_seconds``, or already holds records: then it is
    not the one that was started for this.
    """
    server = ExternalServer(store, address)
    limit = time.monotonic() + store.ready_seconds
    while True:
        try:
            version = store.verbs.version(server.host, server.port)
            break
        except (OSError, ValueError) as error:
            if time.monotonic() > limit:
                raise KvstudyError(
                    f"no {store.title} server got ready at {address} in "
                    f"{store.ready_seconds:g} s ({error})"
                ) from None
        time.sleep(POLL_SECONDS)
    ask(store, server, "create", fields)
    if records := ask(store, server, "records"):
        raise KvstudyError(
            f"the {store.title} server at {address} holds {records} records; "
            "stop it, or start yours at another port"
        )
    return version


def ready_line(folder: str, address: str, fields: Sequence[str], usual: Sequence[str]) -> str:
    """The shell line that does it; ``usual`` are the fields that need not be named."""
    command = ["kvstudy", "ready", folder, "--address", address]
    if list(fields) != list(usual):
        command += ["--fields", ",".join(fields)]
    return shlex.join(command)
