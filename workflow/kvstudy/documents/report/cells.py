"""The status of cells: missing valid values, and successful operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.validity import LEAST_SHARE, TOLERATED, flagged
from kvstudy.analyse.tidy.collect import NOT_IMPORTED
from kvstudy.analyse.tidy.files import CELL, SETTING
from kvstudy.analyse.tidy.probes import (
    HEAVIER,
    KEPT,
    LIGHTER,
    OK,
    SAME,
    WHOLE,
    Probes,
    becomes,
    unlike,
    updating,
)
from kvstudy.exhibits.printed import worded
from kvstudy.language.current import _
from kvstudy.layout.numbers import grouped
from kvstudy.stores.definition import Store
from kvstudy.study.base import SIZES
from kvstudy.study.cells import Cell
from kvstudy.study.controls import CEILING, added, original
from kvstudy.study.model import Study
from kvstudy.study.probe import RECORDS


@dataclass(frozen=True)
class DisplayNames:
    """The names of stores and workloads in the text.

    ``titles`` are those of the study's stores, ``cells`` one of each workload and parameters.
    """

    study: Study
    titles: dict[str, str]
    cells: dict[tuple[str, str], Cell]

    @classmethod
    def of(cls, study: Study, titles: dict[str, str], plan: Iterable[Cell]) -> DisplayNames:
        # A store with sizes of its own is under the study's.
        last = sorted(plan, key=lambda cell: cell.beside is None)
        return cls(study, titles, {(cell.workload, cell.parameters): cell for cell in last})

    def sizes(self, workload: str, parameters: str) -> str:
        """In words: only what cells of the workload differ in; "" for one set of sizes."""
        cells = [cell for (name, _), cell in self.cells.items() if name == workload]
        cell = self.cells.get((workload, parameters))
        numbers = {size: getattr(cell, size) for size in SIZES} if cell else {}
        return ", ".join(
            worded(size, number).format(grouped(str(number)))
            for size, number in numbers.items()
            if any(getattr(other, size) != number for other in cells)
        )

    def store(self, name: str) -> str:
        """The title of a store or of a control cell's."""
        if name == CEILING.name:
            return _(CEILING.title)
        of = original(self.study, name)
        return self.titles[of] if of == name else f"{self.titles[of]} ({added(name)})"

    def workload(self, name: str, parameters: str = "") -> str:
        """``Workload A``, or ``Workload A (10 000 records, 1 client thread)``."""
        sizes = self.sizes(name, parameters)
        return self.study.workload(name).title + (f" ({sizes})" if sizes else "")

    def titled(self, rows: pd.DataFrame) -> list[tuple]:
        """``rows`` of cells with the titles of their stores and workloads instead of the names."""
        keys = zip(rows["workload"], rows["parameters"], strict=True)
        workloads = [self.workload(*key) for key in keys]
        return list(
            rows.assign(store=rows["store"].map(self.store), workload=workloads).itertuples()
        )


def with_states(cells: pd.DataFrame) -> pd.DataFrame:
    """``cells.csv`` with the ``state`` of each cell: measured, or ``why`` it has no valid value."""
    measured = cells["status"] == "measured"
    why = cells["invalid"].where(measured, cells["reason"])
    return cells.assign(state=cells["status"].mask(measured & (why != ""), "invalid"), why=why)


@dataclass
class Gaps:
    """Cells of a store and workload that have no valid value for one reason.

    They are of these (``sizes``, in words) of the workload's ``of_sizes`` sets of parameters. Of an
    open loop, ``runs`` are rates and repetitions in words.
    """

    store: str
    workload: str
    status: str
    reason: str
    cells: pd.DataFrame
    repetitions: list[int]
    sizes: list[str]
    of_sizes: int
    runs: list[str] = field(default_factory=list)


def gaps_of(cells: pd.DataFrame, names: DisplayNames) -> list[Gaps]:
    """The ``cells`` (``with_states``) without a valid value, by what tells them apart."""
    # What nobody gave is listed by itself (``not_imported``).
    rows = cells[(cells["state"] != "measured") & (cells["why"] != NOT_IMPORTED)]
    parameters = cells.groupby(["store", "workload"])["parameters"].nunique()
    return [
        Gaps(
            store=names.store(store),
            workload=names.workload(workload),
            status=state,
            reason=why,
            cells=of,
            repetitions=sorted(set(map(int, of["repetition"]))),
            sizes=[names.sizes(workload, slug) for slug in of["parameters"].unique()],
            of_sizes=parameters[store, workload],
        )
        for (store, workload, state, why), of in rows.groupby(
            ["store", "workload", "state", "why"], sort=False
        )
    ]


@dataclass(frozen=True)
class StoreFacts:
    """A store, how many ``cells`` it has, and what is known of those that were ``measured``.

    ``choices`` are its options with what the study chose; ``unusual`` are names of those that no
    study gets that says nothing of them, and that the title does not say.
    """

    definition: Store
    title: str
    cells: int
    measured: int
    providers: list[str]
    clients: list[str]
    versions: list[str]
    images: list[str]
    packages: list[str]
    choices: list[tuple]
    unusual: set[str]
    arguments: list[str]
    command: list[str]
    edited: bool
    settings: dict[str, str]
    # In whole microseconds; see ``tidy.collect``. Empty where no request was delayed.
    delay: dict[str, int]
    reasons: list[str]


def store_facts(store: Store, cells: pd.DataFrame, environment: dict) -> StoreFacts:
    """Return the facts on the store with these ``cells``, by environment.json."""
    known = environment["stores"].get(store.name, {})
    measured = cells[cells["status"] == "measured"]
    return StoreFacts(
        definition=store,
        title=store.title,
        cells=len(cells),
        measured=len(measured),
        providers=distinct(measured["provider"]),
        clients=distinct(measured["client"]),
        versions=distinct(measured["server_version"]),
        images=known.get("images", []),
        packages=known.get("packages", []),
        choices=[(name, store.choices[name]) for name in store.chosen],
        unusual={
            name
            for name, value in store.chosen.items()
            if value != store.options[name].default and store.choices[name].title not in store.title
        },
        arguments=known.get("arguments", []),
        command=known.get("command", []),
        edited=known.get("edited", False),
        settings=known.get("settings", {}),
        delay={name: round(value) for name, value in known.get("delay", {}).items()},
        reasons=distinct(cells.loc[cells["status"] != "measured", "reason"]),
    )


def distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, values)))


def joined(pairs: Iterable[tuple]) -> dict:
    """The values of each key, in the order in which they come."""
    values: dict = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return values


# A smaller difference of throughput and goodput is not worth a word.
WORTH_SAYING = 0.001


@dataclass(frozen=True)
class ValidityFacts:
    """The validity of the study's stores. Stores and workloads have titles.

    ``slower``: goodput is lower than throughput by ``share`` (0 to 1). ``unknown`` are stores
    whose misses are not known. ``checked`` cells were compared with their server's counters,
    within ``tolerance``, by commands that are not ``rare``; in ``spans`` of them what was expected
    is a span, of which the ``widest`` goes up to so many times its lower end. Of
    ``disagreements``, which differ only in their repetition, the worst of so many ``cells`` is
    given, with what the server ``counted`` and what was ``expected``.
    ``unchecked`` gives each reason with the stores that it concerns, and with the workload if it
    does not concern all of them. ``notable``: a table of them would show more than zeros.
    """

    invalid: int
    slower: list[tuple]
    unknown: list[str]
    checked: int
    tolerance: float
    spans: int
    widest: float
    rare: float
    disagreements: list[tuple]
    unchecked: dict[str, list[str]]
    notable: bool


def validity_facts(analysis: Analysis, names: DisplayNames) -> ValidityFacts:
    """Return the facts on the validity of the study's stores."""
    stores = names.study.store_names
    rows = analysis.validity[analysis.validity["store"].isin(stores)]
    agreement = analysis.agreement[analysis.agreement["store"].isin(stores)]
    compared = agreement[agreement["reason"] == ""]
    invalid = int(rows["invalid"].sum())
    lost = 1 - rows["goodput"] / rows["throughput"]
    slower = names.titled(rows.assign(share=lost)[lost > WORTH_SAYING])
    unknown = rows.groupby("store", sort=False)["missed"].count()
    groups = list(flagged(compared).groupby([*SETTING, "counter"], sort=False))
    spans = compared[compared["most"] > compared["least"] * (1 + TOLERATED)]
    worst = compared.loc[[of["deviation"].abs().idxmax() for _counter, of in groups]]
    expected = worst["least"].where(worst["deviation"] < 0, worst["most"])
    disagreements = names.titled(
        worst.assign(
            cells=[len(of) for _counter, of in groups],
            counted=[round(count) for count in worst["counted"]],
            expected=[round(count) for count in expected],
        )
    )
    return ValidityFacts(
        invalid=invalid,
        slower=slower,
        unknown=[names.store(store) for store in unknown.index[unknown == 0]],
        checked=len(compared[CELL].drop_duplicates()),
        tolerance=TOLERATED,
        spans=len(spans[CELL].drop_duplicates()),
        widest=(spans["most"] / spans["least"]).max(),
        rare=LEAST_SHARE,
        disagreements=disagreements,
        unchecked=_unchecked(agreement, names),
        notable=bool(invalid or disagreements),
    )


def _unchecked(agreement: pd.DataFrame, names: DisplayNames) -> dict[str, list[str]]:
    pairs = []
    for store, rows in agreement.groupby("store", sort=False):
        for reason, of in rows[rows["reason"] != ""].groupby("reason", sort=False):
            title = names.store(store)
            where = [title]
            if len(of) < len(rows):
                where = [
                    _("{} under {}").format(title, names.workload(name))
                    for name in names.study.workload_names
                    if name in {*of["workload"]}
                ]
            pairs += [(reason, text) for text in where]
    return joined(pairs)


@dataclass(frozen=True)
class UpdatedRecord:
    """The mean record of a store, in bytes, ``before`` and ``after`` so many ``updates``."""

    title: str
    updates: int
    before: float
    after: float


@dataclass(frozen=True)
class OperationFacts:
    """The probes' results, by the titles of stores.

    ``lighter`` and ``heavier`` are those whose records change with updates of one field, by more
    than ``tolerance``, with the bytes of a mean record ``before`` and ``after``: empty where no
    workload has such updates. ``uneven`` are those whose records change with updates of all fields
    too, ``sized`` shows whether any store knows. ``clients`` of YCSB are told that are not those
    of the store's cells. ``whole`` are the workloads whose updates write whole records. All of
    that holds for the workloads ``like`` the probes; ``unlike`` them are those with other records.
    """

    lighter: list[UpdatedRecord]
    heavier: list[UpdatedRecord]
    kept: list[UpdatedRecord]
    records: int
    tolerance: float
    uneven: list[str]
    sized: bool
    whole: list[str]
    like: list[str]
    unlike: list[str]
    probed: list[str]
    reasons: list[tuple[str, str]]
    silent: list[str]
    creating: list[str]
    clients: list[tuple[str, str]]


def operation_facts(
    probes: Probes, stores: list[StoreFacts], study: Study, names: DisplayNames
) -> OperationFacts:
    """Return the probes' results for the ``stores``."""
    named = {store.definition.name: store for store in stores}
    probed = {name: store for name, store in named.items() if not probes.reason(name)}
    records: dict[str, list[UpdatedRecord]] = {LIGHTER: [], HEAVIER: [], KEPT: []}
    uneven, one_field, whole, others = [], updating(study), updating(study, WHOLE), unlike(study)
    for name, store in probed.items():
        updated = any(
            use.name in one_field and name in (use.stores or study.store_names)
            for use in study.workloads
        )
        if updated and (sizes := probes.sizes(name, "update")):
            record = UpdatedRecord(store.title, probes.operations(name, "update"), *sizes)
            records[becomes(sizes)].append(record)
        if (sizes := probes.sizes(name, "update-all")) and becomes(sizes) != KEPT:
            uneven.append(store.title)
    return OperationFacts(
        **records,
        records=RECORDS,
        tolerance=SAME,
        uneven=uneven,
        sized=any(probes.sizes(name, "update-all") for name in probed),
        whole=[names.workload(name) for name in study.workload_names if name in whole],
        like=[names.workload(name) for name in study.workload_names if name not in others],
        unlike=[names.workload(name) for name in study.workload_names if name in others],
        probed=[store.title for store in probed.values()],
        reasons=[
            (store.title, probes.reason(name))
            for name, store in named.items()
            if name not in probed
        ],
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
