"""What is asked of a PostgreSQL server, in SQL."""

import contextlib
import re
import time
from collections.abc import Iterator, Sequence

import psycopg
from psycopg import sql

# The layout of YCSB's JDBC binding, but with bytes: a text of PostgreSQL cannot hold all of them.
TABLE = "CREATE TABLE IF NOT EXISTS usertable (ycsb_key VARCHAR(255) PRIMARY KEY)"
# Seconds for the processes of clients that have left.
PATIENCE = 2
FIELDS = [f"field{number}" for number in range(10)]
COLUMNS = (
    "SELECT column_name FROM information_schema.columns "
    "WHERE table_name = 'usertable' AND column_name <> 'ycsb_key'"
)
# A server process counts for itself, at most once a second for all, and when its client has left.
OTHERS = (
    "SELECT 1 FROM pg_stat_activity WHERE datname = 'ycsb' AND pid <> pg_backend_pid() "
    "AND backend_type = 'client backend'"
)
COUNTERS = (
    "SELECT idx_tup_fetch, n_tup_ins, n_tup_upd, n_tup_del "
    "FROM pg_stat_user_tables WHERE relname = 'usertable'"
)

# The client's are those of this connection.
SETTINGS = (
    "SELECT name, current_setting(name) FROM pg_settings "
    "WHERE source NOT IN ('default', 'client', 'session')"
)


@contextlib.contextmanager
def connected(
    host: str, port: int, seconds: float = 2, database: str = "ycsb"
) -> Iterator[psycopg.Cursor]:
    """A cursor that commits by itself; OSError when no answer comes within ``seconds``."""
    try:
        with (
            psycopg.connect(
                host=host,
                port=port,
                user="postgres",
                dbname=database,
                connect_timeout=2,
                options=f"-c statement_timeout={1000 * seconds:.0f}",
                autocommit=True,
            ) as connection,
            connection.cursor() as cursor,
        ):
            yield cursor
    except psycopg.Error as error:
        raise OSError(f"{host}:{port}: {error}") from error


def version(host: str, port: int) -> str:
    """The server's version, such as ``15.18``."""
    with connected(host, port, database="postgres") as cursor:
        reply = cursor.execute("SHOW server_version").fetchone()[0]
    return re.match(r"\d+\.\d+", reply).group()


def settings(host: str, port: int) -> dict[str, str]:
    """The settings that are set anywhere: command line, configuration file, initdb."""
    with connected(host, port, database="postgres") as cursor:
        return dict(cursor.execute(SETTINGS).fetchall())


def create(host: str, port: int, fields: Sequence[str] = FIELDS) -> None:
    """The empty table with a column for each of the ``fields``; one that is there stays."""
    with connected(host, port, 30, "postgres") as cursor:
        if not cursor.execute("SELECT 1 FROM pg_database WHERE datname = 'ycsb'").fetchone():
            cursor.execute("CREATE DATABASE ycsb")
    with connected(host, port, seconds=30) as cursor:
        cursor.execute(TABLE)
        for field in fields:
            column = sql.Identifier(field.lower())
            cursor.execute(
                sql.SQL("ALTER TABLE usertable ADD COLUMN IF NOT EXISTS {} BYTEA").format(column)
            )


def records(host: str, port: int) -> int:
    """How many records the table holds; counting reads all of it."""
    with connected(host, port, seconds=600) as cursor:
        return cursor.execute("SELECT COUNT(*) FROM usertable").fetchone()[0]


def empty(host: str, port: int) -> None:
    """Delete all records; the table keeps its layout."""
    with connected(host, port, seconds=60) as cursor:
        if cursor.execute(COLUMNS).fetchone():
            cursor.execute("TRUNCATE usertable")


def counters(host: str, port: int) -> dict[str, int]:
    """Rows fetched by the table's index, inserted, updated, deleted; nothing without a table."""
    with connected(host, port) as cursor:
        end = time.monotonic() + PATIENCE
        while cursor.execute(OTHERS).fetchone() and time.monotonic() < end:
            time.sleep(0.02)
        row = cursor.execute(COUNTERS).fetchone()
        names = [column.name for column in cursor.description]
    return dict(zip(names, row, strict=True)) if row else {}


def record_bytes(host: str, port: int) -> float | None:
    """Mean length of a row: the bytes of its key and its fields."""
    with connected(host, port, seconds=600) as cursor:
        names = [sql.Identifier(name) for (name,) in cursor.execute(COLUMNS).fetchall()]
        fields = sql.SQL(" + ").join(
            sql.SQL("COALESCE(OCTET_LENGTH({}), 0)").format(name) for name in names
        )
        of = sql.SQL("SELECT AVG(LENGTH(ycsb_key) + {}) FROM usertable").format(fields)
        mean = cursor.execute(of).fetchone()[0]
    return None if mean is None else float(mean)
