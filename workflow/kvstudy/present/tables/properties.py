"""The table of what the stores are, beside what the study's source says of it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from kvstudy.language.current import _, ngettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.markup import marked
from kvstudy.study.model import Study
from kvstudy.study.properties import (
    JUDGED,
    STATED,
    TITLES,
    PublishedProperties,
    StoreProperties,
)

COLUMNS = ["property", "store", "version", "says", "numbers", "published"]
# Stores that fit side by side.
MOST_STORES = 4


@dataclass
class Line:
    """One property: what each store's cell says, its references, and what the source says."""

    label: str
    cells: list[tuple[str, str, str]]


def numbered(found: dict[str, StoreProperties]) -> list[tuple[int, str, str]]:
    """The references of all stores: number, store (one of its names), name of the reference.

    A reference of a store that stands in the study twice has one number.
    """
    seen: dict[str, int] = {}
    rows = []
    for store, properties in found.items():
        for name, reference in properties.references.items():
            if reference.url not in seen:
                seen[reference.url] = len(seen) + 1
                rows.append((seen[reference.url], store, name))
    return rows


def long_form(
    study: Study, found: dict[str, StoreProperties], published: PublishedProperties | None
) -> pd.DataFrame:
    """One row per property and store; ``numbers`` are those of the references.

    ``says`` is "" for a property that is a judgement, which only the source has.
    """
    numbers = {found[store].references[name].url: number for number, store, name in numbered(found)}
    there = published.stores if published else {}
    names = [*STATED, *(name for name in JUDGED if any(name in of for of in there.values()))]
    rows = []
    for name in names:
        for store, properties in found.items():
            says, cited = "", []
            if name in STATED:
                statement = getattr(properties, name)
                says = statement.says
                urls = [properties.references[each].url for each in statement.references]
                cited = sorted(numbers[url] for url in urls)
            rows.append(
                [
                    *(name, store, properties.version, says),
                    " ".join(map(str, cited)),
                    there.get(store, {}).get(name, ""),
                ]
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def content(frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> dict[str, object]:
    """What the templates need: ``whole``, and for paper ``blocks`` of stores that fit side by
    side; each has ``heads`` and ``lines``.
    """
    stores = list(dict.fromkeys(frame["store"]))
    number = -(-len(stores) // MOST_STORES)
    size = -(-len(stores) // number)
    blocks = [
        _block(frame, stores[start : start + size], titles) for start in range(0, len(stores), size)
    ]
    notes = [_("Small numbers: the sources below.")]
    if (frame["published"] != "").any():
        source = study.source
        name = f"{source.author}, {source.year}" if source else _("the source")
        notes.append(_("In brackets, grey: what {} says.").format(name))
    if (frame["says"] == "").any():
        judged = [_(TITLES[name]) for name in JUDGED if name in set(frame["property"])]
        text = ngettext(
            "{} is a judgement of the source without a stated measure; nothing here stands beside "
            "it. How fast the stores respond is what this report measures.",
            "{} are judgements of the source without a stated measure; nothing here stands beside "
            "it. How fast the stores respond is what this report measures.",
            len(judged),
        )
        notes.append(text.format(list_of(judged)))
    return {"whole": _block(frame, stores, titles), "blocks": blocks, "notes": notes}


def _block(frame: pd.DataFrame, stores: list[str], titles: dict[str, str]) -> dict[str, list]:
    rows = frame[frame["store"].isin(stores)]
    lines = [
        Line(
            _(TITLES[name]),
            [
                (row.says, row.numbers.replace(" ", ", "), sentence(row.published))
                for row in of.itertuples()
            ],
        )
        for name, of in rows.groupby("property", sort=False)
    ]
    versions = rows.drop_duplicates("store").set_index("store")["version"]
    heads = [(marked(titles[store], store=store), versions[store]) for store in stores]
    return {"heads": heads, "lines": lines}
