"""A source's figures drawn from its published values alone."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from matplotlib.figure import Figure

from kvstudy.analyse.findings.rounds import COLUMNS
from kvstudy.analyse.tidy.files import CELLS, SUMMARY
from kvstudy.analyse.tidy.results import Results
from kvstudy.analyse.tidy.shown import published_only
from kvstudy.analyse.tidy.swept import PUBLISHED, Swept
from kvstudy.present.figures.bars import bars
from kvstudy.present.figures.break_even import break_even_table, draw_break_even
from kvstudy.present.figures.curves import curves_table, draw_curves
from kvstudy.present.figures.draw import Look, draw
from kvstudy.present.figures.relative import draw_relative, relative_table
from kvstudy.study.curves import Curves
from kvstudy.study.figure_kinds import Bars
from kvstudy.study.model import Study
from kvstudy.study.relative import BreakEvenPlot, RelativePlot

NO_ROUNDS = pd.DataFrame(columns=COLUMNS)
Drawn = tuple[pd.DataFrame, Figure]


def published_figure(
    figure: object, study: Study, values: pd.DataFrame, stores: dict[str, Look]
) -> Drawn | None:
    """What the figure shows, and the figure; None where nothing of it was published.

    ``values`` is as ``read_published`` gives it, ``stores`` the look of each store.
    """
    make = OF_KIND.get(type(figure))
    return make(figure, study, values, stores) if make and len(values) else None


def _bars(
    figure: Bars, study: Study, values: pd.DataFrame, stores: dict[str, Look]
) -> Drawn | None:
    nothing = pd.DataFrame(columns=["workload", "parameters"])
    results = Results(nothing, nothing, published_only(values, study))
    table = bars(figure, study, results, panels=("published",))
    there = set(table.dropna(subset="value")["store"])
    if not there:
        return None
    # A store without any bar is told in the text, not by an empty place in each group.
    table = table[table["store"].isin(there)]
    some = {name: look for name, look in stores.items() if name in there}
    return table, draw(table, some, f"({study.source.author}, {study.source.year})")


def _curves(
    figure: Curves, study: Study, values: pd.DataFrame, stores: dict[str, Look]
) -> Drawn | None:
    swept = Swept(
        study=study,
        scale=1.0,
        summary=SUMMARY.frame(),
        cells=CELLS.frame(),
        published=values,
    )
    table = curves_table(figure, study, swept)
    table = table[table["side"] == PUBLISHED].reset_index(drop=True)
    return (table, draw_curves(table, figure, study, stores)) if len(table) else None


def _relative(
    figure: RelativePlot, study: Study, values: pd.DataFrame, stores: dict[str, Look]
) -> Drawn | None:
    table = relative_table(figure, NO_ROUNDS, values)
    return (table, draw_relative(table, figure, _titles(stores))) if len(table) else None


def _break_even(
    figure: BreakEvenPlot, study: Study, values: pd.DataFrame, stores: dict[str, Look]
) -> Drawn | None:
    table = break_even_table(figure, NO_ROUNDS, values)
    source = f"({study.source.author}, {study.source.year})"
    drawing = draw_break_even(table, figure, _titles(stores), source) if len(table) else None
    return (table, drawing) if drawing else None


def _titles(stores: dict[str, Look]) -> dict[str, str]:
    return {name: of.title for name, of in stores.items()}


Maker = Callable[[object, Study, pd.DataFrame, dict[str, Look]], Drawn | None]
OF_KIND: dict[type, Maker] = {
    Bars: _bars,
    Curves: _curves,
    RelativePlot: _relative,
    BreakEvenPlot: _break_even,
}
