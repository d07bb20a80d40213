"""What is asked of a Cassandra server, in CQL."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence

from cassandra import DriverException
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    Session,
)
from cassandra.connection import ConnectionException
from cassandra.policies import WhiteListRoundRobinPolicy

# The layout that YCSB's own binding documents; one node holds one copy.
KEYSPACE = (
    "CREATE KEYSPACE IF NOT EXISTS ycsb "
    "WITH REPLICATION = {'class': 'SimpleStrategy', 'replication_factor': 1}"
)
TABLE = "CREATE TABLE IF NOT EXISTS ycsb.usertable (y_id varchar PRIMARY KEY, {})"
FIELDS = [f"field{number}" for number in range(10)]

# Murmur3's tokens are all 64-bit numbers. The server ends a query after 10 s, which counting a
# million records in one piece would take.
TOKENS = 2**64
PARTS = 256


def version(host: str, port: int) -> str:
    """The server's version."""
    # It opens its port when it is ready; to be refused is cheaper here than in the driver.
    socket.create_connection((host, port), timeout=1).close()
    with _session(host, port, seconds=2) as session:
        return session.execute("SELECT release_version FROM system.local").one()[0]


def settings(host: str, port: int) -> dict[str, str]:
    """All settings of cassandra.yaml."""
    with _session(host, port, seconds=30) as session:
        rows = session.execute("SELECT name, value FROM system_views.settings")
        return {row.name: str(row.value) for row in rows}


def create(host: str, port: int, fields: Sequence[str] = FIELDS) -> None:
    """Make the empty table that YCSB needs, with a column for each of the ``fields``."""
    columns = ", ".join(f'"{field}" varchar' for field in fields)
    with _session(host, port, seconds=30) as session:
        session.execute(KEYSPACE)
        session.execute(TABLE.format(columns))


def empty(host: str, port: int) -> None:
    """Delete the table, which is made again by ``create``; snapshots that the server makes stay."""
    with _session(host, port, seconds=60) as session:
        session.execute("DROP TABLE IF EXISTS ycsb.usertable")


def records(host: str, port: int) -> int:
    """How many rows the table holds."""
    with _session(host, port, seconds=30) as session:
        count = session.prepare(
            "SELECT count(*) FROM ycsb.usertable WHERE token(y_id) >= ? AND token(y_id) <= ?"
        )
        return sum(session.execute(count, part).one()[0] for part in _token_ranges())


def counters(host: str, port: int) -> dict[str, int]:
    """What the node coordinated for the table: reads and writes of one row, scans of several.

    They are the counts of the virtual tables named like them and ``_latency``.
    """
    kinds = ("coordinator_read", "coordinator_write", "coordinator_scan")
    with _session(host, port, seconds=30) as session:
        counts = {}
        for kind in kinds:
            rows = session.execute(
                f"SELECT count FROM system_views.{kind}_latency "
                "WHERE keyspace_name = 'ycsb' AND table_name = 'usertable'"
            )
            counts[kind] = rows.one()[0]
    return counts


def record_bytes(host: str, port: int) -> float | None:
    """Mean length of the key and the columns of the first 1 000 rows, as they are read.

    On disk there are a timestamp and more for each column, and older values until
    they are compacted away; no table of the server tells that for a row.
    """
    with _session(host, port, seconds=30) as session:
        rows = list(session.execute("SELECT * FROM ycsb.usertable LIMIT 1000"))
    sizes = [sum(len(value.encode()) for value in row if value is not None) for row in rows]
    return sum(sizes) / len(sizes) if sizes else None


def _token_ranges() -> Iterator[tuple[int, int]]:
    """First and last token of each part of the ring."""
    size = TOKENS // PARTS
    for first in range(-TOKENS // 2, TOKENS // 2, size):
        yield first, first + size - 1


@contextlib.contextmanager
def _session(host: str, port: int, seconds: float) -> Iterator[Session]:
    """A session whose connecting and requests end after ``seconds``; failures are OSErrors."""
    profile = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([host]), request_timeout=seconds
    )
    cluster = Cluster(
        [host],
        port,
        protocol_version=5,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        connect_timeout=seconds,
        control_connection_timeout=seconds,
        schema_metadata_enabled=False,
        token_metadata_enabled=False,
    )
    try:
        yield cluster.connect()
    except (DriverException, NoHostAvailable, ConnectionException) as error:
        raise OSError(f"Cassandra at {host}:{port}: {' '.join(str(error).split())}") from None
    finally:
        cluster.shutdown()
