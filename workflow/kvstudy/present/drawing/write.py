"""Writing a study's figures: CSV, PDF, SVG and PNG, and charts next to them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.errors import InputError
from kvstudy.language.reasons import sentence
from kvstudy.present.drawing.looks import StyleSheet
from kvstudy.present.drawing.paper import paint, save, use_style
from kvstudy.present.drawing.plot import DrawnFigure, Plot
from kvstudy.present.drawing.screen import as_json, spec

# Columns with words; all others have numbers.
WORDS = [
    *["panel", "group", "store", "unit", "broken", "note", "workload", "parameters", "repetition"],
    *["operation", "strip", "verdict", "side", "metric", "saturated", "one", "other", "decision"],
    *["in_floor", "origin", "time", "runs", "difference"],
]


def write_figures(run: Run, output: Path, only: list[str]) -> list[Path]:
    """Draw the run's figures, also those of every report, or those named in ``only``.

    Returns their CSV files. Raises InputError when ``only`` has a name that is no
    figure of the study.
    """
    figures = {figure.name: figure for figure in run.study.drawn_figures}
    for name in only:
        if name not in figures:
            raise InputError(
                f"{run.study_file}: figures: no figure {name!r}; there are {', '.join(figures)}"
            )
    use_style()
    output.mkdir(parents=True, exist_ok=True)
    looks = StyleSheet.of(run)
    return [
        write_figure(figures[name], figures[name].rows(run), looks, output)
        for name in only or figures
    ]


def write_figure(figure: DrawnFigure, rows: pd.DataFrame, looks: StyleSheet, output: Path) -> Path:
    """Write all forms of ``rows`` to ``output``; returns the CSV. ``use_style`` comes before it."""
    path = output / f"{figure.name}.csv"
    rows.to_csv(path, index=False, lineterminator="\n")
    table = read_figure(path)
    plot = plot_of(figure, table, looks)
    save(paint(plot), output / figure.name)
    chart = output / f"{figure.name}.vl.json"
    chart.write_text(as_json(spec(figure, plot, looks)), encoding="utf-8")
    return path


def read_figure(path: Path) -> pd.DataFrame:
    """Read a figure's CSV: exact numbers, and words, which may be empty."""
    # Only what is empty has no value: a workload may be called null.
    words = dict.fromkeys(WORDS, str)
    table = pd.read_csv(path, dtype=words, keep_default_na=False, na_values=[""])
    columns = [name for name in WORDS if name in table]
    return table.fillna(dict.fromkeys(columns, "")).astype(dict.fromkeys(columns, str))


def plot_of(figure: DrawnFigure, table: pd.DataFrame, looks: StyleSheet) -> Plot:
    """Return what both forms show of a ``table``, with notes in the reader's language.

    Where there is nothing to show, it is a plot without panels.
    """
    if words := figure.nothing(table):
        return Plot(note=words)
    if "note" in table:
        table = table.assign(note=table["note"].map(sentence))
    return figure.plot(table, looks)
