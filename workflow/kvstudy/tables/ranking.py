"""The table of places: who is first, second, third, and whom the runs do not tell apart."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd

from kvstudy.analysis.files import Analysis
from kvstudy.language.current import N_, _
from kvstudy.language.locale import list_of
from kvstudy.language.recorded import recorded
from kvstudy.stats.ranks import places
from kvstudy.stats.ratios import Ratio
from kvstudy.study.model import Study
from kvstudy.study.ranking import RankingTable
from kvstudy.tables.markup import lines
from kvstudy.tables.rejected import rejected_note, with_mark
from kvstudy.tidy.numbers import significant
from kvstudy.tidy.results import Results

COLUMNS = [
    *["line", "workload", "store", "n", "throughput", "place", "also_tied", "client_bound"],
    *["published", "published_place", "rejected", "note"],
]
BOUND = "\N{DAGGER}"
TIE = "~"
# Places that fit side by side.
MOST_PLACES = 4


@dataclass
class Row:
    """One line: what stands at each place, here or in the source."""

    label: str
    cells: list[str]
    published: bool
    workload: str


def long_form(
    table: RankingTable, study: Study, found: Results, analysis: Analysis
) -> pd.DataFrame:
    """One row per line and store: mean throughput over n runs (ops/s) and place.

    ``place`` is 1 + the number of stores that the runs tell to be faster
    (``stats.ranks.places``); NaN, with a ``note``, where the store has no valid value.
    ``published_place`` is the place that the source printed (``throughput_rank``), or else that
    of its ``published`` value. ``also_tied`` are stores at other places that the runs do not
    tell from this one: ties need not be transitive. ``client_bound`` is
    "yes" where the client limits the store.
    """
    bound = set(
        analysis.bottleneck.query("client_bound == 'yes'")[["workload", "store"]].itertuples(
            index=False, name=None
        )
    )
    rows = []
    for line in table.lines:
        values = {
            store: found.measured(store, line.workload, "overall", "throughput")
            for store in study.store_names
        }
        there = [store for store, value in values.items() if value is not None]
        ratios = _ratios(analysis.pairs, line.workload, there)
        place = places(ratios, larger_is_better=True) if ratios else dict.fromkeys(there, 1)
        source = published_places(study.store_names, found, line.workload)
        for store, value in values.items():
            rows.append(
                {
                    "line": line.title,
                    "workload": line.workload,
                    "store": store,
                    "n": value.n if value else 0,
                    "throughput": value.mean if value else math.nan,
                    "place": place.get(store, math.nan),
                    "also_tied": " ".join(_tied_elsewhere(store, ratios, place)),
                    "client_bound": "yes" if (line.workload, store) in bound else "",
                    "published": found.published(store, line.workload, "overall", "throughput"),
                    "published_place": source.get(store, math.nan),
                    "rejected": found.rejected(store, line.workload, "overall", "throughput"),
                    "note": ""
                    if value
                    else found.state(store, line.workload).label or N_("no mean"),
                }
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def content(frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> dict[str, object]:
    """What the templates need of ``long_form``: ``rows``, and for paper ``blocks`` of places."""
    number = len(study.stores)
    rows: list[Row] = []
    for title, line in frame.groupby("line", sort=False):
        workload = line["workload"].iloc[0]
        cells = _cells(line, "place", "throughput", titles, number)
        rows.append(Row(title, cells, False, workload))
        if line["published_place"].notna().any():
            cells = _cells(line, "published_place", "published", titles, number)
            rows.append(Row(_("published"), cells, True, workload))
    blocks = [
        {
            "places": list(range(start + 1, min(start + MOST_PLACES, number) + 1)),
            "rows": [replace(row, cells=row.cells[start : start + MOST_PLACES]) for row in rows],
        }
        for start in range(0, number, MOST_PLACES)
    ]
    places = list(range(1, number + 1))
    return {"places": places, "rows": rows, "blocks": blocks, "notes": _notes(frame, study, titles)}


def published_places(stores: list[str], found: Results, workload: str) -> dict[str, int]:
    """Places that the source printed, or those of its values; equal values share one."""
    printed = {
        store: found.published(store, workload, "overall", "throughput_rank") for store in stores
    }
    printed = {store: int(place) for store, place in printed.items() if place is not None}
    if printed:
        return printed
    values = {store: found.published(store, workload, "overall", "throughput") for store in stores}
    values = {store: value for store, value in values.items() if value is not None}
    return {
        store: 1 + sum(other > value for other in values.values())
        for store, value in values.items()
    }


def _ratios(pairs: pd.DataFrame, workload: str, stores: list[str]) -> dict[tuple[str, str], Ratio]:
    """The ratios of all pairs of ``stores``; one without a row is of unknown spread: tied."""
    unknown = {pair: Ratio(1.0, 0) for pair in combinations(stores, 2)}
    for row in pairs[pairs["workload"] == workload].itertuples():
        for pair in ((row.faster, row.slower), (row.slower, row.faster)):
            if unknown.pop(pair, None) is not None:
                numbers = [None if pd.isna(n) else n for n in (row.low, row.high, row.p)]
                holm = None if pd.isna(row.p_holm) else row.p_holm
                unknown[row.faster, row.slower] = Ratio(
                    row.ratio, int(row.n), *numbers, p_holm=holm
                )
    return unknown


def _tied_elsewhere(
    store: str, ratios: dict[tuple[str, str], Ratio], place: dict[str, int]
) -> list[str]:
    pairs = [pair for pair, ratio in ratios.items() if store in pair and ratio.tied is not False]
    others = [next(name for name in pair if name != store) for pair in pairs]
    return [other for other in others if place[other] != place[store]]


def _cells(
    line: pd.DataFrame, place: str, value: str, titles: dict[str, str], number: int
) -> list[str]:
    """The stores at each place, those of one place below each other with a sign between."""
    cells = []
    for at in range(1, number + 1):
        texts = []
        for row in line[line[place] == at].itertuples():
            mark = BOUND if place == "place" and row.client_bound else ""
            rate = getattr(row, value)
            rate = "" if pd.isna(rate) else f" {significant(rate / 1000, 2)}"
            rejected = place == "published_place" and row.rejected
            texts.append(with_mark(f"{titles[row.store]}{mark}{rate}", rejected))
        cells.append(lines(*(text + f" {TIE}" for text in texts[:-1]), *texts[-1:]))
    return cells


def _notes(frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> list[str]:
    lines = frame.drop_duplicates("line")
    of = ", ".join(f"{row.line}: {_of(study, row.workload)}" for row in lines.itertuples())
    notes = [_("Each order is one of mean throughput (kops/s beside the name). {}.").format(of)]
    if frame["place"].notna().any():
        notes.append(
            _(
                "{}: the runs do not tell these stores apart (95 % interval, Holm's correction), "
                "so they share a place, in no order. A place is one more than the number of "
                "stores that are told to be faster."
            ).format(TIE)
        )
    for row in frame[frame["also_tied"] != ""].itertuples():
        later = [
            other for other in row.also_tied.split() if _place(frame, row.line, other) > row.place
        ]
        if later:
            names = list_of(titles[other] for other in later)
            notes.append(
                _(
                    "{}: the runs do not tell {} from {} either; but another store is told to be "
                    "faster than {}, which stands lower for it."
                ).format(row.line, titles[row.store], names, names)
            )
    if frame["n"].max() == 1:
        notes.append(_("There is one run: it tells no two stores apart."))
    if (frame["client_bound"] == "yes").any():
        text = _("{}: the client, not the store, limits the throughput.")
        notes.append(text.format(BOUND))
    if frame["rejected"].any():
        notes.append(rejected_note())
    missing = frame[frame["place"].isna()]
    for (store, note), rows in missing.groupby(["store", "note"], sort=False):
        names = ", ".join(rows["line"])
        text = _("{} has no place in {}: {}.")
        notes.append(text.format(titles[store], names, recorded(note)))
    return notes


def _place(frame: pd.DataFrame, line: str, store: str) -> float:
    return frame.set_index(["line", "store"]).loc[(line, store), "place"]


def _of(study: Study, workload: str) -> str:
    title = study.workload(workload).title
    return title[:1].lower() + title[1:]
