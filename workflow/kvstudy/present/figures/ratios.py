"""Every two stores compared, with the noise floor behind: a forest plot per workload."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import ratio_of
from kvstudy.analyse.tidy.numbers import significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.libraries import alt, pd, plt, ticker
from kvstudy.present.drawing.chart import Chart, Panel, from_to, is_number, plain, texts
from kvstudy.present.drawing.draw import DARK, DrawnFigure, Looks, grid
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["workload", "parameters", "one", "other", "ratio", "low", "high"],
    *["decision", "in_floor", "floor"],
]
ACROSS = 4
GREY = "0.6"
MOST_TICKS = 5
TEXTS = {
    "ratio_text": N_("Ratio of the throughputs"),
    "interval": N_("95 % interval"),
    "verdict": N_("Verdict"),
    "floor_text": N_("Noise floor"),
    "cells": N_("Sizes"),
}
NOTE = N_(
    "Filled: a difference. Square: equal within ±10 %. Hollow: undecided. Faint: not above the "
    "noise floor, the grey band. "
    "Right of 1 the first store is faster."
)

WORDS = {
    "faster": N_("a difference"),
    "equal": N_("equal within ±10 %"),
    "undecided": N_("undecided"),
}


class RatioPlot(DrawnFigure):
    """Throughput ratios of every two stores, before the noise floor; a part of every report."""

    controls = "noise floor"
    own_caption = N_(
        "Throughput of each two stores with 95 % intervals, and the noise floor (band)"
    )

    kind: Literal["ratios"] = Field(description="Throughput of every two stores by each other.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and pair of stores, in the study's order: throughput one/other.

        ``low`` and ``high`` are the 95 % interval, ``decision`` and ``in_floor`` as in
        ``analysis.pairs``, ``floor`` the workload's noise floor; NaN where unknown.
        """
        known = run.headline_analysis.floor.set_index(["workload", "parameters"])["floor"].to_dict()
        names = [*run.study.workload_names, MEAN]
        places = {pair: place for place, pair in enumerate(combinations(run.study.store_names, 2))}
        rows = []
        for row in run.headline_analysis.pairs.itertuples():
            one, other = row.faster, row.slower
            if (one, other) not in places:
                one, other = other, one
            limit = known.get((row.workload, row.parameters))
            verdict = [row.decision, row.in_floor, limit]
            rows.append([row.workload, row.parameters, one, other, *ratio_of(row, one), *verdict])
        rows.sort(key=lambda row: (names.index(row[0]), row[1], places[row[2], row[3]]))
        return pd.DataFrame(rows, columns=COLUMNS)

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """One panel per workload, one line per pair; the floor is a grey band.

        Filled points are differences, squares are equal; hollow points are undecided, grey ones
        not above the noise floor.
        """
        labels = {
            pair: f"{looks.titles[pair[0]]} / {looks.titles[pair[1]]}"
            for pair in dict.fromkeys(zip(table["one"], table["other"], strict=True))
        }
        panels = list(table.groupby(["workload", "parameters"], sort=False))
        height = 0.55 + 0.2 * max(len(labels), 1)
        figure, axes = grid(len(panels), ACROSS, 0.35, height, sharey=True)
        for ax in axes.flat[max(len(panels), 1) :]:
            ax.set_visible(False)
        if not panels:
            axes[0, 0].set_axis_off()
            nothing = _("no two stores have a repetition in common")
            axes[0, 0].text(0.5, 0.5, nothing, ha="center")
        sizes = table.groupby("workload")["parameters"].nunique()
        for ax, ((workload, parameters), rows) in zip(axes.flat, panels, strict=False):
            _panel(ax, rows, list(labels))
            use = looks.study.workload(workload)
            # The title of the mean is wider than a panel.
            title = use.short if workload == MEAN else use.title
            several = sizes[workload] > 1
            ax.set_title(f"{title}\n{parameters}" if several else title, loc="left", fontsize=8)
        if panels:
            axes[0, 0].set_yticks(range(len(labels)), labels.values())
            axes[0, 0].set_ylim(len(labels) - 0.5, -0.5)
            figure.supxlabel(_("Ratio of the throughputs"), fontsize=8)
        return figure

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        if table.empty:
            return Chart([], [], note=_("no two stores have a repetition in common"))
        titles = looks.titles
        names = [f"{titles[a]} / {titles[b]}" for a, b in table[["one", "other"]].values]
        pairs = list(dict.fromkeys(names))
        sizes = table.groupby("workload")["parameters"].nunique()
        rows, panels = [], []
        words = _("Ratios of the throughputs of every two stores with 95 % intervals. {}.")
        for place, ((workload, parameters), mine) in enumerate(
            table.groupby(["workload", "parameters"], sort=False)
        ):
            use = looks.study.workload(workload)
            title = use.short if workload == MEAN else use.title
            title += f", {parameters}" if sizes[workload] > 1 else ""
            for row in mine.to_dict("records"):
                rows.append(_row(row, titles, title) | {"panel": place})
            layers = _layers(mine, pairs)
            panels.append(Panel(layers, title, words.format(title), 34 + 24 * len(pairs)))
        return Chart(rows, panels, [], min(len(panels), ACROSS, 3), _(NOTE))


def _panel(ax: plt.Axes, rows: pd.DataFrame, pairs: list[tuple[str, str]]) -> None:
    ax.set_xscale("log")
    ax.axvline(1, color="0.4", linewidth=0.6)
    floor = rows["floor"].iloc[0]
    if pd.notna(floor):
        ax.axvspan(1 / floor, floor, color="0.92", linewidth=0, gid="noise-floor")
    for row in rows.itertuples():
        y = pairs.index((row.one, row.other))
        color = GREY if row.in_floor == "yes" else DARK
        if pd.notna(row.low):
            ax.hlines(y, row.low, row.high, color=color, linewidth=1)
        filled = "white" if row.decision == "undecided" else color
        shape = "s" if row.decision == "equal" else "o"
        ax.plot(row.ratio, y, shape, color=color, markerfacecolor=filled, markersize=4)
    ends = rows[["ratio", "low", "high"]].stack()
    if pd.notna(floor):
        ends = pd.concat([ends, pd.Series([floor, 1 / floor])])
    low, high = min(ends.min(), 0.9) / 1.1, max(ends.max(), 1.1) * 1.1
    ax.set_xlim(low, high)
    ax.xaxis.set_major_locator(ticker.FixedLocator(ticks_of(low, high)))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: decimal(f"{value:g}")))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    ax.tick_params(axis="x", length=3)
    ax.grid(axis="y", visible=False)
    ax.grid(axis="x", visible=True)


def ticks_of(low: float, high: float) -> list[float]:
    """Two to five round numbers from ``low`` to ``high``, on a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Coarse steps first. Around 1 there is always a step of a tenth.
    for factors, every in [((1,), 4), ((1,), 3), ((1,), 2), ((1,), 1), ((1, 3), 1), ((1, 2, 5), 1)]:
        steps = [f * 10.0**d for d in decades if d % every == 0 for f in factors]
        inside = [step for step in steps if low <= step <= high]
        if len(inside) >= 3:
            break
    if len(inside) < 2:
        inside = [0.9, 1, 1.1]
    step = -(-len(inside) // MOST_TICKS)
    return inside[::step]


def _row(row: dict, titles: dict[str, str], title: str) -> dict:
    pair = f"{titles[row['one']]} / {titles[row['other']]}"
    numbers = {name: row[name] for name in ("low", "high", "floor")}
    ends = [significant(row[name]) if is_number(row[name]) else "" for name in ("low", "high")]
    verdict = _(WORDS[row["decision"]])
    if row["decision"] == "undecided" and row["in_floor"] == "yes":
        verdict = _("undecided, not above the noise floor")
    return plain(
        row | numbers, ["workload", "ratio", "low", "high", "decision", "in_floor", "floor"]
    ) | {
        "store": row["one"],
        "other": row["other"],
        "pair": pair,
        "title": f"{pair}, {title}",
        "ratio_text": significant(row["ratio"], 4),
        "interval": from_to(*ends) if all(ends) else "",
        "verdict": verdict,
        "floor_text": significant(row["floor"], 4) if is_number(row["floor"]) else "",
        "cells": row["parameters"],
    }


def _layers(table: pd.DataFrame, pairs: list[str]) -> list[alt.Chart]:
    floor = table["floor"].iloc[0]
    ends = [
        value for value in table[["ratio", "low", "high"]].to_numpy().ravel() if is_number(value)
    ]
    ends += [floor, 1 / floor] if is_number(floor) else []
    domain = [float(min(*ends, 0.9) / 1.1), float(max(*ends, 1.1) * 1.1)]
    x = {"scale": alt.Scale(type="log", domain=domain, nice=False)}
    x |= {
        "title": _("Ratio of the throughputs"),
        "axis": alt.Axis(values=ticks_of(*domain), format="~g", labelOverlap="greedy"),
    }
    y = alt.Y("pair:N", sort=pairs, title=None).axis(labelLimit=150, ticks=False)
    base = alt.Chart().encode(y=y, **texts(TEXTS))
    faint = alt.condition("datum.in_floor === 'yes'", alt.value(0.45), alt.value(1))
    layers = [
        alt.Chart().mark_rule(style="kv-line", aria=False).encode(x=alt.XDatum(1, **x)),
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(style="kv-ink", aria=False)
        .encode(x=alt.X("low:Q", **x), x2="high:Q", opacity=faint),
        base.transform_filter("datum.decision === 'undecided'")
        .mark_point(filled=False, size=60, strokeWidth=1.5, style="kv-ink")
        .encode(x=alt.X("ratio:Q", **x), opacity=faint),
        *(
            base.transform_filter(f"datum.decision === '{decision}'")
            .mark_point(filled=True, size=60, shape=shape, style="kv-ink")
            .encode(x=alt.X("ratio:Q", **x), opacity=faint)
            for decision, shape in (("faster", "circle"), ("equal", "square"))
        ),
    ]
    if not is_number(floor):
        return layers
    band = alt.Chart().mark_rect(style="kv-band", aria=False)
    return [band.encode(x=alt.XDatum(float(1 / floor), **x), x2=alt.datum(float(floor))), *layers]
