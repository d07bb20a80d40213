"""Latencies of single operations: boxes, and all percentiles up to the rare ones."""

from __future__ import annotations

import math
from itertools import product
from typing import Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import converted, sign, significant, whole
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import alt, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.study.base import Name, Operation
from kvstudy.study.workload import operations_of, properties_of

SHARES = ["p1", "p5", "p25", "p50", "p75", "p95", "p99", "largest"]
BOXES = ["operation", "store", "parameters", *SHARES, "unit", "operations", "n", "note"]
# Boxes narrower than that (inches) have no number of operations below them.
NARROW = 0.3
BOX_TEXTS = {"p50_text": N_("Median"), "middle": N_("25th to 75th percentile")}
BOX_TEXTS |= {"most": N_("5th to 95th percentile"), "nearly": N_("1st to 99th percentile")}
BOX_TEXTS |= {"largest_text": N_("Largest"), "count": N_("Operations"), "runs": N_("Of")}
BOX_TEXTS |= {"cells": N_("Cells"), "note": N_("Note")}
MOST_COLUMNS = 3
TICKS = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
SHARE = N_("Share of operations that are not slower")
ENDS = ["low", "value", "high"]
SPECTRUM_TEXTS = {"exact": N_("Latency"), "range": N_("Range of the single runs")}
SPECTRUM_TEXTS |= {"runs": N_("Histograms of"), "beyond_text": N_("Slower operations")}
SPECTRUM_TEXTS |= {"cells": N_("Cells")}


class Box(DrawnFigure):
    """Latencies of single operations: a box for each kind of operation and store."""

    in_template = True
    texts = BOX_TEXTS
    fields = ("store", *SHARES, "n", "note")

    kind: Literal["box"] = Field(
        description="Latencies of a workload's single operations, a box for each kind and store: "
        "quartiles, whiskers from the 5th to the 95th percentile, points at the 1st and the 99th; "
        "from the histograms, which keep a latency within 0.1 %."
    )
    workload: Name = Field(description="The workload.")
    operations: list[Operation] = Field(
        default=[], description=("Names of operations; default: all.")
    )
    unit: Literal["us", "ms", "s"] = "us"

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per box, in the order of drawing; ``note`` says why there is none.

        Latencies are in ``unit``; ``operations`` are those of all ``n`` runs.
        """
        use = run.study.workload(self.workload)
        kinds = self.operations or operations_of(properties_of(run.study, use))
        factor = converted(1, "us", self.unit)
        boxes = run.headline_analysis.boxes.query("workload == @self.workload")
        boxes = boxes.assign(**{share: boxes[share] * factor for share in SHARES}, note="")
        boxes = boxes.set_index(["operation", "store"]).to_dict("index")
        rows = []
        for operation, store in product(kinds, run.study.store_names):
            label = run.results.state(store, self.workload).label
            gap = {"note": label or reason("not-timed", operation=operation)}
            key = {"operation": operation, "store": store, "unit": self.unit}
            rows.append(key | boxes.get((operation, store), gap))
        table = pd.DataFrame(rows, columns=BOXES)
        return table.astype(dict.fromkeys([*SHARES, "operations", "n"], float))

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """Over a logarithmic axis; below each box how many operations it is of."""
        drawing, ax = plt.subplots(figsize=(draw.TEXT_WIDTH, 2.9), layout="constrained")
        table = table.assign(**table[SHARES].clip(lower=self._least))
        groups, stores = list(dict.fromkeys(table["operation"])), list(looks.stores)
        width = draw.GROUP_WIDTH / len(stores)
        below = {"above": 3, "color": "0.35", "xycoords": ax.get_xaxis_transform()}
        for row in table.itertuples():
            left = groups.index(row.operation) - draw.GROUP_WIDTH / 2
            x = left + width * (stores.index(row.store) + 0.5)
            if pd.isna(row.p50):
                draw.annotate(ax, x, 0, row.note, turned=True, fontsize=8, **below)
                continue
            _box(ax, x, 0.7 * width, row, looks.stores[row.store])
            if draw.TEXT_WIDTH * width / len(groups) > NARROW:
                draw.annotate(ax, x, 0, _short(row.operations), turned=False, fontsize=6.5, **below)
        low, high = self._ends(table)
        # Room below for the numbers.
        decades = max(math.log10(high / low), 0.5)
        low, high = low / 10 ** (0.16 * decades), high * 10 ** (0.06 * decades)
        ax.set(yscale="log", ylim=(low, high), ylabel=self._side_title)
        ax.set_xlim(-0.5, len(groups) - 0.5)
        ax.set_xticks(range(len(groups)), map(sentence, groups))
        steps = (1, 2, 5) if high / low < 300 else (1,)
        draw.number_axis(ax.yaxis, ticker.LogLocator(subs=steps))
        sns.despine(drawing)
        handles = [look.patch() for look in self.legend(table, looks)]
        draw.legend(drawing, handles)
        return drawing

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        words = _("Box plot of latencies of single operations in {}, by store.")
        return [Panel("", table, words.format(sign(self.unit)), 280)]

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        return list(looks.stores.values())

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        unit, store = row["unit"], looks.titles[row["store"]]
        measured, operation = not pd.isna(row["p50"]), sentence(row["operation"])
        ranges = {"middle": ("p25", "p75"), "most": ("p5", "p95"), "nearly": ("p1", "p99")}
        return {
            "operation": operation,
            "name": store,
            "title": f"{store}, {operation}",
            **{
                f"{name}_text": chart.exact("latency", row[name], unit)
                for name in ("p50", "largest")
            },
            **{
                name: chart.exact_range("latency", row[low], row[high], unit)
                for name, (low, high) in ranges.items()
            },
            "count": whole(row["operations"]) if measured else "",
            "runs": chart.runs(row["n"]),
            "cells": f"{row['store']}/{self.workload}/{row['parameters']}" if measured else "",
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        low, high = self._ends(rows)
        y = chart.log_side(self._side_title, low / 1.3, high * 1.3)
        groups = rows["operation"].map(sentence).unique().tolist()
        legend = self.legend(table, looks)
        # Where long names of operations may be broken.
        hyphen = pgettext("in read-modify-write", "-")
        base = chart.by_group("operation:N", groups, legend, hyphen, 0.25)
        base = base.encode(**chart.texts(self.texts))
        clipped = {f"{name}_at": f"max(datum.{name}, {self._least})" for name in SHARES}
        boxes = base.transform_filter("isValid(datum.p50)").transform_calculate(**clipped)
        ink = {"style": "kv-ink", "aria": False}
        cap = boxes.mark_tick(orient="horizontal", size=8, thickness=1, **ink)
        median = boxes.mark_tick(orient="horizontal", bandSize=400, thickness=2.5, **ink)
        point = boxes.mark_point(size=9, filled=True, opacity=1, **ink)
        return [
            boxes.mark_rule(**ink).encode(y=alt.Y("p5_at:Q", **y), y2="p95_at:Q"),
            cap.encode(y=alt.Y("p5_at:Q", **y)),
            cap.encode(y=alt.Y("p95_at:Q", **y)),
            boxes.mark_bar(minBandSize=3).encode(
                y=alt.Y("p25_at:Q", **y), y2="p75_at:Q", **chart.by_legend(legend, "color")
            ),
            median.encode(y=alt.Y("p50_at:Q", **y)),
            point.encode(y=alt.Y("p1_at:Q", **y)),
            point.encode(y=alt.Y("p99_at:Q", **y)),
            chart.gaps(base, "p50").encode(y=alt.YValue("height")),
        ]

    @property
    def _least(self) -> float:
        """Return the lowest value: YCSB prints whole microseconds, and a log axis has no 0."""
        return converted(1, "us", self.unit)

    @property
    def _side_title(self) -> str:
        return _("Latency of operations ({})").format(sign(self.unit))

    def _ends(self, table: pd.DataFrame) -> tuple[float, float]:
        """The lowest and the highest point."""
        ends = table[["p1", "p99"]].stack().clip(lower=self._least)
        return (ends.min(), ends.max()) if len(ends) else (self._least, self._least)


class Spectrum(DrawnFigure):
    """All percentiles of the latencies; a part of every report."""

    in_template = True
    texts = SPECTRUM_TEXTS
    fields = ("store", "workload", "percent", "value", "low", "high", "n", "name")
    own_caption = N_("Latency percentiles")

    kind: Literal["spectrum"] = Field(
        description="All percentiles of the latencies, a panel for each workload and operation."
    )
    workloads: list[Name] = Field(default=[], description="Their names; left out: all.")

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """The rows of ``analysis.spectrum``, in the study's order of workloads and stores."""
        names = {"workload": self.workloads or run.study.workload_names}
        names["store"] = run.study.store_names
        rows = run.headline_analysis.spectrum
        rows = rows[rows["workload"].isin(names["workload"]) & rows["store"].isin(names["store"])]
        order = {name: {one: place for place, one in enumerate(of)} for name, of in names.items()}
        return rows.sort_values(
            list(names), key=lambda column: column.map(order[column.name]), kind="stable"
        )

    def nothing(self, table: pd.DataFrame) -> str:
        return _("no histograms of latency") if table.empty else ""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """One for each workload, setting and operation."""
        table = table.assign(name=table["store"].map(looks.titles))
        words = _("Percentiles of the latency of {} in µs, by store.")
        settings = table.groupby("workload")["parameters"].nunique()
        keys, panels = ["workload", "parameters", "operation"], []
        for (workload, parameters, operation), rows in table.groupby(keys, sort=False):
            title = f"{looks.study.workload(workload).short}: {sentence(operation)}"
            if settings[workload] > 1:
                title += f", {parameters}"
            panels.append(Panel(title, rows, words.format(title), 250))
        return panels

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        return looks.legend(table, "line")

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        return _("The band is the range of the single runs.") if (table["n"] > 1).any() else ""

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """A line per store; the band is the range of its single runs."""
        panels, legend = self.panels(table, looks), self.legend(table, looks)
        figure, axes = draw.grid(len(panels), MOST_COLUMNS, 0.4, 1.7, sharey=True)
        for ax, panel in zip(axes.flat, panels, strict=False):
            # Three columns have no room for 50 % next to 90 %, nor for 99.99 % next to 99.9 %.
            ticks = TICKS[1:4] if axes.shape[1] == MOST_COLUMNS else TICKS
            _spectrum_panel(ax, panel.rows, legend, ticks)
            ax.set_title(panel.title, loc="left", pad=5)
        for row in axes:
            row[0].set_ylabel(_("Latency (µs)"))
        figure.supxlabel(_(SHARE), fontsize="medium")
        sns.despine(figure)
        handles = [look.handle(linewidth=1.2) for look in legend]
        draw.legend(figure, handles)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        return {
            "title": _("{}, {}: {} % are not slower than").format(
                row["name"], sentence(row["operation"]), _shown(row["percent"])
            ),
            **chart.value_texts(row, "latency", "us"),
            "beyond_text": whole(row["beyond"]),
            "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
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
            base.mark_point(filled=True, size=18, opacity=0.9).encode(**chart.texts(self.texts)),
        ]


def _box(ax: plt.Axes, x: float, width: float, row, look: Style) -> None:
    p1, p5, p25, p50, p75, p95, p99 = (getattr(row, name) for name in SHARES[:-1])
    ax.vlines(x, p5, p95, color=draw.DARK, linewidth=0.8, zorder=2)
    ax.hlines([p5, p95], x - width / 4, x + width / 4, color=draw.DARK, linewidth=0.8, zorder=2)
    style = {"facecolor": look.color, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0}
    ax.bar(x, p75 - p25, width, bottom=p25, zorder=3, **style)
    # The outline apart: the edge's colour is that of the hatch. Quartiles may be equal.
    left, right = x - width / 2, x + width / 2
    corners = [left, right, right, left, left], [p25, p25, p75, p75, p25]
    ax.plot(*corners, color=draw.DARK, linewidth=0.6, zorder=4)
    ax.hlines(p50, left, right, color="white", linewidth=3.2, zorder=5)
    ax.hlines(p50, left, right, color=draw.DARK, linewidth=1.6, zorder=6)
    ax.plot([x, x], [p1, p99], "o", color=draw.DARK, markersize=2, zorder=3)


def _short(count: float) -> str:
    """A number of operations with few characters: 12 k, 3.4 M."""
    for factor, letter in ((1e6, "M"), (1e3, "k")):
        if count >= factor:
            return f"{significant(count / factor, 2)}\N{NARROW NO-BREAK SPACE}{letter}"
    return f"{count:.0f}"


def _spectrum_panel(
    ax: plt.Axes, table: pd.DataFrame, legend: list[Style], ticks: list[float]
) -> None:
    for look, of_store in draw.by_style(table, legend):
        rows = of_store.sort_values("percent")
        x = odds(rows["percent"])
        # A latency of 0 µs has no place on a logarithmic axis.
        low, value, high = (rows[name].clip(lower=1) for name in ENDS)
        if (rows["n"] > 1).any():
            ax.fill_between(x, low, high, color=look.color, alpha=0.2, linewidth=0)
        ax.plot(x, value, **look.style(linewidth=1.2))
    ax.set(xscale="log", yscale="log", xlim=(1, _farthest(table)))
    ax.xaxis.set_major_locator(ticker.FixedLocator([float(odds(tick)) for tick in ticks]))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(percent_words))
    low, high = ax.get_ylim()
    steps = (1, 2, 5) if high < 100 * low else (1,)
    draw.number_axis(ax.yaxis, ticker.LogLocator(subs=steps))
    ax.minorticks_off()


def _farthest(table: pd.DataFrame) -> float:
    """The end of the axis of shares."""
    return max(float(odds(table["percent"]).max()) * 1.05, 2)


def odds(percent):
    """Return the position of a percentage: 1/(1 - p)."""
    return 100 / (100 - percent)


def _shown(percent: float) -> str:
    """With two digits of what is left to 100: 99.988 for 99.98763."""
    left = 100 - percent
    digits = max(0, 1 - math.floor(math.log10(left))) if left > 0 else 0
    return decimal(f"{round(percent, digits):.10g}")


def percent_words(place: float, _position: int) -> str:
    return decimal(f"{round(100 - 100 / place, 6):g} %")
