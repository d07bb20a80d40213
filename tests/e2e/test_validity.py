"""Misses, failures, losses and the server's own counts, on real servers that others use too."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.findings.validity import agreement, flagged
from kvstudy.analyse.tidy.collect import collect
from kvstudy.analyse.tidy.files import OF_CELLS
from kvstudy.analyse.tidy.probes import Probes, collect_probes
from kvstudy.language.reasons import sentence
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, running_server
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study

from tests.histogram_rows import long

ROOT = Path(__file__).parents[2]
STUDY = Path("config/studies/small/study.yaml")
PARAMETERS = {"records": 1000, "operations": 10_000, "seconds": 5, "threads": 2}
CELL = "memcached/c/r1000_o10000_t2_s5/rep1"
# Fewer than the reads of the cell on the slowest machine.
FOREIGN = 5_000


@pytest.fixture
def server(project, tmp_path, request):
    """A running server that the pipeline did not start: Memcached, or the store of the test."""
    for name in ("servers", "workflow"):
        (project / name).symlink_to(ROOT / name)
    store = load_store(ROOT / "envs/stores" / getattr(request, "param", "memcached"))
    result = NativeServer(store, free_port(), tmp_path / "theirs", tmp_path / "theirs.log")
    with running_server(store, result, result.log):
        yield result


def write_study(store: str, **changes: object) -> None:
    STUDY.parent.mkdir(exist_ok=True)
    data = {
        "name": "small",
        "title": "Small",
        "question": "Is it valid?",
        "stores": [store],
        "workloads": ["c"],
        "parameters": PARAMETERS,
        "repetitions": 1,
        "noise_floor": False,
        "client_ceiling": False,
    }
    STUDY.write_text(yaml.safe_dump(data | changes))


def kvstudy(*arguments: str) -> subprocess.Popen:
    # With records of its own: those of this process name the server, which would be
    # ended as a leftover.
    environment = os.environ | {"KVSTUDY_STATE": str(Path("my-state").absolute())}
    return subprocess.Popen(
        ["kvstudy", *arguments, "--study", str(STUDY)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def external(server) -> list[str]:
    return [
        "--provider",
        "external",
        "--address",
        f"{server.host}:{server.port}",
        "--delete-all-data",
    ]


def measure(
    server, meanwhile: Callable[[socket.socket], None], cell: str = CELL
) -> tuple[int, str]:
    """Measure the cell; what somebody else does in the middle of its run phase."""
    measuring = kvstudy("measure", cell, *external(server))
    status = Path("results/small/measuring", cell, "run.err")
    limit = time.monotonic() + 120
    while not (status.is_file() and " 2 sec: " in status.read_text()):
        assert measuring.poll() is None, measuring.communicate()[0]
        assert time.monotonic() < limit
        time.sleep(0.05)
    with socket.create_connection((server.host, server.port)) as connection:
        meanwhile(connection)
    output, _ = measuring.communicate(timeout=120)
    return measuring.returncode, output


def tell(connection: socket.socket, command: str, answer: bytes) -> None:
    connection.sendall(f"{command}\r\n".encode())
    reply = b""
    while not reply.endswith(answer):
        reply += connection.recv(1000)


def read_unknown_keys(connection: socket.socket) -> None:
    answers = connection.makefile("rb")
    for _ in range(FOREIGN // 1000):
        connection.sendall(b"get nobody\r\n" * 1000)
        assert {answers.readline() for _ in range(1000)} == {b"END\r\n"}


def parsed():
    study = load_study(STUDY)
    table = collect(study, plan(study), "small", kept=OF_CELLS).tables
    (cell,) = table["cells"].itertuples()
    overall = table["measurements"].query("phase == 'run' and operation == 'overall'")
    return table, cell, overall.set_index("metric")["value"]


def test_misses_that_the_client_does_not_tell_void_the_cell(server):
    """The server cannot say whose reads they were."""
    write_study("memcached")
    status, output = measure(server, read_unknown_keys)
    assert status == 0, output
    result, cell, overall = parsed()
    assert overall["failed"] == 0
    assert overall["missed"] == FOREIGN
    good = overall["operations"] - FOREIGN
    assert overall["goodput"] == pytest.approx(good / overall["runtime"] * 1000)
    assert sentence(cell.invalid).startswith(f"the server counted {FOREIGN} misses among the")
    # Declared ones are a part of the result.
    expected = {"store": "memcached", "kind": "misses", "operation": "read", "up_to": 1.0}
    write_study("memcached", expected_failures=[expected | {"reason": "Others read."}])
    assert parsed()[1].invalid == ""

    probing = kvstudy("probe", "memcached", *external(server))
    output, _ = probing.communicate(timeout=120)
    assert probing.returncode == 0, output
    probes = Probes(collect_probes(load_study(STUDY), "small")[0])
    (row,) = flagged(agreement(result["outcomes"], probes, set())).itertuples()
    assert row.counter == "cmd_get"
    assert row.counted == overall["operations"] + FOREIGN
    assert row.most == overall["operations"]


def test_a_miss_that_the_client_tells_is_a_failure_of_its_kind(server):
    write_study("memcached")
    status, output = measure(server, lambda reply: tell(reply, "flush_all", b"OK\r\n"))
    assert status == 0, output
    result, cell, overall = parsed()
    kinds = result["outcomes"].query("kind == 'status'").set_index("name")["count"]
    assert kinds["NOT_FOUND"] == overall["failed"] > 1000
    assert overall["missed"] == 0
    counted = result["outcomes"].query("kind == 'counter'").set_index("name")["count"]
    assert counted["get_misses"] == overall["failed"]
    assert overall["goodput"] == pytest.approx(kinds["OK"] / overall["runtime"] * 1000)
    assert "of read operations failed" in sentence(cell.invalid)
    assert "misses" not in sentence(cell.invalid)


@pytest.mark.parametrize("server", ["redis"], indirect=True)
@pytest.mark.parametrize("workload", ["d", "update"])
def test_records_that_are_lost_in_the_run_void_the_cell(server, workload):
    """After it, updates make all records again, with one field, and inserts add to nothing."""
    shares = {"properties": {"insertproportion": 1, "readproportion": 0}}
    write_study("redis", workloads=[{"name": workload, **(shares if workload == "d" else {})}])
    cell = CELL.replace("memcached/c", f"redis/{workload}")
    status, output = measure(server, lambda reply: tell(reply, "FLUSHALL", b"OK\r\n"), cell)
    assert status == 0, output
    _, cell, overall = parsed()
    # Nothing in YCSB's output shows it.
    assert overall["failed"] == 0
    assert overall["goodput"] == pytest.approx(overall["throughput"], rel=1e-3)
    assert "the server's counter FLUSHALL rose by 1: it dropped records" in sentence(cell.invalid)
    if workload == "d":
        stored = 1000 + int(overall["operations"])
        assert f" records after the run, but {stored} were stored and not deleted: " in sentence(
            cell.invalid
        )


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_records_that_redis_evicts_in_the_run_void_the_cell(server):
    write_study("redis", workloads=["update"])
    cell = CELL.replace("memcached/c", "redis/update")

    def evict(reply: socket.socket) -> None:
        tell(reply, "CONFIG SET maxmemory-policy allkeys-random", b"OK\r\n")
        tell(reply, "CONFIG SET maxmemory 1500000", b"OK\r\n")

    status, output = measure(server, evict, cell)
    assert status == 0, output
    _, cell, _ = parsed()
    reason = sentence(cell.invalid)
    assert " records after the run, but 1000 were stored and not deleted: " in reason
    assert "the server's counter evicted_keys rose by " in reason


@pytest.mark.parametrize("server", ["redis"], indirect=True)
def test_a_server_that_is_stopped_for_a_while_is_flagged(server):
    """A few operations time out, which is no reason to leave the cell out."""
    write_study("redis", parameters=PARAMETERS | {"seconds": 15})
    (process,) = server.process_ids()

    def stop(reply: socket.socket) -> None:
        os.kill(process, signal.SIGSTOP)
        time.sleep(9)
        os.kill(process, signal.SIGCONT)

    status, output = measure(server, stop, "redis/c/r1000_o10000_t2_s15/rep1")
    assert status == 0, output
    _, cell, overall = parsed()
    assert cell.invalid == ""
    assert overall["failed"] > 0
    assert 7 < overall["stalled"] < 10


def test_counters_that_fall_fail_the_cell(server):
    """As when a server is started again behind the client's back."""
    write_study("memcached")
    status, output = measure(server, lambda reply: tell(reply, "stats reset", b"RESET\r\n"))
    assert status == 4
    assert "Memcached: its counter cmd_set fell by 1000; was the server started again?" in output
    assert not Path("results/small/raw", CELL).exists()


def test_every_single_latency_is_kept(project):
    for name in ("servers", "workflow"):
        (project / name).symlink_to(ROOT / name)
    parameters = {"records": 1000, "operations": 20_000, "threads": 2, "raw_latencies": True}
    write_study("redis", workloads=["a"], parameters=parameters)
    cell = "redis/a/r1000_o20000_t2/rep1"
    measuring = kvstudy("measure", cell, "--provider", "native")
    output, _ = measuring.communicate(timeout=120)
    assert measuring.returncode == 0, output
    study = load_study(STUDY)
    table = pd.read_parquet(f"results/small/raw/{cell}/run.latencies.parquet")
    assert set(table["operation"]) == {"READ", "UPDATE"}
    assert len(table) == 20_000
    assert table["timestamp"].diff().abs().max() < 60_000
    tidy = collect(study, plan(study), "small", kept=OF_CELLS).tables
    histograms = long(tidy["histograms"])
    values = (
        tidy["measurements"].query("phase == 'run'").set_index(["operation", "metric"])["value"]
    )
    for operation, of in table.groupby(table["operation"].str.lower()):
        assert len(of) == values[operation, "operations"]
        assert of["latency"].min() == values[operation, "latency_min"]
        # The histogram rounds to three digits.
        mean = values[operation, "latency_mean"]
        assert of["latency"].mean() == pytest.approx(mean, rel=1e-3)
        counts = histograms.query("operation == @operation").set_index("latency")["count"]
        assert counts.to_dict() == of["latency"].value_counts().to_dict()
        # Between two latencies that lie apart each has its own rule.
        ends = of["latency"].quantile([0.989, 0.991])
        assert ends.iloc[0] <= values[operation, "latency_p99"] * 1.001
        assert values[operation, "latency_p99"] <= ends.iloc[1] * 1.001
