"""A study on a SLURM cluster of this machine: repetitions on nodes, and faults meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml

from tests.e2e.cluster import Cluster, reason_to_skip, running_cluster
from tests.e2e.pipeline import TWO_STORES
from tests.faults.finished import contents

STUDY = TWO_STORES | {
    "name": "nodes",
    "title": "Two nodes",
    "question": "Is a repetition measured on one node?",
}
RESULTS = Path("results/nodes")
CELLS = [f"{store}/c/r1000_o10000_t2" for store in STUDY["stores"]]
SERVERS = ("redis-server", "memcached")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    if reason := reason_to_skip():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with running_cluster(2) as cluster:
        yield cluster


class Project:
    """A clone on the cluster's file system; ``snakemake`` runs on the host that submits."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster

    def start(self, *targets: str | Path) -> subprocess.Popen:
        command = [sys.executable, "-m", "snakemake", *targets, "--profile", "profiles/slurm"]
        # Asked often, the cluster is this machine.
        often = ["--slurm-init-seconds-before-status-checks", "1"]
        often += ["--seconds-between-status-checks", "1", "--latency-wait", "10"]
        environment = os.environ | self.cluster.environment
        environment |= {"KVSTUDY_STATE": str(self.folder / "state")}
        environment.pop("KVSTUDY_CONTROLLER", None)
        with (self.folder / "said").open("w") as said:
            return subprocess.Popen(
                [*command, *often, "--config", "study=nodes", "provider=native"],
                cwd=self.folder,
                env=environment,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text()

    def finish(self, *targets: str | Path) -> None:
        assert self.start(*targets).wait(600) == 0, self.said[-8000:]

    def cells(self, repetition: int) -> list[Path]:
        return [RESULTS / "raw" / cell / f"rep{repetition}" / "SHA256SUMS" for cell in CELLS]

    def servers(self) -> list[psutil.Process]:
        return [each for each in self.cluster.processes() if each.name() in SERVERS]


@pytest.fixture(scope="module")
def project(clone: Path, cluster: Cluster) -> Project:
    file = clone / "config/studies/nodes/study.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(STUDY))
    return Project(clone, cluster)


def until(look: Callable, what: Callable[[], str] | str, seconds: float = 120):
    limit = time.monotonic() + seconds
    while not (thing := look()):
        assert time.monotonic() < limit, what if isinstance(what, str) else what()
        time.sleep(0.1)
    return thing


def manifest(project: Project, cell: Path) -> dict:
    return json.loads((project.folder / cell).with_name("manifest.json").read_text())


@pytest.fixture(scope="module")
def measured(project: Project) -> Project:
    """Two repetitions were measured, and a cell of the first one failed."""
    failing = project.folder / project.cells(1)[0].parent
    failing.parent.mkdir(parents=True)
    # Its place is taken: nothing can be put there.
    failing.write_text("in the way")
    assert project.start(*project.cells(1), *project.cells(2)).wait(300) != 0
    failing.unlink()
    return project


def test_each_repetition_is_one_job_on_one_node(measured):
    first, second = block = [manifest(measured, cell) for cell in measured.cells(2)]
    assert first["node"] == second["node"]
    assert first["node"] in measured.cluster.nodes
    # In the planned order.
    first, second = sorted(block, key=lambda cell: cell["position"])
    starts = [datetime.fromisoformat(cell["started"]) for cell in (first, second)]
    assert starts[0] + timedelta(seconds=first["seconds"]["total"] - 1) < starts[1]
    assert len(measured.cluster.jobs("all")) == 2
    assert measured.servers() == []


def test_a_failed_cell_leaves_its_block_the_others(measured):
    there = [(measured.folder / cell).is_file() for cell in measured.cells(1)]
    assert there == [False, True]


# --- faults: what is done to the job of a block


def interrupt(project: Project, running: subprocess.Popen, job: str) -> None:
    running.send_signal(signal.SIGINT)


def kill(project: Project, running: subprocess.Popen, job: str) -> None:
    """SLURM goes on with the job: the next call cancels it."""
    running.kill()
    running.wait()
    assert project.cluster.jobs() == [job]


def cancel(project: Project, running: subprocess.Popen, job: str) -> None:
    project.cluster.run("scancel", job)


def lose_the_node(project: Project, running: subprocess.Popen, job: str) -> None:
    node = project.cluster.node_of(job)
    project.cluster.kill_node(node)
    running.wait(120)
    project.cluster.start_node(node)


@pytest.fixture
def block(measured: Project) -> Iterator[tuple[subprocess.Popen, str]]:
    """Snakemake measures the first repetition again, and its job; no other cell is touched."""
    project = measured
    before = contents(project.folder, f"{RESULTS}/raw/*/*/*/rep2/*")
    assert before
    for cell in project.cells(1):
        shutil.rmtree(project.folder / cell.parent, ignore_errors=True)
    earlier = set(project.cluster.jobs("all"))
    running = project.start(*project.cells(1))
    until(
        # The server of an earlier job may be there still.
        lambda: set(project.cluster.jobs("running")) - earlier and project.servers(),
        lambda: f"no server starts: {project.said[-3000:]}",
    )
    (job,) = set(project.cluster.jobs("running")) - earlier
    yield running, job
    assert contents(project.folder, f"{RESULTS}/raw/*/*/*/rep2/*") == before


@pytest.mark.parametrize("fault", [interrupt, kill, cancel, lose_the_node])
def test_a_fault_leaves_no_server_and_the_next_call_goes_on(project, block, fault):
    """Each is the next call of the one before."""
    running, job = block
    fault(project, running, job)
    assert running.wait(120) != 0
    if fault != kill:
        until(lambda: not project.servers(), "a server is left", 60)
        assert project.cluster.jobs() == []
    project.cluster.wait_for_nodes()


def test_a_drained_node_without_its_daemon_ends_its_block(project, block):
    """It takes no other; of the end of this one SLURM hears all the same."""
    running, job = block
    node = project.cluster.node_of(job)
    project.cluster.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    project.cluster.kill_daemon(node)
    assert running.wait(300) == 0, project.said[-3000:]
    project.cluster.start_node(node)
    project.cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    project.cluster.wait_for_nodes()


def test_the_next_call_finishes(project):
    project.finish(RESULTS / "cells.csv")
    cells = pd.read_csv(project.folder / RESULTS / "cells.csv", keep_default_na=False)
    assert list(cells["status"]) == ["measured"] * 4
    assert list(cells["invalid"]) == [""] * 4
    assert set(cells["node"]) <= set(project.cluster.nodes)
    # Cells are measured once, and kept.
    assert not (project.folder / RESULTS / "replaced").exists()
    assert project.servers() == []
    assert project.cluster.jobs() == []
