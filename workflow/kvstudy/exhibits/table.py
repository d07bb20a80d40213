"""The base of all kinds of tables, and functions that several of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

from kvstudy.analyse.findings.spread import margin_of
from kvstudy.analyse.tidy.results import THROUGHPUT
from kvstudy.language.current import _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.layout.grid import (
    CellText,
    Grid,
    Statistic,
    TableCell,
    TableRow,
    TableSection,
    number_cell,
)
from kvstudy.layout.numbers import between, ends
from kvstudy.layout.rich_text import EQUAL, TIE, RichText
from kvstudy.libraries import pd
from kvstudy.stats.ratios import Decision
from kvstudy.study.exhibits import AnyTable

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.exhibits.printed import PublishedSource
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
    label: str | RichText, cells: list[tuple[CellText, CellText]], store: str, below: str = ""
) -> list[TableRow]:
    """One line, and a second one, labelled ``below``, if any cell has something there."""
    first, second = ([cell[place] for cell in cells] for place in (0, 1))
    return [
        TableRow(label, first, store),
        *([TableRow(below, second, store)] if any(second) else []),
    ]


def number_of(
    name: str,
    text: Callable[[float], str | RichText],
    runs: Callable[[Any], Statistic | None] = lambda row: None,
) -> Callable[[Any], TableCell]:
    """Return a function that formats the number ``name`` of a row with ``text``.

    ``runs`` says how the number follows from single runs.
    """
    return lambda row: number_cell(getattr(row, name), text, runs(row))


def throughput_of(
    store: str, settings: Iterable[tuple[str, str]], base: str = "", kind: str = "geometric"
) -> Statistic:
    """Return the mean of a store's runs, or what ``kind`` says, over that of a ``base``.

    ``settings`` are workloads with their parameters.
    """
    keys = [
        [(name, *setting, *THROUGHPUT) for setting in settings] for name in (store, base) if name
    ]
    return Statistic(kind, *map(tuple, keys))


def span_of(runs: Iterable[float]) -> str:
    """``3``, or ``2 to 3``: the numbers of runs that values are of; "" where there are none."""
    numbers = sorted({int(number) for number in runs if number})
    texts = list(map(str, numbers))
    return between(texts[0], texts[-1]) if len(texts) > 1 else "".join(texts)


def store_grid(
    frame: pd.DataFrame,
    run: Run,
    columns: list[tuple[str, Callable[[Any], CellText]]],
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
