"""What is asked of a Valkey server, in Redis's protocol."""

from kvstudy.errors import KvstudyError
from kvstudy.stores.resp import counters, empty, record_bytes, records, server_info, settings

__all__ = ["counters", "empty", "record_bytes", "records", "settings", "version"]


def version(host: str, port: int) -> str:
    """The server's version. Redis is refused: it is another store."""
    of = server_info(host, port)
    if "valkey_version" not in of:
        raise KvstudyError(
            f"the server at {host}:{port} is not Valkey (Redis {of['redis_version']}?); "
            "measure it as the store redis"
        )
    return of["valkey_version"]
