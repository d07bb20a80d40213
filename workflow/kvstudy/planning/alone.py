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

from kvstudy.errors import KvstudyError
from kvstudy.whole_file import check_writable

LOCK = Path(".snakemake/kvstudy.lock")
# Open until the process ends.
_held = []


def take_clone() -> str:
    """Take the lock of the clone for the rest of the process; "" or who has it.

    KvstudyError where nothing can be written in the clone.
    """
    check_writable(LOCK.parent)
    try:
        LOCK.parent.mkdir(exist_ok=True)
        lock = LOCK.open("ab+", buffering=0)
    except OSError as error:
        raise KvstudyError(f"{LOCK}: cannot be written: {error.strerror}; remove it") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        return lock.read().decode(errors="replace").strip() or "another process"
    except OSError:
        # Some network file systems have no locks.
        return ""
    _held.append(lock)
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    # Only for the message; the disk may be full.
    with contextlib.suppress(OSError):
        lock.truncate(0)
        lock.write(os.fsencode(f"process {os.getpid()}, since {began}: {command}\n"))
    return ""


def refuse_second(holder: str) -> None:
    """KvstudyError when the clone is another's, see ``take_clone``."""
    if holder:
        raise KvstudyError(
            f"{Path.cwd()}: another Snakemake works in this clone ({holder}). Wait until it has "
            "ended ('kvstudy watch' shows how far it is), or end it: Ctrl-C in its terminal, or "
            "'kill' with its number, which lets the present cell end first. Then run this again: "
            "it goes on with what is left"
        )
