"""Writing a study's bar charts as PDF, SVG and CSV."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.figures.bars import bars
from kvstudy.figures.draw import Look, draw, save, use_style
from kvstudy.study.model import Bars, Study
from kvstudy.tidy.results import Results


def write_figures(
    study: Study, results: Results, stores: dict[str, Look], output: Path, only: list[str]
) -> list[Path]:
    """Draw the figures of kind bars, or those named in ``only``; returns their CSV files.

    Raises KvstudyError when ``only`` has a name that is no bar chart of the study.
    """
    charts = {figure.name: figure for figure in study.figures if isinstance(figure, Bars)}
    for name in only:
        if name not in charts:
            raise KvstudyError(
                f"study.yaml: figures: no bar chart {name!r}; there are {', '.join(charts)}"
            )
    use_style()
    output.mkdir(parents=True, exist_ok=True)
    source = f"({study.source.author}, {study.source.year})" if study.source else ""
    written = []
    for name in only or charts:
        table = bars(charts[name], study, results)
        path = output / f"{name}.csv"
        table.to_csv(path, index=False, lineterminator="\n")
        save(draw(table, stores, source), output / name)
        written.append(path)
    return written
