"""Legends are whole: none reaches over the edge of its figure, however many stores there are."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from kvstudy.layout.looks import StyleSheet, styles
from kvstudy.render.paper import use_style
from kvstudy.study.parts import StoreUse

from . import small_results as small
from .every_chart import Drawn, every_chart

TITLES = {
    "short": "Store {}",
    "long": "PostgreSQL {}, synchronous_commit=off, shared_buffers=512MB",
    "wider than the page": "PostgreSQL {}: " + "an option and its choice, " * 6,
}


@pytest.fixture(scope="module")
def charts() -> dict[str, Drawn]:
    use_style()
    return every_chart()


def figures(charts: dict[str, Drawn], count: int, title: str) -> Iterator[tuple[str, plt.Figure]]:
    """Each kind of figure with so many stores, all of which have the values of the first one."""
    for name, chart in charts.items():
        table, stores = chart.table, list(chart.styles)
        if "store" in table and name != "run-order":
            shown = table[table["store"] == table.dropna(axis=1, how="all")["store"].iloc[0]]
            stores = [f"s{number}" for number in range(count)]
            alike = [shown.assign(store=store) for store in stores]
            if "line" in shown:
                # A line for each store, at one set of the other sizes.
                shown = shown[shown["line"] == shown["line"].iloc[0]]
                alike = [shown.assign(store=s, line=n) for n, s in enumerate(stores)]
            table = pd.concat(alike, ignore_index=True)
        titles = {store: title.format(number) for number, store in enumerate(stores)}
        uses = [StoreUse(store="redis", name=store) for store in stores]
        study = chart.study.model_copy(update={"stores": uses})
        of_stores = styles(titles, dict.fromkeys(stores, "#0072b2"))
        yield name, small.painted(chart.figure, table, StyleSheet(study, of_stores))


MOST = {"short": (2, 8), "long": (5, 15), "wider than the page": (2,)}


@pytest.mark.parametrize(("long", "count"), [(long, n) for long, of in MOST.items() for n in of])
def test_legends_fit_and_cover_nothing(charts, long: str, count: int):
    legends, title = set(), TITLES[long]
    for name, figure in figures(charts, count, title):
        figure.draw_without_rendering()
        for legend in figure.legends:
            box, page = legend.get_window_extent(), figure.bbox
            assert box.x0 >= page.x0 - 1, name
            assert box.x1 <= page.x1 + 1, name
            assert box.y0 >= page.y0 - 1, name
            assert box.y1 <= page.y1 + 1, name
            assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes), name
            if any(title.format(0)[:12] in text.get_text() for text in legend.get_texts()):
                legends.add(name)
        plt.close(figure)
    assert {"speed", "lines", "box", "means", "spectrum", "tradeoff"} <= legends
