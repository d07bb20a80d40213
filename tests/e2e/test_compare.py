"""Two stores measured twice on real servers, and both runs compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import missing_requirement
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study

from tests.e2e.pipeline import ROOT, TWO_STORES

STUDY = TWO_STORES | {
    "title": "Measured twice",
    "question": "Is it the same again?",
}


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def with_servers(project: Path) -> Path:
    """A project folder with the bindings, the installed servers and the templates."""
    for name in ("servers", "workflow"):
        (project / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "report/templates", project / "report/templates")
    return project


def test_two_runs_of_one_machine(with_servers):
    for store in STUDY["stores"]:
        problem = missing_requirement(load_store(with_servers / "envs/stores" / store))
        if problem and not os.environ.get("CI"):
            pytest.skip(problem)
        assert not problem
    for name in ("before", "after"):
        file = Path(f"config/studies/{name}/study.yaml")
        file.parent.mkdir()
        file.write_text(yaml.safe_dump(STUDY | {"name": name}))
        for cell in plan(load_study(file)):
            run("kvstudy", "measure", cell.path, "--study", str(file), "--provider", "native")
        run("kvstudy", "parse", file.parent.name)

    # One side comes from elsewhere, without its raw logs and its study.
    shutil.copytree("results/after", "stick/after", ignore=shutil.ignore_patterns("raw"))
    shutil.rmtree("config/studies/after")
    shutil.rmtree("results/after")
    text = run("kvstudy", "compare", "before", "stick/after")
    assert "4 of 4 cells count" in text
    assert "study: before  ->  after" in text
    assert "Nothing is left out" in text
    assert "(one machine)" in text

    output = Path("results/comparisons/before-vs-after")
    changes = pd.read_csv(output / "changes.csv")
    assert changes[["workload", "store", "base"]].to_numpy().tolist() == [
        ["c", "memcached", "redis"]
    ]
    # Nothing changed, and no load of the machine makes ten times of it.
    assert changes["change"].between(0.1, 10).all()
    assert len(pd.read_csv(output / "throughputs.csv")) == 2
    info = run("pdfinfo", str(output / "comparison.pdf"))
    assert re.search(r"^Pages: +[12]$", info, re.M)
