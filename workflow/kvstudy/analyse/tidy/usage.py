"""How busy client, server and machine were in a phase: what a bottleneck is told by."""

from __future__ import annotations

from pathlib import Path

from kvstudy.analyse.tidy.samples import read_samples
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
