"""What is asked of a Memcached server, in its text protocol."""

import re

from kvstudy.stores.ask import ask


def version(host: str, port: int) -> str:
    """The server's version."""
    return re.match(r"VERSION (\S+)", ask(host, port, "version\r\n", until="\r\n")).group(1)


def records(host: str, port: int) -> int:
    """How many records the server holds now; evicted ones are not among them."""
    return int(re.search(r"^STAT curr_items (\d+)", _stats(host, port), re.M).group(1))


def _stats(host: str, port: int) -> str:
    return ask(host, port, "stats\r\n", until="END\r\n")
