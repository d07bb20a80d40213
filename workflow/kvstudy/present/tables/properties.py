"""The table of what the stores are, beside what the study's source says of it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.language.current import _, ngettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, Rich, grey, marked, raised
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table
from kvstudy.study.properties import (
    JUDGED,
    STATED,
    TITLES,
    StoreProperties,
    published_properties,
    store_properties,
)

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.present.typeset.source import Source
    from kvstudy.study.model import Study

COLUMNS = ["property", "store", "version", "says", "numbers", "published"]
# Stores that fit side by side, and their share of the line.
MOST_STORES, WIDTH = 4, 0.8


class PropertiesTable(Table):
    """What the stores of the study are, from their properties.yaml."""

    cells = "none"

    kind: Literal["properties"] = Field(
        description="What the stores are (licence, indexes, replication, ...), with sources, from "
        "`envs/stores/<store>/properties.yaml`."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per property and store; ``numbers`` are those of the references.

        ``says`` is "" for a property that is a judgement, which only the source has.
        """
        properties, published = store_properties(run.study), published_properties(run.study)
        number = {
            properties[store].references[name].url: number
            for number, store, name in numbered(properties)
        }
        there = published.stores if published else {}
        names = [*STATED, *(name for name in JUDGED if any(name in of for of in there.values()))]
        rows = []
        for name, (store, of_store) in product(names, properties.items()):
            says, cited = "", []
            if name in STATED:
                statement = getattr(of_store, name)
                says = statement.says
                cited = sorted(number[of_store.references[one].url] for one in statement.references)
            numbers = " ".join(map(str, cited))
            published_words = there.get(store, {}).get(name, "")
            rows.append([name, store, of_store.version, says, numbers, published_words])
        return pd.DataFrame(rows, columns=COLUMNS)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per property, a column per store."""
        versions = rows.drop_duplicates("store").set_index("store")["version"]
        columns = [
            marked(f"{run.titles[store]} {version}", store=store)
            for store, version in versions.items()
        ]
        lines = [
            Line(_(TITLES[name]), [_cell(row) for row in of.itertuples()])
            for name, of in rows.groupby("property", sort=False)
        ]
        side_by_side = -(-len(columns) // -(-len(columns) // MOST_STORES))
        widths = (WIDTH / side_by_side,) * len(columns)
        paper = Paper("scriptsize", label=0.13, widths=widths, most=MOST_STORES)
        return [Grid(columns, [Section("", lines)], _notes(rows, run.study), paper=paper)]

    def published_grid(self, source: Source) -> Grid | None:
        """What the source says of the stores, in our words: its own are not English."""
        published = published_properties(source.study)
        if published is None:
            return None
        stores = [name for name in source.study.store_names if name in published.stores]
        lines = [
            Line(_(title), [sentence(published.stores[store].get(name, DASH)) for store in stores])
            for name, title in TITLES.items()
            if any(name in published.stores[store] for store in stores)
        ]
        missing = [source.title(name) for name in source.study.store_names if name not in stores]
        notes = [_("The words are translated.")]
        if missing:
            notes.append(_("The source's table has no {}.").format(_(" and no ").join(missing)))
        columns = [(source.title(store), "") for store in stores]
        sections = [Section("", lines)]
        return source.table(columns, sections, notes=notes, text=True, stores=stores)


def numbered(properties: dict[str, StoreProperties]) -> list[tuple[int, str, str]]:
    """The references of all stores: number, store (one of its names), name of the reference.

    A reference of a store that stands in the study twice has one number.
    """
    rows = {}
    for store, of_store in properties.items():
        for name, reference in of_store.references.items():
            rows.setdefault(reference.url, (len(rows) + 1, store, name))
    return list(rows.values())


def _cell(row) -> Rich:
    """What the store says, its references, and in brackets what the source says of it."""
    text = Rich.escape(row.says)
    if row.numbers:
        text += "\N{NARROW NO-BREAK SPACE}" + raised(row.numbers.replace(" ", ", "))
    if row.published:
        text += " " + grey(f"({sentence(row.published)})")
    return text


def _notes(rows: pd.DataFrame, study: Study) -> list[str]:
    notes = [_("Small numbers: the sources below.")]
    if (rows["published"] != "").any():
        source = study.source
        name = f"{source.author}, {source.year}" if source else _("the source")
        notes.append(_("In brackets, grey: what {} says.").format(name))
    if (rows["says"] == "").any():
        judged = [_(TITLES[name]) for name in JUDGED if name in set(rows["property"])]
        text = ngettext(
            "{} is a judgement of the source without a stated measure; nothing here stands beside "
            "it. How fast the stores respond is what this report measures.",
            "{} are judgements of the source without a stated measure; nothing here stands beside "
            "it. How fast the stores respond is what this report measures.",
            len(judged),
        )
        notes.append(text.format(list_of(judged)))
    return notes
