"""What the stores' verbs do while there is no server of theirs: OSError, and soon."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores import resp
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import HOST, free_port

STORES = Path(__file__).parents[2] / "envs" / "stores"


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
