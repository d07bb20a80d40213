"""Our YCSB bindings next to YCSB's own on the same server: throughput, and its ratio.

Needs the folder of an unpacked YCSB 0.17 in the variable YCSB_HOME; takes the stores that have a
binding there and a server here (5 min each).
Each round runs both clients one after the other in turns, so that what disturbs the machine
disturbs both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import parse
from kvstudy.measure.client import Client, find_client, phase_command
from kvstudy.stats.ratios import paired_ratio
from kvstudy.stores.definition import Store, load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, running_server
from kvstudy.study.cells import Cell
from kvstudy.study.load import STORES

RECORDS = 100_000
THREADS = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("stores", nargs="*", help="only these (default: all that can be compared)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--workloads", default="a,c", help="default: %(default)s")
    parser.add_argument("--operations", type=int, default=300_000, help="default: %(default)s")
    requests = parser.parse_args()
    # Our own client is what find_client gives where the variable is not set.
    home = os.environ.pop("YCSB_HOME", "")
    if not home:
        sys.exit(
            "YCSB_HOME: name the folder of an unpacked YCSB 0.17, whose bindings to compare with"
        )
    print("| store | workload | ours, ops/s | YCSB's, ops/s | ours / YCSB's, 95 % interval |")
    print("|---|---|---|---|---|")
    for name in requests.stores or sorted(path.parent.name for path in STORES.glob("*/store.yaml")):
        store = load_store(STORES / name)
        if store.embedded or store.ycsb.official is None:
            continue
        try:
            clients = find_client(store), find_client(store, home)
            cells = [
                Cell(name, workload, RECORDS, requests.operations, THREADS, None, 1, (), name)
                for workload in requests.workloads.split(",")
            ]
            compare(store, *clients, cells, requests.rounds)
        except KvstudyError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)


def compare(store: Store, ours: Client, theirs: Client, cells: list[Cell], rounds: int) -> None:
    """Print the store's lines of the table, one for each of the ``cells``."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = NativeServer(store, free_port(), folder / "data", folder / "server.log")
        with running_server(store, server, server.log):
            throughput(ours, store, server, cells[0], "load", folder)
            for cell in cells:
                of: dict[Client, list[float]] = {ours: [], theirs: []}
                for number in range(rounds):
                    for client in (ours, theirs)[:: 1 if number % 2 else -1]:
                        of[client].append(throughput(client, store, server, cell, "run", folder))
                line(store, cell.workload, *of.values())


def line(store: Store, workload: str, ours: list[float], theirs: list[float]) -> None:
    ratio = paired_ratio(dict(enumerate(ours)), dict(enumerate(theirs)))
    means = " | ".join(f"{fmean(values):,.0f}" for values in (ours, theirs))
    interval = f"{ratio.value:.3g} [{ratio.low:.3g}, {ratio.high:.3g}]"
    print(f"| {store.title} | {workload.upper()} | {means} | {interval} |", flush=True)


def throughput(
    client: Client, store: Store, server: NativeServer, cell: Cell, phase: str, folder: Path
) -> float:
    """The phase's operations per second; KvstudyError with what the client said if it failed."""
    command = phase_command(client, store, cell, phase, server.host, server.port, folder)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=os.environ | {"CLASSPATH": client.classpath},
        timeout=600,
    )
    if done.returncode != 0:
        raise KvstudyError(f"{' '.join(command)} failed: {done.stderr[-1000:]}")
    return parse(done.stdout, phase).throughput


if __name__ == "__main__":
    main()
