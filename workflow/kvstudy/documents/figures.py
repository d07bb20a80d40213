"""Writing a study's figures: CSV, PDF, SVG and PNG, and charts next to them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.errors import InputError
from kvstudy.exhibits.figure import DrawnFigure, plot_of, read_figure
from kvstudy.layout.looks import StyleSheet
from kvstudy.render.paper import paint, save, use_style
from kvstudy.render.screen import as_json, spec


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
    chart.write_text(as_json(spec(plot)), encoding="utf-8")
    return path
