"""Writing a study's figures as PDF, SVG and CSV."""

from __future__ import annotations

from pathlib import Path

from kvstudy.analysis.files import Analysis
from kvstudy.analysis.open_loop import of_workload
from kvstudy.errors import KvstudyError
from kvstudy.figures import open_loop, order
from kvstudy.figures.bars import bars
from kvstudy.figures.draw import Look, draw, save, use_style
from kvstudy.study.model import Bars, Study
from kvstudy.tidy.results import Results


def write_figures(
    study: Study,
    results: Results,
    analysis: Analysis,
    stores: dict[str, Look],
    output: Path,
    only: list[str],
) -> list[Path]:
    """Draw the study's figures and those of every report, or those named in ``only``.

    Returns their CSV files. Raises KvstudyError when ``only`` has a name that is no
    figure of the study.
    """
    charts = {figure.name: figure for figure in study.figures if isinstance(figure, Bars)}
    at_rates = {figure.name: figure for figure in study.open_loop_figures}
    known = [*charts, order.NAME, *at_rates]
    for name in only:
        if name not in known:
            there = ", ".join(known)
            raise KvstudyError(f"study.yaml: figures: no figure {name!r}; there are {there}")
    use_style()
    output.mkdir(parents=True, exist_ok=True)
    source = f"({study.source.author}, {study.source.year})" if study.source else ""
    written = []
    for name in only or known:
        if name == order.NAME:
            table, figure = analysis.order, order.draw_order(analysis.order, stores)
        elif name in at_rates:
            workload = at_rates[name].workload
            found = of_workload(analysis.open_rates, analysis.open_percentiles, workload)
            table = open_loop.table_of(found, list(stores))
            figure = open_loop.draw_open_loop(table, stores)
        else:
            table = bars(charts[name], study, results)
            figure = draw(table, stores, source)
        path = output / f"{name}.csv"
        table.to_csv(path, index=False, lineterminator="\n")
        save(figure, output / name)
        written.append(path)
    return written
