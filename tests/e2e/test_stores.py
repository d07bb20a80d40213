"""One small cell of each store on its real server, as a program of this machine, to raw logs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import psutil
import pytest
import yaml
from kvstudy.logs.ycsb.parse import parse
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import missing
from kvstudy.stores.server import free_port

ROOT = Path(__file__).parents[2]
RECORDS, OPERATIONS = 500, 1000
# Each store with the server versions that its folder is made for.
STORES = {
    "redis": r"\d+\.\d+\.\d+",
    "memcached": r"\d+\.\d+\.\d+",
    "mongodb": r"[6-8]\.\d+\.\d+",
    "cassandra": r"5\.0\.\d+",
    "mysql": r"5\.[67]\.\d+|[89]\.\d+\.\d+",
    "mariadb": r"1\d\.\d+\.\d+",
    "aerospike": r"[78]\.\d+\.\d+\.\d+",
    "riak": r"[23]\.\d+\.\d+",
}
# No package registry has their servers: tested where somebody installed them.
BY_HAND = {"aerospike", "riak"}
# Their cells are repeated by hand too: one without a table, one that must be prepared.
PASTED = {"redis", "mariadb"}

STUDY = {
    "name": "small",
    "title": "A small cell",
    "question": "Does the store run here?",
    "workloads": ["a"],
    "parameters": {"records": RECORDS, "operations": OPERATIONS, "threads": 4},
    "repetitions": 1,
}


@pytest.fixture
def with_servers(project: Path) -> Path:
    """A project folder with the bindings and the installed servers of this clone."""
    for name in ("servers", "workflow"):
        (project / name).symlink_to(ROOT / name)
    return project


@pytest.mark.parametrize("name", STORES)
def test_a_small_cell(name, with_servers):
    problem = missing(load_store(with_servers / "envs/stores" / name))
    if problem and (name in BY_HAND or not os.environ.get("CI")):
        pytest.skip(problem)
    assert not problem
    study = with_servers / "config/studies/small/study.yaml"
    study.parent.mkdir()
    study.write_text(yaml.safe_dump(STUDY | {"stores": [name]}))
    cell = f"{name}/a/r{RECORDS}_o{OPERATIONS}_t4/rep1"
    done = subprocess.run(
        ["kvstudy", "measure", cell, "--study", str(study), "--provider", "native"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    raw = with_servers / "results/small/raw" / cell
    server = json.loads((raw / "manifest.json").read_text())["server"]
    assert re.fullmatch(STORES[name], server["version"])
    assert server["records"] == {"load": RECORDS, "run": RECORDS}
    run = parse((raw / "run.out").read_text(), "run.out")
    assert (run.attempted, run.failed) == (OPERATIONS, 0)
    assert programs_in(with_servers) == []
    if name in PASTED:
        paste(study, with_servers)


def paste(study: Path, project: Path) -> None:
    """Repeat the cell by hand: its lines of commands.txt, in bash, in an empty folder."""
    told = subprocess.run(
        ["kvstudy", "commands", study.parent.name], check=True, capture_output=True, text=True
    )
    # After the measured cell come those that are not measured.
    head, block, *_ = re.split(r"^# -+\n", told.stdout, flags=re.M)
    empty = project / "empty"
    empty.mkdir()
    done = subprocess.run(
        ["bash"],
        input=head + block,
        cwd=empty,
        env=os.environ | {"PORT": str(free_port()), "WORK": str(project / "work")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    # Of the load and of the run, one after the other.
    logs = re.split(r"^(?=\[OVERALL\], RunTime)", done.stdout, flags=re.M)[1:]
    load, run = (parse(log, "pasted") for log in logs)
    assert (load.attempted, run.attempted, run.failed) == (RECORDS, OPERATIONS, 0)
    assert list(empty.iterdir()) == []
    assert programs_in(project) == []


def programs_in(folder: Path) -> list[str]:
    """Command lines of the processes of others that work in ``folder`` or name it."""
    found = []
    for process in psutil.process_iter(["pid", "cwd", "cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        here = process.info["cwd"] == str(folder) or str(folder) in line
        if here and process.pid != os.getpid():
            found.append(line)
    return found
