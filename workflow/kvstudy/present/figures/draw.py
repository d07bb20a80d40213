"""Drawing a bar chart from its table.

The sizes are made for a text width of 16 cm: included at its own size, the
text of a figure is 8 points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation

from kvstudy.analyse.audit.doubts import MARK, marked_values
from kvstudy.analyse.tidy.numbers import grouped, sign, significant
from kvstudy.language.current import _
from kvstudy.language.recorded import recorded
from kvstudy.present.figures.axes import with_decimal_mark

TEXT_WIDTH = 16 / 2.54
# For word processors; what printers ask for.
PNG_DPI = 300
# Hatches tell the stores apart in grey print; the first is plain.
HATCHES = ["", "////", "....", "xxxx", "\\\\\\\\", "----", "++++", "oooo"]
# Values stand upright on their bars where they fit at one of these sizes.
LABEL_SIZES = (8, 7)
DARK = "0.15"

# A group of bars is one unit wide on the x axis; this much of it has bars.
GROUP_WIDTH = 0.92
# Height of a torn bar by the highest bar that stays.
TORN_HEIGHT = 1.14


@dataclass(frozen=True)
class Look:
    """A store's name, its colour and its hatch, the same in every figure of a study."""

    title: str
    color: str
    hatch: str


def looks(titles: dict[str, str], colors: dict[str, str]) -> dict[str, Look]:
    """The look of each store, in the study's order."""
    return {
        store: Look(title, colors[store], HATCHES[index % len(HATCHES)])
        for index, (store, title) in enumerate(titles.items())
    }


def use_style() -> None:
    """Seaborn's plain style, with sizes for print and embedded fonts; once per process."""
    sns.set_theme(
        style="ticks",
        rc={
            "font.family": "DejaVu Sans",
            "font.size": 8,
            "axes.labelsize": 8,
            "axes.titlesize": 8.5,
            "axes.linewidth": 0.6,
            "xtick.labelsize": 8,
            "ytick.labelsize": 8,
            "xtick.major.size": 0,
            "ytick.major.size": 3,
            "ytick.major.width": 0.6,
            "legend.fontsize": 8,
            "axes.grid": True,
            "axes.grid.axis": "y",
            "grid.linewidth": 0.4,
            "grid.color": "0.88",
            "axes.axisbelow": True,
            "hatch.linewidth": 0.5,
            # Type 42 embeds whole TrueType fonts; type 3 is refused by some printers.
            "pdf.fonttype": 42,
            "svg.fonttype": "path",
            # Otherwise the ids in an SVG are random.
            "svg.hashsalt": "kvstudy",
        },
    )


def draw(
    table: pd.DataFrame,
    stores: dict[str, Look],
    source: str,
    titles: Mapping[str, str] | None = None,
) -> Figure:
    """Draw the bars of ``table`` (see ``bars.bars``), one panel for each kind of value.

    ``source`` says in the title of the published panel who published them; ``titles`` are
    those of panels that are neither measured nor published values.
    Up to two groups the panels stand side by side, more groups need the width.
    """
    table = table.assign(
        group=table["group"].map(recorded), note=table["note"].map(recorded, na_action="ignore")
    )
    panels = list(dict.fromkeys(table["panel"]))
    groups = table["group"].nunique()
    beside = groups <= 2
    rows, columns = (1, len(panels)) if beside else (len(panels), 1)
    height = 2.3 if beside else 0.55 + 1.85 * rows
    figure, axes = plt.subplots(rows, columns, figsize=(TEXT_WIDTH, height), squeeze=False)
    # Fixed margins in inches: measuring the text first would double the time.
    left = 0.32 + 0.075 * max(len(_label(top_of(table))), 3)
    right, top, bottom, gap = 0.05, 0.5, 0.25, left if beside else 0.52
    figure.subplots_adjust(
        left=left / TEXT_WIDTH,
        right=1 - right / TEXT_WIDTH,
        top=1 - top / height,
        bottom=bottom / height,
        wspace=gap * columns / (TEXT_WIDTH - left - right - gap * (columns - 1)),
        hspace=gap * rows / (height - top - bottom - gap * (rows - 1)),
    )
    for panel, ax in zip(panels, axes.flat, strict=True):
        _panel(ax, table[table["panel"] == panel], stores)
        title = titles[panel] if titles else panel_title(panel, table, source)
        ax.set_title(title, loc="left", pad=5)
    handles = [store_patch(look) for look in stores.values()]
    if any_rejected(table):
        handles.append(rejected_handle())
    figure.legend(
        handles=handles,
        loc="upper center",
        ncols=min(len(handles), 6),
        frameon=False,
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
    return _measured_title(table, _("Imported") if panel == "imported" else _("Measured here"))


def _measured_title(table: pd.DataFrame, here: str) -> str:
    runs = sorted({int(n) for n in table["n"].dropna()})
    if not runs:
        return here
    if runs == [1]:
        return _("{}: one run").format(here)
    span = "\N{EN DASH}".join(map(str, runs))
    return _("{}: mean and range of {} runs").format(here, span)


def save(figure: Figure, path: Path) -> None:
    """Write ``path``.pdf, .svg and .png (300 dpi) without dates, and close the figure."""
    with_decimal_mark(figure)
    figure.savefig(f"{path}.pdf", metadata={"CreationDate": None})
    figure.savefig(f"{path}.svg", metadata={"Date": None})
    figure.savefig(f"{path}.png", dpi=PNG_DPI, metadata={"Software": None})
    plt.close(figure)


def store_patch(look: Look) -> Patch:
    """The store's entry in a legend."""
    return Patch(
        facecolor=look.color, hatch=look.hatch, edgecolor="white", linewidth=0, label=look.title
    )


def any_rejected(table: pd.DataFrame) -> bool:
    """Whether the audit of the source rejects a value of the figure."""
    return "rejected" in table and (table["rejected"] == "yes").any()


def rejected_handle() -> Line2D:
    """The entry in a legend of values that the audit of the source rejects."""
    style = {"marker": f"${MARK}$", "markersize": 6, "color": DARK, "linestyle": "none"}
    return Line2D([], [], label=marked_values(), **style)


def _panel(ax: Axes, table: pd.DataFrame, stores: dict[str, Look]) -> None:
    highest = top_of(table)
    heights = table["value"].where(table["torn"] == "no", TORN_HEIGHT * highest)
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
    labels = [_label(value) for value in table["value"].dropna()]
    widest = max(map(_width, labels), default=0)
    size = next((size for size in LABEL_SIZES if widest * size < room), None)
    # Turned values of thinner bars would run into each other.
    all_values = room >= LABEL_SIZES[0]
    top = TORN_HEIGHT if (table["torn"] == "yes").any() else 1
    over = 12 if size else 4 + 1.15 * LABEL_SIZES[0] * widest
    ax.set_ylim(0, highest * top / (1 - over / (box.height * 72)))
    for row in table.itertuples():
        group, store = groups.index(row.group), list(stores).index(row.store)
        x = group - GROUP_WIDTH / 2 + width * (store + 0.5)
        if pd.isna(row.value):
            _write(ax, x, 0, row.note, None, color="0.35")
            continue
        bar = bars[group, store]
        bar.set(hatch=stores[row.store].hatch, edgecolor="white", linewidth=0)
        is_torn = row.torn == "yes"
        top = bar.get_height()
        if is_torn:
            _tear(ax, bar, highest)
        elif not pd.isna(row.max) and row.n > 1:
            _whisker(ax, x, width, row.min, row.max)
            top = max(top, row.max)
        rejected = getattr(row, "rejected", "no") == "yes"
        if all_values or is_torn or rejected:
            text = _label(row.value) + (MARK if rejected else "")
            _write(ax, x, top, text, size, bold=is_torn)
    # Above the highest bar that stays the axis does not hold for torn bars.
    ticks = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, highest)
    ax.set_yticks([tick for tick in ticks if 0 <= tick <= highest * 1.001])
    ax.set(xlabel="", ylabel=sign(table["unit"].iloc[0]))
    sns.despine(ax=ax)


def top_of(table: pd.DataFrame) -> float:
    """Height of the highest bar or whisker that is not torn; 1 where there is none."""
    tops = table.loc[table["torn"] == "no", ["value", "max"]].max().max()
    return tops if tops > 0 else 1.0


def _bars_by_place(ax: Axes, stores: int) -> dict[tuple[int, int], Rectangle]:
    """Seaborn's bars by group and store, found by where they stand."""
    width = GROUP_WIDTH / stores
    found = {}
    for patch in ax.patches:
        center = patch.get_x() + patch.get_width() / 2
        group = round(center)
        store = round((center - group + GROUP_WIDTH / 2) / width - 0.5)
        found[group, store] = patch
    return found


def _label(value: float) -> str:
    return grouped(significant(value))


def _width(label: str) -> float:
    """Width of ``label`` by its size; DejaVu's digits are twice as wide as its points."""
    return sum(0.64 if letter.isdigit() else 0.32 for letter in label)


def _write(
    ax: Axes,
    x: float,
    y: float,
    text: str,
    size: int | None,
    color: str = DARK,
    bold: bool = False,
) -> None:
    """Write ``text`` above ``y``, upright at ``size`` or, without one, turned."""
    lift = ScaledTranslation(0, 2 / 72, ax.figure.dpi_scale_trans)
    ax.text(
        x,
        y,
        text,
        transform=ax.transData + lift,
        ha="center",
        va="bottom",
        rotation=90 if size is None else 0,
        fontsize=size or LABEL_SIZES[0],
        color=color,
        fontweight="bold" if bold else "normal",
    )


def _whisker(ax: Axes, x: float, width: float, low: float, high: float) -> None:
    ax.vlines(x, low, high, color=DARK, linewidth=0.8, zorder=3)
    ax.hlines([low, high], x - width / 6, x + width / 6, color=DARK, linewidth=0.8, zorder=3)


def _tear(ax: Axes, bar: Rectangle, highest: float) -> None:
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
