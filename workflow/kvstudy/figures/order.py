"""The runs in the order of their measurement: does the machine drift?"""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from kvstudy.figures.draw import TEXT_WIDTH, Look

MARKERS = "osD^vP*X"


def draw_order(table: pd.DataFrame, stores: dict[str, Look]) -> Figure:
    """Each run's throughput against its cell's mean, over its place in the order.

    ``table`` is ``analysis.order.order``'s. Runs of cells with a single repetition
    have nothing to differ from and are left out.
    """
    figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.3), layout="constrained")
    ax.axhline(0, color="0.6", linewidth=0.6)
    shown = table.dropna(subset="residual")
    for index, (store, look) in enumerate(stores.items()):
        rows = shown[shown["store"] == store]
        if rows.empty:
            continue
        ax.plot(
            rows["sequence"],
            rows["residual"],
            MARKERS[index % len(MARKERS)],
            color=look.color,
            markersize=4,
            label=look.title,
        )
    for position in _repetitions(table):
        ax.axvline(position, color="0.8", linewidth=0.6, linestyle="--")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="Place in the order of measurement", ylabel="Throughput against\nits cell's mean")
    if len(shown):
        figure.legend(loc="outside upper center", ncols=6, frameon=False, handletextpad=0.3)
    else:
        text = (
            "no cell was measured twice" if len(table) else "no run has a known place in the order"
        )
        ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center")
    return figure


def _repetitions(table: pd.DataFrame) -> list[float]:
    """Where the next repetition begins."""
    numbers = table.sort_values("sequence")["repetition"].astype(int).tolist()
    return [place + 0.5 for place in range(1, len(numbers)) if numbers[place] > numbers[place - 1]]
