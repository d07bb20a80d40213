"""Tables as data: lines of cells with the numbers that they show, heads, notes, layout."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from numbers import Integral

from kvstudy.layout.numbers import MARK, marked_values
from kvstudy.layout.rich_text import DASH, RichText, note, rich
from kvstudy.layout.strip import Strip
from kvstudy.libraries import np, pd

# Letters of a line on a terminal, and before what belongs to the line above.
WIDTH, INDENT = 96, "     "
# Store, workload, parameters, operation and metric of single runs.
RunKey = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Statistic:
    """A number from single runs: ``kind`` of the values of all ``keys``, over those of ``base``."""

    kind: str
    keys: tuple[RunKey, ...]
    base: tuple[RunKey, ...] = ()

    @property
    def text(self) -> str:
        """Return ``geometric|redis/a/r1_o2_t4/overall/throughput``: kind, keys, those of the base.

        Keys have spaces between: no name has one.
        """
        parts = [" ".join(map("/".join, keys)) for keys in (self.keys, self.base) if keys]
        return "|".join([self.kind, *parts])


@dataclass(frozen=True)
class TableCell:
    """A text and the unrounded ``value`` that it shows, None for a text that is no number.

    ``runs`` is how the value follows from single runs, if it is known. ``strip`` is drawn in place
    of the text, where something can be drawn.
    """

    text: RichText
    value: float | None = None
    runs: Statistic | None = None
    strip: Strip | None = None

    def __str__(self) -> str:
        return str(self.text)

    def __bool__(self) -> bool:
        return bool(self.text)

    @property
    def empty(self) -> bool:
        """Return whether it has no value to show."""
        return str(self) in ("", DASH)

    def styled(self, style: Callable[[RichText], RichText]) -> TableCell:
        """Return the same with another look of its text."""
        return replace(self, text=style(self.text))


def strip_cell(strip: Strip) -> TableCell:
    """A cell that is drawn; where nothing can be, its column is left out."""
    return TableCell(RichText(), strip=strip)


# What becomes a cell: the number of a text is optional.
CellText = str | RichText | TableCell


def cell_of(text: CellText, value: float | None = None, runs: Statistic | None = None) -> TableCell:
    """A cell with its number, which is none if it is NaN or infinite."""
    if isinstance(text, TableCell):
        return text
    if value is not None and not isinstance(value, Integral):
        value = float(value) if math.isfinite(value) else None
    return TableCell(rich(text), value, runs)


def number_cell(
    value: float, text: Callable[[float], str | RichText], runs: Statistic | None = None
) -> TableCell:
    """``value`` as ``text`` writes it; a dash if there is none."""
    return cell_of(DASH) if math.isnan(value) else cell_of(text(value), value, runs)


@dataclass(frozen=True)
class Head:
    """The head of a column, and what the column is of.

    ``store`` is the name of one, or names with spaces between. ``published``: it has what a source
    published; ``gap``: why none of its lines has a value.
    """

    text: RichText
    store: str = ""
    workload: str = ""
    published: bool = False
    gap: str = ""

    def __str__(self) -> str:
        return str(self.text)

    def __bool__(self) -> bool:
        return bool(self.text)


def head_of(text: str | RichText | Head, store: str = "", workload: str = "") -> Head:
    """A head of a text."""
    return text if isinstance(text, Head) else Head(rich(text), store, workload)


@dataclass
class TableRow:
    """A label and the cells to its right.

    ``store`` (or several with spaces between) and ``workload`` are what the line is of,
    ``notes`` are below it, over all columns. ``published`` lines are a source's. A line
    without a label belongs to the one above it.
    """

    label: CellText
    cells: list[CellText]
    store: str = ""
    workload: str = ""
    notes: list[str] = field(default_factory=list)
    published: bool = False

    def __post_init__(self) -> None:
        self.label, self.cells = cell_of(self.label), list(map(cell_of, self.cells))

    @property
    def texts(self) -> list[str]:
        """The cells as they are read."""
        return list(map(str, self.cells))


@dataclass
class TableSection:
    """Lines below a title; ``note`` is below the title, over all columns."""

    title: str
    lines: list[TableRow]
    workload: str = ""
    store: str = ""
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """The layout of a table on paper. Lengths without a unit are shares of the line.

    ``label`` is the width of the labels, ``widths`` are those of the columns; 0: as wide as
    their longest cell. Columns with a width hold text, the others numbers. ``most`` columns fit
    next to each other, 0: all; the others are below them. ``head`` is how many letters of a
    head are on a line, 0: a word. ``gap`` is the space next to columns; ``hang``: marks
    of the last one hang into the margin.
    """

    size: str = "footnotesize"
    gap: str = ".33em"
    label: float = 0
    widths: tuple[float, ...] = ()
    width: float = 1
    most: int = 0
    head: int | None = None
    hang: bool = False


@dataclass
class Grid:
    """A table. ``groups`` are heads above those of the columns, each with their number.

    ``corner`` is the head of the labels. ``sortable`` lines have no order of their own.
    """

    columns: list[str | RichText | Head]
    sections: list[TableSection]
    notes: list[str | RichText] = field(default_factory=list)
    corner: str = ""
    groups: list[tuple[str | RichText | Head, int]] = field(default_factory=list)
    sortable: bool = False
    paper: Paper = Paper()

    def __post_init__(self) -> None:
        self.columns = list(map(head_of, self.columns))
        self.groups = [(head_of(title), width) for title, width in self.groups]

    @property
    def lines(self) -> list[TableRow]:
        return [line for section in self.sections for line in section.lines]

    @property
    def widths(self) -> list[float]:
        """Return the width of each column, 0 for numbers."""
        return list(self.paper.widths or [0] * len(self.columns))

    @property
    def rules(self) -> list[tuple[int, int]]:
        """The first and last column below each group of several, the labels' being the first."""
        starts = accumulate((width for _title, width in self.groups), initial=2)
        groups = zip(self.groups, starts, strict=False)
        return [(first, first + width - 1) for (_title, width), first in groups if width > 1]

    @property
    def middle(self) -> int:
        """The line at whose height a column without values says so."""
        return len(self.lines) // 2

    def without_strips(self) -> Grid:
        """Return the grid without the columns that are drawn, for what shows text alone."""
        kept = [
            column
            for column in range(len(self.columns))
            if not any(line.cells[column].strip for line in self.lines)
        ]
        if len(kept) == len(self.columns):
            return self
        sections = [
            replace(
                section,
                lines=[
                    replace(line, cells=[line.cells[column] for column in kept])
                    for line in section.lines
                    if not any(cell.strip and cell.strip.labelled for cell in line.cells)
                ],
            )
            for section in self.sections
        ]
        widths = tuple(self.paper.widths[column] for column in kept if self.paper.widths)
        return replace(
            self,
            columns=[self.columns[column] for column in kept],
            sections=[section for section in sections if section.lines],
            paper=replace(self.paper, widths=widths),
        )

    def frame(self) -> pd.DataFrame:
        """The cells as they are printed: section, line, then each column of the table."""
        upper = [title for title, width in self.groups for _ in range(width)]
        both = zip(upper or [None] * len(self.columns), self.columns, strict=True)
        heads = [": ".join(_printed(title.text) for title in pair if title) for pair in both]
        rows = [
            [section.title, *(_printed(each.text) for each in (line.label, *line.cells))]
            for section in self.sections
            for line in section.lines
        ]
        return pd.DataFrame(rows, columns=["section", "line", *heads])

    def parts(self) -> list[Grid]:
        """Return the parts below each other on paper: as many columns in each, or one fewer."""
        number, most = len(self.columns), self.paper.most
        if not self.sections or not most or number <= most:
            return [self] if self.sections else []
        blocks = np.array_split(range(number), -(-number // most))
        return [self._part(block[0], block[-1] + 1) for block in blocks]

    def _part(self, start: int, end: int) -> Grid:
        """The columns from ``start`` on to that before ``end``, without lines that are empty.

        A table with groups of several columns is not taken apart.
        """
        sections = []
        for section in self.sections:
            lines: list[TableRow] = []
            for line in section.lines:
                cells = line.cells[start:end]
                if line.label and all(each.empty for each in cells):
                    continue
                if line.label or (any(cells) and lines):
                    lines.append(replace(line, cells=cells))
            if lines:
                sections.append(replace(section, lines=lines))
        paper = replace(self.paper, widths=self.paper.widths[start:end], most=0)
        columns, groups = self.columns[start:end], self.groups[start:end]
        return replace(self, columns=columns, groups=groups, sections=sections, paper=paper)


def _printed(text: RichText) -> str:
    """``text`` without the marks that are not its source's."""
    return text.without("hanging", "phantom")


def notes_of(grids: Iterable[Grid]) -> list[str | RichText]:
    """The notes below the ``grids``; last of all what the mark of an inconsistent value says."""
    notes = [text for grid in grids for text in grid.notes]
    if any(MARK in str(each) for grid in grids for line in grid.lines for each in line.cells):
        words = marked_values()
        notes.append(note(MARK, words[:1].upper() + words[1:] + "."))
    return notes
