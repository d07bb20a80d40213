"""What the report's text speaks about, read from the files of one run.

The templates in report/text/ see these objects; nothing here knows a study.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from kvstudy.analysis.files import Analysis
from kvstudy.analysis.order import out_of_order
from kvstudy.errors import KvstudyError
from kvstudy.report.course import CourseFacts
from kvstudy.report.imports import ImportFacts, import_facts, not_imported
from kvstudy.report.open_loop import OpenLoopFacts
from kvstudy.report.operations import OperationFacts
from kvstudy.report.rank import Agreement, Apart, Rank, agreement, apart, compared, ranking
from kvstudy.report.tails import Tail, tails
from kvstudy.report.validity import ValidityFacts, validity_facts
from kvstudy.stores.definition import Store
from kvstudy.study.cells import Cell
from kvstudy.study.controls import (
    AGAIN,
    CEILING,
    ceiling_store,
    controls,
    noise_store,
    original,
)
from kvstudy.study.model import (
    MEAN,
    Bars,
    BottleneckTable,
    ComparisonTable,
    MachineTable,
    OperationsTable,
    RatioPlot,
    RatiosTable,
    Study,
    Transcript,
    TrimmedTable,
    ValidityTable,
    WorkloadTable,
    WorkloadUse,
)
from kvstudy.study.workload import PROPORTIONS, load_only, operations_of
from kvstudy.tidy.imports import NOT_IMPORTED

Row = dict[str, str]


@dataclass(frozen=True)
class Gap:
    """Cells of one store and workload that have no valid value, for one reason."""

    store: str
    workload: str
    status: str
    reason: str
    repetitions: tuple[int, ...]


class _Cells:
    """What ``cells`` tells: the measured ones, their providers and YCSB clients."""

    cells: tuple[Row, ...]

    @property
    def measured(self) -> tuple[Row, ...]:
        return tuple(row for row in self.cells if row["status"] == "measured")

    @property
    def providers(self) -> list[str]:
        return _distinct(row["provider"] for row in self.measured)

    @property
    def clients(self) -> list[str]:
        return _distinct(row["client"] for row in self.measured)


@dataclass(frozen=True)
class StoreFacts(_Cells):
    """A store and what became of its cells. Versions etc. are those of measured cells."""

    definition: Store
    cells: tuple[Row, ...]
    images: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self.definition.title

    @property
    def versions(self) -> list[str]:
        return _distinct(row["server_version"] for row in self.measured)

    @property
    def reasons(self) -> list[str]:
        return _distinct(row["reason"] for row in self.cells if row["status"] != "measured")


@dataclass(frozen=True)
class ResultFacts:
    """One workload with one set of parameters.

    Lists hold the measured stores only: ``throughput`` is sorted by falling
    mean (ops/s), ``mean`` by rising latency (us). ``apart`` are the pairs of stores
    that are no neighbours in ``throughput``, ``tails`` the 99th percentiles of each
    operation. ``client_bound`` are stores and why the client limited them.
    ``agreement`` is with the published order; None where no pair of stores has
    values on both sides.
    """

    cell: Cell
    throughput: list[Rank]
    mean: list[Rank]
    apart: Apart
    tails: list[Tail]
    client_bound: list[tuple[str, str]]
    agreement: Agreement | None


@dataclass(frozen=True)
class WorkloadFacts:
    """A workload of the study with its results and what belongs to its section."""

    use: WorkloadUse
    properties: dict[str, str]
    tables: tuple[WorkloadTable, ...]
    figures: tuple[Bars, ...]
    results: tuple[ResultFacts, ...]
    published: list[Rank]
    gaps: tuple[Gap, ...]

    @property
    def title(self) -> str:
        return self.use.title

    @property
    def load_only(self) -> bool:
        return load_only(self.properties)

    @property
    def operations(self) -> list[str]:
        return operations_of(self.properties)

    @property
    def mix(self) -> list[tuple[str, float]]:
        """Operations and their shares between 0 and 1."""
        if self.load_only:
            return [("insert", 1.0)]
        shares = {
            operation: float(self.properties.get(name, default))
            for name, (operation, default) in PROPORTIONS.items()
        }
        total = sum(shares.values())
        return [(name, share / total) for name, share in shares.items() if share > 0]

    @property
    def distribution(self) -> str:
        return self.properties.get("requestdistribution", "uniform")


@dataclass(frozen=True)
class RunFacts(_Cells):
    """Everything about a run that is not bound to one store or workload."""

    name: str
    scale: float
    partial: bool
    study: Study
    plan: tuple[Cell, ...]
    cells: tuple[Row, ...]
    controls: tuple[Row, ...]
    stores: tuple[StoreFacts, ...]
    workloads: tuple[WorkloadFacts, ...]
    environment: dict[str, object]
    operations: OperationFacts
    analysis: Analysis
    course: CourseFacts
    open_loop: OpenLoopFacts
    published_operations: frozenset[str] = frozenset()

    @property
    def machines(self) -> int:
        """How many descriptions of a machine the cells have."""
        return len(self.environment.get("machines", []))

    @property
    def published_combined(self) -> bool:
        """Whether the source published values of several operations combined."""
        return any("+" in operation for operation in self.published_operations)

    @property
    def measured_stores(self) -> list[StoreFacts]:
        return [store for store in self.stores if store.measured]

    @property
    def absent_stores(self) -> list[StoreFacts]:
        """Stores of which not one cell was measured."""
        return [store for store in self.stores if not store.measured]

    @cached_property
    def gaps(self) -> tuple[Gap, ...]:
        """Gaps of the stores that were measured at all."""
        absent = {store.definition.name for store in self.absent_stores}
        rows = [row for row in self.cells if row["store"] not in absent]
        return _gaps(rows, self.study, titles_of(self.stores))

    @property
    def ycsb_versions(self) -> list[str]:
        """Versions of YCSB's core on the class paths, as its files are named."""
        jars = {jar for store in self.environment["stores"].values() for jar in store["jars"]}
        found = (re.fullmatch(r"core-(\d.*)\.jar", jar) for jar in sorted(jars))
        named = self.environment.get("imported", {}).get("ycsb", [])
        return _distinct([*(match[1] for match in found if match), *named])

    @property
    def imports(self) -> ImportFacts | None:
        """What is known of cells that others measured; None where there are none."""
        return import_facts(self.study, self.environment)

    @property
    def not_imported(self) -> list[tuple[str, list[str]]]:
        """Stores of an imported study with the workloads that have no log."""
        absent = {store.definition.name for store in self.absent_stores}
        rows = [row for row in self.cells if row["store"] not in absent]
        return [(self.title(store), texts) for store, texts in not_imported(self.study, rows)]

    @property
    def started(self) -> list[datetime]:
        times = (row["started"] for row in self.measured if row["started"])
        return sorted(datetime.fromisoformat(time) for time in times)

    @property
    def wall_seconds(self) -> float:
        return sum(float(row["wall_seconds"] or 0) for row in self.measured)

    @property
    def transcripts(self) -> list[Transcript]:
        return [figure for figure in self.study.figures if isinstance(figure, Transcript)]

    @property
    def overview_figures(self) -> list[Bars]:
        """Figures over several workloads."""
        bars = (figure for figure in self.study.figures if isinstance(figure, Bars))
        return [figure for figure in bars if len(figure.workloads) > 1]

    @property
    def machine_tables(self) -> list[MachineTable]:
        return [table for table in self.study.tables if isinstance(table, MachineTable)]

    @property
    def comparison_tables(self) -> list[ComparisonTable]:
        return [table for table in self.study.tables if isinstance(table, ComparisonTable)]

    @property
    def out_of_order(self) -> list[str]:
        """Cells that were measured later than planned."""
        late = out_of_order(self.analysis.order)
        return [
            f"{self.title(row.store)}, {self.study.workload(row.workload).title}, "
            f"repetition {row.repetition}"
            for row in late.itertuples()
        ]

    @property
    def noise_store(self) -> str | None:
        """The title of the store that is measured under two names."""
        store = None if self.without_controls else noise_store(self.study)
        return self.title(store) if store else None

    @property
    def ceiling_control(self) -> bool:
        """Whether YCSB without a store is a control, and no store of the study."""
        return ceiling_store(self.study) == CEILING.name

    @property
    def without_controls(self) -> bool:
        """Whether not one of the control cells that the study plans was even tried."""
        tried = any(row["status"] != "not measured" for row in self.controls)
        return bool(controls(self.study)) and not tried

    @property
    def floors(self) -> list[tuple[str, float]]:
        """The noise floor of each workload that has one."""
        names = [*self.study.workload_names, MEAN]
        rows = list(self.analysis.floor.dropna(subset="floor").itertuples())
        rows.sort(key=lambda row: names.index(row.workload))
        return [(self.study.workload(row.workload).title, row.floor) for row in rows]

    @property
    def floor_reasons(self) -> list[str]:
        """Why the two stores of the noise floor have no valid values."""
        of = noise_store(self.study)
        rows = (
            row
            for row in self.cells + self.controls
            if row["store"] in (of, f"{of}{AGAIN}") and of is not None
        )
        return _distinct(_problem(row) for row in rows)

    @cached_property
    def control_gaps(self) -> tuple[Gap, ...]:
        """Control cells that have no valid value; none where there are no controls at all."""
        if self.without_controls:
            return ()
        # Of a store that cannot be measured here, that is said once.
        absent = {store.definition.name for store in self.absent_stores}
        rows = [row for row in self.controls if original(self.study, row["store"]) not in absent]
        return _gaps(rows, self.study, {row["store"]: self.title(row["store"]) for row in rows})

    @property
    def client_bound(self) -> bool:
        """Whether the client limits any store."""
        return any(result.client_bound for each in self.workloads for result in each.results)

    @property
    def bottleneck_tables(self) -> list[BottleneckTable]:
        return [table for table in self.study.tables if isinstance(table, BottleneckTable)]

    @property
    def trimmed_tables(self) -> list[TrimmedTable]:
        return [table for table in self.study.tables if isinstance(table, TrimmedTable)]

    @property
    def ratio_plots(self) -> list[RatioPlot]:
        """Where there is anything to compare."""
        plots = [figure for figure in self.study.figures if isinstance(figure, RatioPlot)]
        return plots if len(self.analysis.pairs) else []

    @property
    def ratio_tables(self) -> list[RatiosTable]:
        return [table for table in self.study.tables if isinstance(table, RatiosTable)]

    @property
    def operation_tables(self) -> list[OperationsTable]:
        return [table for table in self.study.tables if isinstance(table, OperationsTable)]

    @property
    def validity_tables(self) -> list[ValidityTable]:
        return [table for table in self.study.tables if isinstance(table, ValidityTable)]

    @cached_property
    def validity(self) -> ValidityFacts:
        titles = {store.definition.name: store.title for store in self.stores}
        return validity_facts(self.analysis, self.study, titles)

    @property
    def updating(self) -> list[str]:
        """Titles of the workloads whose updates change one field of a record."""
        return [
            workload.title
            for workload in self.workloads
            if {"update", "read-modify-write"}.intersection(workload.operations)
            and workload.properties.get("writeallfields") != "true"
        ]

    def title(self, store: str) -> str:
        """The title of the store or control called ``store``."""
        if store == CEILING.name:
            return CEILING.title
        of = original(self.study, store)
        title = next(each.title for each in self.stores if each.definition.name == of)
        return (
            title if of == store else f"{title} ({store.removeprefix(f'{of}-').replace('-', ' ')})"
        )


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


def read_environment(path: Path) -> dict[str, object]:
    """The machine that was measured on."""
    try:
        environment = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KvstudyError(f"{path}: cannot be read: {error}") from None
    if "stores" not in environment:
        raise KvstudyError(f"{path}: has no key 'stores'; write it with 'kvstudy parse'")
    return environment


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
SUMMARY = ["store", "workload", "parameters", "operation", "metric", "n", "mean", "min", "max"]
PUBLISHED = ["store", "workload", "operation", "metric", "value"]


def workload_facts(
    use: WorkloadUse,
    properties: dict[str, str],
    study: Study,
    plan: tuple[Cell, ...],
    cells: tuple[Row, ...],
    summary: tuple[Row, ...],
    published: tuple[Row, ...],
    stores: tuple[StoreFacts, ...],
    analysis: Analysis,
) -> WorkloadFacts:
    """All that the section of the workload ``use`` says."""
    mine = [row for row in summary if row["workload"] == use.name]
    operation = "+".join(operations_of(properties))
    first = {cell.parameters: cell for cell in reversed(plan) if cell.workload == use.name}
    theirs = [row for row in published if row["workload"] == use.name and row["value"]]
    theirs = [row | {"mean": row["value"]} for row in theirs]
    order = ranking(theirs, "overall", "throughput", study.store_names, falling=True)
    results = []
    for parameters, cell in first.items():
        rows = [row for row in mine if row["parameters"] == parameters]
        of_cell = "workload == @use.name and parameters == @parameters"
        pairs = analysis.pairs.query(of_cell)
        bound = analysis.bottleneck.query(of_cell).query("client_bound == 'yes'")
        agreed = agreement(order, pairs)
        speeds = ranking(rows, "overall", "throughput", study.store_names, falling=True)
        results.append(
            ResultFacts(
                cell=cell,
                throughput=compared(speeds, pairs),
                mean=ranking(rows, operation, "latency_mean", study.store_names, falling=False),
                apart=apart(speeds, pairs),
                tails=tails(analysis.percentiles.query(of_cell), study.store_names),
                client_bound=list(zip(bound["store"], bound["reason"], strict=True)),
                agreement=agreed if agreed.pairs else None,
            )
        )
    return WorkloadFacts(
        use=use,
        properties=properties,
        tables=tuple(
            table
            for table in study.tables
            if isinstance(table, WorkloadTable) and table.workload == use.name
        ),
        figures=tuple(
            figure
            for figure in study.figures
            if isinstance(figure, Bars) and figure.workloads == [use.name]
        ),
        results=tuple(results),
        published=order,
        gaps=_gaps([row for row in cells if row["workload"] == use.name], study, titles_of(stores)),
    )


def titles_of(stores: Iterable[StoreFacts]) -> dict[str, str]:
    return {store.definition.name: store.title for store in stores}


def _problem(row: Row) -> str:
    """Why the cell has no valid value; "" when it has one."""
    return row["void"] if row["status"] == "measured" else row["reason"]


def _gaps(rows: Iterable[Row], study: Study, titles: dict[str, str]) -> tuple[Gap, ...]:
    found: dict[tuple[str, str, str, str], list[int]] = {}
    for row in rows:
        reason = _problem(row)
        # What nobody gave is listed by itself (RunFacts.not_imported).
        if (not reason and row["status"] == "measured") or reason == NOT_IMPORTED:
            continue
        status = "void" if row["status"] == "measured" else row["status"]
        key = (titles[row["store"]], study.workload(row["workload"]).title, status, reason)
        found.setdefault(key, []).append(int(row["repetition"]))
    return tuple(Gap(*key, tuple(sorted(set(runs)))) for key, runs in found.items())


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
