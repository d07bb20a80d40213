"""The style of static figures, and writing them.

The sizes are made for a text width of 16 cm: included at its own size, the
text of a figure is 8 points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import _
from kvstudy.language.locale import decimal, decimal_mark
from kvstudy.libraries import alt, lines, np, patches, pd, plt, sns, subset, ticker
from kvstudy.study.exhibits import AnyFigure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axis import Axis

    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

TEXT_WIDTH = 16 / 2.54
# For word processors; what printers ask for.
PNG_DPI = 300
# Of the parts of an SVG that have too many marks for shapes, and how many are too many.
SCREEN_DPI, MOST_SHAPES = 150, 500
# Hatches tell the stores apart in grey print; the first is plain. Those of circles come last: an
# SVG has hundreds of them for each bar, and is ten times as large.
HATCHES = ["", "////", "xxxx", "----", "\\\\\\\\", "++++", "..", "oo"]
DARK = "0.15"

# Shapes of points and styles of lines in their order; told apart in grey print too.
MARKERS = "osD^vP*X"
LINES = ["-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5))]

# Letters of a title that are side by side on a page.
PAGE_LETTERS = 72
# Inches that a legend of one row takes.
LEGEND_ROW = 0.25

# A group of bars is one unit wide on the x axis; this much of it has bars.
GROUP_WIDTH = 0.92


@dataclass(frozen=True)
class Style:
    """The style of a store or a line, and its legend entry; None means absent.

    What has a ``hatch`` is a filled area, ``hollow`` points are not filled.
    """

    title: str
    color: str
    hatch: str | None = None
    marker: str | None = None
    line: str | tuple | None = None
    store: str | None = None
    hollow: bool = False

    def patch(self) -> patches.Patch:
        """The entry of an area."""
        style = {"hatch": self.hatch, "edgecolor": "white", "linewidth": 0}
        return patches.Patch(facecolor=self.color, label=self.title, **style)

    def style(self, **more: object) -> dict[str, object]:
        """Return Matplotlib's arguments for a line, points or both."""
        form = {"color": self.color, "linestyle": self.line or "", "marker": self.marker}
        face = {"markerfacecolor": "white"} if self.hollow else {}
        return form | face | {"label": self.title} | more

    def handle(self, **more: object) -> lines.Line2D:
        """The entry of a line, a point or both."""
        return lines.Line2D([], [], **self.style(**more))


def styles(titles: dict[str, str], colors: dict[str, str]) -> dict[str, Style]:
    """The look of each store, in the study's order."""
    forms = (HATCHES, MARKERS, LINES)
    return {
        store: Style(title, colors[store], *(form[index % len(form)] for form in forms), store)
        for index, (store, title) in enumerate(titles.items())
    }


@dataclass(frozen=True)
class StyleSheet:
    """The names and colours in figures, the same in all figures of a study."""

    study: Study
    stores: dict[str, Style]

    @classmethod
    def of(cls, run: Run) -> StyleSheet:
        """Return the style sheet of the stores of a ``run``."""
        return cls(run.study, styles(run.titles, {n: s.color for n, s in run.stores.items()}))

    @property
    def titles(self) -> dict[str, str]:
        """The stores as people read them, by their names."""
        return {name: look.title for name, look in self.stores.items()}

    def shown(self, table: pd.DataFrame) -> dict[str, Style]:
        """The stores that ``table`` has rows of, in the study's order."""
        present = set(table["store"])
        return {store: look for store, look in self.stores.items() if store in present}

    def legend(self, table: pd.DataFrame, form: str) -> list[Style]:
        """The looks of these stores with one ``form`` (marker, line) alone."""
        others = dict.fromkeys({"hatch", "marker", "line"} - {form})
        return [replace(look, **others) for look in self.shown(table).values()]

    @property
    def published(self) -> str:
        """Return the label of published values, with the source's authors if there is a source."""
        source = self.study.source
        return (
            _("Published {}").format(f"({source.author}, {source.year})" if source else "").strip()
        )


class Panel(NamedTuple):
    """One coordinate system: what is above it, and the rows that it shows.

    ``words`` describe its chart to those who do not see it; that is so many pixels high.
    """

    title: str
    rows: pd.DataFrame
    words: str = ""
    height: int = 220


class DrawnFigure(AnyFigure):
    """A figure: its rows, and a static and an interactive form of them.

    Both forms show the rows alone: the same values, names and order. They get them as
    ``drawing.write.read_figure`` gives them, with notes in the reader's language. The interactive
    form is put together by ``drawing.chart.spec``.
    """

    # Columns whose values the chart has too. Of what ``mark`` gives, the texts that are told on
    # hover, each with its label in English.
    fields: ClassVar[tuple[str, ...]] = ()
    texts: ClassVar[dict[str, str]] = {}
    # So many panels of the chart are side by side where there is room.
    across: ClassVar[int] = 2

    def rows(self, run: Run) -> pd.DataFrame:
        """Return the figure's data for a run: its CSV, and everything that is drawn."""
        raise NotImplementedError

    def published_rows(self, run: Run) -> pd.DataFrame:
        """Return the figure's data for a ``run`` with published values only."""
        return pd.DataFrame()

    def nothing(self, table: pd.DataFrame) -> str:
        """Return the text in place of an empty ``table``; "" if there is something to show."""
        return ""

    def panels(self, table: pd.DataFrame, styles: StyleSheet) -> list[Panel]:
        """The panels of both forms; a chart has those with rows."""
        raise NotImplementedError

    def legend(self, table: pd.DataFrame, styles: StyleSheet) -> list[Style]:
        """Return the entries of the chart's legend."""
        return []

    def note(self, table: pd.DataFrame, styles: StyleSheet) -> str:
        """Return the note below the chart."""
        return ""

    def draw(self, table: pd.DataFrame, styles: StyleSheet) -> plt.Figure:
        """The static form; ``use_style`` comes before it."""
        raise NotImplementedError

    def mark(self, row: dict, styles: StyleSheet) -> dict:
        """Return the chart's values for a ``row`` besides ``fields``; one has its ``store``."""
        raise NotImplementedError

    def layers(
        self, rows: pd.DataFrame, table: pd.DataFrame, styles: StyleSheet
    ) -> list[alt.Chart]:
        """The marks of the panel of ``rows`` in the chart of ``table``."""
        raise NotImplementedError


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
            **{"xtick.major.size": 0, "ytick.major.size": 3, "ytick.major.width": 0.6},
            **{"axes.grid": True, "axes.grid.axis": "y"},
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


def grid(
    count: int, across: int, first: float, each: float, **options: object
) -> tuple[plt.Figure, np.ndarray]:
    """A figure with ``count`` panels, at most ``across`` side by side, and its axes by row.

    Its height is ``first`` and ``each`` for every row (inches). Further places stay empty.
    ``options`` are those of ``subplots``.
    """
    columns = max(1, min(count, across))
    rows = max(1, math.ceil(count / columns))
    size = (TEXT_WIDTH, first + each * rows)
    figure, axes = plt.subplots(
        rows, columns, figsize=size, squeeze=False, layout="constrained", **options
    )
    for ax in axes.flat[max(count, 1) :]:
        ax.set_axis_off()
    return figure, axes


def by_style(rows: pd.DataFrame, legend: list[Style]) -> Iterator[tuple[Style, pd.DataFrame]]:
    """The ``rows`` that have the ``name`` of an entry of the ``legend``, of each that has any."""
    for look in legend:
        mine = rows[rows["name"] == look.title]
        if len(mine):
            yield look, mine


def empty_panel(ax: plt.Axes, text: str) -> None:
    """Write ``text`` in the middle of a panel that has nothing else to show."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", color="0.35")


def annotate(
    ax: plt.Axes, x: float, y: float, text: str, *, turned: bool, above: int = 2, **style: object
) -> None:
    """Write ``text`` some points ``above`` its place."""
    style = {"ha": "center", "va": "bottom", "rotation": 90 if turned else 0, "color": DARK} | style
    apart = {"xytext": (0, above), "textcoords": "offset points", "annotation_clip": False}
    ax.annotate(text, (x, y), **apart, **style)


def number_axis(
    axis: Axis,
    locator: ticker.Locator | None = None,
    form: str = "g",
    written: Callable[[str], str] = grouped,
) -> None:
    """Write the numbers of ``axis`` as tables do, where ``locator`` says, and none between them."""
    if locator is not None:
        axis.set_major_locator(locator)
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: written(f"{value:{form}}")))
    axis.set_minor_formatter(ticker.NullFormatter())


def round_numbers(low: float, high: float, factors: Sequence[int] = (1, 2, 5)) -> list[float]:
    """The ``factors`` of powers of ten from ``low`` to ``high``."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Negative powers as they are written, 0.02 and not 0.020000000000000004.
    numbers = [float(f"{factor}e{power}") for power in decades for factor in factors]
    return [number for number in numbers if low <= number <= high]


def save(figure: plt.Figure, path: Path) -> None:
    """Write ``path``.pdf, .svg and .png (300 dpi) without dates, and close the figure."""
    with_decimal_mark(figure)
    figure.savefig(f"{path}.pdf", dpi=PNG_DPI, metadata={"CreationDate": None})
    figure.savefig(f"{path}.svg", dpi=SCREEN_DPI, metadata={"Date": None})
    figure.savefig(f"{path}.png", dpi=PNG_DPI, metadata={"Software": None})
    plt.close(figure)


def with_decimal_mark(figure: plt.Figure) -> None:
    """Give the language's decimal mark to the axes whose numbers Matplotlib writes itself.

    Matplotlib's own option for that needs the operating system to have the language.
    """
    if decimal_mark() == ".":
        return

    class Translated(ticker.ScalarFormatter):
        def __call__(self, value: float, position: int | None = None) -> str:
            return decimal(super().__call__(value, position))

    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if type(axis.get_major_formatter()) is ticker.ScalarFormatter:
                axis.set_major_formatter(Translated())


def in_lines(title: str, across: int) -> str:
    """Return the lines of ``title`` broken to fit over one of so many panels side by side."""
    return "\n".join(fill(line, PAGE_LETTERS // across) for line in title.split("\n"))


def legend(figure: plt.Figure, handles: Sequence[Artist], **form: object) -> float:
    """Put a legend of ``handles`` at the top, in the fewest rows that are no wider than ``figure``.

    Longer labels are broken. The figure grows by what is more than one row: returns its inches.
    """
    if not handles:
        return 0.0
    form = {"loc": "outside upper center", "handles": handles} | form
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
        return legend(figure, **form)
    more = max(0.0, extent.height / figure.dpi - LEGEND_ROW)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + more)
    return more
