"""Where the logs of a measurement go: while it runs, when it is done, when it failed."""

import contextlib
import errno
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.measure.controller import Interrupted
from kvstudy.stores import process, providers
from kvstudy.study.raw import set_aside, stamp
from kvstudy.whole_file import check_writable

# A disk with less room than this (bytes) is full: logs are written in such pieces.
ROOM = 1 << 16


@dataclass(frozen=True)
class WorkDirectory:
    """The work directory of one measurement below its run; ``done`` is where its logs belong."""

    results: Path
    done: Path
    name: str

    @contextlib.contextmanager
    def working(self) -> Iterator[Path]:
        """An empty folder to work in, while nothing else is measured.

        At the end it is moved to its place in one step. A failed measurement
        leaves nothing there: its logs and its reason go to
        ``results/<run>/failed/<name>/<time>/``, and the KvstudyError says so. It says
        beforehand when its place could not be written.
        """
        for folder in (
            self.done.parent,
            *(self.results / name for name in ("measuring", "failed")),
        ):
            check_writable(folder)
        with process.measuring_alone():
            for leftover in providers.sweep():
                print(f"ended a leftover of an earlier cell: {leftover}", flush=True)
            work = self._fresh()
            try:
                yield work
                self._put(work)
            except Interrupted as stop:
                shutil.rmtree(work, ignore_errors=True)
                raise Interrupted(f"{self.name}: {stop}") from None
            except (KvstudyError, OSError, ValueError) as error:
                raise KvstudyError(self._set_aside(work, _reason(error, work))) from None
            finally:
                _prune(work.parent, self.results)

    def _fresh(self) -> Path:
        """An empty folder; an earlier measurement may have been killed in the middle of it."""
        work = self.results / "measuring" / self.name
        shutil.rmtree(work, ignore_errors=True)
        try:
            work.mkdir(parents=True)
        except OSError as error:
            raise KvstudyError(
                f"{work}: cannot be made anew: {error.strerror}; remove it, or let its owner do so"
            ) from None
        return work

    def _put(self, work: Path) -> None:
        """Move the finished logs to their place; keep logs that were there before."""
        if self.done.is_dir() and any(self.done.iterdir()):
            kept = self.results / "replaced" / self.name / stamp()
            kept.parent.mkdir(parents=True, exist_ok=True)
            self.done.rename(kept)
            print(f"measured again; the earlier logs are in {kept}", flush=True)
        self.done.mkdir(parents=True, exist_ok=True)
        work.rename(self.done)

    def _set_aside(self, work: Path, reason: str) -> str:
        """Keep the logs of a failure with its reason; returns the message for the user."""
        message = f"{self.name}: {reason}"
        try:
            shutil.rmtree(work / "data", ignore_errors=True)
            failed = set_aside(work, self.results, self.name, reason)
        except OSError as error:
            shutil.rmtree(work, ignore_errors=True)
            return f"{message} (its logs could not be kept: {error})"
        return f"{message}\nIts logs are in {failed}; 'snakemake' measures it again."


def _reason(error: Exception, work: Path) -> str:
    """The true cause first: on a full disk, servers, clients and logs break in many ways."""
    full = (errno.ENOSPC, errno.EDQUOT)
    text = f"the disk is full ({work.parent}); free some space"
    if isinstance(error, OSError) and error.errno in full:
        return text
    room = work / "room"
    try:
        room.write_bytes(bytes(ROOM))
    except OSError as problem:
        return f"{text} ({error})" if problem.errno in full else str(error)
    finally:
        room.unlink(missing_ok=True)
    return str(error)


def _prune(folder: Path, root: Path) -> None:
    """Remove the empty folders that the working directory needed."""
    while folder != root:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
