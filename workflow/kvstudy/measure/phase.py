"""The phases of a cell or a probe: run the YCSB clients and watch them and the server."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kvstudy.errors import EnvironmentFault, InvalidMeasurement, KvstudyError
from kvstudy.logs.ycsb.status import GoodOperations
from kvstudy.measure.clients import Clients
from kvstudy.measure.delay import Route
from kvstudy.measure.environment import java_variables
from kvstudy.measure.hosts import Connected, FarClients
from kvstudy.measure.setting import SERVER_LOG, MeasurementContext
from kvstudy.stores import process
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server, ask, log_end, log_tail, why_silent
from kvstudy.study.raw import END_OF_DELAY

# After the server died, some clients wait minutes for it, others end at once
# and print results that would look like a finished run. Of a server that is stopped or hangs,
# a client reports one timeout after the other.
STALL_SECONDS = 120
# We look each second. After a longer time we were stopped or suspended, and so was the client.
LATE_SECONDS = 10
# As long, no more than this share of the earlier rate of good operations is no progress.
LEAST_SHARE = 0.01
# In what a client says: it has lost threads, or never began.
OUT_OF_MEMORY = ("java.lang.OutOfMemoryError",)
NO_CLASS = ("NoClassDefFoundError", "ClassNotFoundException", "find or load main class")
Counters = dict[str, int] | None


@dataclass
class Phases:
    """The phases of a measurement, one after the other on its ``server``; logs go to ``work``.

    ``phases`` has what the manifest says of each: its command, those of ``others`` that ran next to
    it, ``Clients.used``, and the same for each of ``hosts``, where clients and server have some of
    their own. ``counters`` has what moved in the server meanwhile, see ``counter_deltas``, and
    ``delays`` the commands of the programs that delayed requests.
    """

    setting: MeasurementContext
    work: Path
    server: Server
    hosts: Connected | None
    phases: dict[str, dict] = field(default_factory=dict)
    counters: dict[str, Counters] = field(default_factory=dict)
    delays: dict[str, list[str]] = field(default_factory=dict)

    @contextlib.contextmanager
    def run(
        self,
        name: str,
        commands: Mapping[str, list[str]],
        least_share: float = LEAST_SHARE,
        way: Route | None = None,
    ) -> Iterator[None]:
        """Run a client for each of ``commands`` at the same time; the block checks what they left.

        The name of each is that of its files. The first one is the phase's. ``way`` is that to the
        server, if it is not its own address.

        KvstudyError when the server dies, when for two minutes no more operations of a client go
        well than ``least_share`` of those before them, or when a client ends with an error; none
        survives this call. It begins with the true cause, if the clients tell it.
        """
        before = self._count()
        with self._true_cause_first(commands):
            clients = self._watched(name, commands, least_share, way.process_ids if way else [])
            # Before anything else is asked: asking is counted too.
            self.counters[name] = counter_deltas(self.setting.store, before, self._count())
            yield
        command, *others = commands.values()
        self.phases[name] = {"command": command, "others": others, **clients.used}
        self.phases[name]["hosts"] = clients.of_hosts
        self.delays |= {name: way.command} if way and way.command else {}

    def _watched(
        self, name: str, commands: Mapping[str, list[str]], least_share: float, path: list[int]
    ) -> Clients | FarClients:
        """The clients, when they have ended well."""
        store, work = self.setting.store, self.work
        arguments = (name, commands, self.setting.client.classpath, work, f"ycsb-{store.name}")
        if self.hosts:
            running = self.hosts.clients(*arguments)
        else:
            running = Clients(*arguments, {"server": self.server.process_ids(), "path": path})
        with running as clients:
            progress = {
                label: OperationMonitor(work / f"{label}.err", least_share) for label in commands
            }
            next_look = time.monotonic() + 1
            # Until all have ended, or one has failed.
            while None in (ends := clients.look(next_look - time.monotonic())).values():
                if any(ends.values()):
                    break
                now = time.monotonic()
                # Once a second: often enough to notice, too seldom to disturb.
                next_look = max(next_look + 1, now)
                self._check_server(name)
                for label, status in ends.items():
                    if status is None and (problem := progress[label].problem(now)):
                        # The client only waits for a server that has ended or is stopped.
                        state, end = why_silent(self.server), log_end(work / f"{label}.err")
                        if state:
                            end = f"; {store.title} server {state}{log_end(work / SERVER_LOG)}"
                        raise EnvironmentFault(f"{label}: {problem}; client stopped{end}")
            # Of those that are stopped as well, because one has failed, nothing is told.
            failed = {label: status for label, status in ends.items() if status}
        if failed and (end := why_silent(self.server)):
            # The client's own words are then those of somebody who was left alone.
            raise self._server_ended(end, name)
        for label, status in failed.items():
            errors = work / f"{label}.err"
            # What follows the first exception is a stack trace.
            line = _first_line([errors], ("Exception", "Error:"))
            said = f": {line}" if line else log_end(errors)
            end = process.describe_exit(status)
            if status == -signal.SIGKILL:
                end += ", by somebody, or by the system because memory ran out ('dmesg' shows)"
            raise EnvironmentFault(f"{label}: the YCSB client {end}{said}")
        self._check_server(name)
        return clients

    def _check_server(self, name: str) -> None:
        if end := self.server.died():
            raise self._server_ended(end, name)

    def _server_ended(self, end: str, name: str) -> EnvironmentFault:
        log = log_end(self.work / SERVER_LOG)
        return EnvironmentFault(f"{self.setting.store.title} server {end} during {name}{log}")

    @contextlib.contextmanager
    def _true_cause_first(self, labels: Iterable[str]) -> Iterator[None]:
        """A KvstudyError of the body begins with what a client says, if that explains all.

        A client that runs out of memory, or lacks a class, ends like one that has done its work.
        """
        errors = [self.work / f"{label}.err" for label in labels]
        try:
            yield
        except KvstudyError as error:
            if line := _first_line(errors, OUT_OF_MEMORY):
                limits = ", ".join(java_variables())
                remedy = f"raise -Xmx in {limits}" if limits else "use fewer threads or more memory"
                why = f"the client's Java ran out; {remedy}"
            elif line := _first_line(errors, NO_CLASS):
                why = "a jar of the client is missing or broken; run 'make setup'"
            else:
                raise
            raise EnvironmentFault(f"{line}: {why} ({error})") from None

    def _count(self) -> Counters:
        """The server's running totals under its own names; None when the store shows none.

        KvstudyError when the counter that store.yaml names for misses is not among them.
        """
        store = self.setting.store
        totals = ask(store, self.server, "counters")
        if store.misses and store.misses not in (totals or {}):
            raise EnvironmentFault(
                f"{store.file}: misses: {store.title} has no counter '{store.misses}'; "
                f"counters() in verbs.py reports: {', '.join(totals or {}) or 'nothing'}"
            )
        return totals

    def write_commands(self) -> None:
        """``commands.sh``: shell lines in sections ``# server``, ``# load``, ``# run``, ``# stop``.

        Before the command of a phase are those of its further clients, in sections like
        ``# run-2``; nobody lets them begin at the same moment. What delays requests is in a section
        ``# delay``.
        """
        commands, classpath = self.server.commands(), shlex.quote(self.setting.client.classpath)
        lines = [f"export CLASSPATH={classpath}", "", "# server", *commands["start"]]
        for name, phase in self.phases.items():
            if name in self.delays:
                lines += ["", "# delay", f"{shlex.join(self.delays[name])} &"]
            for number, other in enumerate(phase["others"], start=2):
                lines += ["", f"# {name}-{number}: next to the next command", f"{_alone(other)} &"]
            lines += ["", f"# {name}", _alone(phase["command"])]
        lines += ["", "# stop", *[END_OF_DELAY] * bool(self.delays), *commands["stop"]]
        (self.work / "commands.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")


def counter_deltas(store: Store, before: Counters, after: Counters) -> Counters:
    """The counters that moved, and by how much; None when the store shows none.

    KvstudyError for a counter that fell or vanished: then the server was started
    again, and what it held and counted before is lost.
    """
    if before is None or after is None:
        return None
    change = {name: after.get(name, 0) - before.get(name, 0) for name in before | after}
    for name, count in change.items():
        if count < 0:
            raise InvalidMeasurement(
                f"{store.title}: its counter {name} fell by {-count}; was the server started again?"
            )
    return {name: count for name, count in change.items() if count}


def _first_line(paths: Sequence[Path], words: Sequence[str]) -> str:
    """The first line with one of the words, as it can be shown; "" without one."""
    for path in paths:
        with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if any(word in line for word in words):
                    return log_tail(line)
    return ""


class OperationMonitor:
    """The good operations of a phase over time, from the client's standard ``errors``."""

    def __init__(self, errors: Path, least_share: float) -> None:
        self._good = GoodOperations(errors)
        self._share = least_share
        self._start = time.monotonic()
        # Time and good operations at each look, the first one STALL_SECONDS ago or just before.
        self._looks = deque([(self._start, 0)])

    def problem(self, now: float) -> str | None:
        """Return why the last STALL_SECONDS show no progress; None if they do."""
        if now - self._looks[-1][0] > LATE_SECONDS:
            self._looks.clear()
        self._looks.append((now, self._good.look()))
        while len(self._looks) > 1 and self._looks[1][0] <= now - STALL_SECONDS:
            self._looks.popleft()
        (then, before), (_, count) = self._looks[0], self._looks[-1]
        rate = before / (then - self._start) if before else 0
        if now - then < STALL_SECONDS or count - before > self._share * rate * (now - then):
            return None
        few = f"only {count - before} operations" if count > before else "no operation"
        earlier = f"{before} in {then - self._start:.0f} s"
        return f"{few} went well for {STALL_SECONDS} s, after {earlier}"


def _alone(command: list[str]) -> str:
    """The command of a client that nobody else is waiting for."""
    return re.sub(r" -p together\.at=\S+", "", shlex.join(command))
