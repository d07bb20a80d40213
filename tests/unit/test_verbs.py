"""What the stores' verbs do without a server, and that no store's server passes for another's."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path
from unittest.mock import MagicMock

import pymysql
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores import native, resp, sql
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import HOST, free_port

STORES = Path(__file__).parents[2] / "envs" / "stores"
MARIADB = "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"
MYSQL = "mysqld  Ver 8.0.46-0ubuntu0.24.04.3 for Linux on x86_64 ((Ubuntu))"


@pytest.mark.parametrize("verb", ["version", "records"])
@pytest.mark.parametrize(
    "store", ["cassandra", "dynamodb", "etcd", "mariadb", "mongodb", "mysql", "postgresql"]
)
def test_nobody_listens(store, verb):
    began = time.monotonic()
    with pytest.raises(OSError, match=r"refused|127\.0\.0\.1"):
        getattr(load_store(STORES / store).verbs, verb)(HOST, free_port())
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("store", "verb"), [("cassandra", "version"), ("mongodb", "version"), ("mongodb", "records")]
)
def test_a_server_that_never_answers(store, verb):
    with socket.create_server((HOST, 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(OSError, match=f"(?i){store} .*{HOST}:{port}: "):
            getattr(load_store(STORES / store).verbs, verb)(HOST, port)


def test_what_is_no_etcd_gives_no_good_answer():
    etcd = load_store(STORES / "etcd").verbs
    for answer in (b"-ERR unknown command\r\n", b"HTTP/1.0 200 OK\r\n\r\n{}"):
        with socket.create_server((HOST, 0)) as other:
            thread = threading.Thread(target=answer_once, args=(other, answer))
            thread.start()
            with pytest.raises(ValueError, match="is no etcd"):
                etcd.version(HOST, other.getsockname()[1])
            thread.join()


def answer_once(server: socket.socket, answer: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(answer)


def test_the_parts_of_cassandra_that_are_counted_are_the_whole_ring():
    parts = list(load_store(STORES / "cassandra").verbs._token_ranges())
    assert parts[0][0] == -(2**63)
    assert parts[-1][1] == 2**63 - 1
    ends = [last for _, last in parts[:-1]]
    assert [last + 1 for last in ends] == [first for first, _ in parts[1:]]


VALKEY = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n"
REDIS = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"


@pytest.mark.parametrize(
    ("store", "answer", "version"), [("redis", REDIS, "7.0.15"), ("valkey", VALKEY, "8.0.1")]
)
def test_redis_and_valkey_tell_their_versions(monkeypatch, store, answer, version):
    monkeypatch.setattr(resp, "ask", lambda *_, **__: answer + "executable:")
    assert load_store(STORES / store).verbs.version(HOST, 1) == version


@pytest.mark.parametrize(
    ("store", "answer", "message"),
    [
        ("redis", VALKEY, r"is Valkey 8\.0\.1, not Redis; measure it as the store valkey"),
        ("valkey", REDIS, r"is not Valkey \(Redis 7\.0\.15\?\); measure it as the store redis"),
    ],
)
def test_redis_and_valkey_do_not_pass_for_each_other(monkeypatch, store, answer, message):
    monkeypatch.setattr(resp, "ask", lambda *_, **__: answer + "executable:")
    with pytest.raises(KvstudyError, match=message):
        load_store(STORES / store).verbs.version(HOST, 1)


def test_a_server_that_loads_its_data_tells_no_version(monkeypatch):
    loading = "-LOADING Redis is loading the dataset in memory\r\n"
    monkeypatch.setattr(resp, "ask", lambda *_, **__: loading)
    with pytest.raises(ValueError, match="LOADING"):
        load_store(STORES / "redis").verbs.version(HOST, 1)


def mysqld(folder: Path, version: str) -> None:
    folder.mkdir(parents=True)
    path = folder / "mysqld"
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)


@pytest.fixture
def empty(tmp_path, monkeypatch) -> Path:
    """A folder without servers/, with an empty one on the path before all others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_mariadbs_mysqld_is_not_mysql(empty):
    mysqld(empty / "bin", MARIADB)
    problem = native.missing_requirement(load_store(STORES / "mysql"))
    assert f"{empty}/bin/mysqld is MariaDB, not MySQL" in problem
    assert "envs/stores/mysql/install" in problem


def test_an_installed_mysqld_is_mysql(empty):
    mysqld(empty / "bin", MYSQL)
    assert native.missing_requirement(load_store(STORES / "mysql")) is None


def test_the_package_comes_before_an_installed_mysqld(empty):
    mysqld(empty / "bin", MARIADB)
    mysqld(empty / "servers" / "mysql", "mysqld  Ver 5.6.24 for linux-glibc2.5")
    store = load_store(STORES / "mysql")
    assert native.missing_requirement(store) is None
    assert native.find_program(store) == f"{empty}/servers/mysql/mysqld"


@pytest.fixture
def cursor(monkeypatch) -> MagicMock:
    """That of the driver of MySQL and MariaDB, to which a test gives answers."""
    connection = MagicMock()
    monkeypatch.setattr(pymysql, "connect", lambda **_: connection)
    return connection.cursor.return_value.__enter__.return_value


@pytest.mark.parametrize(
    ("store", "row", "version"),
    [
        ("mysql", ("5.6.24", "MySQL Community Server (GPL)"), "5.6.24"),
        ("mysql", ("5.6.51-log", "MySQL Community Server (GPL)"), "5.6.51"),
        ("mysql", ("8.0.46-0ubuntu0.24.04.3", "(Ubuntu)"), "8.0.46"),
        ("mariadb", ("10.11.19-MariaDB-0+deb12u1", "Debian 12"), "10.11.19"),
        ("mariadb", ("10.11.19-MariaDB-ubu2204-log", "mariadb.org binary"), "10.11.19"),
    ],
)
def test_mysql_and_mariadb_tell_their_versions(cursor, store, row, version):
    cursor.fetchone.return_value = row
    assert load_store(STORES / store).verbs.version(HOST, 1) == version


@pytest.mark.parametrize(
    ("store", "row", "message"),
    [
        ("mysql", ("10.11.19-MariaDB-0+deb12u1", "Debian 12"), "is MariaDB .*not MySQL"),
        ("mysql", ("10.11.19", "MariaDB Server"), "is MariaDB .*not MySQL"),
        ("mariadb", ("5.6.24", "MySQL Community Server (GPL)"), "is not MariaDB .*the store mysql"),
    ],
)
def test_mysql_and_mariadb_do_not_pass_for_each_other(cursor, store, row, message):
    cursor.fetchone.return_value = row
    with pytest.raises(KvstudyError, match=message):
        load_store(STORES / store).verbs.version(HOST, 1)


@pytest.mark.parametrize("verb", ["version", "records"])
@pytest.mark.parametrize("store", ["mysql", "mariadb"])
def test_a_server_that_is_not_ready_is_an_oserror(cursor, store, verb):
    cursor.execute.side_effect = pymysql.err.OperationalError(2013, "Lost connection")
    with pytest.raises(OSError, match="Lost connection"):
        getattr(load_store(STORES / store).verbs, verb)(HOST, 1)


def test_a_table_has_the_workloads_columns(cursor):
    cursor.fetchall.return_value = []
    sql.create(HOST, 1, ["name", "price"])
    sql.create(HOST, 1)
    statements = [call.args[0] for call in cursor.execute.call_args_list]
    selected, core = (text for text in statements if text.startswith("CREATE TABLE"))
    assert "`NAME` TEXT, `PRICE` TEXT" in selected
    assert "`FIELD0` TEXT" in core
    assert "FIELD" not in selected
