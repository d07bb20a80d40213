"""Every two stores compared, with the noise floor behind: a forest plot per workload."""

from __future__ import annotations

import math
from itertools import combinations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from kvstudy.language.current import _
from kvstudy.language.locale import decimal
from kvstudy.present.figures.draw import DARK, TEXT_WIDTH
from kvstudy.stats.ratios import Decision
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

COLUMNS = [
    *["workload", "parameters", "one", "other", "ratio", "low", "high"],
    *["decision", "in_floor", "floor"],
]
ACROSS = 4
GREY = "0.6"
MOST_TICKS = 5


def ratios(pairs: pd.DataFrame, floor: pd.DataFrame, study: Study) -> pd.DataFrame:
    """One row per workload and pair of stores, in the study's order: throughput one/other.

    ``low`` and ``high`` are the 95 % interval, ``decision`` and ``in_floor`` as in
    ``analysis.pairs``, ``floor`` the workload's noise floor; NaN where unknown.
    """
    known = floor.set_index(["workload", "parameters"])["floor"].to_dict()
    names = [*study.workload_names, MEAN]
    places = {pair: place for place, pair in enumerate(combinations(study.store_names, 2))}
    rows = []
    for row in pairs.itertuples():
        one, other = row.faster, row.slower
        numbers = [row.ratio, row.low, row.high]
        if (one, other) not in places:
            one, other = other, one
            numbers = [1 / row.ratio, 1 / row.high, 1 / row.low]
        limit = known.get((row.workload, row.parameters))
        verdict = [row.decision, row.in_floor, limit]
        rows.append([row.workload, row.parameters, one, other, *numbers, *verdict])
    rows.sort(key=lambda row: (names.index(row[0]), row[1], places[row[2], row[3]]))
    return pd.DataFrame(rows, columns=COLUMNS)


def draw_ratios(table: pd.DataFrame, study: Study, titles: dict[str, str]) -> Figure:
    """Draw ``ratios``: one panel per workload, one line per pair; the floor is a grey band.

    Filled points are differences, squares are equal; hollow points are undecided, grey ones
    not above the noise floor.
    """
    labels = {
        pair: f"{titles[pair[0]]} / {titles[pair[1]]}"
        for pair in dict.fromkeys(zip(table["one"], table["other"], strict=True))
    }
    panels = list(table.groupby(["workload", "parameters"], sort=False))
    across = min(len(panels), ACROSS) or 1
    down = -(-len(panels) // across) or 1
    height = 0.35 + down * (0.55 + 0.2 * max(len(labels), 1))
    figure, axes = plt.subplots(
        down, across, figsize=(TEXT_WIDTH, height), sharey=True, squeeze=False, layout="constrained"
    )
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    if not panels:
        axes[0, 0].set_axis_off()
        axes[0, 0].set_visible(True)
        nothing = _("no two stores have a repetition in common")
        axes[0, 0].text(0.5, 0.5, nothing, ha="center")
    sizes = table.groupby("workload")["parameters"].nunique()
    for ax, ((workload, parameters), rows) in zip(axes.flat, panels, strict=False):
        _panel(ax, rows, list(labels))
        use = study.workload(workload)
        # The title of the mean is wider than a panel.
        title = use.short if workload == MEAN else use.title
        several = sizes[workload] > 1
        ax.set_title(f"{title}\n{parameters}" if several else title, loc="left", fontsize=8)
    if panels:
        axes[0, 0].set_yticks(range(len(labels)), labels.values())
        axes[0, 0].set_ylim(len(labels) - 0.5, -0.5)
        figure.supxlabel(_("Ratio of the throughputs"), fontsize=8)
    return figure


def _panel(ax: Axes, rows: pd.DataFrame, pairs: list[tuple[str, str]]) -> None:
    ax.set_xscale("log")
    ax.axvline(1, color="0.4", linewidth=0.6)
    floor = rows["floor"].iloc[0]
    if pd.notna(floor):
        ax.axvspan(1 / floor, floor, color="0.92", linewidth=0, gid="noise-floor")
    for row in rows.itertuples():
        y = pairs.index((row.one, row.other))
        color = GREY if row.in_floor == "yes" else DARK
        if pd.notna(row.low):
            ax.hlines(y, row.low, row.high, color=color, linewidth=1)
        filled = "white" if row.decision == Decision.UNDECIDED else color
        shape = "s" if row.decision == Decision.EQUAL else "o"
        ax.plot(row.ratio, y, shape, color=color, markerfacecolor=filled, markersize=4)
    ends = rows[["ratio", "low", "high"]].stack()
    if pd.notna(floor):
        ends = pd.concat([ends, pd.Series([floor, 1 / floor])])
    low, high = min(ends.min(), 0.9) / 1.1, max(ends.max(), 1.1) * 1.1
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(FixedLocator(ticks_of(low, high)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: decimal(f"{value:g}")))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.tick_params(axis="x", length=3)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)


def ticks_of(low: float, high: float) -> list[float]:
    """Two to five round numbers from ``low`` to ``high``, on a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Coarse steps first. Around 1 there is always a step of a tenth.
    for factors, every in [((1,), 4), ((1,), 3), ((1,), 2), ((1,), 1), ((1, 3), 1), ((1, 2, 5), 1)]:
        steps = [f * 10.0**d for d in decades if d % every == 0 for f in factors]
        inside = [step for step in steps if low <= step <= high]
        if len(inside) >= 3:
            break
    if len(inside) < 2:
        inside = [0.9, 1, 1.1]
    step = -(-len(inside) // MOST_TICKS)
    return inside[::step]
