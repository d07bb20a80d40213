"""A copy of the whole workflow in a folder of its own, with pretended store and client."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.project import CELL, PRETEND, ROOT, STUDY, add_pretended, copy_project, edit, measure
from tests.workflow import forked


class Workflow:
    """Runs Snakemake on the study ``small`` in ``folder``."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.environment = environment

    def snakemake(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        options = ["--cores", "2", *arguments]
        return forked.run(options, self.folder, self.environment | environment, seconds=300)

    def snakemake_of_folder(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """In a process that imports the folder's code, where a test has edited it."""
        return subprocess.run(
            ["snakemake", "--cores", "2", *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def started(
        self, *arguments: str, before: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen:
        return subprocess.Popen(
            [*before, "snakemake", "--cores", "2", *arguments],
            cwd=self.folder,
            env=self.environment | environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # A terminal gives a command a group of its own, which Ctrl-C reaches.
            start_new_session=True,
        )

    def edit(self, file: str, change) -> None:
        edit(self.folder / file, change)


def kvstudy(workflow: Workflow, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["kvstudy", *arguments],
        cwd=workflow.folder,
        env=workflow.environment,
        capture_output=True,
        text=True,
        timeout=600,
    )


def finish_and_pack(workflow: Workflow, **environment: str) -> None:
    """Measure the study ``small``, build all of it, and pack it as small.zip."""
    for name in ("CITATION.cff", "LICENSE", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, workflow.folder)
    done = workflow.snakemake(**environment)
    assert done.returncode == 0, done.stderr
    packed = kvstudy(workflow, "archive", "small")
    assert packed.returncode == 0, packed.stderr


def jobs(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Rule and number of jobs, as Snakemake lists them before it starts."""
    lines = done.stderr.splitlines() + done.stdout.splitlines()
    if "Job stats:" not in lines:
        return {}
    result = {}
    for line in lines[lines.index("Job stats:") + 3 :]:
        name, _, count = line.partition(" ")
        if name == "total" or not line:
            break
        result[name] = int(count)
    return result


def measured(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The cells that are measured: pretend_c_rep2.

    At a rate pretend_a_load50_rep1, which pretend_a_trial_rep0 sets.
    """
    matches = re.findall(
        r"measure (\S+), workload (\S+), \S+?(_load\d+|_trial)?, repetition (\d+)",
        done.stderr + done.stdout,
    )
    return sorted({f"{store}_{name}{load}_rep{number}" for store, name, load, number in matches})


CELLS = "results/small/cells.csv"
# What is left of measuring all cells and what was said, by the study as it is written and by how
# the client behaves.
_MEASURED: dict[tuple[str, str], tuple[Path, subprocess.CompletedProcess[str]]] = {}


def measure_all(workflow: Workflow, client: str = "good") -> subprocess.CompletedProcess[str]:
    """Measure all cells; for the next test with the same study they are there already.

    Returns what Snakemake said when it measured them.
    """
    key = ((workflow.folder / STUDY).read_text(), client)
    if key in _MEASURED:
        kept, done = _MEASURED[key]
        shutil.copytree(kept, workflow.folder, dirs_exist_ok=True)
        return done
    done = workflow.snakemake(CELLS, PRETEND_CLIENT=client)
    assert (done.returncode == 0) == (client == "good"), done.stderr
    kept = workflow.folder.with_name("kept")
    for name in ("results", ".snakemake"):
        shutil.copytree(workflow.folder / name, kept / name)
    _MEASURED[key] = kept, done
    return done


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    """The study ``small``: store pretend, workloads a, c and insert, two repetitions."""
    return make_workflow(tmp_path)


def make_workflow(tmp_path: Path) -> Workflow:
    """The same for fixtures that many tests share."""
    folder = tmp_path / "clone"
    copy_project(folder, "target")
    add_pretended(folder)
    example = Workflow(
        folder,
        os.environ
        | {
            "PATH": f"{PRETEND}:{os.environ['PATH']}",
            "KVSTUDY_STATE": str(tmp_path / "state"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        },
    )
    example.environment.pop("KVSTUDY_CONTROLLER", None)
    example.edit("config/config.yaml", lambda c: c.update(study="small", provider="native"))
    return example


@pytest.fixture(scope="session")
def kept_cells(tmp_path_factory) -> Path:
    """Cells of the study ``small``, measured once for all tests."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def have(pretend_study: Path, kept_cells: Path) -> Callable[..., None]:
    """A function that leaves the raw logs of measured cells, of the study as it is written."""

    def put(*cells: str) -> None:
        behaviour = os.environ.get("PRETEND_CLIENT", "good")
        for cell in cells or (CELL,):
            raw, kept = Path("results/small/raw", cell), kept_cells / behaviour / cell
            if kept.exists():
                shutil.copytree(kept, raw)
            else:
                measure(cell)
                shutil.copytree(raw, kept)

    return put
