"""Queries of Redis and Valkey, in their protocol (for their ``verbs.py``)."""

import re

from kvstudy.stores.ask import ask

# Number and summed bytes of the first 1 000 records of the index (of any, where records are plain
# strings and have no index); those that are gone are left out.
SIZES = (
    "local n, bytes, keys = 0, 0, redis.call('ZRANGE', '_indices', 0, 999) "
    "if #keys == 0 then keys = redis.call('SCAN', 0, 'COUNT', 1000)[2] end "
    "for _, key in ipairs(keys) do "
    "local size = redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) "
    "if size then n = n + 1 bytes = bytes + size end end "
    "return bytes .. ' bytes in ' .. n .. ' records'"
)


def server_info(host: str, port: int) -> dict[str, str]:
    """Return the server's INFO by name; ValueError while it loads its data."""
    answer = ask(host, port, "INFO server\r\n", until="executable:")
    info = dict(re.findall(r"^(\w+):(\S+)", answer, re.M))
    if "redis_version" not in info:
        raise ValueError(f"{host}:{port}: {answer[:80]!r} shows no version")
    return info


def settings(host: str, port: int) -> dict[str, str]:
    """All settings, as CONFIG GET shows them."""
    answer = ask(host, port, "CONFIG GET *\r\nPING\r\n", until="+PONG\r\n")
    texts = re.findall(r"\$\d+\r\n([^\r\n]*)\r\n", answer)
    return dict(zip(texts[::2], texts[1::2], strict=True))


def records(host: str, port: int) -> int:
    """Return the number of YCSB's records: those in its index that exist, or all keys.

    A record that the server evicts stays in the index.
    """
    keys = int(ask(host, port, "DBSIZE\r\n", until="\r\n").removeprefix(":"))
    indexed = int(ask(host, port, "ZCARD _indices\r\n", until="\r\n").removeprefix(":"))
    # The index is a key too.
    return min(indexed, keys - 1) if indexed else keys


def empty(host: str, port: int) -> None:
    """Delete all records and the index."""
    ask(host, port, "FLUSHDB\r\n", until="+OK")


def counters(host: str, port: int) -> dict[str, int]:
    """Calls of each command, keys dropped, and lookups by readers that found theirs or did not."""
    commands = ask(host, port, "INFO commandstats\r\n", until="\r\n\r\n")
    calls = re.findall(r"^cmdstat_([^:]+):calls=(\d+)", commands, re.M)
    counted = {name.upper(): int(count) for name, count in calls}
    stats = ask(host, port, "INFO stats\r\n", until="\r\n\r\n")
    kinds = r"^(keyspace_hits|keyspace_misses|evicted_keys|expired_keys):(\d+)"
    return counted | {name: int(count) for name, count in re.findall(kinds, stats, re.M)}


def record_bytes(host: str, port: int) -> float | None:
    """Mean memory of a record's hash: its key, its fields and what holds them."""
    answer = ask(host, port, f'EVAL "{SIZES}" 0\r\n', until=" records", timeout=10)
    size, count = map(int, re.search(r"(\d+) bytes in (\d+)", answer).groups())
    return size / count if count else None
