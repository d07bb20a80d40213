"""What is read of server, client and machine while a phase runs."""

import os
import subprocess
import sys
import time

import pandas as pd
import pytest
from kvstudy.analyse.tidy.resources import Samples, cpu_shares
from kvstudy.measure.clients import (
    CGROUPS,
    MACHINE_COLUMNS,
    PROCESS_COLUMNS,
    Sampler,
    _own_group,
)

BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def test_cpu_of_a_process_and_its_children(tmp_path):
    # The child burns 0.3 s and ends; its parent 0.1 s.
    code = (
        "import subprocess, sys, time\nsys.stdin.readline()\n"
        f"subprocess.run([sys.executable, '-c', {BUSY.format(0.3)!r}])\n"
        + BUSY.format(0.1)
        + "print('done', flush=True)\ntime.sleep(60)\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    server = subprocess.Popen([sys.executable, "-c", code], **pipes)
    try:
        sampler = Sampler(tmp_path, "run", {"server": [server.pid], "client": [os.getpid()]})
        sampler.sample()
        server.stdin.write(b"begin\n")
        server.stdin.flush()
        server.stdout.readline()
        sampler.sample()
        sampler.close()
        assert sampler.cpu_seconds >= 0
    finally:
        server.kill()
        server.communicate()
    assert 0.35 <= Samples(tmp_path, "run").server()[0] < 2
    assert Samples(tmp_path, "load").server() is None
    table = pd.read_csv(tmp_path / "processes.csv")
    assert list(table) == PROCESS_COLUMNS
    assert table["side"].tolist() == ["server", "client"] * 2
    assert (table["rss"] > 1_000_000).all()
    assert table["switches_voluntary"].notna().all()


def test_the_machine_as_a_whole(tmp_path):
    sampler = Sampler(tmp_path, "run", {})
    sampler.sample()
    time.sleep(0.2)
    sampler.sample()
    sampler.close()
    table = pd.read_csv(tmp_path / "machine.csv")
    assert list(table) == MACHINE_COLUMNS
    spent = table[["cpu_busy", "cpu_idle", "cpu_steal"]].sum(axis=1).diff().iloc[-1]
    assert spent > 0


def test_two_phases_share_the_files_and_an_ended_process_is_left_out(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    for phase in ("load", "run"):
        sampler = Sampler(tmp_path, phase, {"server": [ended.pid]})
        sampler.sample()
        sampler.close()
    assert pd.read_csv(tmp_path / "processes.csv").empty
    assert pd.read_csv(tmp_path / "machine.csv")["phase"].tolist() == ["load", "run"]


def test_a_control_group_of_its_own_counts_children_that_nobody_waited_for(tmp_path):
    group = next(
        (each / "kvstudy-test" for each in CGROUPS if (each / "cgroup.procs").exists()), None
    )
    if group is None or not os.access(group.parent, os.W_OK):
        pytest.skip("no cgroup v2 in which this user may make a group")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no group can be made in cgroup v2: {error}")
    # The child of a child burns 0.3 s and is waited for by init, not by the server.
    orphan = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BUSY.format(0.3)!r}])"
    )
    code = (
        "import subprocess, sys, time\nsys.stdin.readline()\n"
        f"subprocess.run([sys.executable, '-c', {orphan!r}])\ntime.sleep(60)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    try:
        (group / "cgroup.procs").write_text(str(server.pid))
        roots = {"server": [server.pid], "client": [os.getpid()]}
        sampler = Sampler(tmp_path, "run", roots)
        sampler.sample()
        before = _cpu_of(group)
        server.stdin.write(b"\n")
        server.stdin.flush()
        end = time.monotonic() + 30
        while _cpu_of(group) - before < 0.31 and time.monotonic() < end:
            time.sleep(0.05)
        sampler.sample()
        sampler.close()
    finally:
        server.kill()
        server.wait()
        server.stdin.close()
        while (group / "cgroup.procs").read_text():
            time.sleep(0.05)
        group.rmdir()
    table = pd.read_csv(tmp_path / "processes.csv")
    assert table["cpu_from"].tolist() == ["cgroup", "proc"] * 2
    assert Samples(tmp_path, "run").server()[0] >= 0.3


def _cpu_of(group) -> float:
    line = (group / "cpu.stat").read_text().splitlines()[0]
    return int(line.split()[1]) / 1e6


def test_a_group_that_is_ours_too_is_not_the_servers():
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert _own_group([child.pid]) is None
        assert _own_group([]) is None
    finally:
        child.kill()
        child.wait()


def test_a_program_of_somebody_else_is_seen(tmp_path):
    """For real: one process is the client, one burns a known time and is neither."""
    code = "import time\nwhile time.process_time() < {}: pass"
    client = subprocess.Popen([sys.executable, "-c", code.format(0.3)])
    sampler = Sampler(tmp_path, "run", {"client": [client.pid], "server": [os.getpid()]})
    sampler.sample()
    began = time.monotonic()
    other = subprocess.Popen([sys.executable, "-c", code.format(1.5)])
    client.wait()
    other.wait()
    seconds = time.monotonic() - began
    sampler.sample()
    sampler.close()
    phase = {"client_cpu_seconds": 0.3, "monitor_cpu_seconds": 0.0}
    # Its parent is our own process, which stands for the server: it must not be in its tree.
    rows = (tmp_path / "processes.csv").read_text().splitlines()
    kept = [row for row in rows if ",server," not in row]
    (tmp_path / "processes.csv").write_text("\n".join(kept) + "\n")
    reply = {"cell": {}, "server": {"provider": "none"}, "interrupts_apart": False}
    result = cpu_shares(Samples(tmp_path, "run"), "run", reply | {"phases": {"run": phase}})
    assert result["background_cpu"] >= 0.8 * 100 * 1.5 / (seconds * os.cpu_count())
    assert result["background_cpu"] <= 100
