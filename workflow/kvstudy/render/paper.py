"""The painter of print: a ``Plot`` as a Matplotlib figure in seaborn's style, and writing it.

The sizes are made for a text width of 16 cm: included at its own size, the text of a figure is
8 points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from kvstudy.layout.looks import Style
from kvstudy.layout.plot import (
    TEXT_WIDTH,
    Area,
    Axis,
    Band,
    Bands,
    Bar,
    ColorScale,
    Label,
    Layer,
    Line,
    Panel,
    Plot,
    Points,
    Rule,
    Tick,
    Whisker,
)
from kvstudy.libraries import colors, lines, np, patches, pd, plt, sns, subset, ticker

if TYPE_CHECKING:
    from matplotlib.artist import Artist

# For word processors; what printers ask for.
PNG_DPI = 300
# Of the parts of an SVG that have too many marks for shapes, and how many are too many.
SCREEN_DPI, MOST_SHAPES = 150, 500
# Letters of a title that are side by side on a page.
PAGE_LETTERS = 76
# Inches that a legend of one row takes.
LEGEND_ROW = 0.25
# Sizes of points in a legend that others would be too small or too large for.
ENTRY_SIZES = {"|": 9, "x": 6}
FAINT = 0.45


def use_style() -> None:
    """Seaborn's plain style, with sizes for print and embedded fonts; once per process."""
    # No window, whatever the machine has.
    plt.switch_backend("agg")
    # Of an embedded font, what only setting text needs: it is half of the time that a PDF takes.
    subset.Options._drop_tables_default += ["GDEF", "GPOS", "GSUB"]
    sns.set_theme(
        style="ticks",
        rc={
            "font.family": "sans-serif",
            # The second one is as wide, where a reader has not the first.
            "font.sans-serif": ["DejaVu Sans", "Verdana"],
            **dict.fromkeys(("font.size", "axes.labelsize", "legend.fontsize"), 8),
            **dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), 8),
            "axes.titlesize": 8.5,
            **{"axes.linewidth": 0.6, "axes.axisbelow": True, "legend.frameon": False},
            **{"xtick.major.size": 3, "ytick.major.size": 3},
            **{"xtick.major.width": 0.6, "ytick.major.width": 0.6},
            **{"grid.linewidth": 0.4, "grid.color": "0.88"},
            # What SVG takes when nothing is said: the page has a thousand lines.
            "lines.solid_capstyle": "butt",
            "hatch.linewidth": 0.5,
            # Type 42 embeds whole TrueType fonts; type 3 is refused by some printers.
            "pdf.fonttype": 42,
            # Letters as text are half as large, can be found, and keep their anchor in any font.
            "svg.fonttype": "none",
            # Otherwise the ids in an SVG are random.
            "svg.hashsalt": "kvstudy",
        },
    )


def paint(plot: Plot) -> plt.Figure:
    """Draw a ``plot``; ``use_style`` comes before it. A plot without panels is its note."""
    if not plot.panels:
        figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 0.6))
        empty_panel(ax, plot.note)
        return figure
    stack = len(plot.stack)
    count = len(plot.panels) // stack
    columns = max(1, min(count, plot.columns))
    blocks = max(1, math.ceil(count / columns))
    figure, axes = plt.subplots(
        stack * blocks,
        columns,
        figsize=(TEXT_WIDTH, plot.first + plot.each * blocks),
        squeeze=False,
        layout=None if plot.sides else "constrained",
        gridspec_kw={"height_ratios": [*plot.stack] * blocks},
    )
    for ax in axes.flat:
        ax.set_axis_off()
    common = {side: _common(plot, side) for side in "xy"}
    for place, panel in enumerate(plot.panels):
        block, level = divmod(place, stack)
        ax = axes[block // columns * stack + level, block % columns]
        if level == 0:
            ax.set_title(in_lines(panel.title, columns), loc="left", pad=5)
        _panel(ax, panel)
        # The next panel with marks to the left and the one below may have the same numbers.
        row = plot.panels[place - block % columns * stack : place : stack]
        left = next((other for other in reversed(row) if len(other.rows)), None)
        below = next((p for p in plot.panels[place + stack * columns :][:1] if len(p.rows)), None)
        lowest = level == stack - 1
        ax.tick_params(labelbottom=lowest and not (below and below.x == panel.x))
        ax.tick_params(labelleft=not (left and left.y == panel.y))
        if lowest and not common["x"] and not (below and below.x.title == panel.x.title):
            ax.set_xlabel(panel.x.title)
        if not common["y"] and not (left and left.y.title == panel.y.title):
            ax.set_ylabel(panel.y.title)
    for side, write in (("x", figure.supxlabel), ("y", figure.supylabel)):
        if common[side]:
            write(getattr(plot.panels[0], side).title, fontsize="medium")
    if plot.colors:
        _color_bar(figure, axes, plot.colors)
    if plot.sides:
        (left, right), height = plot.sides, figure.get_figheight()
        figure.subplots_adjust(left=left, right=right, top=1 - 0.3 / height, bottom=0.45 / height)
    legend(figure, [entry(look) for look in (*plot.legend, *plot.keys)])
    return figure


def _common(plot: Plot, side: str) -> bool:
    """Return whether the axes of all panels have one title, which is written once."""
    titles = {getattr(panel, side).title for panel in plot.panels}
    return len(plot.stack) == 1 and len(plot.panels) > 1 and len(titles) == 1


def _panel(ax: plt.Axes, panel: Panel) -> None:
    if panel.rows.empty:
        if panel.empty:
            empty_panel(ax, panel.empty)
        return
    ax.set_axis_on()
    sns.despine(ax=ax)
    for name in "xy":
        _side(ax, name, getattr(panel, name))
    for number, layer in enumerate(panel.layers):
        if layer.only != "page":
            for look, rows in panel.marks(layer):
                PAINTERS[type(layer)](ax, layer, look, rows, panel, 2 + number / 20)


def _side(ax: plt.Axes, name: str, side: Axis | Bands) -> None:
    """Scale, ends and numbers of the axis called ``name``, and no numbers between them."""
    if isinstance(side, Bands):
        ends = (-0.5, len(side.texts) - 0.5)
        ax.set(**{f"{name}lim": ends if name == "x" else ends[::-1]})
        places, texts = range(len(side.texts)), side.texts
        ax.tick_params(axis=name, length=0)
    else:
        scale = "log" if side.log else "linear"
        ax.set(**{f"{name}scale": scale, f"{name}lim": (side.low, side.high)})
        places, texts = side.ticks, side.texts
    line = getattr(ax, f"{name}axis")
    line.set_major_locator(ticker.FixedLocator([*places]))
    line.set_major_formatter(ticker.FixedFormatter([*texts]))
    line.set_minor_locator(ticker.NullLocator())
    ax.grid(axis=name, visible=isinstance(side, Axis) and side.grid)


def _at(
    panel: Panel, name: str, column: str, rows: pd.DataFrame, layer: Layer | None = None
) -> pd.Series:
    """Return the places of ``rows`` along the axis called ``name``."""
    side = getattr(panel, name)
    if isinstance(side, Axis):
        return rows[column or side.column]
    places = side.places(rows)
    return places + rows[layer.shift] * side.step if layer and layer.shift else places


def _corners(panel: Panel, layer: Line | Area, rows: pd.DataFrame, *columns: str):
    """Return places along x and values of ``columns`` of each line; steps have two corners each."""
    for _line, part in rows.groupby("line", sort=False) if "line" in rows else [("", rows)]:
        if layer.steps:
            part = part.sort_values(layer.steps[0])
            x = part[[*layer.steps]].to_numpy(float).ravel()
            yield x, *(np.repeat(part[name].to_numpy(float), 2) for name in columns)
        else:
            part = part.sort_values(panel.x.column)
            yield part[panel.x.column], *(part[name] for name in columns)


def _line(ax, layer: Line, look: Style, rows, panel: Panel, zorder: float) -> None:
    form = {"linestyle": dashes(look.line), "linewidth": layer.width, "zorder": zorder}
    for x, y in _corners(panel, layer, rows, layer.y or panel.y.column):
        ax.plot(x, y, color=look.color, label=look.title, **form)


def _area(ax, layer: Area, look: Style, rows, panel: Panel, zorder: float) -> None:
    form = {"color": look.color, "alpha": layer.opacity, "linewidth": 0, "zorder": zorder}
    for x, low, high in _corners(panel, layer, rows, layer.low, layer.high):
        ax.fill_between(x, low, high, **form)


def _points(ax, layer: Points, look: Style, rows, panel: Panel, zorder: float) -> None:
    if not layer.seen:
        return
    sides = {name: getattr(panel, name) for name in "xy"}
    numbers = [name for name, side in sides.items() if isinstance(side, Axis)]
    rows = rows.dropna(subset=[getattr(layer, name) or sides[name].column for name in numbers])
    style = point(look, layer.size, layer.marker, layer.hollow)
    style |= {"zorder": zorder, "label": look.title, "clip_on": False}
    style["rasterized"] = len(rows) > MOST_SHAPES
    for alpha, some in _faint(layer, rows):
        x, y = (_at(panel, side, getattr(layer, side), some, layer) for side in "xy")
        ax.plot(x, y, alpha=alpha, **style)


def _whisker(ax, layer: Whisker, look: Style, rows, panel: Panel, zorder: float) -> None:
    lines_of = ax.vlines if layer.side == "y" else ax.hlines
    form = {"color": look.color, "linewidth": layer.width, "zorder": zorder}
    for alpha, some in _faint(layer, rows.dropna(subset=[layer.low, layer.high])):
        at = _at(panel, "x" if layer.side == "y" else "y", "", some, layer)
        lines_of(at, some[layer.low], some[layer.high], alpha=alpha, **form)


def _faint(layer: Points | Whisker, rows: pd.DataFrame):
    """The rows of a layer with their opacity, those that are not faint first."""
    if not layer.faint:
        return [(1, rows)] if len(rows) else []
    faint = rows[layer.faint].astype(bool)
    return [(alpha, some) for alpha, some in ((1, rows[~faint]), (FAINT, rows[faint])) if len(some)]


def _tick(ax, layer: Tick, look: Style, rows, panel: Panel, zorder: float) -> None:
    rows = rows.dropna(subset=[layer.y])
    if rows.empty:
        return
    x, half = panel.x.places(rows), layer.share * panel.x.step * panel.x.width / 2
    form = {"color": look.color, "linewidth": layer.width, "zorder": zorder}
    ax.hlines(rows[layer.y], x - half, x + half, **form)


def _bar(ax, layer: Bar, look: Style, rows, panel: Panel, zorder: float) -> None:
    if layer.low:
        rows = rows.dropna(subset=[layer.low, layer.high])
        low, high = rows[layer.low], rows[layer.high]
    else:
        low, high = (panel.y.places(rows) + half for half in (-0.5, 0.5))
    x, width = panel.x.places(rows), panel.x.step * panel.x.width
    form: dict[str, object] = {"zorder": zorder}
    color = [*rows[layer.colors]] if layer.colors else look.color
    # A hatch is drawn in the colour of the edge.
    form["edgecolor"] = "0.6" if look.color == "white" else "white"
    form["linewidth"] = 0.6 if layer.colors else 0
    bars = ax.bar(x - width / 2, high - low, width, low, align="edge", color=color, **form)
    # As a text of NumPy's it would be told from that of the legend.
    plt.setp(bars, hatch=look.hatch)


def _label(ax, layer: Label, look: Style, rows, panel: Panel, zorder: float) -> None:
    form = {"ha": layer.align, "va": "center" if layer.middle else "bottom"}
    form |= {"rotation": 90 if layer.turned else 0}
    form |= {"fontsize": layer.size, "color": look.color, "annotation_clip": False}
    rows = rows[rows[layer.text] != ""]
    x = rows[layer.text].map(lambda _: layer.edge) if layer.edge is not None else None
    sides = ("data" if x is None else "axes fraction", "data")
    x = _at(panel, "x", layer.x, rows, layer) if x is None else x
    y = _at(panel, "y", layer.y, rows, layer)
    inks = rows[layer.inks] if layer.inks else [look.color] * len(rows)
    for text, *place, ink in zip(rows[layer.text], x, y, inks, strict=True):
        offset = {"xytext": (layer.dx, layer.dy), "textcoords": "offset points"}
        ax.annotate(text, place, xycoords=sides, **offset, **form | {"color": ink})


def _band(ax, layer: Band, look: Style, rows, panel: Panel, zorder: float) -> None:
    span = ax.axvspan if layer.side == "x" else ax.axhspan
    span(layer.low, layer.high, color=look.color, linewidth=0, zorder=0.5)


def _rule(ax, layer: Rule, look: Style, rows, panel: Panel, zorder: float) -> None:
    line = ax.axvline if layer.side == "x" else ax.axhline
    line(layer.at, color=look.color, linewidth=0.7, linestyle=dashes(look.line), zorder=1)


PAINTERS = {Line: _line, Area: _area, Points: _points, Whisker: _whisker, Tick: _tick}
PAINTERS |= {Bar: _bar, Label: _label, Band: _band, Rule: _rule}


def _color_bar(figure: plt.Figure, axes: np.ndarray, scale: ColorScale) -> None:
    side = scale.axis
    norm = (colors.LogNorm if side.log else colors.Normalize)(side.low, side.high)
    form = {"location": "right", "aspect": 30, "pad": 0.015, "fraction": 0.04}
    bar = figure.colorbar(plt.cm.ScalarMappable(norm, scale.colormap), ax=axes, **form)
    bar.set_label(scale.title)
    bar.outline.set_visible(False)
    _side(bar.ax, "y", side)


def dashes(line: tuple[float, ...] | None) -> str | tuple:
    """Return Matplotlib's line style of dashes and gaps."""
    return (0, line) if line else "-"


def point(look: Style, size: float, marker: str = "", hollow: bool = False) -> dict[str, object]:
    """Return Matplotlib's arguments for the points of a style."""
    face = {"markerfacecolor": "white"} if look.hollow or hollow else {}
    form = {"linestyle": "", "marker": marker or look.marker, "markersize": size}
    return form | {"color": look.color} | face


def entry(look: Style) -> Artist:
    """Return the legend's entry of a style: an area, a line, a point, or a line with points."""
    if look.hatch is not None:
        form = {"hatch": look.hatch, "edgecolor": "0.6" if look.color == "white" else "white"}
        return patches.Patch(facecolor=look.color, label=look.title, linewidth=0, **form)
    # Letters are smaller than shapes.
    size = 6 if str(look.marker).startswith("$") else 4
    form = point(look, ENTRY_SIZES.get(look.marker, size))
    if look.line is not None:
        form |= {"linestyle": dashes(look.line), "linewidth": 1.2}
    return lines.Line2D([], [], label=look.title, **form)


def empty_panel(ax: plt.Axes, text: str) -> None:
    """Write ``text`` in the middle of a panel that has nothing else to show."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", color="0.35")


def save(figure: plt.Figure, path: Path) -> None:
    """Write ``path``.pdf, .svg and .png (300 dpi) without dates, and close the figure."""
    # The layout is the same in all of them, and takes half of the time of writing one.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    figure.savefig(f"{path}.pdf", dpi=PNG_DPI, metadata={"CreationDate": None})
    figure.savefig(f"{path}.svg", dpi=SCREEN_DPI, metadata={"Date": None})
    figure.savefig(f"{path}.png", dpi=PNG_DPI, metadata={"Software": None})
    plt.close(figure)


def in_lines(title: str, across: int) -> str:
    """Return the lines of ``title`` broken to fit over one of so many panels side by side."""
    return "\n".join(fill(line, PAGE_LETTERS // across) for line in title.split("\n"))


def legend(figure: plt.Figure, handles: Sequence[Artist]) -> None:
    """Put a legend of ``handles`` at the top, in the fewest rows that are no wider than ``figure``.

    Longer labels are broken. The figure grows by what is more than one row.
    """
    if not handles:
        return
    form = {"loc": "outside upper center", "handles": handles}
    room, renderer = figure.bbox.width, figure.canvas.get_renderer()
    for rows in range(1, len(handles) + 1):
        drawn = figure.legend(ncols=math.ceil(len(handles) / rows), **form)
        extent = drawn.get_window_extent(renderer)
        if extent.width <= room:
            break
        drawn.remove()
    else:
        # One below the other, and still too wide.
        letters = max(len(line) for handle in handles for line in handle.get_label().split("\n"))
        for handle in handles:
            handle.set_label(fill(handle.get_label(), int(0.95 * letters * room / extent.width)))
        legend(figure, handles)
        return
    more = max(0.0, extent.height / figure.dpi - LEGEND_ROW)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + more)
