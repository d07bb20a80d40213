"""Resources of client, server and machine, from samples taken during a phase.

The sampler's counters (``measure/clients.py``) are totals, so what is used in a second is their
difference. A counter that a kernel does not have is empty, and a side whose processes are not
on this machine has no samples. *Background load* is the CPU time that other programs of the machine
took, *steal* what its hypervisor gave to other machines; both as a share of the machine's CPU time
(all cores, busy or idle).

Where server and clients had hosts of their own, each host has such files under its name. What all
clients used is a sum then; background load and steal are those of the host that had most.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from kvstudy.analyse.tidy.files import CELL
from kvstudy.errors import DataError
from kvstudy.libraries import np, pd
from kvstudy.logs.ycsb.log import TIMES, YcsbLog
from kvstudy.logs.ycsb.status import run_start

PROCESSES, MACHINE = "processes.csv", "machine.csv"
# Samples that are nearer than this say little: processor time comes in steps of 10 ms.
SHORTEST = 0.5
# Seconds of CPU time below which they are too coarse for a share.
LEAST = 1.0
# Time zones differ by multiples of a quarter of an hour.
ZONE_STEP = 900
# What each line of a file must have.
PROCESS_TIMES = ["seconds", "cpu_user", "cpu_system"]
MACHINE_TIMES = ["seconds", "cpu_busy", "cpu_interrupts", "cpu_idle", "cpu_steal"]
# Of a process that runs, one of them rises.
SIGNS_OF_LIFE = ["cpu_user", "cpu_system", "switches_voluntary", "switches_involuntary"]
# The counters of which a table's columns are the rates. Of processes, those of hosts are added up.
PROCESS_RATES = {"cores_user": "cpu_user", "cores_system": "cpu_system"}
MACHINE_RATES = {"cores_busy": "cpu_busy"}
# Others (Z, Epsilon) stop the client too, but do not say so in such lines.
_KNOWN = re.compile(r"Using (Serial|Parallel|G1|Shenandoah)\b")
_PAUSE = re.compile(r" Pause .* (\d+[.,]\d+)ms$", re.M)
# Of what disturbs a measurement, the share in per cent above which it is reported.
DISTURBING = ("background_cpu", "steal_cpu")
MUCH = 5.0


def files_of(raw: Path, name: str) -> dict[str, Path]:
    """The file of each host, by the host's name; that of this machine has the name ""."""
    hosts = {path.name.removesuffix(f".{name}"): path for path in sorted(raw.glob(f"*.{name}"))}
    return hosts or {"": raw / name}


# The counters of one side of a host, by their names: one number for each sample.
Counters = dict[str, "np.ndarray"]


class Samples:
    """The samples of ``phase`` of a cell; empty for imported logs.

    ``hosts`` has the counters of each host by side, of which "machine" is one; this machine's name
    is "". DataError for files that the sampler did not write.
    """

    def __init__(self, raw: Path, phase: str) -> None:
        self.hosts = {
            host: _counters(path, phase, PROCESS_TIMES)
            | _counters(path.with_name(path.name.replace(PROCESSES, MACHINE)), phase, MACHINE_TIMES)
            for host, path in files_of(raw, PROCESSES).items()
        }
        # Whether server and clients had hosts of their own.
        self.apart = "" not in self.hosts

    def server(self, hosts: Iterable[str] = ()) -> tuple[float, float] | None:
        """As ``used``, of the server."""
        return self.used("server", hosts)

    def used(self, side: str, hosts: Iterable[str] = ()) -> tuple[float, float] | None:
        """CPU time of a side, and the time from its first sample to its last, in s.

        None where its processes are on none of the ``hosts``, of all unless some are given.
        """
        for host in hosts or self.hosts:
            counters = self.hosts[host].get(side)
            if counters and len(counters["seconds"]) > 1:
                used, seconds = counters["cpu_user"] + counters["cpu_system"], counters["seconds"]
                return float(used[-1] - used[0]), float(seconds[-1] - seconds[0])
        return None

    def absence(self) -> float | None:
        """The longest time (s) in which no sample sees that the clients ran; None without samples.

        No sample was taken then, or nothing moved: neither CPU time nor a switch of threads.
        """
        absences = [
            _absence(sides["client"], max(counters["seconds"][-1] for counters in sides.values()))
            for sides in self.hosts.values()
            if "client" in sides
        ]
        return max(absences, default=None)


def _absence(client: Counters, end: float) -> float:
    # After a standstill a client may catch up and end before the next sample, at ``end``.
    signs = sum(np.nan_to_num(client[name]) for name in SIGNS_OF_LIFE if name in client)
    ran = np.flatnonzero(np.diff(signs)) + 1
    return float(np.diff([*client["seconds"][[0, *ran, -1]], end]).max())


def _counters(path: Path, phase: str, needed: Sequence[str]) -> dict[str, Counters]:
    """The counters of ``phase`` by side; an empty one is NaN, unless it is ``needed``."""
    # Not by pandas, which takes three times as long for the few lines of most cells.
    sides: dict[str, list[list[str]]] = defaultdict(list)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            header, *lines = filter(None, csv.reader(file))
        in_phase = header.index("phase")
        side = header.index("side") if "side" in header else None
        for line in lines:
            if line[in_phase] == phase:
                sides["machine" if side is None else line[side]].append(line)
        counters = {
            name: _numbers(dict(zip(header, zip(*rows, strict=True), strict=True)))
            for name, rows in sides.items()
        }
        if any(np.isnan(of[name]).any() for of in counters.values() for name in needed):
            raise ValueError("a line without one of its times")
        return counters
    except FileNotFoundError:
        return {}
    except (OSError, LookupError, ValueError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read ({error!r}); measure the cell again") from None


def _numbers(columns: dict[str, Sequence[str]]) -> Counters:
    """The columns of one side as numbers; ``in_group`` is 1 where a control group counted."""
    sources = columns.pop("cpu_from", [""] * len(columns["phase"]))
    numbers = {
        name: np.array([float(text or "nan") for text in texts])
        for name, texts in columns.items()
        if name not in ("phase", "side")
    }
    return numbers | {"in_group": np.array([float(source == "cgroup") for source in sources])}


def resources(samples: Samples, offset: float) -> list[dict]:
    """Return the resources of each side between every two samples, one row each.

    Keys: side (client, server, machine), second (end of the interval, s since ``offset``),
    seconds (its length), and processor time by time: cores_user and cores_system, or cores_busy of
    the machine. What is not known is NaN. Hosts of their own have no rows of a machine, for there
    are several.
    """
    of_side: dict[str, list[list[dict]]] = defaultdict(list)
    for sides in samples.hosts.values():
        for side, counters in sides.items():
            if side != "machine" or not samples.apart:
                of_side[side].append(_rows(side, counters, offset))
    # All hosts are looked at at the same moments.
    return [
        rows[0]
        | {name: sum(row[name] for row in rows) for name in PROCESS_RATES if name in rows[0]}
        for of_hosts in of_side.values()
        for rows in zip(*of_hosts, strict=False)
    ]


def _rows(side: str, counters: Counters, offset: float) -> list[dict]:
    kept = _apart(counters["seconds"])
    counters = {name: values[kept] for name, values in counters.items()}
    seconds = np.diff(counters["seconds"])
    table = {"second": counters["seconds"][1:] - offset, "seconds": seconds}
    for name, counter in (MACHINE_RATES if side == "machine" else PROCESS_RATES).items():
        risen = np.diff(counters[counter])
        certain = (risen >= 0) & (seconds > 0)
        if side != "machine":
            # The counters of a process that ended are gone, those of a new one were not there.
            same = np.diff(counters["processes"]) == 0
            certain &= same | (counters["in_group"][1:] == 1)
        table[name] = np.divide(risen, seconds, out=np.full(len(risen), np.nan), where=certain)
    columns = {name: values.tolist() for name, values in table.items()}
    for name in ("second", "seconds"):
        columns[name] = [round(value, 3) for value in columns[name]]
    lines = zip(*columns.values(), strict=True)
    return [{"side": side} | dict(zip(columns, line, strict=True)) for line in lines]


def _apart(seconds: np.ndarray) -> list[int]:
    """The positions of samples that do not follow another at once, and of the first and last."""
    last = len(seconds) - 1
    kept = [0]
    for position in range(1, len(seconds)):
        if seconds[position] - seconds[kept[-1]] >= SHORTEST:
            kept.append(position)
    if kept[-1] != last:
        kept[-1 if len(kept) > 1 else 1 :] = [last]
    return kept


def client_start(raw: Path, phase: str, started: float | None) -> float:
    """Return the delay from the start (epoch s) to the client's second 0, in s; 0 if unknown."""
    path = raw / f"{phase}.err"
    if started is None or not path.is_file():
        return 0.0
    clock = run_start(path.read_text(encoding="utf-8", errors="replace"))
    if clock is None:
        return 0.0
    late = clock.replace(tzinfo=UTC) - datetime.fromtimestamp(started, UTC)
    return late.total_seconds() % ZONE_STEP


def usage(
    samples: Samples,
    log: YcsbLog,
    threads: int,
    client: tuple[float | None, float | None],
    cores: int | None,
    bound: str | None = None,
) -> dict[str, float | None]:
    """Return the resource use of a phase by metric; None if unknown.

    ``client`` is the CPU time of the whole client process and how long it lived (s), ``cores``
    how many the client's machines have, ``bound`` those that it was bound to (``0-1,4``).

    ``in_call``: share of the client threads' time inside calls to the store, also those that
    failed (throughput x mean latency / threads, Little's law). ``client_cores``, ``server_cores``:
    cores in use on average, of the server from the first to the last sample; ``machine_cores``:
    cores that there are, ``client_allowed`` those that the client may use.
    """
    # The parts of a read-modify-write have sections of their own, and verifying calls no store.
    waited = [section.waited for name, section in log.sections.items() if TIMES.get(name, 1) > 0]
    allowed = cores
    if bound:
        ends = [part.split("-") for part in bound.split(",")]
        allowed = sum(int(end[-1]) - int(end[0]) + 1 for end in ends)
    (cpu, seconds), (server_cpu, watched) = client, samples.server() or (None, None)
    return {
        "in_call": None if None in waited else sum(waited) / (threads * log.runtime * 1000),
        "client_cores": cpu / seconds if seconds else None,
        "server_cores": server_cpu / watched if watched else None,
        # Cores of several machines limit nobody together.
        "machine_cores": None if samples.apart else cores,
        "client_allowed": allowed,
    }


def gc_pauses(raw: Path, label: str) -> tuple[int, float] | None:
    """Return the number and the total time (ms) of the collector's pauses of client ``label``.

    None without ``<label>.gc.log``, or of a collector whose pauses are not in it.
    """
    path = raw / f"{label}.gc.log"
    text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
    if not _KNOWN.search(text):
        return None
    pauses = [float(number.replace(",", ".")) for number in _PAUSE.findall(text)]
    return len(pauses), sum(pauses)


def cpu_shares(samples: Samples, phase: str, manifest: dict) -> dict[str, float]:
    """``background_cpu`` and ``steal_cpu`` of ``phase`` in per cent, as far as they is known.

    The background load needs the CPU time of the server, so there is none where the server is not
    among the processes that were sampled.
    """
    shares = [_shares_of(samples, host, phase, manifest) for host in samples.hosts]
    return {
        name: max(of[name] for of in shares if name in of)
        for name in ("steal_cpu", "background_cpu")
        if any(name in of for of in shares)
    }


def _shares_of(samples: Samples, host: str, phase: str, manifest: dict) -> dict[str, float]:
    machine = samples.hosts[host].get("machine")
    if machine is None:
        return {}
    # CPU seconds from the first to the last sample.
    spent = {name: float(machine[name][-1] - machine[name][0]) for name in MACHINE_TIMES}
    total = spent["cpu_busy"] + spent["cpu_idle"] + spent["cpu_steal"]
    if total < LEAST:
        return {}
    shares = {"steal_cpu": 100 * spent["cpu_steal"] / total}
    watched = manifest["phases"][phase]
    hosts = manifest.get("hosts")
    if hosts:
        watched = watched["hosts"][host]
    elsewhere = hosts and host != hosts["server"]
    absent = elsewhere or manifest["server"]["provider"] == "none"
    if server := samples.server([host]) or ((0.0, 0.0) if absent else None):
        # The client's is of the whole process: at the last sample it has ended.
        cpu = watched["client_cpu_seconds"] + server[0] + watched["monitor_cpu_seconds"]
        if path := samples.used("path", [host]):
            cpu += path[0]
        busy = spent["cpu_busy"]
        if manifest.get("interrupts_apart") is not False:
            # Client and server cause interrupts that no process is charged with. Where that is
            # not known, others are rather told to have taken too little than too much.
            busy -= spent["cpu_interrupts"]
        # Ticks are counted apart for the machine and for its processes.
        shares["background_cpu"] = max(0.0, 100 * (busy - cpu) / total)
    return shares


def disturbance(measurements: pd.DataFrame) -> dict[str, dict]:
    """Per metric: how many ``cells`` have it, how many ``above`` the limit, ``least`` and worst."""
    some = measurements[measurements["metric"].isin(DISTURBING)]
    return {
        metric: {
            "cells": len(cells),
            "above": int((cells["value"] > MUCH).sum()),
            "least": float(cells["value"].min()),
            "worst": cells.loc[cells["value"].idxmax(), [*CELL, "value"]].to_dict(),
        }
        for metric, cells in some.groupby("metric", sort=False)
    }
