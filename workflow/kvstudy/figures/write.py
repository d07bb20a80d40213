"""Writing a study's figures as PDF, SVG and CSV."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.figures import order
from kvstudy.figures.bars import bars
from kvstudy.figures.draw import Look, draw, save, use_style
from kvstudy.study.model import Bars, Study
from kvstudy.tidy.results import Results


def write_figures(
    study: Study,
    results: Results,
    order_table: pd.DataFrame,
    stores: dict[str, Look],
    output: Path,
    only: list[str],
) -> list[Path]:
    """Draw the study's bar charts and the run order, or those named in ``only``.

    ``order_table`` is ``analysis.order.order``'s. Returns their CSV files. Raises
    KvstudyError when ``only`` has a name that is no figure of the study.
    """
    charts = {figure.name: figure for figure in study.figures if isinstance(figure, Bars)}
    for name in only:
        if name not in (*charts, order.NAME):
            there = ", ".join([*charts, order.NAME])
            raise KvstudyError(f"study.yaml: figures: no figure {name!r}; there are {there}")
    use_style()
    output.mkdir(parents=True, exist_ok=True)
    source = f"({study.source.author}, {study.source.year})" if study.source else ""
    written = []
    for name in only or [*charts, order.NAME]:
        if name == order.NAME:
            table, figure = order_table, order.draw_order(order_table, stores)
        else:
            table = bars(charts[name], study, results)
            figure = draw(table, stores, source)
        path = output / f"{name}.csv"
        table.to_csv(path, index=False, lineterminator="\n")
        save(figure, output / name)
        written.append(path)
    return written
