"""The table of places: who is first, second, third, and whom the runs do not tell apart."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest

import pandas as pd

from kvstudy.analyse.claims.words import runs_words
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.pairs import order_of
from kvstudy.analyse.tidy.numbers import significant
from kvstudy.analyse.tidy.results import Results
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import EQUAL, TIE
from kvstudy.present.tables.markup import lines
from kvstudy.present.tables.rejected import rejected_note, with_mark
from kvstudy.stats.ranks import places
from kvstudy.stats.ratios import Decision
from kvstudy.study.model import Study
from kvstudy.study.ranking import RankingTable

COLUMNS = [
    *["line", "workload", "store", "n", "throughput", "place", "equal", "undecided"],
    *["client_bound", "published", "published_place", "rejected", "note"],
]
BOUND = "\N{DAGGER}"
FASTER = ">"
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

    ``place`` is 1 + the number of stores that are decided to be faster
    (``stats.ranks.places``); NaN, with a ``note``, where the store has no valid value.
    ``published_place`` is the place that the source printed (``throughput_rank``), or else that
    of its ``published`` value. ``equal`` are stores that are shown to be equal to this one,
    ``undecided`` those of which neither is shown, each with the number of runs that both have
    and of those that would decide, as ``redis:3:12 riak:1:nan``. ``client_bound`` is "yes" where
    the client limits the store.
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
        pairs = analysis.pairs[analysis.pairs["workload"] == line.workload]
        order = order_of(pairs, there)
        place = places(order, larger_is_better=True) if order else dict.fromkeys(there, 1)
        source = published_places(study.store_names, found, line.workload)
        for store, value in values.items():
            equal, undecided = _beside(pairs, store, there) if value else ([], [])
            rows.append(
                {
                    "line": line.title,
                    "workload": line.workload,
                    "store": store,
                    "n": value.n if value else 0,
                    "throughput": value.mean if value else math.nan,
                    "place": place.get(store, math.nan),
                    "equal": " ".join(equal),
                    "undecided": " ".join(undecided),
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


def _beside(pairs: pd.DataFrame, store: str, others: list[str]) -> tuple[list[str], list[str]]:
    """The ``others`` that are equal to ``store``, and the undecided ones with their runs."""
    rows = {frozenset((row.faster, row.slower)): row for row in pairs.itertuples()}
    equal, undecided = [], []
    for other in others:
        row = rows.get(frozenset((store, other)))
        if row and row.decision == Decision.EQUAL:
            equal.append(other)
        elif other != store and (row is None or row.decision == Decision.UNDECIDED):
            runs, more = (row.n, row.would_decide) if row else (0, math.nan)
            undecided.append(f"{other}:{runs:.0f}:{more:.0f}")
    return equal, undecided


def _undecided(row) -> dict[str, tuple[int, float]]:
    """The stores undecided against that of ``row``: runs of both, and how many would decide."""
    parts = (each.split(":") for each in row.undecided.split())
    return {store: (int(runs), float(more)) for store, runs, more in parts}


def _cells(
    line: pd.DataFrame, place: str, value: str, titles: dict[str, str], number: int
) -> list[str]:
    """The stores at each place, those of one place by their values with a sign between."""
    cells = []
    for at in range(1, number + 1):
        texts = []
        rows = list(line[line[place] == at].sort_values(value, ascending=False).itertuples())
        for row, following in zip_longest(rows, rows[1:]):
            mark = BOUND if place == "place" and row.client_bound else ""
            rate = getattr(row, value)
            rate = "" if pd.isna(rate) else f" {significant(rate / 1000, 2)}"
            rejected = place == "published_place" and row.rejected
            sign = f"\N{NO-BREAK SPACE}{_sign(row, following.store, place)}" if following else ""
            texts.append(with_mark(f"{titles[row.store]}{mark}{rate}", rejected) + sign)
        cells.append(lines(*texts))
    return cells


def _sign(row, other: str, place: str) -> str:
    """What stands between two stores of one place; a source's values are equal there."""
    if place != "place" or other in row.equal.split():
        return EQUAL
    return TIE if other in _undecided(row) else FASTER


def _notes(frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> list[str]:
    lines = frame.drop_duplicates("line")
    of = ", ".join(f"{row.line}: {_of(study, row.workload)}" for row in lines.itertuples())
    notes = [_("Each order is one of mean throughput (kops/s beside the name). {}.").format(of)]
    if frame["place"].notna().any():
        notes.append(
            _(
                "A place is one more than the number of stores that are shown to be faster (95 % "
                "interval, Holm's correction, noise floor); stores of one place stand by their "
                "values. {}: undecided. {}: equal within ±10 %."
            ).format(TIE, EQUAL)
        )
    if frame["n"].max() == 1:
        notes.append(_("There is one run: it decides nothing."))
    else:
        notes += _undecided_pairs(frame, titles)
    if (frame["client_bound"] == "yes").any():
        text = _("{}: the client, not the store, limits the throughput.")
        notes.append(text.format(BOUND))
    if frame["rejected"].any():
        notes.append(rejected_note())
    missing = frame[frame["place"].isna()]
    for (store, note), rows in missing.groupby(["store", "note"], sort=False):
        names = ", ".join(rows["line"])
        text = _("{} has no place in {}: {}.")
        notes.append(text.format(titles[store], names, sentence(note)))
    return notes


def _undecided_pairs(frame: pd.DataFrame, titles: dict[str, str]) -> list[str]:
    """A sentence for each line, with the pairs in the order of their values."""
    found = []
    for title, line in frame.groupby("line", sort=False):
        rows = list(line.sort_values("throughput", ascending=False).itertuples())
        pairs = [
            f"{titles[one.store]} / {titles[other.store]} "
            f"({runs_words(*_undecided(one)[other.store])})"
            for one, other in combinations(rows, 2)
            if other.store in _undecided(one)
        ]
        if pairs:
            found.append(_("{}, undecided: {}.").format(title, ", ".join(pairs)))
    return found


def _of(study: Study, workload: str) -> str:
    title = study.workload(workload).title
    return title[:1].lower() + title[1:]
