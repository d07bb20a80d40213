"""The forest plot: each store's change from run A to run B with its interval."""

from __future__ import annotations

from math import isnan, log

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kvstudy.comparison.words import interval, marks, number
from kvstudy.figures.draw import TEXT_WIDTH, Look
from kvstudy.figures.order import MARKERS
from kvstudy.stats.ratios import margin_bounds

# Rows that are readable on one page.
MOST_ROWS = 30
ROW_HEIGHT, EDGES = 0.235, 0.75
# A longer interval is cut and ends in an arrow: one row must not squeeze the others.
LONGEST = 3.0
TICKS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.67, 0.8, 0.9]
TICKS += [1, *(1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)]


def pages(changes: pd.DataFrame) -> list[pd.DataFrame]:
    """``changes`` in as few parts of about the same length as fit on a page each."""
    count = -(-len(changes) // MOST_ROWS)
    if not count:
        return []
    length = -(-len(changes) // count)
    return [changes.iloc[start : start + length] for start in range(0, len(changes), length)]


def draw_forest(
    part: pd.DataFrame, changes: pd.DataFrame, labels: dict[tuple, str], looks: dict[str, Look]
) -> Figure:
    """One row for each line of ``part``, on the axis of all ``changes``.

    ``labels`` are the workloads' names by (workload, parameters). The band is the margin
    within which a change counts as none.
    """
    low, high = _limits(changes)
    height = EDGES + ROW_HEIGHT * len(part)
    figure, ax = plt.subplots(figsize=(TEXT_WIDTH, height))
    figure.subplots_adjust(left=0.30, right=0.76, top=1 - 0.3 / height, bottom=0.45 / height)
    ax.set(xscale="log", xlim=(low, high), ylim=(len(part) - 0.5, -0.5))
    ax.axvspan(*margin_bounds(), color="0.92", zorder=0)
    ax.axvline(1, color="0.35", linewidth=0.8, zorder=1)
    ax.grid(False, axis="y")
    ax.grid(True, axis="x")
    stores = list(looks)
    last = None
    for y, row in enumerate(part.itertuples()):
        look = looks[row.store]
        marker = MARKERS[stores.index(row.store) % len(MARKERS)]
        _interval(ax, row, y, look.color, low, high)
        ax.plot(row.change, y, marker, color=look.color, markersize=5, zorder=3)
        place = (row.workload, row.parameters)
        _beside(ax, -0.64, y, labels[place] if place != last else "", weight="bold")
        _beside(ax, -0.02, y, look.title, ha="right")
        _beside(ax, 1.03, y, f"{number(row.change)}  {interval(row.low, row.high)}")
        _beside(ax, 1.5, y, marks(row), ha="right")
        if last is not None and place != last:
            ax.axhline(y - 0.5, color="0.85", linewidth=0.5)
        last = place
    _beside(ax, 1.03, -0.95, "change, 95 % interval", va="center")
    ax.set_yticks([])
    shown = _ticks(low, high)
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_xlabel("Change from run A to run B (log axis)")
    for side in ("left", "top", "right"):
        ax.spines[side].set_visible(False)
    return figure


def _limits(changes: pd.DataFrame) -> tuple[float, float]:
    """Bounds of the axis: around all changes, and of their intervals what is not too long."""
    points = changes["change"]
    low, high = min(points.min(), 1 / 1.25), max(points.max(), 1.25)
    low = min(
        low, max(changes["low"].min(), low / LONGEST) if changes["low"].notna().any() else low
    )
    if changes["high"].notna().any():
        high = max(high, min(changes["high"].max(), high * LONGEST))
    return low / 1.05, high * 1.05


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between the bounds, apart enough to be read."""
    inside = [tick for tick in TICKS if low <= tick <= high]
    least = log(high / low) / 9
    chosen = [1.0]
    for side in (
        [tick for tick in inside if tick > 1],
        [tick for tick in reversed(inside) if tick < 1],
    ):
        last = 1.0
        for tick in side:
            if abs(log(tick / last)) >= least:
                chosen.append(tick)
                last = tick
    return sorted(chosen)


def _interval(ax, row, y: int, color: str, low: float, high: float) -> None:
    if isnan(row.low):
        return
    start, end = max(row.low, low), min(row.high, high)
    ax.hlines(y, start, end, color=color, linewidth=1.6, zorder=2)
    for cut, at, arrow in ((row.low < low, start, "<"), (row.high > high, end, ">")):
        ax.plot(at, y, arrow if cut else "|", color=color, markersize=5, clip_on=False, zorder=2)


def _beside(ax, x: float, y: float, text: str, ha: str = "left", **style) -> None:
    """``text`` in the row ``y``; ``x`` is a share of the axis' width."""
    style = {"va": "center", "fontsize": 8} | style
    ax.text(x, y, text, transform=ax.get_yaxis_transform(), ha=ha, **style)
