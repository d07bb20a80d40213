"""One Snakemake works in a clone at a time.

Snakemake's own lock is files that stay when it is killed. This one is the kernel's and ends
with the process that holds it, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shlex
import sys
import time
from pathlib import Path
from typing import IO

from kvstudy.errors import KvstudyError
from kvstudy.whole_file import check_writable

LOCK = Path(".snakemake/kvstudy.lock")
ANOTHER = "another process"
PATIENCE_SECONDS = 10
# Open until the process ends.
_held: list[IO[bytes]] = []


def share_clone() -> str:
    """Keep others from changing the clone while this process plans; "" or who changes it now.

    KvstudyError where nothing can be written in the clone.
    """
    check_writable(LOCK.parent)
    try:
        LOCK.parent.mkdir(exist_ok=True)
        lock = LOCK.open("ab+", buffering=0)
    except OSError as error:
        raise KvstudyError(f"{LOCK}: cannot be written: {error.strerror}; remove it") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        return lock.read().decode(errors="replace").strip() or ANOTHER
    except OSError:
        # Some network file systems have no locks.
        return ""
    _held.append(lock)
    return ""


def take_clone(holder: str) -> None:
    """Have the clone alone for the rest of the process; ``holder`` is what share_clone gave.

    KvstudyError when it is another's.
    """
    for lock in () if holder else _held:
        if not _locked(lock):
            holder = ANOTHER
            continue
        command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        began = time.strftime("%Y-%m-%d %H:%M:%S")
        # Only for the message; the disk may be full.
        with contextlib.suppress(OSError):
            lock.truncate(0)
            lock.write(os.fsencode(f"process {os.getpid()}, since {began}: {command}\n"))
    if holder:
        raise KvstudyError(
            f"{Path.cwd()}: another Snakemake works in this clone ({holder}). Wait until it has "
            "ended ('kvstudy watch' shows how far it is), or end it: Ctrl-C in its terminal, or "
            "'kill' with its number, which lets the present cell end first. Then run this again: "
            "it goes on with what is left"
        )


def _locked(lock: IO[bytes]) -> bool:
    """Whether ``lock`` could be had alone; a dry run beside us soon ends."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
