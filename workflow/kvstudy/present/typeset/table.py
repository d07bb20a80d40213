"""The base of all kinds of tables, its parts, and shared functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from kvstudy.analyse.findings.spread import margin_of
from kvstudy.analyse.tidy.numbers import MARK, between, ends, marked_values
from kvstudy.language.current import _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.libraries import np, pd
from kvstudy.present.typeset.latex import (
    DASH,
    EQUAL,
    INCONSISTENT,
    TIE,
    fill,
    fill_html,
    note,
    number_cell,
    plain,
)
from kvstudy.stats.ratios import Decision
from kvstudy.study.exhibits import AnyTable

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.present.typeset.source import PublishedSource
    from kvstudy.study.model import Study


def kind_of_means(study: Study, plain: bool, over_workloads: bool = False) -> str:
    """Return the kind of a table's mean throughputs.

    They are ``plain`` in a table of the source. The one over the workloads is plain wherever the
    study has a source, next to whose values it stands.
    """
    if plain:
        return _("Mean throughputs are arithmetic, as in the source.")
    if over_workloads and study.source is not None:
        return _(
            "Mean throughputs are geometric over runs and arithmetic over workloads, as in the "
            "source."
        )
    return _("Mean throughputs are geometric.")


@dataclass
class TableRow:
    """A label and the cells to its right; ``value`` is the label's, if it is a number.

    ``store`` (or several with spaces between) and ``workload`` are what the line is of,
    ``notes`` are below it, over all columns. ``published`` lines are a source's. A line
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

    columns: list[str]
    sections: list[TableSection]
    notes: list[str] = field(default_factory=list)
    corner: str = ""
    groups: list[tuple[str, int]] = field(default_factory=list)
    sortable: bool = False
    paper: Paper = Paper()

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

    def frame(self) -> pd.DataFrame:
        """The cells as they are printed: section, line, then each column of the table."""
        upper = [title for title, width in self.groups for _ in range(width)]
        both = zip(upper or [""] * len(self.columns), self.columns, strict=True)
        heads = [": ".join(plain(head) for head in of if head) for of in both]
        rows = [
            [section.title, line.label, *map(plain, line.cells)]
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
                if line.label and all(cell in (DASH, "") for cell in cells):
                    continue
                if line.label or (any(cells) and lines):
                    lines.append(replace(line, cells=cells))
            if lines:
                sections.append(replace(section, lines=lines))
        paper = replace(self.paper, widths=self.paper.widths[start:end], most=0)
        columns, groups = self.columns[start:end], self.groups[start:end]
        return replace(self, columns=columns, groups=groups, sections=sections, paper=paper)


def notes_of(grids: list[Grid]) -> list[str]:
    """The notes below the ``grids``; last of all what the mark of a inconsistent value says."""
    notes = [text for grid in grids for text in grid.notes]
    if any(INCONSISTENT in cell for grid in grids for line in grid.lines for cell in line.cells):
        words = marked_values()
        notes.append(note(MARK, words[:1].upper() + words[1:] + "."))
    return notes


def texts(grids: list[Grid], kind: str, templates: Path) -> tuple[str, str]:
    """The ``grids``, below each other, as LaTeX and as HTML, where their class is ``kind``."""
    parts = [part for grid in grids for part in grid.parts()]
    notes = notes_of(grids)
    tex = fill(templates / "table.tex.j2", paper=grids[0].paper, parts=parts, notes=notes)
    return tex, fill_html(templates / "table.html.j2", grids=grids, kind=kind, notes=notes)


class Table(AnyTable):
    """A kind of table: its rows, and how they are shown."""

    # The table of the analysis that has its rows.
    finding: ClassVar[str]

    def rows(self, run: Run) -> pd.DataFrame:
        """Return the table's data for a run, unrounded: its CSV."""
        return getattr(run.headline_analysis, self.finding)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """Return the grids of the rows, below each other, usually one."""
        raise NotImplementedError

    def choices(self, rows: pd.DataFrame, run: Run) -> dict[tuple[str, ...], list[Grid]]:
        """Return the page's alternatives by name, first the one in ``grids``."""
        return {}

    def published_rows(self, source: PublishedSource) -> pd.Series:
        """Return a mask of the source's values that the table shows without a run."""
        return source.values["table"].eq(self.source) & (self.source != "")

    def published_grid(self, source: PublishedSource) -> Grid | None:
        """Return the grid of the source's values as printed; None if there are none."""
        values = source.values[self.published_rows(source)]
        if values["value"].isna().all() and not values["printed"].any():
            return None
        return source.grid(values)


def write_tables(run: Run, templates: Path, output: Path) -> list[Path]:
    """Write ``<name>.csv``, ``.tex`` and ``.html`` of each table of the study; returns the .tex.

    KvstudyError for what is missing.
    """
    return [write_table(table, run, templates, output) for table in run.study.tables]


def write_table(table: Table, run: Run, templates: Path, output: Path) -> Path:
    """Write the three files of a ``table`` into ``output``, made if missing; returns the .tex."""
    rows = table.rows(run)
    path = write_grids(table.name, table.kind, rows, table.grids(rows, run), templates, output)
    if choices := table.choices(rows, run):
        alternatives = [
            (words, texts(grids, table.kind, templates)[1]) for words, grids in choices.items()
        ]
        with path.with_suffix(".html").open("a", encoding="utf-8") as page:
            page.write(as_comment(alternatives))
    return path


def as_comment(choices: list[tuple[tuple[str, ...], str]]) -> str:
    """The choices as JSON that only the page reads, for Word takes all elements of a table."""
    text = json.dumps(choices, ensure_ascii=False)
    text = text.replace("<", "\\u003c").replace("-", "\\u002d")
    return f"\n<!--choices {text}-->\n"


def write_grids(
    name: str, kind: str, rows: pd.DataFrame, grids: list[Grid], templates: Path, output: Path
) -> Path:
    """Write ``grids`` as .tex and .html and their ``rows`` as .csv; returns the .tex."""
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{name}.tex"
    for form, text in zip((".tex", ".html"), texts(grids, kind, templates), strict=True):
        path.with_suffix(form).write_text(text, encoding="utf-8")
    rows.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")
    return path


def operation_word(operation: str, sign: str = "+") -> str:
    """``read`` or ``read+update`` as people read it."""
    return sign.join(_(name) for name in operation.split("+"))


# What is between two stores, by what the runs say of the first one.
SIGNS = {Decision.FASTER: ">", Decision.EQUAL: EQUAL, Decision.UNDECIDED: TIE}


def sign_of(pair) -> str:
    """Return the sign of a row of ``pairs``; a pair without a common repetition is undecided."""
    return SIGNS[pair.decision if pair else Decision.UNDECIDED]


def margin_words(study: Study) -> str:
    """Within what stores are equal: ``±10 %``."""
    return f"±{decimal(f'{100 * margin_of(study):.6g}')} %"


def values_head(study: Study) -> str:
    """The head of a column next to that of published values."""
    return pgettext("column", "imported") if study.imported else pgettext("column", "here")


def pairing(study: Study) -> str:
    """Return how ratios of two stores are paired, in words."""
    return _("unpaired, by Welch's method") if study.imported else _("paired by repetition")


def client_bound(run: Run) -> set[tuple[str, str]]:
    """Workload and store of each throughput that the client limits."""
    rows = run.headline_analysis.bottleneck.query("limit == 'client'")
    return set(zip(rows["workload"], rows["store"], strict=True))


def interval(value: float, low: float, high: float, digits: int = 3) -> str:
    """``0.9 to 1.1``; in place of the interval that one run does not have, that it is one."""
    return _("one run") if pd.isna(low) else between(*ends(value, low, high, digits))


def interval_head() -> str:
    """The head of intervals, whose number stays with its sign."""
    return _("95 % interval").replace(" %", "\N{NARROW NO-BREAK SPACE}%")


def two_lines(
    label: str, cells: list[tuple[str, str]], store: str, below: str = ""
) -> list[TableRow]:
    """One line, and a second one, labelled ``below``, if any cell has something there."""
    first, second = ([cell[place] for cell in cells] for place in (0, 1))
    return [
        TableRow(label, first, store),
        *([TableRow(below, second, store)] if any(second) else []),
    ]


def number_of(name: str, text: Callable[[float], str]) -> Callable[[Any], str]:
    """Return a function that formats the number ``name`` of a row with ``text``."""
    return lambda row: number_cell(getattr(row, name), text)


def span_of(runs: Iterable[float]) -> str:
    """``3``, or ``2 to 3``: the numbers of runs that values are of; "" where there are none."""
    numbers = sorted({int(number) for number in runs if number})
    texts = list(map(str, numbers))
    return between(texts[0], texts[-1]) if len(texts) > 1 else "".join(texts)


def store_grid(
    frame: pd.DataFrame,
    run: Run,
    columns: list[tuple[str, Callable[[Any], str]]],
    notes: list[str],
    below: Callable[[Any], list[str]] = lambda row: [],
    **more: Any,
) -> Grid:
    """A section per workload, a line per store, of which ``frame`` has one row.

    ``columns`` are heads and what makes the cells of a row, ``below`` makes the notes of a line;
    ``more`` is of the ``Grid``.
    """

    def lines(store: str, rows: pd.DataFrame) -> list[TableRow]:
        row = next(rows.itertuples())
        cells = [cell(row) for _head, cell in columns]
        return [TableRow(run.titles[store], cells, store, notes=below(row))]

    sections = sections_of(frame, run.study, lines)
    return Grid([head for head, _cell in columns], sections, notes, **more)


def sections_of(
    frame: pd.DataFrame, study: Study, lines: Callable[[str, pd.DataFrame], list[TableRow]]
) -> list[TableSection]:
    """A section per workload, with the ``lines`` that each store's rows make."""
    rows_of = dict(list(frame.groupby(["workload", "store"])))
    sections = []
    for use in study.workloads:
        keys = [(use.name, store) for store in study.store_names if (use.name, store) in rows_of]
        lines_of_stores = chain.from_iterable(
            lines(store, rows_of[name, store]) for name, store in keys
        )
        if keys:
            sections.append(TableSection(use.title, list(lines_of_stores), workload=use.name))
    return sections
