"""A study by profiles/kubernetes, whose Jobs a pretended kubectl runs as processes like pods."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.blocks import SERVERS, Blocks
from tests.e2e.pipeline import programs_in
from tests.project import wait_for


class Project(Blocks):
    """A clone on a volume that all pods have, and the Jobs in a folder of it."""

    def __init__(self, folder: Path) -> None:
        self.pods = folder / "pods"
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        super().__init__(folder, "profiles/kubernetes", {"PODS": str(self.pods), "PATH": path})

    def jobs(self) -> list[Path]:
        """Those that have not ended."""
        jobs = self.pods.glob("*.json")
        return [job for job in jobs if not job.with_suffix(".exit").exists()]

    def servers(self) -> list[str]:
        lines = programs_in(self.folder)
        return [line for line in lines if any(server in line for server in SERVERS)]


@pytest.fixture(scope="module")
def project(clone: Path) -> Project:
    tried = subprocess.run(["unshare", "--net", "--pid", "--fork", "true"], capture_output=True)
    if tried.returncode:
        reason = f"no namespaces here: {tried.stderr.decode().strip()}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    (clone / ".venv").symlink_to(sys.prefix)
    for folder in ("bin", "pods"):
        (clone / folder).mkdir()
    (clone / "bin/kubectl").symlink_to(Path(__file__).with_name("kubectl"))
    return Project(clone)


@pytest.fixture(scope="module")
def measured(project: Project) -> Project:
    """Two repetitions were measured, and a cell of the first one failed."""
    project.measure_with_a_failure()
    return project


def test_each_repetition_is_one_pod_on_one_node(measured):
    first, second, other = (
        measured.manifest(cell)["node"] for cell in (*measured.cells(2), measured.cells(1)[1])
    )
    assert first == second
    assert {path.stem for path in measured.pods.glob("*.json")} == {
        node.removeprefix("node-of-") for node in (first, other)
    }
    assert measured.servers() == []


def test_a_failed_cell_leaves_its_block_the_others(measured):
    assert [(measured.folder / cell).is_file() for cell in measured.cells(1)] == [False, True]


# --- faults: what is done to the pod of a block


def interrupt(project: Project, running: subprocess.Popen, job: Path) -> None:
    running.send_signal(signal.SIGINT)


def kill(project: Project, running: subprocess.Popen, job: Path) -> None:
    """The cluster goes on with the Job, here to its next cell: the next call cancels it."""
    running.kill()
    running.wait()
    cells = [project.folder / cell for cell in project.cells(1)]
    wait_for(lambda: any(cell.is_file() for cell in cells), "the Job does not go on")


def evict(project: Project, running: subprocess.Popen, job: Path) -> None:
    os.killpg(int(job.with_suffix(".pid").read_text()), signal.SIGKILL)
    job.with_suffix(".exit").write_text("137")


@pytest.fixture
def block(measured: Project) -> Iterator[tuple[subprocess.Popen, Path]]:
    with measured.measuring_again() as block:
        yield block


@pytest.mark.parametrize("fault", [interrupt, kill, evict])
def test_a_fault_leaves_no_server_and_the_next_call_goes_on(project, block, fault):
    """Each is the next call of the one before."""
    running, job = block
    fault(project, running, job)
    assert running.wait(120) != 0
    if fault != kill:
        wait_for(lambda: not project.servers() + project.jobs(), "a server or a Job is left", 60)


def test_the_next_call_finishes(measured):
    assert all(measured.finish()["node"])
    assert measured.servers() + measured.jobs() == []
