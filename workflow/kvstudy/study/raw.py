"""Where the raw logs of a cell lie, and how one knows that they are complete.

SHA256SUMS (in the format of ``sha256sum``) is written last: a cell that has it
is complete, and a file that was edited or cut off later is noticed.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.cells import Cell

SUMS = "SHA256SUMS"
# The files of a second client are named like a phase's.
SECOND = "run-2"
# In place of logs: why the cell has no value, where measuring again would not help.
GAP = "gap.json"

# In the results of a run whose cells others measured: what was imported.
IMPORTS = "imported.json"
PROVIDER_IMPORTED = "imported"


def raw_directory(run: str, cell: Cell) -> Path:
    """Where the raw logs of a measured cell lie."""
    return Path("results") / run / "raw" / cell.path


def is_measured(run: str, cell: Cell) -> bool:
    """True when the cell's raw logs are there and complete; KvstudyError if that is hidden."""
    return is_complete(raw_directory(run, cell))


def is_gap(run: str, cell: Cell) -> bool:
    """True for a complete cell that has a reason instead of logs."""
    return (raw_directory(run, cell) / GAP).is_file()


def probe_directory(run: str, store: str) -> Path:
    """Where the raw facts and logs of the store's probe lie."""
    return Path("results") / run / "probes" / store


def raw_latencies(directory: Path, phase: str) -> Path:
    """Where YCSB writes the single latencies of ``phase``; kept is this path with ``.gz``."""
    return directory / f"{phase}.latencies"


def is_complete(directory: Path) -> bool:
    """True when the logs of a measurement are there; KvstudyError if that is hidden."""
    try:
        return (directory / SUMS).is_file()
    except OSError as error:
        raise KvstudyError(
            f"{directory}: cannot be read: {error.strerror}; give yourself the right to read "
            "results/ (chown, chmod)"
        ) from None


def write_sums(directory: Path) -> None:
    """Write the file with the checksum of every other file in ``directory``."""
    lines = [
        f"{file_digest(path)}  {path.name}\n"
        for path in sorted(directory.iterdir())
        if path.is_file()
    ]
    (directory / SUMS).write_text("".join(lines), encoding="utf-8")


def read_sums(directory: Path) -> dict[str, str]:
    """The checksum of each file by its name; OSError where there is no such list."""
    lines = (directory / SUMS).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def check_sums(directory: Path) -> None:
    """KvstudyError when a file of the cell is missing or is not what was measured."""
    try:
        sums = read_sums(directory)
    except OSError as error:
        raise KvstudyError(f"{directory}: cannot be read: {error}") from None
    for name, digest in sums.items():
        try:
            same = file_digest(directory / name) == digest
        except OSError as error:
            raise KvstudyError(f"{directory / name}: cannot be read: {error}") from None
        if not same:
            raise KvstudyError(
                f"{directory / name}: differs from its checksum in {SUMS}: it was edited or cut "
                f"off. Restore it, or remove {directory} to measure the cell again"
            )


def sums_digest(directory: Path) -> str:
    """What changes when any file of the measurement does; "" where none is."""
    return file_digest(directory / SUMS) if is_complete(directory) else ""


def file_digest(path: Path) -> str:
    """The file's sha256; OSError where it cannot be read."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
