"""Bars in groups, one per store: what the kinds bars and averages draw."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import (
    MARKS,
    exact_range,
    mark_entries,
    mark_notes,
    mark_texts,
    marks_of,
    value_texts,
)
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, INK, NOTE, Style, StyleSheet
from kvstudy.layout.numbers import rate, sign
from kvstudy.libraries import pd

COLUMNS = [
    *["panel", "group", "store", "value", "unit", "min", "max", "n", "broken", "note"],
    *["low", "high", "runs", "inconsistent", "other_size", "made_of"],
]
TEXTS = {"exact": N_("Value"), "range": N_("Range"), "interval": N_("95 % interval")}
TEXTS |= {"runs": N_("Mean of"), "note": N_("Note"), "cut": N_("Bar")}
# The ends of the axis of values by the highest mark: with room for values, upright or turned.
ROOM = {False: 1.24, True: 1.6}
DOT = Style("", DARK, marker="o", hollow=True)
# The height of a value in print by that of the panel.
LABEL_ROOM = 0.16
# Values are upright on their bars where they fit at one of these sizes.
LABEL_SIZES = (8, 7, 6)
# Where values above the highest bar that stays are drawn, by its height: those just above it and
# the highest one. Between it and the first, broken bars have a gap: its ends, by the same height.
UPPER_START, UPPER_END = 1.2, 1.65
GAP = (1.05, 1.15)
# How far whiskers reach, by the highest bar or run that stays; longer ones end in an arrow.
WHISKER_HEIGHT = 1.6
# How far the highest broken bar, and each of them, must be above the highest one that stays, and
# each above the typical one that stays. Below that an axis from zero still shows them all.
HIGHEST_ABOVE = 3.5
EACH_ABOVE = 2.0
ABOVE_MEDIAN = 3.0


def with_broken(rows: list[dict]) -> pd.DataFrame:
    """The ``rows`` as a table, each told whether its bar is broken.

    The rule: sort the bars of a panel by height and cut the row in two, the broken ones
    above and the others below, such that

    - the highest bar is at least 3.5 times as high as everything that stays, single runs too,
    - every broken bar is at least twice as high as that,
    - and at least three times as high as the median of the bars that stay,
    - and at most half of the bars are broken, and two or more stay,
    - and no group of several bars is broken as a whole: nothing in it would start at zero.

    Of several possible cuts the one between the bars that are furthest apart holds, by their
    ratio. Where none is, no bar is broken. Bars without height are left out of the comparison.
    """
    usual = {"broken": "no", "runs": "", "note": "", "made_of": ""} | dict.fromkeys(MARKS, "no")
    table = pd.DataFrame([usual | row for row in rows], columns=COLUMNS).astype({"n": "Int64"})
    with_height = table[table["value"] > 0].assign(top=table[["value", "max"]].max(axis=1))
    for _panel, bars in with_height.sort_values(["value", "top"], kind="stable").groupby("panel"):
        widest, broken = 0.0, bars.index[:0]
        for cut in range(max(2, (len(bars) + 1) // 2), len(bars)):
            stay, above = bars[:cut], bars[cut:]
            lost = above.loc[~above["group"].isin(stay["group"]), "group"]
            most = stay["top"].max()
            least = max(EACH_ABOVE * most, ABOVE_MEDIAN * stay["value"].median())
            fits = above["value"].min() >= least and above["value"].max() >= HIGHEST_ABOVE * most
            apart = above["value"].min() / most
            if fits and not lost.duplicated().any() and apart > widest:
                widest, broken = apart, above.index
        table.loc[broken, "broken"] = "yes"
    return table


def with_heights(table: pd.DataFrame) -> pd.DataFrame:
    """The bars of one panel with where all of them is drawn, in both forms.

    Up to the highest bar or run that stays (``top_of``) heights are the values themselves. Where
    bars are broken, what is above that is drawn on a coarser scale from ``UPPER_START`` to
    ``UPPER_END`` times that height: higher bars stay higher, and runs and whiskers are next to
    their bar. Columns: ``height``, ``dots`` (a list, of several runs), ``lower`` and ``upper``
    (ends of the whisker; NaN without one), ``beyond`` (yes: it ends in an arrow, since it is longer
    than ``WHISKER_HEIGHT`` allows), ``highest`` (of bar and dots) and ``reach`` (of all of these).
    """
    top, broken = top_of(table), table["broken"] == "yes"
    highest = table.loc[broken, ["value", "max"]].max(axis=None)
    # Of a broken bar, as of one that stays.
    limits = WHISKER_HEIGHT * pd.Series(top, table.index).mask(broken, highest)
    ends = table.assign(high=table["high"].clip(upper=limits))
    peak = ends[["value", "max", "high"]].max(axis=None)

    def height(value: float) -> float:
        if not broken.any() or value <= top:
            return value
        share = (value - top) / (peak - top)
        return top * (UPPER_START + (UPPER_END - UPPER_START) * share)

    runs = [[float(value) for value in texts.split()] for texts in table["runs"]]
    drawn = pd.DataFrame(
        {
            "height": table["value"].map(height, na_action="ignore"),
            "lower": table["low"].map(height, na_action="ignore"),
            "upper": ends["high"].map(height, na_action="ignore"),
            "beyond": (table["high"] > limits).map({True: "yes", False: "no"}),
        }
    )
    dots = [[*map(height, values)] if len(values) > 1 else [] for values in runs]
    drawn["highest"] = [
        max([*of, height]) for of, height in zip(dots, drawn["height"], strict=True)
    ]
    return table.assign(**drawn, dots=dots, reach=drawn[["highest", "upper"]].max(axis=1))


def pieces_of(bars: pd.DataFrame) -> pd.DataFrame:
    """The ``bars`` (``with_heights``) in pieces from ``bottom`` to ``top``; broken ones have two.

    Those end and begin at an ``edge`` of the gap.
    """
    below, above = (top_of(bars) * end for end in GAP)
    whole, torn = (bars[bars["broken"] == is_broken] for is_broken in ("no", "yes"))
    parts = [
        whole.assign(bottom=0.0, top=whole["height"], edge=math.nan),
        torn.assign(bottom=0.0, top=below, edge=below),
        torn.assign(bottom=above, top=torn["height"], edge=above),
    ]
    return pd.concat(parts).dropna(subset="value")


class BarFigure(DrawnFigure):
    """Bars in groups, one for each store in a group."""

    texts = TEXTS
    # What a dot is.
    dot: ClassVar[str] = N_("one run")

    @property
    def value_name(self) -> str:
        """Return the name of the bars' values."""

    def titles(self, table: pd.DataFrame, styles: StyleSheet) -> dict[str, str]:
        """Return the title of each panel."""

    def bars(self, table: pd.DataFrame, styles: StyleSheet) -> pd.DataFrame:
        """Return the ``table`` with the ``workload`` and the ``metric`` of each bar."""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """Up to two groups the panels are side by side, more groups need the width."""
        titles, legend = self.titles(table, styles), styles.legend(table, "hatch")
        table = self.bars(table, styles).assign(
            group=table["group"].map(sentence), name=table["store"].map(styles.titles)
        )
        groups = {panel: (*rows["group"].unique(),) for panel, rows in table.groupby("panel")}
        across = 2 if max(map(len, groups.values())) <= 2 else 1
        columns, members = min(across, len(titles)), tuple(look.title for look in legend)
        sides = [plot.Bands("group", "", texts, members) for texts in groups.values()]
        room = min(plot.group_room(side, columns) for side in sides)
        widest = max(map(_width, map(rate, table["value"].dropna())), default=0)
        size = next((size for size in LABEL_SIZES if widest * size < room), None)
        name, unit = self.value_name, sign(table["unit"].iloc[0])
        words, panels = _("Bar chart. {}. {} in {}, by store."), []
        for panel, title in titles.items():
            bars = with_heights(table[table["panel"] == panel])
            top, high = top_of(bars), reach(bars) * ROOM[size is None]
            bars = _labelled(bars, room, 0 if size is None else LABEL_ROOM * high)
            is_broken = (bars["broken"] == "yes").any()
            x = plot.Bands("group", "", groups[panel], members)
            # Above the highest bar that stays, the axis does not hold for broken bars.
            ticks = plot.linear_ticks(0, top, 4 if is_broken else 5)
            y = plot.axis("value", f"{name} ({unit})", 0, high, ticks=ticks)
            layers, said = _layers(bars, size), words.format(title, name, unit)
            panels.append(plot.Panel(title, bars, x, y, layers, legend, said))
        several, intervals = (table["n"] > 1).any(), table["high"].notna().any()
        notes = [_("Dots are the single values.")] if several else []
        keys = [replace(DOT, title=_(self.dot))] if several else []
        if intervals:
            notes = [_("Dots are single runs, whiskers 95 % intervals.")]
            keys.append(Style(_("95 % interval"), DARK, marker="|"))
        if any(panel.rows["arrow"].any() for panel in panels):
            keys.append(Style(_("interval exceeds the axis"), DARK, marker="^"))
        return plot.Plot(
            panels,
            legend,
            " ".join([*notes, *mark_notes(table)]),
            keys + mark_entries(table),
            across,
            columns,
            first=0.55,
            each=1.45 + 0.3 * (size is None),
        )

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        unit, metric, ends = row["unit"], row["metric"], {"low": row["min"], "high": row["max"]}
        return {
            "title": f"{row['name']}, {row['group']}",
            **value_texts(row | ends, metric, unit),
            "interval": exact_range(metric, row["low"], row["high"], unit),
            "cut": _("broken bar, higher than drawn") if row["broken"] == "yes" else "",
            "note": "; ".join(marks_of(row).values()) or row["note"],
        }


def _labelled(bars: pd.DataFrame, room: float, gap: float) -> pd.DataFrame:
    """The ``bars`` with texts; in print, turned values of thin bars would run into each other.

    At the tip of an arrow a value would read as the interval's end: there it is below, in a
    ``gap`` of the whisker, where that is long enough.
    """
    arrow, below = bars["beyond"] == "yes", bars["highest"]
    split = arrow & (gap > 0) & (bars["upper"] - below > 1.5 * gap)
    marks = pd.Series(mark_texts(bars), bars.index)
    return bars.assign(
        label=["" if pd.isna(value) else rate(value) for value in bars["value"]] + marks,
        labelled=(room >= LABEL_SIZES[0]) | (bars["broken"] == "yes") | (marks != ""),
        missing=bars["value"].isna(),
        foot=0.0,
        arrow=arrow,
        place=bars["reach"].mask(split, below),
        stop=bars["upper"].mask(split, below),
        resume=(below + gap).where(split),
        ended=bars["beyond"] == "no",
    )


def _layers(bars: pd.DataFrame, size: int | None) -> list[plot.Layer]:
    """Bars and their values; dots of the single runs, and the interval where there is one."""
    pieces = pieces_of(bars)
    dots = bars[bars["dots"].map(len) > 0].explode("dots").astype({"dots": float})
    count = dots.groupby(level=0)["dots"].transform("size")
    dots = dots.assign(shift=0.4 * dots.groupby(level=0).cumcount() / (count - 1) - 0.2)
    label = {"turned": size is None, "size": size or LABEL_SIZES[0]}
    return [
        plot.Bar("bottom", "top", rows=pieces, hover=True),
        plot.Tick("edge", width=1, look=INK, rows=pieces[pieces["edge"].notna()]),
        plot.Whisker("lower", "stop", look=INK, width=0.8),
        plot.Whisker("resume", "upper", look=INK, width=0.8),
        plot.Tick("lower", 0.33, look=INK),
        plot.Tick("upper", 0.33, look=INK, where="ended"),
        plot.Points("upper", size=3, marker="^", look=INK, where="arrow"),
        plot.Points("dots", size=2.6, look=DOT, rows=dots, shift="shift"),
        plot.Label("label", "place", fit=True, only="page"),
        plot.Label("label", "place", dy=3, only="print", where="labelled", **label),
        plot.Label("note", "foot", turned=True, dy=3, look=NOTE, where="missing", hover=True),
    ]


def top_of(table: pd.DataFrame) -> float:
    """Height of the highest bar or run that is not broken; 1 where there is none."""
    top = table.loc[table["broken"] == "no", ["value", "max"]].max(axis=None)
    return top if top > 0 else 1.0


def reach(table: pd.DataFrame) -> float:
    """Return the height of the bars, runs and whiskers of a panel (``with_heights``)."""
    return max(top_of(table), table["reach"].max())


def _width(label: str) -> float:
    """Width of ``label`` by its size; DejaVu's digits are twice as wide as its points."""
    return sum(0.64 if letter.isdigit() else 0.32 for letter in label)
