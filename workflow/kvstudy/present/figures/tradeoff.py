"""Throughput against the 99th percentile of latency: a panel for each workload."""

from __future__ import annotations

import math
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.language.current import N_, _
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import alt, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel
from kvstudy.present.drawing.draw import DrawnFigure, Looks
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import Name, Operation
from kvstudy.study.workload import main_operation, properties_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["workload", "parameters", "store", "operation", "throughput", "throughput_low"],
    *["throughput_high", "latency", "latency_low", "latency_high", "n", "note"],
]
PERCENT = 99.0
# Values further apart than that need a logarithmic scale.
WIDE, WIDEST = 10, 30
ACROSS = 4
# Of a line of a panel's title.
LETTERS = 20
TEXTS = {"throughput_text": N_("Throughput"), "throughput_range": N_("95 % interval")}
TEXTS |= {"latency_text": N_("99th percentile"), "latency_range": N_("Range of the single runs")}
TEXTS |= {"runs": N_("Of")}


class Tradeoff(DrawnFigure):
    """Throughput against the 99th percentile of latency: a panel for each workload."""

    kind: Literal["tradeoff"] = Field(
        description="Throughput, with its 95 % interval, against the 99th percentile of an "
        "operation's latency, with the range of the runs: a panel for each workload, a mark for "
        "each store."
    )
    workloads: list[Name] = Field(default=[], description="Their names; left out: all.")
    operation: Operation | None = Field(
        default=None,
        description="The operation whose latency is shown; left out: the one that each workload "
        "asks for most.",
    )

    @property
    def in_overview(self) -> bool:
        """Always: it has all stores, and mostly several workloads."""
        return True

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and store: throughput (ops/s) and latency (us); NaN where unknown.

        Throughput is the geometric mean over ``n`` runs, the percentile that of all runs
        together. ``note`` says why a value is missing.
        """
        study = run.study
        speeds, delays = run.headline_analysis.intervals, run.headline_analysis.percentiles
        speeds = speeds[(speeds["operation"] == "overall") & (speeds["metric"] == "throughput")]
        delays = delays[delays["percent"] == PERCENT]
        keys = ["workload", "parameters", "store"]
        values = [*keys, "value", "low", "high"]
        both = speeds[[*values, "n"]].merge(
            delays[[*values, "operation", "beyond"]], on=keys, suffixes=("_speed", "_delay")
        )
        rows = []
        for workload in self.workloads or study.workload_names:
            use = study.workload(workload)
            operation = self.operation or main_operation(properties_of(study, use))
            of_workload = both[(both["workload"] == workload) & (both["operation"] == operation)]
            for store in study.store_names:
                mine = of_workload[of_workload["store"] == store]
                few = (mine["beyond"] < ENOUGH_BEYOND).any()
                for row in () if few else mine.itertuples():
                    speed = [row.value_speed, row.low_speed, row.high_speed]
                    delay = [row.value_delay, row.low_delay, row.high_delay]
                    start = [workload, row.parameters, store, operation]
                    rows.append([*start, *speed, *delay, row.n, ""])
                if few or mine.empty:
                    label = run.results.state(store, workload).label
                    why = "few-timed" if few else "not-timed"
                    note = label or reason(why, operation=operation)
                    rows.append([workload, "", store, operation, *[math.nan] * 7, note])
        return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[4:11], float))

    def draw(self, rows: pd.DataFrame, looks: Looks) -> plt.Figure:
        """One scale for all panels, so that workloads compare."""
        known = rows.dropna(subset=["throughput", "latency"])
        panels = list(known.groupby("workload", sort=False))
        figure, axes = draw.grid(len(panels), ACROSS, 0.55, 1.6, sharex=True, sharey=True)
        if not panels:
            axes[0, 0].set_axis_off()
            draw.say(axes[0, 0], _("nothing was measured"))
            return figure
        for ax, (workload, of) in zip(axes.flat, panels, strict=False):
            for row in of.to_dict("records"):
                look = looks.stores[row["store"]]
                x, y = row["throughput"], row["latency"]
                bars = {"xerr": _ends(row, "throughput"), "yerr": _ends(row, "latency")}
                ax.errorbar(x, y, **bars, color=look.color, linewidth=0.8)
                ax.plot(x, y, look.marker, color=look.color, markersize=5, zorder=3)
            ax.set_title(fill(_title(workload, of, looks), LETTERS), loc="left")
            ax.grid(axis="both", visible=True)
        _scale(axes[0, 0], "x", known, "throughput")
        _scale(axes[0, 0], "y", known, "latency")
        figure.supxlabel(_side_title("throughput"), fontsize="medium")
        figure.supylabel(_side_title("latency"), fontsize="medium")
        handles = [
            plt.Line2D([], [], ls="", marker=look.marker, color=look.color, label=look.title)
            for store, look in looks.stores.items()
            if store in set(known["store"])
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=6, handletextpad=0.2)
        return figure

    def chart(self, rows: pd.DataFrame, looks: Looks) -> Chart:
        """The same marks; values that are missing are told below."""
        known = rows.dropna(subset=["throughput", "latency"])
        if known.empty:
            return Chart([], [], note=_("nothing was measured"))
        words = _("Points: throughput in ops/s and 99th percentile of latency in µs, by store.")
        legend = chart.point_legend(looks.stores)
        layers, data, panels = _layers(known, legend), [], []
        for place, (workload, of) in enumerate(known.groupby("workload", sort=False)):
            data += [_row(row, looks) | {"panel": place} for row in of.to_dict("records")]
            panels.append(Panel(layers, _title(workload, of, looks), words))
        absent = [
            f"{looks.titles[row['store']]}, {looks.study.workload(row['workload']).short}: "
            f"{row['note']}"
            for row in rows[rows["latency"].isna()].to_dict("records")
        ]
        legend = [entry for entry in legend if entry["store"] in set(known["store"])]
        return Chart(data, panels, legend, min(len(panels), ACROSS), "; ".join(absent))


def _title(workload: str, rows: pd.DataFrame, looks: Looks) -> str:
    return f"{looks.study.workload(workload).title}: {sentence(rows['operation'].iloc[0])}"


def _side_title(name: str) -> str:
    if name == "throughput":
        return _("Throughput") + " (ops/s)"
    return _("99th percentile of latency") + " (µs)"


def _domain(known: pd.DataFrame, name: str) -> tuple[float, float, bool]:
    """The ends of the axis of a value with its interval, and whether it is logarithmic."""
    ends = known[[name, f"{name}_low", f"{name}_high"]].clip(lower=1)
    low, high = float(ends.min(axis=None)), float(ends.max(axis=None))
    return (low / 1.2, high * 1.2, True) if high > WIDE * low else (0.0, high * 1.05, False)


def _scale(ax: plt.Axes, side: str, known: pd.DataFrame, name: str) -> None:
    """The axis ``side`` (x, y) of all panels, with few numbers."""
    low, high, logarithmic = _domain(known, name)
    axis = getattr(ax, f"{side}axis")
    ax.set(**{f"{side}scale": "log" if logarithmic else "linear", f"{side}lim": (low, high)})
    # Between 1 000 and 30 000 there is no room for 3 000 and 10 000.
    steps = (1, 3) if high < WIDEST * low else (1,)
    ticks = ticker.LogLocator(subs=steps) if logarithmic else ticker.MaxNLocator(3)
    draw.number_axis(axis, ticks)
    axis.set_minor_locator(ticker.NullLocator())


def _row(row: dict, looks: Looks) -> dict:
    look, use = looks.stores[row["store"]], looks.study.workload(row["workload"])
    shown = chart.plain(row, ["store", "workload", *COLUMNS[4:11]])
    for name, unit in (("throughput", "ops/s"), ("latency", "us")):
        ends = (row[f"{name}_low"], row[f"{name}_high"])
        shown[f"{name}_text"] = chart.exact(name, row[name], unit)
        shown[f"{name}_range"] = chart.exact_range(name, *ends, unit)
    if row["n"] <= 1:
        shown["latency_range"] = ""
    titles = {"name": look.title, "title": f"{look.title}, {use.title}"}
    return shown | titles | {"runs": chart.runs(row["n"])}


def _layers(known: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    sides = {}
    for name in ("throughput", "latency"):
        low, high, logarithmic = _domain(known, name)
        if logarithmic:
            sides[name] = chart.log_side(_side_title(name), low, high, clamp=True)
            continue
        scale = alt.Scale(domain=[low, high], nice=False)
        axis = alt.Axis(format=",", tickCount=4)
        sides[name] = {"title": _side_title(name), "axis": axis, "scale": scale}
    x = alt.X("throughput:Q", **sides["throughput"])
    y = alt.Y("latency:Q", **sides["latency"])
    across = alt.X("throughput_low:Q", **sides["throughput"])
    up = alt.Y("latency_low:Q", **sides["latency"])
    base = alt.Chart().encode(**chart.by_legend(legend, "color"))
    rule = base.mark_rule(aria=False, strokeWidth=1.2)
    points = base.mark_point(filled=True, size=70, opacity=1)
    return [
        rule.encode(x=across, x2="throughput_high:Q", y=y),
        rule.encode(x=x, y=up, y2="latency_high:Q"),
        points.encode(x=x, y=y, **chart.by_legend(legend, "shape"), **chart.texts(TEXTS)),
    ]


def _ends(row: dict, name: str) -> list[list[float]] | None:
    """How far an interval reaches below and above its value; None for a single run."""
    low, value, high = row[f"{name}_low"], row[name], row[f"{name}_high"]
    return None if math.isnan(low) or math.isnan(high) else [[value - low], [high - value]]
