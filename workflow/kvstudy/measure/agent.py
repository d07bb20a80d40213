"""The agent on another host: it starts server and clients there, and what it starts ends with it.

It is led by lines of JSON on its standard input, each with a ``number``, ``do``, one of the methods
below, and its arguments; it answers each by a line on its standard output with that number and
``told`` or ``error``. Empty lines say that somebody is still there. When its input ends, or nothing
comes for a while, or a signal comes, it stops server and clients, and ends.
"""

import contextlib
import hashlib
import json
import os
import queue
import select
import shutil
import signal
import socket
import statistics
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

from kvstudy.errors import EnvironmentFault, KvstudyError
from kvstudy.measure import environment, preflight
from kvstudy.measure.clients import Clients
from kvstudy.measure.controller import Interrupted
from kvstudy.measure.kernel import Tree
from kvstudy.stores import native, process
from kvstudy.stores.definition import Store, load_store
from kvstudy.stores.server import free_port

KEY = "config/config.yaml: hosts"
# The other side says each BEAT_SECONDS that it is there.
BEAT_SECONDS = 2.0
SILENCE_SECONDS = 20.0
# So many round trips tell the time of one, and the offset of the clocks.
ROUND_TRIPS = 31
# For an answer that takes no time; of a busy machine.
ANSWER_SECONDS = 10.0
TIME = struct.Struct("!d")


class Agent:
    """The agent of another host, until ``all`` is closed; its public methods are its requests."""

    def __init__(self) -> None:
        self.all = contextlib.ExitStack()
        # Ended in the other order.
        self._alone, self._serving, self._phase = (
            self.all.enter_context(contextlib.ExitStack()) for _ in range(3)
        )
        self._server: native.NativeServer | None = None
        self._clients: Clients | None = None

    def hello(self, variables: dict[str, str], answer: str) -> None:
        """Take over the ``variables``; make the file ``answer`` in a folder of the other side."""
        os.environ.update(variables)
        # The clients write times, which are compared between hosts.
        os.environ["TZ"] = "UTC"
        time.tzset()
        try:
            Path(answer).touch()
        except OSError as error:
            raise EnvironmentFault(
                f"{error.filename}: {error.strerror} on this host, but it is there on the host of "
                f"Snakemake; {Path.cwd()} must be one shared folder, at this path on all hosts, "
                "which you may write"
            ) from None

    def be_alone(self, boot: str) -> None:
        """Wait until nothing else measures here, and end what an earlier cell left.

        Not where the kernel is that of ``boot``: the other side holds the lock there.
        """
        if boot_id() != boot:
            self._alone.enter_context(process.measuring_alone())
            for leftover in process.sweep():
                print(f"ended a leftover of an earlier cell: {leftover}", file=sys.stderr)

    def missing(self, stores: list[str], host: str, data: str) -> dict[str, str | None]:
        """Return why the server of each of the folders ``stores`` cannot start here, or None.

        EnvironmentFault where none can, at ``host`` and with its data below ``data``.
        """
        free_port(host=host)
        if not os.access(data, os.W_OK | os.X_OK):
            raise EnvironmentFault(f"{KEY}.data: {data}: no folder here in which you may write")
        return {
            str(folder): native.missing_requirement(load_store(Path(folder))) for folder in stores
        }

    def java(self) -> dict:
        return environment.java()

    def machine(self, java: dict, path: str) -> dict:
        """``environment`` of this host, data in ``path``, and its ``preflight.state``."""
        components = environment.components(java, Path(path).absolute())
        return {"environment": components} | preflight.state(Path(path))

    def start_server(self, store: str, host: str, port: int, data: str, log: str) -> dict:
        """Start the server; its data gets a folder of its own below ``data``."""
        of = Store.model_validate_json(store)
        port = free_port(port, of.side_ports.values(), host)
        # One name for each lock, so that what a killed agent has left is found.
        lock = hashlib.sha256(str(process.state_directory().absolute()).encode()).hexdigest()
        folder = Path(data) / f"kvstudy-{lock[:12]}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir()
        except OSError as error:
            raise EnvironmentFault(
                f"{KEY}.data: {folder}: {error.strerror}; remove it, or name a folder of this host "
                "in which you may write"
            ) from None
        self._serving.callback(shutil.rmtree, folder, ignore_errors=True)
        self._server = native.NativeServer(of, port, folder / "data", Path(log), host=host)
        self._serving.callback(self._server.stop)
        self._server.start()
        return {
            "port": port,
            "after_start": self._server.after_start,
            "describe": self._server.describe() | {"host": host, "folder": str(folder)},
            "commands": self._server.commands(),
        }

    def run_beside(self, command: list[str]) -> str | None:
        """None, or why the command failed."""
        try:
            return self._server.run_beside(command)
        except OSError as error:
            return str(error)

    def died(self) -> str | None:
        return self._server.died()

    def stop_server(self) -> None:
        self._serving.close()
        self._server = None

    def start_clients(self, directory: str, **how: Any) -> None:
        """Start the ``Clients`` of this host, and sample what they and the server take."""
        server = self._server.process_ids() if self._server else []
        clients = Clients(**how, directory=Path(directory), others={"server": server})
        self._clients = self._phase.enter_context(clients)

    def look(self, seconds: float) -> dict[str, int | None]:
        return self._clients.look(seconds)

    def stop_clients(self) -> dict | None:
        """Stop the clients that still run; what was used. None where none were started."""
        clients, self._clients = self._clients, None
        self._phase.close()
        return clients.used if clients else None

    def tell_time(self, host: str) -> int:
        """Tell the time, at a port of ``host``, to all who ask by a byte; returns the port."""
        listening = socket.create_server((host, 0))
        threading.Thread(target=_tell_time, args=[listening], daemon=True).start()
        return listening.getsockname()[1]

    def compare_clocks(self, host: str, port: int) -> dict:
        """Ask for the time there again and again: the round trips (s), and the other clock (s).

        ``round_trip`` are their quartiles. ``offset`` is what the clock there is ahead of the one
        here, by the quickest round trip; it may be wrong by ``uncertainty``, half of that trip.
        """
        trips = []
        with socket.create_connection((host, port), timeout=ANSWER_SECONDS) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(ROUND_TRIPS):
                sent, clock = time.time(), time.perf_counter()
                connection.sendall(b"?")
                reply = connection.recv(TIME.size, socket.MSG_WAITALL)
                trip = time.perf_counter() - clock
                trips.append((trip, TIME.unpack(reply)[0] - sent - trip / 2))
        shortest, offset = min(trips)
        return {
            "round_trip": statistics.quantiles([trip for trip, _ in trips], n=4),
            "offset": offset,
            "uncertainty": shortest / 2,
        }


# The methods that a request may call.
REQUESTS = {
    name: getattr(Agent, name)
    for name in (
        "hello",
        "be_alone",
        "missing",
        "java",
        "machine",
        "start_server",
        "run_beside",
        "died",
        "stop_server",
        "start_clients",
        "look",
        "stop_clients",
        "tell_time",
        "compare_clocks",
    )
}


def _tell_time(listening: socket.socket) -> None:
    while True:
        asking, _ = listening.accept()
        with asking, contextlib.suppress(OSError):
            asking.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while asking.recv(1):
                asking.sendall(TIME.pack(time.time()))


def boot_id() -> str:
    """Return the identifier of the running kernel; "" if unknown."""
    return Tree().text("proc/sys/kernel/random/boot_id") or ""


def serve() -> None:
    """Answer the requests on standard input until it ends."""
    requests: queue.SimpleQueue[dict] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=[requests], daemon=True).start()
    agent = Agent()
    with agent.all, contextlib.suppress(Interrupted):
        while True:
            request = requests.get()
            number, name = request.pop("number"), request.pop("do")
            try:
                reply = {"result": REQUESTS[name](agent, **request)}
            except (KvstudyError, OSError) as error:
                reply = {"error": str(error)}
            print(json.dumps({"number": number} | reply), flush=True)


def _listen(requests: queue.SimpleQueue) -> None:
    """Queue each line; when the input ends, stop the main thread whatever it does."""
    rest = b""
    while select.select([0], [], [], SILENCE_SECONDS)[0]:
        read = os.read(0, 1 << 16)
        if not read:
            break
        *lines, rest = (rest + read).split(b"\n")
        for line in filter(None, lines):
            requests.put(json.loads(line))
    os.kill(os.getpid(), signal.SIGTERM)
