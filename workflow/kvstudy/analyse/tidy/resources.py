"""What client, server and machine used, from what was watched while a phase ran.

The sampler's counters (``measure/clients.py``) are totals, so what is used in a second is their
difference. A counter that a kernel does not have is empty, and a side whose processes are not
on this machine has no rows. *Background load* is the CPU time that other programs of the machine
took, *steal* what its hypervisor gave to other machines; both as a share of the machine's CPU time
(all cores, busy or idle).

Where server and clients had hosts of their own, each host has such files under its name. What all
clients used is a sum then; background load and steal are those of the host that had most.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from kvstudy.analyse.tidy.files import CELL
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.logs.ycsb.status import run_start

PROCESSES, MACHINE = "processes.csv", "machine.csv"
# Samples that are nearer than this say little: processor time comes in steps of 10 ms.
SHORTEST = 0.5
# In less time the kernel's ticks do not tell how many cores there are.
LEAST_SECONDS = 2.0
# Seconds of CPU time below which they are too coarse for a share.
LEAST = 1.0
# Time zones differ by multiples of a quarter of an hour.
ZONE_STEP = 900
PROCESS_CPU = ("cpu_user", "cpu_system")
# What the rates of a table's columns are made of.
PROCESS_RATES = {
    "cores_user": ["cpu_user"],
    "cores_system": ["cpu_system"],
    "switches": ["switches_voluntary", "switches_involuntary"],
    **{name: [name] for name in ("read_bytes", "write_bytes")},
}
_OF_MACHINE = ["cpu_pressure", "memory_pressure", "io_pressure", "loopback_bytes"]
MACHINE_RATES = {"cores_busy": ["cpu_busy"], "cores_steal": ["cpu_steal"]} | {
    name: [name] for name in _OF_MACHINE
}
INTERRUPTS = "cpu_interrupts"
# Others (Z, Epsilon) stop the client too, but do not say so in such lines.
_KNOWN = re.compile(r"Using (Serial|Parallel|G1|Shenandoah)\b")
_PAUSE = re.compile(r" Pause .* (\d+[.,]\d+)ms$", re.M)
# Of what disturbs a measurement, the share in per cent above which it is reported.
DISTURBING = ("background_cpu", "steal_cpu")
MUCH = 5.0


def files_of(raw: Path, name: str) -> dict[str, Path]:
    """The file of each host, by the host's name; that of this machine has the name ""."""
    found = {path.name.removesuffix(f".{name}"): path for path in sorted(raw.glob(f"*.{name}"))}
    return found or {"": raw / name}


def _totals(
    path: Path,
    phase: str,
    columns: Sequence[str],
    side: str | None = None,
    optional: Sequence[str] = (),
) -> list[dict[str, float]]:
    """``columns`` of the samples of ``phase`` (and of one ``side``), in their order.

    ``optional`` columns are left out where the file has none. Empty without a file, as with logs
    that were not measured here. KvstudyError for a file that the sampler did not write.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                {name: float(row[name]) for name in columns if name in row or name not in optional}
                for row in csv.DictReader(file)
                if row["phase"] == phase and (side is None or row["side"] == side)
            ]
    except FileNotFoundError:
        return []
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> KvstudyError:
    return KvstudyError(f"{path}: cannot be read ({error!r}); measure the cell again")


def server_cpu_seconds(raw: Path, phase: str) -> float | None:
    """CPU time of the server from the first to the last sample of ``phase``, in s.

    None where its processes are not on this machine, or nothing was sampled. KvstudyError for a
    file that is no ``processes.csv``.
    """
    return _first(_server_cpu(path, phase) for path in files_of(raw, PROCESSES).values())


def _first(values: Iterable[float | None]) -> float | None:
    return next((value for value in values if value is not None), None)


def _server_cpu(path: Path, phase: str) -> float | None:
    used = [sum(sample.values()) for sample in _totals(path, phase, PROCESS_CPU, "server")]
    return used[-1] - used[0] if len(used) > 1 else None


def resources(raw: Path, phase: str, started: float | None) -> list[dict]:
    """What each side used between every two samples of ``phase``, one row each.

    ``started`` (epoch s) is when the client was started. Keys: phase, side (client, server,
    machine), second (end of the interval, s since YCSB's clock started; below 0 while Java starts;
    since the client's start where YCSB printed no status), seconds (its length), cores_user,
    cores_system (processor time by time), rss (bytes at its end), switches (context switches per
    s), read_bytes, write_bytes, loopback_bytes (per s), cores_busy, cores_steal, and the shares of
    time in which some task of the machine waited: cpu_pressure, memory_pressure, io_pressure. What
    is not known is NaN or has no key. Hosts of their own have no rows of a machine, for there are
    several. KvstudyError for files that the sampler did not write.
    """
    offset = _client_start(raw, phase, started)
    hosts = files_of(raw, PROCESSES)
    if "" in hosts:
        sides = [*_samples(raw / PROCESSES, phase), *_samples(raw / MACHINE, phase)]
        return [row for side, samples in sides for row in _rows(side, samples, phase, offset)]
    of_side: dict[str, list[list[dict]]] = {}
    for path in hosts.values():
        for side, samples in _samples(path, phase):
            of_side.setdefault(side, []).append(_rows(side, samples, phase, offset))
    # All hosts are looked at at the same moments.
    return [_together(rows) for of in of_side.values() for rows in zip(*of, strict=False)]


def _together(rows: Sequence[dict]) -> dict:
    """What the same side used on several hosts, as one."""
    known = {name: [row.get(name) for row in rows] for name in (*PROCESS_RATES, "rss")}
    return rows[0] | {name: None if None in of else sum(of) for name, of in known.items()}


def _rows(side: str, samples: list[dict], phase: str, offset: float) -> list[dict]:
    rates = MACHINE_RATES if side == "machine" else PROCESS_RATES
    rows = []
    for before, after in pairwise(samples):
        length = after["seconds"] - before["seconds"]
        row = {
            "phase": phase,
            "side": side,
            "second": round(after["seconds"] - offset, 3),
            "seconds": round(length, 3),
        }
        row |= {name: _rate(before, after, of, length) for name, of in rates.items()}
        rows.append(row if side == "machine" else row | {"rss": after.get("rss")})
    return rows


def _client_start(raw: Path, phase: str, started: float | None) -> float:
    """How long after its start the client began to count seconds, in s."""
    try:
        text = (raw / f"{phase}.err").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    clock = run_start(text)
    if clock is None or started is None:
        return 0.0
    late = clock.replace(tzinfo=UTC) - datetime.fromtimestamp(started, UTC)
    return late.total_seconds() % ZONE_STEP


def _samples(path: Path, phase: str) -> list[tuple[str, list[dict]]]:
    """Each side with its samples, at least ``SHORTEST`` apart."""
    try:
        table = pd.read_csv(path)
        table = table[table["phase"] == phase]
        table = table.assign(seconds=table["seconds"].astype(float))
        if path.name == MACHINE:
            table["side"] = "machine"
        sides = table.groupby("side", sort=False)
    except FileNotFoundError:
        return []
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise _unreadable(path, error) from None
    return [(side, _apart(rows.sort_values("seconds").to_dict("records"))) for side, rows in sides]


def _apart(samples: list[dict]) -> list[dict]:
    """Without samples that follow another at once; the first and the last stay."""
    kept = samples[:1]
    for sample in samples[1:]:
        if sample["seconds"] - kept[-1]["seconds"] >= SHORTEST:
            kept.append(sample)
        elif sample is samples[-1]:
            kept[-1 if len(kept) > 1 else 1 :] = [sample]
    return kept


def _rate(before: dict, after: dict, counters: list[str], seconds: float) -> float | None:
    """What the counters rose by in a second; None where that is not known."""
    try:
        risen = sum(float(after.get(name)) - float(before.get(name)) for name in counters)
    except (TypeError, ValueError, OverflowError):
        return None
    # The counters of a process that ended are gone, those of a new one were not there.
    by_process = before.get("processes") != after.get("processes")
    if by_process and not (counters[0].startswith("cpu_") and after.get("cpu_from") == "cgroup"):
        return None
    return risen / seconds if risen >= 0 and seconds > 0 else None


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
    manifest says that the client's machines have; without it, samples of two seconds or more tell.

    ``in_call``: share of the client threads' time inside calls to the store (throughput x mean
    latency / threads, Little's law). ``client_cores``, ``server_cores``: cores in use on average,
    of the server from the first to the last sample; ``machine_cores``: cores that there are,
    ``client_allowed`` those that the client may use.
    """
    metrics: dict[str, float | None] = {}
    if log.runtime > 0:
        # The parts of a read-modify-write have sections of their own.
        waited = sum(
            section.operations * section.latencies["latency_mean"]
            for name, section in log.sections.items()
            if name != "READ-MODIFY-WRITE" and "latency_mean" in section.latencies
        )
        metrics["in_call"] = waited / (threads * log.runtime * 1000)
    cpu, seconds = client
    metrics["client_cores"] = cpu / seconds if seconds else None
    watched = files_of(raw, PROCESSES)
    metrics["server_cores"] = _first(
        _per_second(path, phase, PROCESS_CPU, "server") for path in watched.values()
    )
    apart = "" not in watched
    if usable is None and not apart:
        columns = ("cpu_busy", "cpu_idle", "cpu_steal")
        cores = _per_second(raw / MACHINE, phase, columns, least=LEAST_SECONDS)
        # The kernel's clock ticks are coarse; the number is whole.
        usable = round(cores) if cores else None
    # Cores of several machines limit nobody together.
    metrics["machine_cores"] = None if apart else usable
    metrics["client_allowed"] = usable
    if client_on:
        # A list like 0-1,4.
        ends = [part.split("-") for part in client_on.split(",")]
        metrics["client_allowed"] = sum(int(end[-1]) - int(end[0]) + 1 for end in ends)
    return {name: value for name, value in metrics.items() if value is not None}


def _per_second(
    path: Path, phase: str, columns: tuple[str, ...], side: str | None = None, least: float = 0.0
) -> float | None:
    """Growth per second of the sum of ``columns``, from the first sample to the last.

    None where these are less than ``least`` seconds apart, or one.
    """
    samples = _totals(path, phase, ("seconds", *columns), side)
    if not samples:
        return None
    first, last = dict(samples[0]), samples[-1]
    seconds = last.pop("seconds") - first.pop("seconds")
    if seconds <= 0 or seconds < least:
        return None
    return (sum(last.values()) - sum(first.values())) / seconds


def gc_pauses(raw: Path, phase: str) -> tuple[int, float] | None:
    """How often the collector stopped the client in ``phase``, and for how long together (ms).

    None without ``<phase>.gc.log``, or of a collector whose pauses do not stand in it.
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


def cpu_shares(raw: Path, phase: str, manifest: dict) -> dict[str, float]:
    """``background_cpu`` and ``steal_cpu`` of ``phase`` in per cent, as far as they can be told.

    The background load needs the CPU time of the server, so there is none where the server is not
    among this machine's processes. KvstudyError for a file that is no ``machine.csv``.
    """
    worst: dict[str, float] = {}
    processes = files_of(raw, PROCESSES)
    for host, machine in files_of(raw, MACHINE).items():
        for name, share in _shares_of(machine, processes[host], phase, manifest, host).items():
            worst[name] = max(share, worst.get(name, share))
    return worst


def _shares_of(
    of_machine: Path, of_processes: Path, phase: str, manifest: dict, host: str
) -> dict[str, float]:
    columns = ("cpu_busy", INTERRUPTS, "cpu_idle", "cpu_steal")
    samples = _totals(of_machine, phase, columns, optional=[INTERRUPTS])
    # CPU seconds of the machine, from the first to the last sample.
    machine = {name: samples[-1][name] - samples[0][name] for name in (samples or [{}])[0]}
    total = sum(seconds for name, seconds in machine.items() if name != INTERRUPTS)
    if total < LEAST:
        return {}
    shares = {"steal_cpu": 100 * machine["cpu_steal"] / total}
    server = _server_cpu(of_processes, phase)
    watched = manifest["phases"][phase]
    hosts = manifest.get("hosts")
    if hosts:
        watched = watched["hosts"][host]
    elsewhere = hosts and host != hosts["server"]
    if server is None and (elsewhere or manifest["server"]["provider"] == "none"):
        server = 0.0
    # Logs of an earlier version do not tell interrupts apart.
    if server is not None and INTERRUPTS in machine:
        # The client's is of the whole process: at the last sample it has ended.
        own = watched["client_cpu_seconds"] + server + watched.get("monitor_cpu_seconds", 0.0)
        busy = machine["cpu_busy"]
        if manifest.get("interrupts_apart") is not False:
            # Client and server cause interrupts that no process is charged with. Where that is
            # not known, others are rather told to have taken too little than too much.
            busy -= machine[INTERRUPTS]
        # Ticks are counted apart for the machine and for its processes.
        shares["background_cpu"] = max(0.0, 100 * (busy - own) / total)
    return shares


def disturbance(measurements: pd.DataFrame) -> dict[str, dict]:
    """Per metric: how many ``cells`` have it, how many ``above`` the limit, and the worst."""
    some = measurements[measurements["metric"].isin(DISTURBING)]
    return {
        metric: {
            "cells": len(cells),
            "above": int((cells["value"] > MUCH).sum()),
            "worst": cells.loc[cells["value"].idxmax(), [*CELL, "value"]].to_dict(),
        }
        for metric, cells in some.groupby("metric", sort=False)
    }
