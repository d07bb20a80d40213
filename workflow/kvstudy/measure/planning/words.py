"""Durations and sizes in a few characters."""

from __future__ import annotations

from collections.abc import Collection

from kvstudy.study.cells import Cell
from kvstudy.study.controls import is_control


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3.4 h``: two or three digits, as an estimate deserves."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    if seconds < 99.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def size(count: float) -> str:
    """``12 kB``, ``3.4 MB``: of bytes, in powers of 1000."""
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.5:
            return f"{count:.1f} {unit}" if count < 9.95 else f"{count:.0f} {unit}"
    return f"{count / 1000:.1f} TB"


def counted(cells: Collection[Cell]) -> str:
    """``54 cells (24 of them control cells)``."""
    controls = sum(is_control(cell.store) for cell in cells)
    return times(len(cells), "cell") + (f" ({controls} of them control cells)" if controls else "")


def times(count: int, noun: str) -> str:
    """``1 cell``, ``2 cells``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
