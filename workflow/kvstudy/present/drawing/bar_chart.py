"""Bars in groups, one per store: what the kinds bars and averages draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from kvstudy.analyse.tidy.numbers import MARK, grouped, marked_values, sign, significant
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, lines, patches, pd, plt, sns, ticker
from kvstudy.present.drawing.chart import (
    Chart,
    Panel,
    bar_legend,
    by_store,
    exact,
    exact_range,
    plain,
    rejected_note,
    runs,
    texts,
    turned_where,
)
from kvstudy.present.drawing.draw import (
    DARK,
    GROUP_WIDTH,
    TEXT_WIDTH,
    Look,
    any_rejected,
    legend_columns,
    rejected_handle,
    store_patch,
    write,
)

COLUMNS = [
    *["panel", "group", "store", "value", "unit", "min", "max", "n", "broken", "note"],
    *["low", "high", "runs", "rejected"],
]
NUMBERS = ["value", "min", "max", "low", "high", "n"]
TEXTS = {
    "exact": N_("Value"),
    "range": N_("Range"),
    "interval": N_("95 % interval"),
    "runs": N_("Mean of"),
    "note": N_("Note"),
    "cut": N_("Bar"),
}
# Where a broken bar is cut, by its height: what is left of it.
PIECES = "datum.broken === 'yes' ? [[0, 0.86], [0.885, 0.915], [0.94, 1]] : [[0, 1]]"
# Room above the highest bar for its value, upright or turned.
ROOM = 1.24
# Pixels of a bar below which its value is turned, or left out.
UPRIGHT, LEAST = 38, 9
# Values stand upright on their bars where they fit at one of these sizes.
LABEL_SIZES = (8, 7, 6)
# Height of a broken bar by the highest bar that stays.
BROKEN_HEIGHT = 1.14
DOTS = {"marker": "o", "markersize": 2.6, "markerfacecolor": "white", "markeredgewidth": 0.6}
DOTS |= {"markeredgecolor": DARK}
# How far whiskers reach, by the highest bar or run that stays; longer ones end in an arrow.
WHISKER_HEIGHT = 1.6


def draw(
    table: pd.DataFrame,
    stores: dict[str, Look],
    source: str,
    titles: Mapping[str, str] | None = None,
) -> plt.Figure:
    """Draw the bars of ``table`` (see ``bars.bars``), one panel for each kind of value.

    ``source`` says in the title of the published panel who published them; ``titles`` are
    those of panels that are neither measured nor published values.
    Up to two groups the panels stand side by side, more groups need the width.
    """
    table = table.assign(
        group=table["group"].map(sentence), note=table["note"].map(sentence, na_action="ignore")
    )
    stores = {store: look for store, look in stores.items() if (table["store"] == store).any()}
    panels = list(dict.fromkeys(table["panel"]))
    groups = table["group"].nunique()
    beside = groups <= 2
    rows, columns = (1, len(panels)) if beside else (len(panels), 1)
    height = 1.9 if beside else 0.55 + 1.6 * rows
    # Fixed margins in inches: measuring the text first would double the time.
    labels = [_label(value) for value in table["value"].dropna()]
    widest = max(map(_width, labels), default=0)
    left = 0.32 + 0.075 * max(len(_label(top_of(table))), 3)
    handles = [store_patch(look) for look in stores.values()]
    handles += _spread_handles(table, _("one size") if titles else _("one run"))
    if any_rejected(table):
        handles.append(rejected_handle())
    in_row = legend_columns(handles)
    right, top, bottom, gap = 0.05, 0.5 if in_row == len(handles) else 0.66, 0.25, 0.52
    if beside:
        gap = left
    height += top - 0.5
    figure, axes = plt.subplots(rows, columns, figsize=(TEXT_WIDTH, height), squeeze=False)
    figure.subplots_adjust(
        left=left / TEXT_WIDTH,
        right=1 - right / TEXT_WIDTH,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=gap * columns / (TEXT_WIDTH - left - right - gap * (columns - 1)),
        hspace=gap * rows / (height - top - bottom - gap * (rows - 1)),
    )
    for panel, ax in zip(panels, axes.flat, strict=True):
        _panel(ax, table[table["panel"] == panel], stores, widest)
        title = titles[panel] if titles else panel_title(panel, table, source)
        ax.set_title(title, loc="left", pad=5)
    figure.legend(
        handles=handles,
        loc="upper center",
        ncols=in_row,
        handlelength=1.6,
        handleheight=0.9,
        columnspacing=1.6,
        borderaxespad=0.1,
    )
    return figure


def panel_title(panel: str, table: pd.DataFrame, source: str) -> str:
    """What stands above a panel of ``bars.bars``; ``source`` says who published."""
    if panel == "published":
        return _("Published {}").format(source).strip()
    here = _("Imported") if panel == "imported" else _("Measured here")
    runs = sorted({int(n) for n in table["n"].dropna()})
    if not runs:
        return here
    if runs == [1]:
        return _("{}: one run").format(here)
    span = "\N{EN DASH}".join(map(str, runs))
    return _("{}: mean of {} runs").format(here, span)


def _panel(ax: plt.Axes, table: pd.DataFrame, stores: dict[str, Look], widest: float) -> None:
    """``widest`` is the width of the widest label of all panels: they stand alike."""
    highest = top_of(table)
    heights = table["value"].where(table["broken"] == "no", BROKEN_HEIGHT * highest)
    sns.barplot(
        data=table.assign(height=heights),
        x="group",
        y="height",
        hue="store",
        hue_order=list(stores),
        palette=[look.color for look in stores.values()],
        saturation=1,
        width=GROUP_WIDTH,
        errorbar=None,
        legend=False,
        ax=ax,
    )
    width = GROUP_WIDTH / len(stores)
    groups = list(dict.fromkeys(table["group"]))
    bars = _bars_by_place(ax, len(stores))
    ax.set_xlim(-0.5, len(groups) - 0.5)
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    room = width * box.width * 72 / len(groups)
    size = next((size for size in LABEL_SIZES if widest * size < room), None)
    # Turned values of thinner bars would run into each other.
    all_values = room >= LABEL_SIZES[0]
    top = max(BROKEN_HEIGHT if (table["broken"] == "yes").any() else 1, reach(table) / highest)
    over = 12 if size else 4 + 1.15 * LABEL_SIZES[0] * widest
    ax.set_ylim(0, highest * top / (1 - over / (box.height * 72)))
    for row in table.itertuples():
        group, store = groups.index(row.group), list(stores).index(row.store)
        x = group - GROUP_WIDTH / 2 + width * (store + 0.5)
        if pd.isna(row.value):
            write(ax, x, 0, row.note, turned=True, color="0.35")
            continue
        bar = bars[group, store]
        bar.set(hatch=stores[row.store].hatch, edgecolor="white", linewidth=0)
        is_broken = row.broken == "yes"
        top = bar.get_height()
        if is_broken:
            _break(ax, bar, highest)
        else:
            top = max(top, _spread(ax, x, width, row, WHISKER_HEIGHT * highest))
        rejected = getattr(row, "rejected", "no") == "yes"
        if all_values or is_broken or rejected:
            text = _label(row.value) + (MARK if rejected else "")
            form = {"turned": size is None, "size": size or LABEL_SIZES[0]}
            write(ax, x, top, text, bold=is_broken, **form)
    # Above the highest bar that stays the axis does not hold for broken bars.
    ticks = ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest)
    ax.set_yticks([tick for tick in ticks if 0 <= tick <= highest * 1.001])
    ax.set(xlabel="", ylabel=sign(table["unit"].iloc[0]))
    sns.despine(ax=ax)


def top_of(table: pd.DataFrame) -> float:
    """Height of the highest bar or run that is not broken; 1 where there is none."""
    tops = table.loc[table["broken"] == "no", ["value", "max"]].max().max()
    return tops if tops > 0 else 1.0


def reach(table: pd.DataFrame) -> float:
    """How high bars, runs and whiskers that are not broken reach."""
    highest = top_of(table)
    whiskers = table.loc[table["broken"] == "no", "high"].clip(upper=WHISKER_HEIGHT * highest)
    return max([highest, *whiskers.dropna()])


def points(runs: object) -> list[float]:
    """The values of single runs, as the CSV has them."""
    return [float(value) for value in str(runs).split()] if isinstance(runs, str) else []


def _bars_by_place(ax: plt.Axes, stores: int) -> dict[tuple[int, int], patches.Rectangle]:
    """Seaborn's bars by group and store, found by where they stand."""
    width = GROUP_WIDTH / stores
    found = {}
    for patch in ax.patches:
        center = patch.get_x() + patch.get_width() / 2
        group = round(center)
        store = round((center - group + GROUP_WIDTH / 2) / width - 0.5)
        found[group, store] = patch
    return found


def _spread_handles(table: pd.DataFrame, single: str) -> list[lines.Line2D]:
    """The entries in a legend of dots (``single`` says of what) and of whiskers, where drawn."""
    if not (table["n"] > 1).any():
        return []
    handles = [lines.Line2D([], [], linestyle="none", label=single, **DOTS)]
    if table["high"].notna().any():
        style = {"marker": "|", "linestyle": "none", "markersize": 9, "color": DARK}
        handles.append(lines.Line2D([], [], label=_("95 % interval"), **style))
    return handles


def _label(value: float) -> str:
    return grouped(significant(value))


def _width(label: str) -> float:
    """Width of ``label`` by its size; DejaVu's digits are twice as wide as its points."""
    return sum(0.64 if letter.isdigit() else 0.32 for letter in label)


def _spread(ax: plt.Axes, x: float, width: float, row, most: float) -> float:
    """Dots of the single runs, and the interval where there is one; how high they reach.

    A whisker above ``most`` ends there, in an arrow.
    """
    runs = points(row.runs)
    if len(runs) < 2:
        return 0
    places = [x + width * (0.4 * place / (len(runs) - 1) - 0.2) for place in range(len(runs))]
    ax.plot(places, runs, linestyle="none", zorder=4, gid="runs", **DOTS)
    if pd.isna(row.high):
        return max(runs)
    line = {"color": DARK, "linewidth": 0.8, "zorder": 3}
    ax.vlines(x, row.low, min(row.high, most), **line)
    ends = [end for end in (row.low, row.high) if end <= most]
    ax.hlines(ends, x - width / 6, x + width / 6, **line)
    if row.high > most:
        ax.plot(x, most, "^", color=DARK, markersize=3, zorder=3, gid="beyond")
    return max(*runs, min(row.high, most))


def _break(ax: plt.Axes, bar: patches.Rectangle, highest: float) -> None:
    """Two slanted white cuts through ``bar``, a little below its top."""
    left, right = bar.get_x(), bar.get_x() + bar.get_width()
    slant = highest * 0.06
    for middle in (0.85, 0.93):
        y = bar.get_height() * middle
        # White on a dark edge, so that no hatch hides the cut.
        for color, linewidth in ((DARK, 3), ("white", 2)):
            (cut,) = ax.plot(
                [left, right],
                [y - slant / 2, y + slant / 2],
                color=color,
                linewidth=linewidth,
                solid_capstyle="projecting",
                zorder=4,
                gid=f"cut-{color}",
            )
            # The neighbour may be as high and must not be cut.
            cut.set_clip_path(bar)


def bar_row(row: dict, metric: str, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    several = row["n"] > 1
    group = sentence(row["group"])
    label = "" if pd.isna(row["value"]) else grouped(significant(row["value"]))
    rejected = row.get("rejected") == "yes"
    return (
        plain(row, ["store", "broken", "note", *NUMBERS])
        | {
            "group": group,
            "side": row["panel"],
            "name": look.title,
            "title": f"{look.title}, {group}",
            "exact": exact(metric, row["value"], row["unit"]),
            "range": exact_range(metric, row["min"], row["max"], row["unit"]) if several else "",
            "interval": exact_range(metric, row["low"], row["high"], row["unit"]),
            "points": points(row["runs"]) if several and row["broken"] == "no" else [],
            "runs": runs(row["n"]),
            "label": label,
            "cut": _("cut off, higher than drawn") if row["broken"] == "yes" else "",
        }
        | ({"label": f"{label}{MARK}", "note": marked_values()} if rejected else {})
    )


def bar_chart(
    table: pd.DataFrame, rows: list[dict], name: str, titles: dict[str, str], stores: dict
) -> Chart:
    shown = {store: look for store, look in stores.items() if store in set(table["store"])}
    unit = sign(table["unit"].iloc[0])
    panels = []
    for place, (side, title) in enumerate(titles.items()):
        mine = table[table["panel"] == side]
        panels.append(
            Panel(
                _layers(mine, shown, f"{name} ({unit})"),
                title,
                _("Bar chart. {}. {} in {}, by store.").format(title, name, unit),
            )
        )
        for row in rows:
            if row["side"] == side:
                row["panel"] = place
    for row in rows:
        del row["side"]
    across = 2 if table["group"].nunique() <= 2 else 1
    notes = [_spread_note(table), rejected_note(table)]
    return Chart(rows, panels, bar_legend(shown), across, " ".join(filter(None, notes)))


def _spread_note(table: pd.DataFrame) -> str:
    if table["high"].notna().any():
        return _("Dots are single runs, whiskers 95 % intervals.")
    return _("Dots are the single values.") if (table["n"] > 1).any() else ""


def _layers(table: pd.DataFrame, stores: dict[str, Look], title: str) -> list[alt.Chart]:
    top = top_of(table)
    has_broken = (table["broken"] == "yes").any()
    ticks = ticker.MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top)
    y_axis = alt.Axis(
        title=title, values=[float(tick) for tick in ticks if 0 <= tick <= top * 1.001]
    )
    most = WHISKER_HEIGHT * top
    height = max(top * (BROKEN_HEIGHT if has_broken else 1), reach(table))
    y_scale = alt.Scale(domain=[0, height * ROOM], nice=False)
    groups = list(dict.fromkeys(table["group"].map(sentence)))
    titles = [look.title for look in stores.values()]
    base = (
        alt.Chart()
        .transform_calculate(
            height=f"datum.broken === 'yes' ? {BROKEN_HEIGHT * top} : datum.value",
            top=f"min(datum.high, {most})",
            end="datum.broken === 'no' ? max(datum.height, datum.max, datum.top) : datum.height",
        )
        .encode(
            x=alt.X("group:N", sort=groups, scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06))
            .title(None)
            .axis(labelAngle=0, labelExpr="split(datum.label, ' ')", ticks=False),
            # Without a domain, so that a hidden store leaves no gap.
            xOffset=alt.XOffset("name:N", sort=titles, scale=alt.Scale(paddingInner=0.06)),
        )
    )
    color = by_store(stores)
    step = f"width / {len(groups) * len(stores)}"
    turned = f"{step} < {UPRIGHT}"
    whole = base.transform_filter("isValid(datum.value)")
    several = whole.transform_filter("datum.broken === 'no' && isValid(datum.high)")
    y = {"axis": y_axis, "scale": y_scale}
    return [
        whole.transform_calculate(pieces=PIECES)
        .transform_flatten(["pieces"])
        .transform_calculate(
            low="datum.height * datum.pieces[0]", high="datum.height * datum.pieces[1]"
        )
        .mark_bar()
        .encode(y=alt.Y("low:Q", **y), y2="high:Q", color=color, **texts(TEXTS)),
        several.mark_rule(style="kv-ink", aria=False).encode(y=alt.Y("low:Q", **y), y2="top:Q"),
        *(
            several.transform_filter(f"datum.{end} <= {most}")
            .mark_tick(style="kv-ink", aria=False, orient="horizontal", size=7, thickness=1)
            .encode(y=alt.Y(f"{end}:Q", **y))
            for end in ("low", "high")
        ),
        several.transform_filter(f"datum.high > {most}")
        .mark_point(style="kv-ink", aria=False, shape="triangle-up", filled=True, size=20)
        .encode(y=alt.Y("top:Q", **y)),
        whole.transform_flatten(["points"])
        .mark_point(style="kv-ink", aria=False, filled=False, size=9)
        .encode(y=alt.Y("points:Q", **y)),
        whole.mark_text(
            style="kv-text",
            aria=False,
            opacity=alt.ExprRef(f"{step} < {LEAST} ? 0 : 1"),
            fontWeight="normal",
            **turned_where(turned),
        ).encode(y=alt.Y("end:Q", **y), text="label:N"),
        base.transform_filter("!isValid(datum.value)")
        .mark_text(style="kv-note", angle=270, align="left", baseline="middle", dx=4)
        .encode(y=alt.YDatum(0, **y), text="note:N", **texts(TEXTS)),
    ]


# How far a broken bar must stand above the highest one that stays, and above the
# typical one that stays. Below that an axis from zero still shows them all.
ABOVE_HIGHEST = 2.0
ABOVE_MEDIAN = 3.0


def broken(
    values: Sequence[float | None],
    tops: Sequence[float] | None = None,
    groups: Sequence[str] | None = None,
) -> list[bool]:
    """Tell for each bar of one axis whether it is broken.

    The rule: sort the bars by height and cut the row in two, the broken ones
    above and the others below, such that

    - every broken bar is at least twice as high as everything that stays,
    - and at least three times as high as the median of the bars that stay,
    - and at most half of the bars are broken, and two or more stay,
    - and no group of several bars is broken as a whole: broken bars are equally
      high, so nothing could be compared in it.

    Where several cuts are possible, the lowest one holds, so that the bars that
    stay are as readable as they can be. Where none is, no bar is broken.

    ``None`` is a place without a bar. Bars without height are left out of the
    comparison. ``tops`` are the upper ends of the whiskers: what stays must
    show its whisker too; default: ``values``. ``groups`` names the group of each
    bar; default: one group.
    """
    tops = values if tops is None else tops
    groups = [""] * len(values) if groups is None else groups
    bars = sorted(
        (value, max(value, top or 0), place)
        for place, (value, top) in enumerate(zip(values, tops, strict=True))
        if value is not None and value > 0
    )
    result = [False] * len(values)
    for cut in range(max(2, (len(bars) + 1) // 2), len(bars)):
        stay, above = bars[:cut], bars[cut:]
        highest = max(top for _, top, _ in stay)
        typical = median(value for value, _, _ in stay)
        lowest_broken = above[0][0]
        keep = {groups[place] for _, _, place in stay}
        lost = Counter(groups[place] for _, _, place in above if groups[place] not in keep)
        if (
            lowest_broken >= ABOVE_HIGHEST * highest
            and lowest_broken >= ABOVE_MEDIAN * typical
            and max(lost.values(), default=0) < 2
        ):
            for _, _, place in above:
                result[place] = True
            break
    return result


def with_broken(rows: list[dict]) -> pd.DataFrame:
    """The ``rows`` of one panel as a table, each told whether its bar is broken."""
    values = [None if pd.isna(row["value"]) else row["value"] for row in rows]
    tops = [0 if pd.isna(row["max"]) else row["max"] for row in rows]
    for row, is_broken in zip(
        rows, broken(values, tops, [row["group"] for row in rows]), strict=True
    ):
        row["broken"] = "yes" if is_broken else "no"
    return pd.DataFrame(rows, columns=COLUMNS)
