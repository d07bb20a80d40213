"""CPU time that went to neither client nor server, and what was stolen."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from kvstudy.analyse.tidy.files import MEASUREMENTS
from kvstudy.analyse.tidy.resources import Samples, cpu_shares, disturbance
from kvstudy.errors import KvstudyError
from kvstudy.measure.kernel import Tree, interrupts_apart

HEADER = "phase,seconds,cpu_busy,cpu_interrupts,cpu_idle,cpu_steal\n"
# In 10 s of two cores: 12 s busy (of these 1 s interrupts), 7 s idle, 1 s stolen.
MACHINE = HEADER + "load,0,1,0,1,0\nrun,0,100,10,200,5\nrun,5,105,10.5,204,5\nrun,10,112,11,207,6\n"
SIDES = "phase,seconds,side,cpu_user,cpu_system\n"
PROCESSES = f"{SIDES}run,0,server,1,1\nrun,0,client,0,0\nrun,9,server,2.5,2.5\n"


def manifest(**changes) -> dict:
    """The server used 3 s (see PROCESSES), the client 5 s, our own sampling 1 s."""
    phase = {"client_cpu_seconds": 5.0, "monitor_cpu_seconds": 1.0}
    known = {"cell": {}, "server": {"provider": "native"}, "phases": {"run": phase}}
    return known | {"interrupts_apart": False} | changes


def write(raw: Path, machine: str = MACHINE, processes: str = PROCESSES) -> Path:
    (raw / "machine.csv").write_text(machine)
    (raw / "processes.csv").write_text(processes)
    return raw


def shares(raw: Path, reply: dict) -> dict[str, float]:
    return cpu_shares(Samples(raw, "run"), "run", reply)


@pytest.mark.parametrize(
    ("apart", "foreign"),
    # Of 20 s: 12 - 9 s where interrupts are a process's time, else 12 - 1 - 9 s.
    [(False, 15.0), (True, 10.0), (None, 10.0)],
)
def test_shares_of_the_machines_time(tmp_path, apart, foreign):
    result = shares(write(tmp_path), manifest(interrupts_apart=apart))
    assert result == pytest.approx({"steal_cpu": 5.0, "background_cpu": foreign})


def test_never_less_than_nothing(tmp_path):
    phase = {"client_cpu_seconds": 50.0, "monitor_cpu_seconds": 0.0}
    result = shares(write(tmp_path), manifest(phases={"run": phase}))
    assert result["background_cpu"] == 0


def test_a_server_that_is_not_seen(tmp_path):
    """What it uses cannot be distinguished from what others use, unless it is inside the client."""
    write(tmp_path, processes=SIDES)
    external = manifest(server={"provider": "external"})
    assert list(shares(tmp_path, external)) == ["steal_cpu"]
    inside = manifest(server={"provider": "none"})
    assert shares(tmp_path, inside)["background_cpu"] == pytest.approx(30)


def test_too_short_to_tell_or_without_samples_of_the_machine(tmp_path):
    assert shares(tmp_path, manifest()) == {}
    rows = "run,0,1,0,1,0\nrun,0.4,1.4,0,1.4,0\n"
    assert shares(write(tmp_path, HEADER + rows), manifest()) == {}
    assert shares(write(tmp_path, HEADER), manifest()) == {}


@pytest.mark.parametrize(
    "text", ["no,columns\n1,2\n", HEADER + "run,0,x,0,1,1\n", HEADER + "run,0,1\n", "\0"]
)
def test_a_broken_file_is_named(tmp_path, text):
    if text == "\0":
        (tmp_path / "machine.csv").mkdir()
    else:
        write(tmp_path, text)
    with pytest.raises(KvstudyError, match=r"machine\.csv: cannot be read .*measure the cell"):
        Samples(tmp_path, "run")


def row(metric: str, value: float, store: str = "redis", repetition: int = 1) -> dict:
    key = {"store": store, "workload": "a", "parameters": "r1", "repetition": repetition}
    return key | {"phase": "run", "operation": "overall", "metric": metric, "value": value}


def test_how_many_cells_and_the_worst():
    rows = [
        row("throughput", 1e6),
        row("background_cpu", 5.0),
        row("background_cpu", 61.0, "riak", 2),
        row("background_cpu", 7.0, "memcached"),
        row("steal_cpu", 0.0),
    ]
    table = disturbance(MEASUREMENTS.frame(rows))
    assert (table["background_cpu"]["cells"], table["background_cpu"]["above"]) == (3, 2)
    assert table["background_cpu"]["least"] == 5
    worst = {"store": "riak", "workload": "a", "parameters": "r1", "repetition": 2, "value": 61.0}
    assert table["background_cpu"]["worst"] == worst
    assert (table["steal_cpu"]["cells"], table["steal_cpu"]["above"]) == (1, 0)
    assert disturbance(MEASUREMENTS.frame()) == {}


@pytest.mark.parametrize(
    ("text", "apart"),
    [
        ("CONFIG_IRQ_TIME_ACCOUNTING=y\n", True),
        ("# CONFIG_IRQ_TIME_ACCOUNTING is not set\n", False),
    ],
)
def test_how_the_kernel_counts_interrupts(tmp_path, text, apart):
    assert interrupts_apart(Tree(tmp_path)) is None
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text("6.1\n")
    assert interrupts_apart(Tree(tmp_path)) is None
    (tmp_path / "boot").mkdir()
    (tmp_path / "boot/config-6.1").write_text(text)
    assert interrupts_apart(Tree(tmp_path)) is apart
    (tmp_path / "boot/config-6.1").unlink()
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(text.encode()))
    assert interrupts_apart(Tree(tmp_path)) is apart
    (tmp_path / "proc/config.gz").write_bytes(b"broken")
    assert interrupts_apart(Tree(tmp_path)) is None
