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
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from kvstudy.errors import KvstudyError

# What a record tells, by its kind.
KEYS = {"process": ("what", "pid", "created"), "container": ("what", "name", "daemon")}


def state_directory() -> Path:
    """The user's folder of locks and records: ``KVSTUDY_STATE``, else below the home directory.

    Each machine has its own there, since homes are shared and processes are not. A folder of all
    users, such as /tmp, would let each of them block the others.
    """
    named = os.environ.get("KVSTUDY_STATE")
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        path = Path(named) if named else Path(base) / "kvstudy" / platform.node()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (path / "servers").mkdir(mode=0o700, exist_ok=True)
        problem = "" if os.access(path / "servers", os.W_OK | os.X_OK) else "cannot be written"
        if path.stat().st_uid != os.getuid():
            problem = "belongs to another user"
    except FileExistsError:
        problem = "is no folder"
    except OSError as error:
        problem = f"cannot be used for locks and records: {error.strerror}"
    except RuntimeError:
        path, problem = Path("~"), "no home directory is known for locks and records"
    if problem:
        raise KvstudyError(f"{path}: {problem}; set KVSTUDY_STATE to a folder of your own")
    return path


@contextlib.contextmanager
def measuring_alone() -> Iterator[None]:
    """Hold the lock that lets one cell at a time be measured; wait for it if need be."""
    path = state_directory() / "measure.lock"
    try:
        # Unbuffered: closing it must not fail anew.
        lock = path.open("ab+", buffering=0)
    except OSError as error:
        raise KvstudyError(_no_lock(path, error)) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read().decode(errors="replace").strip()
            print(f"waiting: {holder} is measuring", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            # Some network file systems have no locks.
            raise KvstudyError(_no_lock(path, error)) from None
        try:
            lock.truncate(0)
            lock.write(os.fsencode(f"process {os.getpid()} in {Path.cwd()}"))
        except OSError as error:
            raise KvstudyError(_no_lock(path, error)) from None
        yield


def _no_lock(path: Path, error: OSError) -> str:
    return (
        f"{path}: cannot be written or locked: {error.strerror}; make room for it, or set "
        "KVSTUDY_STATE to another folder of your own"
    )


def record(name: str, entry: dict) -> Path:
    """Write down a server (``kind`` and what ends it) and return the record's path."""
    path = state_directory() / "servers" / f"{name}.json"
    path.write_text(json.dumps(entry), encoding="utf-8")
    return path


def leftovers(kind: str) -> Iterator[tuple[Path, dict]]:
    """Path and content of each record of that kind; only under the lock."""
    for path in sorted((state_directory() / "servers").glob("*.json")):
        try:
            entry = json.loads(path.read_text(encoding="utf-8"))
            whole = all(key in entry for key in KEYS[entry["kind"]])
        except (ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            # Killed while writing it: the process had been started to die with its parent.
            path.unlink()
        elif entry["kind"] == kind:
            yield path, entry
