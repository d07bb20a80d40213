"""The base of all providers' servers: free port, readiness, a certain end."""

import contextlib
import errno
import os
import platform
import random
import re
import shlex
import socket
import string
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import psutil

from kvstudy.errors import EnvironmentFault, KvstudyError
from kvstudy.stores.definition import ProviderCommands, Store

HOST = "127.0.0.1"
POLL_SECONDS = 0.02
HIGHEST_PORT = 65535
# Below those of Kubernetes' services, and below those that Linux, as it is shipped, gives to
# connections: one of these was free when it was chosen, and had a connection of another program
# when the server began.
OWN_PORTS = range(10_000, 30_000)
# Limit for one command next to a starting server.
COMMAND_SECONDS = 10
# Of what a program wrote, so many characters are in a message, of so many lines, which are looked
# for in so many bytes.
MOST_WORDS, MOST_LINES, END_BYTES = 1000, 5, 1 << 16
# Words of a line that reports a failure.
FAILURE = re.compile(
    r"\b(?:error|fatal|panic|exception|fail|abort|assert|crash|kill|corrupt|denied|refused|cannot"
    r"|can't|could not|unable|out of memory|no space|signal|segmentation|bug)",
    re.I,
)
# Lines that report no failure, whatever their words: YCSB's status lines, stack traces.
IDLE = re.compile(r"\d+ sec: \d+ operations; |^\s*at \S+\(|^\s*\.\.\. \d+ more$")
# Sequences for a terminal (colours, titles), and single control characters.
CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*\x07?)|[\x00-\x1f\x7f-\x9f]")


class Server:
    """A store's server, as a provider runs it. ``start`` and ``stop`` are called once each.

    This one is that of an embedded store, which has none: the binding is the store.
    """

    host = HOST
    port = 0
    # Where it writes what it does.
    log = Path(os.devnull)
    # Its own report, and its times of starting and stopping, once known.
    version = ""
    # The checksum of its reported settings.
    settings = ""
    ready_seconds = stop_seconds = 0.0
    after_start: Sequence[list[str]] = ()
    # In place of commands.
    shown = "no server"

    def start(self) -> None:
        """Start it without waiting; EnvironmentFault when it cannot even be started."""

    def run_beside(self, command: list[str]) -> None:
        """Run one of ``after_start`` where the server runs; OSError with its words if it fails."""

    def stop(self) -> None:
        """Stop it and return when it is gone; also after a failed start."""

    def died(self) -> str | None:
        """None while it runs, else how it ended, in words."""
        return None

    def process_ids(self) -> list[int]:
        """The processes of this machine whose trees are the server; empty if it is elsewhere."""
        return []

    def path(self) -> contextlib.AbstractContextManager[list[int]]:
        """The processes of this machine that carry requests to it, while the block runs."""
        return contextlib.nullcontext([])

    def describe(self) -> dict:
        """Return the manifest's entries: provider, command, image, digest ..."""
        return {"provider": "none", "command": []}

    def commands(self) -> dict[str, list[str]]:
        """``start`` and ``stop`` as plain shell lines that a person can paste."""
        line = f"# {self.shown}"
        return {"start": [line], "stop": [line]}


class LocalServer(Server):
    """A server that is started here: its ``way`` is what its store.yaml says of the provider."""

    def __init__(
        self,
        store: Store,
        way: ProviderCommands,
        port: int,
        data: Path,
        log: Path,
        values: dict[str, object],
        host: str = HOST,
    ) -> None:
        """``values`` are filled in next to address and ports, ``data`` has its files."""
        self.store, self.host, self.port, self.log = store, host, port, log
        self.ports = {name: free_port(host=host) for name in way.ports} | {
            name: port + distance for name, distance in store.side_ports.items()
        }
        self.values = {"host": host, "port": port, "ports": self.ports, **values}
        self.after_start = [self.filled(command) for command in way.after_start]
        self.environment = {
            name: value.format(**self.values) for name, value in way.environment.items()
        }
        self.preparations = [self.filled(command) for command in getattr(way, "prepare", [])]
        texts = filled_in(store, way.files, self.values)
        # Their texts by where they are on this machine; names are below ``data``.
        self.places = {name: data.absolute() / name.lstrip("/") for name in texts}
        self.files = {self.places[name]: text for name, text in texts.items()}

    def write_files(self) -> None:
        for path, text in self.files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def filled(self, command: list[str]) -> list[str]:
        return [part.format(**self.values) for part in command]

    def start_lines(self, folders: Iterable[str], variables: str = "") -> list[str]:
        """Shell lines that make the ``folders``, start the server and get it ready."""
        after = [f"{variables}{shlex.join(command)}" for command in self.after_start]
        return [
            *(f"mkdir -p {shlex.quote(folder)}" for folder in folders),
            *(shell_line(path, text) for path, text in self.files.items()),
            *(f"{variables}{shlex.join(command)}" for command in self.preparations),
            f"{variables}{shlex.join(self.command)} &",
            *(["# once its port is open, each until it succeeds:", *after] if after else []),
        ]


def free_port(wanted: int = 0, distances: Iterable[int] = (), host: str = HOST) -> int:
    """A free port of ``host``: ``wanted``, or any with 0; so are those at the ``distances`` above.

    EnvironmentFault when one is taken.
    """
    if not wanted:
        # Chosen by chance, so that two measurements choose different ones.
        for wanted in random.SystemRandom().sample(OWN_PORTS, k=100):
            with contextlib.suppress(KvstudyError):
                return free_port(wanted, distances, host)
    for distance in (0, *distances):
        _check_free(wanted + distance, host)
    return wanted


def _check_free(port: int, host: str) -> None:
    if not 1 <= port <= HIGHEST_PORT:
        raise EnvironmentFault(
            f"port {port} does not exist; name one from 1 to {HIGHEST_PORT}, or 0 for any free"
        )
    with socket.socket() as probe:
        # Without it the port of a server that stopped a moment ago counts as taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise EnvironmentFault(
                    f"{host} is no address of this host ({platform.node()}); config/config.yaml: "
                    "hosts.address names one that it has"
                ) from None
            raise EnvironmentFault(
                f"port {port} is taken{_holder(port)}; stop that program, name another port, "
                "or use 0 for any free one"
            ) from None


@contextlib.contextmanager
def running_server(store: Store, server: Server, log: Path) -> Iterator[str]:
    """Run the server for as long as the context lasts; yields the version it shows.

    EnvironmentFault with the end of its log if it dies or does not answer in time.
    """
    clock = time.monotonic()
    try:
        server.start()
        server.version = _wait_until_ready(store, server, log)
        server.ready_seconds = time.monotonic() - clock
        yield server.version
    finally:
        clock = time.monotonic()
        server.stop()
        server.stop_seconds = time.monotonic() - clock


def ask(store: Store, server: Server, verb: str, *arguments: object):
    """The answer of the store's ``verb`` (see ``Store.verbs``); None when the store lacks it.

    EnvironmentFault when the server gives no answer, or one that the verb cannot read.
    """
    function = getattr(store.verbs, verb, None)
    if function is None:
        return None
    try:
        return function(server.host, server.port, *arguments)
    except (OSError, ValueError) as error:
        if state := why_silent(server):
            end = log_end(server.log)
            raise EnvironmentFault(
                f"{store.title} server {state}: no answer to '{verb}'{end}"
            ) from None
        raise EnvironmentFault(
            f"the {store.title} server at {server.host}:{server.port} gave no good answer to "
            f"'{verb}' of {store.folder / 'verbs.py'} ({error})"
        ) from None


def check_empty(store: Store, server: Server, fields: Sequence[str], remedy: str) -> None:
    """Create the store's empty table, if it has one; EnvironmentFault for a non-empty server."""
    ask(store, server, "create", fields)
    if records := ask(store, server, "records"):
        raise EnvironmentFault(
            f"the {store.title} server at {server.host}:{server.port} holds {records} records; "
            f"{remedy}"
        )


def why_silent(server: Server) -> str | None:
    """Return how the server ended, or that it is stopped; None if neither is the reason."""
    # A process closes its connections some time before it has ended.
    time.sleep(0.2)
    if end := server.died():
        return end
    for number in server.process_ids():
        with contextlib.suppress(psutil.Error):
            if psutil.Process(number).status() == psutil.STATUS_STOPPED:
                return f"is stopped by a signal ('kill -CONT {number}' lets it go on)"
    return None


def _wait_until_ready(store: Store, server: Server, log: Path) -> str:
    address = (server.host, server.port)
    commands = list(server.after_start)
    limit = time.monotonic() + store.ready_seconds
    while True:
        if end := server.died():
            raise EnvironmentFault(f"{store.title} server {end} before it was ready{log_end(log)}")
        try:
            if commands:
                # Before its port is open, they would only slow the server down.
                socket.create_connection(address, timeout=2).close()
            while commands:
                server.run_beside(commands[0])
                commands.pop(0)
            return store.verbs.version(*address)
        except (OSError, ValueError) as error:
            if time.monotonic() > limit:
                raise EnvironmentFault(
                    f"{store.title} server did not get ready in {store.ready_seconds:g} s "
                    f"({error}); {store.file}: ready_seconds sets the limit{log_end(log)}"
                ) from None
        time.sleep(POLL_SECONDS)


def log_end(log: Path) -> str:
    """``; its log ends: ...`` with its last words, or nothing when there are none."""
    text = ""
    with contextlib.suppress(OSError), log.open("rb") as file:
        text = log_tail(end_of(file, END_BYTES))
    return f"; its log ends: {text}" if text else ""


def end_of(file: BinaryIO, most: int = 4 * MOST_WORDS) -> str:
    """The last bytes of a file, as text; some programs write a line of 100 MB."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - most))
    return file.read().decode("utf-8", errors="replace")


def log_tail(text: str) -> str:
    """The last lines of what a program wrote, as one of MOST_WORDS characters at most.

    Where none of them reports a failure, those before that do, and the last one. Of lines that
    differ in their numbers only, like those of a server that is idle, the last one.
    """
    different = {
        re.sub(r"\d+", "0", line): line
        for line in reversed(text.strip().splitlines())
        if line.strip() and not IDLE.search(line)
    }
    lines = list(different.values())[::-1]
    failures = [line for line in lines if FAILURE.search(line)]
    last = lines[-MOST_LINES:]
    if failures and failures[-1] not in last:
        last = [*failures[1 - MOST_LINES :], lines[-1]]
    shown = CONTROL.sub(" ", " | ".join(last))
    return shown if len(shown) <= MOST_WORDS else f"... {shown[-MOST_WORDS:]}"


def failure(command: list[str], status: int, said: str) -> str:
    """Return the message for a failed command."""
    return f"{shlex.join(command)} ended with exit status {status}: {said}"


def _holder(port: int) -> str:
    with contextlib.suppress(psutil.Error):
        for connection in psutil.net_connections("tcp"):
            if connection.laddr.port == port and connection.status == "LISTEN" and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    return ""


def filled_in(store: Store, files: dict[str, str], values: dict) -> dict[str, str]:
    """Text of each file by its name; ``files`` maps that name to the template.

    A template says $name where store.yaml says {name}, since configurations
    are full of braces, and $port_name for {ports[name]}. EnvironmentFault names the
    template that cannot be read or asks for an unknown value.
    """
    values = values | {f"port_{name}": port for name, port in values["ports"].items()}
    texts = {}
    for name, template in files.items():
        source = store.folder / template
        try:
            texts[name] = string.Template(source.read_text(encoding="utf-8")).substitute(values)
        except (OSError, KeyError, ValueError) as error:
            raise EnvironmentFault(f"{source}: cannot be filled in: {error!r}") from None
    return texts


def shell_line(path: Path, text: str) -> str:
    """One line for a shell that writes the file."""
    words = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    return f"printf %b {shlex.quote(words)} > {shlex.quote(str(path))}"
