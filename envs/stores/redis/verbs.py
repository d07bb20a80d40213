"""What is asked of a Redis server, in its own protocol (inline commands)."""

import re

from kvstudy.stores.ask import ask


def version(host: str, port: int) -> str:
    """The server's version; ValueError while it loads its data."""
    answer = ask(host, port, "INFO server\r\n", until="executable:")
    return re.search(r"^redis_version:(\S+)", answer, re.M).group(1)


def records(host: str, port: int) -> int:
    """How many records YCSB has stored: the members of its index."""
    return int(ask(host, port, "ZCARD _indices\r\n", until="\r\n").removeprefix(":"))


def empty(host: str, port: int) -> None:
    """Delete all records and the index."""
    ask(host, port, "FLUSHDB\r\n", until="+OK")
