"""How the runs went: steadiness, pauses of the client, and what watching them cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.language.current import ngettext
from kvstudy.present.report.cell_names import CellNames
from kvstudy.stats.warmup import Steadiness
from kvstudy.study.figure_kinds import CpuBars, Spectrum, TimeStrips
from kvstudy.study.model import Study

# Watching must not take more of a core, in per cent.
MOST_WATCHING = 1.0
# As in the figure: shorter runs are not drawn.
FEWEST_SECONDS = 3

Row = dict[str, str]


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
    drawn: list[TimeStrips]
    not_drawn: list[str]
    spectra: dict[str, Spectrum]
    cpu: CpuBars | None
    published_percentiles: bool

    @property
    def runs(self) -> int:
        return self.steady + self.unsteady + self.short


def course_facts(
    study: Study,
    titles: dict[str, str],
    analysis: Analysis,
    shown: Analysis,
    summary: Iterable[Row],
    published: Iterable[Row],
    names: CellNames,
) -> CourseFacts:
    """Read from the analysis and ``summary.csv`` of the study's stores, and its source's values.

    ``shown`` is the part of the analysis that is drawn.
    """
    seconds = analysis.steadiness
    seconds = seconds[seconds["store"].isin(study.store_names)]
    counts = seconds["verdict"].value_counts()
    strip = shown.steadiness[shown.steadiness["store"].isin(study.store_names)]
    drawn = set(strip.loc[strip["seconds"] >= FEWEST_SECONDS, "workload"])
    strips = [figure for figure in study.figures if isinstance(figure, TimeStrips)]
    spectrum = shown.spectrum
    timed = set(spectrum.loc[spectrum["store"].isin(study.store_names), "workload"])
    cpu = shown.intervals
    cpu = cpu[cpu["store"].isin(study.store_names) & (cpu["metric"] == "client_cpu")]
    rows = [row for row in summary if row["operation"] == "overall"]
    return CourseFacts(
        watching=_watching(rows),
        pauses=_pauses([row for row in rows if row["store"] in titles], names, titles),
        steady=int(counts.get(Steadiness.STEADY, 0)),
        unsteady=int(counts.get(Steadiness.NOT_STEADY, 0)),
        short=int(counts.get(Steadiness.TOO_SHORT, 0)),
        restless=_restless(seconds, study, titles),
        stalled=_stalled([row for row in rows if row["store"] in titles], names, titles),
        warmed_up=bool((seconds["cut"] > 0).any()),
        drawn=[figure for figure in strips if figure.workload in drawn],
        not_drawn=[
            study.workload(figure.workload).title
            for figure in strips
            if figure.workload not in drawn
        ],
        spectra={
            figure.workload: figure
            for figure in study.figures
            if isinstance(figure, Spectrum) and figure.workload in timed
        },
        cpu=next(
            (figure for figure in study.figures if isinstance(figure, CpuBars) and len(cpu)), None
        ),
        published_percentiles=any(row["metric"].startswith("latency_p") for row in published),
    )


def _watching(rows: list[Row]) -> Watching | None:
    mine = [row for row in rows if row["metric"] == "monitor_cpu"]
    if not mine:
        return None
    runs = [int(float(row["n"])) for row in mine]
    total = sum(float(row["mean"]) * n for row, n in zip(mine, runs, strict=True))
    return Watching(total / sum(runs), max(float(row["max"]) for row in mine))


def _pauses(rows: list[Row], names: CellNames, titles: dict[str, str]) -> Pauses | None:
    """Where the collector stopped the client for the largest share of the run time."""
    cells: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        key = (row["store"], row["workload"], row["parameters"])
        cells.setdefault(key, {})[row["metric"]] = float(row["mean"])
    found = [
        Pauses(
            f"{titles[store]}, {names.workload(workload, parameters)}",
            values["gc_count"],
            values["gc_pause"],
            values["gc_pause"] / values["runtime"],
        )
        for (store, workload, parameters), values in cells.items()
        if {"gc_count", "gc_pause"} <= values.keys() and values.get("runtime")
    ]
    return max(found, key=lambda each: each.share, default=None)


def _stalled(rows: list[Row], names: CellNames, titles: dict[str, str]) -> list[str]:
    found = []
    for row in rows:
        if row["metric"] == "stalled":
            runs = int(float(row["n"]))
            text = ngettext(
                "{} under {} ({} run, up to {} s)", "{} under {} ({} runs, up to {} s)", runs
            )
            name = names.workload(row["workload"], row["parameters"])
            longest = round(float(row["max"]))
            found.append(text.format(titles[row["store"]], name, runs, longest))
    return found


def _restless(seconds: pd.DataFrame, study: Study, titles: dict[str, str]) -> list[str]:
    found = []
    for (workload, store), runs in seconds.groupby(["workload", "store"], sort=False):
        count = (runs["verdict"] == Steadiness.NOT_STEADY).sum()
        if count:
            title = study.workload(workload).title
            text = ngettext("{} under {} ({} of {} runs)", "{} under {} ({} of {} runs)", len(runs))
            found.append(text.format(titles[store], title, count, len(runs)))
    return found
