"""What server, client and machine use while a phase runs, read once a second.

The kernel's counters are written down as they stand (totals since the start of
the process or the machine), so that any difference can be taken later. All
providers are read in the same way: a container's processes are processes of
this machine.
"""

from __future__ import annotations

import csv
import time
from pathlib import Path
from typing import TextIO

import psutil

# Finding the processes of a tree looks at all processes of the machine.
LOOK_FOR_CHILDREN = 10

PROCESS_COLUMNS = [
    *["phase", "seconds", "side", "processes", "cpu_user", "cpu_system", "rss"],
    *["switches_voluntary", "switches_involuntary", "read_bytes", "write_bytes"],
]
MACHINE_COLUMNS = [
    *["phase", "seconds", "cpu_busy", "cpu_idle", "cpu_steal", "loopback_bytes"],
    *["cpu_pressure", "memory_pressure", "io_pressure", "load"],
]
PRESSURE = {"cpu_pressure": "cpu", "memory_pressure": "memory", "io_pressure": "io"}


class Sampler:
    """Appends to ``processes.csv`` and ``machine.csv`` in ``directory``.

    CPU times are in s, ``rss``, ``*_bytes`` in bytes, ``*_pressure`` (time in
    which some task waited) in s, ``seconds`` since the start of the phase. What
    cannot be read is empty.
    """

    def __init__(self, directory: Path, phase: str, roots: dict[str, list[int]]) -> None:
        self._phase = phase
        self._roots = roots
        self._trees: dict[str, list[psutil.Process]] = {}
        self._samples = 0
        self._cpu = time.process_time()
        self._start = time.monotonic()
        self._files: list[TextIO] = []
        self._processes = self._open(directory / "processes.csv", PROCESS_COLUMNS)
        self._machine = self._open(directory / "machine.csv", MACHINE_COLUMNS)

    def sample(self) -> None:
        """Write one line per side and one for the machine."""
        now = {"phase": self._phase, "seconds": round(time.monotonic() - self._start, 3)}
        if self._samples % LOOK_FOR_CHILDREN == 0:
            self._trees = {side: _trees(pids) for side, pids in self._roots.items()}
        self._samples += 1
        for side, processes in self._trees.items():
            used = [found for process in processes if (found := _used(process))]
            if used:
                self._processes.writerow(now | {"side": side, "processes": len(used)} | _sum(used))
        self._machine.writerow(now | _machine())

    def close(self) -> float:
        """End the files; returns the CPU seconds of this process since the phase began."""
        for file in self._files:
            file.close()
        return time.process_time() - self._cpu

    def _open(self, path: Path, columns: list[str]) -> csv.DictWriter:
        new = not path.exists()
        file = path.open("a", encoding="utf-8", newline="")
        self._files.append(file)
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if new:
            writer.writeheader()
        return writer


def _trees(pids: list[int]) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    for pid in pids:
        try:
            root = psutil.Process(pid)
            found += [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
    return found


def _used(process: psutil.Process) -> dict[str, float] | None:
    """Counters of one process; None when it has ended, without what we may not see."""
    try:
        with process.oneshot():
            cpu = process.cpu_times()
            used = {
                # Children that have ended are in their parent's counters.
                "cpu_user": cpu.user + cpu.children_user,
                "cpu_system": cpu.system + cpu.children_system,
                "rss": process.memory_info().rss,
            }
    except psutil.Error:
        return None
    try:
        # Since the counters of a process hold only its first thread.
        switches = [_switches(task) for task in Path(f"/proc/{process.pid}/task").iterdir()]
        used["switches_voluntary"] = sum(voluntary for voluntary, _ in switches)
        used["switches_involuntary"] = sum(involuntary for _, involuntary in switches)
        disk = process.io_counters()
        used |= {"read_bytes": disk.read_bytes, "write_bytes": disk.write_bytes}
    except (OSError, psutil.Error):
        pass
    return used


def _switches(task: Path) -> tuple[int, int]:
    try:
        status = (task / "status").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        # The thread has ended between listing and reading.
        return 0, 0
    voluntary, involuntary = status.rstrip().splitlines()[-2:]
    return int(voluntary.split()[1]), int(involuntary.split()[1])


def _sum(used: list[dict[str, float]]) -> dict[str, float]:
    """Sums over the processes of a side; a counter that one of them hides is left out."""
    names = [name for name in used[0] if all(name in each for each in used)]
    return {name: round(sum(each[name] for each in used), 3) for name in names}


def _machine() -> dict[str, float]:
    cpu = psutil.cpu_times()
    idle = cpu.idle + cpu.iowait
    steal = getattr(cpu, "steal", 0.0)
    busy = cpu.user + cpu.nice + cpu.system + cpu.irq + cpu.softirq
    row = {
        "cpu_busy": round(busy, 3),
        "cpu_idle": round(idle, 3),
        "cpu_steal": round(steal, 3),
        "load": psutil.getloadavg()[0],
    }
    loopback = psutil.net_io_counters(pernic=True).get("lo")
    if loopback:
        row["loopback_bytes"] = loopback.bytes_sent
    for column, resource in PRESSURE.items():
        try:
            line = Path(f"/proc/pressure/{resource}").read_text(encoding="ascii").splitlines()[0]
            row[column] = int(line.rsplit("total=", 1)[1]) / 1e6
        except (OSError, ValueError, IndexError):
            # The kernel counts it only when it was built and started so.
            continue
    return row
