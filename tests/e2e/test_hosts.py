"""Server and clients on hosts of their own, which are network namespaces of this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml
from kvstudy.analyse.tidy.cell import tables_of
from kvstudy.measure.hosts import FarServer, connected
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import running_server
from kvstudy.study.cells import plan
from kvstudy.study.config import Config, Hosts
from kvstudy.study.load import load_study

from tests.e2e import pipeline
from tests.e2e.namespaces import NETWORK, Network, inside, network, run, sshd
from tests.e2e.pipeline import ROOT, programs_in, snakemake
from tests.project import wait_for

STUDY = {
    "name": "hosts",
    "title": "Server and clients on hosts",
    "question": "Do they end together?",
    "stores": ["redis"],
    "workloads": ["a"],
    "parameters": {"records": 2000, "operations": 40_000, "threads": 4, "clients": 2},
    "tables": [{"name": "machine", "kind": "machine", "caption": "The hosts"}],
    "repetitions": 1,
    "noise_floor": False,
    "client_ceiling": False,
}
LONG = 2_000_000_000
CELL = f"redis/a/r2000_o{LONG}_t4_c2/rep1"
# Of a busy machine; all of them end within some seconds.
PATIENCE = 90


@pytest.fixture(scope="module")
def three() -> Iterator[Network]:
    with network() as of:
        yield of


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """For the data of the servers."""
    folder = tmp_path_factory.mktemp("data")
    # Some servers become another user.
    for above in (folder, *folder.parents[:2]):
        above.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def ssh(three: Network, tmp_path_factory) -> Iterator[str]:
    with sshd(three, tmp_path_factory.mktemp("ssh")) as client:
        launcher = f"ssh -F {client} {{host}}"
        wait_for(lambda: all(logged_in(launcher, name) for name in three.names))
        yield launcher


@pytest.fixture(params=["nsenter", "ssh"])
def launcher(request) -> str:
    if request.param == "ssh":
        return request.getfixturevalue("ssh")
    return "nsenter --net=/run/netns/{host}"


@pytest.fixture(scope="module")
def studies(clone: Path) -> Path:
    """The project with the study of these tests, and one of it that would take days."""
    long = STUDY | {"name": "long", "parameters": STUDY["parameters"] | {"operations": LONG}}
    for study in (STUDY, long):
        file = clone / f"config/studies/{study['name']}/study.yaml"
        file.parent.mkdir()
        file.write_text(yaml.safe_dump(study))
    return clone


def logged_in(launcher: str, name: str) -> bool:
    words = launcher.format(host=name).split()
    return subprocess.run([*words, "true"], capture_output=True).returncode == 0


def hosts_of(of: Network, launcher: str, data: Path) -> Hosts:
    server, *clients = of.names
    address = of.address(server)
    return Hosts(launcher=launcher, server=server, address=address, clients=clients, data=str(data))


# --- a whole run


@pytest.fixture(scope="module")
def results(studies: Path, three: Network, data: Path) -> Path:
    hosts = hosts_of(three, "nsenter --net=/run/netns/{host}", data)
    key = f"hosts={hosts.model_dump_json()}"
    snakemake(studies, "study=hosts", key, target="results/hosts/report/hosts.md")
    return studies / "results/hosts"


@pytest.fixture
def manifest(results: Path) -> dict:
    (path,) = (results / "raw/redis/a").glob("*/rep1/manifest.json")
    return json.loads(path.read_text())


def test_a_cell_becomes_numbers(results: Path):
    (cell,) = pd.read_csv(results / "cells.csv").itertuples()
    assert cell.status == "measured"
    assert pd.isna(cell.invalid)
    values = pd.read_csv(results / "measurements.csv")
    overall = values[(values["phase"] == "run") & (values["operation"] == "overall")]
    result = overall.set_index("metric")["value"]
    assert result["operations"] == STUDY["parameters"]["operations"]
    assert result["skew"] < 500
    for name in ("client_cpu", "server_cpu", "client_cores", "server_cores", "steal_cpu"):
        assert result[name] >= 0
    # Those of several machines limit nobody.
    assert "machine_cores" not in result
    used = pd.read_csv(results / "resources.csv")
    assert set(used["side"]) == {"server", "client"}


def test_the_manifest_has_the_hosts(manifest: dict, three: Network):
    server, *clients = three.names
    hosts = manifest["hosts"]
    assert (hosts["server"], hosts["clients"]) == (server, clients)
    assert hosts["environments"].keys() == set(three.names)
    for clock in hosts["clocks"].values():
        low, median, high = clock["round_trip"]
        assert 0 < low <= median <= high < 0.1
        # They have one clock.
        assert abs(clock["offset"]) <= clock["uncertainty"] < 0.05
    assert f"redis.host={three.address(server)}" in manifest["phases"]["run"]["command"]
    assert set(manifest["phases"]["run"]["hosts"]) == set(three.names)


def test_the_clocks_put_the_clients_into_one_order(
    results: Path, manifest: dict, studies: Path, three: Network, monkeypatch
):
    """Were the second client's clock 0.4 s behind, it would have begun 0.4 s later."""
    monkeypatch.chdir(studies)
    study = load_study(Path("config/studies/hosts/study.yaml"))
    cell = plan(study)[0]

    def began_apart() -> float:
        result = tables_of(study, cell, results / "raw" / cell.path, manifest)
        return pd.DataFrame(result.rows["measurements"]).set_index("metric").loc["skew", "value"]

    before = began_apart()
    manifest["hosts"]["clocks"][three.names[2]]["offset"] += 0.4
    assert began_apart() == pytest.approx(400, abs=before + 2)


def test_the_report_has_the_hosts(results: Path, three: Network, studies: Path):
    text = (results / "report/hosts.md").read_text()
    assert "Server and client ran on separate hosts" in text
    assert "shared it" not in text
    rows = pd.read_csv(results / "tables/machine.csv", keep_default_na=False)
    for name in three.names:
        assert f"of-host component=CPU host={name}" in list(rows["component"])
    assert rows["name"].str.startswith("round-trip").any()
    assert programs_in(studies) == []


def test_a_cell_without_hosts_is_unlike(studies: Path, results: Path):
    edited = studies / "config/studies/hosts/study.yaml"
    edited.write_text(yaml.safe_dump(STUDY | {"repetitions": 2}))
    cell = "redis/a/r2000_o40000_t4_c2/rep2"
    command = ("kvstudy", "measure", cell, "--study", "config/studies/hosts/study.yaml")
    with pytest.raises(AssertionError, match=r"hosts: .*server and clients on one"):
        pipeline.run(studies, *command)


def test_by_hand_it_is_one_machine(studies: Path, results: Path):
    text = pipeline.run(studies, "kvstudy", "commands", "hosts")
    assert '--bind "127.0.0.1" --port "$PORT" --dir "$CELL/data"' in text
    assert NETWORK not in text


# --- where the server listens


@pytest.mark.parametrize("name", ["redis", "memcached", "etcd"])
def test_a_server_is_at_its_address_only(name: str, three: Network, data: Path, folder, tmp_path):
    hosts = hosts_of(three, "nsenter --net=/run/netns/{host}", data)
    other = f"{three.prefix}.101"
    ip = [*inside(hosts.server), "ip", "address"]
    run(*ip, "add", f"{other}/24", "dev", "eth0")
    try:
        store = load_store(ROOT / "envs/stores" / name)
        with connected(hosts, folder / "results") as present:
            log = tmp_path / "server.log"
            server = FarServer(present, store, 0, log)
            with running_server(store, server, log) as version:
                assert version
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection((other, server.port), timeout=5)
                listening = run(*inside(hosts.server), "ss", "-Hltn")
                addresses = {line.split()[3].rpartition(":")[0] for line in listening.splitlines()}
                assert addresses <= {hosts.address, "127.0.0.1"}
    finally:
        run(*ip, "delete", f"{other}/24", "dev", "eth0")
    assert three.programs() == []
    assert list(data.iterdir()) == []


# --- whatever ends a part of it, ends all of it


class Measuring:
    """A cell that would take days, on its hosts, when its clients have begun."""

    def __init__(self, project: Path, of: Network, launcher: str, data: Path) -> None:
        self.of, self.project = of, project
        # The cell before was killed with its folder.
        shutil.rmtree(project / "results/long", ignore_errors=True)
        config = Config(study="long", hosts=hosts_of(of, launcher, data))
        state = {"KVSTUDY_STATE": str(project / "state")}
        self.process = subprocess.Popen(
            ["kvstudy", "measure", CELL, "--study", "config/studies/long/study.yaml"],
            cwd=project,
            env=os.environ | state | {"KVSTUDY_CONFIG": config.model_dump_json()},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        errors = project / "results/long/measuring" / CELL
        wait_for(
            lambda: (
                all(
                    file.is_file() and "together: began" in file.read_text()
                    for file in (errors / "run.err", errors / "run-2.err")
                )
                or self.process.poll() is not None
            )
        )
        assert self.process.poll() is None, self.process.stdout.read()

    def said(self) -> str:
        """All that it says until it has ended."""
        return self.process.communicate(timeout=PATIENCE)[0]

    def nothing_left(self) -> None:
        wait_for(lambda: self.of.programs() == [] and programs_in(self.project) == [])


@pytest.fixture
def measuring(studies: Path, three: Network, launcher: str, data: Path) -> Iterator[Measuring]:
    cell = Measuring(studies, three, launcher, data)
    yield cell
    cell.process.kill()
    cell.process.wait()


def test_interrupted(measuring: Measuring, data: Path):
    measuring.process.send_signal(signal.SIGINT)
    assert "stopped by SIGINT" in measuring.said()
    measuring.nothing_left()
    assert list(data.iterdir()) == []


def test_the_controller_is_killed(measuring: Measuring):
    measuring.process.kill()
    measuring.nothing_left()


@pytest.mark.parametrize("side", [0, 1], ids=["server", "client"])
def test_an_agent_is_killed(measuring: Measuring, side: int):
    name = measuring.of.names[side]
    measuring.of.agent(name).kill()
    assert f"lost the agent on {name}" in measuring.said()
    measuring.nothing_left()


@pytest.mark.parametrize("launcher", ["nsenter"], indirect=True)
@pytest.mark.parametrize(
    ("program", "side", "reason"),
    [
        ("redis-server", 0, "Redis server was killed by SIGKILL during run"),
        ("java", 2, "run-2: the YCSB client was killed by SIGKILL"),
    ],
)
def test_a_program_is_killed(measuring: Measuring, program: str, side: int, reason: str):
    measuring.of.program(measuring.of.names[side], program).kill()
    assert reason in measuring.said()
    measuring.nothing_left()


@pytest.mark.parametrize("launcher", ["ssh"], indirect=True)
def test_a_launcher_is_killed(measuring: Measuring, launcher):
    name = measuring.of.names[0]
    command = f"{launcher.format(host=name)} "
    (process,) = (
        child
        for child in psutil.Process(measuring.process.pid).children()
        if " ".join(child.cmdline()).startswith(command)
    )
    process.kill()
    assert f"lost the agent on {name}: it was killed by SIGKILL" in measuring.said()
    measuring.nothing_left()


@pytest.mark.parametrize("launcher", ["ssh"], indirect=True)
def test_the_network_of_a_client_is_gone(measuring: Measuring):
    name = measuring.of.names[2]
    run(*inside(name), "ip", "link", "set", "eth0", "down")
    try:
        assert f"lost the agent on {name}: no answer" in measuring.said()
        # Those of its sshd end when they find out.
        wait_for(lambda: measuring.of.agent(name) is None)
        wait_for(lambda: not any("java" in line for line in measuring.of.programs()))
    finally:
        run(*inside(name), "ip", "link", "set", "eth0", "up")
    measuring.nothing_left()
