"""The forest plot: each store's change from run A to run B with its interval."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.present.drawing.draw import TEXT_WIDTH, Style, number_axis
from kvstudy.present.figures.ratios import ticks_of
from kvstudy.present.typeset.rich_text import EQUAL, TIE
from kvstudy.present.typeset.table import interval
from kvstudy.stats.ratios import margin_bounds

# Lines that a page holds: rows and the workloads above them.
MOST_LINES = 34
LINE_HEIGHT, EDGES = 0.2, 0.8
# Letters of a store's title that fit next to the axis.
LONGEST_TITLE = 28
# A longer interval is cut and ends in an arrow: one row must not squeeze the others.
LONGEST = 3.0
# Of the figure, in widths of the axis.
LEFT_EDGE, RIGHT_EDGE = -0.31 / 0.41, 0.69 / 0.41


def marks(row) -> str:
    """``=`` for equal within the margin, ``~ 12`` for undecided, ``?`` for one run."""
    if row.different == "":
        return "?"
    if row.equal == "yes":
        return EQUAL
    if row.different == "yes":
        return ""
    return TIE if pd.isna(row.would_decide) else f"{TIE} {row.would_decide:.0f}"


def pages(changes: pd.DataFrame) -> list[pd.DataFrame]:
    """``changes`` in parts that fit on a page each."""
    parts: list[list[int]] = [[]]
    lines, last = 0, None
    for index, place in enumerate(zip(changes["workload"], changes["parameters"], strict=True)):
        needed = 1 if place == last else 2
        if lines + needed > MOST_LINES:
            parts.append([])
            lines, needed = 0, 2
        parts[-1].append(index)
        lines, last = lines + needed, place
    return [changes.iloc[part] for part in parts if part]


def draw_forest(
    part: pd.DataFrame, changes: pd.DataFrame, labels: dict[tuple, str], looks: dict[str, Style]
) -> Figure:
    """One row for each line of ``part``, on the axis of all ``changes``.

    ``labels`` are the workloads' names by (workload, parameters), which are above their
    rows. The band is the margin within which a change counts as none.
    """
    low, high = _limits(changes)
    groups = list(part.groupby(["workload", "parameters"], sort=False))
    lines = len(part) + len(groups)
    height = EDGES + LINE_HEIGHT * lines
    figure, ax = plt.subplots(figsize=(TEXT_WIDTH, height))
    figure.subplots_adjust(left=0.31, right=0.72, top=1 - 0.3 / height, bottom=0.45 / height)
    ax.set(xscale="log", xlim=(low, high), ylim=(lines - 0.5, -0.5), yticks=[])
    ax.axvspan(*margin_bounds(), color="0.92", zorder=0)
    ax.axvline(1, color="0.35", linewidth=0.8, zorder=1)
    ax.grid(True, axis="x")
    _beside(ax, 1.03, -0.9, "change, 95 % interval")
    y = 0
    for place, rows in groups:
        _beside(ax, LEFT_EDGE, y, labels[place], weight="bold")
        for row in rows.itertuples():
            y += 1
            _row(ax, row, y, looks[row.store], low, high)
        y += 1
    number_axis(ax.xaxis, FixedLocator(ticks_of(low, high)))
    ax.minorticks_off()
    ax.set_xlabel("Change from run A to run B (log axis)")
    ax.spines[["left", "top", "right"]].set_visible(False)
    return figure


def _row(ax, row, y: int, look: Style, low: float, high: float) -> None:
    style = {"color": look.color, "markersize": 5}
    if pd.notna(row.low):
        start, end = max(row.low, low), min(row.high, high)
        ax.hlines(y, start, end, color=look.color, linewidth=1.6, zorder=2)
        ax.plot(start, y, "<" if row.low < low else "|", clip_on=False, zorder=2, **style)
        ax.plot(end, y, ">" if row.high > high else "|", clip_on=False, zorder=2, **style)
    ax.plot(row.change, y, look.marker, zorder=3, **style)
    title = look.title
    if len(title) > LONGEST_TITLE:
        title = title[: LONGEST_TITLE - 1] + "\N{HORIZONTAL ELLIPSIS}"
    _beside(ax, -0.03, y, title, ha="right")
    _beside(ax, 1.03, y, f"{significant(row.change)}  ({interval(row.change, row.low, row.high)})")
    _beside(ax, RIGHT_EDGE, y, marks(row), ha="right")


def _limits(changes: pd.DataFrame) -> tuple[float, float]:
    """Bounds of the axis: around all changes, and of their intervals what is not too long."""
    points = changes["change"]
    low, high = min(points.min(), 1 / 1.25), max(points.max(), 1.25)
    low = min(low, max(changes["low"].fillna(low).min(), low / LONGEST))
    high = max(high, min(changes["high"].fillna(high).max(), high * LONGEST))
    return low / 1.05, high * 1.05


def _beside(ax, x: float, y: float, text: str, ha: str = "left", **style) -> None:
    """``text`` in the row ``y``; ``x`` is a share of the axis' width."""
    place = {"transform": ax.get_yaxis_transform(), "va": "center", "ha": ha}
    ax.text(x, y, text, fontsize=8, **place, **style)
