"""A store whose server and client are pretended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

PRETEND = Path(__file__).parents[1] / "pretend"

STORE = """
title: Pretend
color: "#000000"
ycsb: {db: pretend.Client, properties: {pretend.port: "{port}"}}
native:
  program: pretend-server
  command: [pretend-server, "{port}"]
  remedy: it is a part of the tests
ready_seconds: 1.5
"""

VERBS = """
from kvstudy.stores.ask import ask


def version(host, port):
    return ask(host, port, "?", until="\\r\\n").split()[1]


def records(host, port):
    return int(ask(host, port, "?", until="\\r\\n").split()[2])
"""


@pytest.fixture
def pretend_study(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of the store ``pretend`` with workload a and insert; returns its study.yaml."""
    monkeypatch.setenv("PATH", f"{PRETEND}:{os.environ['PATH']}")
    folder = project / "envs" / "stores" / "pretend"
    folder.mkdir()
    (folder / "store.yaml").write_text(STORE)
    (folder / "verbs.py").write_text(VERBS)
    library = project / "workflow" / "bindings" / "target" / "lib"
    library.mkdir(parents=True)
    (library / "kvstudy-bindings.jar").write_bytes(b"jar")
    path = Path("config/studies/small/study.yaml")
    path.parent.mkdir()
    study = {
        "name": "small",
        "title": "A small study",
        "question": "Does it work?",
        "stores": ["pretend"],
        "workloads": ["a", "insert"],
        "parameters": {"records": 1000, "operations": 2000, "threads": 2},
        "repetitions": 2,
    }
    path.write_text(yaml.safe_dump(study))
    return path
