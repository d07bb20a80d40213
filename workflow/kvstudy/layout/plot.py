"""A figure as data: axes with their numbers, and layers of marks. Painters put it on paper or page.

What is drawn is worked out once, here and in the kinds of figures: ends of axes, the numbers on
them as texts, segments, labels, order. ``paper`` and ``screen`` add no value of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kvstudy.layout.looks import BEHIND, INK, THIN, Style
from kvstudy.layout.numbers import grouped
from kvstudy.libraries import pd, ticker

# A group of marks is one unit wide on its axis; this much of it has marks.
GROUP_WIDTH = 0.92
MOST_TICKS = 5
# Inches of print: between the margins, and what the numbers of an axis take of it.
TEXT_WIDTH, LEFT = 16 / 2.54, 0.55
# Sizes that differ by more are at equal steps of their logarithm; room at both ends.
WIDE, EDGE = 20, 0.05


@dataclass(frozen=True)
class Axis:
    """A side of a panel: its ``column``, its ends, and its numbers with their texts."""

    column: str
    title: str
    low: float
    high: float
    ticks: tuple[float, ...]
    texts: tuple[str, ...]
    log: bool = False
    grid: bool = True


@dataclass(frozen=True)
class Bands:
    """A side of ``texts``, the values of a ``column``; ``members`` are side by side in each.

    A member is a row's ``name``, and takes the share ``width`` of its place.
    """

    column: str
    title: str
    texts: tuple[str, ...]
    members: tuple[str, ...] = ()
    width: float = 1.0

    @property
    def step(self) -> float:
        """Return the room of a mark."""
        return GROUP_WIDTH / len(self.members) if self.members else 1.0

    def places(self, rows: pd.DataFrame) -> pd.Series:
        """Return the middles of the marks of ``rows``; the bands are one unit wide, from 0 on."""
        places = rows[self.column].map({text: n for n, text in enumerate(self.texts)}).astype(float)
        if self.members:
            order = rows["name"].map(self.members.index).astype(float)
            places += (order + 0.5) * self.step - GROUP_WIDTH / 2
        return places


def number(value: float) -> str:
    """A number of an axis."""
    return grouped(f"{value:.10g}")


def thousandths(value: float) -> str:
    """A number of an axis in a unit that is a thousand times as large."""
    return number(value / 1000)


def linear_ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return round numbers from ``low`` to ``high``, at equal steps."""
    ticks = ticker.MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(f"{tick:.10g}") for tick in ticks if low <= tick <= high * 1.001]


def log_ticks(low: float, high: float, fewest: int = 3) -> list[float]:
    """Two to five round numbers from ``low`` to ``high``, on a logarithmic axis."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    # Coarse steps first. Around 1 there is always a step of a tenth.
    for factors, every in [((1,), 4), ((1,), 3), ((1,), 2), ((1,), 1), ((1, 3), 1), ((1, 2, 5), 1)]:
        # Negative powers as they are written, 0.02 and not 0.020000000000000004.
        steps = [float(f"{f}e{d}") for d in decades if d % every == 0 for f in factors]
        inside = [step for step in steps if low <= step <= high]
        if len(inside) >= fewest:
            break
    if len(inside) < 2:
        inside = [tick for tick in (0.9, 1.0, 1.1) if low <= tick <= high] or [low, high]
    return inside[:: -(-len(inside) // MOST_TICKS)]


def axis(
    column: str,
    title: str,
    low: float,
    high: float,
    *,
    ticks: Iterable[float] | None = None,
    most: int = MOST_TICKS,
    written: Callable[[float], str] = number,
    log: bool = False,
    grid: bool = True,
) -> Axis:
    """Return an axis with ``ticks``, or about ``most`` round numbers, as they are ``written``."""
    if ticks is None:
        ticks = log_ticks(low, high) if log else linear_ticks(low, high, most)
    ticks = [*map(float, ticks)]
    return Axis(
        column, title, float(low), float(high), (*ticks,), (*map(written, ticks),), log, grid
    )


def size_axis(column: str, title: str, sizes: pd.Series, log: bool | None = None) -> Axis:
    """Return the axis of ``sizes``, each with its number; their range may decide on ``log``."""
    low, high = sizes.min(), sizes.max()
    if log is None:
        log = low > 0 and high / low > WIDE
    ends = low - EDGE * (high - low or 1), high + EDGE * (high - low or 1)
    if log:
        room = (high / low) ** EDGE if high > low else 1.5
        ends = low / room, high * room
    ticks = sorted(sizes.unique())
    return axis(column, title, *ends, ticks=ticks, log=bool(log), grid=False)


def group_room(groups: Bands, panels: int = 1) -> float:
    """Return the room of a mark in print (points), with so many ``panels`` side by side."""
    return (TEXT_WIDTH - LEFT) / panels * 72 * groups.step / len(groups.texts)


@dataclass(frozen=True, kw_only=True)
class Layer:
    """Marks of the rows of a panel.

    Columns that a layer does not name are those of the axes. The style of a mark is that of its
    ``name`` in the panel, or ``look``. Rows whose column ``where`` is false have no mark. A layer
    may have ``rows`` of its own, and be in print or on a page ``only``. Marks with ``hover`` tell
    the row's texts on a page. ``shift`` names a column of shares of a mark's room, by which it is
    moved in print.
    """

    look: Style | None = None
    where: str = ""
    rows: pd.DataFrame | None = None
    hover: bool = False
    shift: str = ""
    only: Literal["", "print", "page"] = ""


@dataclass(frozen=True)
class Line(Layer):
    """Lines through points; with ``steps``, two columns, of values from the one to the other."""

    y: str = ""
    x: str = ""
    width: float = 1.2
    steps: tuple[str, str] | None = None


@dataclass(frozen=True)
class Area(Layer):
    """Areas between two columns."""

    low: str
    high: str
    opacity: float = 0.2
    steps: tuple[str, str] | None = None


@dataclass(frozen=True)
class Points(Layer):
    """Points of a ``size`` (points), all with one ``marker``; what is not ``seen`` is for hover."""

    y: str = ""
    x: str = ""
    size: float = 4
    marker: str = ""
    hollow: bool = False
    seen: bool = True
    faint: str = ""


@dataclass(frozen=True)
class Whisker(Layer):
    """Thin lines from one column to another along the ``side``; rows may be ``faint``."""

    low: str
    high: str
    side: str = "y"
    width: float = 1.0
    faint: str = ""


@dataclass(frozen=True)
class Tick(Layer):
    """Short lines across ``share`` of the mark's room at ``y``."""

    y: str
    share: float = 1.0
    width: float = 0.8


@dataclass(frozen=True)
class Bar(Layer):
    """Bars from one column to another; with a column of ``colors``, in these."""

    low: str = ""
    high: str = ""
    colors: str = ""


@dataclass(frozen=True)
class Label(Layer):
    """The column ``text``, ``dx`` and ``dy`` points off its place.

    ``turned`` texts go up; those that ``fit`` are turned or left out where a bar is too narrow.
    ``edge``: the place along x as a share of the panel's width. ``inks`` names a column of colours.
    """

    text: str
    y: str = ""
    x: str = ""
    dx: float = 0
    dy: float = 0
    size: float = 8
    turned: bool = False
    fit: bool = False
    align: Literal["left", "center", "right"] = "center"
    middle: bool = False
    edge: float | None = None
    inks: str = ""
    look: Style | None = field(default=INK, kw_only=True)


@dataclass(frozen=True)
class Band(Layer):
    """The area behind the values from ``low`` to ``high`` of a ``side``."""

    low: float
    high: float
    side: str = "x"
    look: Style | None = field(default=BEHIND, kw_only=True)


@dataclass(frozen=True)
class Rule(Layer):
    """A thin line through the whole panel ``at`` a value of a ``side``."""

    at: float
    side: str = "y"
    look: Style | None = field(default=THIN, kw_only=True)


@dataclass(frozen=True)
class Panel:
    """One coordinate system: what is above it, its rows, axes and layers.

    ``words`` describe its chart to those who do not see it; that is so many pixels high. A panel
    without rows is left out of a page, and says ``empty`` in print.
    """

    title: str
    rows: pd.DataFrame
    x: Axis | Bands
    y: Axis | Bands
    layers: Sequence[Layer]
    looks: Sequence[Style]
    words: str = ""
    height: int = 220
    empty: str = ""

    def marks(self, layer: Layer) -> Iterator[tuple[Style, pd.DataFrame]]:
        """The rows of ``layer`` by their style."""
        rows = self.rows if layer.rows is None else layer.rows
        if layer.where:
            rows = rows[rows[layer.where].astype(bool)]
        if layer.look is not None:
            yield layer.look, rows
            return
        for look in self.looks:
            of_look = rows[rows["name"] == look.title]
            if len(of_look):
                yield look, of_look


@dataclass(frozen=True)
class ColorScale:
    """The colours of values, told next to the panels in print."""

    title: str
    axis: Axis
    colormap: str


@dataclass(frozen=True)
class Plot:
    """A figure: its panels, so many side by side on a page (``across``) and in print (``columns``).

    ``keys`` are in the legend of print alone: a page says the same in the ``note``. Print is
    ``first`` and, for each row of panels, ``each`` inches high. Panels of a ``stack`` are one above
    the other there, the upper ones so many times as high. What stands beside the only panel needs
    its ``sides``, left and right by the width, for the layout does not know it.

    The page has the ``caption``, and tells on hover what ``hover`` makes of a row of a panel:
    ``title`` and ``texts``, labelled in English. ``workload`` is that of rows without their own.
    """

    panels: Sequence[Panel] = ()
    legend: Sequence[Style] = ()
    note: str = ""
    keys: Sequence[Style] = ()
    across: int = 2
    columns: int = 2
    first: float = 0.5
    each: float = 1.75
    stack: Sequence[float] = (1,)
    colors: ColorScale | None = None
    sides: tuple[float, float] | None = None
    caption: str = ""
    workload: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    hover: Callable[[dict], dict] = dict
