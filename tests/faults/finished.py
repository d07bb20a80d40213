"""The study ``small``, measured and built to its reports once for all faults that come after."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.faults.scene import Scene
from tests.project import ROOT
from tests.workflow.conftest import Workflow, make_workflow


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Workflow:
    """A clone with a whole run, and the run packed as small.zip."""
    workflow = make_workflow(tmp_path_factory.mktemp("finished"))
    for name in ("CITATION.cff", "LICENSE", "pyproject.toml", "Makefile"):
        shutil.copy(ROOT / name, workflow.folder)
    workflow.edit("config/studies/small/study.yaml", of_one_workload)
    done = subprocess.run(
        ["snakemake", "--cores", "2"],
        cwd=workflow.folder,
        env=workflow.environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with pytest.MonkeyPatch.context() as patch:
        answer = scene_of(workflow, patch).kvstudy("archive", "small")
    assert answer.code == 0, answer.text
    return workflow


def of_one_workload(study: dict) -> None:
    """Enough for faults, and sooner built."""
    study["workloads"] = ["a"]
    study["figures"][0]["workloads"] = ["a"]


def scene_of(workflow: Workflow, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """The workflow's folder and variables as those of this process."""
    monkeypatch.chdir(workflow.folder)
    for name in ("PATH", "KVSTUDY_STATE"):
        monkeypatch.setenv(name, workflow.environment[name])
    return Scene(workflow.folder, monkeypatch)


@pytest.fixture
def copy(finished, tmp_path) -> Workflow:
    """A copy of the clone, as the fault's own."""
    folder = tmp_path / "clone"
    shutil.copytree(finished.folder, folder, symlinks=True)
    # LaTeX is told whole paths, and has nothing left of an earlier time.
    for path in (folder / "results/small/report").glob("*.tex"):
        path.write_text(path.read_text().replace(str(finished.folder), str(folder)))
    shutil.rmtree(folder / "results/small/report/build", ignore_errors=True)
    return Workflow(folder, finished.environment | {"KVSTUDY_STATE": str(tmp_path / "state")})


def contents(folder: Path, *patterns: str) -> dict[str, bytes]:
    """The files below the folder that the patterns find, by their names."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for pattern in patterns
        for path in sorted(folder.glob(pattern))
        if path.is_file()
    }
