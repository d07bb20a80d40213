"""Bars in groups, one per store: what the kinds bars and averages draw."""

from __future__ import annotations

from typing import ClassVar

from kvstudy.analyse.tidy.numbers import MARK, marked_values, rate, sign
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, lines, np, patches, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Look, Looks, Panel

COLUMNS = [
    *["panel", "group", "store", "value", "unit", "min", "max", "n", "broken", "note"],
    *["low", "high", "runs", "rejected"],
]
NUMBERS = ["value", "min", "max", "low", "high", "n"]
TEXTS = {"exact": N_("Value"), "range": N_("Range"), "interval": N_("95 % interval")}
TEXTS |= {"runs": N_("Mean of"), "note": N_("Note"), "cut": N_("Bar")}
# Where a broken bar is cut, by its height: what is left of it.
PIECES = "datum.broken === 'yes' ? [[0, 0.86], [0.885, 0.915], [0.94, 1]] : [[0, 1]]"
# Room above the highest bar for its value, upright or turned.
ROOM = 1.24
# Pixels of a bar below which its value is turned, or left out.
UPRIGHT, LEAST = 38, 9
# How a value stands that is turned, and that is not.
STANDS = {"angle": (270, 0), "align": ("'left'", "'center'"), "dx": (4, 0), "dy": (0, -4)}
STANDS |= {"baseline": ("'middle'", "'bottom'")}
# Values stand upright on their bars where they fit at one of these sizes.
LABEL_SIZES = (8, 7, 6)
# Height of a broken bar by the highest bar that stays.
BROKEN_HEIGHT = 1.14
DOTS = {"marker": "o", "markersize": 2.6, "markerfacecolor": "white", "markeredgewidth": 0.6}
DOTS |= {"markeredgecolor": draw.DARK, "linestyle": "none"}
# How far whiskers reach, by the highest bar or run that stays; longer ones end in an arrow.
WHISKER_HEIGHT = 1.6
# How far a broken bar must stand above the highest one that stays, and above the
# typical one that stays. Below that an axis from zero still shows them all.
ABOVE_HIGHEST = 2.0
ABOVE_MEDIAN = 3.0


def with_broken(rows: list[dict]) -> pd.DataFrame:
    """The ``rows`` as a table, each told whether its bar is broken.

    The rule: sort the bars of a panel by height and cut the row in two, the broken ones
    above and the others below, such that

    - every broken bar is at least twice as high as everything that stays, whiskers too,
    - and at least three times as high as the median of the bars that stay,
    - and at most half of the bars are broken, and two or more stay,
    - and no group of several bars is broken as a whole: broken bars are equally
      high, so nothing could be compared in it.

    Where several cuts are possible, the lowest one holds, so that the bars that
    stay are as readable as they can be. Where none is, no bar is broken. Bars without height
    are left out of the comparison.
    """
    usual = {"broken": "no", "rejected": "no", "runs": "", "note": ""}
    table = pd.DataFrame([usual | row for row in rows], columns=COLUMNS).astype({"n": "Int64"})
    with_height = table[table["value"] > 0].assign(top=table[["value", "max"]].max(axis=1))
    for _panel, bars in with_height.sort_values(["value", "top"], kind="stable").groupby("panel"):
        for cut in range(max(2, (len(bars) + 1) // 2), len(bars)):
            stay, above = bars[:cut], bars[cut:]
            lost = above.loc[~above["group"].isin(stay["group"]), "group"]
            least = max(ABOVE_HIGHEST * stay["top"].max(), ABOVE_MEDIAN * stay["value"].median())
            if above["value"].min() >= least and not lost.duplicated().any():
                table.loc[above.index, "broken"] = "yes"
                break
    return table


class BarFigure(DrawnFigure):
    """Bars in groups, one for each store in a group."""

    texts = TEXTS
    fields = ("store", "workload", "group", "broken", "note", *NUMBERS)
    # What a dot is.
    dot: ClassVar[str] = N_("one run")

    @property
    def value_name(self) -> str:
        """What the bars show."""

    def titles(self, table: pd.DataFrame, looks: Looks) -> dict[str, str]:
        """What stands above each panel."""

    def panels(self, table: pd.DataFrame, looks: Looks) -> list[Panel]:
        """One for each of the titles; the kind adds ``workload`` and ``metric`` of each bar."""
        table = table.assign(group=table["group"].map(sentence))
        words, unit = _("Bar chart. {}. {} in {}, by store."), sign(table["unit"].iloc[0])
        return [
            Panel(title, table[table["panel"] == panel], words.format(title, self.value_name, unit))
            for panel, title in self.titles(table, looks).items()
        ]

    def legend(self, table: pd.DataFrame, looks: Looks) -> list[Look]:
        return list(looks.shown(table).values())

    def note(self, table: pd.DataFrame, looks: Looks) -> str:
        notes = [_("Dots are the single values.")] if (table["n"] > 1).any() else []
        if table["high"].notna().any():
            notes = [_("Dots are single runs, whiskers 95 % intervals.")]
        return " ".join(filter(None, [*notes, chart.rejected_note(table)]))

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Up to two groups the panels stand side by side, more groups need the width."""
        panels, stores, beside = self.panels(table, looks), looks.shown(table), self.across > 1
        rows, columns = (1, len(panels)) if beside else (len(panels), 1)
        # Fixed margins in inches: measuring the text first would double the time.
        widest = max(map(_width, map(rate, table["value"].dropna())), default=0)
        left = 0.32 + 0.075 * max(len(rate(top_of(table))), 3)
        handles = [look.patch() for look in stores.values()]
        if (table["n"] > 1).any():
            handles.append(lines.Line2D([], [], label=_(self.dot), **DOTS))
        if table["high"].notna().any():
            whisker = Look(_("95 % interval"), draw.DARK, marker="|")
            handles.append(whisker.handle(markersize=9))
        handles += draw.rejected_handles(table)
        right, top, bottom = 0.05, 0.5, 0.25
        gap = left if beside else 0.52
        height = 1.9 if beside else 0.55 + 1.6 * rows
        figure, axes = plt.subplots(rows, columns, figsize=(draw.TEXT_WIDTH, height), squeeze=False)
        sizes = {"handlelength": 1.6, "handleheight": 0.9}
        sizes |= {"columnspacing": 1.6, "borderaxespad": 0.1}
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

    def mark(self, row: dict, looks: Looks) -> dict:
        store, unit, metric = looks.titles[row["store"]], row["unit"], row["metric"]
        ends = {"low": row["min"], "high": row["max"]}
        runs = row["runs"] if row["n"] > 1 and row["broken"] == "no" else ""
        shown = {
            "name": store,
            "title": f"{store}, {row['group']}",
            **chart.value_texts(row | ends, metric, unit),
            "interval": chart.exact_range(metric, row["low"], row["high"], unit),
            "points": [float(value) for value in runs.split()],
            "label": "" if pd.isna(row["value"]) else rate(row["value"]),
            "cut": _("cut off, higher than drawn") if row["broken"] == "yes" else "",
        }
        if row["rejected"] == "yes":
            shown |= {"label": shown["label"] + MARK, "note": marked_values()}
        return shown

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: Looks) -> list[alt.Chart]:
        title = f"{self.value_name} ({sign(rows['unit'].iloc[0])})"
        legend = self.legend(table, looks)
        top = top_of(rows)
        most = WHISKER_HEIGHT * top
        y = {"axis": alt.Axis(title=title, values=_ticks(top))}
        y["scale"] = alt.Scale(domain=[0, reach(rows) * ROOM], nice=False)
        groups = rows["group"].unique().tolist()
        base = chart.by_group(
            "group:N", groups, legend, " ", 0.06, paddingOuter=0.06
        ).transform_calculate(
            height=f"datum.broken === 'yes' ? {BROKEN_HEIGHT * top} : datum.value",
            top=f"min(datum.high, {most})",
            end="datum.broken === 'no' ? max(datum.height, datum.max, datum.top) : datum.height",
        )
        step = f"width / {len(groups) * len(legend)}"
        stands = {
            name: alt.ExprRef(f"{step} < {UPRIGHT} ? {turned} : {upright}")
            for name, (turned, upright) in STANDS.items()
        }
        whole = base.transform_filter("isValid(datum.value)")
        several = whole.transform_filter("datum.broken === 'no' && isValid(datum.high)")
        texts, ink = chart.texts(self.texts), {"style": "kv-ink", "aria": False}
        return [
            whole.transform_calculate(pieces=PIECES)
            .transform_flatten(["pieces"])
            .transform_calculate(
                low="datum.height * datum.pieces[0]", high="datum.height * datum.pieces[1]"
            )
            .mark_bar()
            .encode(
                y=alt.Y("low:Q", **y), y2="high:Q", **chart.by_legend(legend, "color"), **texts
            ),
            several.mark_rule(**ink).encode(y=alt.Y("low:Q", **y), y2="top:Q"),
            *(
                several.transform_filter(f"datum.{end} <= {most}")
                .mark_tick(orient="horizontal", size=7, thickness=1, **ink)
                .encode(y=alt.Y(f"{end}:Q", **y))
                for end in ("low", "high")
            ),
            several.transform_filter(f"datum.high > {most}")
            .mark_point(shape="triangle-up", filled=True, size=20, **ink)
            .encode(y=alt.Y("top:Q", **y)),
            whole.transform_flatten(["points"])
            .mark_point(filled=False, size=9, **ink)
            .encode(y=alt.Y("points:Q", **y)),
            whole.mark_text(
                style="kv-text",
                aria=False,
                opacity=alt.ExprRef(f"{step} < {LEAST} ? 0 : 1"),
                fontWeight="normal",
                **stands,
            ).encode(y=alt.Y("end:Q", **y), text="label:N"),
            chart.gaps(base, "value").encode(y=alt.YDatum(0, **y), **texts),
        ]


def _panel(ax: plt.Axes, table: pd.DataFrame, stores: dict[str, Look], widest: float) -> None:
    """``widest`` is the width of the widest label of all panels: they stand alike."""
    highest, width = top_of(table), draw.GROUP_WIDTH / len(stores)
    groups = list(dict.fromkeys(table["group"]))
    places = width * table["store"].map(list(stores).index) + width / 2
    table = table.assign(
        x=table["group"].map(groups.index) + (places - width * len(stores) / 2),
        height=table["value"].where(table["broken"] == "no", BROKEN_HEIGHT * highest),
    )
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
    size = next((size for size in LABEL_SIZES if widest * size < room), None)
    # Turned values of thinner bars would run into each other.
    all_values = room >= LABEL_SIZES[0]
    over = 12 if size else 4 + 1.15 * LABEL_SIZES[0] * widest
    ax.set_ylim(0, reach(table) / (1 - over / (box.height * 72)))
    for row in table.itertuples():
        if pd.isna(row.value):
            draw.write(ax, row.x, 0, row.note, turned=True, color="0.35")
            continue
        is_broken, rejected = row.broken == "yes", row.rejected == "yes"
        top = row.height
        if is_broken:
            _break(ax, bars[row.Index], highest)
        else:
            top = max(top, _spread(ax, row.x, width, row, WHISKER_HEIGHT * highest))
        if all_values or is_broken or rejected:
            form = {"turned": size is None, "fontsize": size or LABEL_SIZES[0]}
            form["fontweight"] = "bold" if is_broken else "normal"
            draw.write(ax, row.x, top, rate(row.value) + MARK * rejected, **form)
    ax.set_yticks(_ticks(highest))
    ax.set(xlabel="", ylabel=sign(table["unit"].iloc[0]))
    sns.despine(ax=ax)


def top_of(table: pd.DataFrame) -> float:
    """Height of the highest bar or run that is not broken; 1 where there is none."""
    top = table.loc[table["broken"] == "no", ["value", "max"]].max(axis=None)
    return top if top > 0 else 1.0


def reach(table: pd.DataFrame) -> float:
    """How high bars, runs and whiskers reach."""
    highest = top_of(table)
    whiskers = table.loc[table["broken"] == "no", "high"].clip(upper=WHISKER_HEIGHT * highest)
    top = BROKEN_HEIGHT * highest if (table["broken"] == "yes").any() else highest
    return max([top, *whiskers.dropna()])


def _ticks(top: float) -> list[float]:
    """Above ``top``, the highest bar that stays, the axis does not hold for broken bars."""
    ticks = ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top)
    return [float(tick) for tick in ticks if 0 <= tick <= top * 1.001]


def _width(label: str) -> float:
    """Width of ``label`` by its size; DejaVu's digits are twice as wide as its points."""
    return sum(0.64 if letter.isdigit() else 0.32 for letter in label)


def _spread(ax: plt.Axes, x: float, width: float, row, most: float) -> float:
    """Dots of the single runs, and the interval where there is one; how high they reach.

    A whisker above ``most`` ends there, in an arrow.
    """
    runs = [float(value) for value in row.runs.split()]
    if len(runs) < 2:
        return 0
    ax.plot(x + width * np.linspace(-0.2, 0.2, len(runs)), runs, zorder=4, gid="runs", **DOTS)
    if pd.isna(row.high):
        return max(runs)
    line = {"color": draw.DARK, "linewidth": 0.8, "zorder": 3}
    ax.vlines(x, row.low, min(row.high, most), **line)
    ends = [end for end in (row.low, row.high) if end <= most]
    ax.hlines(ends, x - width / 6, x + width / 6, **line)
    if row.high > most:
        ax.plot(x, most, "^", color=draw.DARK, markersize=3, zorder=3, gid="beyond")
    return max(*runs, min(row.high, most))


def _break(ax: plt.Axes, bar: patches.Rectangle, highest: float) -> None:
    """Two slanted white cuts through ``bar``, a little below its top."""
    left, right = bar.get_x(), bar.get_x() + bar.get_width()
    slant = highest * 0.06
    for middle in (0.85, 0.93):
        y = bar.get_height() * middle
        # White on a dark edge, so that no hatch hides the cut.
        for color, linewidth in ((draw.DARK, 3), ("white", 2)):
            style = {"color": color, "linewidth": linewidth, "solid_capstyle": "projecting"}
            ends = [y - slant / 2, y + slant / 2]
            (cut,) = ax.plot([left, right], ends, zorder=4, gid=f"cut-{color}", **style)
            # The neighbour may be as high and must not be cut.
            cut.set_clip_path(bar)
