"""What can be seen of Cassandra's verbs without a server."""

import socket
from pathlib import Path

import pytest
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import free_port

STORE = load_store(Path(__file__).parents[2] / "envs" / "stores" / "cassandra")


def test_the_parts_that_are_counted_are_the_whole_ring():
    parts = list(STORE.verbs._token_ranges())
    assert parts[0][0] == -(2**63)
    assert parts[-1][1] == 2**63 - 1
    ends = [last for _, last in parts[:-1]]
    assert [last + 1 for last in ends] == [first for first, _ in parts[1:]]


def test_nobody_listens():
    with pytest.raises(OSError, match="refused"):
        STORE.verbs.version("127.0.0.1", free_port())


def test_a_server_that_does_not_speak_cql_is_an_oserror():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(OSError, match=f"Cassandra at 127.0.0.1:{port}: "):
            STORE.verbs.version("127.0.0.1", port)
