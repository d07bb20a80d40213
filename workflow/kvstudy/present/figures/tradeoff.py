"""Throughput against the 99th percentile of latency: a panel for each workload."""

from __future__ import annotations

import math
from textwrap import fill
from typing import Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import OTHER_SIZE
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import alt, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.present.drawing.marks import mark_handles, mark_notes, marks_of
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import Name, Operation
from kvstudy.study.workload import main_operation, properties_of

NUMBERS = ["throughput", "throughput_low", "throughput_high"]
NUMBERS += ["latency", "latency_low", "latency_high", "n"]
COLUMNS = ["workload", "parameters", "store", "operation", *NUMBERS, "note", "other_size"]
PERCENT = 99.0
# Values further apart than that need a logarithmic scale.
WIDE, WIDEST = 10, 30
# Of a line of a panel's title.
LETTERS = 20
# How a mark is next to its point.
BESIDE = {"xytext": (4, 2), "textcoords": "offset points", "fontsize": 7, "color": draw.DARK}
TEXTS = {"throughput_text": N_("Throughput"), "throughput_range": N_("95 % interval")}
TEXTS |= {"latency_text": N_("99th percentile"), "latency_range": N_("Range of the single runs")}
TEXTS |= {"runs": N_("Of")}


class Tradeoff(DrawnFigure):
    """Throughput against the 99th percentile of latency: a panel for each workload."""

    in_template = True
    texts = TEXTS
    fields = ("store", "workload", "other_size", *NUMBERS)
    across = 4

    kind: Literal["tradeoff"] = Field(
        description="Throughput, with its 95 % interval, against the 99th percentile of an "
        "operation's latency, with the range of the runs: a panel for each workload, a mark for "
        "each store."
    )
    workloads: list[Name] = Field(default=[], description="Their names; left out: all.")
    operation: Operation | None = Field(
        default=None,
        description="The operation of the latency; default: the most frequent one of each "
        "workload.",
    )

    @property
    def in_overview(self) -> bool:
        """Always: it has all stores, and mostly several workloads."""
        return True

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per workload and store: throughput (ops/s) and latency (us); NaN where unknown.

        Throughput is the geometric mean over ``n`` runs, the percentile that of all runs
        together. ``note`` says why a value is missing, ``other_size`` (yes, no) whether the store
        has its own number of records or operations.
        """
        study, analysis = run.study, run.headline_analysis
        speeds = analysis.intervals.query("operation == 'overall' and metric == 'throughput'")
        delays = analysis.percentiles.query("percent == @PERCENT")
        both = _named(speeds.drop(columns="operation"), "throughput").merge(
            _named(delays, "latency"),
            on=["workload", "parameters", "store"],
            suffixes=("", "_of_percentile"),
        )
        rows = []
        for workload in self.workloads or study.workload_names:
            use = study.workload(workload)
            operation = self.operation or main_operation(properties_of(study, use))
            for store in study.store_names:
                key = {"workload": workload, "store": store, "operation": operation}
                mine = both[(both[list(key)] == list(key.values())).all(axis=1)]
                if len(mine) and (mine["beyond"] >= ENOUGH_BEYOND).all():
                    other_sizes = "yes" if (store, workload) in run.other_sizes else "no"
                    rows += mine.assign(note="", other_size=other_sizes).to_dict("records")
                else:
                    why = reason("few-timed" if len(mine) else "not-timed", operation=operation)
                    note = run.results.state(store, workload).label or why
                    rows.append(key | {"parameters": "", "note": note})
        return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))

    def nothing(self, table: pd.DataFrame) -> str:
        return _("nothing was measured") if _measured(table).empty else ""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """One for each workload."""
        words = _("Points: throughput in ops/s and 99th percentile of latency in µs, by store.")
        panels = []
        for workload, rows in _measured(table).groupby("workload", sort=False):
            operation = sentence(rows["operation"].iloc[0])
            title = f"{looks.study.workload(workload).title}: {operation}"
            panels.append(Panel(title, rows, words))
        return panels

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        return looks.legend(_measured(table), "marker")

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        """Explain missing values and marks."""
        missing = "; ".join(
            f"{looks.titles[row.store]}, {looks.study.workload(row.workload).short}: {row.note}"
            for row in table[table["latency"].isna()].itertuples()
        )
        return " ".join(filter(None, [missing, *mark_notes(table)]))

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """One scale for all panels, so that workloads compare."""
        panels = self.panels(table, looks)
        figure, axes = draw.grid(len(panels), self.across, 0.55, 1.6, sharex=True, sharey=True)
        for ax, panel in zip(axes.flat, panels, strict=False):
            for row in panel.rows.to_dict("records"):
                look = looks.stores[row["store"]]
                x, y = row["throughput"], row["latency"]
                bars = {"xerr": _ends(row, "throughput"), "yerr": _ends(row, "latency")}
                ax.errorbar(x, y, **bars, color=look.color, linewidth=0.8)
                ax.plot(x, y, look.marker, color=look.color, markersize=5, zorder=3)
                ax.annotate("".join(marks_of(row)), (x, y), **BESIDE)
            ax.set_title(fill(panel.title, LETTERS), loc="left")
            ax.grid(axis="both", visible=True)
            # Outside they would strike through the numbers.
            ax.tick_params(which="minor", direction="in", length=2)
        _scale(axes[0, 0], "x", table, "throughput")
        _scale(axes[0, 0], "y", table, "latency")
        figure.supxlabel(_side_title("throughput"), fontsize="medium")
        figure.supylabel(_side_title("latency"), fontsize="medium")
        handles = [look.handle() for look in self.legend(table, looks)] + mark_handles(table)
        draw.legend(figure, handles, handletextpad=0.2)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        look, use = looks.stores[row["store"]], looks.study.workload(row["workload"])
        shown = {"name": look.title, "title": f"{look.title}, {use.title}"}
        for name, unit in (("throughput", "ops/s"), ("latency", "us")):
            ends = (row[f"{name}_low"], row[f"{name}_high"])
            shown[f"{name}_text"] = chart.exact(name, row[name], unit)
            shown[f"{name}_range"] = chart.exact_range(name, *ends, unit)
        if row["n"] <= 1:
            shown["latency_range"] = ""
        return shown | {"runs": chart.runs(row["n"])}

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        legend, sides = self.legend(table, looks), {}
        for name in ("throughput", "latency"):
            low, high, logarithmic = _domain(table, name)
            if logarithmic:
                sides[name] = chart.log_side(_side_title(name), low, high, clamp=True)
            else:
                sides[name] = chart.linear(_side_title(name), low, high, format=",", tickCount=4)
        x, y = sides["throughput"], sides["latency"]
        base = alt.Chart().encode(
            x=alt.X("throughput:Q", **x),
            y=alt.Y("latency:Q", **y),
            **chart.by_legend(legend, "color"),
        )
        rule = base.mark_rule(aria=False, strokeWidth=1.2)
        return [
            rule.encode(x=alt.X("throughput_low:Q", **x), x2="throughput_high:Q"),
            rule.encode(y=alt.Y("latency_low:Q", **y), y2="latency_high:Q"),
            base.mark_point(filled=True, size=70, opacity=1).encode(
                **chart.by_legend(legend, "shape"), **chart.texts(self.texts)
            ),
            base.transform_filter("datum.other_size === 'yes'").mark_text(
                style="kv-text", text=OTHER_SIZE, dx=9, aria=False
            ),
        ]


def _named(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """``frame`` with the value and the ends of its interval called by ``name``."""
    return frame.rename(columns={"value": name, "low": f"{name}_low", "high": f"{name}_high"})


def _measured(table: pd.DataFrame) -> pd.DataFrame:
    return table.dropna(subset=["throughput", "latency"])


def _side_title(name: str) -> str:
    if name == "throughput":
        return _("Throughput") + " (ops/s)"
    return _("99th percentile of latency") + " (µs)"


def _domain(table: pd.DataFrame, name: str) -> tuple[float, float, bool]:
    """The ends of the axis of a value with its interval, and whether it is logarithmic."""
    ends = _measured(table)[[name, f"{name}_low", f"{name}_high"]].clip(lower=1)
    low, high = float(ends.min(axis=None)), float(ends.max(axis=None))
    return (low / 1.2, high * 1.2, True) if high > WIDE * low else (0.0, high * 1.05, False)


def _scale(ax: plt.Axes, side: str, table: pd.DataFrame, name: str) -> None:
    """The axis ``side`` (x, y) of all panels, with few numbers."""
    low, high, logarithmic = _domain(table, name)
    ax.set(**{f"{side}scale": "log" if logarithmic else "linear", f"{side}lim": (low, high)})
    # Between 1 000 and 30 000 there is no room for 3 000 and 10 000 side by side.
    steps = (1, 3) if side == "y" or high < WIDEST * low else (1,)
    ticks = ticker.LogLocator(subs=steps) if logarithmic else ticker.MaxNLocator(3)
    draw.number_axis(getattr(ax, f"{side}axis"), ticks)
    # Without numbers, they still show what kind of axis it is.
    between = ticker.LogLocator(subs=range(2, 10)) if logarithmic else ticker.NullLocator()
    getattr(ax, f"{side}axis").set_minor_locator(between)
    getattr(ax, f"{side}axis").set_minor_formatter(ticker.NullFormatter())


def _ends(row: dict, name: str) -> list[list[float]] | None:
    """Return the distances of an interval's ends from its value; None for a single run."""
    low, value, high = row[f"{name}_low"], row[name], row[f"{name}_high"]
    return None if math.isnan(low) or math.isnan(high) else [[value - low], [high - value]]
