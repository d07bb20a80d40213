"""The runs in the order of their measurement: does the machine drift?"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from kvstudy.language.current import _
from kvstudy.language.locale import percent_sign
from kvstudy.present.figures.draw import TEXT_WIDTH, Look

MARKERS = "osD^vP*X"
CONTROL = "0.7"


def draw_order(table: pd.DataFrame, stores: dict[str, Look]) -> Figure:
    """Each run's throughput by the geometric mean of its setting, over its place in the order.

    ``table`` is ``analysis.order.order``'s, with residuals in logarithms; the axis has
    their ratios less one. Runs of a single repetition have nothing to differ from and
    are left out. What is not of ``stores`` is a control cell, and grey.
    """
    figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.3), layout="constrained")
    ax.axhline(0, color="0.6", linewidth=0.6)
    shown = table.dropna(subset="residual")
    controls = shown[~shown["store"].isin(list(stores))]
    # First, so that they hide no store.
    if len(controls):
        _points(ax, controls, "x", CONTROL, _("control cells"))
    for index, (store, look) in enumerate(stores.items()):
        rows = shown[shown["store"] == store]
        if len(rows):
            _points(ax, rows, MARKERS[index % len(MARKERS)], look.color, look.title)
    for position in _repetitions(table):
        ax.axvline(position, color="0.8", linewidth=0.6, linestyle="--")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=percent_sign()))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(
        xlabel=_("Place in the order of measurement"),
        ylabel=_("Throughput against\nthe geometric mean"),
    )
    if len(shown):
        figure.legend(loc="outside upper center", ncols=6, frameon=False, handletextpad=0.3)
    else:
        ax.text(0.5, 0.5, why_nothing(table), transform=ax.transAxes, ha="center")
    return figure


def why_nothing(table: pd.DataFrame) -> str:
    """Why no run of ``table`` is drawn."""
    if len(table):
        return _("no cell was measured twice")
    return _("no run has a known place in the order")


def _points(ax: Axes, rows: pd.DataFrame, marker: str, color: str, label: str) -> None:
    change = np.expm1(rows["residual"].astype(float))
    ax.plot(rows["sequence"], change, marker, color=color, markersize=4, label=label)


def _repetitions(table: pd.DataFrame) -> list[float]:
    """Where the next repetition begins."""
    numbers = table.sort_values("sequence")["repetition"].astype(int).tolist()
    return [place + 0.5 for place in range(1, len(numbers)) if numbers[place] > numbers[place - 1]]
