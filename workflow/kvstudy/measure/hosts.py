"""Server and clients on hosts of their own: an agent on each (``measure/agent.py``) is led here."""

from __future__ import annotations

import contextlib
import ipaddress
import itertools
import json
import os
import select
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvstudy.errors import EnvironmentFault
from kvstudy.language.reasons import reason
from kvstudy.measure.agent import ANSWER_SECONDS, BEAT_SECONDS, KEY, boot_id
from kvstudy.measure.controller import VARIABLE
from kvstudy.measure.environment import JAVA_VARIABLES
from kvstudy.stores import process
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server, end_of, log_tail
from kvstudy.study.config import Hosts

# What a program there finds by its environment.
VARIABLES = ("PATH", "KVSTUDY_STATE", *JAVA_VARIABLES)
# For connecting.
HELLO_SECONDS = 60.0
# For the end of somebody else's cell there, who may be waiting for us.
ALONE_SECONDS = 600.0
# For what prepares a server, and for the end of one.
SERVER_SECONDS = 300.0
# Clients whose clocks are known less well are not put together.
CLOCK_SECONDS = 0.05
# Of a finding, the worst last.
GOOD = [True, None, False]


class Lost(EnvironmentFault):
    """An agent has ended, or does not answer; what it started ends with it."""


class Link:
    """The connection to the agent on ``host``, and the launcher's process here."""

    def __init__(self, launcher: str, host: str) -> None:
        self.host = host
        words = [word.format(host=host) for word in shlex.split(launcher)]
        words += [sys.executable, "-m", "kvstudy", "agent", str(Path.cwd())]
        if unsafe := [word for word in words[-5:] if shlex.quote(word) != word]:
            raise EnvironmentFault(
                f"{KEY}: a shell of {host} would read '{unsafe[0]}' as several words; move the "
                "clone to a path of letters, digits, and the signs /._-"
            )
        self._asked, self._unread, self._lost = 0, b"", ""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._said}
        environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
        self._launcher = process.start(words, **pipes, sign="TERM", environment=environment)
        self._writing = threading.Lock()
        self._over = threading.Event()
        threading.Thread(target=self._beats, daemon=True).start()

    def ask(self, do: str, limit: float = ANSWER_SECONDS, /, **arguments: object) -> Any:
        """Return the agent's response to the request ``do`` within ``limit`` s."""
        self.post(do, **arguments)
        return self.answer(limit)

    def post(self, do: str, /, **arguments: object) -> None:
        self._asked += 1
        self._write(json.dumps({"number": self._asked, "do": do, **arguments}))

    def answer(self, seconds: float = ANSWER_SECONDS) -> Any:
        """The answer to what was posted; Lost when none comes in ``seconds``."""
        if self._lost:
            raise Lost(self._lost)
        handle, limit = self._launcher.stdout, time.monotonic() + seconds
        reply: dict = {}
        while reply.get("number") != self._asked:
            while b"\n" not in self._unread:
                if not select.select([handle], [], [], max(0, limit - time.monotonic()))[0]:
                    self._lose(f"no answer for {seconds:g} s")
                if not (read := os.read(handle.fileno(), 1 << 16)):
                    self._lose("")
                self._unread += read
            line, _, self._unread = self._unread.partition(b"\n")
            # A login shell may print a greeting, and earlier replies may be left.
            reply = json.loads(line) if line.startswith(b'{"number":') else {}
        if "error" in reply:
            raise EnvironmentFault(f"{self.host}: {reply['error']}")
        return reply["result"]

    def close(self) -> None:
        """End the agent and all that it has started; returns when the launcher has ended."""
        self._over.set()
        with self._writing, contextlib.suppress(OSError):
            self._launcher.stdin.close()
        if not self._lost:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._launcher.wait(process.PATIENCE_SECONDS + ANSWER_SECONDS)
        process.end(process.group_of(self._launcher.pid))
        self._launcher.wait()
        self._launcher.stdout.close()
        self._said.close()

    def _lose(self, how: str) -> None:
        if not how:
            # The end of its output comes before its own.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._launcher.wait(ANSWER_SECONDS)
            status = self._launcher.poll()
            how = "it closed" if status is None else f"it {process.describe_exit(status)}"
        output = log_tail(end_of(self._said))
        suffix = f"; its output: {output}" if output else ""
        self._lost = f"{KEY}: lost the agent on {self.host}: {how}{suffix}"
        raise Lost(self._lost)

    def _beats(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            self._write("")

    def _write(self, line: str) -> None:
        # Who cannot be written to is found out by its missing answer. ValueError: closed just now.
        with self._writing, contextlib.suppress(OSError, ValueError):
            self._launcher.stdin.write(f"{line}\n".encode())


class Connected:
    """The agents on all ``hosts``, and what they do for a cell."""

    def __init__(self, hosts: Hosts, links: dict[str, Link]) -> None:
        self.hosts, self._links = hosts, links
        self.address = address_of(hosts)
        self.server = links[hosts.server]
        self._clients = [links[name] for name in hosts.clients]

    @property
    def here(self) -> str:
        """Our own address on the hosts' network."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            # Nothing is sent.
            probe.connect((self.address, 9))
            return probe.getsockname()[0]

    def be_alone(self) -> None:
        """Wait until nothing else is measured on the hosts; only while this one is ours alone."""
        self._ask_all(self._links.values(), "be_alone", ALONE_SECONDS, boot=boot_id())

    def missing(self, stores: Sequence[Store]) -> dict[str, str | None]:
        """Return why each store's server cannot run on its host, by the store's folder, or None."""
        folders = sorted({str(store.folder) for store in stores})
        return self.server.ask(
            *("missing", SERVER_SECONDS), stores=folders, host=self.address, data=self.hosts.data
        )

    def java(self) -> dict:
        """Return the Java of the first client's host; EnvironmentFault if others differ."""
        (first, expected), *others = self._ask_all(self._clients, "java", HELLO_SECONDS).items()
        for name, java in others:
            if java["version"] != expected["version"]:
                raise EnvironmentFault(
                    f"{KEY}.clients: {name} has {java['version']}, {first} has "
                    f"{expected['version']}; install the same Java"
                )
        return expected

    def about(self, java: dict, results: Path) -> dict:
        """Return the manifest's entries on the machines; the environment is the first client's."""
        for link in self._links.values():
            path = self.hosts.data if link is self.server else str(results)
            link.post("machine", java=java, path=path)
        machines = {name: link.answer(HELLO_SECONDS) for name, link in self._links.items()}
        # All hosts have them in one order. Server and client do not compete for cores.
        findings = zip(*(machine["findings"] for machine in machines.values()), strict=True)
        findings = (of_hosts for of_hosts in findings if of_hosts[0]["key"] != "cores")
        return {
            "environment": machines[self.hosts.clients[0]]["environment"],
            "findings": [max(same, key=lambda one: GOOD.index(one["good"])) for same in findings],
            "load_average_before": machines[self.hosts.server]["load_average_before"],
            "interrupts_apart": all(machine["interrupts_apart"] for machine in machines.values()),
            "hosts": {
                "launcher": self.hosts.launcher,
                "address": self.address,
                "server": self.hosts.server,
                "clients": self.hosts.clients,
                "environments": {
                    name: machine["environment"] for name, machine in machines.items()
                },
            },
        }

    def clients(
        self, phase: str, commands: Mapping[str, list[str]], classpath: str, work: Path, what: str
    ) -> FarClients:
        """Clients for ``commands``, spread over the hosts in turn."""
        # Who has neither server nor client is not looked at.
        of: dict[Link, dict[str, list[str]]] = {self.server: {}}
        for (label, command), link in zip(commands.items(), itertools.cycle(self._clients)):
            of.setdefault(link, {})[label] = command
        about = {"phase": phase, "classpath": classpath, "directory": str(work), "what": what}
        return FarClients(of, about)

    def compare_clocks(self) -> dict[str, dict]:
        """Compare the clock of each client's host in turn, see ``Agent.compare_clocks``."""
        clock = {"host": self.address, "port": self.server.ask("tell_time", host=self.address)}
        return {
            link.host: link.ask("compare_clocks", 3 * ANSWER_SECONDS, **clock)
            for link in self._clients
        }

    def _ask_all(
        self, links: Collection[Link], do: str, seconds: float, **arguments: object
    ) -> dict[str, Any]:
        """All at the same time; the answers by host."""
        for link in links:
            link.post(do, **arguments)
        return {link.host: link.answer(seconds) for link in links}


def clocks(before: dict[str, dict], after: dict[str, dict], several: bool) -> dict[str, dict]:
    """Both looks at the clock and the network of each client's host as one.

    EnvironmentFault where the clocks of ``several`` clients are not known well enough to put their
    operations into one order.
    """
    clock_offsets = {}
    for name, first in before.items():
        offsets = [first["offset"], after[name]["offset"]]
        doubt = max(first["uncertainty"], after[name]["uncertainty"]) + abs(offsets[1] - offsets[0])
        if several and doubt > CLOCK_SECONDS:
            raise EnvironmentFault(
                f"{KEY}: the clock of {name} is known to {1000 * doubt:.0f} ms only, and several "
                f"clients need {1000 * CLOCK_SECONDS:.0f} ms; let NTP (chrony) keep the clocks of "
                "the hosts, and measure when the network is idle"
            )
        clock_offsets[name] = {
            "round_trip": first["round_trip"],
            "offset": statistics.fmean(offsets),
            "uncertainty": doubt,
        }
    return clock_offsets


@contextlib.contextmanager
def connected(hosts: Hosts, results: Path) -> Iterator[Connected]:
    """An agent on each of the hosts while the block runs.

    EnvironmentFault where one cannot be started, or has other ``results``.
    """
    results.mkdir(parents=True, exist_ok=True)
    variables = {name: os.environ[name] for name in VARIABLES if name in os.environ}
    with contextlib.ExitStack() as stack:
        shared = stack.enter_context(tempfile.TemporaryDirectory(prefix=".hosts-", dir=results))
        links = {}
        for name in hosts.names:
            links[name] = link = Link(hosts.launcher, name)
            stack.callback(link.close)
            link.post("hello", variables=variables, answer=f"{shared}/{name}")
        for name, link in links.items():
            try:
                link.answer(HELLO_SECONDS)
            except Lost as error:
                trial = f"{hosts.launcher.format(host=name)} {sys.executable} --version"
                raise Lost(f"{error}. Make '{trial}' work by hand, without a question") from None
            if not (Path(shared) / name).is_file():
                raise EnvironmentFault(
                    f"{KEY}: what {name} writes in {shared} is not there on this host; "
                    f"{Path.cwd()} must be one folder that all hosts share"
                )
        yield Connected(hosts, links)


def why_missing(stores: Mapping[str, Store], hosts: Hosts) -> dict[str, str]:
    """Return why stores cannot be measured on the hosts, by name, without those that can.

    EnvironmentFault where the hosts cannot be used at all.
    """
    reasons: dict[str, str] = {}
    with connected(hosts, Path("results")) as remote:
        remote.java()
        on_host = remote.missing([store for store in stores.values() if not store.embedded])
    for name, store in stores.items():
        if store.ycsb is None:
            reasons[name] = reason("no-binding", store=store.title)
        elif store.inside:
            reasons[name] = reason("embedded-hosts", store=store.title)
        elif not store.embedded and store.native and not store.native.other_hosts:
            reasons[name] = reason("own-host-only", store=store.title)
        elif why := on_host.get(str(store.folder)):
            reasons[name] = reason("on-host", host=hosts.server, why=why)
    return reasons


def address_of(hosts: Hosts) -> str:
    """Return the server's address; EnvironmentFault if it is not a single network address."""
    wanted = hosts.address or hosts.server
    try:
        resolved = socket.gethostbyname(wanted)
    except OSError as error:
        raise EnvironmentFault(
            f"{KEY}.address: {wanted} cannot be resolved ({error}); name the server's address on "
            "the network of the hosts"
        ) from None
    address = ipaddress.ip_address(resolved)
    if address.is_unspecified or address.is_loopback:
        raise EnvironmentFault(
            f"{KEY}.address: {wanted} is {resolved}, not a single address for other hosts; name "
            "the server's address on the network of the hosts"
        )
    return resolved


class FarServer(Server):
    """The server on its host; its verbs go over the network from here."""

    def __init__(self, hosts: Connected, store: Store, port: int, log: Path) -> None:
        self._link, self.host, self.port, self.log = hosts.server, hosts.address, port, log
        self._how = {"store": store.model_dump_json(), "data": hosts.hosts.data, "log": str(log)}

    def start(self) -> None:
        place = {"host": self.host, "port": self.port}
        self._told = self._link.ask("start_server", SERVER_SECONDS, **place, **self._how)
        self.port, self.after_start = self._told["port"], self._told["after_start"]

    def run_beside(self, command: list[str]) -> None:
        if said := self._link.ask("run_beside", 3 * ANSWER_SECONDS, command=command):
            raise OSError(said)

    def stop(self) -> None:
        # It ends with its agent.
        with contextlib.suppress(Lost):
            self._link.ask("stop_server", SERVER_SECONDS)

    def died(self) -> str | None:
        return self._link.ask("died")

    def describe(self) -> dict:
        return self._told["describe"]

    def commands(self) -> dict[str, list[str]]:
        where = f"# it was on {self._link.host}"
        return {part: [where, *lines] for part, lines in self._told["commands"].items()}


@dataclass
class FarClients:
    """The clients of a phase, and the samples of server and clients, on their hosts.

    As ``Clients``; next to it, ``of_hosts`` has what was used on each host.
    """

    of: dict[Link, dict[str, list[str]]]
    about: dict[str, str]

    def __enter__(self) -> FarClients:
        for label in itertools.chain(*self.of.values()):
            # A shared file system may remember for long that a file was not there.
            (Path(self.about["directory"]) / f"{label}.err").touch()
        try:
            for link, commands in self.of.items():
                link.post("start_clients", commands=commands, host=link.host, **self.about)
            for link in self.of:
                link.answer(2 * ANSWER_SECONDS)
        except BaseException:
            self.__exit__()
            raise
        return self

    def look(self, seconds: float) -> dict[str, int | None]:
        clients = [link for link, commands in self.of.items() if commands]
        for link in clients:
            link.post("look", seconds=seconds)
        ends = {}
        for link in clients:
            ends |= link.answer(max(0, seconds) + ANSWER_SECONDS)
        # The server's last sample is that of the end.
        for link in self.of.keys() - set(clients):
            link.ask("look", seconds=0)
        return ends

    def __exit__(self, *error: object) -> None:
        self.of_hosts: dict[str, dict[str, float]] = {}
        for link in self.of:
            # What was lost, or never began, shows nothing.
            with contextlib.suppress(Lost):
                if used := link.ask("stop_clients", process.PATIENCE_SECONDS + ANSWER_SECONDS):
                    self.of_hosts[link.host] = used
        names = [link.host for link, commands in self.of.items() if commands]
        clients = [self.of_hosts[name] for name in names if name in self.of_hosts]
        # By the clock that is in the log of the first client.
        self.used = {"started": clients[0]["started"] if clients else None}
        self.used["seconds"] = max((used["seconds"] for used in clients), default=0.0)
        for name in ("client_cpu_seconds", "monitor_cpu_seconds"):
            self.used[name] = round(sum(used[name] for used in self.of_hosts.values()), 3)
