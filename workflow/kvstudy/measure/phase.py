"""One phase of a cell: run the YCSB client and watch it and the server."""

from __future__ import annotations

import contextlib
import re
import shlex
import signal
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.status import GoodOperations
from kvstudy.measure.clients import Clients
from kvstudy.measure.environment import java_variables
from kvstudy.measure.hosts import FarClients
from kvstudy.stores import process
from kvstudy.stores.definition import Store
from kvstudy.stores.server import Server, last_words, log_end, why_silent

# After the server died, some clients wait minutes for it, others end at once
# and print results that would look like a finished run. Of a server that is stopped or hangs,
# a client reports one timeout after the other.
STALL_SECONDS = 120
# As long, no more than this share of the earlier rate of good operations is no progress.
LEAST_SHARE = 0.01
# Of the server, in the folder of a measurement.
SERVER_LOG = "server.log"
# In what a client says: it has lost threads, or never began.
OUT_OF_MEMORY = ("java.lang.OutOfMemoryError",)
NO_CLASS = ("NoClassDefFoundError", "ClassNotFoundException", "find or load main class")


@dataclass(frozen=True)
class Phase:
    """How a phase went: its command, those of ``others`` that ran beside it, and ``Clients.used``.

    ``hosts`` has the same as ``Clients.used`` for each host, by its name, where clients and server
    have hosts of their own.
    """

    command: list[str]
    others: list[list[str]]
    started: float
    seconds: float
    client_cpu_seconds: float
    monitor_cpu_seconds: float
    hosts: dict[str, dict[str, float]]


def run_phase(
    clients: Clients | FarClients,
    commands: Mapping[str, list[str]],
    directory: Path,
    store: Store,
    server: Server,
    least_share: float = LEAST_SHARE,
) -> Phase:
    """Run ``clients``, one for each of ``commands``, at the same time.

    The name of each is that of its files in ``directory``. The first one is the phase's.

    KvstudyError when the server dies, when for two minutes no more operations of a client go well
    than ``least_share`` of those before them, or when a client ends with an error; none survives
    this call.
    """
    name, *others = commands

    def check_server() -> None:
        if end := server.died():
            log = log_end(directory / SERVER_LOG)
            raise KvstudyError(f"{store.title} server {end} during {name}{log}")

    with clients:
        progress = {label: Progress(directory / f"{label}.err", least_share) for label in commands}
        next_look = time.monotonic() + 1
        while not clients.look(next_look - time.monotonic()):
            now = time.monotonic()
            # Once a second: often enough to notice, too seldom to disturb.
            next_look = max(next_look + 1, now)
            check_server()
            for label, status in clients.ends.items():
                if status is None and (problem := progress[label].problem(now)):
                    state = why_silent(server)
                    culprit = f"; {store.title} server {state}" if state else ""
                    end = log_end(directory / f"{label}.err")
                    raise KvstudyError(f"{label}: {problem}{culprit}; client stopped{end}")
        # Of those that are stopped as well, because one has failed, nothing is told.
        failed = {label: status for label, status in clients.ends.items() if status}
    for label, status in failed.items():
        errors = directory / f"{label}.err"
        # What follows the first exception is a stack trace.
        line = _first_line([errors], ("Exception", "Error:"))
        said = f": {line}" if line else log_end(errors)
        end = process.how_it_ended(status)
        if status == -signal.SIGKILL:
            end += ", by somebody, or by the system because memory ran out ('dmesg' tells)"
        raise KvstudyError(f"{label}: the YCSB client {end}{said}")
    check_server()
    further = [commands[label] for label in others]
    return Phase(commands[name], further, **clients.used, hosts=clients.of_hosts)


@contextlib.contextmanager
def true_cause_first(errors: Sequence[Path]) -> Iterator[None]:
    """A KvstudyError of the body begins with what a client says in its file of ``errors``.

    Only with what explains all that follows: a client that runs out of memory, or lacks a class,
    ends like one that has done its work.
    """
    try:
        yield
    except KvstudyError as error:
        if line := _first_line(errors, OUT_OF_MEMORY):
            limits = ", ".join(java_variables())
            remedy = f"raise -Xmx in {limits}" if limits else "use fewer threads or more memory"
            raise KvstudyError(f"{line}: the client's Java ran out; {remedy} ({error})") from None
        if line := _first_line(errors, NO_CLASS):
            raise KvstudyError(
                f"{line}: a jar of the client is missing or broken; run 'make setup' ({error})"
            ) from None
        raise


def _first_line(paths: Sequence[Path], words: Sequence[str]) -> str:
    """The first line with one of the words, as it can be shown; "" without one."""
    for path in paths:
        with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if any(word in line for word in words):
                    return last_words(line)
    return ""


class Progress:
    """The good operations of a phase over time, from the client's standard ``errors``."""

    def __init__(self, errors: Path, least_share: float) -> None:
        self._good = GoodOperations(errors)
        self._share = least_share
        self._start = time.monotonic()
        # Time and good operations at each look, the first one STALL_SECONDS ago or just before.
        self._looks = deque([(self._start, 0)])

    def problem(self, now: float) -> str | None:
        """Why the operations of the last STALL_SECONDS are no progress; None when they are."""
        self._looks.append((now, self._good.look()))
        while len(self._looks) > 1 and self._looks[1][0] <= now - STALL_SECONDS:
            self._looks.popleft()
        (then, before), (_, count) = self._looks[0], self._looks[-1]
        rate = before / (then - self._start) if before else 0
        if now - then < STALL_SECONDS or count - before > self._share * rate * (now - then):
            return None
        few = f"only {count - before} operations" if count > before else "no operation"
        return (
            f"{few} went well for {STALL_SECONDS} s, after {before} in {then - self._start:.0f} s"
        )


def write_commands(work: Path, classpath: str, server: Server, phases: dict[str, Phase]) -> None:
    """``commands.sh``: shell lines in the sections ``# server``, ``# load``, ``# run``, ``# stop``.

    Before the command of a phase stand those of its further clients, in sections like ``# run-2``;
    nobody lets them begin at the same moment.
    """
    commands = server.commands()
    lines = [f"export CLASSPATH={shlex.quote(classpath)}", "", "# server", *commands["start"]]
    for name, phase in phases.items():
        for number, other in enumerate(phase.others, start=2):
            lines += ["", f"# {name}-{number}: beside the next command", f"{_alone(other)} &"]
        lines += ["", f"# {name}", _alone(phase.command)]
    lines += ["", "# stop", *commands["stop"]]
    (work / "commands.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _alone(command: list[str]) -> str:
    """The command of a client that nobody else is waiting for."""
    return re.sub(r" -p together\.at=\S+", "", shlex.join(command))
