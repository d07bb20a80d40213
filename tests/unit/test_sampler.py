"""What is read of server, client and machine while a phase runs."""

import os
import subprocess
import sys
import time

import pandas as pd
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure.sampler import MACHINE_COLUMNS, PROCESS_COLUMNS, Sampler
from kvstudy.tidy.resources import server_cpu_seconds

BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def test_cpu_of_a_process_and_its_children(tmp_path):
    # The child burns 0.3 s and ends; its parent 0.1 s.
    code = (
        "import subprocess, sys, time\n"
        f"subprocess.run([sys.executable, '-c', {BUSY.format(0.3)!r}])\n"
        + BUSY.format(0.1)
        + "print('done', flush=True)\ntime.sleep(60)\n"
    )
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        sampler = Sampler(tmp_path, "run", {"server": [server.pid], "client": [os.getpid()]})
        sampler.sample()
        server.stdout.readline()
        sampler.sample()
        assert sampler.close() >= 0
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
    assert 0.35 <= server_cpu_seconds(tmp_path, "run") < 2
    assert server_cpu_seconds(tmp_path, "load") is None
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


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "processes.csv").write_text("phase,side,cpu_user,cpu_system\nrun,server,1,x\n")
    with pytest.raises(KvstudyError, match=r"processes\.csv: cannot be read"):
        server_cpu_seconds(tmp_path, "run")
