"""Snakemake and its commands: one in a clone at a time, and none that outlives it.

Killed with SIGKILL, Snakemake leaves its jobs running, and those on a cluster in its queue. What
nobody waits for must not go on next to the jobs of the next Snakemake, so every command of a rule
watches whether it lives, and the next Snakemake cancels what is in the queue.

Snakemake's own lock is files that stay when it is killed. The one here is the kernel's and ends
with the process that holds it, however that ends.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import psutil

from kvstudy.errors import EnvironmentFault
from kvstudy.whole_file import check_writable

VARIABLE = "KVSTUDY_CONTROLLER"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Interrupted(BaseException):
    """Stopped from outside. No Exception: whoever reads damaged files catches all of these."""


def stop_with_controller() -> None:
    """Send us SIGTERM when the process has died that ``KVSTUDY_CONTROLLER`` names.

    The Snakefile sets it. Without it nobody waits for us: a command by hand ends by itself.
    """
    if VARIABLE not in os.environ:
        return

    def wait() -> None:
        # It may be gone already.
        with contextlib.suppress(ProcessLookupError):
            select.select([os.pidfd_open(int(os.environ[VARIABLE]))], [], [])
        with contextlib.suppress(OSError):
            print("the process that started this has died; stopped", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


def stop_controller() -> None:
    """Have the Snakemake that waits for us start no further cell; nothing without one.

    Its jobs have both variables; a command by hand may inherit the first, which then names
    whatever started it.
    """
    if {VARIABLE, "KVSTUDY_CONFIG"} <= os.environ.keys():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(os.environ[VARIABLE]), signal.SIGTERM)


def end_with_children() -> None:
    """Let SIGTERM and SIGHUP end the programs that we started (LaTeX, pandoc) before us."""

    def end(number: int) -> None:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
        sys.exit(128 + number)

    # Ctrl-C reaches them as it reaches us.
    _handle(end, [signal.SIGTERM, signal.SIGHUP])


def stop_on_signals() -> None:
    """Let SIGTERM, SIGINT and SIGHUP end the cell the same way: server down, nothing kept."""

    def interrupt(number: int) -> None:
        # A second signal must not break the cleaning up.
        for sign in SIGNALS:
            signal.signal(sign, signal.SIG_IGN)
        raise Interrupted(f"stopped by {signal.Signals(number).name}")

    _handle(interrupt, SIGNALS)


def _handle(action: Callable[[int], None], signals: Iterable[int]) -> None:
    for sign in signals:
        # nohup asks to go on after the terminal is closed.
        if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:
            signal.signal(sign, lambda number, frame: action(number))


LOCK = Path(".snakemake/kvstudy.lock")
ANOTHER = "another process"
PATIENCE_SECONDS = 10
# Open until the process ends.
_held: list[IO[bytes]] = []


def lock_shared() -> str:
    """Keep others from changing the clone while this process plans; "" or who changes it now.

    EnvironmentFault where nothing can be written in the clone.
    """
    check_writable(LOCK.parent)
    try:
        LOCK.parent.mkdir(exist_ok=True)
        lock = LOCK.open("ab+", buffering=0)
    except OSError as error:
        raise EnvironmentFault(f"{LOCK}: cannot be written: {error.strerror}; remove it") from None
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


def lock_exclusive(holder: str) -> None:
    """Lock the clone exclusively; EnvironmentFault for a ``holder``, as lock_shared gave it."""
    if not holder and not all(map(_locked, _held)):
        holder = ANOTHER
    if holder:
        raise EnvironmentFault(
            f"{Path.cwd()}: another process works in this clone ({holder}). Wait until it has "
            "ended ('kvstudy watch' shows how far it is), or end it: Ctrl-C in its terminal, or "
            "'kill' with its number, which lets the present cell end first. Then run this again: "
            "it goes on with what is left"
        )
    command = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    for lock in _held:
        # Only for the message; the disk may be full.
        with contextlib.suppress(OSError):
            lock.truncate(0)
            lock.write(os.fsencode(f"process {os.getpid()}, since {began}: {command}\n"))


@contextlib.contextmanager
def clone_lock() -> Iterator[None]:
    """Have the clone alone while the block runs; EnvironmentFault shows who else works in it."""
    lock_exclusive(lock_shared())
    try:
        yield
    finally:
        while _held:
            _held.pop().close()


CELLS = Path(".snakemake/kvstudy-cells.lock")


@contextlib.contextmanager
def cell_lock(folder: Path) -> Iterator[None]:
    """Have the folder of a cell alone, among all hosts that share the clone; else EnvironmentFault.

    SLURM may count a node as lost, and give its cells to another one, while they go on there.
    """
    # Each folder has a byte of the file: nothing is left of a lock when its process ends.
    place = int.from_bytes(hashlib.sha256(os.fsencode(folder)).digest()[:7])
    check_writable(CELLS.parent)
    CELLS.parent.mkdir(exist_ok=True)
    with CELLS.open("ab") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            raise EnvironmentFault(
                f"{folder}: a process of another host works there. Wait until it has ended, or end "
                "it there ('squeue' shows SLURM's jobs); the next 'snakemake' measures what is left"
            ) from None
        except OSError:
            # Some network file systems have no locks.
            pass
        yield


def _locked(lock: IO[bytes]) -> bool:
    """Return whether ``lock`` could be had exclusively; a concurrent dry run soon ends."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.1)
    return False


# How Snakemake's plugin comments the jobs of the groups in workflow/rules/measure.smk.
OURS = re.compile(r"rule_(repetition-\d+|probes)_")
# SLURM gives jobs its KillWait (30 s, if nobody changed it) before it kills them.
CANCEL_SECONDS = 300


def end_earlier_jobs(executor: str) -> None:
    """Cancel the jobs of an earlier Snakemake of this clone, and return when they have ended.

    ``executor`` is Snakemake's name of the cluster. EnvironmentFault for jobs that do not end. Does
    nothing where the cluster's commands are not.
    """
    if executor not in CLUSTERS:
        return
    listed, cancel, look = CLUSTERS[executor]
    if not shutil.which(look.split()[0]):
        return
    limit = time.monotonic() + CANCEL_SECONDS
    cancelled: list[str] = []
    while jobs := listed():
        names = ", ".join(jobs)
        if jobs != cancelled:
            print(f"Cancelling jobs of an earlier Snakemake: {names}", file=sys.stderr, flush=True)
            _run(*cancel, *jobs)
            cancelled = jobs
        if time.monotonic() > limit:
            raise EnvironmentFault(
                f"jobs {names}: of an earlier Snakemake in this clone, and do not end; "
                f"'{look}' shows their state. Run this again when they are gone"
            )
        time.sleep(1)


def _of_slurm() -> list[str]:
    """The ids of all jobs of our groups that work in this clone, or wait to."""
    lines = _run("squeue", "--me", "--noheader", "--format=%i|%k|%Z").splitlines()
    jobs = (line.split("|", 2) for line in lines)
    return [
        job
        for job, comment, folder in jobs
        if OURS.match(comment) and Path(folder).resolve() == Path.cwd()
    ]


def _of_kubernetes() -> list[str]:
    """The names of all Jobs of this clone that have not ended (profiles/kubernetes/job.yaml)."""
    jobs = []
    listed = _run("kubectl", "get", "jobs", "--selector=app=kvstudy", "--output=json")
    for job in json.loads(listed)["items"]:
        ends = {each["type"] for each in job["status"].get("conditions", [])}
        folder = job["spec"]["template"]["spec"]["containers"][0]["workingDir"]
        if not {"Complete", "Failed"} & ends and Path(folder) == Path.cwd():
            jobs.append(f"job/{job['metadata']['name']}")
    return jobs


def _run(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as error:
        why = getattr(error, "stderr", "") or error
        raise EnvironmentFault(f"{command[0]}: {str(why).strip()}; does the cluster run?") from None
    return done.stdout


# How an executor's jobs are listed and cancelled, and what shows them.
CLUSTERS = {
    "slurm": (_of_slurm, ["scancel"], "squeue"),
    "cluster-generic": (_of_kubernetes, ["profiles/kubernetes/cancel"], "kubectl get jobs"),
}
