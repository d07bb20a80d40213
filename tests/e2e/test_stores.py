"""Every store on its real server, as a program of this machine: its cells, what one operation
makes it do, its commands, and the report of all stores."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.tidy.probes import Probes, collect_probes
from kvstudy.logs.ycsb.log import parse
from kvstudy.stores.definition import load_store
from kvstudy.stores.providers import missing_requirement
from kvstudy.stores.server import free_port
from kvstudy.study.load import load_study, study_path

from tests.e2e.pipeline import programs_in, reported_tiny

RECORDS, OPERATIONS = 1000, 2000
# Each store with the server versions that its folder is made for.
VERSIONS = {
    "redis": r"\d+\.\d+\.\d+",
    "memcached": r"\d+\.\d+\.\d+",
    "mongodb": r"[6-8]\.\d+\.\d+",
    "cassandra": r"5\.0\.\d+",
    "mysql": r"5\.[67]\.\d+|[89]\.\d+\.\d+",
    "mariadb": r"1\d\.\d+\.\d+",
    "postgresql": r"1\d\.\d+",
    "valkey": r"[89]\.\d+\.\d+",
    "etcd": r"3\.\d+\.\d+",
    "dynamodb": r"3\.\d+\.\d+",
    "aerospike": r"[78]\.\d+\.\d+\.\d+",
    "riak": r"[23]\.\d+\.\d+",
}
# They have no server that could count anything.
EMBEDDED = {"rocksdb": r"10(\.\d+){3}", "berkeleydb": r"18\.3\.12"}
# Under workload A all stores are measured, under the others those that differ most in it.
ONLY = {
    "b": ["memcached"],
    "c": ["mongodb"],
    "d": ["mariadb"],
    "e": ["cassandra", "postgresql", "rocksdb", "berkeleydb"],
    "f": ["mysql"],
    "insert": ["redis"],
}
# Commands that one operation takes, by the servers' names.
STATEMENT = {"Com_stmt_execute": 1.0}
COMMANDS = {
    "redis": {
        "insert": {"HSET": 1.0, "ZADD": 1.0},
        "read": {"HGETALL": 1.0},
        "update": {"HSET": 1.0},
    },
    "memcached": {
        "insert": {"cmd_set": 1.0},
        "read": {"cmd_get": 1.0},
        "update": {"cmd_set": 1.0},
    },
    "mongodb": {"insert": {"insert": 1.0}, "read": {"query": 1.0}, "update": {"update": 1.0}},
    "cassandra": {
        "insert": {"coordinator_write": 1.0},
        "read": {"coordinator_read": 1.0},
        "scan": {"coordinator_scan": 1.0},
        "update": {"coordinator_write": 1.0},
    },
    "mysql": {
        "insert": {"Com_insert": 1.0} | STATEMENT,
        "read": {"Com_select": 1.0} | STATEMENT,
        "update": {"Com_update": 1.0} | STATEMENT,
    },
    "riak": {
        "insert": {"node_puts_total": 1.0},
        "read": {"node_gets_total": 1.0},
        "update": {"node_puts_total": 1.0},
    },
}
COMMANDS["aerospike"] = {
    "insert": {"client_write_success": 1.0},
    "read": {"client_read_success": 1.0},
    "update": {"client_write_success": 1.0},
}
COMMANDS["mariadb"] = COMMANDS["mysql"]
COMMANDS["valkey"] = COMMANDS["redis"]
COMMANDS["postgresql"] = {
    "insert": {"n_tup_ins": 1.0},
    "read": {"idx_tup_fetch": 1.0},
    "update": {"idx_tup_fetch": 1.0, "n_tup_upd": 1.0},
}
COMMANDS["etcd"] = {
    "insert": {"put": 1.0},
    "read": {"range": 1.0},
    # It compares the revision by a range of its own.
    "update": {"range": 2.0, "put": 1.0},
}
# It counts nothing.
COMMANDS["dynamodb"] = {"insert": {}, "read": {}, "update": {}}
# Bytes of a loaded record as the server shows them, and of one after its updates of one field.
SIZES = {
    "redis": (1700, 1700),
    "memcached": (1239, 207),
    "mongodb": (1168, 1168),
    "cassandra": (1023, 1023),
    "mysql": (1023, 1023),
    "mariadb": (1023, 1023),
    "postgresql": (1023, 1023),
    "valkey": (1690, 1690),
    "etcd": (1163, 1163),
    "dynamodb": (1087, 1087),
    "aerospike": (1184, 176),
    "riak": (1140, 114),
}
# Valkey 8.1 keeps keys and values together.
NEWER_SIZES = {"valkey": (1336, 1336)}
CREATING = {"redis", "valkey", "cassandra", "riak", "dynamodb"}


def few(study: dict) -> None:
    for position, workload in enumerate(study["workloads"]):
        use = {"name": workload} if isinstance(workload, str) else workload
        use.pop("operations", None)
        only = ONLY.get(use["name"])
        study["workloads"][position] = use | ({"stores": only} if only else {})


@pytest.fixture(scope="module")
def results(every_server) -> Path:
    """The study all-stores."""
    return reported_tiny(every_server, "all-stores", few)


@pytest.fixture
def store(request, results, every_server, monkeypatch) -> str:
    """A store that was measured; the test runs in the folder of the project."""
    monkeypatch.chdir(every_server)
    if problem := missing_requirement(load_store(Path("envs/stores") / request.param), "native"):
        pytest.skip(problem)
    return request.param


def of(*names: str) -> Callable:
    return pytest.mark.parametrize("store", names, indirect=True)


def cell(store: str) -> str:
    return f"{store}/a/r{RECORDS}_o{OPERATIONS}_t4/rep1"


@of(*VERSIONS)
def test_a_cell_tells_its_server_and_did_all_that_it_should(store, results):
    server = json.loads((results / "raw" / cell(store) / "manifest.json").read_text())["server"]
    assert re.fullmatch(VERSIONS[store], server["version"])
    assert server["records"] == {"load": RECORDS, "run": RECORDS}
    run = parse((results / "raw" / cell(store) / "run.out").read_text(), "run.out")
    assert (run.attempted, run.failed) == (OPERATIONS, 0)


@of(*EMBEDDED)
def test_an_embedded_store_has_no_server_and_keeps_what_was_loaded(store, results):
    folder = results / "raw" / cell(store)
    server = json.loads((folder / "manifest.json").read_text())["server"]
    assert (server["provider"], server["records"]) == ("none", {"load": None, "run": None})
    assert re.fullmatch(EMBEDDED[store], server["version"])
    run = parse((folder / "run.out").read_text(), "run.out")
    assert (run.attempted, run.failed) == (OPERATIONS, 0)
    assert not (folder / "data").exists()
    probed = probes(results.name)
    assert probed.statuses(store, "read") == probed.statuses(store, "scan") == {"OK": 1.0}
    assert probed.statuses(store, "update-missing") == {"NOT_FOUND": 1.0}


def test_embedded_stores_are_compared_with_each_other_only(results):
    pairs = pd.read_csv(results / "analysis" / "pairs.csv")
    both = pairs[["faster", "slower"]].isin(list(EMBEDDED)).sum(axis=1)
    assert set(both) == {0, 2}
    grid = (results / "tables" / "grid.tex").read_text()
    for words in ("In memory", "On disk", "Embedded, relative to RocksDB"):
        assert words in grid


# One without a table, one that must be prepared, one without a server.
@of("redis", "mariadb", "rocksdb")
def test_a_cell_is_repeated_by_hand(store, results, tmp_path):
    """Its lines of commands.txt, in bash, in an empty folder."""
    done = subprocess.run(
        ["kvstudy", "commands", results.name], check=True, capture_output=True, text=True
    )
    head, *blocks = re.split(r"^# -+\n", done.stdout, flags=re.M)
    (block,) = [block for block in blocks if f". {cell(store)}\n" in block]
    empty = tmp_path / "empty"
    empty.mkdir()
    pasted = subprocess.run(
        ["bash"],
        input=head + block,
        cwd=empty,
        env=os.environ | {"PORT": str(free_port()), "WORK": str(tmp_path / "work")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert pasted.returncode == 0, pasted.stderr
    # Of the load and of the run, one after the other.
    logs = re.split(r"^(?=\[OVERALL\], RunTime)", pasted.stdout, flags=re.M)[1:]
    load, run = (parse(log, "pasted") for log in logs)
    assert (load.attempted, run.attempted, run.failed) == (RECORDS, OPERATIONS, 0)
    assert list(empty.iterdir()) == []
    assert programs_in(tmp_path) == []


def probes(run: str) -> Probes:
    return Probes(collect_probes(load_study(study_path("all-stores")), run)[0])


@of(*VERSIONS)
def test_what_one_operation_means(store, results):
    probed = probes(results.name)
    for step, commands in COMMANDS[store].items():
        assert probed.statuses(store, step) == {"OK": 1.0}
        # Where another thread was quicker, etcd's update is two more ranges.
        slack = 0.02 if (store, step) == ("etcd", "update") else 0.01
        assert probed.commands(store, step) == pytest.approx(commands, abs=slack)
    whole, updated = SIZES[store]
    if probed.sizes(store, "update-all")[0] < 0.9 * whole:
        whole, updated = NEWER_SIZES[store]
    assert probed.sizes(store, "update-all") == pytest.approx((whole, whole), rel=0.05)
    before, after = probed.sizes(store, "update")
    assert before == pytest.approx(whole, rel=0.05)
    if after != pytest.approx(updated, rel=0.05):
        # A slow machine ends the step by its time, before every record had its turn.
        assert probed.operations(store, "update") < 10_000
        assert updated < after < whole
    assert probed.statuses(store, "read-missing") == {"NOT_FOUND": 1.0}
    expected = "OK" if store in CREATING else "NOT_FOUND"
    assert probed.statuses(store, "update-missing") == {expected: 1.0}
    assert probed.creates(store) is (store in CREATING)


@of("redis")
def test_misses_are_counted_by_the_server(store, results):
    probed = probes(results.name)
    assert probed.missed("redis", "read-missing") == 1
    assert probed.missed("redis", "read") == 0
    assert probed.missed("redis", "read-updated") == 0
    scan = probed.commands("redis", "scan")
    assert scan["ZRANGEBYSCORE"] == 1
    # The last keys of the order have fewer behind them than were asked for.
    assert 9.5 < scan["HGETALL"] <= 10


@of("memcached")
def test_one_field_is_the_whole_record(store, every_server):
    """Where records have one field, an update of it changes no size, on no store."""
    study = {"name": "one", "title": "One field", "question": "Does it keep its size?"}
    study |= {"stores": [store], "workloads": ["a"], "repetitions": 1}
    study["parameters"] = {"records": 500, "operations": 1000, "threads": 4}
    study["parameters"]["properties"] = {"fieldcount": 1}
    file = Path("config/studies/one/study.yaml")
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(study))
    command = ["kvstudy", "probe", store, "--study", str(file), "--provider", "native"]
    state = os.environ | {"KVSTUDY_STATE": str(every_server / "state")}
    done = subprocess.run(command, env=state, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = Probes(collect_probes(load_study(file), "one")[0]).sizes(store, "update")
    assert before == pytest.approx(after, rel=0.02)
    assert before < 300
