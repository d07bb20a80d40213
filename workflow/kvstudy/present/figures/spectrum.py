"""Latency over the share of the operations that are not slower, up to the rare ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel
from kvstudy.present.drawing.draw import DrawnFigure, Look, Looks
from kvstudy.study.base import Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

MOST_COLUMNS = 3
TICKS = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
TEXTS = {"exact": N_("Latency"), "range": N_("Range of the single runs")}
TEXTS |= {"runs": N_("Histograms of"), "beyond_text": N_("Slower operations"), "cells": N_("Cells")}


class Spectrum(DrawnFigure):
    """All percentiles of a workload's latencies; a part of every report."""

    own_caption = N_("Latency by share of the operations, {}")

    kind: Literal["spectrum"] = Field(description="All percentiles of a workload's latencies.")
    workload: Name = Field(description="The workload.")

    def rows(self, run: Run) -> pd.DataFrame:
        """The workload's rows of ``analysis.spectrum``, in the study's order of stores."""
        stores = run.study.store_names
        rows = run.headline_analysis.spectrum.query("workload == @self.workload")
        rows = rows[rows["store"].isin(stores)]
        return rows.sort_values("store", key=lambda of: of.map(stores.index), kind="stable")

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """A panel per operation, a line per store; the band is the range of its single runs."""
        panels = _panels(table)
        figure, axes = draw.grid(len(panels), MOST_COLUMNS, 0.4, 2.2, sharey=True)
        if not panels:
            draw.say(axes[0, 0], _("no histograms of latency"), color="0.35")
            axes[0, 0].set_axis_off()
            return figure
        for ax, (title, mine) in zip(axes.flat, panels.items(), strict=False):
            _panel(ax, mine, looks.stores)
            ax.set_title(title, loc="left", pad=5)
        for row in axes:
            row[0].set_ylabel(_("Latency (µs)"))
        figure.supxlabel(_("Share of the operations that are not slower"), fontsize="medium")
        sns.despine(figure)
        shown = dict.fromkeys(table["store"])
        lines = {line.get_label(): line for ax in axes.flat for line in ax.lines}
        handles = [lines[looks.stores[store].title] for store in shown]
        figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 5))
        return figure

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        """In µs over 1/(1 - share), both logarithmic."""
        if table.empty:
            return Chart([], [], note=_("no histograms of latency"))
        rows, panels = [], []
        legend = [
            chart.line_entry(look.title, look.color, look.line, None, store)
            for store, look in looks.stores.items()
            if store in set(table["store"])
        ]
        for place, (title, mine) in enumerate(_panels(table).items()):
            rows += [_row(row, looks.stores) | {"panel": place} for row in mine.to_dict("records")]
            words = _("Percentiles of the latency of {} in µs, by store.").format(title)
            panels.append(Panel(_layers(mine, legend), title, words, 250))
        note = _("The band is the range of the single runs.") if (table["n"] > 1).any() else ""
        return Chart(rows, panels, legend, min(len(panels), 2), note)


def _panels(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each panel by what stands above it: an operation, and its sizes."""
    several = table["parameters"].nunique() > 1
    return {
        sentence(operation) + (f", {parameters}" if several else ""): rows
        for (parameters, operation), rows in table.groupby(["parameters", "operation"], sort=False)
    }


def _panel(ax: plt.Axes, table: pd.DataFrame, stores: dict[str, Look]) -> None:
    for store, look in stores.items():
        rows = table[table["store"] == store].sort_values("percent")
        if rows.empty:
            continue
        x = odds(rows["percent"])
        # A latency of 0 µs has no place on a logarithmic axis.
        low, value, high = (rows[name].clip(lower=1) for name in ("low", "value", "high"))
        if (rows["n"] > 1).any():
            ax.fill_between(x, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(x, value, color=look.color, linestyle=look.line, linewidth=1.2, label=look.title)
    farthest = odds(table["percent"]).max()
    ax.set(xscale="log", yscale="log")
    ax.set_xlim(1, max(farthest * 1.05, 2))
    ax.xaxis.set_major_locator(ticker.FixedLocator([float(odds(tick)) for tick in TICKS]))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(percent_words))
    draw.number_axis(ax.yaxis, ticker.LogLocator(subs=(1, 2, 5)))
    ax.minorticks_off()


def odds(percent):
    """Where a percentage stands: 1/(1 - p)."""
    return 100 / (100 - percent)


def _shown(percent: float) -> str:
    """With two digits of what is left to 100: 99.988 for 99.98763."""
    left = 100 - percent
    digits = max(0, 1 - math.floor(math.log10(left))) if left > 0 else 0
    return decimal(f"{round(percent, digits):.10g}")


def percent_words(place: float, _position: int) -> str:
    return decimal(f"{round(100 - 100 / place, 6):g} %")


def _row(row: dict, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    names = ["store", "workload", "percent", "value", "low", "high", "n"]
    return chart.plain(row, names) | {
        "name": look.title,
        "title": _("{}, {}: {} % are not slower than").format(
            look.title, sentence(row["operation"]), _shown(row["percent"])
        ),
        **chart.value_texts(row, "latency", "us"),
        "beyond_text": grouped(f"{row['beyond']:.0f}"),
        "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
    }


def _layers(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    farthest = float(odds(table["percent"]).max())
    ticks = [tick for tick in TICKS if odds(tick) <= farthest * 1.06]
    axis = alt.Axis(
        values=[float(odds(tick)) for tick in ticks],
        labelExpr="format(round((100 - 100 / datum.value) * 1e6) / 1e6, '~g') + ' %'",
        labelOverlap="greedy",
        grid=False,
    )
    scale = alt.Scale(type="log", domain=[1, max(farthest * 1.05, 2)], nice=False)
    x = alt.X(
        "odds:Q", title=_("Share of the operations that are not slower"), axis=axis, scale=scale
    )
    ends = table[["low", "value", "high"]].clip(lower=1)
    y = chart.log_side(_("Latency (µs)"), ends.min(axis=None), ends.max(axis=None) * 1.1)
    # A latency of 0 µs has no place on a logarithmic axis.
    clipped = {f"{name}_at": f"max(datum.{name}, 1)" for name in ("low", "value", "high")}
    clipped["odds"] = "100 / (100 - datum.percent)"
    base = alt.Chart().transform_calculate(**clipped).encode(x=x)
    value, color = alt.Y("value_at:Q", **y), chart.by_legend(legend, "color")
    return [
        base.transform_filter("datum.n > 1 && isValid(datum.low) && isValid(datum.high)")
        .mark_area(opacity=0.2, aria=False)
        .encode(y=alt.Y("low_at:Q", **y), y2="high_at:Q", **color),
        base.mark_line(strokeWidth=1.6, aria=False).encode(
            y=value, **chart.by_legend(legend, "color", "dash")
        ),
        base.mark_point(filled=True, size=18, opacity=0.9).encode(
            y=value, **color, **chart.texts(TEXTS)
        ),
    ]
