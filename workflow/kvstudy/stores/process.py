"""Child processes that never outlive the process that started them."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import IO

import psutil

from kvstudy.stores import registry

# util-linux sets the parent-death signal after it changed the user; a change of
# user (memcached -u) would clear it.
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]


def start(
    command: list[str],
    stdout: IO | None,
    stderr: IO | int | None,
    user: str | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.Popen:
    """Start ``command`` in a process group of its own; it is killed when we die.

    ``user`` is the user to become; only root can ask for one.
    """
    become = ["--reuid", user, "--regid", user_group(user), "--clear-groups"] if user else []
    return subprocess.Popen(
        [*DIES_WITH_PARENT, *become, "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        env=os.environ | (environment or {}),
    )


def bound_to(cores: str) -> list[str]:
    """What stands before a command that may run on these cores (``0-1,4``) only."""
    return ["taskset", "--cpu-list", cores] if cores else []


def how_it_ended(status: int) -> str:
    """The exit status of a process, in words."""
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"


def user_group(user: str) -> str:
    """The name of the user's own group, for setpriv."""
    import grp
    import pwd

    return grp.getgrgid(pwd.getpwnam(user).pw_gid).gr_name


def note(process: subprocess.Popen, what: str) -> Path:
    """Record the process, so that the next cell can end it if we cannot."""
    entry = {
        "kind": "process",
        "what": what,
        "pid": process.pid,
        "created": psutil.Process(process.pid).create_time(),
    }
    return registry.record(f"{what}-{process.pid}", entry)


def stop(process: subprocess.Popen, sign: signal.Signals, patience: float = 30) -> None:
    """End the process and all of its group, and return when they are gone."""
    members = group_of(process.pid)
    if process.poll() is None:
        process.send_signal(sign)
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    end(members)


def group_of(pid: int) -> list[psutil.Process]:
    """All live processes of the session that ``pid`` leads (servers may fork)."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == pid:
                found.append(process)
        except (ProcessLookupError, PermissionError):
            continue
    return found


def end(processes: list[psutil.Process]) -> None:
    """Kill the processes that still live and wait until they are gone."""
    for process in processes:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(processes, timeout=10)


def sweep() -> list[str]:
    """End what an earlier cell left running; returns what it was.

    A process counts only when its id *and* its start time are the recorded
    ones: ids are used again.
    """
    ended = []
    for path, entry in registry.leftovers("process"):
        try:
            process = psutil.Process(entry["pid"])
            if process.create_time() == entry["created"]:
                end(group_of(entry["pid"]))
                ended.append(f"{entry['what']} (process {entry['pid']})")
        except psutil.NoSuchProcess:
            pass
        path.unlink(missing_ok=True)
    return ended
