"""What was watched in a phase: how busy client, server and machine were, and with what.

*Foreign* is the CPU time that other programs of the machine took, *steal* what its
hypervisor gave to other machines; both as a share of the machine's CPU time
(all cores, busy or idle).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kvstudy.analyse.tidy.resources import read_samples, server_cpu_seconds
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import YcsbLog

# In less time the kernel's ticks do not tell how many cores there are.
LEAST_SECONDS = 2.0


def usage(
    raw: Path,
    phase: str,
    threads: int,
    log: YcsbLog,
    client: tuple[float, float],
    client_on: str | None = None,
    usable: int | None = None,
) -> dict[str, float]:
    """Metrics of one phase, without those that its logs do not tell.

    ``client`` is the CPU time of the whole client process and how long it lived (s),
    ``client_on`` the cores that it was bound to (``0-1,4``), ``usable`` how many cores the
    manifest says that there are; without it, samples of two seconds or more tell.

    ``in_call``: share of the client threads' time inside calls to the store
    (throughput x mean latency / threads, Little's law). ``client_cores``,
    ``server_cores``: cores in use on average, of the server from the first to the
    last sample; ``machine_cores``: cores that there are, ``client_allowed`` those that the
    client may use.
    """
    found = {"in_call": _in_call(threads, log)} if log.runtime > 0 else {}
    cpu, seconds = client
    found["client_cores"] = cpu / seconds if seconds else None
    columns = ("cpu_user", "cpu_system")
    found["server_cores"] = _per_second(raw / "processes.csv", phase, columns, "server")
    columns = ("cpu_busy", "cpu_idle", "cpu_steal")
    if usable is None:
        # The kernel's clock ticks are coarse; the number is whole.
        cores = _per_second(raw / "machine.csv", phase, columns, least=LEAST_SECONDS)
        usable = round(cores) if cores else None
    found["machine_cores"] = usable
    found["client_allowed"] = _count(client_on) if client_on else found["machine_cores"]
    return {name: value for name, value in found.items() if value is not None}


def _count(cores: str) -> int:
    """How many cores a list like ``0-1,4`` names."""
    ends = [part.split("-") for part in cores.split(",")]
    return sum(int(part[-1]) - int(part[0]) + 1 for part in ends)


def _in_call(threads: int, log: YcsbLog) -> float:
    # The parts of a read-modify-write have sections of their own.
    waited = sum(
        section.operations * section.latencies["latency_mean"]
        for name, section in log.sections.items()
        if name != "READ-MODIFY-WRITE" and "latency_mean" in section.latencies
    )
    return waited / (threads * log.runtime * 1000)


def _per_second(
    path: Path,
    phase: str,
    columns: tuple[str, ...],
    side: str | None = None,
    least: float = 0.0,
) -> float | None:
    """Growth per second of the sum of ``columns``; None with less than two samples of them.

    None too when the first and the last one are less than ``least`` seconds apart.
    """
    samples = [
        (row.pop("seconds"), sum(row.values()))
        for row in read_samples(path, phase, ("seconds", *columns), side)
    ]
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        return None
    if samples[-1][0] - samples[0][0] < least:
        return None
    (start, first), (end, last) = samples[0], samples[-1]
    return (last - first) / (end - start)


# Others (Z, Epsilon) stop the client too, but do not say so in such lines.
_KNOWN = re.compile(r"Using (Serial|Parallel|G1|Shenandoah)\b")
_PAUSE = re.compile(r" Pause .* (\d+[.,]\d+)ms$", re.M)


def gc_pauses(raw: Path, phase: str) -> tuple[int, float] | None:
    """How often the collector stopped the client in ``phase``, and for how long together (ms).

    From ``<phase>.gc.log``. None without that file, or of a collector whose pauses
    do not stand in it.
    """
    path = raw / f"{phase}.gc.log"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise KvstudyError(f"{path}: cannot be read: {error.strerror}") from None
    if not _KNOWN.search(text):
        return None
    pauses = [float(number.replace(",", ".")) for number in _PAUSE.findall(text)]
    return len(pauses), sum(pauses)


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
