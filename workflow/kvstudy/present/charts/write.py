"""Charts beside the static figures: each is made of the CSV of its figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
from altair.utils.schemapi import debug_mode

from kvstudy.language.recorded import recorded
from kvstudy.present.charts.bars import averages_chart, bars_chart
from kvstudy.present.charts.box import box_chart
from kvstudy.present.charts.chart import Chart, as_json
from kvstudy.present.charts.cpu import cpu_chart
from kvstudy.present.charts.curves import curves_chart
from kvstudy.present.charts.heatmap import heatmap_chart
from kvstudy.present.charts.open_loop import open_loop_chart
from kvstudy.present.charts.order import order_chart
from kvstudy.present.charts.ratios import ratios_chart
from kvstudy.present.charts.rounds import break_even_chart, relative_chart
from kvstudy.present.charts.slope import slope_chart
from kvstudy.present.charts.spectrum import spectrum_chart
from kvstudy.present.charts.timeline import timeline_chart
from kvstudy.present.figures.draw import Look
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
from kvstudy.study.model import Study
from kvstudy.study.relative import BreakEvenPlot, RelativePlot
from kvstudy.study.source_parts import Slopes

# Columns with words; all others have numbers.
WORDS = [
    *["panel", "group", "store", "unit", "torn", "note", "workload", "parameters", "repetition"],
    *["operation", "strip", "verdict", "side", "metric", "saturated", "one", "other", "decision"],
    *["in_floor", "basis", "undecided_with", "origin", "time"],
]


def write_charts(study: Study, stores: Mapping[str, Look], tables: Iterable[Path]) -> list[Path]:
    """Write ``<figure>.vl.json`` beside each of ``tables``, the CSV of the study's figures."""
    figures = {figure.name: figure for figure in study.drawn_figures}
    written = []
    for table in tables:
        figure = figures[table.name.removesuffix(".csv")]
        path = table.with_name(f"{figure.name}.vl.json")
        path.write_text(chart_text(figure, read_figure(table), study, stores), encoding="utf-8")
        written.append(path)
    return written


def read_figure(path: Path) -> pd.DataFrame:
    """What a figure shows, from its CSV: exact numbers, and words, which may be empty."""
    # Only what is empty has no value: a workload may be called null.
    words = dict.fromkeys(WORDS, str)
    table = pd.read_csv(path, dtype=words, keep_default_na=False, na_values=[""])
    there = [name for name in WORDS if name in table]
    return table.fillna(dict.fromkeys(there, "")).astype(dict.fromkeys(there, str))


def chart_text(
    figure: DrawnFigure, table: pd.DataFrame, study: Study, stores: Mapping[str, Look]
) -> str:
    """The specification of ``figure`` as JSON; ``table`` as ``read_figure`` gives it."""
    # Else Altair checks every part of it against the schema, which takes seconds.
    with debug_mode(False):
        return as_json(chart_of(figure, table, study, stores).spec(figure.caption))


def chart_of(
    figure: DrawnFigure, table: pd.DataFrame, study: Study, stores: Mapping[str, Look]
) -> Chart:
    """The chart of ``figure``, whose CSV is ``table``."""
    titles = {name: look.title for name, look in stores.items()}
    if "note" in table:
        table = table.assign(note=table["note"].map(recorded))
    if isinstance(figure, Bars):
        return bars_chart(table, figure, study, stores)
    if isinstance(figure, Curves):
        return curves_chart(table, figure, study, stores)
    if isinstance(figure, Heatmap):
        return heatmap_chart(table, figure, stores)
    if isinstance(figure, Box):
        return box_chart(table, figure, stores)
    if isinstance(figure, Averages):
        return averages_chart(table, figure, study, stores)
    if isinstance(figure, RunOrder):
        return order_chart(table, stores)
    if isinstance(figure, CpuBars):
        return cpu_chart(table, study, stores)
    if isinstance(figure, RatioPlot):
        return ratios_chart(table, study, titles)
    if isinstance(figure, Slopes):
        return slope_chart(table, study, stores)
    if isinstance(figure, Spectrum):
        return spectrum_chart(table, stores)
    if isinstance(figure, RelativePlot):
        return relative_chart(table, figure, titles)
    if isinstance(figure, BreakEvenPlot):
        source = f"({study.source.author}, {study.source.year})" if study.source else ""
        return break_even_chart(table, figure, titles, source)
    if isinstance(figure, OpenLoopFigure):
        return open_loop_chart(table, figure.workload, stores)
    return timeline_chart(table, figure.workload, stores)
