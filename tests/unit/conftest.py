"""A study whose store and client are pretended."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples everywhere, and no failure because a machine is busy.
settings.register_profile("kvstudy", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("kvstudy")

PRETEND = Path(__file__).parents[1] / "pretend"


@pytest.fixture
def pretend_study(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study ``small`` in the test's project folder; returns its study.yaml."""
    monkeypatch.setenv("PATH", f"{PRETEND}:{os.environ['PATH']}")
    shutil.copytree(PRETEND / "store", project / "envs" / "stores" / "pretend")
    shutil.copytree(PRETEND / "unbound", project / "envs" / "stores" / "unbound")
    library = project / "workflow" / "bindings" / "target" / "lib"
    library.mkdir(parents=True)
    (library / "kvstudy-bindings.jar").write_bytes(b"jar")
    path = Path("config/studies/small/study.yaml")
    path.parent.mkdir()
    shutil.copy(PRETEND / "study.yaml", path)
    return path
