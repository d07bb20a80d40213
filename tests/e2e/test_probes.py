"""The probe of each store on its real server: what one operation makes it do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from kvstudy.analyse.tidy.probes import Probes, collect_probes
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import missing
from kvstudy.study.load import load_study

from tests.e2e.test_stores import BY_HAND, STUDY, programs_in

ROOT = Path(__file__).parents[2]
STORES = ["redis", "memcached", "mongodb", "cassandra", "mysql", "mariadb"]
STORES += ["aerospike", "riak"]
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
# Bytes of a loaded record as the server tells them, and of one after its updates of one field.
SIZES = {
    "redis": (1700, 1700),
    "memcached": (1239, 207),
    "mongodb": (1168, 1168),
    "cassandra": (1023, 1023),
    "mysql": (1023, 1023),
    "mariadb": (1023, 1023),
    "aerospike": (1184, 176),
    "riak": (1140, 114),
}
CREATING = {"redis", "cassandra", "riak"}


@pytest.fixture
def with_servers(project: Path) -> Path:
    """A project folder with the bindings and the installed servers of this clone."""
    for name in ("servers", "workflow"):
        (project / name).symlink_to(ROOT / name)
    return project


def probed(name: str, folder: Path, **properties: object) -> Probes:
    """Probe the store on its native server, with the study's ``properties``."""
    problem = missing(load_store(folder / "envs/stores" / name))
    if problem and (name in BY_HAND or not os.environ.get("CI")):
        pytest.skip(problem)
    assert not problem
    study = folder / "config/studies/small/study.yaml"
    study.parent.mkdir()
    parameters = STUDY["parameters"] | {"properties": properties}
    study.write_text(yaml.safe_dump(STUDY | {"stores": [name], "parameters": parameters}))
    done = subprocess.run(
        ["kvstudy", "probe", name, "--study", str(study), "--provider", "native"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert programs_in(folder) == []
    return Probes(collect_probes(load_study(study), "small"))


@pytest.mark.parametrize("name", STORES)
def test_what_one_operation_means(name, with_servers):
    found = probed(name, with_servers)
    for step, commands in COMMANDS[name].items():
        assert found.statuses(name, step) == {"OK": 1.0}
        assert found.commands(name, step) == pytest.approx(commands, abs=0.01)
    whole, updated = SIZES[name]
    assert found.sizes(name, "update-all") == pytest.approx((whole, whole), rel=0.05)
    before, after = found.sizes(name, "update")
    assert before == pytest.approx(whole, rel=0.05)
    if after != pytest.approx(updated, rel=0.05):
        # A slow machine ends the step by its time, before every record had its turn.
        assert found.operations(name, "update") < 10_000
        assert updated < after < whole
    assert found.statuses(name, "read-missing") == {"NOT_FOUND": 1.0}
    expected = "OK" if name in CREATING else "NOT_FOUND"
    assert found.statuses(name, "update-missing") == {expected: 1.0}
    assert found.creates(name) is (name in CREATING)


def test_misses_are_counted_by_the_server(with_servers):
    found = probed("redis", with_servers)
    assert found.missed("redis", "read-missing") == 1
    assert found.missed("redis", "read") == 0
    assert found.missed("redis", "read-updated") == 0
    scan = found.commands("redis", "scan")
    assert scan["ZRANGEBYSCORE"] == 1
    # The last keys of the order have fewer behind them than were asked for.
    assert 9.5 < scan["HGETALL"] <= 10


def test_one_field_is_the_whole_record(with_servers):
    """Where records have one field, an update of it changes no size, on no store."""
    found = probed("memcached", with_servers, fieldcount=1)
    before, after = found.sizes("memcached", "update")
    assert before == pytest.approx(after, rel=0.02)
    assert before < 300
