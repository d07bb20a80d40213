"""A source's tables made again from its published values alone, as it printed them.

Most tables follow from the values: those that ``published.csv`` gives to the source's
Table 4.2 fill the study's table with ``source: Table 4.2``, whatever its kind. Kinds with
another origin, or with an arrangement of their own, are in ``OF_KIND``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import pandas as pd

from kvstudy.analyse.claims.words import sized
from kvstudy.analyse.tidy.numbers import sign
from kvstudy.language.current import _, ngettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH, Line, Section
from kvstudy.present.tables.files import write_table as write
from kvstudy.present.tables.markup import marked
from kvstudy.present.tables.rejected import rejected_note, together, with_mark
from kvstudy.study.base import SIZE_TITLES, SIZES
from kvstudy.study.kinds import AnyTable
from kvstudy.study.metrics import metric_of
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.properties import TITLES as PROPERTY_TITLES
from kvstudy.study.properties import PropertiesTable
from kvstudy.study.property_files import published_properties
from kvstudy.study.ranking import RankingTable
from kvstudy.study.table_kinds import ComparisonTable, MachineTable


@dataclass
class Grid:
    """A table as it is printed. ``columns`` are heads of two levels; the lower may be "".

    ``stores`` are those of the columns, "" for others; none if no column is a store's.
    """

    columns: list[tuple[str, str]]
    sections: list[Section]
    corner: str = ""
    notes: list[str] = field(default_factory=list)
    text: bool = False
    stores: list[str] = field(default_factory=list)

    def of_stores(self) -> list[str]:
        """The store of each column, "" for none."""
        return self.stores or [""] * len(self.columns)

    def frame(self) -> pd.DataFrame:
        """The cells as CSV: section, line, then one column per column of the table."""
        heads = [": ".join(part for part in column if part) for column in self.columns]
        rows = [
            [
                section.title,
                line.label,
                *(getattr(cell, "unmarked", "") or cell for cell in line.cells),
            ]
            for section in self.sections
            for line in section.lines
        ]
        return pd.DataFrame(rows, columns=["section", "line", *heads])


@dataclass(frozen=True)
class Source:
    """What a source published: ``values`` as ``read_published`` gives them."""

    study: Study
    values: pd.DataFrame
    titles: dict[str, str]

    def printed(self, row) -> str:
        """A value as the source printed it."""
        if row.printed:
            return row.printed
        form = self.study.source.printed
        return DASH if pd.isna(row.value) else form.text(row.metric, row.value)

    def cell(self, row) -> str:
        """The same in a table: nothing for no row, with a mark if the audit rejects it."""
        return "" if row is None else with_mark(self.printed(row), row.rejected)

    def title(self, store: str, turned: bool = False) -> str:
        """The title of a store, or of two that were compared (``redis/mysql``).

        ``turned`` is for a ratio that is printed the other way round: ``MySQL:Redis``.
        """
        parts = [self.titles.get(part, part) for part in store.split("/")]
        return ":".join(reversed(parts)) if turned else " / ".join(parts)


def published_table(table: AnyTable, source: Source) -> Grid | None:
    """The table made from published values; None where there are none."""
    make = OF_KIND.get(type(table), _by_number)
    grid = make(table, source)
    if grid and any(
        getattr(cell, "unmarked", "")
        for section in grid.sections
        for line in section.lines
        for cell in line.cells
    ):
        grid.notes.append(rejected_note())
    return grid


def write_table(name: str, grid: Grid, templates: Path, output: Path) -> None:
    """``<name>.csv``, ``.tex`` and ``.html`` of the table in the folder ``output``."""
    heads = []
    columns = zip(grid.columns, grid.of_stores(), strict=True)
    for group, some in groupby(columns, key=lambda column: column[0][0]):
        stores = [store for _, store in some]
        one = stores[0] if len(set(stores)) == 1 else ""
        heads.append((marked(group, store=one), len(stores)))
    values = {"grid": grid, "heads": heads, "lower": any(sub for _, sub in grid.columns)}
    write(name, "printed", grid.frame(), values, templates, output)


def used(table: AnyTable, source: Source) -> pd.Series:
    """Which of the published values the table shows, as True and False."""
    if isinstance(table, ComparisonTable):
        return _compared(table, source)
    return source.values["table"].eq(table.source) & (table.source != "")


def _by_number(table: AnyTable, source: Source) -> Grid | None:
    """The table with the source's own number, arranged by what differs between its values."""
    values = source.values[used(table, source)]
    if values["value"].isna().all() and not values["printed"].any():
        return None
    sizes = [size for size in SIZES if values[size].nunique() > 1]
    return _over_sizes(values, sizes, source) if sizes else _of_operations(values, source)


def _of_operations(values: pd.DataFrame, source: Source) -> Grid:
    """A column per store; a line per operation and metric, in the order of the source."""
    stores = _in_order(values["store"], source)
    sections: list[Section] = []
    titles: dict[str, Section] = {}
    found = {(row.operation, row.metric, row.store): row for row in values.itertuples()}
    for operation, metric in dict.fromkeys(zip(values["operation"], values["metric"], strict=True)):
        if operation not in titles:
            title = "" if operation == "overall" else _words(operation).capitalize()
            titles[operation] = Section(title, [])
            sections.append(titles[operation])
        some = next(found[key] for key in found if key[:2] == (operation, metric))
        cells = [found.get((operation, metric, store)) for store in stores]
        line = Line(_label(some), [source.cell(row) for row in cells])
        titles[operation].lines.append(line)
    return Grid([(source.title(store), "") for store in stores], sections, stores=stores)


def _over_sizes(values: pd.DataFrame, sizes: list[str], source: Source) -> Grid:
    """A line per value of the size that has most of them; columns of all else that differs."""
    # A metric is called by its first value: "0 ms" and "26,2 m" are in one column.
    rows = max(sizes, key=lambda size: values[size].nunique())
    others = [
        name
        for name in ["workload", "operation", *SIZES, "metric"]
        if name != rows and values[name].nunique() > 1
    ]
    stores = _in_order(values["store"], source)
    # Printed as 1:x, the value of a/b is the ratio b:a.
    turned = set(values.loc[values["printed"].str.startswith("1:"), "store"])
    keys = list(dict.fromkeys(values[["store", *others]].itertuples(index=False, name=None)))
    keys.sort(key=lambda key: (stores.index(key[0]), [n for n in key[1:] if isinstance(n, float)]))
    found = {}
    columns: dict[tuple, tuple[str, str]] = {}
    for row in values.itertuples():
        key = tuple(getattr(row, name) for name in ["store", *others])
        found[getattr(row, rows), key] = row
        parts = [_part(name, getattr(row, name), row, source) for name in others]
        columns.setdefault(
            key,
            (
                source.title(row.store, row.store in turned),
                ", ".join(part for part in parts if part),
            ),
        )
    lines = []
    for size in sorted(values[rows].dropna().unique()):
        cells = [found.get((size, key)) for key in keys]
        texts = [source.cell(row) for row in cells]
        lines.append(Line(_whole(size, source), texts))
    notes = [] if "metric" in others else [_label(next(values.itertuples())) + "."]
    return Grid(
        *([columns[key] for key in keys], [Section("", lines)], _(SIZE_TITLES[rows]), notes),
        stores=[key[0].replace("/", " ") for key in keys],
    )


def _part(name: str, value: object, row, source: Source) -> str:
    """One of the things that tell a column from its neighbours."""
    if name == "metric":
        return _label(row)
    if name in SIZES:
        number = _whole(value, source).replace(" ", "\N{NARROW NO-BREAK SPACE}")
        return _worded(name, int(value)).format(number)
    if name == "workload":
        return source.study.workload(value).title
    return _(str(value)).capitalize()


def _worded(size: str, number: int) -> str:
    if size == "threads":
        return ngettext("{} client thread", "{} client threads", number)
    return sized(size, number)


def _words(operation: str) -> str:
    return " + ".join(_(name) for name in operation.split("+"))


def _whole(value: float, source: Source) -> str:
    return source.study.source.printed.text("operations", value)


def _label(row) -> str:
    title = _(metric_of(row.metric).row)
    # A form of its own has its unit with it: 1,3 s.
    plain = row.unit in ("count", "", "ratio") or any(letter.isalpha() for letter in row.printed)
    return title if plain else f"{title} ({sign(row.unit)})"


def _in_order(stores: pd.Series, source: Source) -> list[str]:
    """Each store once: those of the study in its order, then what compares two of them."""
    known = source.study.store_names
    some = dict.fromkeys(stores)
    return [name for name in known if name in some] + [name for name in some if name not in known]


def _machine(table: MachineTable, source: Source) -> Grid | None:
    rows = source.study.source.machine
    if not rows:
        return None
    lines = [
        Line(sentence(row.component), [sentence(row.name), sentence(row.details)]) for row in rows
    ]
    return Grid(
        [(_("Name"), ""), (_("Details"), "")], [Section("", lines)], _("Component"), text=True
    )


def _compared(table: ComparisonTable, source: Source) -> pd.Series:
    values = source.values
    of_both = values["store"].isin([table.baseline, table.store])
    speed = (values["operation"] == "overall") & (values["metric"] == "throughput")
    return of_both & (speed | values["metric"].isin(["throughput_change", "failed_share"]))


def _comparison(table: ComparisonTable, source: Source) -> Grid | None:
    values = source.values[_compared(table, source)].dropna(subset="value")
    if values.loc[values["store"] == table.store].empty:
        return None
    columns = [
        (metric, store)
        for metric in ("throughput", "throughput_change", "failed_share")
        for store in (table.baseline, table.store)
        if not values.query("metric == @metric and store == @store").empty
    ]
    found = {(row.workload, row.metric, row.store): row for row in values.itertuples()}
    names = [*source.study.workload_names, MEAN]
    lines = []
    for name in names:
        cells = [found.get((name, *column)) for column in columns]
        if any(cells):
            texts = [source.cell(row) for row in cells]
            lines.append(Line(source.study.workload(name).title, texts))
    heads = {row.metric: _label(row) for row in values.itertuples()}
    places = ", ".join(sentence(table) for table in dict.fromkeys(values["table"]))
    notes = [_("From: {}.").format(places)]
    failing = [row.operation for row in values.itertuples() if row.metric == "failed_share"]
    if failing:
        kinds = list_of(_(each) for each in dict.fromkeys(failing))
        notes.append(_("Failed: share of the {} operations.").format(kinds))
    return Grid(
        *([(heads[m], source.title(s)) for m, s in columns], [Section("", lines)], "", notes),
        stores=[store for _, store in columns],
    )


def _ranking(table: RankingTable, source: Source) -> Grid | None:
    """The stores at each place; a mean with the value that the source printed beside it."""
    rows = source.values[used(table, source)].dropna(subset="value")
    number = len(source.study.stores)
    lines = []
    for line in table.lines:
        of = rows[rows["workload"] == line.workload]
        ranks = of[of["metric"] == "throughput_rank"].itertuples()
        places = {row.store: int(row.value) for row in ranks}
        values = {row.store: row for row in of[of["metric"] == "throughput"].itertuples()}
        for store, row in values.items():
            better = sum(other.value > row.value for other in values.values())
            places.setdefault(store, 1 + better)
        cells = [[] for _ in range(number)]
        for store in source.study.store_names:
            if store in places:
                row = values.get(store)
                text = (
                    f"{source.title(store)} {source.printed(row)}" if row else source.title(store)
                )
                text = with_mark(text, row is not None and row.rejected)
                cells[places[store] - 1].append(text)
        if places:
            lines.append(Line(line.title, [together(" = ", cell) for cell in cells]))
    if not lines:
        return None
    columns = [(f"{place}.", "") for place in range(1, number + 1)]
    return Grid(columns, [Section("", lines)], _("Throughput"), text=True)


def _properties(table: PropertiesTable, source: Source) -> Grid | None:
    """What the source says of the stores, in our words: its own are not English."""
    found = published_properties(source.study)
    if found is None:
        return None
    stores = [name for name in source.study.store_names if name in found.stores]
    lines = [
        Line(_(title), [sentence(found.stores[store].get(name, DASH)) for store in stores])
        for name, title in PROPERTY_TITLES.items()
        if any(name in found.stores[store] for store in stores)
    ]
    missing = [source.title(name) for name in source.study.store_names if name not in stores]
    notes = [_("The words are translated.")]
    if missing:
        notes.append(_("The source's table has no {}.").format(_(" and no ").join(missing)))
    columns = [(source.title(store), "") for store in stores]
    return Grid(columns, [Section("", lines)], "", notes, text=True, stores=stores)


Maker = Callable[[AnyTable, Source], Grid | None]
# Kinds that are not arranged by their values alone.
OF_KIND: dict[type, Maker] = {
    MachineTable: _machine,
    ComparisonTable: _comparison,
    PropertiesTable: _properties,
    RankingTable: _ranking,
}
