"""Faults of real servers, in the middle of a phase: Redis and Memcached with YCSB's own client."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psutil
import pytest
from kvstudy.errors import EnvironmentFault, InvalidMeasurement
from kvstudy.language.reasons import sentence
from kvstudy.measure import phase as phases
from kvstudy.stores import process
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import missing_requirement
from kvstudy.stores.server import free_port

from tests.faults.scene import Scene, at_most, says

ROOT = Path(__file__).parents[2]
# At 1000 operations a second: three seconds of loading and four of running.
STUDY = """\
name: small
title: A small study
question: Does it hold?
stores: [redis, memcached]
workloads: [a]
parameters: {records: 3000, operations: 4000, threads: 2, properties: {target: 1000}}
repetitions: 1
noise_floor: false
client_ceiling: false
"""
SIZES = "a/r3000_o4000_t2/rep1"

# A status line after the first operations.
BEGUN = re.compile(rb" sec: [1-9]\d* operations; ")


def tell(*words: str) -> Callable[[psutil.Process, int], None]:
    def act(server: psutil.Process, port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall("".join(f"{word}\r\n" for word in words).encode())
            connection.recv(1000)

    return act


def send(sign: signal.Signals) -> Callable[[psutil.Process, int], None]:
    return lambda server, port: server.send_signal(sign)


STOOD_STILL = "no operation went well|is stopped by a signal"
FAULTS: list[tuple[str, str, str, Callable, str]] = [
    ("killed", "redis", "load", send(signal.SIGKILL), "SIGKILL during load"),
    ("killed", "redis", "run", send(signal.SIGKILL), "SIGKILL during run"),
    ("killed", "memcached", "run", send(signal.SIGKILL), "SIGKILL during run"),
    ("a crash", "redis", "run", send(signal.SIGSEGV), "SIGSEGV|exit status"),
    ("asked to end", "redis", "run", tell("SHUTDOWN NOSAVE"), "exit status 0 during run"),
    (
        "asked to end",
        "memcached",
        "run",
        send(signal.SIGTERM),
        "(exit status 0|SIGTERM) during run",
    ),
    ("frozen", "redis", "run", send(signal.SIGSTOP), STOOD_STILL),
    ("frozen", "memcached", "run", send(signal.SIGSTOP), STOOD_STILL),
]
# The server runs on, and what it did does not count.
INCOMPLETE = [
    ("emptied", "redis", "load", tell("FLUSHALL"), "server holds"),
    ("out of memory", "redis", "load", tell("CONFIG SET maxmemory 1"), "records were loaded"),
]
INVALID: list[tuple[str, str, Callable, str]] = [
    ("emptied", "redis", tell("FLUSHALL"), "holds|lost|found no record|miss"),
    ("emptied", "memcached", tell("flush_all"), "holds|lost|found no record|miss"),
    (
        "evicting",
        "redis",
        tell("CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 1500000"),
        "holds|lost|found no record|miss|evict",
    ),
    ("read only", "redis", tell("CONFIG SET maxmemory 1"), "of update operations failed"),
]


@pytest.fixture
def real(project, monkeypatch, record_property):
    """A project with the real bindings and servers of this clone."""
    for name in ("servers", "workflow"):
        if (ROOT / name).exists():
            (project / name).symlink_to(ROOT / name)
    scene = Scene(project, monkeypatch)
    scene.study.parent.mkdir()
    scene.study.write_text(STUDY)
    with at_most(120):
        yield scene
    left = scene.left()
    record_property("left", len(left))
    scene.end(left)
    assert left == []


def _listening(port: int) -> list[psutil.Process]:
    connections = psutil.net_connections("tcp")
    here = [each for each in connections if each.laddr.port == port and each.status == "LISTEN"]
    return [psutil.Process(each.pid) for each in here if each.pid]


def measured(scene: Scene, store: str, phase: str, act: Callable):
    """Measure the cell; in the middle of the phase, do it to the server."""
    if problem := missing_requirement(load_store(Path("envs/stores") / store)):
        pytest.skip(problem)
    port = free_port()
    mark = Path("results/small/measuring", store, SIZES, f"{phase}.err")
    acted = threading.Event()

    def wait() -> None:
        while not (mark.is_file() and BEGUN.search(mark.read_bytes())):
            time.sleep(0.05)
        while not (listening := _listening(port)):
            time.sleep(0.05)
        act(listening[0], port)
        acted.set()

    threading.Thread(target=wait, daemon=True).start()
    answer = scene.measure(f"{store}/{SIZES}", "--port", port)
    assert acted.is_set(), answer.text
    return answer


def check_next(scene: Scene, store: str) -> None:
    answer = scene.measure(f"{store}/{SIZES}")
    assert answer.code == 0, answer.text
    row = scene.results().loc[f"{store}/a/1"]
    assert (row.status, row.invalid) == ("measured", "")
    assert scene.left() == []


@pytest.mark.parametrize(
    ("name", "store", "phase", "act", "message"),
    [*FAULTS, *INCOMPLETE],
    ids=[f"{row[1]}: {row[0]} in the {row[2]}" for row in [*FAULTS, *INCOMPLETE]],
)
def test_a_server(real, name, store, phase, act, message):
    # Two minutes are longer than the test; on a busy machine Java needs seconds to start.
    real.monkeypatch.setattr(phases, "STALL_SECONDS", 15)
    real.monkeypatch.setattr(process.stop, "__defaults__", (2,))
    answer = measured(real, store, phase, act)
    says(answer, message)
    kind = EnvironmentFault if (name, store, phase, act, message) in FAULTS else InvalidMeasurement
    assert answer.code == kind.status, answer.text
    assert real.left() == []
    assert not Path("results/small/raw", store, SIZES).exists()
    check_next(real, store)


@pytest.mark.parametrize(
    ("name", "store", "act", "message"), INVALID, ids=[f"{row[1]}: {row[0]}" for row in INVALID]
)
def test_a_run_whose_values_do_not_count(real, name, store, act, message):
    """It is refused, or kept and out of the means, with the reason."""
    answer = measured(real, store, "run", act)
    if answer.code:
        says(answer, message)
        assert answer.code == InvalidMeasurement.status
    else:
        reason = sentence(real.results().loc[f"{store}/a/1"].invalid)
        assert re.search(message, reason), reason
    check_next(real, store)


def tree(cell: psutil.Process) -> list[psutil.Process]:
    return [cell, *cell.children(recursive=True)]


def clients(cell: psutil.Process) -> list[psutil.Process]:
    return [process for process in tree(cell) if process.name() == "java"]


def servers(cell: psutil.Process) -> list[psutil.Process]:
    return [process for process in tree(cell) if process.name() == "redis-server"]


@pytest.mark.parametrize(
    ("who", "still"),
    [(tree, True), (clients, True), (servers, False)],
    ids=["all", "client", "server"],
)
def test_programs_that_stand_still_for_a_while(real, who, still):
    """All, as on a suspended machine, or the client: no measurement. The server: a slow one."""
    command = [sys.executable, "-m", "kvstudy", "measure", f"redis/{SIZES}", "--study", real.study]
    measuring = psutil.Popen([*command, "--provider", "native"], stdout=subprocess.DEVNULL)
    mark = Path("results/small/measuring/redis", SIZES, "run.err")
    while not (mark.is_file() and BEGUN.search(mark.read_bytes())):
        time.sleep(0.05)
    stopped = who(measuring)
    for program in stopped:
        program.suspend()
    time.sleep(6)
    for program in stopped:
        program.resume()
    assert measuring.wait() == 0
    reason = sentence(real.results().loc["redis/a/1"].invalid)
    assert ("nothing ran for" in reason) == still
    values = pd.read_csv("results/small/measurements.csv").query("phase == 'run'")
    (runtime,) = values.query("metric == 'runtime'").value
    known = len(pd.read_csv("results/small/series.csv"))
    # Nobody knows what was done then; a server that is slow did nothing.
    assert (runtime / 1000 - known > 5) == still


def test_a_busy_machine_is_no_suspended_one(real):
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(20)]
    try:
        answer = real.measure(f"redis/{SIZES}")
    finally:
        for program in busy:
            program.kill()
            program.wait()
    assert answer.code == 0, answer.text
    assert real.results().loc["redis/a/1"].invalid == ""


@pytest.mark.parametrize("store", ["redis", "memcached"])
def test_a_server_of_somebody_else_is_left_alone(real, store):
    """It listens where the cell would: it is named, and still runs afterwards."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        answer = real.measure(f"{store}/{SIZES}", "--port", port)
        says(answer, rf"port {port} is taken by .*process {os.getpid()}")
        assert answer.code == EnvironmentFault.status
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            pass
    check_next(real, store)
