"""Files that are there as a whole or not at all, and folders that can be written."""

import contextlib
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from kvstudy.errors import EnvironmentFault, RunError

# A disk with less room than this (bytes) is full: logs are written in such pieces.
ROOM = 1 << 16


def put(content: bytes, output: Path) -> None:
    """Write next to the goal, then rename: a reader never sees half a file."""
    staging = output.with_name(f".{output.name}.new")
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        staging.write_bytes(content)
        staging.replace(output)
    except OSError as error:
        with contextlib.suppress(OSError):
            staging.unlink()
        raise EnvironmentFault(f"{output}: cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def staged(outputs: Iterable[Path]) -> Iterator[dict[Path, IO[str]]]:
    """Text files to write piece by piece; they are in their places when the block ends well."""
    with contextlib.ExitStack() as stack:
        staging = {output: output.with_name(f".{output.name}.new") for output in outputs}
        for path in staging.values():
            stack.callback(path.unlink, missing_ok=True)
        files = {
            output: stack.enter_context(path.open("w", encoding="utf-8"))
            for output, path in staging.items()
        }
        yield files
        for output, file in files.items():
            file.close()
            staging[output].replace(output)


def check_folder(folder: Path) -> Path:
    """The part of the path that is there; EnvironmentFault when it is a file."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        raise EnvironmentFault(f"{folder}: cannot be made: {existing} is a file; move it away")
    return existing


def check_writable(folder: Path) -> None:
    """Raise EnvironmentFault when we could not make ``folder``, or a file in it."""
    existing = folder
    with contextlib.suppress(OSError):
        existing = check_folder(folder)
        if os.access(existing, os.W_OK | os.X_OK, effective_ids=True):
            return
    owner = ""
    with contextlib.suppress(OSError, KeyError):
        if existing.stat().st_uid != os.geteuid():
            owner = f", it belongs to {existing.owner()}"
    raise EnvironmentFault(
        f"{existing}: you cannot write there{owner}; give yourself the right (chown, chmod), or "
        "measure in a clone of your own"
    )


def free_bytes(folder: Path) -> int:
    """Return the free bytes for the folder, or for the place where it would be created."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(existing).free


def full_disk(folder: Path, free: int) -> str:
    """Tell of a folder to which no more can be written."""
    return f"the disk is full ({folder}: {free // 1024} kB are free); free some space"


def check_room(folder: Path, needed: int, who: str) -> None:
    """Raise RunError where less than ``needed`` bytes are free in the folder."""
    if (free := free_bytes(folder)) < needed:
        raise RunError(
            f"the disk is full ({folder}: {free // 1024} kB are free, {who} {needed // 1024} kB at "
            "least); free some space, and run it again"
        )
