"""What became of the cells: where a valid value is missing, and which did what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.agreement import TOLERATED, flagged
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.files import CELL, SETTING
from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.analyse.tidy.probes import HEAVIER, KEPT, LIGHTER, OK, SAME, Probes, becomes
from kvstudy.language.current import _, ngettext
from kvstudy.stores.definition import Store
from kvstudy.study.base import SIZES, Size
from kvstudy.study.cells import Cell
from kvstudy.study.controls import CEILING, added, original
from kvstudy.study.model import Study
from kvstudy.study.probe import RECORDS

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
        # A store with sizes of its own stands under the study's.
        for cell in sorted(plan, key=lambda cell: cell.beside is None):
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
        return f"{title} ({added(name)})"

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
    packages: list[dict]

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
    return row["invalid"] if row["status"] == "measured" else row["reason"]


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
        status = "invalid" if row["status"] == "measured" else row["status"]
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


# A smaller difference of throughput and goodput is not worth a word.
WORTH_SAYING = 0.001


@dataclass(frozen=True)
class Slower:
    """Goodput is lower than throughput by ``share`` (0 to 1)."""

    store: str
    workload: str
    share: float


@dataclass(frozen=True)
class Disagreement:
    """The server counted ``counted`` commands, YCSB's operations make ``expected``.

    That is the worst of ``cells`` cells that differ only in their repetition.
    """

    store: str
    workload: str
    repetition: str
    cells: int
    counter: str
    counted: int
    expected: int


@dataclass(frozen=True)
class ValidityFacts:
    """Stores and workloads have their titles.

    ``invalid`` is the number of invalid cells; ``unknown`` are stores whose misses are not
    known. ``checked`` cells were compared with their server's counters, within
    ``tolerance``; ``unchecked`` gives each reason with the stores that it concerns, and
    with the workload if it does not concern all of them.
    """

    invalid: int
    slower: list[Slower]
    unknown: list[str]
    checked: int
    tolerance: float
    disagreements: list[Disagreement]
    unchecked: list[tuple[str, list[str]]]

    @property
    def notable(self) -> bool:
        """Whether a table of them would show more than zeros."""
        return bool(self.invalid or self.slower or self.disagreements)


def validity_facts(analysis: Analysis, names: Names) -> ValidityFacts:
    """Of the study's own stores."""
    stores = names.study.store_names
    rows = analysis.validity[analysis.validity["store"].isin(stores)]
    agreement = analysis.agreement[analysis.agreement["store"].isin(stores)]
    compared = agreement[agreement["reason"] == ""]
    return ValidityFacts(
        invalid=int(rows["invalid"].sum()),
        slower=[
            Slower(names.store(row.store), names.workload(row.workload, row.parameters), lost)
            for row in rows.itertuples()
            if (lost := 1 - row.goodput / row.throughput) > WORTH_SAYING
        ],
        unknown=[
            names.store(store)
            for store, of in rows.groupby("store", sort=False)
            if of["missed"].isna().all()
        ],
        checked=len(compared[CELL].drop_duplicates()),
        tolerance=TOLERATED,
        disagreements=_disagreements(compared, names),
        unchecked=_unchecked(agreement, names),
    )


def _disagreements(compared: pd.DataFrame, names: Names) -> list[Disagreement]:
    disagreements = []
    for _counter, rows in flagged(compared).groupby([*SETTING, "counter"], sort=False):
        row = rows.loc[rows["deviation"].abs().idxmax()]
        disagreements.append(
            Disagreement(
                names.store(row["store"]),
                names.workload(row["workload"], row["parameters"]),
                row["repetition"],
                len(rows),
                row["counter"],
                round(row["counted"]),
                round(row["least"] if row["deviation"] < 0 else row["most"]),
            )
        )
    return disagreements


def _unchecked(agreement: pd.DataFrame, names: Names) -> list[tuple[str, list[str]]]:
    reasons: dict[str, list[str]] = {}
    for store, rows in agreement.groupby("store", sort=False):
        for reason, of in rows[rows["reason"] != ""].groupby("reason", sort=False):
            where = [names.store(store)]
            if len(of) < len(rows):
                workloads = set(of["workload"])
                where = [
                    _("{} under {}").format(names.store(store), names.workload(name))
                    for name in names.study.workload_names
                    if name in workloads
                ]
            reasons.setdefault(reason, []).extend(where)
    return list(reasons.items())


@dataclass(frozen=True)
class RecordSize:
    """Bytes of a mean record of the store before and after ``updates`` updates of one field."""

    title: str
    updates: int
    before: float
    after: float


@dataclass(frozen=True)
class OperationFacts:
    """Titles of stores, in the study's order.

    ``lighter`` and ``heavier`` are those whose records change with updates of one
    field, by more than ``tolerance``; ``uneven`` those whose records change with
    updates of all fields too.
    """

    records: int
    tolerance: float
    probed: list[str]
    reasons: list[tuple[str, str]]
    lighter: list[RecordSize]
    heavier: list[RecordSize]
    same: list[str]
    uneven: list[str]
    silent: list[str]
    creating: list[str]
    clients: list[tuple[str, str]]


def operation_facts(probes: Probes, stores: list[StoreFacts]) -> OperationFacts:
    """What the probes say; YCSB clients are told that are not those of the store's cells."""
    named = {store.definition.name: store for store in stores}
    probed = {name: store for name, store in named.items() if not probes.reason(name)}
    sizes = [
        (RecordSize(store.title, probes.operations(name, "update"), *both), becomes(both))
        for name, store in probed.items()
        if (both := probes.sizes(name, "update"))
    ]

    def titles(holds: Callable[[str], bool]) -> list[str]:
        return [store.title for name, store in probed.items() if holds(name)]

    def uneven(name: str) -> bool:
        both = probes.sizes(name, "update-all")
        return bool(both) and becomes(both) != KEPT

    return OperationFacts(
        records=RECORDS,
        tolerance=SAME,
        probed=titles(lambda name: True),
        reasons=[
            (store.title, probes.reason(name))
            for name, store in named.items()
            if name not in probed
        ],
        lighter=[size for size, change in sizes if change == LIGHTER],
        heavier=[size for size, change in sizes if change == HEAVIER],
        same=[size.title for size, change in sizes if change == KEPT],
        uneven=titles(uneven),
        silent=titles(lambda name: OK in probes.statuses(name, "read-missing")),
        creating=titles(probes.creates),
        clients=[
            (store.title, probes.client(name))
            for name, store in probed.items()
            if store.clients and probes.client(name) not in store.clients
        ],
    )
