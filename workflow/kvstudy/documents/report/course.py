"""The course of the runs: steadiness, pauses of the client, rounds, and cells at fixed rates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.documents.report.cells import DisplayNames, Gaps, gaps_of
from kvstudy.documents.report.workloads import PERCENT
from kvstudy.language.current import _, ngettext
from kvstudy.stats.over_time import Steadiness
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.study.cells import RATE_TRIAL_SLUG
from kvstudy.study.exhibits import AnyFigure, AnyTable
from kvstudy.study.workload import Rounds, properties_of, rounds_of

# Watching must not take more of a core, in per cent.
MOST_WATCHING = 1.0
# As in the figure: shorter runs are not drawn.
FEWEST_SECONDS = 3


class Watching(NamedTuple):
    """The monitoring overhead in % of one core: mean and maximum of the runs."""

    mean: float
    largest: float
    too_much: bool


class SeveralClients(NamedTuple):
    """The largest ``skew`` (ms) and the least ``shared_time`` of cells with several clients."""

    skew: float
    shared_time: float


@dataclass(frozen=True)
class Pauses:
    """The setting with the largest share of collector pauses: means of its runs."""

    where: str
    count: float
    milliseconds: float
    share: float


@dataclass(frozen=True)
class CourseFacts:
    """The course of the runs of the study's stores.

    ``steady``, ``unsteady`` and ``short`` are how many ``runs`` have each verdict; ``stalled``
    names those in which no operation went well for a while. ``drawn`` are figures with a run that
    is long enough, ``not_drawn`` the workloads of the others.
    """

    watching: Watching | None
    clients: SeveralClients | None
    pauses: Pauses | None
    steady: int
    unsteady: int
    short: int
    runs: int
    stalled: list[str]
    warmed_up: bool
    drawn: list[AnyFigure]
    not_drawn: list[str]
    spectra: list[AnyFigure]


def course_facts(
    names: DisplayNames, analysis: Analysis, headline: Analysis, summary: pd.DataFrame
) -> CourseFacts:
    """Read from the analysis and ``summary.csv``; ``headline`` is the part that is drawn."""
    study = names.study

    def study_rows(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["store"].isin(study.store_names)]

    seconds = study_rows(analysis.steadiness)
    verdicts = Counter(seconds["verdict"])
    strips = study_rows(headline.steadiness)
    drawn = set(strips.loc[strips["seconds"] >= FEWEST_SECONDS, "workload"])
    over_time = study.figures_of("time")
    of_phase = summary[summary["operation"] == "overall"]
    return CourseFacts(
        watching=_watching(of_phase[of_phase["metric"] == "monitor_cpu"]),
        clients=_clients(of_phase),
        pauses=_pauses(study_rows(of_phase), names),
        steady=verdicts[Steadiness.STEADY],
        unsteady=verdicts[Steadiness.NOT_STEADY],
        short=verdicts[Steadiness.TOO_SHORT],
        runs=len(seconds),
        stalled=_stalled(study_rows(of_phase), names),
        warmed_up=bool((seconds["cut"] > 0).any()),
        drawn=[figure for figure in over_time if figure.workload in drawn],
        not_drawn=[
            names.workload(figure.workload) for figure in over_time if figure.workload not in drawn
        ],
        spectra=[] if study_rows(headline.spectrum).empty else study.figures_of("spectrum"),
    )


def _watching(rows: pd.DataFrame) -> Watching | None:
    if rows.empty:
        return None
    mean, largest = (rows["mean"] * rows["n"]).sum() / rows["n"].sum(), rows["max"].max()
    return Watching(mean, largest, largest > MOST_WATCHING)


def _clients(summary: pd.DataFrame) -> SeveralClients | None:
    skew, shared = (summary[summary["metric"] == name] for name in ("skew", "shared_time"))
    if skew.empty:
        return None
    return SeveralClients(skew["max"].max(), shared["min"].min())


def _pauses(summary: pd.DataFrame, names: DisplayNames) -> Pauses | None:
    metrics = ["gc_count", "gc_pause", "runtime"]
    rows = summary[summary["metric"].isin(metrics)].set_index([*SETTING, "metric"])["mean"]
    cells = rows.unstack(sort=False).reindex(columns=metrics).dropna().query("runtime > 0")
    if cells.empty:
        return None
    share = cells["gc_pause"] / cells["runtime"]
    store, workload, parameters = share.idxmax()
    count, milliseconds, _ = cells.loc[share.idxmax()]
    where = f"{names.store(store)}, {names.workload(workload, parameters)}"
    return Pauses(where, count, milliseconds, share.max())


def _stalled(summary: pd.DataFrame, names: DisplayNames) -> list[str]:
    return [
        ngettext(
            "{} under {} ({} run, up to {} s)", "{} under {} ({} runs, up to {} s)", int(row.n)
        ).format(row.store, row.workload, int(row.n), round(row.max))
        for row in names.titled(summary[summary["metric"] == "stalled"])
    ]


class RelativeFacts(NamedTuple):
    """A table of relative performance, with its measured ``rows`` by records."""

    table: AnyTable
    rows: list[tuple]


class BreakEvenFacts(NamedTuple):
    """A table of break-even points.

    ``row`` is the measured one that the text gives: of as many records as the source's, or of
    the most below that; None where nothing was measured. ``source`` are the source's rows by
    their origin.
    """

    table: AnyTable
    row: tuple | None
    source: dict[str, tuple]


@dataclass(frozen=True)
class RoundsFacts:
    """The rounds of a workload, and its tables.

    ``uneven`` is the row of the finding ``rounds`` whose rounds differ most, with that ``factor``;
    None without rounds.
    """

    rounds: Rounds
    uneven: pd.Series | None
    relative: list[RelativeFacts] = field(default_factory=list)
    break_even: list[BreakEvenFacts] = field(default_factory=list)


def rounds_facts(run: Run) -> dict[str, RoundsFacts]:
    """Return the rounds of each workload that has them, and what the text says of its tables."""
    facts = {
        use.name: RoundsFacts(rounds, _uneven(run, use.name))
        for use in run.study.workloads
        if (rounds := rounds_of(properties_of(run.study, use)))
    }
    for table in run.study.tables_of("relative"):
        values = table.rows(run)
        measured = values[(values["origin"] == MEASURED) & values["ratio"].notna()]
        rows = list(measured.itertuples())
        facts[table.workload].relative.append(RelativeFacts(table, rows))
    for table in run.study.tables_of("break-even"):
        values = table.rows(run)
        facts[table.workload].break_even.append(_break_even_facts(table, values))
    return facts


def _uneven(run: Run, workload: str) -> pd.Series | None:
    rows = run.headline_analysis.rounds
    rows = rows[rows["workload"] == workload].assign(factor=rows["most"] / rows["least"])
    return None if rows.empty else rows.loc[rows["factor"].idxmax()]


def _break_even_facts(table: AnyTable, values: pd.DataFrame) -> BreakEvenFacts:
    source = {row.origin: row for row in values[values["origin"] != MEASURED].itertuples()}
    measured = list(values[values["origin"] == MEASURED].itertuples())
    most = max((row.records for row in source.values() or measured), default=0)
    fits = [row for row in measured if row.records <= most] or measured[:1]
    return BreakEvenFacts(table, fits[-1] if fits else None, source)


@dataclass(frozen=True)
class OpenLoopFacts:
    """The cells at fixed rates and their trial cells.

    ``tables`` is empty in a study without an open loop. ``share_low`` (0 to 1) of a rate is that
    of the worst run; rates are ``missed`` where a run did not reach its rate. ``widest`` is where
    both 99th percentiles differ most (in us), of the rates that were reached. ``trial_range`` are
    the least and the largest throughput of a trial cell by that of the run's closed-loop cells.
    """

    percents: list[float]
    tables: list[AnyTable]
    figures: list[AnyFigure]
    planned: int
    measured: int
    trials: int
    trial_gaps: list[Gaps]
    trial_range: tuple[float, float] | None
    rates: int
    missed: list[tuple]
    notes: list[tuple]
    widest: tuple | None
    gaps: list[Gaps]


def open_loop_facts(names: DisplayNames, cells: pd.DataFrame, analysis: Analysis) -> OpenLoopFacts:
    """Return the facts on the open-loop ``cells`` and their trial cells, with their states."""
    study = names.study
    order = {"workload": study.workload_names.index, "store": study.store_names.index}
    rates = analysis.open_rates[analysis.open_rates["store"].isin(list(names.titles))]
    rates = rates.assign(parameters="").sort_values(
        [*order, "load"], key=lambda column: column.map(order.get(column.name, float))
    )
    reached = rates["reached"] == rates["n"]
    open_rows = cells[cells["store"].isin(list(names.titles))]
    is_trial = open_rows["parameters"].str.endswith(RATE_TRIAL_SLUG)
    trials, rows = open_rows[is_trial], open_rows[~is_trial]
    gaps = gaps_of(rows, names)
    for gap in gaps:
        loads = [slug.rpartition("_load")[2] for slug in gap.cells["parameters"]]
        runs = zip(loads, gap.cells["repetition"], strict=True)
        gap.runs = [_("{} % repetition {}").format(*run) for run in runs]
    return OpenLoopFacts(
        percents=study.open_loop.percents if study.open_loop else [],
        tables=study.tables_of("open-loop"),
        figures=study.figures_of("open-loop"),
        planned=len(rows),
        measured=int((rows["status"] == "measured").sum()),
        trials=len(trials),
        trial_gaps=gaps_of(trials, names),
        trial_range=_trial_range(analysis),
        rates=len(rates),
        missed=names.titled(rates[~reached]),
        notes=names.titled(rates[rates["note"] != ""]),
        widest=_widest(analysis.open_percentiles, rates.loc[reached, [*order, "load"]], names),
        gaps=gaps,
    )


def _trial_range(analysis: Analysis) -> tuple[float, float] | None:
    """The least and the largest throughput of a trial cell by the mean of the run's own cells."""
    whole = analysis.intervals.query("operation == 'overall' and metric == 'throughput'")
    both = analysis.open_rates.merge(whole[[*SETTING, "value"]], on=SETTING)
    ratios = both["target"] / (both["load"] / 100) / both["value"]
    return None if ratios.empty else (ratios.min(), ratios.max())


def _widest(percentiles: pd.DataFrame, rates: pd.DataFrame, names: DisplayNames) -> tuple | None:
    """Return the rate whose ``service`` and ``intended`` 99th percentiles (us) differ most."""
    chosen = percentiles[
        (percentiles["operation"] == ALL)
        & (percentiles["percent"] == PERCENT)
        & (percentiles["beyond"] >= ENOUGH_BEYOND)
    ].merge(rates)
    values = chosen.set_index(["store", "workload", "parameters", "load", "time"])["value"]
    columns = {SERVICE_TIME: "service", INTENDED_TIME: "intended"}
    both = (
        values.unstack(sort=False).reindex(columns=list(columns)).rename(columns=columns).dropna()
    )
    widest = (both["intended"] - both["service"]).nlargest(1).index
    rows = both.loc[widest].reset_index().assign(parameters="")
    return next(iter(names.titled(rows)), None)
