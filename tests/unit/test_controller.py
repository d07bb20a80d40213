"""One Snakemake in a clone, one process at a cell, and jobs that an earlier Snakemake left."""

import fcntl
import os
import subprocess
import sys
import threading
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
def clone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    held = []
    monkeypatch.setattr(controller, "_held", held)
    monkeypatch.setattr(controller, "PATIENCE_SECONDS", 5)
    yield tmp_path
    for lock in held:
        lock.close()


def another(how: int):
    Path(".snakemake").mkdir()
    lock = Path(".snakemake/kvstudy.lock").open("ab")  # noqa: SIM115
    fcntl.flock(lock, how)
    return lock


def test_who_has_the_clone_is_told(clone):
    with another(fcntl.LOCK_EX) as lock:
        lock.write(b"process 7, since today: snakemake\n")
        lock.flush()
        holder = controller.lock_shared()
        assert holder == "process 7, since today: snakemake"
        with pytest.raises(KvstudyError, match=r"works in this clone \(process 7, since today"):
            controller.lock_exclusive(holder)


def test_a_start_waits_for_a_dry_run(clone):
    lock = another(fcntl.LOCK_SH)
    holder = controller.lock_shared()
    assert not holder
    threading.Timer(1, lock.close).start()
    controller.lock_exclusive(holder)
    assert "process" in Path(".snakemake/kvstudy.lock").read_text()


def test_a_dry_run_without_end_is_somebody(clone, monkeypatch):
    monkeypatch.setattr(controller, "PATIENCE_SECONDS", 0.3)
    message = r"works in this clone \(another process\)"
    with another(fcntl.LOCK_SH), pytest.raises(KvstudyError, match=message):
        controller.lock_exclusive(controller.lock_shared())


def test_two_hosts_do_not_measure_one_cell(clone):
    """Another process stands for the one on the other host."""
    cell, other = Path("results/small/measuring/a"), Path("results/small/measuring/b")
    code = "from kvstudy.measure.controller import cell_lock; from pathlib import Path; import sys"
    code += "\nwith cell_lock(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, cell]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        message = "a process of another host works there"
        with pytest.raises(KvstudyError, match=message), controller.cell_lock(cell):
            pass
        with controller.cell_lock(other):
            pass
        process.kill()
    with controller.cell_lock(cell):
        pass


# --- jobs on a cluster, whose commands are pretended


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
