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
from kvstudy.present.drawing.draw import DrawnFigure, Look, Looks, Panel
from kvstudy.study.base import Name

MOST_COLUMNS = 3
TICKS = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
SHARE = N_("Share of the operations that are not slower")
ENDS = ["low", "value", "high"]
TEXTS = {"exact": N_("Latency"), "range": N_("Range of the single runs")}
TEXTS |= {"runs": N_("Histograms of"), "beyond_text": N_("Slower operations"), "cells": N_("Cells")}


class Spectrum(DrawnFigure):
    """All percentiles of a workload's latencies; a part of every report."""

    texts = TEXTS
    fields = ("store", "percent", "value", "low", "high", "n", "name")
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

    def panels(self, table: pd.DataFrame, looks: Looks) -> list[Panel]:
        """One for each operation and setting."""
        table = table.assign(name=table["store"].map(looks.titles))
        several = table["parameters"].nunique() > 1
        words = _("Percentiles of the latency of {} in µs, by store.")
        panels = []
        for (parameters, operation), rows in table.groupby(["parameters", "operation"], sort=False):
            title = sentence(operation) + (f", {parameters}" if several else "")
            panels.append(Panel(title, rows, words.format(title), 250))
        return panels

    def legend(self, table: pd.DataFrame, looks: Looks) -> list[Look]:
        return looks.legend(table, "line")

    def note(self, table: pd.DataFrame, looks: Looks) -> str:
        return _("The band is the range of the single runs.") if (table["n"] > 1).any() else ""

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """A line per store; the band is the range of its single runs."""
        panels, legend = self.panels(table, looks), self.legend(table, looks)
        figure, axes = draw.grid(len(panels), MOST_COLUMNS, 0.4, 2.2, sharey=True)
        for ax, panel in zip(axes.flat, panels, strict=False):
            _panel(ax, panel.rows, legend)
            ax.set_title(panel.title, loc="left", pad=5)
        for row in axes:
            row[0].set_ylabel(_("Latency (µs)"))
        figure.supxlabel(_(SHARE), fontsize="medium")
        sns.despine(figure)
        handles = [look.handle(linewidth=1.2) for look in legend]
        figure.legend(handles=handles, loc="outside upper center", ncols=5)
        return figure

    def mark(self, row: dict, looks: Looks) -> dict:
        return {
            "title": _("{}, {}: {} % are not slower than").format(
                row["name"], sentence(row["operation"]), _shown(row["percent"])
            ),
            **chart.value_texts(row, "latency", "us"),
            "beyond_text": whole(row["beyond"]),
            "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: Looks) -> list[alt.Chart]:
        """In µs over 1/(1 - share), both logarithmic."""
        farthest, legend = _farthest(rows), self.legend(table, looks)
        axis = alt.Axis(
            values=[float(odds(tick)) for tick in TICKS if odds(tick) <= farthest * 1.01],
            labelExpr="format(round((100 - 100 / datum.value) * 1e6) / 1e6, '~g') + ' %'",
            labelOverlap="greedy",
            grid=False,
        )
        scale = alt.Scale(type="log", domain=[1, farthest], nice=False)
        x = alt.X("odds:Q", title=_(SHARE), axis=axis, scale=scale)
        ends = rows[ENDS].clip(lower=1)
        y = chart.log_side(_("Latency (µs)"), ends.min(axis=None), ends.max(axis=None) * 1.1)
        # A latency of 0 µs has no place on a logarithmic axis.
        clipped = {f"{name}_at": f"max(datum.{name}, 1)" for name in ENDS}
        clipped["odds"] = "100 / (100 - datum.percent)"
        base = alt.Chart().transform_calculate(**clipped)
        base = base.encode(x=x, y=alt.Y("value_at:Q", **y), **chart.by_legend(legend, "color"))
        dashes = chart.by_legend(legend, "strokeDash")
        return [
            base.transform_filter("datum.n > 1 && isValid(datum.low) && isValid(datum.high)")
            .mark_area(opacity=0.2, aria=False)
            .encode(y=alt.Y("low_at:Q", **y), y2="high_at:Q"),
            base.mark_line(strokeWidth=1.6, aria=False).encode(**dashes),
            base.mark_point(filled=True, size=18, opacity=0.9).encode(**chart.texts(TEXTS)),
        ]


def _panel(ax: plt.Axes, table: pd.DataFrame, legend: list[Look]) -> None:
    for look, of_store in draw.by_look(table, legend):
        rows = of_store.sort_values("percent")
        x = odds(rows["percent"])
        # A latency of 0 µs has no place on a logarithmic axis.
        low, value, high = (rows[name].clip(lower=1) for name in ENDS)
        if (rows["n"] > 1).any():
            ax.fill_between(x, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(x, value, **look.style(linewidth=1.2))
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
