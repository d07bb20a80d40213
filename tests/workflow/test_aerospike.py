"""Aerospike's configuration, life cycle and verbs, on a pretended asd with recorded answers."""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from pathlib import Path

import psutil
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.stores.definition import load_store
from kvstudy.stores.docker import DockerServer
from kvstudy.stores.native import NativeServer, missing_requirement
from kvstudy.stores.server import HOST, free_port, running_server

ROOT = Path(__file__).parents[2]
STORE = load_store(ROOT / "envs" / "stores" / "aerospike")
VERBS = STORE.verbs


@pytest.fixture
def asd(tmp_path, monkeypatch):
    """Makes a server of the pretended asd, which behaves as the word says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", f"{ROOT}/tests/pretend/aerospike:{os.environ['PATH']}")

    def make(behaviour: str = "", store=STORE) -> NativeServer:
        monkeypatch.setenv("PRETEND_ASD", behaviour)
        return NativeServer(store, free_port(), tmp_path / "data", tmp_path / "log")

    return make


def run(server: NativeServer):
    return running_server(server.store, server, server.log)


def test_the_configuration_stays_on_loopback_and_in_the_cells_folder(asd, tmp_path):
    server = asd()
    (text,) = server.files.values()
    assert re.findall(r"address (\S+)", text) == [HOST] * 3
    ports = re.findall(r"\bport (\d+)", text)
    assert int(ports[0]) == server.port
    assert len(set(ports)) == 3
    folders = re.findall(r" (/\S+)", text)
    assert folders
    assert all(folder.startswith(str(tmp_path / "data")) for folder in folders)
    assert "$" not in text


def test_a_container_gets_the_same_configuration(tmp_path):
    server = DockerServer(STORE, free_port(), tmp_path / "data", tmp_path / "log")
    ((path, text),) = server.files.items()
    inside = "/opt/aerospike/etc/aerospike.conf"
    assert f"--volume={path}:{inside}:ro" in server.command
    assert server.command[-3:] == ["/usr/bin/asd", "--config-file", inside]
    assert re.findall(r"address (\S+)", text) == [HOST] * 3
    assert "work-directory /opt/aerospike\n" in text
    assert f"port {server.port}\n" in text


def test_life_cycle(asd):
    server = asd()
    with run(server) as version:
        assert version == "8.1.2.0"
        assert VERBS.records(server.host, server.port) == 0
        assert VERBS.record_bytes(server.host, server.port) is None
        (pid,) = (
            c.pid
            for c in psutil.net_connections("tcp")
            if c.laddr.port == server.port and c.status == "LISTEN"
        )
    assert not psutil.pid_exists(pid)
    with pytest.raises(OSError, match="refused"):
        VERBS.version(server.host, server.port)


def test_the_shown_commands_write_the_configuration(asd, tmp_path):
    server = asd()
    *preparing, start = server.commands()["start"]
    for line in preparing:
        assert os.system(line) == 0
    assert (tmp_path / "data" / "aerospike.conf").read_text() == next(iter(server.files.values()))
    assert (tmp_path / "data" / "smd").is_dir()
    assert start.endswith(f"asd --config-file {tmp_path}/data/aerospike.conf &")


def test_an_open_port_is_not_readiness(asd):
    server = asd("stable-after-0.7")
    began = time.monotonic()
    with run(server):
        assert time.monotonic() - began >= 0.7
        assert "soon there will be cake" in server.log.read_text()


def test_it_never_gets_stable(asd):
    server = asd("stable-after-600", STORE.model_copy(update={"ready_seconds": 2}))
    with (
        pytest.raises(KvstudyError, match=r"did not get ready in 2 s .*ERROR:7:unstable cluster"),
        run(server),
    ):
        pass
    assert server.died() == "was killed by SIGKILL"


def test_it_refuses_to_start(asd):
    with (
        pytest.raises(KvstudyError, match=r"exit status 1 .*system file descriptors not enough"),
        run(asd("refuses")),
    ):
        pass


def test_it_dies_before_it_is_stable(asd):
    with (
        pytest.raises(KvstudyError, match=r"exit status 11 before it was ready.*SIGSEGV"),
        run(asd("dies-at-cluster-stable stable-after-600")),
    ):
        pass


def test_it_dies_later(asd):
    server = asd("dies-at-namespace/ycsb")
    with run(server):
        assert server.died() is None
        with pytest.raises(ConnectionError, match="closed the connection after 0 bytes"):
            VERBS.records(server.host, server.port)
        server._process.wait(10)
        assert server.died() == "ended with exit status 11"


def test_without_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/nowhere")
    assert "no program asd on this machine: run 'make servers STORES=aerospike'" in sentence(
        missing_requirement(STORE)
    )


def test_what_a_loaded_server_tells(asd):
    # Recorded after 500 inserts, 509 reads and 491 updates that left one field each.
    server = asd("loaded")
    with run(server):
        assert VERBS.records(server.host, server.port) == 500
        assert VERBS.record_bytes(server.host, server.port) == pytest.approx(534.848)
        reply = VERBS.counters(server.host, server.port)
    assert reply["client_read_success"] == 509
    assert reply["client_write_success"] == 991
    assert reply["client_read_not_found"] == 0
    assert all(name.split("_")[1] in ("read", "write", "delete") for name in reply)


def test_emptying_waits_until_the_records_are_gone(asd):
    server = asd("loaded empty-after-0.4")
    with run(server):
        began = time.monotonic()
        VERBS.empty(server.host, server.port)
        assert time.monotonic() - began >= 0.4
        assert VERBS.records(server.host, server.port) == 0


def test_a_server_without_the_namespace(asd, monkeypatch):
    monkeypatch.setattr(VERBS, "NAMESPACE", "absent")
    server = asd()
    with run(server), pytest.raises(KvstudyError, match="no namespace 'absent'; add it to"):
        VERBS.records(server.host, server.port)


def test_a_question_that_the_server_does_not_know(asd):
    server = asd()
    with run(server), pytest.raises(ValueError, match="nonsense: ERROR:4:unrecognized command"):
        VERBS._ask(server.host, server.port, "nonsense")


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", ValueError, "does not speak Aerospike's"),
        (b"\x02\x01\0\0\x7f\xff\xff\xff", ValueError, "does not speak Aerospike's"),
        (b"\x02\x01\0\0\0\0\0\x06ab\tok\n", ValueError, "no answer|ok"),
        (b"\x02\x01\0\0\0\0\0\x20build\t8", ConnectionError, "closed the connection after 7"),
        (b"", ConnectionError, "closed the connection after 0"),
    ],
)
def test_something_else_answers(answer, error, words):
    with socket.create_server((HOST, 0)) as other:
        thread = threading.Thread(target=_answer, args=(other, answer))
        thread.start()
        with pytest.raises(error, match=words):
            VERBS._ask(*other.getsockname(), "build")
        thread.join()


def _answer(server: socket.socket, text: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(1000)
        connection.sendall(text)


def test_a_server_that_never_answers(monkeypatch):
    monkeypatch.setattr(VERBS, "TIMEOUT", 0.2)
    with socket.create_server((HOST, 0)) as silent, pytest.raises(OSError, match="timed out"):
        VERBS.version(*silent.getsockname())
