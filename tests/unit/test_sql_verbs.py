"""MySQL and MariaDB are two stores: neither program nor server passes for the other."""

from __future__ import annotations

import os
from pathlib import Path

import pymysql
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores import native
from kvstudy.stores.definition import load_store

STORES = Path(__file__).parents[2] / "envs" / "stores"
MARIADB = "mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)"
MYSQL = "mysqld  Ver 8.0.46-0ubuntu0.24.04.3 for Linux on x86_64 ((Ubuntu))"


def a_program(folder: Path, name: str, version: str) -> None:
    folder.mkdir(parents=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)


@pytest.fixture
def empty(tmp_path, monkeypatch) -> Path:
    """A folder without servers/, with an empty one on the path before all others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def test_mariadbs_mysqld_is_not_mysql(empty):
    a_program(empty / "bin", "mysqld", MARIADB)
    problem = native.missing(load_store(STORES / "mysql"))
    assert f"{empty}/bin/mysqld is MariaDB, not MySQL" in problem
    assert "envs/stores/mysql/install" in problem


def test_an_installed_mysqld_is_mysql(empty):
    a_program(empty / "bin", "mysqld", MYSQL)
    assert native.missing(load_store(STORES / "mysql")) is None


def test_the_package_comes_before_an_installed_mysqld(empty):
    a_program(empty / "bin", "mysqld", MARIADB)
    a_program(empty / "servers" / "mysql", "mysqld", "mysqld  Ver 5.6.24 for linux-glibc2.5")
    store = load_store(STORES / "mysql")
    assert native.missing(store) is None
    assert native.find_program(store) == f"{empty}/servers/mysql/mysqld"


@pytest.fixture
def telling(monkeypatch):
    """A store's verbs, whose driver gets this answer."""

    class Cursor:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def execute(self, sql):
            if isinstance(self.row, Exception):
                raise self.row

        def fetchone(self):
            return self.row

    class Connection(Cursor):
        def cursor(self):
            return cursor

    cursor = Cursor()

    def verbs(store, row):
        cursor.row = row
        monkeypatch.setattr(pymysql, "connect", lambda **_: Connection())
        return load_store(STORES / store).verbs

    return verbs


@pytest.mark.parametrize(
    ("store", "row", "version"),
    [
        ("mysql", ("5.6.24", "MySQL Community Server (GPL)"), "5.6.24"),
        ("mysql", ("5.6.51-log", "MySQL Community Server (GPL)"), "5.6.51"),
        ("mysql", ("8.0.46-0ubuntu0.24.04.3", "(Ubuntu)"), "8.0.46"),
        ("mariadb", ("10.11.19-MariaDB-0+deb12u1", "Debian 12"), "10.11.19"),
        (
            "mariadb",
            ("10.11.19-MariaDB-ubu2204-log", "mariadb.org binary distribution"),
            "10.11.19",
        ),
    ],
)
def test_version(telling, store, row, version):
    assert telling(store, row).version("127.0.0.1", 1) == version


@pytest.mark.parametrize(
    ("store", "row", "message"),
    [
        ("mysql", ("10.11.19-MariaDB-0+deb12u1", "Debian 12"), "is MariaDB .*not MySQL"),
        ("mysql", ("10.11.19", "MariaDB Server"), "is MariaDB .*not MySQL"),
        ("mariadb", ("5.6.24", "MySQL Community Server (GPL)"), "is not MariaDB .*the store mysql"),
    ],
)
def test_the_other_server_is_refused_at_once(telling, store, row, message):
    with pytest.raises(KvstudyError, match=message):
        telling(store, row).version("127.0.0.1", 1)


@pytest.mark.parametrize("store", ["mysql", "mariadb"])
def test_a_server_that_is_not_ready_is_an_oserror(telling, store):
    verbs = telling(store, pymysql.err.OperationalError(2013, "Lost connection"))
    for ask in (verbs.version, verbs.records):
        with pytest.raises(OSError, match="Lost connection"):
            ask("127.0.0.1", 1)
