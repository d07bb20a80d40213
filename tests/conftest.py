"""What all tests share: a project folder of their own, with pretended programs in it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's config, stores and workloads; the test runs in it."""
    for name in ("config", "envs/stores", "workloads"):
        shutil.copytree(ROOT / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("YCSB_HOME", raising=False)
    monkeypatch.setenv("KVSTUDY_CONTROLLER", str(os.getpid()))
    return tmp_path
