"""Service and intended latencies over the load: what does a fixed rate of requests see?"""

from __future__ import annotations

from typing import Literal

from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.libraries import alt, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME, Name

MOST_COLUMNS = 4
# Percentage, its marker: the marker tells them apart in grey print too.
MARKERS = {50.0: "o", 99.0: "s", 99.9: "^"}
MISSED = "x"
TIMES = {SERVICE_TIME: N_("service time"), INTENDED_TIME: N_("intended time")}
COLUMNS = [
    *["store", "parameters", "load", "time", "percent", "value", "low", "high"],
    *["n", "beyond", "reached"],
]
TEXTS = {"exact": N_("Latency"), "range": N_("Range"), "runs": N_("Runs")}
TEXTS |= {"reached_text": N_("Rate reached in"), "cells": N_("Cells")}
STYLES = {SERVICE_TIME: "--", INTENDED_TIME: "-"}


class OpenLoopFigure(DrawnFigure):
    """Service and intended latencies of a workload over the load."""

    in_template = True
    cells = "open loop"
    by_itself = True
    texts = TEXTS
    fields = ("store", "load", "time", "value", "low", "high", "n", "reached")
    across = 3
    own_caption = N_("Service time and intended time by load, {}")

    kind: Literal["open-loop"] = "open-loop"
    workload: Name

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """Latencies (us) of all operations, where enough of them lie beyond."""
        from kvstudy.analyse.findings.open_loop import of_workload
        from kvstudy.stats.percentiles import ENOUGH_BEYOND

        analysis = run.headline_analysis
        table = of_workload(analysis.open_rates, analysis.open_percentiles, self.workload)
        chosen = table[
            (table["operation"] == ALL)
            & table["percent"].isin(list(MARKERS))
            & (table["beyond"] >= ENOUGH_BEYOND)
            & table["store"].isin(run.study.store_names)
        ]
        return chosen[COLUMNS].reset_index(drop=True)

    def nothing(self, table: pd.DataFrame) -> str:
        return _("not measured") if table.empty else ""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """One for each store; latencies in ms."""
        words = _("Percentiles of latency of {} in ms over the load.")
        return [
            Panel(look.title, table[table["store"] == store], words.format(look.title))
            for store, look in looks.stores.items()
        ]

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        legend = _shares()
        for time, style in STYLES.items():
            legend.append(Style(_(TIMES[time]), draw.DARK, line=style))
        if (table["reached"] < table["n"]).any():
            legend.append(Style(_("rate not reached"), draw.DARK, marker=MISSED))
        return legend

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        absent = [panel.title for panel in self.panels(table, looks) if panel.rows.empty]
        return _("Not measured: {}.").format(", ".join(absent)) if absent else ""

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """A panel per store: percentiles over the load, dashed service and solid intended time.

        A load whose rate was not reached is crossed.
        """
        panels = self.panels(table, looks)
        figure, axes = draw.grid(len(panels), MOST_COLUMNS, 0.6, 1.75, sharex=True, sharey=True)
        for ax, panel, look in zip(axes.flat, panels, looks.stores.values(), strict=False):
            _panel(ax, panel, look.color)
        for row in axes:
            row[0].set_ylabel(_("Latency (ms)"))
        loads = sorted(table["load"].unique())
        axes[0, 0].set_xticks(loads, [decimal(f"{load:g} %") for load in loads])
        axes[0, 0].set_xlim(*_ends(loads))
        figure.supxlabel(_("Load: rate relative to the closed-loop throughput"), fontsize=8)
        handles = [
            look.handle(markersize=6 if look.marker == MISSED else 4, linewidth=1)
            for look in self.legend(table, looks)
        ]
        draw.legend(figure, handles)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        store, time = looks.titles[row["store"]], TIMES[row["time"]]
        percent, load = (decimal(f"{row[name]:g} %") for name in ("percent", "load"))
        reached = ngettext("{} of {} run", "{} of {} runs", int(row["n"]))
        return {
            "share": percent,
            "line": f"{row['parameters']} {row['time']} {percent}",
            "title": _("{}, {}, {}, load {}").format(store, _(time), percent, load),
            **chart.value_texts(row, "latency", "us"),
            "reached_text": reached.format(f"{row['reached']:.0f}", f"{row['n']:.0f}"),
            "cells": f"{row['store']}/{self.workload}/{row['parameters']}",
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        color, loads = looks.stores[rows["store"].iloc[0]].color, sorted(table["load"].unique())
        axis = {"values": loads, "labelExpr": "datum.label + ' %'", "grid": False}
        x = chart.linear(_("Load"), *_ends(loads), **axis)
        low, high = table["value"].min() / 1000 / 1.3, table["value"].max() / 1000 * 1.3
        y = alt.Y("ms:Q", **chart.log_side(_("Latency (ms)"), low, high))
        base = alt.Chart().transform_calculate(ms="datum.value / 1000")
        base = base.encode(x=alt.X("load:Q", **x), y=y)
        lengths = [chart.dash(style) for style in STYLES.values()]
        dashes = alt.Scale(domain=list(STYLES), range=lengths)
        points = base.encode(
            **chart.by_legend(_shares(), "shape", of="share"), **chart.texts(self.texts)
        )
        return [
            base.mark_line(strokeWidth=1.4, color=color, aria=False).encode(
                strokeDash=alt.StrokeDash("time:N", scale=dashes, legend=None), detail="line:N"
            ),
            *(
                points.transform_filter(f"datum.time {same} '{INTENDED_TIME}'").mark_point(
                    filled=filled, color=color, size=50, opacity=1
                )
                for same, filled in (("!==", False), ("===", True))
            ),
            base.transform_filter("datum.reached < datum.n").mark_point(
                shape=chart.SHAPES[MISSED],
                filled=True,
                style="kv-ink",
                size=80,
                opacity=1,
                aria=False,
            ),
        ]


def _shares() -> list[Style]:
    """The markers of the percentages."""
    return [
        Style(decimal(f"{percent:g} %"), draw.DARK, marker=marker)
        for percent, marker in MARKERS.items()
    ]


def _ends(loads: list[float]) -> list[float]:
    """Return the ends of the axis of loads; a single load is in the middle."""
    room = max(0.2 * (loads[-1] - loads[0]), 5)
    return [loads[0] - room, loads[-1] + room]


def _panel(ax: plt.Axes, panel: Panel, color: str) -> None:
    ax.set_title(draw.in_lines(panel.title, MOST_COLUMNS), loc="left")
    ax.set_yscale("log")
    draw.number_axis(ax.yaxis, ticker.LogLocator(numticks=6))
    ax.minorticks_off()
    sns.despine(ax=ax)
    if panel.rows.empty:
        draw.empty_panel(ax, _("not measured"))
    lines = panel.rows.groupby(["parameters", "time", "percent"], sort=False)
    for (_parameters, time, percent), line in lines:
        rows = line.sort_values("load")
        style = {"color": color, "linestyle": STYLES[time], "linewidth": 1}
        style |= {"marker": MARKERS[percent], "markersize": 4}
        style["markerfacecolor"] = color if time == INTENDED_TIME else "white"
        ax.plot(rows["load"], rows["value"] / 1000, **style)
        missed = rows[rows["reached"] < rows["n"]]
        ax.plot(missed["load"], missed["value"] / 1000, MISSED, color=draw.DARK, markersize=7)
