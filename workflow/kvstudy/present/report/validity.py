"""What the text says of what the servers counted: bad operations, and what an operation does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.agreement import TOLERATED, flagged
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.files import CELL, SETTING
from kvstudy.analyse.tidy.probes import HEAVIER, KEPT, LIGHTER, OK, SAME, Probes, becomes
from kvstudy.language.current import _
from kvstudy.present.report.cells import Names, StoreFacts
from kvstudy.study.probe import RECORDS

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

    ``void`` is the number of void cells; ``unknown`` are stores whose misses are not
    known. ``checked`` cells were compared with their server's counters, within
    ``tolerance``; ``unchecked`` gives each reason with the stores that it concerns, and
    with the workload if it does not concern all of them.
    """

    void: int
    slower: list[Slower]
    unknown: list[str]
    checked: int
    tolerance: float
    disagreements: list[Disagreement]
    unchecked: list[tuple[str, list[str]]]


def validity_facts(analysis: Analysis, names: Names) -> ValidityFacts:
    """Of the study's own stores."""
    stores = names.study.store_names
    rows = analysis.validity[analysis.validity["store"].isin(stores)]
    agreement = analysis.agreement[analysis.agreement["store"].isin(stores)]
    compared = agreement[agreement["reason"] == ""]
    return ValidityFacts(
        void=int(rows["void"].sum()),
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
class Size:
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
    lighter: list[Size]
    heavier: list[Size]
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
        (Size(store.title, probes.operations(name, "update"), *both), becomes(both))
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
