"""The course of the runs: steadiness, pauses of the client, rounds, and cells at fixed rates."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.language.current import _, ngettext
from kvstudy.present.report.cells import DisplayNames, gaps_of
from kvstudy.present.report.workloads import PERCENT
from kvstudy.stats.over_time import Steadiness
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.study.cells import RATE_TRIAL_SLUG
from kvstudy.study.exhibits import AnyTable
from kvstudy.study.workload import properties_of, rounds_of

# Watching must not take more of a core, in per cent.
MOST_WATCHING = 1.0
# As in the figure: shorter runs are not drawn.
FEWEST_SECONDS = 3


def course_facts(
    names: DisplayNames, analysis: Analysis, headline: Analysis, summary: pd.DataFrame
) -> SimpleNamespace:
    """Read from the analysis and ``summary.csv`` of the study's stores.

    ``headline`` is the part of the analysis that is drawn. Of the result, ``steady``,
    ``unsteady`` and ``short`` are how many ``runs`` have each verdict; ``stalled`` names those in
    which no operation went well for a while. ``drawn`` are figures with a run that is long enough,
    ``not_drawn`` the workloads of the others.
    """
    study = names.study

    def study_rows(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["store"].isin(study.store_names)]

    seconds = study_rows(analysis.steadiness)
    verdicts = Counter(seconds["verdict"])
    strips = study_rows(headline.steadiness)
    drawn = set(strips.loc[strips["seconds"] >= FEWEST_SECONDS, "workload"])
    over_time = study.figures_of("time")
    of_phase = summary[summary["operation"] == "overall"]
    return SimpleNamespace(
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


def _watching(rows: pd.DataFrame) -> SimpleNamespace | None:
    """Return the monitoring overhead in % of one core: mean and maximum of the runs."""
    if rows.empty:
        return None
    mean, largest = (rows["mean"] * rows["n"]).sum() / rows["n"].sum(), rows["max"].max()
    return SimpleNamespace(mean=mean, largest=largest, too_much=largest > MOST_WATCHING)


def _clients(summary: pd.DataFrame) -> SimpleNamespace | None:
    """Return the largest skew (ms) and the least ``shared_time`` of cells with several clients."""
    skew, shared = (summary[summary["metric"] == name] for name in ("skew", "shared_time"))
    if skew.empty:
        return None
    return SimpleNamespace(skew=skew["max"].max(), shared_time=shared["min"].min())


def _pauses(summary: pd.DataFrame, names: DisplayNames) -> SimpleNamespace | None:
    """Return the setting with the largest share of collector pauses: means of its runs."""
    metrics = ["gc_count", "gc_pause", "runtime"]
    rows = summary[summary["metric"].isin(metrics)].set_index([*SETTING, "metric"])["mean"]
    cells = rows.unstack(sort=False).reindex(columns=metrics).dropna().query("runtime > 0")
    if cells.empty:
        return None
    share = cells["gc_pause"] / cells["runtime"]
    store, workload, parameters = share.idxmax()
    count, milliseconds, _ = cells.loc[share.idxmax()]
    where = f"{names.store(store)}, {names.workload(workload, parameters)}"
    return SimpleNamespace(where=where, count=count, milliseconds=milliseconds, share=share.max())


def _stalled(summary: pd.DataFrame, names: DisplayNames) -> list[str]:
    return [
        ngettext(
            "{} under {} ({} run, up to {} s)", "{} under {} ({} runs, up to {} s)", int(row.n)
        ).format(row.store, row.workload, int(row.n), round(row.max))
        for row in names.titled(summary[summary["metric"] == "stalled"])
    ]


def rounds_facts(run: Run) -> dict[str, SimpleNamespace]:
    """The rounds of each workload that has them, and what the text says of its tables.

    Of a ``relative`` table, ``rows`` are the measured ones, by records. ``uneven`` is the row of
    the finding ``rounds`` whose rounds differ most, with that ``factor``; None without rounds.
    """
    facts = {
        use.name: SimpleNamespace(
            rounds=rounds, relative=[], break_even=[], uneven=_uneven(run, use.name)
        )
        for use in run.study.workloads
        if (rounds := rounds_of(properties_of(run.study, use)))
    }
    for table in run.study.tables_of("relative"):
        values = table.rows(run)
        measured = values[(values["origin"] == MEASURED) & values["ratio"].notna()]
        rows = list(measured.itertuples())
        facts[table.workload].relative.append(SimpleNamespace(table=table, rows=rows))
    for table in run.study.tables_of("break-even"):
        values = table.rows(run)
        facts[table.workload].break_even.append(_break_even_facts(table, values))
    return facts


def _uneven(run: Run, workload: str):
    rows = run.headline_analysis.rounds
    rows = rows[rows["workload"] == workload].assign(factor=rows["most"] / rows["least"])
    return None if rows.empty else rows.loc[rows["factor"].idxmax()]


def _break_even_facts(table: AnyTable, values: pd.DataFrame) -> SimpleNamespace:
    """``row`` is the measured one that the text gives: of as many records as the source's, or of
    the most below that; None where nothing was measured. ``source`` are the source's rows by
    their origin.
    """
    source = {row.origin: row for row in values[values["origin"] != MEASURED].itertuples()}
    measured = list(values[values["origin"] == MEASURED].itertuples())
    most = max((row.records for row in source.values() or measured), default=0)
    fits = [row for row in measured if row.records <= most] or measured[:1]
    return SimpleNamespace(table=table, row=fits[-1] if fits else None, source=source)


def open_loop_facts(
    names: DisplayNames, cells: pd.DataFrame, analysis: Analysis
) -> SimpleNamespace:
    """``cells`` are the open-loop ones and their trial cells, with their states.

    ``tables`` is empty in a study without an open loop. ``share_low`` (0 to 1) of a rate is that
    of the worst run; rates are ``missed`` where a run did not reach its rate. ``widest`` is where
    both 99th percentiles differ most (in us), of the rates that were reached. ``trial_range`` are
    the least and the largest throughput of a trial cell by that of the run's closed-loop cells.
    """
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
    return SimpleNamespace(
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
