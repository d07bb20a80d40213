"""Two servers of one store with other arguments, real ones, up to what the report says of them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.stores import native
from kvstudy.stores.configuration import record_settings
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, running_server

from tests.e2e.pipeline import measured_tiny
from tests.formats_support import text_of
from tests.project import ROOT, edit

PERSISTENCE = {
    "description": "When is a write on disk?",
    "default": "snapshots",
    "choices": {
        "snapshots": {"title": "snapshots only"},
        "always": {
            "title": "each write flushed",
            "arguments": ["--appendonly", "yes", "--appendfsync", "always"],
        },
    },
}
MEMORY = {
    "description": "How large are its buffers?",
    "default": "shipped",
    "choices": {
        "shipped": {"title": "shipped buffers"},
        "large": {"title": "large buffers", "arguments": ["-c", "shared_buffers=256MB"]},
    },
}


def test_the_report_says_with_which_arguments_servers_ran(clone):
    stores = ["redis", {"store": "redis", "name": "always", "options": {"persistence": "always"}}]
    for store, name, option in (
        ("redis", "persistence", PERSISTENCE),
        ("postgresql", "memory", MEMORY),
    ):
        path = clone / "envs/stores" / store / "store.yaml"
        edit(path, lambda data, of={name: option}: data.setdefault("options", {}).update(of))
    problem = native.missing_requirement(load_store(ROOT / "envs/stores/postgresql"))
    if problem and os.environ.get("CI"):
        pytest.fail(problem)
    if not problem:
        stores.append({"store": "postgresql", "options": {"memory": "large"}})
    change = {"stores": stores}
    results = measured_tiny(clone, "smoke", lambda study: study.update(change), "report/{run}.pdf")
    stores_data = json.loads((results / "environment.json").read_text())["stores"]
    assert stores_data["redis"]["settings"] == {"appendfsync": "everysec", "appendonly": "no"}
    assert stores_data["always"]["settings"] == {"appendfsync": "always", "appendonly": "yes"}
    words = " ".join(text_of(clone / f"report/{results.name}.pdf").split())
    assert "Redis (each write flushed)" in words
    assert "persistence: each write flushed" in words
    assert "--appendonly yes --appendfsync always" in words
    assert "the server reports appendfsync always and appendonly yes" in words
    assert "All servers run with their default settings" not in words
    assert "All other servers run with their default settings" in words
    machine = pd.read_csv(results / "tables/machine.csv").set_index("component")
    details = machine.loc["Redis (each write flushed)", "details"]
    assert details == "native, --appendonly yes --appendfsync always"
    if not problem:
        assert stores_data["postgresql"]["settings"] == {"shared_buffers": "256MB"}
        assert "the server reports shared_buffers 256MB" in words


@pytest.mark.parametrize(
    "name",
    ["redis", "valkey", "memcached", "postgresql", "mysql", "mariadb", "mongodb", "cassandra"],
)
def test_a_server_says_the_same_of_itself_in_each_cell(folder, name):
    """With another port and another folder; otherwise every cell would be unlike the others."""
    store = load_store(Path("envs/stores") / name)
    problem = native.missing_requirement(store)
    if problem and os.environ.get("CI"):
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    result = []
    for cell in map(Path, ("one", "two")):
        cell.mkdir()
        server = NativeServer(store, free_port(), cell / "data", cell / "server.log")
        with running_server(store, server, server.log):
            assert record_settings(store, server, cell)
        result.append(json.loads((cell / "settings.json").read_text()))
    assert result[0] == result[1]
    assert result[0]
