"""What is measured at this moment, from the files of the cell's working folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kvstudy.logs.ycsb.status import Status, last_status
from kvstudy.study.cells import Cell
from kvstudy.study.raw import SECOND

MEASURING = "measuring"
# YCSB's status lines are a few hundred characters long.
TAIL_BYTES = 8000


@dataclass(frozen=True)
class Current:
    """A cell or probe that is being measured.

    ``name`` is the cell's path, ``phase`` "start", "load", "run" or "probe". ``rate`` is
    ops/s, ``share`` how much of the phase is done (0 to 1); None where that is not known.
    """

    name: str
    phase: str
    rate: float | None = None
    share: float | None = None


def current(results: Path, planned: Mapping[str, Cell]) -> Current | None:
    """What is measured of the run in ``results``; None when nothing is.

    Files may vanish while this looks at them: the cell has ended then.
    """
    root = results / MEASURING
    for folder in sorted(root.glob("probes/*")):
        return Current(folder.name, "probe")
    for folder in sorted(root.glob("*/*/*/rep*")):
        name = str(folder.relative_to(root))
        return _of_cell(folder, name, planned.get(name))
    return None


def _of_cell(folder: Path, name: str, cell: Cell | None) -> Current:
    for phase, labels in (("run", ("run", SECOND)), ("load", ("load",))):
        if not (folder / f"{phase}.err").is_file():
            continue
        lines = [last_status(_tail(folder / f"{label}.err")) for label in labels]
        found = [line for line in lines if line is not None]
        rates = [line.rate for line in found if line.rate is not None]
        share = _share(cell, phase, found) if cell and found else None
        return Current(name, phase, sum(rates) if rates else None, share)
    return Current(name, "start")


def _share(cell: Cell, phase: str, found: list[Status]) -> float:
    if phase == "run" and cell.seconds:
        return min(found[0].seconds / cell.seconds, 1.0)
    whole = cell.executed if phase == "run" else cell.records
    # Of two clients each does all operations of its own.
    return min(sum(line.operations for line in found) / (whole * len(found)), 1.0)


def _tail(path: Path) -> str:
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            return file.read().decode("utf-8", errors="replace")
    except OSError:
        return ""
