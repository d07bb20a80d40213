"""The commands that make a server's data folder ready."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, running_server


def a_server(project: Path, *prepare: str) -> NativeServer:
    """The pretended server, prepared with shell lines."""
    store = load_store(Path("envs/stores/pretend"))
    changes = {"prepare": [["sh", "-c", line, "sh", "{data}"] for line in prepare]}
    native = store.native.model_copy(update=changes)
    store = store.model_copy(update={"native": native})
    return NativeServer(store, free_port(), project / "data", project / "server.log")


def test_the_server_starts_when_they_are_done(pretend_study, project):
    server = a_server(project, 'echo 1 > "$1/made"', 'grep -q 1 "$1/made" && echo 2 > "$1/made"')
    with running_server(server.store, server, project / "server.log"):
        assert (project / "data" / "made").read_text() == "2\n"


def test_one_that_fails_is_told_with_its_last_words(pretend_study, project):
    server = a_server(project, "echo no space left >&2; exit 3", 'echo 1 > "$1/made"')
    with (
        pytest.raises(KvstudyError, match=r"Pretend: sh .* exit status 3: no space left"),
        running_server(server.store, server, project / "server.log"),
    ):
        pass
    assert not (project / "data" / "made").exists()


def test_a_program_that_is_not_there(pretend_study, project):
    server = a_server(project, "exec nobody-has-this")
    with pytest.raises(KvstudyError, match=r"nobody-has-this"):
        server.start()


def test_what_it_leaves_running_is_ended_at_once(pretend_study, project):
    server = a_server(project, 'sleep 300 & echo $! > "$1/pid"')
    began = time.monotonic()
    with running_server(server.store, server, project / "server.log"):
        assert time.monotonic() - began < 60
        assert not psutil.pid_exists(int((project / "data" / "pid").read_text()))
