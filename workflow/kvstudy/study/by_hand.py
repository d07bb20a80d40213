"""Whether somebody edited a file with numbers after a step of the pipeline had made it.

Each step notes the checksums of what it made beside it, in ``.<step>.sha256`` (in the format
of ``sha256sum``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.raw import file_digest
from kvstudy.whole_file import put

ENDING = ".sha256"


@contextlib.contextmanager
def noted(folder: Path, step: str) -> Iterator[list[Path]]:
    """Note the files below ``folder`` that are put into the list; nothing where the step fails."""
    notes = folder / f".{step}{ENDING}"
    notes.unlink(missing_ok=True)
    made: list[Path] = []
    yield made
    lines = [f"{file_digest(path)}  {path.relative_to(folder)}\n" for path in made]
    put("".join(lines).encode(), notes)


def refuse_edited(folders: Iterable[Path]) -> None:
    """KvstudyError when a file that was noted in one of the folders is another now."""
    edited = [path for folder in folders for path in _edited(folder)]
    if edited:
        names = "\n".join(f"  {path}" for path in edited)
        raise KvstudyError(
            "edited after they were made, and no number of the report is typed by hand:\n"
            f"{names}\nRemove these files; they are then made again from the raw logs"
        )


def _edited(folder: Path) -> Iterator[Path]:
    for notes in sorted(folder.glob(f".*{ENDING}")):
        try:
            since, lines = notes.stat().st_mtime_ns, notes.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            # Another Snakemake makes the files of this step at the moment.
            continue
        for line in lines:
            digest, _, name = line.partition("  ")
            path = folder / name
            # An older file was not touched since: a run may have gigabytes.
            if path.is_file() and path.stat().st_mtime_ns > since and file_digest(path) != digest:
                yield path
