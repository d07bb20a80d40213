"""The clients of a phase on this machine, and what they and the server take of it."""

import contextlib
import csv
import itertools
import os
import re
import resource
import select
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import psutil

from kvstudy.measure.kernel import Tree
from kvstudy.stores import process

# Finding the processes of a tree looks at all processes of the machine.
LOOK_FOR_CHILDREN = 10

PROCESS_COLUMNS = [
    *["phase", "seconds", "side", "processes", "cpu_user", "cpu_system", "rss"],
    *["switches_voluntary", "switches_involuntary", "cpu_from"],
]
MACHINE_COLUMNS = ["phase", "seconds", "cpu_busy", "cpu_interrupts", "cpu_idle", "cpu_steal"]
# Where cgroup v2 is mounted: alone, or next to the older version.
CGROUPS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))


@dataclass
class Clients:
    """A process for each of ``commands``, all at the same time, while the block runs.

    The name of each is that of its files: standard output and error go to
    ``<directory>/<name>.out`` and ``.err``. ``what`` is what they are called in records of
    processes, ``others`` are further processes to watch, by side: those of the server, and of
    the path to it. Samples go to ``directory``, under the name
    of the ``host`` if it has one.

    Afterwards ``used`` has what the phase took of this machine: ``started`` (epoch s, its clock),
    ``seconds``, the CPU seconds of all clients, and of our own watching and sampling.
    """

    # What each host took, where they have some of their own.
    of_hosts: ClassVar[dict[str, dict[str, float]]] = {}

    phase: str
    commands: Mapping[str, list[str]]
    classpath: str
    directory: Path
    what: str
    others: Mapping[str, list[int]]
    host: str = ""

    def __enter__(self) -> "Clients":
        self._started, self._clock = time.time(), time.monotonic()
        self._cpu = _cpu_of_ended_children()
        self._clients: dict[str, subprocess.Popen] = {}
        environment = os.environ | {"CLASSPATH": self.classpath}
        with contextlib.ExitStack() as starting:
            for label, command in self.commands.items():
                paths = (self.directory / f"{label}.{end}" for end in ("out", "err"))
                files = [starting.enter_context(path.open("wb")) for path in paths]
                client = process.running(command, *files, self.what, environment=environment)
                self._clients[label] = starting.enter_context(client)
            pids = [client.pid for client in self._clients.values()]
            roots = {"client": pids, **self.others}
            self._sampler = Sampler(self.directory, self.phase, roots, self._clock, self.host)
            # On a full disk it fails, and the clients end all the same.
            starting.callback(self._sampler.close)
            self._sampler.sample()
            self._running = starting.pop_all()
        return self

    def look(self, seconds: float) -> dict[str, int | None]:
        """Wait so long, or until a client ends, and take a sample.

        The exit status of each client; None of one that runs.
        """
        clients = self._clients.values()
        # Popen.wait with a limit would look some hundred times a second; this wakes up at an end.
        handles = [os.pidfd_open(client.pid) for client in clients if client.poll() is None]
        try:
            select.select(handles, [], [], max(0, seconds))
        finally:
            for handle in handles:
                os.close(handle)
        ends = {label: client.poll() for label, client in self._clients.items()}
        self._sampler.sample()
        return ends

    def __exit__(self, *error: object) -> None:
        self._running.close()
        self.used = {
            "started": self._started,
            "seconds": time.monotonic() - self._clock,
            "client_cpu_seconds": round(_cpu_of_ended_children() - self._cpu, 3),
            "monitor_cpu_seconds": round(self._sampler.cpu_seconds, 3),
        }


def _cpu_of_ended_children() -> float:
    """CPU seconds of all our children that have ended; the server still runs and is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def meeting(clients: int, host: str) -> Iterator[str]:
    """Let so many clients meet while the block runs: each reports ready, then all start.

    Yields a port of ``host`` as host:port; "" for one client, who needs nobody. The other end is
    ``SynchronizedWorkload`` of the bindings. Who still waits when the block ends is not let go.
    """
    if clients == 1:
        yield ""
        return
    with socket.create_server((host, 0)) as listening:
        waiting = threading.Thread(target=_meet, args=[listening, clients], daemon=True)
        waiting.start()
        try:
            yield "{}:{}".format(*listening.getsockname())
        finally:
            # Ends the waiting for another client.
            listening.shutdown(socket.SHUT_RDWR)
            # A client whose network is gone before it says anything would hold it up for good.
            waiting.join(1)


def _meet(listening: socket.socket, number: int) -> None:
    ready: list[socket.socket] = []
    with contextlib.ExitStack() as clients, contextlib.suppress(OSError):
        while len(ready) < number:
            client = clients.enter_context(listening.accept()[0])
            # Who dies meanwhile is missed by those who watch the processes.
            with contextlib.suppress(ConnectionError):
                if client.recv(1):
                    ready.append(client)
        for client in ready:
            client.sendall(b"\x01")


class Sampler:
    """Appends to ``processes.csv`` and ``machine.csv`` in ``directory``.

    With the name of a ``host``, to ``<host>.processes.csv`` and ``<host>.machine.csv``.

    The kernel's counters are written down as they are (totals since the start of the process or
    the machine), so that any difference can be taken later. CPU times are in s (``cpu_interrupts``
    are in ``cpu_busy`` too), ``rss`` in bytes, ``seconds`` since ``start`` (monotonic clock) of the
    phase. What cannot be read is empty.

    A container's processes are processes of this machine, so all providers are read in the same
    way. Only the CPU time of a side that has a control group (cgroup v2) of its own, as containers
    have, is the group's, which also counts processes that come and go between two looks; the column
    ``cpu_from`` shows which it is.
    """

    def __init__(
        self,
        directory: Path,
        phase: str,
        roots: Mapping[str, list[int]],
        start: float = 0.0,
        host: str = "",
    ) -> None:
        self._phase, self._roots, self._start = phase, roots, start
        self._groups = {side: _own_group(pids) for side, pids in roots.items()}
        self._trees: dict[str, list[psutil.Process]] = {}
        self._samples = itertools.count()
        self._cpu = time.process_time()
        self._files = contextlib.ExitStack()
        self._writers = [
            self._writer(directory / f"{host}{'.' if host else ''}{name}.csv", columns)
            for name, columns in (("processes", PROCESS_COLUMNS), ("machine", MACHINE_COLUMNS))
        ]

    def sample(self) -> None:
        """Write one line per side and one for the machine."""
        if next(self._samples) % LOOK_FOR_CHILDREN == 0:
            self._trees = {side: _trees(pids) for side, pids in self._roots.items()}
        # After the looking around, which takes long on a full machine: the time is that of
        # the reading.
        now = {"phase": self._phase, "seconds": round(time.monotonic() - self._start, 3)}
        of_processes, of_machine = self._writers
        for side, processes in self._trees.items():
            used = [counters for process in processes if (counters := _used(process))]
            if not used:
                continue
            # A counter that one of them hides is left out.
            names = [name for name in used[0] if all(name in each for each in used)]
            sums = {name: round(sum(each[name] for each in used), 3) for name in names}
            row = now | {"side": side, "processes": len(used), "cpu_from": "proc"} | sums
            if group := self._groups[side]:
                cpu = _group_cpu(group)
                if not cpu:
                    # It ended just now; a sum of its processes would be another counter.
                    continue
                row |= cpu | {"cpu_from": "cgroup"}
            of_processes.writerow(row)
        of_machine.writerow(now | _machine())

    def close(self) -> None:
        """End the files; ``cpu_seconds`` are then those of this process since the phase began."""
        self._files.close()
        self.cpu_seconds = time.process_time() - self._cpu

    def _writer(self, path: Path, columns: list[str]) -> csv.DictWriter:
        file = self._files.enter_context(path.open("a", encoding="utf-8", newline=""))
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        return writer


def _trees(pids: list[int]) -> list[psutil.Process]:
    processes: list[psutil.Process] = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            root = psutil.Process(pid)
            processes += [root, *root.children(recursive=True)]
    return processes


def _own_group(pids: list[int]) -> Path | None:
    """The folder of the control group that holds these processes and not ours, if there is one."""
    groups, ours = {_group(pid) for pid in pids}, _group(os.getpid())
    group = groups.pop() if len(groups) == 1 else None
    if group is None or ours is None or ours.is_relative_to(group):
        return None
    folders = (mounted / group.relative_to("/") for mounted in CGROUPS)
    return next((folder for folder in folders if _group_cpu(folder)), None)


def _group(pid: int) -> Path | None:
    """The control group (cgroup v2) of a process, as it is named below the mount."""
    name = re.search(r"^0::(/.*)$", Tree().text(f"proc/{pid}/cgroup") or "", re.M)
    # Seen from inside another namespace of groups, the path climbs out of it.
    return Path(name[1]) if name and ".." not in name[1] else None


def _group_cpu(folder: Path) -> dict[str, float]:
    """CPU seconds of all processes that the group ever had; empty when they are hidden."""
    used = re.findall(r"^(user|system)_usec (\d+)$", Tree(folder).text("cpu.stat") or "", re.M)
    return {f"cpu_{kind}": int(microseconds) / 1e6 for kind, microseconds in used}


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
    with contextlib.suppress(OSError, psutil.Error):
        switches = [0, 0]
        # Since the counters of a process hold only its first thread.
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            # A thread may have ended between listing and reading.
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                lines = (task / "status").read_text("ascii", "replace").rstrip().splitlines()
                for kind, line in enumerate(lines[-2:]):
                    switches[kind] += int(line.split()[1])
        used["switches_voluntary"], used["switches_involuntary"] = switches
    return used


def _machine() -> dict[str, float]:
    cpu = psutil.cpu_times()
    interrupts = cpu.irq + cpu.softirq
    return {
        "cpu_busy": round(cpu.user + cpu.nice + cpu.system + interrupts, 3),
        "cpu_interrupts": round(interrupts, 3),
        "cpu_idle": round(cpu.idle + cpu.iowait, 3),
        "cpu_steal": round(getattr(cpu, "steal", 0.0), 3),
    }
