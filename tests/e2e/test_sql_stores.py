"""MySQL and MariaDB on their real servers: not to be confused, and emptied with care."""

from __future__ import annotations

import os
from pathlib import Path

import pymysql
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores import native
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, running_server
from kvstudy.stores.sql import connected

ROOT = Path(__file__).parents[2]


def skip_without(name: str) -> None:
    """Skip the test when the store's program is not installed; in CI it has to be."""
    problem = native.missing_requirement(load_store(Path("envs/stores") / name))
    if problem and os.environ.get("CI"):
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


def test_a_mariadb_server_never_passes_for_mysql(folder):
    skip_without("mariadb")
    mariadb, mysql = (load_store(Path("envs/stores") / name) for name in ("mariadb", "mysql"))
    server = NativeServer(mariadb, free_port(), folder / "data", folder / "server.log")
    with (
        running_server(mariadb, server, folder / "server.log"),
        pytest.raises(KvstudyError, match=r"is MariaDB .*not MySQL"),
    ):
        mysql.verbs.version(server.host, server.port)


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_empty_keeps_the_table(folder, name):
    skip_without(name)
    store = load_store(Path("envs/stores") / name)
    server = NativeServer(store, free_port(), folder / "data", folder / "server.log")
    with running_server(store, server, folder / "server.log"):
        address = (server.host, server.port)
        # There is nothing to be emptied yet.
        store.verbs.empty(*address)
        store.verbs.create(*address)
        with connected(*address) as cursor:
            cursor.execute("ALTER TABLE ycsb.usertable ADD FIELD10 TEXT")
            cursor.execute("INSERT INTO ycsb.usertable (YCSB_KEY, FIELD10) VALUES ('user1', 'x')")
            cursor.execute("COMMIT")
        store.verbs.create(*address)
        assert store.verbs.records(*address) == 1
        store.verbs.empty(*address)
        assert store.verbs.records(*address) == 0
        with connected(*address) as cursor:
            cursor.execute("SELECT FIELD10 FROM ycsb.usertable")


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_an_empty_table_gets_the_workloads_columns(folder, name):
    skip_without(name)
    store = load_store(Path("envs/stores") / name)
    server = NativeServer(store, free_port(), folder / "data", folder / "server.log")
    with running_server(store, server, folder / "server.log"):
        address = (server.host, server.port)
        store.verbs.create(*address)
        # A word of SQL may name a field too.
        store.verbs.create(*address, ["field0", "price", "order"])
        with connected(*address) as cursor:
            cursor.execute(
                "INSERT INTO ycsb.usertable (YCSB_KEY, PRICE, `ORDER`) VALUES ('prod1', '12', 'x')"
            )
            cursor.execute("COMMIT")
        assert store.verbs.record_bytes(*address) == len("prod1") + 3
        # A table with records stays as it is.
        store.verbs.create(*address, ["category"])
        with connected(*address) as cursor, pytest.raises(pymysql.err.OperationalError):
            cursor.execute("SELECT CATEGORY FROM ycsb.usertable")
