"""Every two stores: their ratio, and the order of all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import by_pair, fastest_first, order_of, ratio_of
from kvstudy.analyse.tidy.results import THROUGHPUT
from kvstudy.exhibits.table import (
    Table,
    client_bound,
    interval,
    kind_of_means,
    margin_words,
    pairing,
    sign_of,
    throughput_of,
    two_lines,
)
from kvstudy.language.current import N_, _
from kvstudy.language.locale import Text
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import (
    CellText,
    Grid,
    Paper,
    TableRow,
    TableSection,
    cell_of,
    head_of,
)
from kvstudy.layout.numbers import significant
from kvstudy.layout.rich_text import (
    BOUND,
    DASH,
    EQUAL,
    TIE,
    RichText,
    grey,
    lines,
    with_mark,
)
from kvstudy.libraries import pd
from kvstudy.stats.ranks import place_ranges
from kvstudy.stats.ratios import Decision
from kvstudy.study.base import Name, Strict
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.exhibits.printed import PublishedSource
    from kvstudy.study.model import Study

# Columns that fit the width of a page.
MOST_COLUMNS = 6


class RatiosTable(Table):
    """Throughput ratios of every two stores, per workload; a part of every report."""

    in_template = True
    compares = controls = True
    finding = "pairs"
    own_caption = N_("Pairwise throughput ratios")

    kind: Literal["ratios"] = Field(description="Throughput ratios of all pairs of stores.")

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per pair, a column per workload."""
        study, floor, bound = run.study, run.headline_analysis.floor, client_bound(run)
        names = [name for name in [*study.workload_names, MEAN] if name in set(rows["workload"])]
        of_workload = {name: by_pair(of) for name, of in rows.groupby("workload")}
        lines = []
        for both in combinations(fastest_first(rows, study.store_names), 2):
            pairs = [of_workload[name].get(frozenset(both)) for name in names]
            if any(pairs):
                cells = [_ratio(row, both[0], bound) for row in pairs]
                lines += two_lines(" / ".join(map(run.titles.get, both)), cells, " ".join(both))
        sections = [TableSection(_("Stores") if len(floor) else "", lines)]
        if len(floor):
            noise = {
                row.workload: (
                    cell_of(significant(row.ratio), row.ratio),
                    interval(row.ratio, row.low, row.high),
                )
                for row in floor.itertuples()
            }
            cells = [noise.get(name, (DASH, "")) for name in names]
            store = floor["store"].iloc[0]
            lines = two_lines(_("{} against itself").format(run.titles[store]), cells, store)
            sections.insert(0, TableSection(_("One store"), lines))
        heads = [head_of(study.workload(name).short, workload=name) for name in names]
        note = " ".join(_signs(rows, bound, study))
        return [Grid(heads, sections, [note], paper=Paper(most=MOST_COLUMNS))]


def _signs(rows: pd.DataFrame, bound: set[tuple[str, str]], study: Study) -> Iterator[str]:
    """Explain the cells and signs of the table."""
    if rows["low"].isna().all():
        yield _("Throughput ratios of single runs. {}: one run decides nothing.").format(TIE)
    else:
        text = _("Throughput ratios (geometric means, {}) above their 95 % intervals.")
        yield text.format(pairing(study))
        if (rows["workload"] == MEAN).any() and study.source is not None:
            yield _("Mean: ratio of the arithmetic means of the workloads, as in the source.")
        if (rows["decision"] == Decision.UNDECIDED).any():
            yield _("{}: undecided after correction for the pairs of a workload.").format(TIE)
    if rows["would_decide"].notna().any():
        yield _(
            "In brackets: runs needed to settle the pair in 80 % of such studies, if ratio and "
            "spread are as measured."
        )
    if (rows["decision"] == Decision.EQUAL).any():
        yield _("{}: equal within {}.").format(EQUAL, margin_words(study))
    if (rows["in_floor"] == "yes").any():
        yield _("Grey: within the noise floor.")
    if bound:
        yield _("{}: one of the two is client-bound.").format(BOUND)


def _ratio(row, one: str, bound: set[tuple[str, str]]) -> tuple[CellText, CellText]:
    """The ratio of ``one`` to the other with its marks, and the interval below it."""
    if row is None:
        return DASH, ""
    value, low, high = ratio_of(row, one)
    marks = "" if row.decision == Decision.FASTER else sign_of(row)
    if pd.notna(row.would_decide):
        marks += f" ({row.would_decide:.0f})"
    if bound & {(row.workload, row.faster), (row.workload, row.slower)}:
        marks += BOUND
    text, between = f"{significant(value)} {marks}".rstrip(), interval(value, low, high)
    if row.in_floor == "yes":
        text, between = grey(text), grey(between)
    other = row.slower if one == row.faster else row.faster
    runs = throughput_of(one, [(row.workload, row.parameters)], other)
    return cell_of(text, value, runs), between


# What a source prints of places: rates, or the places themselves.
SOURCE_METRICS = ("throughput", "throughput_rank")
# Places that fit side by side, and the width of one.
MOST_PLACES, WIDTH = 4, 0.167


class RankingLine(Strict):
    """One order of the stores."""

    title: Text = Field(description="The title of the ranking, for example Inserting.")
    workload: Name = Field(description="The workload that ranks the stores; mean: the mean of all.")


class RankingTable(Table):
    """The places of the stores by throughput, one line per workload or for their mean."""

    in_template = True
    compares = controls = True

    kind: Literal["ranking"] = Field(
        description="The stores ranked by throughput; stores that cannot be told apart share a "
        "rank."
    )
    lines: Annotated[list[RankingLine], Field(min_length=1)] = Field(
        description="The lines of the table."
    )

    def _named_workloads(self) -> list[str]:
        return [line.workload for line in self.lines]

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise KvstudyError for a line of a workload that the study has not."""
        names = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
        for index, line in enumerate(self.lines):
            if line.workload not in names:
                place = f"{path}: {key}.lines[{index}].workload"
                check_known(place, "workload", line.workload, study.workload_names)

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per line and store: mean throughput over n runs (ops/s) and place.

        The mean is geometric, or plain in a table of the source.

        ``place`` is 1 + the number of stores that are decided to be faster
        (``stats.ranks.place_ranges``); NaN, with a ``note``, where the store has no valid value.
        ``published_place`` is the place that the source printed (``throughput_rank``), or else
        that of its ``published`` value. ``equal`` are stores that are shown to be equal to this
        one, ``undecided`` those of which neither is shown, each with the number of runs that both
        have and of those that would decide, as ``redis:3:12 riak:1:nan``. ``client_bound`` is
        "yes" where the client limits the store.
        """
        return pd.DataFrame(
            row for line in self.lines for row in _rows(line, run, self.plain_means(run.study))
        )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per order, below it that of the source; a column per place."""
        number = len(run.study.stores)
        shown: list[TableRow] = []
        for title, of in rows.groupby("line", sort=False):
            workload = of["workload"].iloc[0]
            cells = _cells(of, run.titles, number, _pairs_of(run, workload))
            shown.append(TableRow(title, cells, workload=workload))
            if of["published_place"].notna().any():
                cells = _cells(of, run.titles, number)
                shown.append(TableRow(_("published"), cells, workload=workload, published=True))
        columns = [f"{place}." for place in range(1, number + 1)]
        paper = Paper("small", ".4em", label=0.21, widths=(WIDTH,) * number, most=MOST_PLACES)
        notes = _notes(rows, run, self.plain_means(run.study))
        return [Grid(columns, [TableSection("", shown)], notes, paper=paper)]

    def published_grid(self, source: PublishedSource) -> Grid | None:
        """The stores at each place; a mean with the value that the source printed next to it."""
        values = source.values[self.published_rows(source)].dropna(subset="value")
        number = len(source.study.stores)
        shown = []
        for line in self.lines:
            of = values[values["workload"] == line.workload].set_index("store")
            rates, ranks = (of[of["metric"] == metric] for metric in SOURCE_METRICS)
            place_of = source_places(rates["value"], ranks["value"])
            printed = {row.Index: row for row in rates.itertuples()}
            cells: list[list[str | RichText]] = [[] for _ in range(number)]
            for store in source.study.store_names:
                if store in place_of:
                    text, row = source.title(store), printed.get(store)
                    if row:
                        text = with_mark(f"{text} {source.printed(row)}", row.inconsistent)
                    cells[place_of[store] - 1].append(text)
            if place_of:
                shown.append(
                    TableRow(line.title, [lines(*cell, separator=" = ") for cell in cells])
                )
        if not shown:
            return None
        heads = [f"{place}." for place in range(1, number + 1)]
        return source.table(heads, [TableSection("", shown)], _("Throughput"), text=True)


def _rows(line: RankingLine, run: Run, plain: bool) -> Iterator[dict]:
    workload, results, stores = line.workload, run.results, run.study.store_names
    values = {store: results.measured(store, workload, *THROUGHPUT) for store in stores}
    compared, bound = run.compared[0], client_bound(run)
    compared_stores = [store for store in stores if values[store] and store in compared]
    rows = run.headline_analysis.pairs.query("workload == @workload")
    ranges = place_ranges(order_of(rows, compared_stores)) or dict.fromkeys(compared_stores, (1, 1))
    pairs = by_pair(rows)
    published = {
        metric: {
            store: value
            for store in stores
            if (value := results.published(store, workload, "overall", metric)) is not None
        }
        for metric in SOURCE_METRICS
    }
    source = source_places(*published.values())
    for store, value in values.items():
        others = [other for other in compared_stores if other != store and store in ranges]
        signs = {other: sign_of(pairs.get(frozenset((store, other)))) for other in others}
        note = "" if value else results.state(store, workload).label or N_("no mean")
        yield {
            "line": line.title,
            "workload": workload,
            "store": store,
            "n": value.n if value else 0,
            "throughput": (value.mean if plain else value.shown) if value else math.nan,
            "place": ranges.get(store, (math.nan,))[0],
            "equal": " ".join(other for other in others if signs[other] == EQUAL),
            "undecided": " ".join(
                _runs(other, pairs.get(frozenset((store, other))))
                for other in others
                if signs[other] == TIE
            ),
            "client_bound": "yes" if (workload, store) in bound else "",
            "published": published["throughput"].get(store),
            "published_place": source.get(store, math.nan),
            "inconsistent": results.inconsistent(store, workload, *THROUGHPUT),
            "note": note if store in compared else _apart(run, store),
        }


def _apart(run: Run, store: str) -> str:
    """Return why it is not compared with the others."""
    if run.stores[store].embedded:
        return N_("embedded, unlike the others")
    return N_("on another path than the others")


def _runs(store: str, pair) -> str:
    return f"{store}:{pair.n:.0f}:{pair.would_decide:.0f}" if pair else f"{store}:0:nan"


def _pairs_of(run: Run, workload: str) -> dict[frozenset[str], Any]:
    return by_pair(run.headline_analysis.pairs.query("workload == @workload"))


def source_places(rates: Mapping[str, float], printed: Mapping[str, float]) -> dict[str, int]:
    """Places as the source ``printed`` them, or else by its rates; equal ones share one."""
    by_rate = pd.Series(rates, dtype=float).rank(method="min", ascending=False)
    return {store: int(place) for store, place in {**by_rate, **printed}.items()}


def _cells(
    line: pd.DataFrame, titles: dict[str, str], number: int, pairs: dict | None = None
) -> list[RichText]:
    """The stores at each place, those of one place by their values with a sign between.

    ``pairs`` are those of the analysis; without them the places are the source's.
    """
    here = pairs is not None
    place, value = ("place", "throughput") if here else ("published_place", "published")
    cells = []
    for at in range(1, number + 1):
        texts = []
        rows = list(line[line[place] == at].sort_values(value, ascending=False).itertuples())
        for row in rows:
            bound = BOUND if here and row.client_bound else ""
            rate = getattr(row, value)
            rate = "" if pd.isna(rate) else f" {significant(rate / 1000, 2)}"
            text = f"{titles[row.store]}{bound}{rate}"
            texts.append(with_mark(text, not here and row.inconsistent))
        for at_end, (row, following) in enumerate(pairwise(rows)):
            pair = pairs.get(frozenset((row.store, following.store))) if here else None
            texts[at_end] += "\N{NO-BREAK SPACE}" + (sign_of(pair) if here else EQUAL)
        cells.append(lines(*texts))
    return cells


def _notes(frame: pd.DataFrame, run: Run, plain: bool) -> list[str]:
    of = []
    for row in frame.drop_duplicates("line").itertuples():
        title = run.study.workload(row.workload).title
        of.append(f"{row.line}: {title[:1].lower()}{title[1:]}")
    text = _("After each name: mean throughput (kops/s). {}.")
    notes = [text.format("; ".join(of))]
    over_workloads = (frame["workload"] == MEAN).any()
    if over_workloads or frame["n"].max() > 1:
        notes[0] += " " + kind_of_means(run.study, plain, over_workloads)
    if frame["place"].notna().any():
        notes.append(
            _(
                "The rank of a measured store is one more than the number of significantly faster "
                "stores (corrected for the number of pairs)."
            )
        )
        if frame.dropna(subset="place").duplicated(["line", "place"]).any():
            text = _("Equal ranks are ordered by value. {}: undecided. {}: equal within {}.")
            notes.append(text.format(TIE, EQUAL, margin_words(run.study)))
    if frame["n"].max() == 1:
        notes.append(_("One run decides nothing."))
    else:
        notes += _undecided_pairs(frame, run)
    if (frame["client_bound"] == "yes").any():
        text = _("{}: the client, not the store, is the bottleneck.")
        notes.append(text.format(BOUND))
    missing = frame[frame["place"].isna()]
    for (store, note), rows in missing.groupby(["store", "note"], sort=False):
        names = ", ".join(rows["line"])
        text = _("{} has no rank in {}: {}.")
        notes.append(text.format(run.titles[store], names, sentence(note)))
    return notes


def _undecided_pairs(frame: pd.DataFrame, run: Run) -> Iterator[str]:
    """A sentence for each line, with the pairs in the order of their values."""
    from kvstudy.exhibits.claim_words import runs_words

    for title, line in frame.groupby("line", sort=False):
        pairs = _pairs_of(run, line["workload"].iloc[0])
        placed = line.sort_values("throughput", ascending=False).dropna(subset="place")
        texts = []
        for one, other in combinations(placed["store"], 2):
            pair = pairs.get(frozenset((one, other)))
            if sign_of(pair) == TIE:
                words = runs_words(int(pair.n), pair.would_decide) if pair else runs_words(0, 0)
                texts.append(f"{run.titles[one]} / {run.titles[other]} ({words})")
        if texts:
            yield _("{}, undecided: {}.").format(title, ", ".join(texts))
