"""Hosts of their own for server and clients: what is refused, led, put together and compared."""

from __future__ import annotations

import contextlib
import csv
import fcntl
import platform
import signal
from pathlib import Path

import pytest
from kvstudy.analyse.tidy.resources import Samples, cpu_shares, resources, usage
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.measure import hosts as module
from kvstudy.measure.agent import boot_id
from kvstudy.measure.clients import MACHINE_COLUMNS, PROCESS_COLUMNS
from kvstudy.measure.hosts import Link, Lost, address_of, clocks, why_missing
from kvstudy.stores.definition import load_store
from kvstudy.study.config import Hosts, check_config
from kvstudy.study.consistency import client_cores, differences
from kvstudy.study.load import STORES

GIVEN = {"server": "node1", "clients": ["node2", "node3"]}
# A launcher that stays on this machine.
HERE = "env KVSTUDY_TEST_HOST={host}"
# Asked for quickly.
NOTHING = {"stores": [], "host": "127.0.0.1", "data": "/tmp"}


# --- the key of config.yaml


@pytest.mark.parametrize(
    ("hosts", "others", "words"),
    [
        ({"server": "node1"}, {}, "needs both server and clients"),
        ({"clients": ["node1"]}, {}, "needs both server and clients"),
        (GIVEN | {"launcher": "ssh"}, {}, "must be a command with {host} in it"),
        (GIVEN | {"launcher": "ssh {node}"}, {}, "must be a command with {host} in it"),
        (GIVEN | {"clients": ["node2", "node2"]}, {}, "each host once"),
        (GIVEN | {"server": "a b"}, {}, "hosts.server"),
        (GIVEN | {"clients": ["-x"]}, {}, "hosts.clients"),
        (GIVEN | {"data": "tmp"}, {}, "hosts.data"),
        (GIVEN, {"provider": "docker"}, "set provider: native, or leave hosts out"),
        (GIVEN, {"provider": "external"}, "set provider: native, or leave hosts out"),
        (GIVEN, {"pin_cpus": True}, "set pin_cpus: false, or leave hosts out"),
    ],
)
def test_what_cannot_be_is_refused(hosts, others, words):
    with pytest.raises(KvstudyError) as refused:
        check_config({"study": "smoke", "hosts": hosts} | others)
    assert words in str(refused.value)
    assert "config/config.yaml: hosts" in str(refused.value)


def test_each_host_has_one_agent():
    assert Hosts(server="a", clients=["b", "a"]).names == ["a", "b"]
    assert check_config({"study": "smoke"}).setting_of("redis")["hosts"] is None


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("127.0.0.1", "not a single address for other hosts"),
        ("127.0.1.1", "not a single address for other hosts"),
        ("0.0.0.0", "not a single address for other hosts"),
        ("no-host.invalid", "cannot be resolved"),
    ],
)
def test_a_server_listens_on_the_network_of_the_hosts(address, words):
    with pytest.raises(KvstudyError, match=words):
        address_of(Hosts(**GIVEN, address=address))
    assert address_of(Hosts(**GIVEN, address="198.18.0.1")) == "198.18.0.1"


# --- the agent


@pytest.fixture
def link(project: Path):
    link = Link(HERE, "node1")
    yield link
    link.close()


def test_an_agent_says_what_is_wrong(link: Link, project: Path):
    folder = project / "shared"
    hello = {"variables": {}, "answer": str(folder / "answer")}
    with pytest.raises(KvstudyError, match=r"node1: .*must be one shared folder"):
        link.ask("hello", 60, **hello)
    folder.mkdir()
    link.ask("hello", 60, **hello)
    assert (folder / "answer").is_file()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"host": "198.18.0.1"}, "node1: 198.18.0.1 is no address of this host.*hosts.address"),
        ({"data": "/nowhere"}, "node1: .*hosts.data: /nowhere: no folder here in which you may"),
    ],
)
def test_a_place_where_no_server_can_be(link: Link, changes, words):
    with pytest.raises(KvstudyError, match=words):
        link.ask("missing", 60, **NOTHING | changes)


def test_two_kernels_have_two_locks(link: Link, project: Path):
    lock = project / "state" / platform.node() / "measure.lock"
    link.ask("be_alone", 60, boot=boot_id())
    assert not lock.exists()
    link.ask("be_alone", 60, boot="another")
    with lock.open() as held, pytest.raises(BlockingIOError):
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_an_answer_that_nobody_waited_for_is_no_other_ones(link: Link):
    link.post("java")
    assert link.ask("missing", 60, **NOTHING) == {}


def test_an_agent_that_does_not_answer_is_lost(link: Link):
    link.ask("missing", 60, **NOTHING)
    link._launcher.send_signal(signal.SIGSTOP)
    with pytest.raises(Lost, match="lost the agent on node1: no answer for"):
        link.ask("died", 0.5)
    link._launcher.send_signal(signal.SIGCONT)


def test_why_a_launcher_failed_is_told(project: Path):
    link = Link("sh -c 'echo {host} is down >&2; exit 7' sh", "node9")
    with pytest.raises(Lost, match=r"it ended with exit status 7; its output: node9 is down"):
        link.ask("hello", 60)
    link.close()


def test_a_greeting_is_no_answer(project: Path):
    link = Link("sh -c 'echo Welcome to {host}; exec \"$@\"' sh", "node1")
    assert link.ask("missing", 60, **NOTHING) == {}
    link.close()


def test_a_clone_at_a_path_with_a_space_is_refused(tmp_path: Path, monkeypatch):
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    with pytest.raises(KvstudyError, match=r"would read .* as several words"):
        Link(HERE, "node1")


# --- stores


class There:
    """Hosts with a Java and every program but Redis's."""

    def java(self) -> dict:
        return {}

    def missing(self, stores) -> dict:
        return {
            str(store.folder): "no redis" if store.name == "redis" else None for store in stores
        }


def test_stores_that_cannot_be_measured_on_hosts(project: Path, monkeypatch):
    monkeypatch.setattr(module, "connected", lambda *_, **__: contextlib.nullcontext(There()))
    names = ("redis", "memcached", "rocksdb", "basic", "riak", "postgresql")
    stores = {name: load_store(STORES / name) for name in names}
    result = {name: sentence(why) for name, why in why_missing(stores, Hosts(**GIVEN)).items()}
    assert result == {
        "redis": "on node1: no redis",
        "rocksdb": "RocksDB runs inside the client, but hosts names a host for a server",
        "riak": "the server of Riak KV accepts only clients on its own host",
        "postgresql": "the server of PostgreSQL accepts only clients on its own host",
    }


# --- clocks


def look(offset: float, uncertainty: float = 0.001) -> dict:
    return {"round_trip": [1e-4, 2e-4, 3e-4], "offset": offset, "uncertainty": uncertainty}


def test_clocks_are_those_of_the_middle_of_the_cell():
    reply = clocks({"node2": look(3.0)}, {"node2": look(3.02)}, several=True)["node2"]
    assert reply["offset"] == pytest.approx(3.01)
    assert reply["uncertainty"] == pytest.approx(0.021)


@pytest.mark.parametrize("after", [look(3.06), look(3.0, uncertainty=0.06)])
def test_clocks_that_are_not_known_put_no_clients_together(after):
    with pytest.raises(KvstudyError, match=r"the clock of node2 is known to 6\d ms only.*chrony"):
        clocks({"node2": look(3.0)}, {"node2": after}, several=True)
    # One client has one clock.
    assert clocks({"node2": look(3.0)}, {"node2": after}, several=False)


# --- what was used


def write(path: Path, columns: list[str], rows: list[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A server that used 4 s of its host, two clients that used 6 s and 8 s of theirs."""
    for name, side, used, busy in (
        ("node1", "server", 4, 5),
        ("node2", "client", 6, 6),
        ("node3", "client", 8, 12),
    ):
        row = {"phase": "run", "side": side, "processes": 1, "rss": 100, "cpu_system": 0}
        rows = [row | {"seconds": 10 * n, "cpu_user": used * n} for n in (0, 1)]
        write(tmp_path / f"{name}.processes.csv", PROCESS_COLUMNS, rows)
        row = {"phase": "run", "cpu_interrupts": 0, "cpu_steal": 0}
        before = row | {"seconds": 0, "cpu_busy": 0, "cpu_idle": 0}
        after = row | {"seconds": 10, "cpu_busy": busy, "cpu_idle": 20 - busy}
        write(tmp_path / f"{name}.machine.csv", MACHINE_COLUMNS, [before, after])
    return tmp_path


MANIFEST = {
    "cell": {"folder": "redis"},
    "protocol": 1,
    "server": {"provider": "native"},
    "hosts": GIVEN
    | {
        "environments": {
            "node1": [{"component": "CPU", "name": "A", "details": "cores cores=1 threads=2"}],
            "node2": [{"component": "CPU", "name": "B", "details": "cores cores=4 threads=8"}],
            "node3": [{"component": "CPU", "name": "B", "details": "cores cores=4 threads=4"}],
        }
    },
    "phases": {
        "run": {
            "hosts": {
                name: {"client_cpu_seconds": client, "monitor_cpu_seconds": 0.0}
                for name, client in (("node1", 0.0), ("node2", 6.0), ("node3", 8.0))
            }
        }
    },
}


def test_background_load_is_that_of_the_host_that_had_most(raw: Path):
    """1 of 20 s on the server's, none and 4 s on the clients'."""
    samples = Samples(raw, "run")
    assert cpu_shares(samples, "run", MANIFEST)["background_cpu"] == pytest.approx(20)
    assert samples.server() == (4, 10)


def test_what_all_clients_used_is_a_sum(raw: Path):
    samples = Samples(raw, "run")
    rows = resources(samples, 0.0)
    assert {row["side"]: row["cores_user"] for row in rows} == pytest.approx(
        {"server": 0.4, "client": 1.4}
    )
    log = YcsbLog(runtime=10_000, throughput=1, sections={})
    used = usage(samples, log, 4, (14.0, 10.0), client_cores(MANIFEST, 2))
    assert used["client_cores"] == pytest.approx(1.4)
    assert used["server_cores"] == pytest.approx(0.4)
    assert used["client_allowed"] == 12
    assert used["machine_cores"] is None


@pytest.mark.parametrize(("clients", "cores"), [(1, 8), (2, 12), (5, 12)])
def test_cores_are_those_of_the_hosts_that_had_a_client(clients, cores):
    assert client_cores(MANIFEST, clients) == cores


def test_cells_with_hosts_and_without_are_unlike():
    without = {name: part for name, part in MANIFEST.items() if name != "hosts"}
    result = differences({"one": MANIFEST, "other": without})
    assert {value for value, _cells in result.pop("hosts")} == {
        "server on node1, clients on node2, node3",
        "server and clients on one",
    }
    assert not result
    # What is only known of the server does not tell.
    assert not differences({"one": MANIFEST, "other": {"cell": {"folder": "redis"}}})
