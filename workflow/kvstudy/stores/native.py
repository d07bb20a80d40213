"""Provider ``native``: the server is a program of this machine."""

import contextlib
import functools
import getpass
import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kvstudy.errors import EnvironmentFault
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason, sentence
from kvstudy.stores import process
from kvstudy.stores.configuration import template
from kvstudy.stores.definition import SERVERS, Store
from kvstudy.stores.server import COMMAND_SECONDS, HOST, LocalServer, end_of, failure, log_tail

# Beside a server that came with a package: which file it was.
RECORD = "package.json"


def missing_requirement(store: Store) -> str | None:
    """None when the store's program is here, else what is missing and how to get it."""
    if store.native is None:
        return f"{store.title} has no native program in {store.file}"
    program = find_program(store)
    if program is None:
        return reason("no-program", program=store.native.program, remedy=store.native.remedy)
    other = store.native.refuse
    if other and not program.startswith(str(SERVERS.absolute())):
        done = subprocess.run([program, "--version"], capture_output=True, text=True)
        if other in done.stdout + done.stderr:
            return f"{program} is {other}, not {store.title}: {store.native.remedy}"
    for used in _used_files(store):
        if not (any(SERVERS.parent.glob(used)) if "/" in used else shutil.which(used)):
            return reason("no-program", program=used, remedy=store.native.remedy)
    return None


def _used_files(store: Store) -> Iterator[str]:
    """Return other files that a cell's commands use: programs on the path, files of the project."""
    native = store.native
    for command in (*native.prepare, native.command, *native.after_start):
        # Scripts of the store's own folder are there.
        if not re.search("[{/]", command[0]):
            yield command[0]
        for word in command:
            for below in re.findall(r"\{servers\}/([^:]+)", word):
                yield str(store.installed / below)


def find_program(store: Store) -> str | None:
    """The store's program in servers/<store>/ or its bin/, else on the path, else None."""
    if installed := program_in(store.installed, store.native.program):
        return str(installed.absolute())
    # Servers are often in sbin, which is not on the path of everybody.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin"])
    return shutil.which(store.native.program, path=path)


def program_in(folder: Path, program: str) -> Path | None:
    """The program in the folder of a server, or in its bin/."""
    places = (folder / program, folder / "bin" / program)
    return next((path for path in places if path.is_file()), None)


class NativeServer(LocalServer):
    """A server process with its data in ``data`` and its output in ``log``.

    It listens at ``host`` only. ``cores`` are those that it may run on; empty for all.
    """

    def __init__(
        self, store: Store, port: int, data: Path, log: Path, cores: str = "", host: str = HOST
    ) -> None:
        self.data = data.absolute()
        values = {
            "program": find_program(store) or store.native.program,
            "data": self.data,
            "servers": store.installed.absolute(),
            "user": getpass.getuser(),
        }
        super().__init__(store, store.native, port, data, log, values, host)
        self.command = [*process.pinning_prefix(cores), *self.filled(store.native.command)]
        self._user = store.native.user if os.getuid() == 0 else None
        marked = os.environ | self.environment | {process.MARK: str(self.data)}
        how = {"what": store.name, "mark": str(self.data), "environment": marked}
        self._recorded = functools.partial(process.running, **how)
        self._running = contextlib.ExitStack()

    def start(self) -> None:
        if problem := missing_requirement(self.store):
            raise EnvironmentFault(sentence(problem))
        # What it leaves behind is a child of ours then, wherever it has gone.
        self._others = process.adopt_orphans()
        self._running.callback(process.end_orphans, self._others)
        self.data.mkdir(parents=True, exist_ok=True)
        self.write_files()
        try:
            for command in self.preparations:
                self._run(command)
        except ChildProcessError as error:
            raise EnvironmentFault(f"{self.store.title}: {error}") from None
        if self._user:
            os.chown(self.data, pwd.getpwnam(self._user).pw_uid, -1)
        sign = signal.Signals[f"SIG{self.store.stop_signal}"]
        with self.log.open("wb") as log:
            self._process = self._running.enter_context(
                self._recorded(self.command, log, log, sign=sign, user=self._user)
            )

    def run_beside(self, command: list[str]) -> None:
        self._run(command, COMMAND_SECONDS)

    def stop(self) -> None:
        self._running.close()

    def died(self) -> str | None:
        status = self._process.poll()
        if status == 0 and process.orphans(self._others):
            return "went into the background (start it in the foreground, so that it can be ended)"
        return None if status is None else process.describe_exit(status)

    def process_ids(self) -> list[int]:
        return [self._process.pid]

    def describe(self) -> dict:
        # The file that the program came with, its checksum, and whether that is a known one.
        record, package = self.store.installed / RECORD, {}
        if record.is_file() and self.values["program"].startswith(str(record.parent.absolute())):
            package = json.loads(record.read_text(encoding="utf-8"))
        return {
            "provider": N_("native"),
            "program": self.values["program"],
            "package": package,
            "command": self.command,
            "template": template(self.store, self.store.native),
            "ports": self.ports,
            "environment": self.environment,
            "after_start": self.after_start,
        }

    def commands(self) -> dict[str, list[str]]:
        variables = "".join(
            f"{name}={shlex.quote(value)} " for name, value in self.environment.items()
        )
        return {
            "start": self.start_lines([str(self.data)], variables),
            "stop": [f"kill -{self.store.stop_signal} %1"],
        }

    def _run(self, command: list[str], seconds: float | None = None) -> None:
        """Run a command to its end, and end whatever it leaves running.

        ChildProcessError with its last words when it fails, or takes more than so many seconds.
        """
        # A file: a pipe would stay open for as long as anything that the command has started.
        with tempfile.TemporaryFile() as output:
            with self._recorded(command, output, subprocess.STDOUT) as running:
                try:
                    running.wait(seconds)
                except subprocess.TimeoutExpired:
                    output.write(f"no end after {seconds:g} s".encode())
            if status := running.returncode:
                raise ChildProcessError(failure(command, status, log_tail(end_of(output))))
