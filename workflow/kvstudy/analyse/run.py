"""One run: its folder with its study, and its files, each read when it is first asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from kvstudy.analyse.audit.files import AUDIT, audit, judged_values
from kvstudy.analyse.claims.stopping import claimed_after
from kvstudy.analyse.findings.files import Analysis, no_analysis, read_analysis, shown_of
from kvstudy.analyse.findings.looks import Claimed
from kvstudy.analyse.findings.repetitions import Pooled, pool
from kvstudy.analyse.findings.spread import Spread, level_of, margin_of, spread_of
from kvstudy.analyse.tidy.files import (
    CELL,
    CELLS,
    HISTOGRAMS,
    MEASUREMENTS,
    OUTCOMES,
    PROBES,
    RESOURCES,
    ROUNDS,
    SERIES,
    SUMMARY,
    CsvTable,
    read_environment,
)
from kvstudy.analyse.tidy.histograms import read_histograms
from kvstudy.analyse.tidy.open_loop import FOLDER, TABLES, OpenLoopTables
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.analyse.tidy.results import Results, only, read_published
from kvstudy.analyse.tidy.summary import (
    mean_over_workloads,
    per_repetition,
    short_settings,
    throughputs,
)
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.stores.definition import Store, load_stores
from kvstudy.study.cells import Cell, own_sizes, plan, run_name, shown
from kvstudy.study.controls import is_compared
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.model import Study
from kvstudy.study.published import CLAIMS, PUBLISHED, QUOTES, sibling_file
from kvstudy.study.raw import as_measured
from kvstudy.study.run_names import PARTIAL, Paths, find_name


def _tidy(table: CsvTable) -> cached_property[pd.DataFrame]:
    """The table of a run, which is empty where nothing was measured."""
    return cached_property(lambda run: run.read(table))


@dataclass(frozen=True)
class Run(Paths):
    """The run in ``results/<name>``.

    What is read raises KvstudyError where a file is missing or is something else. Of a run of
    published values all that is measured is empty.
    """

    name: str
    study: Study
    scale: float = 1.0
    published_only: bool = False

    # --- paths

    @property
    def partial(self) -> bool:
        return self.name.endswith(PARTIAL) and not self.published_only

    @property
    def study_file(self) -> Path:
        return STUDIES / self.study.name / "study.yaml"

    @property
    def analysis_folder(self) -> Path:
        return self.folder / "analysis"

    @property
    def audit_file(self) -> Path | None:
        """The checks of the study's source; None where there is nothing to check."""
        files = (sibling_file(self.study_file, name) for name in (PUBLISHED, QUOTES))
        return self.folder / "audit.csv" if self.study.source and any(files) else None

    @property
    def claims_file(self) -> Path | None:
        """claims.yaml of the study; None where its source makes no claims."""
        return sibling_file(self.study_file, CLAIMS)

    # --- the study

    @cached_property
    def planned(self) -> dict[str, Cell]:
        """All cells of the plan by their paths."""
        return {cell.path: cell for cell in plan(self.study, self.scale)}

    @cached_property
    def headline(self) -> dict[str, str]:
        """The parameters of each workload that tables and figures of one set of sizes show."""
        return shown(self.study, self.scale)

    @cached_property
    def other_sizes(self) -> set[tuple[str, str]]:
        """Each store and workload that is shown at another size than the workload's others."""
        return {(one.store, one.workload) for one in own_sizes(self.study, self.scale)}

    @cached_property
    def short(self) -> dict[str, list[str]]:
        """The stores by workload with short runs at the headline sizes; no workload without one."""
        short = short_settings(self.summary, "mean")
        stores = {
            name: [store for store in self.study.store_names if (store, name, parameters) in short]
            for name, parameters in self.headline.items()
        }
        return {name: of for name, of in stores.items() if of}

    @cached_property
    def stores(self) -> dict[str, Store]:
        """The definitions of the study's stores by the names that they have there."""
        return load_stores(self.study)

    @property
    def compared(self) -> list[list[str]]:
        """The stores that are compared with each other: those with a server, then embedded ones.

        Servers on the same path (network, delay) only, if that leaves none alone.
        """
        embedded = [name for name, store in self.stores.items() if store.embedded]
        by_path: dict[tuple, list[str]] = {}
        for use in self.study.stores:
            if use.name not in embedded:
                by_path.setdefault((use.network, use.delay), []).append(use.name)
        servers = [*by_path.values()]
        if any(len(group) == 1 for group in servers):
            servers = [[name for name in self.stores if name not in embedded]]
        return [*servers, *([embedded] if embedded else [])]

    @property
    def several_paths(self) -> bool:
        """Return whether servers are compared on more than one path, on each by themselves."""
        return sum(not self.stores[group[0]].embedded for group in self.compared) > 1

    @property
    def titles(self) -> dict[str, str]:
        return {name: store.title for name, store in self.stores.items()}

    # --- the tidy tables; see ``tidy.files`` for their columns

    def read(self, table: CsvTable) -> pd.DataFrame:
        """The table from its file; it is not kept."""
        return table.frame() if self.published_only else table.read(self.folder)

    # The closed-loop cells, all text but ``wall_seconds``.
    cells = _tidy(CELLS)
    measurements = _tidy(MEASUREMENTS)
    series = _tidy(SERIES)
    resources = _tidy(RESOURCES)
    outcomes = _tidy(OUTCOMES)
    rounds = _tidy(ROUNDS)
    summary = _tidy(SUMMARY)

    @cached_property
    def probes(self) -> Probes:
        return Probes(self.read(PROBES))

    @cached_property
    def open_loop(self) -> OpenLoopTables:
        """The tables of the cells at fixed rates."""
        return OpenLoopTables(*(table.read(self.folder / FOLDER) for table in TABLES))

    @cached_property
    def environment(self) -> dict:
        return read_environment(self.folder / "environment.json", ["components"])

    @cached_property
    def values(self) -> pd.DataFrame:
        """One value per repetition that counts, with combined rows and means of workloads."""
        return self._values(self.measurements, self.cells)

    @cached_property
    def spread(self) -> Spread:
        """Return the spread of the cells' throughputs, including control cells."""
        return self.spread_of(throughputs(self.values))

    def spread_of(self, values: pd.DataFrame) -> Spread:
        """Return the spread of a metric's ``values``, without client ceiling and trial cells."""
        compared = values["store"].map(is_compared).astype(bool)
        paired, plain = self.study.imported is None, self.study.source is not None
        rule = level_of(self.study), margin_of(self.study)
        return spread_of(values[compared], paired, self.headline, plain, *rule)

    def claimed(self, repetitions: int, floors: pd.DataFrame) -> list[Claimed]:
        """The claims that more than so many ``repetitions`` can decide."""
        return claimed_after(self, repetitions, floors)

    @cached_property
    def own_values(self) -> pd.DataFrame:
        """``values`` without those of control cells."""
        return self._own(self.values)

    @cached_property
    def own_outcomes(self) -> pd.DataFrame:
        """``outcomes`` of closed-loop cells, without control cells."""
        return self._own(self.outcomes.merge(self.cells[CELL], on=CELL))

    @cached_property
    def counted(self) -> pd.DataFrame:
        """Return the keys of the cells that count, without control cells."""
        return self.own_values[CELL].drop_duplicates()

    @cached_property
    def pooled_latencies(self) -> Pooled:
        """The latencies of single operations of counted cells."""
        if self.published_only:
            return {}
        counted = {*self.counted.itertuples(index=False, name=None)}
        histograms = read_histograms(self.read(HISTOGRAMS))
        return pool(each for each in histograms if each.cell in counted)

    @cached_property
    def all_cells(self) -> pd.DataFrame:
        """``cells.csv`` with the open-loop cells."""
        return pd.concat([CELLS.read(folder) for folder in self._both(CELLS)], ignore_index=True)

    @cached_property
    def all_measurements(self) -> pd.DataFrame:
        """``measurements.csv`` with the open-loop cells; ``file`` and ``line`` of each value."""
        frames = []
        for folder in self._both(MEASUREMENTS):
            frame = MEASUREMENTS.read(folder)
            file = str(MEASUREMENTS.path(folder))
            frames.append(frame.assign(file=file, line=range(2, len(frame) + 2)))
        return pd.concat(frames, ignore_index=True)

    @cached_property
    def all_values(self) -> pd.DataFrame:
        """``values`` with those of the open-loop cells."""
        plain = self.all_measurements.drop(columns=["file", "line"])
        return self._values(plain, self.all_cells)

    # --- what follows from them

    @cached_property
    def analysis(self) -> Analysis:
        """Return the results of ``kvstudy analyse`` at all sizes."""
        return no_analysis() if self.published_only else read_analysis(self.analysis_folder)

    @cached_property
    def audit(self) -> pd.DataFrame | None:
        """The checks of the study's source, which a run of published values makes itself."""
        if self.audit_file is None:
            return None
        if not self.published_only:
            return AUDIT.read(self.folder)
        return audit(
            self.study, *(sibling_file(self.study_file, name) for name in (PUBLISHED, QUOTES))
        )

    @cached_property
    def published(self) -> pd.DataFrame | None:
        """The values of the source, with what the audit says of them; None where it has none."""
        path = sibling_file(self.study_file, PUBLISHED)
        if path is None:
            return None
        values = read_published(path)
        return values if self.audit is None else judged_values(values, self.audit)

    @cached_property
    def swept(self) -> Swept:
        """Measured and published values at all sizes."""
        return Swept(self.study, self.scale, self.summary, self.cells, self.published)

    @cached_property
    def results(self) -> Results:
        """Measured and published values at the headline sizes."""
        return self.swept.shown(lambda: self.values)

    @cached_property
    def headline_analysis(self) -> Analysis:
        """The analysis at the headline sizes; run order, open loop and rounds: all."""
        return shown_of(self.analysis, self.headline)

    @cached_property
    def headline_series(self) -> pd.DataFrame:
        return only(self.series, self.headline)

    @cached_property
    def headline_resources(self) -> pd.DataFrame:
        return only(self.resources, self.headline)

    def _values(self, measurements: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
        names = self.study.workload_names
        mean = mean_over_workloads(self.study)
        return per_repetition(measurements, cells, names, self.headline, mean)

    def _own(self, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[rows["store"].isin(self.study.store_names)]

    def _both(self, table: CsvTable) -> list[Path]:
        at_rates = self.folder / FOLDER
        return [self.folder, *([at_rates] if table.path(at_rates).is_file() else [])]


def find_run(name: str, published: bool = False) -> Run:
    """The run of that name, or of that folder below results/.

    KvstudyError when there is no such run, it is of no study that is here, or its values do not
    come from logs and it need not be ``published``.
    """
    known = find_name(name, published)
    study = as_measured(load_study(known.study_file), known.base)
    return Run(known.name, study, known.scale, known.published_only)


def run_of(study: Study, scale: float) -> Run:
    """The run of ``study`` at ``scale``; KvstudyError when there is none."""
    name = run_name(study.name, scale)
    run = Run(name, as_measured(study, name), scale)
    find_name(run.name)
    return run
