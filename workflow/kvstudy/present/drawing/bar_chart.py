"""Bars in groups, one per store: what the kinds bars and averages draw."""

from __future__ import annotations

import math
from typing import ClassVar

from kvstudy.analyse.tidy.numbers import rate, sign
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, lines, np, patches, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.present.drawing.marks import MARKS, mark_handles, mark_notes, marks_of

COLUMNS = [
    *["panel", "group", "store", "value", "unit", "min", "max", "n", "broken", "note"],
    *["low", "high", "runs", "inconsistent", "other_size"],
]
NUMBERS = ["value", "min", "max", "low", "high", "n"]
TEXTS = {"exact": N_("Value"), "range": N_("Range"), "interval": N_("95 % interval")}
TEXTS |= {"runs": N_("Mean of"), "note": N_("Note"), "cut": N_("Bar")}
# Room above the highest bar for its value, upright or turned.
ROOM = 1.24
# Pixels of a bar below which its value is turned, or left out.
UPRIGHT, LEAST = 38, 9
# How a value is that is turned, and that is not.
STANDS = {"angle": (270, 0), "align": ("'left'", "'center'"), "dx": (4, 0), "dy": (0, -4)}
STANDS |= {"baseline": ("'middle'", "'bottom'")}
# Steps of the axis of values, and what a number there needs in print.
MOST_TICKS, TICK_POINTS = 6, 9
# Values are upright on their bars where they fit at one of these sizes.
LABEL_SIZES = (8, 7, 6)
# Where values above the highest bar that stays are drawn, by its height: those just above it and
# the highest one. Between it and the first, broken bars have a gap: its ends, by the same height,
# and how much the right side of its edges is higher than the left in print.
UPPER_START, UPPER_END = 1.2, 1.65
GAP, SLANT = (1.05, 1.15), 0.06
DOTS = {"marker": "o", "markersize": 2.6, "markerfacecolor": "white", "markeredgewidth": 0.6}
DOTS |= {"markeredgecolor": draw.DARK, "linestyle": "none"}
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
    usual = {"broken": "no", "runs": "", "note": ""} | dict.fromkeys(MARKS, "no")
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
    than ``WHISKER_HEIGHT`` allows) and ``reach`` (of all of these).
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
    highest_dots = [max(heights, default=math.nan) for heights in dots]
    reach = drawn[["height", "upper"]].assign(dots=highest_dots).max(axis=1)
    return table.assign(**drawn, dots=dots, reach=reach)


class BarFigure(DrawnFigure):
    """Bars in groups, one for each store in a group."""

    texts = TEXTS
    fields = ("store", "workload", "group", "broken", "note", *NUMBERS)
    # What a dot is.
    dot: ClassVar[str] = N_("one run")

    @property
    def value_name(self) -> str:
        """Return the name of the bars' values."""

    def titles(self, table: pd.DataFrame, looks: StyleSheet) -> dict[str, str]:
        """Return the title of each panel."""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """One for each of the titles; the kind adds ``workload`` and ``metric`` of each bar."""
        table = table.assign(group=table["group"].map(sentence))
        of_panel = {panel: with_heights(rows) for panel, rows in table.groupby("panel")}
        words, unit = _("Bar chart. {}. {} in {}, by store."), sign(table["unit"].iloc[0])
        return [
            Panel(title, of_panel[panel], words.format(title, self.value_name, unit))
            for panel, title in self.titles(table, looks).items()
        ]

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        return list(looks.shown(table).values())

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        notes = [_("Dots are the single values.")] if (table["n"] > 1).any() else []
        if table["high"].notna().any():
            notes = [_("Dots are single runs, whiskers 95 % intervals.")]
        return " ".join([*notes, *mark_notes(table)])

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """Up to two groups the panels are side by side, more groups need the width."""
        panels, stores, side_by_side = (
            self.panels(table, looks),
            looks.shown(table),
            self.across > 1,
        )
        rows, columns = (1, len(panels)) if side_by_side else (len(panels), 1)
        # Fixed margins in inches: measuring the text first would double the time.
        widest = max(map(_width, map(rate, table["value"].dropna())), default=0)
        left = 0.32 + 0.075 * max(len(rate(top_of(table))), 3)
        handles = [look.patch() for look in stores.values()]
        if (table["n"] > 1).any():
            handles.append(lines.Line2D([], [], label=_(self.dot), **DOTS))
        if table["high"].notna().any():
            whisker = Style(_("95 % interval"), draw.DARK, marker="|")
            handles.append(whisker.handle(markersize=9))
        if any((panel.rows["beyond"] == "yes").any() for panel in panels):
            further = Style(_("interval exceeds the axis"), draw.DARK, marker="^")
            handles.append(further.handle(markersize=4))
        handles += mark_handles(table)
        right, top, bottom = 0.05, 0.5, 0.25
        gap = left if side_by_side else 0.52
        across = (draw.TEXT_WIDTH - left - right - gap * (columns - 1)) / columns
        bars = max(panel.rows["group"].nunique() for panel in panels) * len(stores)
        # Turned values take the room of the bars.
        turned = _letters(widest, draw.GROUP_WIDTH * across * 72 / bars) is None
        height = 1.7 + 0.3 * turned if side_by_side else 0.55 + 1.45 * rows
        figure, axes = plt.subplots(rows, columns, figsize=(draw.TEXT_WIDTH, height), squeeze=False)
        sizes = {"handlelength": 1.6, "handleheight": 0.9}
        sizes |= {"columnspacing": 1.2, "borderaxespad": 0.1}
        more = draw.legend(figure, handles, loc="upper center", **sizes)
        top, height = top + more, height + more
        figure.subplots_adjust(
            left=left / draw.TEXT_WIDTH,
            right=1 - right / draw.TEXT_WIDTH,
            top=1 - top / height,
            bottom=bottom / height,
            wspace=gap * columns / (draw.TEXT_WIDTH - left - right - gap * (columns - 1)),
            hspace=gap * rows / (height - top - bottom - gap * (rows - 1)),
        )
        for panel, ax in zip(panels, axes.flat, strict=True):
            _panel(ax, panel.rows, stores, widest)
            ax.set_title(panel.title, loc="left", pad=5)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        store, unit, metric = looks.titles[row["store"]], row["unit"], row["metric"]
        ends = {"low": row["min"], "high": row["max"]}
        drawn = ("height", "lower", "upper", "reach")
        shown = {
            "name": store,
            "title": f"{store}, {row['group']}",
            **chart.value_texts(row | ends, metric, unit),
            "interval": chart.exact_range(metric, row["low"], row["high"], unit),
            **{name: chart.plain(row[name]) for name in drawn},
            **{"points": row["dots"], "beyond": row["beyond"]},
            "label": "" if pd.isna(row["value"]) else rate(row["value"]),
            "cut": _("broken bar, higher than drawn") if row["broken"] == "yes" else "",
        }
        if marks := marks_of(row):
            shown["label"] += "".join(marks)
            shown["note"] = "; ".join(marks.values())
        return shown

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        title = f"{self.value_name} ({sign(rows['unit'].iloc[0])})"
        legend = self.legend(table, looks)
        top = top_of(rows)
        # What is left of a broken bar.
        below, above = (top * end for end in GAP)
        pieces = f"[0, {below}], [{above}, datum.height]"
        # Vega would take the decimals from the whole side, which broken bars make long.
        y = {"axis": alt.Axis(title=title, values=_ticks(top), format=",~r")}
        y["scale"] = alt.Scale(domain=[0, reach(rows) * ROOM], nice=False)
        groups = rows["group"].unique().tolist()
        base = chart.by_group("group:N", groups, legend, " ", 0.06, paddingOuter=0.06)
        step = f"width / {len(groups) * len(legend)}"
        stands = {
            name: alt.ExprRef(f"{step} < {UPRIGHT} ? {turned} : {upright}")
            for name, (turned, upright) in STANDS.items()
        }
        whole = base.transform_filter("isValid(datum.value)")
        several = whole.transform_filter("isValid(datum.upper)")
        texts, ink = chart.texts(self.texts), {"style": "kv-ink", "aria": False}
        return [
            whole.transform_calculate(
                pieces=f"datum.broken === 'yes' ? [{pieces}] : [[0, datum.height]]"
            )
            .transform_flatten(["pieces"])
            .transform_calculate(low="datum.pieces[0]", high="datum.pieces[1]")
            .mark_bar()
            .encode(
                y=alt.Y("low:Q", **y), y2="high:Q", **chart.by_legend(legend, "color"), **texts
            ),
            several.mark_rule(**ink).encode(y=alt.Y("lower:Q", **y), y2="upper:Q"),
            *(
                several.transform_filter(only)
                .mark_tick(orient="horizontal", size=7, thickness=1, **ink)
                .encode(y=alt.Y(f"{end}:Q", **y))
                for end, only in (("lower", "true"), ("upper", "datum.beyond === 'no'"))
            ),
            several.transform_filter("datum.beyond === 'yes'")
            .mark_point(shape="triangle-up", filled=True, size=20, **ink)
            .encode(y=alt.Y("upper:Q", **y)),
            whole.transform_flatten(["points"])
            .mark_point(filled=False, size=9, **ink)
            .encode(y=alt.Y("points:Q", **y)),
            whole.mark_text(
                style="kv-text",
                aria=False,
                opacity=alt.ExprRef(f"{step} < {LEAST} ? 0 : 1"),
                fontWeight="normal",
                **stands,
            ).encode(y=alt.Y("reach:Q", **y), text="label:N"),
            chart.gaps(base, "value").encode(y=alt.YDatum(0, **y), **texts),
        ]


def _panel(ax: plt.Axes, table: pd.DataFrame, stores: dict[str, Style], widest: float) -> None:
    """``widest`` is the width of the widest label of all panels: they are alike."""
    highest, width = top_of(table), draw.GROUP_WIDTH / len(stores)
    groups = list(dict.fromkeys(table["group"]))
    places = width * table["store"].map(list(stores).index) + width / 2
    table = table.assign(x=table["group"].map(groups.index) + (places - width * len(stores) / 2))
    bars = {}
    for store, look in stores.items():
        mine = table[table["store"] == store].dropna(subset="value")
        style = {"color": look.color, "edgecolor": "white", "linewidth": 0}
        left, right = mine["x"] - width / 2, mine["x"] + width / 2
        drawn = ax.bar(left, mine["height"], right - left, align="edge", **style)
        # As a text of NumPy's it would be told from that of the legend.
        plt.setp(drawn, hatch=look.hatch)
        bars |= zip(mine.index, drawn, strict=True)
    ax.set_xticks(range(len(groups)), groups)
    ax.set_xlim(-0.5, len(groups) - 0.5)
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    room = width * box.width * 72 / len(groups)
    size = _letters(widest, room)
    # Turned values of thinner bars would run into each other.
    all_values = room >= LABEL_SIZES[0]
    over = 13 if size else 5 + 1.15 * LABEL_SIZES[0] * widest
    ax.set_ylim(0, reach(table) / (1 - over / (box.height * 72)))
    for row in table.itertuples():
        if pd.isna(row.value):
            draw.annotate(ax, row.x, 0, row.note, turned=True, color="0.35")
            continue
        is_broken, marks = row.broken == "yes", "".join(marks_of(row._asdict()))
        if is_broken:
            _break(ax, bars[row.Index], highest)
        _spread(ax, row.x, width, row)
        if all_values or is_broken or marks:
            form = {"turned": size is None, "fontsize": size or LABEL_SIZES[0]}
            form["fontweight"] = "bold" if is_broken else "normal"
            # Half of a dot reaches above its value.
            form["above"] = 2 + (round(DOTS["markersize"] / 2) if row.dots else 0)
            draw.annotate(ax, row.x, row.reach, rate(row.value) + marks, **form)
    points = box.height * 72 * highest / ax.get_ylim()[1]
    ax.set_yticks(_ticks(highest, min(MOST_TICKS, max(1, int(points / TICK_POINTS)))))
    ax.set(xlabel="", ylabel=sign(table["unit"].iloc[0]))
    sns.despine(ax=ax)


def top_of(table: pd.DataFrame) -> float:
    """Height of the highest bar or run that is not broken; 1 where there is none."""
    top = table.loc[table["broken"] == "no", ["value", "max"]].max(axis=None)
    return top if top > 0 else 1.0


def reach(table: pd.DataFrame) -> float:
    """Return the height of the bars, runs and whiskers of a panel (``with_heights``)."""
    return max(top_of(table), table["reach"].max())


def _ticks(top: float, most: int = MOST_TICKS) -> list[float]:
    """Above ``top``, the highest bar that stays, the axis does not hold for broken bars."""
    ticks = ticker.MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top)
    return [float(tick) for tick in ticks if 0 <= tick <= top * 1.001]


def _letters(widest: float, room: float) -> int | None:
    """The size at which the ``widest`` label fits ``room`` (points); None: it has to be turned."""
    return next((size for size in LABEL_SIZES if widest * size < room), None)


def _width(label: str) -> float:
    """Width of ``label`` by its size; DejaVu's digits are twice as wide as its points."""
    return sum(0.64 if letter.isdigit() else 0.32 for letter in label)


def _spread(ax: plt.Axes, x: float, width: float, row) -> None:
    """Dots of the single runs, and the interval where there is one."""
    if not row.dots:
        return
    places = x + width * np.linspace(-0.2, 0.2, len(row.dots))
    ax.plot(places, row.dots, zorder=5, gid="runs", **DOTS)
    if pd.isna(row.upper):
        return
    line = {"color": draw.DARK, "linewidth": 0.8, "zorder": 4}
    ax.vlines(x, row.lower, row.upper, **line)
    ends = [row.lower] if row.beyond == "yes" else [row.lower, row.upper]
    ax.hlines(ends, x - width / 6, x + width / 6, **line)
    if row.beyond == "yes":
        ax.plot(x, row.upper, "^", color=draw.DARK, markersize=3, zorder=4, gid="beyond")


def _break(ax: plt.Axes, bar: patches.Rectangle, highest: float) -> None:
    """A slanted white gap through ``bar`` above the height of the ``highest`` one that stays."""
    sides = [bar.get_x(), bar.get_x() + bar.get_width()]
    below, above = ([highest * (end + side * SLANT / 2) for side in (-1, 1)] for end in GAP)
    ax.fill_between(sides, below, above, color="white", linewidth=0, zorder=3, gid="gap")
    for edge in (below, above):
        # No hatch has such a line.
        ax.plot(sides, edge, color=draw.DARK, linewidth=1, zorder=3, gid="edge")
