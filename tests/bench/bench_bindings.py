"""Our bindings beside plain C clients on the same server, with the same number of connections.

Each round runs both clients one after the other on one server, so that what
disturbs the machine disturbs both. Compare the ratios: a C client does not
choose keys, build records or keep histograms. memcslap reads records of its own
size (about 400 bytes; YCSB's are about 1.2 kB).
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kvstudy.logs.ycsb.parse import parse
from kvstudy.measure.client import find_client, phase_command
from kvstudy.stores.definition import Store, load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, serving
from kvstudy.study.cells import Cell
from kvstudy.study.load import STORES

ROUNDS = 5
RECORDS = 100_000
OPERATIONS = 300_000
CONNECTIONS = 4


def main() -> None:
    compare(load_store(STORES / "redis"), redis_benchmark, "redis-benchmark HGETALL, 10 x 100 B")
    if shutil.which("memcslap"):
        compare(load_store(STORES / "memcached"), memcslap, "memcslap get")
    else:
        print("memcached: no memcslap on this machine; install Debian's libmemcached-tools")


def compare(store: Store, plain, name: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = NativeServer(store, free_port(), folder / "data", folder / "server.log")
        with serving(store, server, server.log) as version:
            ycsb(store, server, "load", folder)
            pairs = [
                (ycsb(store, server, "run", folder), plain(server.port)) for _ in range(ROUNDS)
            ]
    ours, theirs = zip(*pairs, strict=True)
    print(f"{store.title} {version}, {CONNECTIONS} connections, n {ROUNDS}")
    show("YCSB workload C, our binding (ops/s)", ours)
    show(f"{name} (ops/s)", theirs)
    show("ratio within a round", [one / other for one, other in pairs], ".2f")


def ycsb(store: Store, server: NativeServer, phase: str, folder: Path) -> float:
    """Throughput of the phase in operations per second; CPU of the client is its own matter."""
    cell = Cell(store.name, "c", RECORDS, OPERATIONS, CONNECTIONS, None, 1, (), store.name)
    client = find_client(store)
    command = phase_command(client, store, cell, phase, server.host, server.port, folder)
    return parse(output(command, CLASSPATH=client.classpath), phase).throughput


def redis_benchmark(port: int) -> float:
    fields = [word for number in range(10) for word in (f"field{number}", "x" * 100)]
    subprocess.run(
        ["redis-cli", "-p", str(port), "HSET", "bench", *fields], check=True, capture_output=True
    )
    command = ["redis-benchmark", "-p", str(port), "-c", str(CONNECTIONS), "-n", str(OPERATIONS)]
    found = re.findall(
        r"([\d.]+) requests per second", output([*command, "-q", "HGETALL", "bench"])
    )
    return float(found[-1])


def memcslap(port: int) -> float:
    each = OPERATIONS // CONNECTIONS
    command = ["memcslap", f"--servers=127.0.0.1:{port}", f"--concurrency={CONNECTIONS}"]
    start = time.monotonic()
    said = output([*command, f"--execute-number={each}", "--initial-load=10000", "--test=get"])
    found = re.search(r"Took ([\d.]+) seconds", said)
    seconds = float(found[1]) if found else time.monotonic() - start
    return OPERATIONS / seconds


def output(command: list[str], **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment, timeout=600
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout


def show(what: str, values, form: str = ".0f") -> None:
    middle, low, high = statistics.median(values), min(values), max(values)
    print(f"  {what:46} median {middle:{form}}  min {low:{form}}  max {high:{form}}", flush=True)


if __name__ == "__main__":
    main()
