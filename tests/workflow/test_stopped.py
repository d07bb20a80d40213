"""A command that is stopped takes the programs with it that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.project import wait_for


@pytest.fixture
def latex(tmp_path, monkeypatch) -> Path:
    """A folder with a report, and a LaTeX that works for a minute in a process of its own."""
    program = tmp_path / "bin" / "latexmk"
    program.parent.mkdir()
    program.write_text("#!/bin/bash\nsleep 61 &\necho $! >sleeping\nwait\n")
    program.chmod(0o755)
    for name in ("config/studies/small/study.yaml", "results/small/report/small.tex"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "results/small/report/sleeping"


def build(latex: Path, controller: int) -> tuple[subprocess.Popen, psutil.Process]:
    """The command, and the process that its LaTeX has started."""
    command = [sys.executable, "-m", "kvstudy", "build-pdf", "small"]
    building = subprocess.Popen(
        command,
        env=os.environ | {"KVSTUDY_CONTROLLER": str(controller)},
        stderr=subprocess.PIPE,
        text=True,
    )
    number = wait_for(lambda: latex.is_file() and latex.read_text(), "LaTeX was not started", 30)
    return building, psutil.Process(int(number))


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_latex_too(latex, sign):
    building, below = build(latex, os.getpid())
    building.send_signal(sign)
    assert building.wait(10) == 128 + sign
    below.wait(10)


def test_a_command_ends_with_the_snakemake_that_waits_for_it(latex):
    controller = subprocess.Popen(["sleep", "60"])
    building, below = build(latex, controller.pid)
    controller.kill()
    controller.wait()
    _, errors = building.communicate(timeout=10)
    assert "the process that started this has died; stopped" in errors
    below.wait(10)
