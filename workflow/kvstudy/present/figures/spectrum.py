"""Latency over the share of the operations that are not slower, up to the rare ones."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import _
from kvstudy.language.locale import decimal
from kvstudy.language.recorded import recorded
from kvstudy.present.figures.draw import TEXT_WIDTH, Look
from kvstudy.study.model import Study

MOST_COLUMNS = 3
TICKS = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
# Told apart in grey print too.
LINES = ["-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5))]


def spectrum_table(found: pd.DataFrame, workload: str, study: Study) -> pd.DataFrame:
    """The rows of ``analysis.spectrum`` that are drawn for ``workload``, in the study's order."""
    rows = found[(found["workload"] == workload) & found["store"].isin(study.store_names)]
    return rows.sort_values(
        "store", key=lambda names: names.map(study.store_names.index), kind="stable"
    )


def draw_spectrum(table: pd.DataFrame, stores: dict[str, Look]) -> Figure:
    """A panel per operation, a line per store; the band is the range of its single runs."""
    panels = list(table.groupby(["parameters", "operation"], sort=False))
    several = table["parameters"].nunique() > 1
    columns = max(1, min(len(panels), MOST_COLUMNS))
    rows = max(1, math.ceil(len(panels) / columns))
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(TEXT_WIDTH, 0.4 + 2.2 * rows),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    if not panels:
        axes[0, 0].text(0.5, 0.5, _("no histograms of latency"), ha="center", color="0.35")
        axes[0, 0].set_axis_off()
        return figure
    for place, ax in enumerate(axes.flat):
        if place >= len(panels):
            ax.set_axis_off()
            continue
        (parameters, operation), mine = panels[place]
        _panel(ax, mine, stores)
        title = recorded(operation)
        ax.set_title(f"{title}, {parameters}" if several else title, loc="left", pad=5)
        if place % columns == 0:
            ax.set_ylabel(_("Latency (µs)"))
    figure.supxlabel(_("Share of the operations that are not slower"), fontsize="medium")
    sns.despine(figure)
    shown = dict.fromkeys(table["store"])
    lines = {line.get_label(): line for ax in axes.flat for line in ax.lines}
    handles = [lines[stores[store].title] for store in shown]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=min(len(handles), 5), frameon=False
    )
    return figure


def _panel(ax: Axes, table: pd.DataFrame, stores: dict[str, Look]) -> None:
    for index, (store, look) in enumerate(stores.items()):
        rows = table[table["store"] == store].sort_values("percent")
        if rows.empty:
            continue
        x = odds(rows["percent"])
        # A latency of 0 µs has no place on a logarithmic axis.
        low, value, high = (rows[name].clip(lower=1) for name in ("low", "value", "high"))
        if (rows["n"] > 1).any():
            ax.fill_between(x, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(
            x,
            value,
            color=look.color,
            linestyle=LINES[index % len(LINES)],
            linewidth=1.2,
            label=look.title,
        )
    farthest = odds(table["percent"]).max()
    ax.set(xscale="log", yscale="log")
    ax.set_xlim(1, max(farthest * 1.05, 2))
    ax.xaxis.set_major_locator(FixedLocator([float(odds(tick)) for tick in TICKS]))
    ax.xaxis.set_major_formatter(FuncFormatter(percent_words))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:g}")))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_minor_locator(FixedLocator([]))


def odds(percent):
    """Where a percentage stands: 1/(1 - p)."""
    return 100 / (100 - percent)


def percent_words(place: float, _position: int) -> str:
    return decimal(f"{round(100 - 100 / place, 6):g} %")
