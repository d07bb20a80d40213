"""Service and intended latencies over the load: what does a fixed rate of requests see?"""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator

from kvstudy.analyse.findings.open_loop import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.present.figures.draw import DARK, TEXT_WIDTH, Look
from kvstudy.stats.percentiles import ENOUGH_BEYOND

MOST_COLUMNS = 4
# Percentage, its marker: the marker tells them apart in grey print too.
MARKERS = {50.0: "o", 99.0: "s", 99.9: "^"}
MISSED = "x"
TIMES = {SERVICE_TIME: N_("service time"), INTENDED_TIME: N_("intended time")}
COLUMNS = [
    *["store", "parameters", "load", "time", "percent", "value", "low", "high"],
    *["n", "beyond", "reached"],
]


def open_loop_table(found: pd.DataFrame, stores: list[str]) -> pd.DataFrame:
    """What the figure shows of ``tables.open_loop.rows``: latencies (us) of all operations."""
    chosen = found[
        (found["operation"] == ALL)
        & found["percent"].isin(list(MARKERS))
        & (found["beyond"] >= ENOUGH_BEYOND)
        & found["store"].isin(stores)
    ]
    return chosen[COLUMNS].reset_index(drop=True)


def draw_open_loop(table: pd.DataFrame, stores: dict[str, Look]) -> Figure:
    """A panel per store: percentiles over the load, dashed service and solid intended time.

    A load whose rate was not reached is crossed.
    """
    columns = min(len(stores), MOST_COLUMNS)
    lines = math.ceil(len(stores) / columns)
    figure, axes = plt.subplots(
        lines,
        columns,
        figsize=(TEXT_WIDTH, 0.6 + 1.75 * lines),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, (store, look) in zip(axes.flat, stores.items(), strict=False):
        _panel(ax, table[table["store"] == store], look)
    for ax in axes.flat[len(stores) :]:
        ax.set_visible(False)
    for row in axes:
        row[0].set_ylabel(_("Latency (ms)"))
    loads = sorted(table["load"].unique())
    if loads:
        axes[0, 0].set_xticks(loads, [decimal(f"{load:g} %") for load in loads])
        # A single load stands in the middle.
        room = max(0.2 * (loads[-1] - loads[0]), 5)
        axes[0, 0].set_xlim(loads[0] - room, loads[-1] + room)
    figure.supxlabel(_("Load: rate by the throughput in the closed loop"), fontsize=8)
    handles = _legend(missed=(table["reached"] < table["n"]).any())
    figure.legend(handles=handles, loc="outside upper center", ncols=6, frameon=False)
    return figure


def _panel(ax: Axes, table: pd.DataFrame, look: Look) -> None:
    ax.set_title(look.title, loc="left")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.minorticks_off()
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:g}")))
    sns.despine(ax=ax)
    if table.empty:
        ax.text(0.5, 0.5, _("not measured"), transform=ax.transAxes, ha="center", color="0.35")
    for (_parameters, time, percent), group in table.groupby(
        ["parameters", "time", "percent"], sort=False
    ):
        rows = group.sort_values("load")
        intended = time == INTENDED_TIME
        ax.plot(
            rows["load"],
            rows["value"] / 1000,
            linestyle="-" if intended else "--",
            linewidth=1,
            marker=MARKERS[percent],
            markersize=4,
            color=look.color,
            markerfacecolor=look.color if intended else "white",
        )
        missed = rows[rows["reached"] < rows["n"]]
        ax.plot(missed["load"], missed["value"] / 1000, MISSED, color=DARK, markersize=7)


def share_words() -> list[str]:
    """What the markers stand for, in their order."""
    return [decimal(f"{percent:g} %") for percent in MARKERS]


def _legend(missed: bool) -> list[Line2D]:
    shapes = [
        Line2D([], [], color=DARK, ls="", marker=marker, markersize=4, label=label)
        for label, marker in zip(share_words(), MARKERS.values(), strict=True)
    ]
    kinds = [
        Line2D([], [], color=DARK, linestyle=style, linewidth=1, label=_(TIMES[time]))
        for time, style in ((SERVICE_TIME, "--"), (INTENDED_TIME, "-"))
    ]
    cross = Line2D([], [], color=DARK, ls="", marker=MISSED, label=_("rate not reached"))
    return shapes + kinds + ([cross] if missed else [])
