"""What MongoDB's verbs do while there is no server: OSError, and soon."""

from __future__ import annotations

import socket
import time
from pathlib import Path

import pytest
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import HOST, free_port

VERBS = load_store(Path(__file__).parents[2] / "envs" / "stores" / "mongodb").verbs


@pytest.mark.parametrize("verb", [VERBS.version, VERBS.records])
def test_nobody_listens(verb):
    began = time.monotonic()
    with pytest.raises(OSError, match="refused"):
        verb(HOST, free_port())
    assert time.monotonic() - began < 1


@pytest.mark.parametrize("verb", [VERBS.version, VERBS.records])
def test_a_server_that_never_answers(verb):
    with socket.create_server((HOST, 0)) as silent:
        port = silent.getsockname()[1]
        began = time.monotonic()
        with pytest.raises(OSError, match=f"mongodb {HOST}:{port}: "):
            verb(HOST, port)
    assert time.monotonic() - began < 5
