"""Riak's start, readiness and end, on a node that is pretended but for its answers."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import Store, load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import HOST, free_port, running_server
from kvstudy.study.parts import StoreUse

TESTS = Path(__file__).parents[1]


@pytest.fixture
def riak(project: Path) -> Store:
    release = project / "servers/riak"
    release.parent.mkdir()
    release.symlink_to(TESTS / "pretend/riak-release")
    return load_store(Path("envs/stores/riak"))


def a_node(store: Store, project: Path, name: str = "node") -> NativeServer:
    port = free_port(0, store.side_ports.values())
    return NativeServer(store, port, project / name, project / f"{name}.log")


def test_a_node_starts_serves_and_ends(riak, project):
    node = a_node(riak, project)
    with running_server(riak, node, node.log) as version:
        assert version == "3.2.3"
        assert riak.verbs.records(node.host, node.port) == 0
        assert riak.verbs.counters(node.host, node.port)["node_puts_total"] == 3
        assert riak.verbs.record_bytes(node.host, node.port) is None
        (process,) = [p for p in psutil.Process().children() if "foreground" in p.cmdline()]
    assert not process.is_running()
    assert node.log.read_text().split("\n")[-2] == "pretended: stopped"


def test_nothing_of_the_release_is_written(riak, project):
    release = TESTS / "pretend/riak-release"
    before = sorted(release.rglob("*"))
    node = a_node(riak, project)
    with running_server(riak, node, node.log):
        pass
    assert sorted(release.rglob("*")) == before
    settings = dict(
        line.split(" = ")
        for line in (project / "node/riak.conf").read_text().splitlines()
        if line and not line.startswith("#")
    )
    folders = [value for value in settings.values() if value.startswith("/")]
    assert len(folders) == 4
    assert all(folder.startswith(str(project)) for folder in folders)
    assert settings["strong_consistency"] == "on"
    # The templates may hold what Python would fill in: braces of Erlang.
    assert (
        "{kernel, [{inet_dist_use_interface, {127, 0, 0, 1}}]}"
        in (project / "node/advanced.config").read_text()
    )


def test_two_nodes_at_once(riak, project):
    first, second = a_node(riak, project, "first"), a_node(riak, project, "second")
    with running_server(riak, first, first.log), running_server(riak, second, second.log):
        ports = [
            {
                conn.laddr.port
                for conn in psutil.Process(node._process.pid).net_connections("tcp")
                if conn.status == "LISTEN"
            }
            for node in (first, second)
        ]
        assert [len(selected) for selected in ports] == [5, 5]
        assert not ports[0] & ports[1]


@pytest.mark.parametrize("behaviour", ["late", "deaf"])
def test_a_slow_start_is_waited_for(riak, project, monkeypatch, behaviour):
    monkeypatch.setenv("PRETEND_RIAK", behaviour)
    node = a_node(riak, project)
    began = time.monotonic()
    with running_server(riak, node, node.log):
        assert time.monotonic() - began > 1


def test_a_node_that_dies(riak, project, monkeypatch):
    monkeypatch.setenv("PRETEND_RIAK", "dies")
    node = a_node(riak, project)
    message = r"Riak KV server ended with exit status 1 before it was ready; .*schema_files_not_fou"
    with pytest.raises(KvstudyError, match=message), running_server(riak, node, node.log):
        pass


def test_bucket_types_that_are_refused(riak, project, monkeypatch):
    monkeypatch.setenv("PRETEND_RIAK", "refuses")
    riak = riak.model_copy(update={"ready_seconds": 5})
    node = a_node(riak, project)
    message = r"make-bucket-types .* ended with exit status 1: \{error, .*badmatch, ready"
    with pytest.raises(KvstudyError, match=message), running_server(riak, node, node.log):
        pass
    assert not [p for p in psutil.Process().children() if "foreground" in p.cmdline()]


def test_each_consistency_has_its_type_and_its_operations(riak, project):
    stores = {
        choice: load_store(riak.folder, StoreUse(store="riak", options={"consistency": choice}))
        for choice in riak.options["consistency"].choices
    }
    kinds = {name: store.ycsb.properties["riak.bucket_type"] for name, store in stores.items()}
    assert kinds == {
        "eventual": "ycsb_eventual",
        "eventual-fetch": "ycsb_eventual",
        "strong": "ycsb_strong",
    }
    updates = {name: store.ycsb.properties["riak.update"] for name, store in stores.items()}
    assert updates == {"eventual": "put", "eventual-fetch": "fetch_put", "strong": "fetch_put"}
    # What is compared with strong consistency must show the same of its update, up to its failures.
    reply = [stores[name].operations["update"] for name in ("eventual-fetch", "strong")]
    assert reply[1].startswith(reply[0])
    erlang = (riak.folder / "bucket_types.erl").read_text()
    assert all(f'<<"{kind}">>' in erlang for kind in kinds.values())


def exchanges() -> dict[str, tuple[bytes, bytes]]:
    """Question and answer of each recorded exchange."""
    result = {}
    for part in (TESTS / "data/riak/exchanges.txt").read_text().split("\n# ")[1:]:
        name, *lines = part.strip().splitlines()
        question, answer = (
            b"".join(bytes.fromhex(line[2:]) for line in lines if line.startswith(mark))
            for mark in "><"
        )
        result[name] = (question, answer)
    return result


@pytest.fixture
def recorded() -> Iterator:
    """A function that makes a server of recorded exchanges, told by name; returns its port."""
    sockets = []

    def start(*names: str, answers: dict[bytes, bytes] | None = None, hang_up: bool = False) -> int:
        known = dict(exchanges()[name] for name in names) | (answers or {})
        server = socket.create_server((HOST, 0))
        sockets.append(server)

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection, connection.makefile("rb") as questions:
                    while head := questions.read(4):
                        question = head + questions.read(int.from_bytes(head))
                        if question not in known:
                            break
                        connection.sendall(known[question])
                        if question in (answers or {}) and hang_up:
                            break

        threading.Thread(target=serve, daemon=True).start()
        return server.getsockname()[1]

    yield start
    for server in sockets:
        server.close()


TYPES = ("type of eventual consistency", "type of strong consistency")
BEFORE = ("eventual type before it is made", "strong type before it is made")


def test_records_of_both_types_are_counted(riak, recorded):
    port = recorded(TYPES[0], BEFORE[1], "keys of three records")
    assert riak.verbs.records(HOST, port) == 3


def test_deleted_records_of_a_strong_type_do_not_count(riak, recorded):
    # It lists them for ever.
    question, nothing = exchanges()["get of nothing"]
    # The binding also says how many copies must answer.
    rest = question[4:].replace(b"\x18\x01", b"")
    question = len(rest).to_bytes(4) + rest
    port = recorded(
        *TYPES,
        "keys of an empty bucket",
        "keys of a strong type, whose only record was deleted",
        answers={question: nothing},
    )
    assert riak.verbs.records(HOST, port) == 0


def test_the_size_of_a_record(riak, recorded):
    value = exchanges()["get of a value of five bytes"]
    others = {value[0].replace(b"user1", key): value[1] for key in (b"user2", b"user3")}
    port = recorded(
        TYPES[0], BEFORE[1], "keys of three records", "get of a value of five bytes", answers=others
    )
    assert riak.verbs.record_bytes(HOST, port) == 5


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (BEFORE, 'Invalid bucket type: <<"ycsb_eventual">>'),
        ((*TYPES, "get before the node serves any"), "closed the connection"),
    ],
)
def test_a_node_that_is_not_ready(riak, recorded, names, message):
    with pytest.raises((OSError, ValueError), match=message):
        riak.verbs.version(HOST, recorded("version", *names))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "closed the connection"),
        (b"\0\0\0\x05\x08\x0a\xff\xff\xff", "ends in a field"),
        (b"\0\0\0\x02\x63\0", "unexpected answer of code 99"),
        (b"\0\0\0\0", "closed the connection"),
        (b"", "closed the connection"),
    ],
)
def test_something_else_than_riak_answers(riak, recorded, answer, message):
    (question, _) = exchanges()["version"]
    with pytest.raises(ValueError, match=message):
        riak.verbs.version(HOST, recorded(answers={question: answer}, hang_up=True))


def test_nobody_listens(riak):
    port = free_port(0, [11])
    for verb in ("version", "records", "counters", "record_bytes", "empty"):
        with pytest.raises(OSError, match="refused"):
            getattr(riak.verbs, verb)(HOST, port)


def test_counters_need_http_at_its_distance(riak):
    port = free_port(0, [11])
    with pytest.raises(OSError, match=f":{port + 11}/stats: .*must be 11 ports above that for Pro"):
        riak.verbs.counters(HOST, port)
