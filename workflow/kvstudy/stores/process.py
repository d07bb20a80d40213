"""Child processes that never outlive the process that started them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
from pathlib import Path
from typing import IO

import psutil

from kvstudy.errors import KvstudyError
from kvstudy.stores import registry

# util-linux sets the parent-death signal after it changed the user; a change of
# user (memcached -u) would clear it.
DIES_WITH_PARENT = ["setpriv", "--pdeathsig", "KILL"]
# The environment of a server, and of all that it starts, has this variable with the folder of
# its data: nothing else tells a process that has left its session from those of others.
MARK = "KVSTUDY_SERVER"
# <sys/prctl.h>
PR_SET_CHILD_SUBREAPER = 36

_started: set[int] = set()


def start(
    command: list[str],
    stdout: IO | None,
    stderr: IO | int | None,
    user: str | None = None,
    environment: dict[str, str] | None = None,
) -> subprocess.Popen:
    """Start ``command`` in a process group of its own; it is killed when we die.

    ``user`` is the user to become; only root can ask for one. KvstudyError where the program is
    missing that sets the signal.
    """
    become = ["--reuid", user, "--regid", user_group(user), "--clear-groups"] if user else []
    try:
        process = subprocess.Popen(
            [*DIES_WITH_PARENT, *become, "--", *command],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            env=os.environ | (environment or {}),
        )
    except FileNotFoundError:
        raise KvstudyError(
            f"{DIES_WITH_PARENT[0]}: no such program on this machine (util-linux); run 'make setup'"
        ) from None
    _started.add(process.pid)
    return process


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


def note(process: subprocess.Popen, what: str, mark: str = "") -> Path:
    """Record the process, so that the next cell can end it if we cannot.

    ``mark`` is what stands in MARK in its environment.
    """
    entry = {
        "kind": "process",
        "what": what,
        "pid": process.pid,
        "created": psutil.Process(process.pid).create_time(),
        "mark": mark,
    }
    return registry.record(f"{what}-{process.pid}", entry)


def adopt_orphans() -> set[psutil.Process]:
    """What a process of ours leaves behind becomes our child from now on; those we have already."""
    _subreaper(True)
    return set(psutil.Process().children())


def orphans(others: set[psutil.Process]) -> list[psutil.Process]:
    """What processes that we started have left behind, and lives; ``others`` are none of it."""
    found = []
    for child in psutil.Process().children():
        if child.pid not in _started and child not in others:
            with contextlib.suppress(psutil.NoSuchProcess):
                found += [child, *child.children(recursive=True)]
    return [process for process in found if _lives(process)]


def end_orphans(others: set[psutil.Process]) -> None:
    """Kill them, and be done with adopting."""
    # What they have started meanwhile is there the next time; what hangs in the kernel stays.
    for _ in range(3):
        end(orphans(others))
    _subreaper(False)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _subreaper(on: bool) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def stop(process: subprocess.Popen, sign: signal.Signals, patience: float = 30) -> None:
    """End the process and all of its group, and return when they are gone."""
    members = group_of(process.pid)
    if process.poll() is None:
        process.send_signal(sign)
        # One that is stopped would not notice.
        process.send_signal(signal.SIGCONT)
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
        except psutil.Error:
            continue
    psutil.wait_procs(processes, timeout=10)


def sweep() -> list[str]:
    """End what an earlier cell left running; returns what it was.

    A process counts only when its id *and* its start time are the recorded
    ones: ids are used again. Those that it has started count by their mark.
    """
    ended = []
    for path, entry in registry.leftovers("process"):
        left = _marked(entry["mark"]) if entry.get("mark") else []
        try:
            process = psutil.Process(entry["pid"])
            if process.create_time() == entry["created"]:
                left = [process, *group_of(entry["pid"]), *left]
        except psutil.NoSuchProcess:
            pass
        if left:
            end(left)
            ended.append(f"{entry['what']} (process {left[0].pid})")
        path.unlink(missing_ok=True)
    return ended


def _marked(mark: str) -> list[psutil.Process]:
    """The processes whose environment has the mark, or that work in the folder that it names."""
    found = []
    for process in psutil.process_iter():
        try:
            # Redis writes its title over its environment. A shell that looks there has a terminal.
            works_there = process.cwd() == mark and process.terminal() is None
            if works_there or process.environ().get(MARK) == mark:
                found.append(process)
        except (psutil.Error, OSError):
            # Those of others do not show it.
            continue
    return found
