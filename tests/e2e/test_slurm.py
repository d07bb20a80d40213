"""A study on a SLURM cluster of this machine: repetitions on nodes, and faults meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import psutil
import pytest

from tests.e2e.blocks import SERVERS, Blocks
from tests.e2e.cluster import Cluster, reason_to_skip, running_cluster
from tests.e2e.pipeline import run
from tests.project import wait_for


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    if reason := reason_to_skip():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with running_cluster(2) as cluster:
        yield cluster


class Project(Blocks):
    """A clone on the cluster's file system; Snakemake runs on the host that submits."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        super().__init__(folder, "profiles/slurm", cluster.environment)
        self.cluster = cluster

    def start(self, *targets: str | Path) -> subprocess.Popen:
        # Asked often, the cluster is this machine.
        return super().start(*targets, options=("--slurm-init-seconds-before-status-checks", "1"))

    def jobs(self) -> list[str]:
        return self.cluster.jobs("running")

    def servers(self) -> list[psutil.Process]:
        each = ((node, name) for node in self.cluster.nodes for name in SERVERS)
        return [server for one in each if (server := self.cluster.network.program(*one))]


@pytest.fixture(scope="module")
def project(clone: Path, cluster: Cluster) -> Project:
    return Project(clone, cluster)


@pytest.fixture(scope="module")
def measured(project: Project) -> Project:
    """Two repetitions were measured, and a cell of the first one failed."""
    project.measure_with_a_failure()
    return project


def test_each_repetition_is_one_job_on_one_node(measured):
    first, second = block = [measured.manifest(cell) for cell in measured.cells(2)]
    assert first["node"] == second["node"]
    assert first["node"] in measured.cluster.nodes
    # In the planned order.
    first, second = sorted(block, key=lambda cell: cell["position"])
    starts = [datetime.fromisoformat(cell["started"]) for cell in (first, second)]
    assert starts[0] + timedelta(seconds=first["seconds"]["total"] - 1) < starts[1]
    assert len(measured.cluster.jobs("all")) == 2
    assert measured.servers() == []


def test_a_failed_cell_leaves_its_block_the_others(measured):
    present = [(measured.folder / cell).is_file() for cell in measured.cells(1)]
    assert present == [False, True]


# --- faults: what is done to the job of a block


def interrupt(project: Project, running: subprocess.Popen, job: str) -> None:
    running.send_signal(signal.SIGINT)


def kill(project: Project, running: subprocess.Popen, job: str) -> None:
    """SLURM goes on with the job: the next call cancels it.

    Its server stands still, or its cell could end while the next call plans it again.
    """
    for server in project.servers():
        server.suspend()
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
    with measured.measuring_again() as block:
        yield block


@pytest.mark.parametrize(
    "fault", [interrupt, kill, cancel, pytest.param(lose_the_node, marks=pytest.mark.slow)]
)
def test_a_fault_leaves_no_server_and_the_next_call_goes_on(project, block, fault):
    """Each is the next call of the one before."""
    running, job = block
    fault(project, running, job)
    assert running.wait(120) != 0
    if fault != kill:
        wait_for(lambda: not project.servers(), "a server is left", 60)
        assert project.cluster.jobs() == []
    project.cluster.wait_for_nodes()


@pytest.mark.slow
def test_a_drained_node_without_its_daemon_ends_its_block(project, block):
    """It takes no other; of the end of this one SLURM hears all the same, if it comes in time."""
    running, job = block
    node = project.cluster.node_of(job)
    project.cluster.run("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    project.cluster.kill_daemon(node)
    if running.wait(300) != 0:
        # On a busy machine the block outlives SlurmdTimeout; the next call measures it again.
        assert job in project.cluster.jobs("node_fail"), project.said[-3000:]
    project.cluster.start_node(node)
    project.cluster.run("scontrol", "update", f"NodeName={node}", "State=RESUME")
    project.cluster.wait_for_nodes()


IN_AN_ALLOCATION = """
set -- $(scontrol show hostnames)
snakemake --cores 4 {target} --config study=nodes scale=2 \\
    "hosts={{launcher: 'srun --overlap -N1 -n1 -w {{host}}', server: $1, clients: [$2], {here}}}"
"""


def test_server_and_client_on_the_nodes_of_an_allocation(project, tmp_path):
    """As in the guide; nodes of this machine have no name that leads to their address."""
    tmp_path.chmod(0o755)
    cell = Path("results/nodes-scale2/raw/redis/c/r2000_o20000_t2/rep1/SHA256SUMS")
    here = f"address: {project.cluster.network.address(project.cluster.nodes[0])}, data: {tmp_path}"
    command = IN_AN_ALLOCATION.format(target=cell, here=here)
    allocated = ["salloc", "--nodes=2", "--exclusive", "bash", "-ec", command]
    run(project.folder, *allocated, **project.environment)
    hosts = project.manifest(cell)["hosts"]
    assert [hosts["server"], *hosts["clients"]] == project.cluster.nodes
    assert project.servers() == []


def test_the_next_call_finishes(project):
    cells = project.finish()
    assert set(cells["node"]) <= set(project.cluster.nodes)
    assert project.servers() == []
    assert project.cluster.jobs() == []
