"""Server and client on cores of their own, with a pretended server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import psutil
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port

from tests.project import CELL, measure

RAW = Path("results/small/raw") / CELL
HERE = sorted(os.sched_getaffinity(0))
several = pytest.mark.skipif(len(HERE) < 2, reason="this machine lets us use one core only")


def test_a_native_server_runs_on_its_cores_only(pretend_study, tmp_path):
    store = load_store(Path("envs/stores/pretend"))
    core = HERE[-1]
    server = NativeServer(store, free_port(), tmp_path / "data", tmp_path / "log", str(core))
    server.start()
    try:
        (pid,) = server.process_ids()
        # Until taskset has become the server.
        with psutil.Popen(["sleep", "0.5"]) as pause:
            pause.wait()
        running = psutil.Process(pid)
        assert "pretend-server" in " ".join(running.cmdline())
        assert "taskset" not in running.cmdline()
        assert running.cpu_affinity() == [core]
    finally:
        server.stop()


@several
def test_a_cell_with_cores_of_its_own(pretend_study):
    server, client = str(HERE[0]), str(HERE[1])
    measure(CELL, "--pin-cpus", f"{server}/{client}")
    manifest = json.loads((RAW / "manifest.json").read_text())
    assert manifest["pinning"] == {"server": server, "client": client}
    assert manifest["server"]["command"][:4] == ["taskset", "--cpu-list", server, "pretend-server"]
    assert manifest["phases"]["run"]["command"][:4] == ["taskset", "--cpu-list", client, "java"]
    commands = (RAW / "commands.sh").read_text()
    assert f"\ntaskset --cpu-list {server} pretend-server" in commands
    # The next cell, left to the kernel, would not be like it.
    other = CELL.replace("rep1", "rep2")
    with pytest.raises(KvstudyError) as error:
        measure(other)
    assert (
        f"cores of server and client: server {server}, client {client} (1 cell, {CELL}); "
        f"not bound (1 cell, {other} is next)" in str(error.value)
    )


def test_a_cell_that_is_left_to_the_kernel(pretend_study):
    measure()
    manifest = json.loads((RAW / "manifest.json").read_text())
    assert manifest["pinning"] is None
    assert "taskset" not in (RAW / "commands.sh").read_text()
    keys = {finding["key"] for finding in manifest["findings"]}
    assert keys >= {"governor", "load", "disk", "kernel"}
    assert manifest["java"]["version"] == "pretended java"
