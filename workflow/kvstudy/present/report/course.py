"""How the runs went: steadiness, pauses of the client, and what watching them cost."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.language.current import ngettext
from kvstudy.present.report.cells import Names, Row
from kvstudy.stats.warmup import Steadiness
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
    names: Names, analysis: Analysis, shown: Analysis, summary: list[Row], percentiles: bool
) -> CourseFacts:
    """Read from the analysis and ``summary.csv`` of the study's stores.

    ``shown`` is the part of the analysis that is drawn; ``percentiles`` says whether the source
    published any.
    """
    study = names.study

    def own(frame: pd.DataFrame) -> pd.DataFrame:
        return frame[frame["store"].isin(study.store_names)]

    seconds = own(analysis.steadiness)
    counts = seconds["verdict"].value_counts()
    strips = own(shown.steadiness)
    drawn = set(strips.loc[strips["seconds"] >= FEWEST_SECONDS, "workload"])
    timed = set(own(shown.spectrum)["workload"])
    has_cpu = (own(shown.intervals)["metric"] == "client_cpu").any()
    of_phase = [row for row in summary if row["operation"] == "overall"]
    rows = [row for row in of_phase if row["store"] in names.titles]
    return CourseFacts(
        watching=_watching(of_phase),
        pauses=_pauses(rows, names),
        steady=int(counts.get(Steadiness.STEADY, 0)),
        unsteady=int(counts.get(Steadiness.NOT_STEADY, 0)),
        short=int(counts.get(Steadiness.TOO_SHORT, 0)),
        restless=_restless(seconds, names),
        stalled=_stalled(rows, names),
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


def _watching(rows: list[Row]) -> Watching | None:
    mine = [row for row in rows if row["metric"] == "monitor_cpu"]
    if not mine:
        return None
    runs = [int(float(row["n"])) for row in mine]
    total = sum(float(row["mean"]) * n for row, n in zip(mine, runs, strict=True))
    return Watching(total / sum(runs), max(float(row["max"]) for row in mine))


def _pauses(rows: list[Row], names: Names) -> Pauses | None:
    """Where the collector stopped the client for the largest share of the run time."""
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        key = (row["store"], row["workload"], row["parameters"])
        cells.setdefault(key, {})[row["metric"]] = float(row["mean"])
    pauses = [
        Pauses(
            f"{names.store(store)}, {names.workload(workload, parameters)}",
            values["gc_count"],
            values["gc_pause"],
            values["gc_pause"] / values["runtime"],
        )
        for (store, workload, parameters), values in cells.items()
        if {"gc_count", "gc_pause"} <= values.keys() and values.get("runtime")
    ]
    return max(pauses, key=lambda pause: pause.share, default=None)


def _stalled(rows: list[Row], names: Names) -> list[str]:
    texts = []
    for row in rows:
        if row["metric"] == "stalled":
            runs = int(float(row["n"]))
            text = ngettext(
                "{} under {} ({} run, up to {} s)", "{} under {} ({} runs, up to {} s)", runs
            )
            workload = names.workload(row["workload"], row["parameters"])
            longest = round(float(row["max"]))
            texts.append(text.format(names.store(row["store"]), workload, runs, longest))
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
