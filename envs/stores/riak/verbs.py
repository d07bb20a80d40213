"""What is asked of a Riak node: in Protocol Buffers, and its counters over HTTP."""

from __future__ import annotations

import contextlib
import json
import socket
import time
import urllib.request
from collections.abc import Iterator

EVENTUAL, STRONG = b"ycsb_eventual", b"ycsb_strong"
BUCKET = b"usertable"

# Codes of messages; the answer to a question has the code above it, except where it is named.
ERROR, VERSION, GET, DELETE, KEYS, BUCKET_TYPE, BUCKET_PROPERTIES = 0, 7, 9, 13, 17, 31, 20

# Reads that reach each of the 64 partitions of a ring as it is shipped, but for one start in
# 100 000: each partition elects a leader of its own before it serves.
PROBES = 1000
# Records that stand for all of their type; the node lists keys in the order of a hash.
SAMPLE = 500
HTTP_DISTANCE = 11
# The node tells what it has told within the last second again.
CACHED_SECONDS = 1.1
COUNTERS = (
    "node_gets_total",
    "node_puts_total",
    "consistent_gets_total",
    "consistent_puts_total",
)


class Refused(ValueError):
    """The node understood the question and does not serve it."""


def version(host: str, port: int) -> str:
    """The node's version, when it serves the bucket types.

    A type for strong consistency need not be there, but must serve if it is.
    """
    with _connected(host, port) as ask:
        reply = _fields(ask(VERSION))[2][0].decode()
        ask(BUCKET_TYPE, _field(1, EVENTUAL), answer=BUCKET_PROPERTIES)
        _value(ask, EVENTUAL, b"0")
        try:
            ask(BUCKET_TYPE, _field(1, STRONG), answer=BUCKET_PROPERTIES)
        except Refused:
            return reply
        for number in range(PROBES):
            _value(ask, STRONG, b"%d" % number)
        return reply


def records(host: str, port: int) -> int:
    """How many records YCSB has stored; the node lists all keys for it.

    Of a type with strong consistency it also lists the keys of deleted records, for ever. YCSB
    deletes nothing: only if one of a sample is not there, all are looked for.
    """
    count = 0
    with _connected(host, port, seconds=60) as ask:
        for kind in _types(ask):
            keys = list(_keys(ask, kind))
            if kind == STRONG and not all(_value(ask, kind, key) for key in keys[:SAMPLE]):
                keys = [key for key in keys if _value(ask, kind, key)]
            count += len(keys)
    return count


def empty(host: str, port: int) -> None:
    """Delete all records, one by one; returns when the node has forgotten them."""
    with _connected(host, port, seconds=60) as ask:
        for kind in _types(ask):
            for key in list(_keys(ask, kind)):
                ask(DELETE, _field(1, BUCKET) + _field(2, key) + _field(13, kind))
    # A deleted record of an eventual type is in the list for three more seconds.
    limit = time.monotonic() + 60
    while records(host, port):
        if time.monotonic() > limit:
            raise OSError(f"Riak at {host}:{port}: deleted records are still in its list of keys")
        time.sleep(0.2)


def counters(host: str, port: int) -> dict[str, int]:
    """Gets and puts that the node has served: of eventual types, and of consistent ones.

    None counts misses: a read that finds nothing is a get like others.
    """
    address = f"http://{host}:{port + HTTP_DISTANCE}/stats"
    try:
        # A closed port is told at once.
        socket.create_connection((host, port + HTTP_DISTANCE), timeout=5).close()
        time.sleep(CACHED_SECONDS)
        with urllib.request.urlopen(address, timeout=10) as answer:
            stats = json.load(answer)
    except OSError as error:
        raise OSError(
            f"{address}: {error}; Riak's HTTP interface must be {HTTP_DISTANCE} ports above that "
            "for Protocol Buffers, as it is shipped"
        ) from None
    return {name: int(stats[name]) for name in COUNTERS}


def record_bytes(host: str, port: int) -> float | None:
    """Mean size of some of the values, without what the node adds to them; None without records."""
    sizes = []
    with _connected(host, port, seconds=60) as ask:
        for kind in _types(ask):
            values = (_value(ask, kind, key) for key in list(_keys(ask, kind))[:SAMPLE])
            sizes += [len(value) for value in values if value]
    return sum(sizes) / len(sizes) if sizes else None


def _types(ask) -> Iterator[bytes]:
    for kind in (EVENTUAL, STRONG):
        with contextlib.suppress(Refused):
            ask(BUCKET_TYPE, _field(1, kind), answer=BUCKET_PROPERTIES)
            yield kind


def _keys(ask, kind: bytes) -> Iterator[bytes]:
    message = ask(KEYS, _field(1, BUCKET) + _field(3, kind))
    while True:
        fields = _fields(message)
        yield from fields.get(1, [])
        if fields.get(2) == [1]:
            return
        message = ask(None, answer=KEYS + 1)


def _value(ask, kind: bytes, key: bytes) -> bytes | None:
    """What is stored under the key, or None."""
    result = _fields(ask(GET, _field(1, BUCKET) + _field(2, key) + _field(13, kind)))
    return _fields(result[1][0])[1][0] if 1 in result else None


@contextlib.contextmanager
def _connected(host: str, port: int, seconds: float = 5) -> Iterator:
    """A function that sends a message (None: nothing) and returns the answer's fields as bytes."""
    with (
        socket.create_connection((host, port), timeout=seconds) as connection,
        connection.makefile("rb") as answers,
    ):

        def ask(code: int | None, message: bytes = b"", answer: int | None = None) -> bytes:
            if code is not None:
                connection.sendall((len(message) + 1).to_bytes(4) + bytes([code]) + message)
            head = answers.read(5)
            body = answers.read(int.from_bytes(head[:4]) - 1) if len(head) == 5 else b""
            if len(head) < 5 or len(body) + 1 < int.from_bytes(head[:4]):
                raise ValueError("the node closed the connection")
            if head[4] == ERROR:
                raise Refused(_fields(body)[1][0].decode(errors="replace"))
            if head[4] != (code + 1 if answer is None else answer):
                raise ValueError(f"unexpected answer of code {head[4]}")
            return body

        yield ask


def _field(number: int, value: bytes) -> bytes:
    """A field with bytes; Riak's messages need no number above 15 here."""
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _fields(message: bytes) -> dict[int, list]:
    """The values of each field: numbers and bytes."""
    result: dict[int, list] = {}
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            part = message[at]
            at += 1
            value |= (part & 127) << shift
            shift += 7
            if part < 128:
                return value

    try:
        while at < len(message):
            tag = number()
            value = number()
            if tag & 7 == 2:
                value, at = message[at : at + value], at + value
            elif tag & 7:
                raise ValueError(f"unexpected field of type {tag & 7}")
            result.setdefault(tag >> 3, []).append(value)
    except IndexError:
        raise ValueError("a message that ends in a field") from None
    return result
