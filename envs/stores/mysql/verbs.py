"""What is asked of a MySQL server, in SQL."""

import contextlib
import re

import pymysql
from kvstudy.errors import KvstudyError

# The layout of YCSB's JDBC binding. Latin 1 is MySQL 5.6's own default: named, since a key of
# 255 characters does not fit into an index of 5.6 in the default of later servers.
TABLE = (
    "CREATE TABLE ycsb.usertable (YCSB_KEY VARCHAR(255) PRIMARY KEY, "
    + ", ".join(f"FIELD{number} TEXT" for number in range(10))
    + ") DEFAULT CHARSET=latin1"
)


def version(host: str, port: int) -> str:
    """The server's version. MariaDB is refused: it is another store."""
    with _connected(host, port) as cursor:
        cursor.execute("SELECT VERSION(), @@version_comment")
        told = " ".join(cursor.fetchone())
    if "mariadb" in told.lower():
        raise KvstudyError(
            f"the server at {host}:{port} is MariaDB ({told}), not MySQL; "
            "measure it as the store mariadb"
        )
    return re.match(r"\d+\.\d+\.\d+", told).group()


def create(host: str, port: int) -> None:
    """The empty table."""
    with _connected(host, port, seconds=30) as cursor:
        cursor.execute("CREATE DATABASE ycsb")
        cursor.execute(TABLE)


def records(host: str, port: int) -> int:
    """How many records the table holds; counting reads all of it."""
    with _connected(host, port, seconds=600) as cursor:
        cursor.execute("SELECT COUNT(*) FROM ycsb.usertable")
        return cursor.fetchone()[0]


@contextlib.contextmanager
def _connected(host: str, port: int, seconds: float = 2):
    """A cursor; OSError when the server does not answer within ``seconds``."""
    try:
        connection = pymysql.connect(
            host=host, port=port, user="root", connect_timeout=2, read_timeout=seconds
        )
        with connection, connection.cursor() as cursor:
            yield cursor
    except pymysql.Error as error:
        raise OSError(str(error)) from error
