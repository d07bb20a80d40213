"""Writing a study's figures as PDF, SVG and CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.open_loop import of_workload
from kvstudy.analyse.tidy.results import Results
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.errors import KvstudyError
from kvstudy.present.figures.averages import averages, panel_titles
from kvstudy.present.figures.bars import bars
from kvstudy.present.figures.box import box_table, draw_box
from kvstudy.present.figures.break_even import break_even_table, draw_break_even
from kvstudy.present.figures.cpu import cpu_table, draw_cpu
from kvstudy.present.figures.curves import curves_table, draw_curves
from kvstudy.present.figures.draw import Look, draw, save, use_style
from kvstudy.present.figures.heatmap import draw_heatmap, heatmap_table
from kvstudy.present.figures.open_loop import draw_open_loop, open_loop_table
from kvstudy.present.figures.order import draw_order
from kvstudy.present.figures.ratios import draw_ratios, ratios
from kvstudy.present.figures.relative import draw_relative, relative_table
from kvstudy.present.figures.slope import draw_slopes, slopes
from kvstudy.present.figures.spectrum import draw_spectrum, spectrum_table
from kvstudy.present.figures.timeline import draw_timeline, timeline
from kvstudy.study.curves import Curves
from kvstudy.study.figure_kinds import (
    Bars,
    CpuBars,
    DrawnFigure,
    OpenLoopFigure,
    RatioPlot,
    RunOrder,
    Spectrum,
)
from kvstudy.study.grids import Averages, Box, Heatmap
from kvstudy.study.load import STUDIES
from kvstudy.study.model import Study
from kvstudy.study.relative import BreakEvenPlot, RelativePlot
from kvstudy.study.source_parts import Slopes


@dataclass(frozen=True)
class Shown:
    """What figures are made of: the tables of ``kvstudy parse`` and of the analysis.

    ``swept`` has all sizes, the others those that are shown.
    """

    results: Results
    series: pd.DataFrame
    resources: pd.DataFrame
    analysis: Analysis
    swept: Swept


def write_figures(
    study: Study, shown: Shown, stores: dict[str, Look], output: Path, only: list[str]
) -> list[Path]:
    """Draw the study's figures, also those of every report, or those named in ``only``.

    Returns their CSV files. Raises KvstudyError when ``only`` has a name that is no
    figure of the study.
    """
    figures = {figure.name: figure for figure in study.drawn_figures}
    for name in only:
        if name not in figures:
            there = ", ".join(figures)
            raise KvstudyError(
                f"{STUDIES / study.name / 'study.yaml'}: figures: no figure {name!r}; there are "
                f"{there}"
            )
    use_style()
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for name in only or figures:
        table, drawing = drawn(figures[name], study, shown, stores)
        path = output / f"{name}.csv"
        table.to_csv(path, index=False, lineterminator="\n")
        save(drawing, output / name)
        written.append(path)
    return written


def drawn(
    figure: DrawnFigure, study: Study, shown: Shown, stores: dict[str, Look]
) -> tuple[pd.DataFrame, Figure]:
    """What the figure shows, and the figure; ``use_style`` comes before it."""
    analysis = shown.analysis
    if isinstance(figure, Bars):
        table = bars(figure, study, shown.results)
        return table, draw(table, stores, _who(study))
    if isinstance(figure, Curves):
        table = curves_table(figure, study, shown.swept)
        return table, draw_curves(table, figure, study, stores)
    if isinstance(figure, Heatmap):
        table = heatmap_table(figure, study, shown.swept)
        return table, draw_heatmap(table, figure, stores)
    if isinstance(figure, Box):
        table = box_table(figure, study, shown.results, analysis.boxes)
        return table, draw_box(table, stores)
    if isinstance(figure, Averages):
        table = averages(figure, study, shown.swept)
        return table, draw(table, stores, "", panel_titles(table, study))
    if isinstance(figure, RunOrder):
        return analysis.order, draw_order(analysis.order, stores)
    if isinstance(figure, CpuBars):
        table = cpu_table(study, shown.results, analysis.intervals)
        return table, draw_cpu(table, study, stores)
    if isinstance(figure, RatioPlot):
        table = ratios(analysis.pairs, analysis.floor, study)
        return table, draw_ratios(table, study, _titles(stores))
    if isinstance(figure, Slopes):
        table = slopes(study, shown.results, analysis.pairs)
        return table, draw_slopes(table, study, stores)
    if isinstance(figure, Spectrum):
        table = spectrum_table(analysis.spectrum, figure.workload, study)
        return table, draw_spectrum(table, stores)
    if isinstance(figure, RelativePlot):
        table = relative_table(figure, analysis.rounds, shown.swept.published)
        return table, draw_relative(table, figure, _titles(stores))
    if isinstance(figure, BreakEvenPlot):
        table = break_even_table(figure, analysis.rounds, shown.swept.published)
        return table, draw_break_even(table, figure, _titles(stores), _who(study))
    if isinstance(figure, OpenLoopFigure):
        found = of_workload(analysis.open_rates, analysis.open_percentiles, figure.workload)
        table = open_loop_table(found, list(stores))
        return table, draw_open_loop(table, stores)
    table = timeline(
        figure.workload,
        study,
        shown.results,
        shown.series,
        shown.resources,
        analysis.steadiness,
    )
    return table, draw_timeline(table, stores)


def _who(study: Study) -> str:
    """Who published, in brackets; nothing for a study without a source."""
    return f"({study.source.author}, {study.source.year})" if study.source else ""


def _titles(stores: dict[str, Look]) -> dict[str, str]:
    return {name: of.title for name, of in stores.items()}
