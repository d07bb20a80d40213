"""Every two stores compared, here and in the source: a dot plot per workload."""

from __future__ import annotations

import math
from itertools import combinations
from textwrap import fill
from typing import Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import fastest_first, floor_of, ratio_of
from kvstudy.analyse.tidy.numbers import MARK, OTHER_SIZE, between, significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.libraries import alt, lines, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.present.drawing.marks import mark_handles, mark_notes, marks_of
from kvstudy.present.typeset.rich_text import with_mark
from kvstudy.present.typeset.table import margin_words
from kvstudy.study.parts import MEAN

COLUMNS = [
    *["workload", "parameters", "one", "other", "ratio", "low", "high"],
    *["decision", "in_floor", "floor", "published", "inconsistent", "other_size"],
]
NUMBERS = ["ratio", "low", "high", "floor", "published"]
ACROSS = 5
# Of a pair, in one line.
LETTERS = 32
GREY = "0.6"
PUBLISHED = {"marker": "D", "markersize": 4, "markerfacecolor": "white", "color": "0.35"}
PUBLISHED |= {"linestyle": "", "zorder": 3}
MOST_TICKS = 5
# How far the marks of here and there are above and below the middle of their line.
APART = 0.16
TEXTS = {"ratio_text": N_("Throughput ratio"), "interval": N_("95 % interval")}
TEXTS |= {"verdict": N_("Verdict"), "published_text": N_("Published")}
TEXTS |= {"floor_text": N_("Noise floor"), "cells": N_("Sizes")}
NOTE = N_("Right of 1, the first store is faster. Square: equal within {}.")
FLOOR_NOTE = N_("Faint: within the noise floor, the grey band.")
VERDICTS = {
    "faster": N_("a difference"),
    "equal": N_("equal within {}"),
    "undecided": N_("undecided"),
}


class RatioPlot(DrawnFigure):
    """Throughput ratios of every two stores, here and in the source; a part of every report."""

    in_template = True
    compares = True
    texts = TEXTS
    fields = ("pair", "workload", "decision", "in_floor", "other_size", *NUMBERS)
    across = 3
    own_caption = N_("Pairwise throughput ratios")

    kind: Literal["ratios"] = Field(description="Throughput ratios of all pairs of stores.")

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per workload and pair of stores, the fastest first: throughput one/other.

        ``low`` and ``high`` are the 95 % interval, ``decision`` and ``in_floor`` as in
        ``analysis.pairs``, ``floor`` the noise floor where it is above 1, ``published`` the ratio
        of the source's values and ``inconsistent`` whether its audit finds one of them
        inconsistent, ``other_size`` whether one of the stores has its own number of records or
        operations; NaN where unknown. Rates do not compare between machines, so there are ratios
        alone.
        """
        floor = floor_of(run.analysis.floor) or 1.0
        pairs = run.headline_analysis.pairs
        of_pair = {(row.workload, row.faster, row.slower): row for row in pairs.itertuples()}
        rows = []
        for workload in [*run.study.workload_names, MEAN]:
            for one, other in combinations(fastest_first(pairs, run.study.store_names), 2):
                published, inconsistent = run.results.published_ratio(one, other, workload)
                masks = {
                    of
                    for of in run.other_sizes
                    if of[0] in (one, other) and workload in (of[1], MEAN)
                }
                source = [published, *("yes" if is_so else "no" for is_so in (inconsistent, masks))]
                row = of_pair.get((workload, one, other), of_pair.get((workload, other, one)))
                if row is not None:
                    verdict = [row.decision, row.in_floor, floor if floor > 1 else math.nan]
                    ratio = [row.parameters, one, other, *ratio_of(row, one), *verdict]
                    rows.append([workload, *ratio, *source])
                elif pd.notna(published) and len(pairs):
                    gap = [math.nan] * 3
                    rows.append([workload, "", one, other, *gap, "", "", math.nan, *source])
        return pd.DataFrame(rows, columns=COLUMNS)

    def nothing(self, table: pd.DataFrame) -> str:
        return _("no pair of stores has a common repetition") if table.empty else ""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """One for each workload; each row has its ``pair``."""
        words = _("Throughput ratios of all pairs of stores with 95 % intervals. {}.")
        one, other = (table[name].map(looks.titles) for name in ("one", "other"))
        pairs = one + " / " + other
        table = table.assign(pair=pd.Categorical(pairs, pairs.unique()))
        height = 34 + 24 * pairs.nunique()
        panels = []
        for workload, rows in table.groupby("workload", sort=False):
            title = _title(workload, looks)
            panels.append(Panel(title, rows, words.format(title), height))
        return panels

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        published = table["published"].notna().any()
        diamonds = _("Hollow diamonds: published.") if published else ""
        floor = _(FLOOR_NOTE) if table["floor"].notna().any() else ""
        note = _(NOTE).format(margin_words(looks.study))
        return " ".join(filter(None, [note, floor, diamonds, *mark_notes(table)]))

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """One panel per workload, one line per pair, one axis for all; the floor is a grey band.

        Filled marks with intervals were measured, squares are equal and grey ones not above the
        noise floor; hollow diamonds were published.
        """
        panels = self.panels(table, looks)
        pairs = panels[0].rows["pair"].cat.categories
        # Long names have several lines, or nothing would be left for the marks.
        labels = [fill(pair, LETTERS) for pair in pairs]
        most = max(label.count("\n") for label in labels)
        height = 0.55 + (0.25 + 0.15 * most) * len(pairs)
        figure, axes = draw.grid(len(panels), ACROSS, 0.35, height, sharey=True, sharex=True)
        # The numbers at the ends of two axes would touch.
        figure.get_layout_engine().set(wspace=0.08)
        for ax, panel in zip(axes.flat, panels, strict=False):
            _panel(ax, panel.rows)
            ax.set_title(panel.title, loc="left", fontsize=8)
        ax = axes[0, 0]
        ax.set_yticks(range(len(pairs)), labels)
        ax.set_ylim(len(pairs) - 0.5, -0.5)
        low, high = _ends(table)
        ax.set_xlim(low, high)
        draw.number_axis(ax.xaxis, ticker.FixedLocator(ticks_of(low, high)), written=decimal)
        ax.minorticks_off()
        figure.supxlabel(_("Throughput ratio"), fontsize=8)
        handles = mark_handles(table)
        if table["published"].notna().any():
            handles.insert(0, lines.Line2D([], [], label=_("published"), **PUBLISHED))
        if table["low"].notna().any():
            measured = Style(_("measured, with its 95 % interval"), draw.DARK, marker="o", line="-")
            handles.insert(0, measured.handle(markersize=4, linewidth=1))
        elif table["published"].notna().any():
            measured = Style(_("measured"), draw.DARK, marker="o")
            handles.insert(0, measured.handle(markersize=4))
        if handles:
            draw.legend(figure, handles)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        limits = [
            significant(row[name]) if math.isfinite(row[name]) else "" for name in ("low", "high")
        ]
        verdict = _(VERDICTS[row["decision"]]) if row["decision"] else _("not measured")
        verdict = verdict.format(margin_words(looks.study))
        if row["decision"] == "undecided" and row["in_floor"] == "yes":
            verdict = _("undecided, within the noise floor")
        elif row["decision"] == "undecided" and (row["low"] > 1 or row["high"] < 1):
            verdict = _("undecided after correction for the number of pairs")
        return {
            "store": row["one"],
            "other": row["other"],
            "title": f"{row['pair']}, {_title(row['workload'], looks)}",
            "ratio_text": _exact(row["ratio"]),
            "interval": between(*limits) if all(limits) else "",
            "verdict": verdict,
            "floor_text": _exact(row["floor"]),
            "published_text": str(
                with_mark(_exact(row["published"]), row["inconsistent"] == "yes")
            ),
            "cells": row["parameters"],
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        domain, floor = _ends(table), rows["floor"].max()
        x = chart.log_side(_("Throughput ratio"), *domain)
        x["axis"] = alt.Axis(values=ticks_of(*domain), format="~g", labelOverlap="greedy")
        pairs = rows["pair"].cat.categories.tolist()
        y = alt.Y("pair:N", sort=pairs, title=None).axis(labelLimit=150, ticks=False)
        base = alt.Chart().encode(y=y, **chart.texts(self.texts))
        faint = alt.condition("datum.in_floor === 'yes'", alt.value(0.45), alt.value(1))
        return [
            *([chart.band(1 / floor, floor, x)] if math.isfinite(floor) else []),
            chart.line_at(x=alt.XDatum(1, **x)),
            base.transform_filter("isValid(datum.low) && isValid(datum.high)")
            .mark_rule(style="kv-ink", aria=False)
            .encode(x=alt.X("low:Q", **x), x2="high:Q", opacity=faint),
            *(
                base.transform_filter(f"datum.decision {same} 'equal' && isValid(datum.ratio)")
                .mark_point(filled=True, size=60, shape=shape, style="kv-ink")
                .encode(x=alt.X("ratio:Q", **x), opacity=faint)
                for same, shape in (("!==", "circle"), ("===", "square"))
            ),
            base.transform_filter("datum.other_size === 'yes' && isValid(datum.ratio)")
            .mark_text(style="kv-text", text=OTHER_SIZE, dx=8, aria=False)
            .encode(x=alt.X("ratio:Q", **x)),
            base.transform_filter("isValid(datum.published)")
            .mark_point(filled=False, size=60, shape="diamond", style="kv-ink")
            .encode(x=alt.X("published:Q", **x)),
        ]


def _title(workload: str, looks: StyleSheet) -> str:
    use = looks.study.workload(workload)
    # The title of the mean is wider than a panel.
    return use.short if workload == MEAN else use.title


def _ends(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis of all panels, with room around the values."""
    values = table[NUMBERS].stack()
    values = pd.concat([values, 1 / table["floor"].dropna()])
    # With room for the mark next to the last value.
    return float(min(values.min(), 0.9) / 1.3), float(max(values.max(), 1.1) * 1.6)


def _panel(ax: plt.Axes, rows: pd.DataFrame) -> None:
    ax.set_xscale("log")
    ax.axvline(1, color="0.4", linewidth=0.6)
    floor = rows["floor"].max()
    if pd.notna(floor):
        ax.axvspan(1 / floor, floor, color="0.92", linewidth=0, gid="noise-floor")
    apart = APART if rows["published"].notna().any() else 0
    for place, row in zip(rows["pair"].cat.codes, rows.itertuples(), strict=True):
        y, below = place - apart, place + apart
        color = GREY if row.in_floor == "yes" else draw.DARK
        if pd.notna(row.low):
            ax.hlines(y, row.low, row.high, color=color, linewidth=1)
        ax.plot(row.ratio, y, "s" if row.decision == "equal" else "o", color=color, markersize=4)
        ax.plot(row.published, below, **PUBLISHED)
        for mark, *at in [(MARK, row.published, below), (OTHER_SIZE, row.ratio, y)]:
            if mark in marks_of(row._asdict()):
                ax.annotate(mark, at, (3, -1), textcoords="offset points", fontsize=7)
    ax.tick_params(axis="x", length=3, labelbottom=True)
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


def _exact(value: float) -> str:
    return significant(value, 4) if math.isfinite(value) else ""
