"""What is asked of a Redis server."""

from kvstudy.errors import KvstudyError
from kvstudy.stores.resp import counters, empty, record_bytes, records, server_info, settings

__all__ = ["counters", "empty", "record_bytes", "records", "settings", "version"]


def version(host: str, port: int) -> str:
    """The server's version. Valkey is refused: it is another store."""
    of = server_info(host, port)
    if "valkey_version" in of:
        raise KvstudyError(
            f"the server at {host}:{port} is Valkey {of['valkey_version']}, not Redis; "
            "measure it as the store valkey"
        )
    return of["redis_version"]
