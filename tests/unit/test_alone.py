import fcntl
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure import controller


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
        holder = controller.share_clone()
        assert holder == "process 7, since today: snakemake"
        with pytest.raises(KvstudyError, match=r"works in this clone \(process 7, since today"):
            controller.take_clone(holder)


def test_a_start_waits_for_a_dry_run(clone):
    lock = another(fcntl.LOCK_SH)
    holder = controller.share_clone()
    assert not holder
    threading.Timer(1, lock.close).start()
    controller.take_clone(holder)
    assert "process" in Path(".snakemake/kvstudy.lock").read_text()


def test_a_dry_run_without_end_is_somebody(clone, monkeypatch):
    monkeypatch.setattr(controller, "PATIENCE_SECONDS", 0.3)
    message = r"works in this clone \(another process\)"
    with another(fcntl.LOCK_SH), pytest.raises(KvstudyError, match=message):
        controller.take_clone(controller.share_clone())


def test_two_hosts_do_not_measure_one_cell(clone):
    """Another process stands for the one on the other host."""
    cell, other = Path("results/small/measuring/a"), Path("results/small/measuring/b")
    code = "from kvstudy.measure.controller import alone_with; from pathlib import Path; import sys"
    code += "\nwith alone_with(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, cell]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        message = "a process of another host works there"
        with pytest.raises(KvstudyError, match=message), controller.alone_with(cell):
            pass
        with controller.alone_with(other):
            pass
        process.kill()
    with controller.alone_with(cell):
        pass
