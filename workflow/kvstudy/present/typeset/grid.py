"""A table as it is shown, whatever its kind and the format: heads, sections of lines, notes.

The templates ``table.tex.j2`` and ``table.html.j2`` print it. Heads, labels and cells are text,
plain or ``Rich``, which knows the number, store and workload that it is of.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import unescape
from itertools import pairwise
from pathlib import Path

from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import fill
from kvstudy.present.typeset.markup import DASH, Rich, fill_html


@dataclass
class Line:
    """A label and the cells to its right; ``value`` is the label's, if it is a number.

    ``store`` (or several with spaces between) and ``workload`` are what the line is of,
    ``notes`` stand below it, over all columns. ``published`` lines are a source's. A line
    without a label belongs to the one above it.
    """

    label: str
    cells: list[str]
    store: str = ""
    workload: str = ""
    value: float | None = None
    notes: list[str] = field(default_factory=list)
    published: bool = False


@dataclass
class Section:
    """Lines below a title; ``note`` stands below the title, over all columns."""

    title: str
    lines: list[Line]
    workload: str = ""
    store: str = ""
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """How a table is set on paper. Lengths without a unit are shares of the line.

    ``label`` is the width of the labels, ``widths`` are those of the columns; 0: as wide as
    their longest cell. Columns with a width hold text, the others numbers. ``most`` columns fit
    beside each other, 0: all; the others stand below them. ``head`` is how many letters of a
    head stand on a line, 0: a word. ``gap`` is the space beside columns; ``hang``: marks
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

    columns: list[str]
    sections: list[Section]
    notes: list[str] = field(default_factory=list)
    corner: str = ""
    groups: list[tuple[str, int]] = field(default_factory=list)
    sortable: bool = False
    paper: Paper = Paper()

    @property
    def lines(self) -> list[Line]:
        return [line for section in self.sections for line in section.lines]

    @property
    def widths(self) -> list[float]:
        """Of each column, 0 for one of numbers."""
        return list(self.paper.widths or [0] * len(self.columns))

    @property
    def rules(self) -> list[tuple[int, int]]:
        """The first and last column below each group of several, the labels' being the first."""
        spans, first = [], 2
        for _title, width in self.groups:
            if width > 1:
                spans.append((first, first + width - 1))
            first += width
        return spans

    @property
    def middle(self) -> int:
        """The line at whose height a column without values says so."""
        return len(self.lines) // 2

    def frame(self) -> pd.DataFrame:
        """The cells as they are printed: section, line, then each column of the table."""
        upper = [title for title, width in self.groups for _ in range(width)]
        upper = upper or [""] * len(self.columns)
        heads = [
            ": ".join(unescape(head) if isinstance(head, Rich) else head for head in both if head)
            for both in zip(upper, self.columns, strict=True)
        ]
        rows = [
            [section.title, line.label, *(getattr(cell, "unmarked", "") or cell for cell in cells)]
            for section in self.sections
            for line in section.lines
            for cells in [line.cells]
        ]
        return pd.DataFrame(rows, columns=["section", "line", *heads])

    def parts(self) -> list[Grid]:
        """What stands below each other on paper: as many columns in each, or one fewer."""
        if not self.sections:
            return []
        number = len(self.columns)
        blocks = max(1, -(-number // self.paper.most)) if self.paper.most else 1
        ends = [-(-number * block // blocks) for block in range(blocks + 1)]
        return [self] if blocks < 2 else [self._part(*of) for of in pairwise(ends)]

    def _part(self, start: int, end: int) -> Grid:
        """The columns from ``start`` on to that before ``end``, without lines that are empty."""
        sections = []
        for section in self.sections:
            lines: list[Line] = []
            for line in section.lines:
                cells = line.cells[start:end]
                if line.label and all(cell in (DASH, "") for cell in cells):
                    continue
                if line.label or (any(cells) and lines):
                    lines.append(replace(line, cells=cells))
            if lines:
                sections.append(replace(section, lines=lines))
        widths = self.paper.widths[start:end]
        paper = replace(self.paper, widths=widths, most=0)
        return replace(self, columns=self.columns[start:end], sections=sections, paper=paper)


def texts(grids: list[Grid], kind: str, templates: Path) -> tuple[str, str]:
    """The ``grids``, below each other, as LaTeX and as HTML, where their class is ``kind``."""
    parts = [part for grid in grids for part in grid.parts()]
    notes = [note for grid in grids for note in grid.notes]
    tex = fill(templates / "table.tex.j2", paper=grids[0].paper, parts=parts, notes=notes)
    return tex, fill_html(templates / "table.html.j2", grids=grids, kind=kind, notes=notes)
