"""What is asked of a Memcached server, in its text protocol."""

import re
import time

from kvstudy.stores.ask import ask


def version(host: str, port: int) -> str:
    """The server's version."""
    return re.match(r"VERSION (\S+)", ask(host, port, "version\r\n", until="\r\n")).group(1)


def records(host: str, port: int) -> int:
    """How many records the server holds now; evicted ones are not among them."""
    return int(re.search(r"^STAT curr_items (\d+)", _stats(host, port), re.M).group(1))


def settings(host: str, port: int) -> dict[str, str]:
    """All settings, as `stats settings` tells them."""
    reply = ask(host, port, "stats settings\r\n", until="END\r\n")
    return dict(re.findall(r"^STAT (\S+) (.*)\r$", reply, re.M))


def _stats(host: str, port: int) -> str:
    return ask(host, port, "stats\r\n", until="END\r\n")


def empty(host: str, port: int) -> None:
    """Forget all records; ValueError when some are still there after ten seconds.

    ``flush_all`` only marks them, to the second, and the server counts them until
    its crawler has passed.
    """
    end = time.monotonic() + 10
    while records(host, port):
        if time.monotonic() > end:
            raise ValueError("the server still holds records after flush_all")
        ask(host, port, "flush_all\r\n", until="\r\n")
        ask(host, port, "lru_crawler crawl all\r\n", until="\r\n")
        time.sleep(0.1)


def counters(host: str, port: int) -> dict[str, int]:
    """Commands of each kind (add, set and replace are cmd_set), hits, misses, and evictions."""
    kinds = r"^STAT (cmd_\w+|\w+_hits|\w+_misses|evictions) (\d+)\r$"
    matches = re.findall(kinds, _stats(host, port), re.M)
    return {name: int(count) for name, count in matches}


def record_bytes(host: str, port: int) -> float | None:
    """Mean size of an item: its key, its value and about 60 bytes of Memcached's own."""
    matches = dict(re.findall(r"^STAT (bytes|curr_items) (\d+)\r$", _stats(host, port), re.M))
    items = int(matches["curr_items"])
    return int(matches["bytes"]) / items if items else None
