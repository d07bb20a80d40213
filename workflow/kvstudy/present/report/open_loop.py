"""What the report's text says about the cells at fixed rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.language.current import _
from kvstudy.present.report.cells import Names, Row, problem_of
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.study.kinds import AnyFigure, AnyTable
from kvstudy.study.model import Study

SHOWN_PERCENT = 99.0


@dataclass(frozen=True)
class RateFacts:
    """One store and workload at one load; ``share`` (0 to 1) is that of the worst run."""

    store: str
    workload: str
    load: float
    share: float
    reached: bool
    short: bool
    note: str


@dataclass(frozen=True)
class TimeFacts:
    """Service and intended 99th percentile (us) of one store and workload at one load."""

    store: str
    workload: str
    load: float
    service: float
    intended: float


@dataclass(frozen=True)
class OpenLoopGap:
    """Open-loop cells without a valid value, for one reason."""

    store: str
    workload: str
    status: str
    reason: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class OpenLoopFacts:
    """The cells at fixed rates; ``tables`` is empty in a study without an open loop."""

    percents: tuple[int, ...]
    tables: tuple[AnyTable, ...]
    figures: tuple[AnyFigure, ...]
    planned: int
    measured: int
    rates: tuple[RateFacts, ...]
    times: tuple[TimeFacts, ...]
    gaps: tuple[OpenLoopGap, ...]

    @property
    def missed(self) -> list[RateFacts]:
        """Where a run did not reach its rate."""
        return [rate for rate in self.rates if not rate.reached]

    @property
    def notes(self) -> list[RateFacts]:
        return [rate for rate in self.rates if rate.note]

    @property
    def widest(self) -> TimeFacts | None:
        """Where both 99th percentiles differ most (in us), of the rates that were reached."""
        reached = {(rate.store, rate.workload, rate.load) for rate in self.rates if rate.reached}
        times = [time for time in self.times if (time.store, time.workload, time.load) in reached]
        return max(times, key=lambda time: time.intended - time.service, default=None)


def open_loop_facts(names: Names, cells: Iterable[Row], analysis: Analysis) -> OpenLoopFacts:
    """``cells`` are the rows of the open-loop cells.csv."""
    study = names.study
    rows = [row for row in cells if row["store"] in names.titles]
    rates = [
        RateFacts(
            names.store(row.store),
            names.workload(row.workload),
            row.load,
            row.share_low,
            row.reached == row.n,
            row.short > 0,
            row.note,
        )
        for row in sorted(analysis.open_rates.itertuples(), key=partial(_place, study))
        if row.store in names.titles
    ]
    return OpenLoopFacts(
        percents=tuple(study.open_loop.percents if study.open_loop else ()),
        tables=tuple(study.open_loop_tables),
        figures=tuple(study.open_loop_figures),
        planned=len(rows),
        measured=sum(row["status"] == "measured" for row in rows),
        rates=tuple(rates),
        times=tuple(_times(names, analysis.open_percentiles)),
        gaps=tuple(_gaps(names, rows)),
    )


def _place(study: Study, row) -> tuple[int, int, float]:
    """Workloads and stores in the study's order, then by load."""
    stores = study.store_names
    store = stores.index(row.store) if row.store in stores else len(stores)
    return study.workload_names.index(row.workload), store, row.load


def _times(names: Names, percentiles: pd.DataFrame) -> Iterable[TimeFacts]:
    chosen = percentiles[
        (percentiles["operation"] == ALL)
        & (percentiles["percent"] == SHOWN_PERCENT)
        & (percentiles["beyond"] >= ENOUGH_BEYOND)
        & percentiles["store"].isin(list(names.titles))
    ]
    keys = ["store", "workload", "parameters", "load"]
    for (store, workload, _parameters, load), group in chosen.groupby(keys, sort=False):
        values = group.set_index("time")["value"]
        if {SERVICE_TIME, INTENDED_TIME} <= set(values.index):
            times = values[SERVICE_TIME], values[INTENDED_TIME]
            yield TimeFacts(names.store(store), names.workload(workload), load, *times)


def _gaps(names: Names, rows: list[Row]) -> Iterable[OpenLoopGap]:
    gaps: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        status, reason = row["status"], problem_of(row)
        if not reason:
            continue
        status = "void" if status == "measured" else status
        key = (names.store(row["store"]), names.workload(row["workload"]), status, reason)
        load = row["parameters"].rpartition("_load")[2]
        gaps.setdefault(key, []).append(_("{} % repetition {}").format(load, row["repetition"]))
    return (OpenLoopGap(*key, tuple(runs)) for key, runs in gaps.items())
