"""The forest plot: each store's change from run A to run B with its interval."""

from __future__ import annotations

import pandas as pd

from kvstudy.exhibits.table import interval
from kvstudy.layout import plot
from kvstudy.layout.looks import Style
from kvstudy.layout.numbers import significant
from kvstudy.layout.rich_text import EQUAL, TIE
from kvstudy.stats.ratios import margin_bounds

# Lines that a page holds: rows and the workloads above them.
MOST_LINES = 34
LINE_HEIGHT, EDGES = 0.2, 0.8
# Letters of a store's title that fit next to the axis.
LONGEST_TITLE = 28
# A longer interval is cut and ends in an arrow: one row must not squeeze the others.
LONGEST = 3.0
# The sides of the axis in the figure, and where texts are, in widths of the axis.
SIDES = 0.31, 0.72
LEFT_EDGE, CHANGE_EDGE, RIGHT_EDGE = -0.75, 1.03, 1.68


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


def forest_plot(
    part: pd.DataFrame, changes: pd.DataFrame, labels: dict[tuple, str], looks: dict[str, Style]
) -> plot.Plot:
    """One row for each line of ``part``, on the axis of all ``changes``.

    ``labels`` are the workloads' names by (workload, parameters), which are above their
    rows. The band is the margin within which a change counts as none.
    """
    low, high = _limits(changes)
    places = list(zip(part["workload"], part["parameters"], strict=True))
    groups = list(dict.fromkeys(places))
    # Each workload is a line above those of its stores.
    heads = pd.DataFrame({"label": [labels[place] for place in groups], "change": 1.0})
    heads["line"] = [places.index(place) + number for number, place in enumerate(groups)]
    titles = [looks[store].title for store in part["store"]]
    rows = part.assign(
        name=titles,
        line=[n + groups.index(place) + 1.0 for n, place in enumerate(places)],
        start=part["low"].clip(low),
        end=part["high"].clip(upper=high),
        left=part["low"] < low,
        right=part["high"] > high,
        whole_left=part["low"] >= low,
        whole_right=part["high"] <= high,
        title=[title if len(title) <= LONGEST_TITLE else _shortened(title) for title in titles],
        text=[
            f"{significant(change)}  ({interval(change, *ends)})"
            for change, *ends in part[["change", "low", "high"]].itertuples(index=False)
        ],
        mark=[*map(marks, part.itertuples())],
    )
    lines = len(part) + len(groups)
    head = pd.DataFrame([{"label": "change, 95 % interval", "line": -0.9, "change": 1.0}])
    text = {"middle": True, "align": "left"}
    layers = [
        plot.Band(*margin_bounds()),
        plot.Rule(1, "x"),
        plot.Whisker("start", "end", "x", 1.6),
        plot.Points(x="start", marker="<", where="left", size=5),
        plot.Points(x="start", marker="|", where="whole_left", size=5),
        plot.Points(x="end", marker=">", where="right", size=5),
        plot.Points(x="end", marker="|", where="whole_right", size=5),
        plot.Points(size=5),
        plot.Label("label", rows=head, edge=CHANGE_EDGE, **text),
        plot.Label("label", rows=heads, edge=LEFT_EDGE, **text),
        plot.Label("title", edge=-0.03, middle=True, align="right"),
        plot.Label("text", edge=CHANGE_EDGE, **text),
        plot.Label("mark", edge=RIGHT_EDGE, middle=True, align="right"),
    ]
    x = plot.axis("change", "Change from run A to run B (log axis)", low, high, log=True)
    y = plot.Axis("line", "", lines - 0.5, -0.5, (), ())
    stores = [looks[store] for store in dict.fromkeys(part["store"])]
    panel = plot.Panel("", rows, x, y, layers, stores)
    return plot.Plot([panel], first=EDGES, each=LINE_HEIGHT * lines, sides=SIDES)


def _shortened(title: str) -> str:
    return title[: LONGEST_TITLE - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _limits(changes: pd.DataFrame) -> tuple[float, float]:
    """Bounds of the axis: around all changes, and of their intervals what is not too long."""
    points = changes["change"]
    low, high = min(points.min(), 1 / 1.25), max(points.max(), 1.25)
    low = min(low, max(changes["low"].fillna(low).min(), low / LONGEST))
    high = max(high, min(changes["high"].fillna(high).max(), high * LONGEST))
    return low / 1.05, high * 1.05
