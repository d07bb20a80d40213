"""CPU time that went to neither client nor server while a cell's measured phase ran.

*Foreign* is what other programs of the machine took, *steal* what its
hypervisor gave to other machines; both as a share of the machine's CPU time
(all cores, busy or idle).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from kvstudy.analyse.tidy.resources import server_cpu_seconds
from kvstudy.analyse.tidy.samples import read_samples

METRICS = ("foreign_cpu", "steal_cpu")
COLUMNS = ("cpu_busy", "cpu_interrupts", "cpu_idle", "cpu_steal")
OPTIONAL = "cpu_interrupts"
# A larger share, in per cent, is reported.
MUCH = 5.0
# Seconds of CPU time below which the kernel's ticks of 10 ms are too coarse for a share.
LEAST = 1.0


def cpu_shares(raw: Path, phase: str, manifest: dict) -> dict[str, float]:
    """``foreign_cpu`` and ``steal_cpu`` of ``phase`` in per cent, as far as they can be told.

    Foreign needs the CPU time of the server, so there is none where the server
    is not among this machine's processes, nor of cells with two clients.
    KvstudyError for a file that is no ``machine.csv``.
    """
    machine = _machine(raw / "machine.csv", phase)
    total = sum(seconds for column, seconds in machine.items() if column != OPTIONAL)
    if total < LEAST:
        return {}
    shares = {"steal_cpu": 100 * machine["cpu_steal"] / total}
    server = server_cpu_seconds(raw, phase)
    if server is None and manifest["server"]["provider"] == "none":
        server = 0.0
    # Of a second client the CPU time is not known: it would count as foreign.
    alone = not manifest["cell"].get("clients")
    # Logs of an earlier version do not tell interrupts apart.
    if server is not None and alone and OPTIONAL in machine:
        # The client's is of the whole process: at the last sample it has ended.
        watched = manifest["phases"][phase]
        own = watched["client_cpu_seconds"] + server + watched.get("monitor_cpu_seconds", 0.0)
        busy = machine["cpu_busy"]
        if manifest.get("interrupts_apart") is not False:
            # Client and server cause interrupts that no process is charged with. Where that is
            # not known, others are rather told to have taken too little than too much.
            busy -= machine["cpu_interrupts"]
        # Ticks are counted apart for the machine and for its processes.
        shares["foreign_cpu"] = max(0.0, 100 * (busy - own) / total)
    return shares


def disturbance(rows: Iterable[dict]) -> dict[str, dict]:
    """Per metric: in how many ``cells`` it is known and ``above`` the limit, and the worst.

    ``rows`` are rows of measurements. A metric that no cell has is left out.
    """
    found: dict[str, dict] = {}
    for row in rows:
        if row["metric"] not in METRICS:
            continue
        known = found.setdefault(row["metric"], {"cells": 0, "above": 0, "worst": row})
        known["cells"] += 1
        known["above"] += row["value"] > MUCH
        if row["value"] > known["worst"]["value"]:
            known["worst"] = row
    keys = ("store", "workload", "parameters", "repetition", "value")
    return {
        metric: known | {"worst": {key: known["worst"][key] for key in keys}}
        for metric, known in found.items()
    }


def _machine(path: Path, phase: str) -> dict[str, float]:
    """CPU seconds of the machine by column, from the first to the last sample of ``phase``.

    Empty where there is no sample.
    """
    samples = read_samples(path, phase, COLUMNS, optional=[OPTIONAL])
    return {column: samples[-1][column] - samples[0][column] for column in (samples or [{}])[0]}
