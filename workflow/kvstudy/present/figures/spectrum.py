"""Latency over the share of the operations that are not slower, up to the rare ones."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import whole
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.study.base import Name

MOST_COLUMNS = 3
TICKS = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
ENDS = ["low", "value", "high"]
TEXTS = {"exact": N_("Latency"), "range": N_("Range of the single runs")}
TEXTS |= {"runs": N_("Histograms of"), "beyond_text": N_("Slower operations"), "cells": N_("Cells")}


class Spectrum(draw.DrawnFigure):
    """All percentiles of a workload's latencies; a part of every report."""

    own_caption = N_("Latency by share of the operations, {}")

    kind: Literal["spectrum"] = Field(description="All percentiles of a workload's latencies.")
    workload: Name = Field(description="The workload.")

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """The workload's rows of ``analysis.spectrum``, in the study's order of stores."""
        stores = run.study.store_names
        rows = run.headline_analysis.spectrum.query("workload == @self.workload")
        rows = rows[rows["store"].isin(stores)]
        return rows.sort_values("store", key=lambda of: of.map(stores.index), kind="stable")

    def nothing(self, table: pd.DataFrame) -> str:
        return _("no histograms of latency") if table.empty else ""

    def draw(self, table: pd.DataFrame, looks: draw.Looks) -> plt.Figure:
        """A panel per operation, a line per store; the band is the range of its single runs."""
        panels, legend = _panels(table), looks.legend(table, "line")
        figure, axes = draw.grid(len(panels), MOST_COLUMNS, 0.4, 2.2, sharey=True)
        for ax, (title, mine) in zip(axes.flat, panels.items(), strict=False):
            _panel(ax, mine, legend)
            ax.set_title(title, loc="left", pad=5)
        for row in axes:
            row[0].set_ylabel(_("Latency (µs)"))
        figure.supxlabel(_("Share of the operations that are not slower"), fontsize="medium")
        sns.despine(figure)
        handles = [look.handle(linewidth=1.2) for look in legend]
        figure.legend(handles=handles, loc="outside upper center", ncols=min(len(handles), 5))
        return figure

    def chart(self, table: pd.DataFrame, looks: draw.Looks) -> chart.Chart:
        """In µs over 1/(1 - share), both logarithmic."""
        rows, panels, legend = [], [], looks.legend(table, "line")
        for place, (title, mine) in enumerate(_panels(table).items()):
            rows += [_row(row, looks.titles) | {"panel": place} for row in mine.to_dict("records")]
            words = _("Percentiles of the latency of {} in µs, by store.").format(title)
            panels.append(chart.Panel(_layers(mine, legend), title, words, 250))
        note = _("The band is the range of the single runs.") if (table["n"] > 1).any() else ""
        return chart.Chart(rows, panels, legend, min(len(panels), 2), note)


def _panels(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each panel by what stands above it: an operation, and its sizes."""
    several = table["parameters"].nunique() > 1
    return {
        sentence(operation) + (f", {parameters}" if several else ""): rows
        for (parameters, operation), rows in table.groupby(["parameters", "operation"], sort=False)
    }


def _panel(ax: plt.Axes, table: pd.DataFrame, legend: list[draw.Look]) -> None:
    for look in legend:
        rows = table[table["store"] == look.store].sort_values("percent")
        if rows.empty:
            continue
        x = odds(rows["percent"])
        # A latency of 0 µs has no place on a logarithmic axis.
        low, value, high = (rows[name].clip(lower=1) for name in ENDS)
        if (rows["n"] > 1).any():
            ax.fill_between(x, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(x, value, color=look.color, linestyle=look.line, linewidth=1.2, label=look.title)
    ax.set(xscale="log", yscale="log", xlim=(1, _farthest(table)))
    ax.xaxis.set_major_locator(ticker.FixedLocator([float(odds(tick)) for tick in TICKS]))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(percent_words))
    draw.number_axis(ax.yaxis, ticker.LogLocator(subs=(1, 2, 5)))
    ax.minorticks_off()


def _farthest(table: pd.DataFrame) -> float:
    """The end of the axis of shares."""
    return max(float(odds(table["percent"]).max()) * 1.05, 2)


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


def _row(row: dict, titles: dict[str, str]) -> dict:
    store = titles[row["store"]]
    names = ["store", "workload", "percent", "value", "low", "high", "n"]
    return chart.plain(row, names) | {
        "name": store,
        "title": _("{}, {}: {} % are not slower than").format(
            store, sentence(row["operation"]), _shown(row["percent"])
        ),
        **chart.value_texts(row, "latency", "us"),
        "beyond_text": whole(row["beyond"]),
        "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
    }


def _layers(table: pd.DataFrame, legend: list[draw.Look]) -> list[alt.Chart]:
    farthest = _farthest(table)
    axis = alt.Axis(
        values=[float(odds(tick)) for tick in TICKS if odds(tick) <= farthest * 1.01],
        labelExpr="format(round((100 - 100 / datum.value) * 1e6) / 1e6, '~g') + ' %'",
        labelOverlap="greedy",
        grid=False,
    )
    scale = alt.Scale(type="log", domain=[1, farthest], nice=False)
    title = _("Share of the operations that are not slower")
    x = alt.X("odds:Q", title=title, axis=axis, scale=scale)
    ends = table[ENDS].clip(lower=1)
    y = chart.log_side(_("Latency (µs)"), ends.min(axis=None), ends.max(axis=None) * 1.1)
    # A latency of 0 µs has no place on a logarithmic axis.
    clipped = {f"{name}_at": f"max(datum.{name}, 1)" for name in ENDS}
    clipped["odds"] = "100 / (100 - datum.percent)"
    base = alt.Chart().transform_calculate(**clipped)
    base = base.encode(x=x, y=alt.Y("value_at:Q", **y), **chart.by_legend(legend, "color"))
    return [
        base.transform_filter("datum.n > 1 && isValid(datum.low) && isValid(datum.high)")
        .mark_area(opacity=0.2, aria=False)
        .encode(y=alt.Y("low_at:Q", **y), y2="high_at:Q"),
        base.mark_line(strokeWidth=1.6, aria=False).encode(**chart.by_legend(legend, "strokeDash")),
        base.mark_point(filled=True, size=18, opacity=0.9).encode(**chart.texts(TEXTS)),
    ]
