"""Throughput against the 99th percentile of latency, a mark for each store and workload."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import alt, lines, pd, plt, sns, ticker
from kvstudy.present.drawing.chart import (
    Chart,
    Panel,
    between,
    exact,
    line_entry,
    log_axis,
    plain,
    runs,
    shape,
    texts,
)
from kvstudy.present.drawing.draw import MARKERS, TEXT_WIDTH, DrawnFigure, Looks
from kvstudy.study.base import Name, Operation

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["workload", "parameters", "store", "operation", "throughput", "throughput_low"],
    *["throughput_high", "latency", "latency_low", "latency_high", "n", "note"],
]
PERCENT = 99.0
TEXTS = {
    "throughput_text": N_("Throughput"),
    "throughput_range": N_("95 % interval"),
    "latency_text": N_("99th percentile"),
    "latency_range": N_("Range of the single runs"),
    "runs": N_("Of"),
}


class Tradeoff(DrawnFigure):
    """Throughput against the 99th percentile of latency, a mark for each store and workload."""

    kind: Literal["tradeoff"] = Field(
        description="Throughput, with its 95 % interval, against the 99th percentile of an "
        "operation's latency, with the range of the runs: a mark for each store and workload."
    )
    workloads: Annotated[list[Name], Field(min_length=1)] = Field(description="Their names.")
    operation: Operation = Field(description="The operation whose latency is shown.")

    @property
    def in_overview(self) -> bool:
        """Always: it has all stores, and mostly several workloads."""
        return True

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and store: throughput (ops/s) and latency (us); NaN where unknown.

        Throughput is the geometric mean over ``n`` runs, the percentile that of all runs
        together. ``note`` says why a value is missing.
        """
        speeds, delays = run.headline_analysis.intervals, run.headline_analysis.percentiles
        speeds = speeds[(speeds["operation"] == "overall") & (speeds["metric"] == "throughput")]
        of_operation = (delays["operation"] == self.operation) & (delays["percent"] == PERCENT)
        keys = ["workload", "parameters", "store"]
        values = [*keys, "value", "low", "high"]
        both = speeds[[*values, "n"]].merge(
            delays.loc[of_operation, values], on=keys, suffixes=("_speed", "_delay")
        )
        rows = []
        for workload in self.workloads:
            for store in run.study.store_names:
                mine = both[(both["workload"] == workload) & (both["store"] == store)]
                for row in mine.itertuples():
                    speed = [row.value_speed, row.low_speed, row.high_speed]
                    delay = [row.value_delay, row.low_delay, row.high_delay]
                    start = [workload, row.parameters, store, self.operation]
                    rows.append([*start, *speed, *delay, row.n, ""])
                if mine.empty:
                    label = run.results.state(store, workload).label
                    note = label or reason("not-timed", operation=self.operation)
                    start = [workload, "", store, self.operation]
                    rows.append([*start, *[math.nan] * 7, note])
        return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[4:11], float))

    def draw(self, rows: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Colours are the stores, shapes the workloads; latency is logarithmic."""
        figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 3.2), layout="constrained")
        known = rows.dropna(subset=["throughput", "latency"])
        for row in known.to_dict("records"):
            color = looks.stores[row["store"]].color
            bars = [_ends(row, "throughput"), _ends(row, "latency")]
            x, y = row["throughput"], row["latency"]
            ax.errorbar(x, y, xerr=bars[0], yerr=bars[1], color=color, linewidth=0.8)
            ax.plot(x, y, self._marker(row["workload"]), color=color, markersize=5, zorder=3)
        if known.empty:
            ax.text(0.5, 0.5, _("nothing was measured"), ha="center", transform=ax.transAxes)
        else:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_minor_locator(ticker.NullLocator())
        plain_number = ticker.FuncFormatter(lambda value, _: grouped(f"{value:g}"))
        ax.xaxis.set_major_formatter(plain_number)
        ax.yaxis.set_major_formatter(plain_number)
        ax.set_xlim(0, None)
        ax.set(xlabel=_("Throughput") + " (ops/s)", ylabel=self._latency_title())
        sns.despine(figure)
        handles = [
            lines.Line2D([], [], ls="", marker="o", color=look.color, label=look.title)
            for store, look in looks.stores.items()
            if store in set(known["store"])
        ]
        handles += [
            lines.Line2D([], [], ls="", marker=marker, color="0.35", label=title)
            for title, marker in self._workloads(looks)
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=6, handletextpad=0.2)
        return figure

    def chart(self, rows: pd.DataFrame, looks: Looks) -> Chart:
        """The same marks; values that are missing are told below."""
        known = rows.dropna(subset=["throughput", "latency"])
        if known.empty:
            return Chart([], [], note=_("nothing was measured"))
        data = [self._row(row, looks) for row in known.to_dict("records")]
        shown = set(known["store"])
        legend = [
            line_entry(look.title, look.color, None, "o", store)
            for store, look in looks.stores.items()
            if store in shown
        ]
        legend += [
            line_entry(title, "#808080", None, marker) for title, marker in self._workloads(looks)
        ]
        words = _("Points: throughput in ops/s and 99th percentile of latency in µs, by store.")
        panel = Panel(self._layers(known, looks), description=words, height=280)
        absent = [
            f"{looks.stores[row['store']].title}, {looks.study.workload(row['workload']).short}: "
            f"{row['note']}"
            for row in rows[rows["latency"].isna()].to_dict("records")
        ]
        return Chart(data, [panel], legend, 1, "; ".join(absent))

    def _row(self, row: dict, looks: Looks) -> dict:
        look, use = looks.stores[row["store"]], looks.study.workload(row["workload"])
        speed = [row[name] for name in ("throughput_low", "throughput_high")]
        delay = [row[name] for name in ("latency_low", "latency_high")]
        return plain(row, ["store", "workload", *COLUMNS[4:11]]) | {
            "panel": 0,
            "name": look.title,
            "title": f"{look.title}, {use.title}",
            "throughput_text": exact("throughput", row["throughput"], "ops/s"),
            "throughput_range": between("throughput", *speed, "ops/s"),
            "latency_text": exact("latency", row["latency"], "us"),
            "latency_range": between("latency", *delay, "us") if row["n"] > 1 else "",
            "runs": runs(row["n"]),
        }

    def _layers(self, table: pd.DataFrame, looks: Looks) -> list[alt.Chart]:
        right = 1.05 * float(table[["throughput", "throughput_high"]].max(axis=None))
        ends = table[["latency", "latency_low", "latency_high"]].clip(lower=1)
        domain = [float(ends.min(axis=None)) / 1.2, float(ends.max(axis=None)) * 1.2]
        x = {"title": _("Throughput") + " (ops/s)", "axis": alt.Axis(format="~s", tickCount=6)}
        x["scale"] = alt.Scale(domain=[0, right], nice=False)
        y = {"title": self._latency_title(), "axis": log_axis(*domain)}
        y["scale"] = alt.Scale(type="log", domain=domain, nice=False, clamp=True)
        stores = looks.stores.values()
        tints = alt.Scale(domain=[s.title for s in stores], range=[s.color for s in stores])
        color = alt.Color("name:N", scale=tints, legend=None)
        shapes = [shape(self._marker(name)) for name in self.workloads]
        scale = alt.Scale(domain=self.workloads, range=shapes)
        base = alt.Chart().encode(color=color)
        rule = base.mark_rule(aria=False, strokeWidth=1.2)
        high = alt.X("throughput:Q", **x), alt.Y("latency:Q", **y)
        return [
            rule.encode(x=alt.X("throughput_low:Q", **x), x2="throughput_high:Q", y=high[1]),
            rule.encode(x=high[0], y=alt.Y("latency_low:Q", **y), y2="latency_high:Q"),
            base.mark_point(filled=True, size=70, opacity=1).encode(
                *high, shape=alt.Shape("workload:N", scale=scale, legend=None), **texts(TEXTS)
            ),
        ]

    def _marker(self, workload: str) -> str:
        return MARKERS[self.workloads.index(workload) % len(MARKERS)]

    def _workloads(self, looks: Looks) -> list[tuple[str, str]]:
        """Titles and markers of the workloads, where there are several."""
        several = self.workloads if len(self.workloads) > 1 else []
        return [(looks.study.workload(name).short, self._marker(name)) for name in several]

    def _latency_title(self) -> str:
        return _("99th percentile of {} (µs)").format(sentence(self.operation))


def _ends(row: dict, name: str) -> list[list[float]] | None:
    """How far an interval reaches below and above its value; None for a single run."""
    low, value, high = row[f"{name}_low"], row[name], row[f"{name}_high"]
    return None if math.isnan(low) or math.isnan(high) else [[value - low], [high - value]]
