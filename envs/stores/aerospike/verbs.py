"""What is asked of an Aerospike server, in its info protocol."""

import socket
import struct
import time

from kvstudy.errors import KvstudyError

TIMEOUT = 2.0
NAMESPACE = "ycsb"

# Two bytes (version 2, type 1: info) and six bytes of length stand before the text.
HEADER = struct.Struct(">Q")
INFO = 2 << 56 | 1 << 48
LIMIT = 1 << 20


def version(host: str, port: int) -> str:
    """The server's version; ValueError until it is a cluster of its own and takes operations."""
    # It opens its port and logs "service ready" seconds before; only this tells.
    _ask(host, port, "cluster-stable:size=1;ignore-migrations=true")
    return _ask(host, port, "build")


def records(host: str, port: int) -> int:
    """How many records the namespace holds, in all of its sets."""
    return int(_statistics(host, port)["objects"])


def empty(host: str, port: int) -> None:
    """Delete all records of the namespace, and return when they are gone."""
    _ask(host, port, f"truncate-namespace:namespace={NAMESPACE}")
    limit = time.monotonic() + 60
    while records(host, port):
        if time.monotonic() > limit:
            raise OSError(f"aerospike {host}:{port}: still holds records 60 s after a truncate")
        time.sleep(0.02)


def counters(host: str, port: int) -> dict[str, int]:
    """Operations of clients by kind and outcome: ``client_read_success`` and so on."""
    kinds = ("client_read_", "client_write_", "client_delete_")
    reply = _statistics(host, port)
    return {name: int(value) for name, value in reply.items() if name.startswith(kinds)}


def record_bytes(host: str, port: int) -> float | None:
    """Mean bytes of a record in the namespace's memory, without its 64 bytes in the index."""
    reply = _statistics(host, port)
    held = int(reply["objects"])
    return int(reply["data_used_bytes"]) / held if held else None


def _statistics(host: str, port: int) -> dict[str, str]:
    """The namespace's figures by name."""
    answer = _ask(host, port, f"namespace/{NAMESPACE}")
    if answer == "type=unknown":
        raise KvstudyError(
            f"aerospike {host}:{port}: no namespace '{NAMESPACE}'; add it to the server's "
            "configuration (envs/stores/aerospike/aerospike.conf has one) and start it again"
        )
    return dict(part.split("=", 1) for part in answer.split(";"))


def _ask(host: str, port: int, name: str) -> str:
    """The server's answer to one question.

    OSError when it cannot be reached, closes the connection or is silent,
    ValueError when it answers with an error or in another protocol.
    """
    question = f"{name}\n".encode()
    with socket.create_connection((host, port), timeout=TIMEOUT) as connection:
        connection.sendall(HEADER.pack(INFO | len(question)) + question)
        (header,) = HEADER.unpack(_exactly(connection, HEADER.size))
        if header >> 48 != INFO >> 48 or header & ~INFO > LIMIT:
            raise ValueError(f"{host}:{port} does not speak Aerospike's info protocol")
        text = _exactly(connection, header & ~INFO).decode(errors="replace")
    requests, _, answer = text.removesuffix("\n").partition("\t")
    if requests != name or not answer or answer.upper().startswith(("ERROR", "FAIL")):
        raise ValueError(f"aerospike {host}:{port}: {name}: {answer or 'no answer'}")
    return answer


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError(f"the server closed the connection after {len(data)} bytes")
        data += part
    return data
