"""A record of every server that was started, so that none outlives its cell.

A server dies with the process that started it. Where that fails (SIGKILL of
everything, a crash of the machine's Docker daemon), the next cell finds the
record of it here and ends it. Measurements of one user hold one lock, so what
a new cell finds is always a leftover, and never the server of another cell.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kvstudy.errors import KvstudyError


def state_directory() -> Path:
    """The user's folder of locks and records; ``KVSTUDY_STATE`` names another."""
    default = Path(tempfile.gettempdir()) / f"kvstudy-{os.getuid()}"
    path = Path(os.environ.get("KVSTUDY_STATE", default))
    (path / "servers").mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise KvstudyError(f"{path}: belongs to another user; set KVSTUDY_STATE to another folder")
    return path


@contextlib.contextmanager
def measuring_alone() -> Iterator[None]:
    """Hold the lock that lets one cell at a time be measured; wait for it if need be."""
    with (state_directory() / "measure.lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            print(f"waiting: {lock.read().strip()} is measuring", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        lock.truncate(0)
        lock.write(f"process {os.getpid()} in {Path.cwd()}")
        lock.flush()
        yield


def record(name: str, entry: dict) -> Path:
    """Write down a server (``kind`` and what ends it) and return the record's path."""
    path = state_directory() / "servers" / f"{name}.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


def leftovers(kind: str) -> Iterator[tuple[Path, dict]]:
    """Path and content of each record of that kind; call it only under the lock."""
    for path in sorted((state_directory() / "servers").glob("*.json")):
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            # Killed while writing it: the process had been started to die with its parent.
            path.unlink()
            continue
        if entry["kind"] == kind:
            yield path, entry
