"""What became of the cells: where a valid value is missing, and which did what was asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.validity import TOLERATED, flagged
from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.files import CELL, SETTING
from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.analyse.tidy.probes import HEAVIER, KEPT, LIGHTER, OK, SAME, Probes, becomes
from kvstudy.language.current import _
from kvstudy.present.typeset.source import worded
from kvstudy.stores.definition import Store
from kvstudy.study.base import SIZES
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
        words = {}
        for workload, cells in by_workload.items():
            differing = [
                size for size in SIZES if len({getattr(cell, size) for cell in cells.values()}) > 1
            ]
            for parameters, cell in cells.items():
                numbers = [(size, getattr(cell, size)) for size in differing]
                words[workload, parameters] = ", ".join(
                    worded(size, number).format(grouped(str(number))) for size, number in numbers
                )
        return cls(study, titles, words)

    def store(self, name: str) -> str:
        """The title of a store or of a control cell's."""
        if name == CEILING.name:
            return _(CEILING.title)
        of = original(self.study, name)
        return self.titles[of] if of == name else f"{self.titles[of]} ({added(name)})"

    def sizes_of(self, row: Row) -> str:
        """Of a cell, in words; "" for one that is not planned."""
        return self.sizes.get((row["workload"], row["parameters"]), "")

    def workload(self, name: str, parameters: str = "") -> str:
        """``Workload A``, or ``Workload A (10 000 records, 1 client thread)``."""
        sizes = self.sizes.get((name, parameters), "")
        return self.study.workload(name).title + (f" ({sizes})" if sizes else "")


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


def problem_of(row: Row) -> str:
    """Why the cell has no valid value; "" when it has one."""
    return row["invalid"] if row["status"] == "measured" else row["reason"]


def gaps_of(rows: Iterable[Row], names: Names) -> list[SimpleNamespace]:
    """The cells of ``rows`` without a valid value, by store, workload, status and reason.

    They are of these (``sizes``, in words) of the workload's ``of_sizes`` sets of parameters.
    """
    gaps: dict[tuple[str, str, str, str], list[Row]] = {}
    parameters: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        titles = (names.store(row["store"]), names.workload(row["workload"]))
        parameters.setdefault(titles, set()).add(row["parameters"])
        status, reason = row["status"], problem_of(row)
        # What nobody gave is listed by itself (``imports.not_imported``).
        if (not reason and status == "measured") or reason == NOT_IMPORTED:
            continue
        status = "invalid" if status == "measured" else status
        gaps.setdefault((*titles, status, reason), []).append(row)
    return [
        SimpleNamespace(
            store=store,
            workload=workload,
            status=status,
            reason=reason,
            repetitions=sorted({int(row["repetition"]) for row in of}),
            sizes=list(dict.fromkeys(names.sizes_of(row) for row in of)),
            of_sizes=len(parameters[store, workload]),
        )
        for (store, workload, status, reason), of in gaps.items()
    ]


def distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, values)))


def joined(pairs: Iterable[tuple]) -> dict:
    """The values of each key, in the order in which they come."""
    found: dict = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


# A smaller difference of throughput and goodput is not worth a word.
WORTH_SAYING = 0.001


def validity_facts(analysis: Analysis, names: Names) -> SimpleNamespace:
    """Of the study's own stores. Stores and workloads have their titles.

    ``slower``: goodput is lower than throughput by ``share`` (0 to 1). ``unknown`` are stores
    whose misses are not known. ``checked`` cells were compared with their server's counters,
    within ``tolerance``; ``unchecked`` gives each reason with the stores that it concerns, and
    with the workload if it does not concern all of them. ``notable``: a table of them would show
    more than zeros.
    """
    stores = names.study.store_names
    rows = analysis.validity[analysis.validity["store"].isin(stores)]
    agreement = analysis.agreement[analysis.agreement["store"].isin(stores)]
    compared = agreement[agreement["reason"] == ""]
    invalid = int(rows["invalid"].sum())
    slower = [
        SimpleNamespace(
            store=names.store(row.store),
            workload=names.workload(row.workload, row.parameters),
            share=lost,
        )
        for row in rows.itertuples()
        if (lost := 1 - row.goodput / row.throughput) > WORTH_SAYING
    ]
    disagreements = _disagreements(compared, names)
    return SimpleNamespace(
        invalid=invalid,
        slower=slower,
        unknown=[
            names.store(store)
            for store, of in rows.groupby("store", sort=False)
            if of["missed"].isna().all()
        ],
        checked=len(compared[CELL].drop_duplicates()),
        tolerance=TOLERATED,
        disagreements=disagreements,
        unchecked=_unchecked(agreement, names),
        notable=bool(invalid or slower or disagreements),
    )


def _disagreements(compared: pd.DataFrame, names: Names) -> list[SimpleNamespace]:
    """The server counted ``counted`` commands, YCSB's operations make ``expected``.

    That is the worst of ``cells`` cells that differ only in their repetition.
    """
    groups = flagged(compared).groupby([*SETTING, "counter"], sort=False)
    worst = [(rows.loc[rows["deviation"].abs().idxmax()], len(rows)) for _counter, rows in groups]
    return [
        SimpleNamespace(
            store=names.store(row["store"]),
            workload=names.workload(row["workload"], row["parameters"]),
            repetition=row["repetition"],
            cells=cells,
            counter=row["counter"],
            counted=round(row["counted"]),
            expected=round(row["least"] if row["deviation"] < 0 else row["most"]),
        )
        for row, cells in worst
    ]


def _unchecked(agreement: pd.DataFrame, names: Names) -> list[tuple[str, list[str]]]:
    found = []
    for store, rows in agreement.groupby("store", sort=False):
        for reason, of in rows[rows["reason"] != ""].groupby("reason", sort=False):
            if len(of) == len(rows):
                found.append((reason, names.store(store)))
                continue
            workloads = set(of["workload"])
            found += [
                (reason, _("{} under {}").format(names.store(store), names.workload(name)))
                for name in names.study.workload_names
                if name in workloads
            ]
    return list(joined(found).items())


def operation_facts(probes: Probes, stores: list[StoreFacts]) -> SimpleNamespace:
    """What the probes say, with titles of stores in the study's order.

    ``lighter`` and ``heavier`` are those whose records change with updates of one field, by more
    than ``tolerance``, with the bytes of a mean record ``before`` and ``after``; ``uneven`` those
    whose records change with updates of all fields too. ``clients`` of YCSB are told that are not
    those of the store's cells.
    """
    named = {store.definition.name: store for store in stores}
    probed = {name: store for name, store in named.items() if not probes.reason(name)}
    changed: dict[str, list[SimpleNamespace]] = {LIGHTER: [], HEAVIER: [], KEPT: []}
    uneven = []
    for name, store in probed.items():
        if sizes := probes.sizes(name, "update"):
            before, after = sizes
            updates = probes.operations(name, "update")
            record = SimpleNamespace(title=store.title, updates=updates, before=before, after=after)
            changed[becomes(sizes)].append(record)
        if (sizes := probes.sizes(name, "update-all")) and becomes(sizes) != KEPT:
            uneven.append(store.title)
    return SimpleNamespace(
        records=RECORDS,
        tolerance=SAME,
        probed=[store.title for store in probed.values()],
        reasons=[
            (store.title, probes.reason(name))
            for name, store in named.items()
            if name not in probed
        ],
        lighter=changed[LIGHTER],
        heavier=changed[HEAVIER],
        same=[record.title for record in changed[KEPT]],
        uneven=uneven,
        silent=[
            store.title
            for name, store in probed.items()
            if OK in probes.statuses(name, "read-missing")
        ],
        creating=[store.title for name, store in probed.items() if probes.creates(name)],
        clients=[
            (store.title, probes.client(name))
            for name, store in probed.items()
            if store.clients and probes.client(name) not in store.clients
        ],
    )
