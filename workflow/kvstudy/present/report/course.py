"""How the runs went: steadiness, pauses of the client, rounds, and cells at fixed rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.language.current import _, ngettext
from kvstudy.present.report.cells import Names, Row, problem_of
from kvstudy.stats.over_time import Steadiness
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.study.kinds import AnyFigure, AnyTable
from kvstudy.study.model import Study
from kvstudy.study.workload import Rounds, properties_of, rounds_of

# Watching must not take more of a core, in per cent.
MOST_WATCHING = 1.0
# As in the figure: shorter runs are not drawn.
FEWEST_SECONDS = 3


@dataclass(frozen=True)
class Watching:
    """What our own watching took of one core (%): the mean and the largest of the runs."""

    mean: float
    largest: float

    @property
    def too_much(self) -> bool:
        return self.largest > MOST_WATCHING


@dataclass(frozen=True)
class Pauses:
    """Garbage collection of the client in a run (means): pauses, ms together, share of the time."""

    where: str
    count: float
    milliseconds: float
    share: float


@dataclass(frozen=True)
class Clients:
    """Of cells with several: how far apart they began at most (ms), and least ``shared_time``."""

    skew: float
    shared_time: float


@dataclass(frozen=True)
class CourseFacts:
    """What the text on the course of the runs speaks about.

    ``steady``, ``unsteady`` and ``short`` are how many runs have each verdict;
    ``stalled`` names those in which no operation went well for a while. ``drawn`` are the
    workloads with a run that is long enough to be drawn.
    """

    watching: Watching | None
    clients: Clients | None
    pauses: Pauses | None
    steady: int
    unsteady: int
    short: int
    stalled: list[str]
    warmed_up: bool
    drawn: list[AnyFigure]
    not_drawn: list[str]
    spectra: dict[str, AnyFigure]
    published_percentiles: bool

    @property
    def runs(self) -> int:
        return self.steady + self.unsteady + self.short


def course_facts(
    names: Names, analysis: Analysis, headline: Analysis, summary: pd.DataFrame, percentiles: bool
) -> CourseFacts:
    """Read from the analysis and ``summary.csv`` of the study's stores.

    ``headline`` is the part of the analysis that is drawn; ``percentiles`` says whether the
    source published any.
    """
    study = names.study

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["store"].isin(study.store_names)]

    seconds = own(analysis.steadiness)
    counts = seconds["verdict"].value_counts()
    strips = own(headline.steadiness)
    drawn = set(strips.loc[strips["seconds"] >= FEWEST_SECONDS, "workload"])
    timed = set(own(headline.spectrum)["workload"])
    of_phase = summary[summary["operation"] == "overall"]
    return CourseFacts(
        watching=_watching(of_phase),
        clients=_clients(of_phase),
        pauses=_pauses(own(of_phase), names),
        steady=int(counts.get(Steadiness.STEADY, 0)),
        unsteady=int(counts.get(Steadiness.NOT_STEADY, 0)),
        short=int(counts.get(Steadiness.TOO_SHORT, 0)),
        stalled=_stalled(own(of_phase), names),
        warmed_up=bool((seconds["cut"] > 0).any()),
        drawn=[figure for figure in study.figures_of("time") if figure.workload in drawn],
        not_drawn=[
            names.workload(figure.workload)
            for figure in study.figures_of("time")
            if figure.workload not in drawn
        ],
        spectra={
            figure.workload: figure
            for figure in study.figures_of("spectrum")
            if figure.workload in timed
        },
        published_percentiles=percentiles,
    )


def _watching(summary: pd.DataFrame) -> Watching | None:
    rows = summary[summary["metric"] == "monitor_cpu"]
    if rows.empty:
        return None
    return Watching((rows["mean"] * rows["n"]).sum() / rows["n"].sum(), rows["max"].max())


def _clients(summary: pd.DataFrame) -> Clients | None:
    skew, shared = (summary[summary["metric"] == name] for name in ("skew", "shared_time"))
    return None if skew.empty else Clients(skew["max"].max(), shared["min"].min())


def _pauses(summary: pd.DataFrame, names: Names) -> Pauses | None:
    """Where the collector stopped the client for the largest share of the run time."""
    metrics = ["gc_count", "gc_pause", "runtime"]
    rows = summary[summary["metric"].isin(metrics)].set_index([*SETTING, "metric"])["mean"]
    cells = rows.unstack(sort=False).reindex(columns=metrics).dropna()
    cells = cells[cells["runtime"] > 0]
    if cells.empty:
        return None
    share = cells["gc_pause"] / cells["runtime"]
    store, workload, parameters = share.idxmax()
    count, milliseconds, _ = cells.loc[share.idxmax()]
    where = f"{names.store(store)}, {names.workload(workload, parameters)}"
    return Pauses(where, count, milliseconds, share.max())


def _stalled(summary: pd.DataFrame, names: Names) -> list[str]:
    texts = []
    for row in summary[summary["metric"] == "stalled"].itertuples():
        text = ngettext(
            "{} under {} ({} run, up to {} s)", "{} under {} ({} runs, up to {} s)", int(row.n)
        )
        workload = names.workload(row.workload, row.parameters)
        texts.append(text.format(names.store(row.store), workload, int(row.n), round(row.max)))
    return texts


@dataclass(frozen=True)
class RelativeFacts:
    """A table of relative performance; ``rows`` are its measured ones, by records."""

    table: AnyTable
    rows: list


@dataclass(frozen=True)
class BreakEvenFacts:
    """A table of break-evens.

    ``row`` is the measured one that the text gives: of as many records as the source's,
    or of the most below that; None where nothing was measured. ``source`` are the source's
    rows by their origin.
    """

    table: AnyTable
    row: object | None
    source: dict[str, object]


@dataclass(frozen=True)
class RoundsFacts:
    """A workload with rounds, and what belongs to its section."""

    rounds: Rounds
    relative: list[RelativeFacts]
    break_even: list[BreakEvenFacts]


def rounds_facts(
    study: Study, analysis: Analysis, published: pd.DataFrame | None
) -> dict[str, RoundsFacts]:
    """The facts of each workload that has rounds, by its name."""

    def of(workload: str, items: list) -> list:
        return [item for item in items if item.workload == workload]

    facts = {}
    for use in study.workloads:
        if rounds := rounds_of(properties_of(study, use)):
            facts[use.name] = RoundsFacts(
                rounds,
                [
                    _relative_facts(table, analysis, published)
                    for table in of(use.name, study.tables_of("relative"))
                ],
                [
                    _break_even_facts(table, analysis, published)
                    for table in of(use.name, study.tables_of("break-even"))
                ],
            )
    return facts


def _relative_facts(
    table: AnyTable, analysis: Analysis, published: pd.DataFrame | None
) -> RelativeFacts:
    frame = table.values(analysis.rounds, published)
    measured = frame[(frame["origin"] == MEASURED) & frame["ratio"].notna()]
    return RelativeFacts(table, list(measured.itertuples()))


def _break_even_facts(
    table: AnyTable, analysis: Analysis, published: pd.DataFrame | None
) -> BreakEvenFacts:
    frame = table.values(analysis.rounds, published)
    source = {row.origin: row for row in frame[frame["origin"] != MEASURED].itertuples()}
    measured = list(frame[frame["origin"] == MEASURED].itertuples())
    records = {row.records for row in source.values()} or {row.records for row in measured}
    fits = [row for row in measured if row.records <= max(records, default=0)] or measured[:1]
    return BreakEvenFacts(table, fits[-1] if fits else None, source)


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
        times=tuple(_open_loop_times(names, analysis.open_percentiles)),
        gaps=tuple(_open_loop_gaps(names, rows)),
    )


def _place(study: Study, row) -> tuple[int, int, float]:
    stores = study.store_names
    store = stores.index(row.store) if row.store in stores else len(stores)
    return study.workload_names.index(row.workload), store, row.load


def _open_loop_times(names: Names, percentiles: pd.DataFrame) -> Iterable[TimeFacts]:
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


def _open_loop_gaps(names: Names, rows: list[Row]) -> Iterable[OpenLoopGap]:
    gaps: dict[tuple[str, str, str, str], list[str]] = {}
    for row in rows:
        status, reason = row["status"], problem_of(row)
        if not reason:
            continue
        status = "invalid" if status == "measured" else status
        key = (names.store(row["store"]), names.workload(row["workload"]), status, reason)
        load = row["parameters"].rpartition("_load")[2]
        gaps.setdefault(key, []).append(_("{} % repetition {}").format(load, row["repetition"]))
    return (OpenLoopGap(*key, tuple(runs)) for key, runs in gaps.items())
