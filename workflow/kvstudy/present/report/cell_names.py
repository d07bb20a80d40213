"""What the text calls the workload of a cell: with its sizes, where the workload has several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import ngettext
from kvstudy.study.cells import Cell
from kvstudy.study.model import Study

SIZES = ("records", "operations", "threads")


@dataclass(frozen=True)
class CellNames:
    """Names of cells without store and repetition.

    ``sizes`` are in words, by workload and parameters: only what its cells differ in, so ""
    for a workload with one set of sizes.
    """

    study: Study
    sizes: dict[tuple[str, str], str]

    @classmethod
    def of(cls, study: Study, plan: Iterable[Cell]) -> CellNames:
        by_workload: dict[str, dict[str, Cell]] = {}
        for cell in plan:
            by_workload.setdefault(cell.workload, {})[cell.parameters] = cell
        return cls(
            study,
            {
                (workload, parameters): _differing(cell, cells.values())
                for workload, cells in by_workload.items()
                for parameters, cell in cells.items()
            },
        )

    def workload(self, name: str, parameters: str) -> str:
        """``Workload A``, or ``Workload A (10 000 records, 1 client thread)``."""
        sizes = self.sizes.get((name, parameters), "")
        return self.study.workload(name).title + (f" ({sizes})" if sizes else "")


def _differing(cell: Cell, cells: Iterable[Cell]) -> str:
    found = []
    for size in SIZES:
        if len({getattr(each, size) for each in cells}) > 1:
            number = getattr(cell, size)
            found.append(_worded(size, number).format(grouped(str(number))))
    return ", ".join(found)


def _worded(size: str, number: int) -> str:
    if size == "records":
        return ngettext("{} record", "{} records", number)
    if size == "operations":
        return ngettext("{} operation", "{} operations", number)
    return ngettext("{} client thread", "{} client threads", number)
