"""What became of the cells: of each store, and where a valid value is missing."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.tidy.imports import NOT_IMPORTED
from kvstudy.errors import KvstudyError
from kvstudy.present.report.cell_names import CellNames
from kvstudy.stores.definition import Store

Row = dict[str, str]


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


class OfCells:
    """What ``cells`` tells: the measured ones, their providers and YCSB clients."""

    cells: tuple[Row, ...]

    @property
    def measured(self) -> tuple[Row, ...]:
        return tuple(row for row in self.cells if row["status"] == "measured")

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
    cells: tuple[Row, ...]
    images: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.definition.title

    @property
    def versions(self) -> list[str]:
        return distinct(row["server_version"] for row in self.measured)

    @property
    def reasons(self) -> list[str]:
        return distinct(row["reason"] for row in self.cells if row["status"] != "measured")


def read_rows(path: Path, columns: Iterable[str]) -> tuple[Row, ...]:
    """The rows of a CSV file; KvstudyError when it is not one with ``columns``."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in columns if name not in (reader.fieldnames or [])]
            rows = tuple(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise KvstudyError(f"{path}: cannot be read: {error}") from None
    if missing:
        raise KvstudyError(f"{path}: has no column '{missing[0]}'; make the file again")
    return rows


CELLS = [
    "store",
    "workload",
    "parameters",
    "repetition",
    "status",
    "reason",
    "void",
    "provider",
    "client",
    "server_version",
    "started",
    "wall_seconds",
]


def titles_of(stores: Iterable[StoreFacts]) -> dict[str, str]:
    return {store.definition.name: store.title for store in stores}


def problem_of(row: Row) -> str:
    """Why the cell has no valid value; "" when it has one."""
    return row["void"] if row["status"] == "measured" else row["reason"]


def gaps_of(rows: Iterable[Row], names: CellNames, titles: dict[str, str]) -> tuple[Gap, ...]:
    found: dict[tuple[str, str, str, str], list[Row]] = {}
    sizes: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        place = (titles[row["store"]], names.study.workload(row["workload"]).title)
        sizes.setdefault(place, set()).add(row["parameters"])
        reason = problem_of(row)
        # What nobody gave is listed by itself (RunFacts.not_imported).
        if (not reason and row["status"] == "measured") or reason == NOT_IMPORTED:
            continue
        status = "void" if row["status"] == "measured" else row["status"]
        found.setdefault((*place, status, reason), []).append(row)
    return tuple(
        Gap(
            *key,
            tuple(sorted({int(row["repetition"]) for row in of})),
            tuple(dict.fromkeys(names.sizes.get(_setting(row), "") for row in of)),
            len(sizes[key[:2]]),
        )
        for key, of in found.items()
    )


def _setting(row: Row) -> tuple[str, str]:
    return row["workload"], row["parameters"]


def distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
