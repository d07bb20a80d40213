"""What is asked of a Redis server, in its own protocol (inline commands)."""

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


def version(host: str, port: int) -> str:
    """The server's version; ValueError while it loads its data."""
    answer = ask(host, port, "INFO server\r\n", until="executable:")
    return re.search(r"^redis_version:(\S+)", answer, re.M).group(1)


def records(host: str, port: int) -> int:
    """How many records YCSB has stored: the members of its index, or all keys if there is none."""
    indexed = int(ask(host, port, "ZCARD _indices\r\n", until="\r\n").removeprefix(":"))
    return indexed or int(ask(host, port, "DBSIZE\r\n", until="\r\n").removeprefix(":"))


def empty(host: str, port: int) -> None:
    """Delete all records and the index."""
    ask(host, port, "FLUSHDB\r\n", until="+OK")


def counters(host: str, port: int) -> dict[str, int]:
    """Calls of each command, and lookups by readers that found their key or did not."""
    commands = ask(host, port, "INFO commandstats\r\n", until="\r\n\r\n")
    found = re.findall(r"^cmdstat_([^:]+):calls=(\d+)", commands, re.M)
    lookups = ask(host, port, "INFO stats\r\n", until="\r\n\r\n")
    found += re.findall(r"^(keyspace_(?:hits|misses)):(\d+)", lookups, re.M)
    return {
        name if name.startswith("keyspace_") else name.upper(): int(count) for name, count in found
    }


def record_bytes(host: str, port: int) -> float | None:
    """Mean memory of a record's hash: its key, its fields and what Redis needs to hold them."""
    answer = ask(host, port, f'EVAL "{SIZES}" 0\r\n', until=" records", timeout=10)
    size, count = map(int, re.search(r"(\d+) bytes in (\d+)", answer).groups())
    return size / count if count else None
