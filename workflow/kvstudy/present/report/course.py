"""How the runs went: steadiness, pauses of the client, rounds, and cells at fixed rates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.language.current import _, ngettext
from kvstudy.present.report.cells import Names, Row, joined, problem_of
from kvstudy.stats.over_time import Steadiness
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.study.kinds import AnyTable
from kvstudy.study.model import Study
from kvstudy.study.workload import properties_of, rounds_of

# Watching must not take more of a core, in per cent.
MOST_WATCHING = 1.0
# As in the figure: shorter runs are not drawn.
FEWEST_SECONDS = 3


def course_facts(
    names: Names, analysis: Analysis, headline: Analysis, summary: pd.DataFrame, percentiles: bool
) -> SimpleNamespace:
    """Read from the analysis and ``summary.csv`` of the study's stores.

    ``headline`` is the part of the analysis that is drawn; ``percentiles`` says whether the
    source published any. Of the result, ``steady``, ``unsteady`` and ``short`` are how many
    ``runs`` have each verdict; ``stalled`` names those in which no operation went well for a
    while. ``drawn`` are figures with a run that is long enough, ``not_drawn`` the workloads of
    the others.
    """
    study = names.study

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["store"].isin(study.store_names)]

    seconds = own(analysis.steadiness)
    verdicts = (Steadiness.STEADY, Steadiness.NOT_STEADY, Steadiness.TOO_SHORT)
    steady, unsteady, short = (int((seconds["verdict"] == verdict).sum()) for verdict in verdicts)
    strips = own(headline.steadiness)
    drawn = set(strips.loc[strips["seconds"] >= FEWEST_SECONDS, "workload"])
    over_time = study.figures_of("time")
    timed = set(own(headline.spectrum)["workload"])
    of_phase = summary[summary["operation"] == "overall"]
    return SimpleNamespace(
        watching=_watching(of_phase),
        clients=_clients(of_phase),
        pauses=_pauses(own(of_phase), names),
        steady=steady,
        unsteady=unsteady,
        short=short,
        runs=steady + unsteady + short,
        stalled=_stalled(own(of_phase), names),
        warmed_up=bool((seconds["cut"] > 0).any()),
        drawn=[figure for figure in over_time if figure.workload in drawn],
        not_drawn=[
            names.workload(figure.workload) for figure in over_time if figure.workload not in drawn
        ],
        spectra={
            figure.workload: figure
            for figure in study.figures_of("spectrum")
            if figure.workload in timed
        },
        published_percentiles=percentiles,
    )


def _watching(summary: pd.DataFrame) -> SimpleNamespace | None:
    """What our own watching took of one core (%): the mean and the largest of the runs."""
    rows = summary[summary["metric"] == "monitor_cpu"]
    if rows.empty:
        return None
    mean, largest = (rows["mean"] * rows["n"]).sum() / rows["n"].sum(), rows["max"].max()
    return SimpleNamespace(mean=mean, largest=largest, too_much=largest > MOST_WATCHING)


def _clients(summary: pd.DataFrame) -> SimpleNamespace | None:
    """Of cells with several: how far apart they began at most (ms), and least ``shared_time``."""
    skew, shared = (summary[summary["metric"] == name] for name in ("skew", "shared_time"))
    if skew.empty:
        return None
    return SimpleNamespace(skew=skew["max"].max(), shared_time=shared["min"].min())


def _pauses(summary: pd.DataFrame, names: Names) -> SimpleNamespace | None:
    """Where the collector stopped the client for the largest share of the run time: run means."""
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
    return SimpleNamespace(where=where, count=count, milliseconds=milliseconds, share=share.max())


def _stalled(summary: pd.DataFrame, names: Names) -> list[str]:
    texts = []
    for row in summary[summary["metric"] == "stalled"].itertuples():
        text = ngettext(
            "{} under {} ({} run, up to {} s)", "{} under {} ({} runs, up to {} s)", int(row.n)
        )
        workload = names.workload(row.workload, row.parameters)
        texts.append(text.format(names.store(row.store), workload, int(row.n), round(row.max)))
    return texts


def rounds_facts(run: Run) -> dict[str, SimpleNamespace]:
    """The rounds of each workload that has them, and what the text says of its tables."""

    def of_tables(kind: str, workload: str, facts: Callable) -> list[SimpleNamespace]:
        return [
            facts(table, table.rows(run))
            for table in run.study.tables_of(kind)
            if table.workload == workload
        ]

    return {
        use.name: SimpleNamespace(
            rounds=rounds,
            relative=of_tables("relative", use.name, _relative_facts),
            break_even=of_tables("break-even", use.name, _break_even_facts),
        )
        for use in run.study.workloads
        if (rounds := rounds_of(properties_of(run.study, use)))
    }


def _relative_facts(table: AnyTable, values: pd.DataFrame) -> SimpleNamespace:
    """``rows`` are the measured ones, by records."""
    measured = values[(values["origin"] == MEASURED) & values["ratio"].notna()]
    return SimpleNamespace(table=table, rows=list(measured.itertuples()))


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


SHOWN_PERCENT = 99.0


def open_loop_facts(names: Names, cells: Iterable[Row], analysis: Analysis) -> SimpleNamespace:
    """``cells`` are the rows of the open-loop cells.csv.

    ``tables`` is empty in a study without an open loop. ``share`` (0 to 1) of a rate is that of
    the worst run; rates are ``missed`` where a run did not reach its rate. ``widest`` is where
    both 99th percentiles differ most (in us), of the rates that were reached.
    """
    study = names.study
    rows = [row for row in cells if row["store"] in names.titles]
    rates = [
        SimpleNamespace(
            store=names.store(row.store),
            workload=names.workload(row.workload),
            load=row.load,
            share=row.share_low,
            reached=row.reached == row.n,
            short=row.short > 0,
            note=row.note,
        )
        for row in sorted(analysis.open_rates.itertuples(), key=partial(_place, study))
        if row.store in names.titles
    ]
    reached = {(rate.store, rate.workload, rate.load) for rate in rates if rate.reached}
    times = [
        time
        for time in _open_loop_times(names, analysis.open_percentiles)
        if (time.store, time.workload, time.load) in reached
    ]
    return SimpleNamespace(
        percents=study.open_loop.percents if study.open_loop else [],
        tables=study.tables_of("open-loop"),
        figures=study.figures_of("open-loop"),
        planned=len(rows),
        measured=sum(row["status"] == "measured" for row in rows),
        rates=rates,
        missed=[rate for rate in rates if not rate.reached],
        notes=[rate for rate in rates if rate.note],
        widest=max(times, key=lambda time: time.intended - time.service, default=None),
        gaps=_open_loop_gaps(names, rows),
    )


def _place(study: Study, row) -> tuple[int, int, float]:
    stores = study.store_names
    store = stores.index(row.store) if row.store in stores else len(stores)
    return study.workload_names.index(row.workload), store, row.load


def _open_loop_times(names: Names, percentiles: pd.DataFrame) -> Iterable[SimpleNamespace]:
    """Service and intended 99th percentile (us) of each store and workload at each load."""
    chosen = percentiles[
        (percentiles["operation"] == ALL)
        & (percentiles["percent"] == SHOWN_PERCENT)
        & (percentiles["beyond"] >= ENOUGH_BEYOND)
        & percentiles["store"].isin(list(names.titles))
    ]
    values = chosen.set_index(["store", "workload", "parameters", "load", "time"])["value"]
    both = values.unstack(sort=False).reindex(columns=[SERVICE_TIME, INTENDED_TIME]).dropna()
    for (store, workload, _parameters, load), service, intended in both.itertuples():
        yield SimpleNamespace(
            store=names.store(store),
            workload=names.workload(workload),
            load=load,
            service=service,
            intended=intended,
        )


def _open_loop_gaps(names: Names, rows: list[Row]) -> list[SimpleNamespace]:
    """Open-loop cells without a valid value: ``runs`` of a store and workload, by their reason."""
    gaps = []
    for row in rows:
        if reason := problem_of(row):
            status = "invalid" if row["status"] == "measured" else row["status"]
            load = row["parameters"].rpartition("_load")[2]
            run = _("{} % repetition {}").format(load, row["repetition"])
            place = names.store(row["store"]), names.workload(row["workload"])
            gaps.append(((*place, status, reason), run))
    return [
        SimpleNamespace(store=store, workload=workload, status=status, reason=reason, runs=runs)
        for (store, workload, status, reason), runs in joined(gaps).items()
    ]
