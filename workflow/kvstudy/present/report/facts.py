"""What the report's text speaks about, read from the files of one run.

The templates in report/text/ see these objects; nothing here knows a study.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import nan
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.analyse.claims.words import number
from kvstudy.analyse.findings.over_time import out_of_order
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import SUMMARY, ycsb_versions
from kvstudy.analyse.tidy.numbers import grouped, sized
from kvstudy.analyse.tidy.probes import one_field
from kvstudy.analyse.tidy.results import published_only
from kvstudy.language.current import _
from kvstudy.present.report import cells, course, source, surroundings, workloads
from kvstudy.present.report.cells import (
    Names,
    OfCells,
    Row,
    StoreFacts,
    distinct,
    gaps_of,
    joined,
    problem_of,
)
from kvstudy.study.cells import Cell, closed_loop, own_sizes
from kvstudy.study.controls import AGAIN, CEILING, ceiling_store, controls, noise_store, original
from kvstudy.study.kinds import AnyFigure, AnyTable
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.workload import NamedRecord, named_record


@dataclass(frozen=True)
class RunFacts(OfCells):
    """All that the text says of the run ``data``. Its cells are as texts here."""

    data: Run

    @property
    def study(self) -> Study:
        return self.data.study

    @cached_property
    def _closed_loop(self) -> list[Row]:
        return self.data.cells.to_dict("records")

    @cached_property
    def cells(self) -> list[Row]:
        """Those of the study's own stores; control cells are not counted as results."""
        return [row for row in self._closed_loop if row["store"] in self.study.store_names]

    @cached_property
    def controls(self) -> list[Row]:
        """Without the trial cells that were not needed."""
        return [
            row
            for row in self._closed_loop
            if row["store"] not in self.study.store_names
            and not row["reason"].startswith("enough-clients")
        ]

    @cached_property
    def stores(self) -> list[StoreFacts]:
        cells = joined((row["store"], row) for row in self.cells)
        known = self.data.environment["stores"]
        return [
            StoreFacts(
                store,
                cells.get(name, []),
                known.get(name, {}).get("images", []),
                known.get(name, {}).get("packages", []),
            )
            for name, store in self.data.stores.items()
        ]

    @cached_property
    def names(self) -> Names:
        return Names.of(self.study, self.data.titles, self._plan)

    @cached_property
    def _plan(self) -> list[Cell]:
        return closed_loop(self.data.planned.values())

    @cached_property
    def workloads(self) -> list[SimpleNamespace]:
        return [
            workloads.workload_facts(
                use,
                self.data,
                self._plan,
                self._published,
                gaps_of([row for row in self.cells if row["workload"] == use.name], self.names),
            )
            for use in self.study.workloads
        ]

    @cached_property
    def course(self) -> SimpleNamespace:
        run = self.data
        percentiles = self._published["metric"].str.startswith("latency_p").any()
        return course.course_facts(
            self.names, run.analysis, run.headline_analysis, run.summary, bool(percentiles)
        )

    @cached_property
    def operations(self) -> SimpleNamespace:
        return cells.operation_facts(self.data.probes, self.stores)

    @cached_property
    def open_loop(self) -> SimpleNamespace:
        rows = self.data.all_cells.to_dict("records")
        at_rates = rows[len(self._closed_loop) :]
        return course.open_loop_facts(self.names, at_rates, self.data.analysis)

    @cached_property
    def validity(self) -> SimpleNamespace:
        return cells.validity_facts(self.data.analysis, self.names)

    @cached_property
    def rounds(self) -> dict[str, SimpleNamespace]:
        return course.rounds_facts(self.data)

    @cached_property
    def audit(self) -> SimpleNamespace | None:
        return source.audit_facts(self.data.audit, self.names)

    @cached_property
    def claims(self) -> SimpleNamespace | None:
        return source.claim_facts(self.data.text / "claims.csv") if self.data.claims_file else None

    @cached_property
    def machine(self) -> SimpleNamespace:
        return surroundings.machine_facts(self.data.environment, self.names)

    @cached_property
    def nodes(self) -> SimpleNamespace | None:
        return surroundings.nodes_of(self.data.all_cells.to_dict("records"))

    @property
    def machines(self) -> int:
        """How many descriptions of a machine the cells have."""
        return len(self.data.environment.get("machines", []))

    @cached_property
    def _published(self) -> pd.DataFrame:
        """The published values at the headline sizes, with the columns of ``summary.csv``."""
        if self.data.published is None:
            return SUMMARY.frame()
        values = published_only(self.data.published, self.study).dropna(subset="value")
        # A published value has no runs of its own.
        return values.rename(columns={"value": "mean"}).assign(n=0, min=nan, max=nan)

    @property
    def published_ratios(self) -> bool:
        """Whether the source gives the throughput of two stores under one workload."""
        rates = self._published.query("operation == 'overall' and metric == 'throughput'")
        return bool((rates.groupby("workload")["store"].nunique() > 1).any())

    @property
    def published_operations(self) -> set[str]:
        return set(self._published["operation"])

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

    @property
    def _present(self) -> list[Row]:
        """The cells of the stores that were measured at all."""
        absent = {store.definition.name for store in self.absent_stores}
        return [row for row in self.cells if row["store"] not in absent]

    @cached_property
    def gaps(self) -> list[SimpleNamespace]:
        """Gaps of the stores that were measured at all."""
        return gaps_of(self._present, self.names)

    @property
    def ycsb_versions(self) -> list[str]:
        return ycsb_versions(self.data.environment)

    @property
    def imports(self) -> SimpleNamespace | None:
        """What is known of cells that others measured; None where there are none."""
        return surroundings.import_facts(self.study, self.data.environment)

    @property
    def not_imported(self) -> list[tuple[str, list[str]]]:
        """Stores of an imported study with the workloads that have no log."""
        return surroundings.not_imported(self.names, self._present)

    @property
    def started(self) -> list[datetime]:
        times = (row["started"] for row in self.measured if row["started"])
        return sorted(datetime.fromisoformat(time) for time in times)

    @property
    def wall_seconds(self) -> float:
        cells = self.data.cells
        own = cells["store"].isin(self.study.store_names) & (cells["status"] == "measured")
        return float(cells.loc[own, "wall_seconds"].sum())

    @property
    def headline_sizes(self) -> list[tuple[str, list[str]]]:
        """What is shown of workloads with several sizes, with their short names."""
        sizes, headline = self.names.sizes, self.data.headline
        uses = self.study.workloads
        shown = joined((sizes[use.name, headline[use.name]], use.short) for use in uses)
        return [(words, names) for words, names in shown.items() if words]

    @property
    def own_sizes(self) -> list[tuple[str, str, int, list[str]]]:
        """Stores, their own sizes in words, the study's numbers, and the workloads' short names."""
        own = []
        for one in own_sizes(self.study, self.data.scale):
            words = sized(one.size, one.number).format(grouped(str(one.number)))
            key = (self.names.store(one.store), words, one.planned)
            own.append((key, self.study.workload(one.workload).short))
        return [(*key, workloads) for key, workloads in joined(own).items()]

    @property
    def overview_figures(self) -> list[AnyFigure]:
        """Figures over several workloads."""
        return [figure for figure in self.study.figures if figure.in_overview]

    @property
    def over_sizes(self) -> list[tuple[list[str], list[AnyTable | AnyFigure]]]:
        """Tables and figures over a size, with the titles of the workloads that they are of."""
        items = [((table.workload,), table) for table in self.study.tables_of("sweep")]
        items += [(tuple(figure.workloads), figure) for figure in self.study.figures_of("curves")]
        alone_first = sorted(joined(items).items(), key=lambda item: len(item[0]) > 1)
        return [([self.names.workload(name) for name in names], of) for names, of in alone_first]

    @property
    def store_tables(self) -> list[tuple[StoreFacts, AnyTable]]:
        """The stores that have a page of their own."""
        stores = {store.definition.name: store for store in self.measured_stores}
        tables = self.study.tables_of("store")
        return [(stores[table.store], table) for table in tables if table.store in stores]

    @property
    def records(self) -> list[tuple[list[str], NamedRecord]]:
        """Records with named fields, each with the titles of the workloads that have it."""
        records = joined((named_record(of.properties), of.title) for of in self.workloads)
        return [(titles, record) for record, titles in records.items() if record]

    @property
    def repeated(self) -> bool:
        """Whether a cell was measured more than once, so that a run can be held against it."""
        return bool(self.data.analysis.order["residual"].notna().any())

    @property
    def out_of_order(self) -> list[str]:
        """Cells that were measured later than planned."""
        blocks = bool((self.data.all_cells["node"] != "").any())
        late = out_of_order(self.data.analysis.order, blocks)
        return [
            _("{}, {}, repetition {}").format(
                self.names.store(row.store),
                self.names.workload(row.workload, row.parameters),
                row.repetition,
            )
            for row in late.itertuples()
        ]

    @property
    def noise_store(self) -> str | None:
        """The title of the store that is measured under two names."""
        store = None if self.without_controls else noise_store(self.study)
        return self.names.store(store) if store else None

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
    def floors(self) -> list[SimpleNamespace]:
        """One store against itself, for each workload in which that was measured.

        ``text`` is the ratio with its interval, ``limit`` the farther end, at least 1.
        """
        names = [*self.study.workload_names, MEAN]
        rows = self.data.analysis.floor.dropna(subset="floor").itertuples()
        return [
            SimpleNamespace(
                workload=self.study.workload(row.workload).title,
                text=number(Quantity(row.ratio, row.low, row.high, int(row.n))),
                limit=row.floor,
            )
            for row in sorted(rows, key=lambda row: names.index(row.workload))
        ]

    @property
    def floor_reasons(self) -> list[str]:
        """Why the two stores of the noise floor have no valid values."""
        of = noise_store(self.study)
        both = (of, f"{of}{AGAIN}") if of else ()
        rows = self.cells + self.controls
        return distinct(problem_of(row) for row in rows if row["store"] in both)

    @cached_property
    def control_gaps(self) -> list[SimpleNamespace]:
        """Control cells that have no valid value; none where there are no controls at all."""
        if self.without_controls:
            return []
        # Of a store that cannot be measured here, that is said once.
        absent = {store.definition.name for store in self.absent_stores}
        rows = [row for row in self.controls if original(self.study, row["store"]) not in absent]
        return gaps_of(rows, self.names)

    @property
    def client_bound(self) -> list[tuple[str, list[str]]]:
        """The stores that the client limits, with the short names of the workloads."""
        bound = (
            (self.names.store(store), workload.use.short)
            for workload in self.workloads
            for store, _reason in workload.result.client_bound
        )
        return list(joined(bound).items())

    @cached_property
    def answers(self) -> SimpleNamespace:
        return workloads.answers(self.data)

    @property
    def tail(self) -> tuple[str, SimpleNamespace] | None:
        """The 99th percentiles of the first operation that most stores have, and its workload."""
        tails = [(of.use.short, tail) for of in self.workloads for tail in of.result.tails]
        return max(tails, key=lambda tail: len(tail[1].values), default=None)

    @property
    def compared(self) -> bool:
        """Whether any two stores were measured with the sizes that are shown."""
        pairs = self.data.analysis.pairs.dropna(subset="ratio")
        return bool((pairs["workload"].map(self.data.headline) == pairs["parameters"]).any())

    @property
    def updating(self) -> list[str]:
        """Titles of the workloads whose updates change one field of a record."""
        return [workload.title for workload in self.workloads if one_field(workload.properties)]
