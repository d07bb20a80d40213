"""What an earlier Snakemake left on a cluster, whose commands are pretended."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure import controller

SQUEUE = """#!/bin/sh
[ -e queue-fails ] && { echo cannot contact the controller >&2; exit 1; }
cat queue
"""
SCANCEL = """#!/bin/sh
echo "$@" >>cancelled
[ -e jobs-stay ] || sed -i "/^1[123]|/d" queue
"""


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("squeue", SQUEUE), ("scancel", SCANCEL)):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "queue"


def test_only_jobs_of_the_groups_in_this_clone_are_cancelled(queue, capsys):
    here, other = queue.parent, queue.parent / "bin"
    queue.write_text(
        f"11|rule_repetition-1_measure|{here}\n"
        f"12|rule_probes_probe_store|{here}\n"
        f"21|rule_repetition-1_measure|{other}\n"
        f"22|(null)|{here}\n"
    )
    controller.end_earlier_jobs("slurm")
    assert Path("cancelled").read_text() == "11 12\n"
    assert capsys.readouterr().err == "Cancelling jobs of an earlier Snakemake: 11, 12\n"


def test_jobs_that_do_not_end_are_named(queue, monkeypatch):
    monkeypatch.setattr(controller, "CANCEL_SECONDS", 0)
    Path("jobs-stay").touch()
    queue.write_text(f"11|rule_repetition-2_measure|{queue.parent}\n")
    with pytest.raises(KvstudyError, match=r"jobs 11: .* do not end; 'squeue'"):
        controller.end_earlier_jobs("slurm")


def test_a_queue_that_does_not_answer(queue):
    Path("queue-fails").touch()
    with pytest.raises(KvstudyError, match="squeue: cannot contact the controller"):
        controller.end_earlier_jobs("slurm")


@pytest.mark.parametrize("executor", ["slurm", "cluster-generic", "lsf"])
def test_a_cluster_that_is_not_known_is_left_alone(executor, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    controller.end_earlier_jobs(executor)
