"""The clients of a phase on this machine, and what they and the server take of it."""

import contextlib
import os
import resource
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kvstudy.measure.sampler import Sampler
from kvstudy.stores import process

# How often the end of the block is looked for while clients have still to meet, in s.
LOOK_SECONDS = 0.2


@dataclass
class Clients:
    """A process for each of ``commands``, all at the same time, while the block runs.

    The name of each is that of its files: standard output and error go to
    ``<directory>/<name>.out`` and ``.err``. ``what`` is what they are called in records of
    processes, ``server`` are the server's processes. Samples go to ``directory``, under the name
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
    server: list[int]
    host: str = ""

    def __enter__(self) -> "Clients":
        self._started, self._clock = time.time(), time.monotonic()
        self._cpu = _cpu_of_ended_children()
        self._clients: dict[str, subprocess.Popen] = {}
        with contextlib.ExitStack() as starting:
            for label, command in self.commands.items():
                self._clients[label] = starting.enter_context(self._client(label, command))
            pids = [client.pid for client in self._clients.values()]
            roots = {"client": pids, "server": self.server}
            self._sampler = Sampler(self.directory, self.phase, roots, self._clock, self.host)
            # On a full disk it fails, and the clients end all the same.
            starting.callback(self._sampler.close)
            self._sampler.sample()
            self._running = starting.pop_all()
        return self

    def look(self, seconds: float) -> bool:
        """Whether all clients end within ``seconds``, or one fails; a sample is taken then."""
        over = _ended(self._clients.values(), seconds)
        self._sampler.sample()
        return over

    @property
    def ends(self) -> dict[str, int | None]:
        """The exit status of each client; None of one that runs."""
        return {label: client.returncode for label, client in self._clients.items()}

    def __exit__(self, *error: object) -> None:
        self._running.close()
        self.used = {
            "started": self._started,
            "seconds": time.monotonic() - self._clock,
            "client_cpu_seconds": round(_cpu_of_ended_children() - self._cpu, 3),
            "monitor_cpu_seconds": round(self._sampler.cpu_seconds, 3),
        }

    @contextlib.contextmanager
    def _client(self, label: str, command: list[str]) -> Iterator[subprocess.Popen]:
        """A client that never survives the block."""
        output, errors = self.directory / f"{label}.out", self.directory / f"{label}.err"
        environment = os.environ | {"CLASSPATH": self.classpath}
        with output.open("wb") as out, errors.open("wb") as err:
            client = process.start(command, out, err, environment=environment)
            record = process.note(client, self.what)
            try:
                yield client
            finally:
                process.stop(client, signal.SIGKILL)
                record.unlink(missing_ok=True)


def _cpu_of_ended_children() -> float:
    """CPU seconds of all our children that have ended; the server still runs and is not in it."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ended(clients: Collection[subprocess.Popen], seconds: float) -> bool:
    """Whether all clients end within ``seconds``, or one fails; wakes up only when one ends."""
    # Popen.wait with a limit would look some hundred times a second.
    handles = [os.pidfd_open(client.pid) for client in clients if client.poll() is None]
    try:
        select.select(handles, [], [], max(0, seconds))
    finally:
        for handle in handles:
            os.close(handle)
    ends = [client.poll() for client in clients]
    return None not in ends or any(ends)


@contextlib.contextmanager
def meeting(clients: int, host: str) -> Iterator[str]:
    """Where so many clients meet, while the block runs: each says that it is ready, all are let go.

    Yields a port of ``host`` as host:port; "" for one client, who needs nobody. The other end is
    ``TogetherWorkload`` of the bindings. Who still waits when the block ends is not let go.
    """
    if clients == 1:
        yield ""
        return
    over = threading.Event()
    with socket.create_server((host, 0)) as listening:
        listening.settimeout(LOOK_SECONDS)
        waiting = threading.Thread(target=_meet, args=[listening, clients, over], daemon=True)
        waiting.start()
        try:
            yield "{}:{}".format(*listening.getsockname())
        finally:
            over.set()
            waiting.join()


def _meet(listening: socket.socket, number: int, over: threading.Event) -> None:
    with contextlib.ExitStack() as clients:
        ready: list[socket.socket] = []
        while len(ready) < number and not over.is_set():
            # Who dies meanwhile is missed by those who watch the processes.
            with contextlib.suppress(OSError):
                client, _ = listening.accept()
                clients.enter_context(client)
                if client.recv(1):
                    ready.append(client)
        for client in ready if len(ready) == number else []:
            with contextlib.suppress(OSError):
                client.sendall(b"\x01")
