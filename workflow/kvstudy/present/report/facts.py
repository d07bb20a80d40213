"""What the report's text speaks about, read from the files of one run.

The templates in report/text/ see these objects; nothing here knows a study.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.analyse.claims.words import number
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.order import out_of_order
from kvstudy.analyse.findings.updates import one_field
from kvstudy.language.current import _
from kvstudy.present.report.cell_facts import (
    Gap,
    OfCells,
    Row,
    StoreFacts,
    distinct,
    gaps_of,
    problem_of,
    titles_of,
)
from kvstudy.present.report.cell_names import CellNames
from kvstudy.present.report.claims import ClaimFacts
from kvstudy.present.report.course import CourseFacts
from kvstudy.present.report.imports import ImportFacts, import_facts, not_imported
from kvstudy.present.report.open_loop import OpenLoopFacts
from kvstudy.present.report.operations import OperationFacts
from kvstudy.present.report.rounds import RoundsFacts
from kvstudy.present.report.source_parts import AgainstFacts, AuditFacts
from kvstudy.present.report.validity import ValidityFacts, validity_facts
from kvstudy.present.report.workload_facts import WorkloadFacts
from kvstudy.study.cells import Cell
from kvstudy.study.controls import AGAIN, CEILING, ceiling_store, controls, noise_store, original
from kvstudy.study.curves import Curves, ScalingTable, SweepTable
from kvstudy.study.figure_kinds import Bars, RatioPlot, Transcript
from kvstudy.study.grids import Averages, Box, Heatmap
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.table_kinds import (
    BottleneckTable,
    ComparisonTable,
    MachineTable,
    OperationsTable,
    RatiosTable,
    StoreTable,
    TrimmedTable,
    ValidityTable,
)
from kvstudy.study.workload import NamedRecord, named_record


@dataclass(frozen=True)
class Floor:
    """The ratio of a store to itself under one workload, as a ``text`` with its interval.

    It is of so many ``pairs`` of runs; ``limit`` is the farther end, at least 1.
    """

    workload: str
    text: str
    pairs: int
    limit: float


@dataclass(frozen=True)
class RunFacts(OfCells):
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
    claims: ClaimFacts | None = None
    audit: AuditFacts | None = None
    against: AgainstFacts | None = None
    rounds: dict[str, RoundsFacts] = field(default_factory=dict)

    @cached_property
    def names(self) -> CellNames:
        """What the cells are called."""
        return CellNames.of(self.study, self.plan)

    @property
    def machines(self) -> int:
        """How many descriptions of a machine the cells have."""
        return len(self.environment.get("machines", []))

    @property
    def published_combined(self) -> bool:
        """Whether the source published values of several operations combined."""
        return any("+" in operation for operation in self.published_operations)

    @property
    def measured_controls(self) -> list[Row]:
        return [row for row in self.controls if row["status"] == "measured"]

    @property
    def without_value(self) -> int:
        """Planned cells, without control cells, that have no valid value."""
        return sum(bool(problem_of(row)) for row in self.cells)

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
        return gaps_of(rows, self.names, titles_of(self.stores))

    @property
    def ycsb_versions(self) -> list[str]:
        """Versions of YCSB's core on the class paths, as its files are named."""
        jars = {jar for store in self.environment["stores"].values() for jar in store["jars"]}
        found = (re.fullmatch(r"core-(\d.*)\.jar", jar) for jar in sorted(jars))
        named = self.environment.get("imported", {}).get("ycsb", [])
        return distinct([*(match[1] for match in found if match), *named])

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
    def over_sizes(self) -> list[tuple[list[str], list[SweepTable | Curves]]]:
        """Tables and figures over a size, with the titles of the workloads that they are of."""
        items = [*self.study.tables, *self.study.figures]
        found: dict[tuple[str, ...], list[SweepTable | Curves]] = {}
        for item in items:
            if isinstance(item, SweepTable | Curves):
                names = item.workloads if isinstance(item, Curves) else [item.workload]
                found.setdefault(tuple(names), []).append(item)
        titles = {use.name: use.title for use in self.study.workloads}
        alone = sorted(found.items(), key=lambda each: len(each[0]) > 1)
        return [([titles[name] for name in names], of) for names, of in alone]

    @property
    def store_tables(self) -> list[tuple[StoreFacts, StoreTable]]:
        """The stores that have a page of their own."""
        stores = {store.definition.name: store for store in self.measured_stores}
        return [
            (stores[table.store], table)
            for table in self.study.tables
            if isinstance(table, StoreTable) and table.store in stores
        ]

    @property
    def scaling_tables(self) -> list[ScalingTable]:
        return [table for table in self.study.tables if isinstance(table, ScalingTable)]

    @property
    def records(self) -> list[tuple[list[str], NamedRecord]]:
        """Records with named fields, each with the titles of the workloads that have it."""
        found: dict[NamedRecord, list[str]] = {}
        for workload in self.workloads:
            if record := named_record(workload.properties):
                found.setdefault(record, []).append(workload.title)
        return [(titles, record) for record, titles in found.items()]

    @property
    def averages(self) -> list[Averages]:
        """Figures of means over all sizes."""
        return [figure for figure in self.study.figures if isinstance(figure, Averages)]

    def grids(self, workload: str) -> list[Heatmap | Box]:
        """Figures of a workload at all of its sizes, and of its single operations."""
        grids = (figure for figure in self.study.figures if isinstance(figure, Heatmap | Box))
        return [figure for figure in grids if figure.workload == workload]

    @property
    def machine_tables(self) -> list[MachineTable]:
        return [table for table in self.study.tables if isinstance(table, MachineTable)]

    @property
    def comparison_tables(self) -> list[ComparisonTable]:
        return [table for table in self.study.tables if isinstance(table, ComparisonTable)]

    @property
    def repeated(self) -> bool:
        """Whether a cell was measured more than once, so that a run can be held against it."""
        return bool(self.analysis.order["residual"].notna().any())

    @property
    def out_of_order(self) -> list[str]:
        """Cells that were measured later than planned."""
        late = out_of_order(self.analysis.order)
        return [
            _("{}, {}, repetition {}").format(
                self.title(row.store),
                self.names.workload(row.workload, row.parameters),
                row.repetition,
            )
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
    def floors(self) -> list[Floor]:
        """One store against itself, for each workload in which that was measured."""
        names = [*self.study.workload_names, MEAN]
        rows = list(self.analysis.floor.dropna(subset="floor").itertuples())
        rows.sort(key=lambda row: names.index(row.workload))
        return [
            Floor(
                self.study.workload(row.workload).title,
                number(Quantity(row.ratio, row.low, row.high, int(row.n))),
                int(row.n),
                row.floor,
            )
            for row in rows
        ]

    @property
    def floor_reasons(self) -> list[str]:
        """Why the two stores of the noise floor have no valid values."""
        of = noise_store(self.study)
        rows = (
            row
            for row in self.cells + self.controls
            if row["store"] in (of, f"{of}{AGAIN}") and of is not None
        )
        return distinct(problem_of(row) for row in rows)

    @cached_property
    def control_gaps(self) -> tuple[Gap, ...]:
        """Control cells that have no valid value; none where there are no controls at all."""
        if self.without_controls:
            return ()
        # Of a store that cannot be measured here, that is said once.
        absent = {store.definition.name for store in self.absent_stores}
        rows = [row for row in self.controls if original(self.study, row["store"]) not in absent]
        return gaps_of(rows, self.names, {row["store"]: self.title(row["store"]) for row in rows})

    @property
    def client_bound(self) -> bool:
        """Whether the client limits any store."""
        return any(workload.result.client_bound for workload in self.workloads)

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
        return plots if self.compared else []

    @property
    def ratio_tables(self) -> list[RatiosTable]:
        return [table for table in self.study.tables if isinstance(table, RatiosTable)]

    @property
    def compared(self) -> bool:
        """Whether any two stores were measured with the sizes that are shown."""
        one = {(each.use.name, each.result.cell.parameters) for each in self.workloads}
        known = self.analysis.pairs.dropna(subset="ratio")
        return any(key in one for key in zip(known["workload"], known["parameters"], strict=True))

    @property
    def operation_tables(self) -> list[OperationsTable]:
        return [table for table in self.study.tables if isinstance(table, OperationsTable)]

    @property
    def validity_tables(self) -> list[ValidityTable]:
        return [table for table in self.study.tables if isinstance(table, ValidityTable)]

    @cached_property
    def validity(self) -> ValidityFacts:
        titles = {store.definition.name: store.title for store in self.stores}
        return validity_facts(self.analysis, self.study, titles, self.names)

    @property
    def updating(self) -> list[str]:
        """Titles of the workloads whose updates change one field of a record."""
        return [each.title for each in self.workloads if one_field(each.properties)]

    def title(self, store: str) -> str:
        """The title of the store or control called ``store``."""
        if store == CEILING.name:
            return _(CEILING.title)
        of = original(self.study, store)
        title = next(each.title for each in self.stores if each.definition.name == of)
        return (
            title
            if of == store
            else f"{title} ({_(store.removeprefix(f'{of}-').replace('-', ' '))})"
        )
