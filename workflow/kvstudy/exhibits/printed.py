"""A source's tables made again from its published values alone, as it printed them.

Most tables follow from the values: those that ``published.csv`` gives to the source's
Table 4.2 fill the study's table with ``source: Table 4.2``, whatever its kind. Kinds with
another origin, or with an arrangement of their own, have a ``published_grid``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from kvstudy.language.current import _, ngettext
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection, head_of
from kvstudy.layout.numbers import operation_word, sign, sized
from kvstudy.layout.rich_text import DASH, RichText, with_mark
from kvstudy.libraries import pd
from kvstudy.study.base import SIZE_TITLES, SIZES
from kvstudy.study.metrics import metric_of

if TYPE_CHECKING:
    from kvstudy.study.model import Study


@dataclass(frozen=True)
class PublishedSource:
    """The published values of a source: ``values`` as ``read_published`` gives them.

    ``audit`` are the checks of it (``audit.files``), if it has any.
    """

    study: Study
    values: pd.DataFrame
    titles: dict[str, str]
    audit: pd.DataFrame | None = None

    def printed(self, row) -> str:
        """A value as the source printed it."""
        if row.printed:
            return row.printed
        form = self.study.source.printed
        return DASH if pd.isna(row.value) else form.text(row.metric, row.value)

    def cell(self, row) -> str | RichText:
        """The same in a table: nothing for no row, with a mark if it is inconsistent."""
        return "" if row is None else with_mark(self.printed(row), row.inconsistent)

    def title(self, store: str, turned: bool = False) -> str:
        """The title of a store, or of two that were compared (``redis/mysql``).

        ``turned`` is for a ratio that is printed the other way round: ``MySQL:Redis``.
        """
        parts = [self.titles.get(part, part) for part in store.split("/")]
        return ":".join(reversed(parts)) if turned else " / ".join(parts)

    def grid(self, values: pd.DataFrame) -> Grid:
        """The ``values`` of one table, arranged by what differs between them."""
        sizes = [size for size in SIZES if values[size].nunique() > 1]
        return _over_sizes(values, sizes, self) if sizes else _of_operations(values, self)

    def table(
        self,
        heads: list[str],
        sections: list[TableSection],
        corner: str = "",
        notes: list[str] | None = None,
        upper: list[str] | None = None,
        text: bool = False,
        stores: list[str] | None = None,
    ) -> Grid:
        """A table as it is printed, with ``upper`` above its heads.

        ``stores`` are those of the columns, "" for others; none if no column is a store's.
        """
        number, groups = len(heads), []
        stores = stores or [""] * number
        for head, of in groupby(zip(upper or [], stores, strict=False), key=itemgetter(0)):
            names = [store for _, store in of]
            one = names[0] if len(set(names)) == 1 else ""
            groups.append((head_of(head, store=one), len(names)))
        width = (0.76 if number < 3 else 0.64) / number if text and number else 0
        paper = Paper(
            *(("footnotesize", ".33em") if number > 6 else ("small", "")),
            widths=(width,) * number if text else (),
            width=0.6 if number < 3 else 1,
            head=0 if upper else None,
        )
        columns = [head_of(head, store=store) for head, store in zip(heads, stores, strict=True)]
        return Grid(columns, sections, list(notes or []), corner, groups, paper=paper)


def _of_operations(values: pd.DataFrame, source: PublishedSource) -> Grid:
    """A column per store; a line per operation and metric, in the order of the source."""
    stores = _in_order(values["store"], source)
    sections: dict[str, TableSection] = {}
    for (operation, _metric), rows in values.groupby(["operation", "metric"], sort=False):
        title = "" if operation == "overall" else operation_word(operation, " + ").capitalize()
        section = sections.setdefault(operation, TableSection(title, []))
        by_store = {row.store: row for row in rows.itertuples()}
        label = label_of(next(rows.itertuples()))
        section.lines.append(
            TableRow(label, [source.cell(by_store.get(store)) for store in stores])
        )
    heads = list(map(source.title, stores))
    return source.table(heads, list(sections.values()), stores=stores)


def _over_sizes(values: pd.DataFrame, sizes: list[str], source: PublishedSource) -> Grid:
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
    by_key, heads = {}, {}
    for row in values.itertuples():
        key = tuple(getattr(row, name) for name in ["store", *others])
        by_key[getattr(row, rows), key] = row
        parts = (_part(name, getattr(row, name), row, source) for name in others)
        heads.setdefault(key, ", ".join(filter(None, parts)))
    keys = sorted(
        heads,
        key=lambda key: (stores.index(key[0]), [n for n in key[1:] if isinstance(n, float)]),
    )
    lines = [
        TableRow(_whole(size, source), [source.cell(by_key.get((size, key))) for key in keys])
        for size in sorted(values[rows].dropna().unique())
    ]
    notes = [] if "metric" in others else [label_of(next(values.itertuples())) + "."]
    titles = [source.title(store, store in turned) for store, *_others in keys]
    return source.table(
        [heads[key] for key in keys] if others else titles,
        *([TableSection("", lines)], _(SIZE_TITLES[rows]), notes),
        upper=titles if others else None,
        stores=[store.replace("/", " ") for store, *_others in keys],
    )


def _part(name: str, value: object, row, source: PublishedSource) -> str:
    """One of the things that show a column from its neighbours."""
    if name == "metric":
        return label_of(row)
    if name in SIZES:
        number = _whole(value, source).replace(" ", "\N{NARROW NO-BREAK SPACE}")
        return worded(name, int(value)).format(number)
    if name == "workload":
        return source.study.workload(value).title
    return _(str(value)).capitalize()


def worded(size: str, number: int) -> str:
    """``{} records``, ``{} client threads``: to be filled with the number as it is written."""
    if size == "threads":
        return ngettext("{} client thread", "{} client threads", number)
    return sized(size, number)


def _whole(value: float, source: PublishedSource) -> str:
    return source.study.source.printed.text("operations", value)


def label_of(row) -> str:
    title = _(metric_of(row.metric).row)
    # A form of its own has its unit with it: 1,3 s.
    plain = row.unit in ("count", "", "ratio") or any(letter.isalpha() for letter in row.printed)
    return title if plain else f"{title} ({sign(row.unit)})"


def _in_order(stores: pd.Series, source: PublishedSource) -> list[str]:
    """Each store once: those of the study in its order, then what compares two of them."""
    stores_of_study = source.study.store_names
    return sorted(
        stores.unique(),
        key=lambda name: (
            stores_of_study.index(name) if name in stores_of_study else len(stores_of_study)
        ),
    )
