"""What server, client and machine use while a phase runs, read once a second.

The kernel's counters are written down as they stand (totals since the start of
the process or the machine), so that any difference can be taken later. A
container's processes are processes of this machine, so all providers are read in
the same way. Only the CPU time of a side that has a control group (cgroup v2) of
its own, as containers have, is the group's, which also counts processes that come
and go between two looks; the column ``cpu_from`` tells which it is.
"""

import contextlib
import csv
import os
import time
from pathlib import Path

import psutil

# Finding the processes of a tree looks at all processes of the machine.
LOOK_FOR_CHILDREN = 10

PROCESS_COLUMNS = [
    *["phase", "seconds", "side", "processes", "cpu_user", "cpu_system", "rss"],
    *["switches_voluntary", "switches_involuntary", "read_bytes", "write_bytes"],
    "cpu_from",
]
MACHINE_COLUMNS = [
    *["phase", "seconds", "cpu_busy", "cpu_interrupts", "cpu_idle", "cpu_steal"],
    *["loopback_bytes", "cpu_pressure", "memory_pressure", "io_pressure", "load"],
]
# Where cgroup v2 is mounted: alone, or beside the older version.
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))


class Sampler:
    """Appends to ``processes.csv`` and ``machine.csv`` in ``directory``.

    With the name of a ``host``, to ``<host>.processes.csv`` and ``<host>.machine.csv``.

    CPU times are in s (``cpu_interrupts`` are in ``cpu_busy`` too), ``rss``,
    ``*_bytes`` in bytes, ``*_pressure`` (time in which some task waited) in s,
    ``seconds`` since the start of the phase: since ``start`` (monotonic clock), or
    now. What cannot be read is empty.
    """

    def __init__(
        self,
        directory: Path,
        phase: str,
        roots: dict[str, list[int]],
        start: float | None = None,
        host: str = "",
    ) -> None:
        self._phase = phase
        self._roots = roots
        self._groups = {side: _own_group(pids) for side, pids in roots.items()}
        self._trees: dict[str, list[psutil.Process]] = {}
        self._samples = 0
        self._cpu = time.process_time()
        self._start = time.monotonic() if start is None else start
        self._files = contextlib.ExitStack()
        prefix = f"{host}." if host else ""
        self._processes = self._open(directory / f"{prefix}processes.csv", PROCESS_COLUMNS)
        self._machine = self._open(directory / f"{prefix}machine.csv", MACHINE_COLUMNS)

    def sample(self) -> None:
        """Write one line per side and one for the machine."""
        if self._samples % LOOK_FOR_CHILDREN == 0:
            self._trees = {side: _trees(pids) for side, pids in self._roots.items()}
        self._samples += 1
        # After the looking around, which takes long on a full machine: the time is that of
        # the reading.
        now = {"phase": self._phase, "seconds": round(time.monotonic() - self._start, 3)}
        for side, processes in self._trees.items():
            used = [found for process in processes if (found := _used(process))]
            if not used:
                continue
            row = now | {"side": side, "processes": len(used), "cpu_from": "proc"} | _sum(used)
            group = self._groups[side]
            if group is not None:
                cpu = _group_cpu(group)
                if not cpu:
                    # It ended just now; a sum of its processes would be another counter.
                    continue
                row |= cpu | {"cpu_from": "cgroup"}
            self._processes.writerow(row)
        self._machine.writerow(now | _machine())

    def close(self) -> None:
        """End the files; ``cpu_seconds`` are then those of this process since the phase began."""
        self._files.close()
        self.cpu_seconds = time.process_time() - self._cpu

    def _open(self, path: Path, columns: list[str]) -> csv.DictWriter:
        new = not path.exists()
        file = self._files.enter_context(path.open("a", encoding="utf-8", newline=""))
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


def _own_group(pids: list[int]) -> Path | None:
    """The folder of the control group that holds these processes and not ours, if there is one."""
    groups = {_group(pid) for pid in pids}
    if len(groups) != 1:
        return None
    group, ours = groups.pop(), _group(os.getpid())
    if group is None or ours is None or ours.is_relative_to(group):
        return None
    folders = (mounted / group.relative_to("/") for mounted in CGROUPS)
    return next((folder for folder in folders if _group_cpu(folder)), None)


def _group(pid: int) -> Path | None:
    """The control group (cgroup v2) of a process, as it is named below the mount."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    names = [line.removeprefix("0::") for line in lines if line.startswith("0::/")]
    # Seen from inside another namespace of groups, the path climbs out of it.
    return Path(names[0]) if names and ".." not in names[0] else None


def _group_cpu(folder: Path) -> dict[str, float]:
    """CPU seconds of all processes that the group ever had; empty when they are hidden."""
    try:
        lines = (folder / "cpu.stat").read_text(encoding="ascii").splitlines()
        used = {name: int(value) / 1e6 for name, value in (line.split() for line in lines)}
        return {"cpu_user": used["user_usec"], "cpu_system": used["system_usec"]}
    except (OSError, ValueError, KeyError):
        return {}


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
    interrupts = cpu.irq + cpu.softirq
    row = {
        "cpu_busy": round(cpu.user + cpu.nice + cpu.system + interrupts, 3),
        "cpu_interrupts": round(interrupts, 3),
        "cpu_idle": round(cpu.idle + cpu.iowait, 3),
        "cpu_steal": round(getattr(cpu, "steal", 0.0), 3),
        "load": psutil.getloadavg()[0],
    }
    loopback = psutil.net_io_counters(pernic=True).get("lo")
    if loopback:
        row["loopback_bytes"] = loopback.bytes_sent
    for resource in ("cpu", "memory", "io"):
        try:
            line = Path(f"/proc/pressure/{resource}").read_text(encoding="ascii").splitlines()[0]
            row[f"{resource}_pressure"] = int(line.rsplit("total=", 1)[1]) / 1e6
        except (OSError, ValueError, IndexError):
            # The kernel counts it only when it was built and started so.
            continue
    return row
