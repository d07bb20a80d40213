"""Child processes that never outlive the process that started them, and a record of each.

A server dies with the process that started it. Where that fails (SIGKILL of
everything, a crash of the machine's Docker daemon), the next cell finds the
record of it here and ends it. Measurements of one user hold one lock, so what
a new cell finds is always a leftover, and never the server of another cell.
"""

import contextlib
import ctypes
import fcntl
import json
import os
import platform
import pwd
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import psutil

from kvstudy.errors import EnvironmentFault, RunError

SETPRIV = "setpriv"
# A parent that died before its signal was set sends none: then the command does not start.
OF_PARENT = ["sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"']
# The environment of a server, and of all that it starts, has this variable with the folder of
# its data: nothing else shows a process that has left its session from those of others.
MARK = "KVSTUDY_SERVER"
# Of a process that was asked to end.
PATIENCE_SECONDS = 30
# <sys/prctl.h>
PR_SET_CHILD_SUBREAPER = 36

_started: set[int] = set()
# What a record shows, by its kind.
KEYS = {"process": {"what", "pid", "created"}, "container": {"what", "name", "daemon"}}


def state_directory() -> Path:
    """The user's folder of locks and records: ``KVSTUDY_STATE``, else below the home directory.

    Each machine has its own there: such folders are shared, processes are not. A folder of all
    users, such as /tmp, would let each of them block the others.
    """
    named = os.environ.get("KVSTUDY_STATE")
    try:
        base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
        path = (Path(named) if named else Path(base) / "kvstudy") / platform.node()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (path / "servers").mkdir(mode=0o700, exist_ok=True)
        problem = "" if os.access(path / "servers", os.W_OK | os.X_OK) else "cannot be written"
        if {path.stat().st_uid, path.parent.stat().st_uid} != {os.getuid()}:
            problem = "belongs to another user"
    except FileExistsError:
        problem = "is no folder"
    except OSError as error:
        problem = f"cannot be used for locks and records: {error.strerror}"
    except RuntimeError:
        path, problem = Path("~"), "no home directory is known for locks and records"
    if problem:
        raise RunError(f"{path}: {problem}; set KVSTUDY_STATE to a folder of your own")
    return path


@contextlib.contextmanager
def measuring_alone(act: str = "measuring") -> Iterator[None]:
    """Hold the lock that lets one cell at a time be measured; wait for it if need be.

    Whoever waits meanwhile reads what we are doing: the ``act``.
    """
    path = state_directory() / "measure.lock"
    with contextlib.ExitStack() as stack:
        try:
            # Unbuffered: closing it must not fail again.
            lock = stack.enter_context(path.open("ab+", buffering=0))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                holder = lock.read().decode(errors="replace").strip()
                print(f"waiting: {holder}", file=sys.stderr, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            lock.truncate(0)
            lock.write(os.fsencode(f"process {os.getpid()} in {Path.cwd()} is {act}"))
        except OSError as error:
            # Some network file systems have no locks.
            raise RunError(
                f"{path}: cannot be written or locked: {error.strerror}; make room for it, or set "
                "KVSTUDY_STATE to another folder of your own"
            ) from None
        yield


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
            whole = KEYS[entry["kind"]] <= entry.keys()
        except (ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            # Killed while writing it: the process had been started to die with its parent.
            path.unlink()
        elif entry["kind"] == kind:
            yield path, entry


def start(
    command: list[str],
    stdout: IO | int | None,
    stderr: IO | int | None,
    stdin: int = subprocess.DEVNULL,
    sign: str = "KILL",
    user: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> subprocess.Popen:
    """Start ``command`` in a process group of its own; it gets the signal ``sign`` when we die.

    ``user`` is the user to become; only root can ask for one.
    """
    # The signal is set after the user has changed: that (memcached -u) would clear it.
    before = [SETPRIV, "--pdeathsig", sign]
    if user:
        group = str(pwd.getpwnam(user).pw_gid)
        before += ["--reuid", user, "--regid", group, "--clear-groups"]
    before += ["--", *OF_PARENT, str(os.getpid())]
    try:
        process = subprocess.Popen(
            [*before, *command],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            env=environment,
            # What is written to its input reaches it at once.
            bufsize=0,
        )
    except FileNotFoundError:
        raise EnvironmentFault(
            f"{SETPRIV}: no such program on this machine (util-linux); run 'make setup'"
        ) from None
    _started.add(process.pid)
    return process


def pinning_prefix(cores: str) -> list[str]:
    """Return the prefix of a command that runs only on these cores (``0-1,4``)."""
    return ["taskset", "--cpu-list", cores] if cores else []


def describe_exit(status: int) -> str:
    """The exit status of a process, in words."""
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with exit status {status}"


@contextlib.contextmanager
def running(
    command: list[str],
    output: IO,
    errors: IO | int,
    what: str,
    sign: signal.Signals = signal.SIGKILL,
    mark: str = "",
    **how: Any,
) -> Iterator[subprocess.Popen]:
    """A process, as ``start`` makes it; it and its group end with the block.

    It is recorded with its MARK, so that the next cell can end it if we cannot.
    """
    process, entry = start(command, output, errors, **how), None
    try:
        created = psutil.Process(process.pid).create_time()
        about = {"kind": "process", "what": what, "pid": process.pid, "created": created}
        entry = record(f"{what}-{process.pid}", about | {"mark": mark})
        yield process
    finally:
        stop(process, sign)
        if entry:
            entry.unlink(missing_ok=True)


def adopt_orphans() -> set[psutil.Process]:
    """Adopt processes that our children leave behind, and return the existing children."""
    _subreaper(1)
    return set(psutil.Process().children())


def orphans(others: set[psutil.Process]) -> list[psutil.Process]:
    """Return live processes that our children left behind, without ``others``."""
    processes = []
    for child in psutil.Process().children():
        if child.pid not in _started and child not in others:
            with contextlib.suppress(psutil.NoSuchProcess):
                processes += [child, *child.children(recursive=True)]
    return [process for process in processes if _lives(process)]


def end_orphans(others: set[psutil.Process]) -> None:
    """Kill them, and be done with adopting."""
    # What they have started meanwhile is there the next time; what hangs in the kernel stays.
    for _ in range(3):
        end(orphans(others))
    _subreaper(0)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _subreaper(on: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, on, 0, 0, 0)


def stop(process: subprocess.Popen, sign: signal.Signals) -> None:
    """End the process and all of its group, and return when they are gone."""
    members = group_of(process.pid)
    if process.poll() is None:
        process.send_signal(sign)
        # One that is stopped would not notice.
        process.send_signal(signal.SIGCONT)
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    end(members)


def group_of(pid: int) -> list[psutil.Process]:
    """All live processes of the session that ``pid`` leads (servers may fork)."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(process.pid) == pid:
                processes.append(process)
    return processes


def end(processes: list[psutil.Process]) -> None:
    """Kill the processes that still live and wait until they are gone."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=10)


def sweep() -> list[str]:
    """End what an earlier cell left running; returns what it was.

    Ids are used again, so a process counts only by its start time too; what it has started by its
    mark.
    """
    ended = []
    for path, entry in leftovers("process"):
        left = _marked(entry["mark"]) if entry.get("mark") else []
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(entry["pid"])
            if process.create_time() == entry["created"]:
                left = [process, *group_of(entry["pid"]), *left]
        if left:
            end(left)
            ended.append(f"{entry['what']} (process {left[0].pid})")
        path.unlink(missing_ok=True)
    return ended


def _marked(mark: str) -> list[psutil.Process]:
    """The processes whose environment has the mark, or that work in the folder that it names."""
    processes = []
    for process in psutil.process_iter():
        # Those of others do not show it.
        with contextlib.suppress(psutil.Error, OSError):
            # Redis writes its title over its environment. A shell that looks there has a terminal.
            works_there = process.cwd() == mark and process.terminal() is None
            if works_there or process.environ().get(MARK) == mark:
                processes.append(process)
    return processes
