"""Provider ``native``: the server is a program of this machine."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import signal
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.stores import process
from kvstudy.stores.definition import Store
from kvstudy.stores.server import HOST


def missing(store: Store) -> str | None:
    """None when the store's program is here, else what is missing and how to get it."""
    if store.native is None:
        return f"{store.title} has no native program in envs/stores/{store.name}/store.yaml"
    if shutil.which(store.native.program) is None:
        return f"no program {store.native.program} on this machine: {store.native.remedy}"
    return None


class NativeServer:
    """A server process on loopback with its data in ``data`` and its output in ``log``."""

    def __init__(self, store: Store, port: int, data: Path, log: Path) -> None:
        self.store = store
        self.host = HOST
        self.port = port
        self.data = data
        self.log = log
        values = {"host": HOST, "port": port, "data": data}
        self.command = [part.format(**values) for part in store.native.command]
        self._user = store.native.user if os.getuid() == 0 else None
        self._process = None
        self._record: Path | None = None

    def start(self) -> None:
        problem = missing(self.store)
        if problem:
            raise KvstudyError(problem)
        self.data.mkdir(parents=True, exist_ok=True)
        if self._user:
            os.chown(self.data, pwd.getpwnam(self._user).pw_uid, -1)
        with self.log.open("wb") as log:
            self._process = process.start(self.command, log, log, user=self._user)
        self._record = process.note(self._process, self.store.name)

    def stop(self) -> None:
        if self._process is not None:
            process.stop(self._process, signal.Signals[f"SIG{self.store.stop_signal}"])
        if self._record is not None:
            self._record.unlink(missing_ok=True)

    def died(self) -> str | None:
        status = self._process.poll()
        if status is None:
            return None
        if status < 0:
            return f"was killed by {signal.Signals(-status).name}"
        return f"ended with exit status {status}"

    def describe(self) -> dict:
        return {
            "provider": "native",
            "program": shutil.which(self.store.native.program),
            "command": self.command,
        }

    def commands(self) -> dict[str, list[str]]:
        line = shlex.join(self.command)
        return {
            "start": [f"mkdir -p {shlex.quote(str(self.data))}", f"{line} &"],
            "stop": [f"kill -{self.store.stop_signal} %1"],
        }
