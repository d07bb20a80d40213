"""The networks by which a container is reached, with a real daemon that has a bridge."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from docker_support import daemon, images
from docker_support.daemon import Daemon, docker
from docker_support.fixtures import cannot

from tests.e2e.pipeline import programs_in
from tests.formats_support import text_of
from tests.project import edit

NETWORKS = ("loopback", "host", "bridge", "nat", "proxy")
STUDY = {
    "name": "paths",
    "title": "Paths to a container",
    "question": "What does each path cost?",
    "stores": [{"store": "redis", "name": f"r-{each}", "network": each} for each in NETWORKS],
    "workloads": ["c"],
    "parameters": {"records": 2000, "operations": 20_000, "threads": 2},
    "repetitions": 1,
    "noise_floor": False,
    "client_ceiling": False,
    "tables": [
        {"name": "ladder", "kind": "path", "workload": "c", "caption": "What a path adds"},
    ],
}


@pytest.fixture(scope="module")
def bridged():
    """A daemon with a bridge, in a network namespace of its own."""
    try:
        with daemon.daemon_with_bridge() as running:
            yield running
    except daemon.NoDaemon as reason:
        cannot(str(reason))


def prepared(clone: Path, host: str) -> dict[str, str]:
    """Have the study and its image; returns the variables of commands."""
    if reason := images.missing("redis"):
        cannot(reason)
    image = images.LocalImages(host).redis
    edit(clone / "envs/stores/redis/store.yaml", lambda store: store["docker"].update(image=image))
    file = clone / "config/studies/paths/study.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(STUDY))
    return os.environ | {"KVSTUDY_STATE": str(clone / "state"), "DOCKER_HOST": host}


def run(running: Daemon, clone: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the daemon's network, and in the clone."""
    environment = prepared(clone, running.host)
    done = subprocess.run(
        [*running.inside, *command],
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert docker(running.host, "ps", "--all", "--quiet") == "", "a container was left behind"
    return done


@pytest.fixture(scope="module")
def results(clone: Path, bridged: Daemon) -> Path:
    targets = ("report/paths.pdf", "results/paths/commands.txt")
    config = ("--config", "study=paths", "provider=native")
    done = run(bridged, clone, "snakemake", *targets, "--cores", "4", *config)
    assert done.returncode == 0, done.stdout[-8000:]
    assert programs_in(clone) == []
    return clone / "results/paths"


def manifest_of(results: Path, network: str) -> dict:
    (path,) = results.glob(f"raw/r-{network}/*/*/rep1/manifest.json")
    return json.loads(path.read_text())


def test_each_server_is_reached_by_the_network_that_the_study_names(results):
    servers = {network: manifest_of(results, network)["server"] for network in NETWORKS}
    assert servers["loopback"]["provider"] == "native"
    for network in NETWORKS[1:]:
        assert servers[network]["provider"] == "docker"
        assert servers[network]["network"]["kind"] == network
        command = " ".join(manifest_of(results, network)["phases"]["run"]["command"])
        assert f"redis.host={servers[network]['network']['host']}" in command
    hosts = {network: servers[network]["network"]["host"] for network in NETWORKS[1:]}
    assert hosts["host"] == hosts["proxy"] == "127.0.0.1"
    assert hosts["bridge"].rpartition(".")[0] == hosts["nat"].rpartition(".")[0]
    assert hosts["bridge"] != hosts["nat"]
    # Nothing is published beyond the machine.
    for network in ("nat", "proxy"):
        (published,) = re.findall(r"--publish=(\S+)", " ".join(servers[network]["command"]))
        assert published.startswith(f"{hosts[network]}:")


def test_docker_proxy_carries_the_requests_of_one_of_them(results):
    def cpu(network: str) -> float:
        (path,) = results.glob(f"raw/r-{network}/*/*/rep1/processes.csv")
        rows = pd.read_csv(path)
        of = rows[rows["side"] == "path"]
        return (of["cpu_user"] + of["cpu_system"]).max() if len(of) else 0.0

    assert cpu("proxy") > 0.1
    assert cpu("nat") < 0.05
    assert cpu("bridge") == cpu("host") == 0


def test_the_report_tells_each_path_and_what_it_adds(results, clone):
    words = " ".join(text_of(clone / "report/paths.pdf").split())
    assert "run in Docker, reached at its address on" in words
    assert "a published port that docker-proxy carries" in words
    assert "a published port that the kernel forwards" in words
    table = pd.read_csv(results / "tables/ladder.csv").set_index("store")
    # Which is slower is not asked: one busy moment decides between single short runs.
    latency = table["latency"]
    assert table["added"].dropna().to_dict() == pytest.approx(
        (latency - latency["r-loopback"]).drop("r-loopback").to_dict()
    )
    assert table["round_trips"].eq(1).all()
    assert pd.isna(table.loc["r-loopback", "added"])


@pytest.mark.parametrize("network", NETWORKS[1:])
def test_its_commands_work_by_hand(network, results, clone, bridged):
    text = (results / "commands.txt").read_text()
    head, *blocks = re.split(r"^# -{70}\n", text, flags=re.M)
    (block,) = [block for block in blocks if f"r-{network}/c/" in block]
    script = clone / f"by-hand-{network}.sh"
    script.write_text(head + block)
    done = run(bridged, clone, "bash", script.name)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "[READ], Return=OK, 20000" in done.stdout
    assert programs_in(clone) == []


def measured(clone: Path, running: Daemon, network: str) -> str:
    """What measuring the cell of the network says; it must fail."""
    cell = f"r-{network}/c/r2000_o20000_t2/rep1"
    command = ("kvstudy", "measure", cell, "--study", "config/studies/paths/study.yaml")
    done = run(running, clone, *command)
    assert done.returncode != 0, done.stdout
    assert programs_in(clone) == []
    return " ".join(done.stdout.split())


def test_a_daemon_without_docker_proxy_is_told(clone):
    with daemon.daemon_with_bridge("--userland-proxy=false") as running:
        said = measured(clone, running, "proxy")
    assert "docker-proxy carried no request" in said
    assert "without --userland-proxy=false" in said


def test_a_daemon_whose_proxy_carries_everything_is_told(clone):
    with daemon.daemon_with_bridge("--iptables=false") as running:
        said = measured(clone, running, "nat")
    assert "docker-proxy carried the requests, and not the kernel" in said
    assert "without --iptables=false" in said


def test_a_daemon_without_a_bridge_is_a_gap_with_its_reason(clone):
    with daemon.daemon_with_bridge("--bridge", "none") as running:
        target = "results/paths/gaps/r-bridge.json"
        done = run(running, clone, "snakemake", target, "--cores", "2", "--config", "study=paths")
        assert done.returncode == 0, done.stdout[-4000:]
    reason = json.loads((clone / target).read_text())["reason"]
    assert "start the daemon without --bridge none" in reason
