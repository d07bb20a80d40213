"""Latencies of single operations: a box for each kind of operation and store."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import converted, grouped, sign
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import alt, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel
from kvstudy.present.drawing.draw import DARK, GROUP_WIDTH, TEXT_WIDTH, DrawnFigure, Look, Looks
from kvstudy.study.base import Name, Operation
from kvstudy.study.workload import operations_of, properties_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

SHARES = ["p1", "p5", "p25", "p50", "p75", "p95", "p99", "largest"]
COLUMNS = ["operation", "store", "parameters", *SHARES, "unit", "operations", "n", "note"]
# Boxes narrower than that (inches) have no number of operations below them.
NARROW = 0.3
TEXTS = {"p50_text": N_("Median"), "middle": N_("25th to 75th percentile")}
TEXTS |= {"most": N_("5th to 95th percentile"), "nearly": N_("1st to 99th percentile")}
TEXTS |= {"largest_text": N_("Largest"), "count": N_("Operations"), "runs": N_("Of")}
TEXTS |= {"cells": N_("Cells"), "note": N_("Note")}


class Box(DrawnFigure):
    """Latencies of single operations: a box for each kind of operation and store."""

    kind: Literal["box"] = Field(
        description="Latencies of a workload's single operations, a box for each kind and store: "
        "quartiles, whiskers from the 5th to the 95th percentile, points at the 1st and the 99th; "
        "from the histograms, which keep a latency within 0.1 %."
    )
    workload: Name = Field(description="The workload.")
    operations: list[Operation] = Field(default=[], description="Which; left out: all.")
    unit: Literal["us", "ms", "s"] = "us"

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per box, in the order of drawing; ``note`` says why there is none.

        Latencies are in ``unit``; ``operations`` are those of all ``n`` runs.
        """
        use = run.study.workload(self.workload)
        kinds = self.operations or operations_of(properties_of(run.study, use))
        mine = run.headline_analysis.boxes.query("workload == @self.workload")
        mine = mine.set_index(["operation", "store"])
        rows = []
        for operation in kinds:
            for store in run.study.store_names:
                row = {"operation": operation, "store": store, "unit": self.unit}
                if (operation, store) in mine.index:
                    found = mine.loc[(operation, store)]
                    row |= {share: converted(found[share], "us", self.unit) for share in SHARES}
                    row |= {name: found[name] for name in ("parameters", "operations", "n")}
                    row["note"] = ""
                else:
                    label = run.results.state(store, self.workload).label
                    row["note"] = label or reason("not-timed", operation=operation)
                rows.append(row)
        table = pd.DataFrame(rows, columns=COLUMNS)
        return table.astype(dict.fromkeys([*SHARES, "operations", "n"], float))

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Over a logarithmic axis; below each box how many operations it is of."""
        drawing, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.9), layout="constrained")
        groups, stores = list(dict.fromkeys(table["operation"])), list(looks.stores)
        width = GROUP_WIDTH / len(stores)
        below = {"above": 3, "color": "0.35", "xycoords": ax.get_xaxis_transform()}
        unit, least = table["unit"].iloc[0], _least(table)
        for row in table.itertuples():
            left = groups.index(row.operation) - GROUP_WIDTH / 2
            x = left + width * (stores.index(row.store) + 0.5)
            if pd.isna(row.p50):
                draw.write(ax, x, 0, sentence(row.note), turned=True, fontsize=8, **below)
                continue
            _box(ax, x, 0.7 * width, row, looks.stores[row.store], least)
            if TEXT_WIDTH * width / len(groups) > NARROW:
                draw.write(ax, x, 0, _short(row.operations), turned=False, fontsize=6.5, **below)
        ax.set_yscale("log")
        if table["p50"].notna().any():
            low, high = table["p1"].clip(lower=least).min(), table["p99"].clip(lower=least).max()
            # Room below for the numbers.
            decades = max(math.log10(high / low), 0.5)
            ax.set_ylim(low / 10 ** (0.16 * decades), high * 10 ** (0.06 * decades))
        ax.set_xlim(-0.5, len(groups) - 0.5)
        ax.set_xticks(range(len(groups)), map(sentence, groups))
        narrow = ax.get_ylim()[1] / ax.get_ylim()[0] < 300
        draw.number_axis(ax.yaxis, ticker.LogLocator(subs=(1, 2, 5) if narrow else (1,)))
        ax.set_ylabel(_("Latency of an operation ({})").format(sign(unit)))
        sns.despine(drawing)
        drawing.legend(
            handles=[draw.store_patch(look) for look in looks.stores.values()],
            loc="outside upper center",
            ncols=min(len(looks.stores), 5),
        )
        return drawing

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        """Over a logarithmic axis."""
        rows = [_row(row, self, looks.stores) for row in table.to_dict("records")]
        words = _("Box plot of the latencies of single operations in {}, by store.")
        words = words.format(sign(table["unit"].iloc[0]))
        panel = Panel(_layers(table, looks.stores), description=words, height=280)
        return Chart(rows, [panel], chart.bar_legend(looks.stores))


def _least(table: pd.DataFrame) -> float:
    """What YCSB tells from 0, whole microseconds: 0 has no place on a logarithmic axis."""
    return converted(1, "us", table["unit"].iloc[0])


def _box(ax: plt.Axes, x: float, width: float, row, look: Look, least: float) -> None:
    p1, p5, p25, p50, p75, p95, p99 = (max(getattr(row, name), least) for name in SHARES[:-1])
    ax.vlines(x, p5, p95, color=DARK, linewidth=0.8, zorder=2)
    ax.hlines([p5, p95], x - width / 4, x + width / 4, color=DARK, linewidth=0.8, zorder=2)
    style = {"facecolor": look.color, "hatch": look.hatch, "edgecolor": "white", "linewidth": 0}
    ax.bar(x, p75 - p25, width, bottom=p25, zorder=3, **style)
    # The outline apart: the edge's colour is that of the hatch. Quartiles may be equal.
    left, right = x - width / 2, x + width / 2
    corners = [left, right, right, left, left], [p25, p25, p75, p75, p25]
    ax.plot(*corners, color=DARK, linewidth=0.6, zorder=4)
    ax.hlines(p50, left, right, color="white", linewidth=3.2, zorder=5)
    ax.hlines(p50, left, right, color=DARK, linewidth=1.6, zorder=6)
    ax.plot([x, x], [p1, p99], "o", color=DARK, markersize=2, zorder=3)


def _short(count: float) -> str:
    """A number of operations with few characters: 12 k, 3.4 M."""
    for factor, letter in ((1e6, "M"), (1e3, "k")):
        if count >= factor:
            value = count / factor
            number = f"{value:.0f}" if value >= 10 else decimal(f"{value:.1f}")
            return f"{number}\N{NARROW NO-BREAK SPACE}{letter}"
    return f"{count:.0f}"


def _row(row: dict, figure: Box, stores: dict[str, Look]) -> dict:
    unit, look = row["unit"], stores[row["store"]]
    there, operation = not pd.isna(row["p50"]), sentence(row["operation"])
    ranges = {"middle": ("p25", "p75"), "most": ("p5", "p95"), "nearly": ("p1", "p99")}
    return chart.plain(row, ["store", *SHARES, "n", "note"]) | {
        "panel": 0,
        "operation": operation,
        "workload": figure.workload,
        "name": look.title,
        "title": f"{look.title}, {operation}",
        **{f"{name}_text": chart.exact("latency", row[name], unit) for name in ("p50", "largest")},
        **{
            name: chart.exact_range("latency", row[low], row[high], unit)
            for name, (low, high) in ranges.items()
        },
        "count": grouped(f"{row['operations']:.0f}") if there else "",
        "runs": chart.runs(row["n"]),
        "cells": f"{row['store']}/{figure.workload}/{row['parameters']}" if there else "",
    }


def _layers(table: pd.DataFrame, stores: dict[str, Look]) -> list[alt.Chart]:
    least = _least(table)
    groups = list(dict.fromkeys(map(sentence, table["operation"])))
    titles = [look.title for look in stores.values()]
    clipped = {f"{name}_at": f"max(datum.{name}, {least})" for name in SHARES}
    # Where long names of operations may be broken.
    hyphen = pgettext("in read-modify-write", "-")
    base = alt.Chart().encode(
        x=alt.X("operation:N", sort=groups, scale=alt.Scale(paddingInner=0.12))
        .title(None)
        .axis(labelAngle=0, labelExpr=f"split(datum.label, '{hyphen}')", ticks=False),
        xOffset=alt.XOffset("name:N", sort=titles, scale=alt.Scale(paddingInner=0.25)),
        **chart.texts(TEXTS),
    )
    ends = table[["p1", "p99"]].stack().clip(lower=least)
    low, high = (ends.min(), ends.max()) if len(ends) else (least, least)
    title = _("Latency of an operation ({})").format(sign(table["unit"].iloc[0]))
    y = chart.log_side(title, low / 1.3, high * 1.3)
    known = base.transform_filter("isValid(datum.p50)").transform_calculate(**clipped)
    color = chart.by_store(stores)
    rule = {"style": "kv-ink", "aria": False}
    cap = rule | {"orient": "horizontal", "size": 8, "thickness": 1}
    point = {"style": "kv-ink", "aria": False, "size": 9, "filled": True, "opacity": 1}
    return [
        known.mark_rule(**rule).encode(y=alt.Y("p5_at:Q", **y), y2="p95_at:Q"),
        known.mark_tick(**cap).encode(y=alt.Y("p5_at:Q", **y)),
        known.mark_tick(**cap).encode(y=alt.Y("p95_at:Q", **y)),
        known.mark_bar(minBandSize=3).encode(y=alt.Y("p25_at:Q", **y), y2="p75_at:Q", color=color),
        known.mark_tick(orient="horizontal", bandSize=400, thickness=2.5, **rule).encode(
            y=alt.Y("p50_at:Q", **y)
        ),
        known.mark_point(**point).encode(y=alt.Y("p1_at:Q", **y)),
        known.mark_point(**point).encode(y=alt.Y("p99_at:Q", **y)),
        base.transform_filter("!isValid(datum.p50)")
        .mark_text(style="kv-note", angle=270, align="left", baseline="middle", dx=4)
        .encode(y=alt.YValue("height"), text="note:N"),
    ]
