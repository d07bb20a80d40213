"""What is asked of a MongoDB server, with MongoDB's own Python driver."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

from pymongo import MongoClient
from pymongo.errors import PyMongoError

TIMEOUT = 2.0


def version(host: str, port: int) -> str:
    """The server's version."""
    with _connected(host, port) as client:
        return client.server_info()["version"]


def settings(host: str, port: int) -> dict[str, str]:
    """The options of its command line and configuration file; all others are as shipped."""
    with _connected(host, port) as client:
        return dict(_flat(client.admin.command("getCmdLineOpts")["parsed"]))


def _flat(options: dict, prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in options.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)


def records(host: str, port: int) -> int:
    """How many records YCSB has stored.

    The collection's own count, at once for any size; it is exact as long as the
    server was not killed since it started.
    """
    with _connected(host, port) as client:
        return client["ycsb"]["usertable"].estimated_document_count()


def counters(host: str, port: int) -> dict[str, int]:
    """Operations of each kind; ``query`` is a find."""
    with _connected(host, port) as client:
        reply = client.admin.command("serverStatus")["opcounters"]
    # An old driver makes the server add a part about commands that it no longer has.
    return {name: count for name, count in reply.items() if isinstance(count, int)}


def record_bytes(host: str, port: int) -> float | None:
    """Mean size of a document, uncompressed as MongoDB's own format has it."""
    with _connected(host, port) as client:
        reply = client["ycsb"].command("collStats", "usertable")
    return reply["size"] / reply["count"] if reply["count"] else None


@contextlib.contextmanager
def _connected(host: str, port: int) -> Iterator[MongoClient]:
    # The driver would look twice a second whether a closed port is open by now.
    socket.create_connection((host, port), TIMEOUT).close()
    milliseconds = round(TIMEOUT * 1000)
    try:
        with MongoClient(
            host,
            port,
            directConnection=True,
            serverSelectionTimeoutMS=milliseconds,
            connectTimeoutMS=milliseconds,
            socketTimeoutMS=milliseconds,
        ) as client:
            yield client
    except PyMongoError as error:
        raise OSError(f"mongodb {host}:{port}: {error}") from error
