"""Queries of MySQL and MariaDB, in SQL (for their ``verbs.py``)."""

import contextlib
from collections.abc import Iterator, Sequence

import pymysql

# The layout of YCSB's JDBC binding. Latin 1 is the default of MySQL 5.6 and MariaDB 10.11, but
# not of their images: one layout everywhere. In utf8mb4, a key of 255 characters is too long for
# an index of MySQL 5.6.
TABLE = (
    "CREATE TABLE IF NOT EXISTS ycsb.usertable (YCSB_KEY VARCHAR(255) PRIMARY KEY, {}) "
    "DEFAULT CHARSET=latin1"
)
FIELDS = [f"field{number}" for number in range(10)]
COLUMNS = (
    "SELECT column_name FROM information_schema.columns WHERE table_schema = 'ycsb' "
    "AND table_name = 'usertable' AND column_name <> 'YCSB_KEY'"
)


@contextlib.contextmanager
def connected(host: str, port: int, seconds: float = 2) -> Iterator[pymysql.cursors.Cursor]:
    """A cursor of root; OSError when the server does not answer within ``seconds``."""
    try:
        connection = pymysql.connect(
            host=host, port=port, user="root", connect_timeout=2, read_timeout=seconds
        )
        with connection, connection.cursor() as cursor:
            yield cursor
    except pymysql.Error as error:
        raise OSError(f"{host}:{port}: {error}") from error


def server_version(host: str, port: int) -> str:
    """Return the server's version, such as ``5.6.24 MySQL Community Server (GPL)``."""
    with connected(host, port) as cursor:
        cursor.execute("SELECT VERSION(), @@version_comment")
        return " ".join(cursor.fetchone())


def settings(host: str, port: int) -> dict[str, str]:
    """All system variables."""
    with connected(host, port) as cursor:
        cursor.execute("SHOW GLOBAL VARIABLES")
        return dict(cursor.fetchall())


def create(host: str, port: int, fields: Sequence[str] = FIELDS) -> None:
    """The empty table with a column for each of the ``fields``.

    A table that is there stays. If it is empty, it gets the columns that it lacks.
    """
    columns = [f"`{field.upper()}` TEXT" for field in fields]
    with connected(host, port, seconds=30) as cursor:
        cursor.execute("CREATE DATABASE IF NOT EXISTS ycsb")
        cursor.execute(TABLE.format(", ".join(columns)))
        cursor.execute(COLUMNS)
        tables = {name.lower() for (name,) in cursor.fetchall()}
        lacking = [
            column for field, column in zip(fields, columns, strict=True) if field not in tables
        ]
        cursor.execute("SELECT 1 FROM ycsb.usertable LIMIT 1")
        if lacking and not cursor.fetchall():
            cursor.execute(f"ALTER TABLE ycsb.usertable ADD ({', '.join(lacking)})")


def records(host: str, port: int) -> int:
    """Return the number of records in the table; counting reads all of it."""
    with connected(host, port, seconds=600) as cursor:
        cursor.execute("SELECT COUNT(*) FROM ycsb.usertable")
        return cursor.fetchone()[0]


def empty(host: str, port: int) -> None:
    """Delete all records; the table keeps its layout."""
    with connected(host, port, seconds=60) as cursor:
        cursor.execute(COLUMNS)
        if cursor.fetchall():
            cursor.execute("TRUNCATE TABLE ycsb.usertable")


def counters(host: str, port: int) -> dict[str, int]:
    """Statements of each kind; a prepared one counts each time that it is executed."""
    with connected(host, port) as cursor:
        cursor.execute(r"SHOW GLOBAL STATUS LIKE 'Com\_%'")
        return {name: int(count) for name, count in cursor.fetchall()}


def record_bytes(host: str, port: int) -> float | None:
    """Mean length of a row: the bytes of its key and its fields."""
    with connected(host, port, seconds=600) as cursor:
        cursor.execute(COLUMNS)
        fields = " + ".join(f"COALESCE(LENGTH(`{name}`), 0)" for (name,) in cursor.fetchall())
        cursor.execute(f"SELECT AVG(LENGTH(YCSB_KEY) + {fields}) FROM ycsb.usertable")
        mean = cursor.fetchone()[0]
    return None if mean is None else float(mean)
