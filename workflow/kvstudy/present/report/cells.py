"""What became of the cells: of each store, and where a valid value is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import _, ngettext
from kvstudy.stores.definition import Store
from kvstudy.study.base import SIZES, Size
from kvstudy.study.cells import Cell
from kvstudy.study.controls import CEILING, original
from kvstudy.study.model import Study

# A row of cells.csv.
Row = dict[str, str]


@dataclass(frozen=True)
class Names:
    """What the text calls stores and workloads.

    ``titles`` are those of the study's stores. ``sizes`` are in words, by workload and
    parameters: only what its cells differ in, so "" for a workload with one set of sizes.
    """

    study: Study
    titles: dict[str, str]
    sizes: dict[tuple[str, str], str]

    @classmethod
    def of(cls, study: Study, titles: dict[str, str], plan: Iterable[Cell]) -> Names:
        by_workload: dict[str, dict[str, Cell]] = {}
        for cell in plan:
            by_workload.setdefault(cell.workload, {})[cell.parameters] = cell
        return cls(
            study,
            titles,
            {
                (workload, parameters): _differing(cell, cells.values())
                for workload, cells in by_workload.items()
                for parameters, cell in cells.items()
            },
        )

    def store(self, name: str) -> str:
        """The title of a store or of a control cell's."""
        if name == CEILING.name:
            return _(CEILING.title)
        of = original(self.study, name)
        title = self.titles[of]
        if of == name:
            return title
        return f"{title} ({_(name.removeprefix(f'{of}-').replace('-', ' '))})"

    def workload(self, name: str, parameters: str = "") -> str:
        """``Workload A``, or ``Workload A (10 000 records, 1 client thread)``."""
        sizes = self.sizes.get((name, parameters), "")
        return self.study.workload(name).title + (f" ({sizes})" if sizes else "")


def _differing(cell: Cell, cells: Iterable[Cell]) -> str:
    differing = [size for size in SIZES if len({getattr(other, size) for other in cells}) > 1]
    return ", ".join(_worded(size, getattr(cell, size)) for size in differing)


def _worded(size: Size, number: int) -> str:
    if size == "records":
        text = ngettext("{} record", "{} records", number)
    elif size == "operations":
        text = ngettext("{} operation", "{} operations", number)
    else:
        text = ngettext("{} client thread", "{} client threads", number)
    return text.format(grouped(str(number)))


class OfCells:
    """What ``cells`` tells: the measured ones, their providers and YCSB clients."""

    cells: list[Row]

    @property
    def measured(self) -> list[Row]:
        return [row for row in self.cells if row["status"] == "measured"]

    @property
    def providers(self) -> list[str]:
        return distinct(row["provider"] for row in self.measured)

    @property
    def clients(self) -> list[str]:
        return distinct(row["client"] for row in self.measured)


@dataclass(frozen=True)
class StoreFacts(OfCells):
    """A store and what became of its cells. Versions etc. are those of measured cells."""

    definition: Store
    cells: list[Row]
    images: list[str]

    @property
    def title(self) -> str:
        return self.definition.title

    @property
    def versions(self) -> list[str]:
        return distinct(row["server_version"] for row in self.measured)

    @property
    def reasons(self) -> list[str]:
        return distinct(row["reason"] for row in self.cells if row["status"] != "measured")


@dataclass(frozen=True)
class Gap:
    """Cells of one store and workload that have no valid value, for one reason.

    They are of these (``sizes``, in words) of the workload's ``of_sizes`` sets of parameters.
    """

    store: str
    workload: str
    status: str
    reason: str
    repetitions: tuple[int, ...]
    sizes: tuple[str, ...] = ("",)
    of_sizes: int = 1


def problem_of(row: Row) -> str:
    """Why the cell has no valid value; "" when it has one."""
    return row["void"] if row["status"] == "measured" else row["reason"]


def gaps_of(rows: Iterable[Row], names: Names) -> tuple[Gap, ...]:
    """The cells of ``rows`` without a valid value, by what they have in common."""
    gaps: dict[tuple[str, str, str, str], list[Row]] = {}
    sizes: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        titles = (names.store(row["store"]), names.workload(row["workload"]))
        sizes.setdefault(titles, set()).add(row["parameters"])
        reason = problem_of(row)
        # What nobody gave is listed by itself (``imports.not_imported``).
        if (not reason and row["status"] == "measured") or reason == NOT_IMPORTED:
            continue
        status = "void" if row["status"] == "measured" else row["status"]
        gaps.setdefault((*titles, status, reason), []).append(row)
    return tuple(
        Gap(
            *key,
            tuple(sorted({int(row["repetition"]) for row in of})),
            tuple(
                dict.fromkeys(
                    names.sizes.get((row["workload"], row["parameters"]), "") for row in of
                )
            ),
            len(sizes[key[:2]]),
        )
        for key, of in gaps.items()
    )


def distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
