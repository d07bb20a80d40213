"""Provider external: a server of somebody else is measured, and left as it is."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, running_server

ROOT = Path(__file__).parents[2]
CELL = "{store}/a/r1000_o10000_t2/rep1"


@pytest.fixture(params=["redis", "memcached"])
def theirs(request, project, tmp_path):
    """A running server that the pipeline did not start, with its store's definition."""
    store = load_store(ROOT / "envs" / "stores" / request.param)
    server = NativeServer(store, free_port(), tmp_path / "theirs", tmp_path / "theirs.log")
    (project / "workflow").symlink_to(ROOT / "workflow")
    with running_server(store, server, server.log):
        yield store, server


def measure(store, server, *options: str) -> subprocess.CompletedProcess[str]:
    folder = Path("config/studies/theirs")
    folder.mkdir(exist_ok=True)
    study = {
        "name": "theirs",
        "title": "A server that runs already",
        "question": "Does it work?",
        "stores": [store.name],
        "workloads": ["a"],
        "parameters": {"records": 1000, "operations": 10000, "threads": 2},
        "repetitions": 1,
    }
    (folder / "study.yaml").write_text(yaml.safe_dump(study))
    command = [
        "kvstudy",
        "measure",
        CELL.format(store=store.name),
        "--study",
        f"{folder}/study.yaml",
    ]
    command += ["--provider", "external", "--address", f"{server.host}:{server.port}"]
    # With records of its own: those of this process name the server, which would be
    # ended as a leftover.
    environment = os.environ | {"KVSTUDY_STATE": str(Path("my-state").absolute())}
    return subprocess.run([*command, *options], capture_output=True, text=True, env=environment)


def test_it_is_measured_and_goes_on_running(theirs):
    store, server = theirs
    done = measure(store, server)
    assert done.returncode == 0, done.stderr
    raw = Path("results/theirs/raw", CELL.format(store=store.name))
    data = json.loads((raw / "manifest.json").read_text())["server"]
    assert data["provider"] == "external"
    assert data["version"] == store.verbs.version(server.host, server.port)
    assert server.died() is None
    assert store.verbs.records(server.host, server.port) == 1000


def test_its_data_is_deleted_only_with_consent(theirs):
    store, server = theirs
    assert measure(store, server).returncode == 0
    refused = measure(store, server)
    assert refused.returncode == 3
    assert "holds 1000 records; a cell needs an empty one" in refused.stderr
    assert "external.delete_all_data: true" in refused.stderr
    assert store.verbs.records(server.host, server.port) == 1000
    assert measure(store, server, "--delete-all-data").returncode == 0


def test_an_address_that_nobody_answers(theirs):
    store, server = theirs
    server.stop()
    done = measure(store, server)
    assert done.returncode == 3
    assert f"server at 127.0.0.1:{server.port} does not answer" in done.stderr
