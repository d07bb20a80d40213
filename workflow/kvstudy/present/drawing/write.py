"""Writing a study's figures: CSV, PDF, SVG and PNG, and charts beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from altair.utils.schemapi import debug_mode

from kvstudy.analyse.run import Run
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.drawing.chart import as_json
from kvstudy.present.drawing.draw import DrawnFigure, Looks, save, use_style

# Columns with words; all others have numbers.
WORDS = [
    *["panel", "group", "store", "unit", "broken", "note", "workload", "parameters", "repetition"],
    *["operation", "strip", "verdict", "side", "metric", "saturated", "one", "other", "decision"],
    *["in_floor", "origin", "time", "runs"],
]


def write_figures(run: Run, output: Path, only: list[str]) -> list[Path]:
    """Draw the run's figures, also those of every report, or those named in ``only``.

    Returns their CSV files. Raises KvstudyError when ``only`` has a name that is no
    figure of the study.
    """
    figures = {figure.name: figure for figure in run.study.drawn_figures}
    for name in only:
        if name not in figures:
            raise KvstudyError(
                f"{run.study_file}: figures: no figure {name!r}; there are {', '.join(figures)}"
            )
    use_style()
    output.mkdir(parents=True, exist_ok=True)
    looks = Looks.of(run)
    return [
        write_figure(figures[name], figures[name].rows(run), looks, output)
        for name in only or figures
    ]


def write_figure(figure: DrawnFigure, rows: pd.DataFrame, looks: Looks, output: Path) -> Path:
    """Write the figure of ``rows`` to ``output``; its CSV. ``use_style`` comes before it."""
    path = output / f"{figure.name}.csv"
    rows.to_csv(path, index=False, lineterminator="\n")
    save(figure.draw(rows, looks), output / figure.name)
    return path


def write_charts(looks: Looks, tables: Iterable[Path]) -> list[Path]:
    """Write ``<figure>.vl.json`` beside each of ``tables``, the CSV of the study's figures."""
    figures = {figure.name: figure for figure in looks.study.drawn_figures}
    written = []
    for table in tables:
        figure = figures[table.name.removesuffix(".csv")]
        path = table.with_name(f"{figure.name}.vl.json")
        path.write_text(chart_text(figure, read_figure(table), looks), encoding="utf-8")
        written.append(path)
    return written


def read_figure(path: Path) -> pd.DataFrame:
    """What a figure shows, from its CSV: exact numbers, and words, which may be empty."""
    # Only what is empty has no value: a workload may be called null.
    words = dict.fromkeys(WORDS, str)
    table = pd.read_csv(path, dtype=words, keep_default_na=False, na_values=[""])
    there = [name for name in WORDS if name in table]
    return table.fillna(dict.fromkeys(there, "")).astype(dict.fromkeys(there, str))


def chart_text(figure: DrawnFigure, table: pd.DataFrame, looks: Looks) -> str:
    """The specification of ``figure`` as JSON; ``table`` as ``read_figure`` gives it."""
    if "note" in table:
        table = table.assign(note=table["note"].map(sentence))
    # Else Altair checks every part of it against the schema, which takes seconds.
    with debug_mode(False):
        return as_json(figure.chart(table, looks).spec(figure.caption))
