"""How the runs went: steadiness, pauses of the client, and what watching them cost."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.language.current import ngettext
from kvstudy.present.report.cells import Names
from kvstudy.stats.over_time import Steadiness
from kvstudy.study.kinds import AnyFigure

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
class CourseFacts:
    """What the text on the course of the runs speaks about.

    ``steady``, ``unsteady`` and ``short`` are how many runs have each verdict;
    ``restless`` names those that are not steady, ``stalled`` those in which no operation went
    well for a while. ``drawn`` are the workloads with a run
    that is long enough to be drawn.
    """

    watching: Watching | None
    pauses: Pauses | None
    steady: int
    unsteady: int
    short: int
    restless: list[str]
    stalled: list[str]
    warmed_up: bool
    drawn: list[AnyFigure]
    not_drawn: list[str]
    spectra: dict[str, AnyFigure]
    cpu: AnyFigure | None
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
    has_cpu = (own(headline.intervals)["metric"] == "client_cpu").any()
    of_phase = summary[summary["operation"] == "overall"]
    return CourseFacts(
        watching=_watching(of_phase),
        pauses=_pauses(own(of_phase), names),
        steady=int(counts.get(Steadiness.STEADY, 0)),
        unsteady=int(counts.get(Steadiness.NOT_STEADY, 0)),
        short=int(counts.get(Steadiness.TOO_SHORT, 0)),
        restless=_restless(seconds, names),
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
        cpu=next(iter(study.figures_of("cpu")), None) if has_cpu else None,
        published_percentiles=percentiles,
    )


def _watching(summary: pd.DataFrame) -> Watching | None:
    rows = summary[summary["metric"] == "monitor_cpu"]
    if rows.empty:
        return None
    return Watching((rows["mean"] * rows["n"]).sum() / rows["n"].sum(), rows["max"].max())


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


def _restless(seconds: pd.DataFrame, names: Names) -> list[str]:
    texts = []
    for (workload, store), runs in seconds.groupby(["workload", "store"], sort=False):
        count = (runs["verdict"] == Steadiness.NOT_STEADY).sum()
        if count:
            text = ngettext("{} under {} ({} of {} runs)", "{} under {} ({} of {} runs)", len(runs))
            title = names.workload(workload)
            texts.append(text.format(names.store(store), title, count, len(runs)))
    return texts
