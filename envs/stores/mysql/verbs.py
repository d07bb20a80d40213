"""What is asked of a MySQL server, in SQL."""

import re

from kvstudy.errors import KvstudyError
from kvstudy.stores.sql import (
    counters,
    create,
    empty,
    record_bytes,
    records,
    server_version,
    settings,
)

__all__ = ["counters", "create", "empty", "record_bytes", "records", "settings", "version"]


def version(host: str, port: int) -> str:
    """The server's version. MariaDB is refused: it is another store."""
    reply = server_version(host, port)
    if "mariadb" in reply.lower():
        raise KvstudyError(
            f"the server at {host}:{port} is MariaDB ({reply}), not MySQL; "
            "measure it as the store mariadb"
        )
    return re.match(r"\d+\.\d+\.\d+", reply).group()
