"""What all tests share: a project folder of their own, with pretended programs in it."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from tests.project import PRETEND, ROOT, STUDY, add_pretended

# Whether a machine has a daemon of its own decides no test; those of Docker start one.
os.environ["DOCKER_HOST"] = "unix:///nowhere/docker.sock"
# What a shell ignores (nohup, a job in the background) its children ignore, and tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def without_servers(folder: Path, *stores: str) -> None:
    """The project in ``folder`` does not find the servers of ``stores``, whatever is installed."""
    for name in stores:
        path = folder / "envs" / "stores" / name / "store.yaml"
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r"(?m)^(  program: )(\S+)$", r"\1\2-of-no-machine", text)
        assert changed != text
        path.write_text(changed, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's config, stores and workloads; the test runs in it."""
    for name in ("config", "envs/stores", "workloads"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "report").mkdir()
    shutil.copy(ROOT / "report/references.bib", tmp_path / "report")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("YCSB_HOME", raising=False)
    monkeypatch.setenv("KVSTUDY_CONTROLLER", str(os.getpid()))
    return tmp_path


@pytest.fixture
def pretend_study(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The study ``small``, of a pretended store and client; returns its study.yaml."""
    monkeypatch.setenv("PATH", f"{PRETEND}:{os.environ['PATH']}")
    add_pretended(project)
    return STUDY
