"""The text on a workload: the order of its stores, and the answers of the first page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from kvstudy.analyse.findings.bottleneck import Limit
from kvstudy.analyse.findings.pairs import order_of, undecided_by_correction
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.documents.report.cells import DisplayNames, joined
from kvstudy.layout.numbers import amount
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.ranks import place_ranges
from kvstudy.stats.ratios import Decision
from kvstudy.study.base import SIZES
from kvstudy.study.cells import Cell
from kvstudy.study.exhibits import AnyFigure, AnyTable
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.workload import load_only, properties_of
from kvstudy.study.ycsb_properties import proportions_of


def ranking(summary: pd.DataFrame, groups: Sequence[Sequence[str]]) -> list[tuple]:
    """Return the throughputs of each of the ``groups`` of stores (``Run.compared``), best first.

    They are rows of ``summary`` with the number of their ``group``.
    """
    rows = throughputs(summary).sort_values("geometric", ascending=False, kind="stable")
    rows = rows.astype({"n": int})
    return [
        rank
        for number, group in enumerate(groups)
        for rank in rows[rows["store"].isin(group)].assign(group=number).itertuples()
    ]


@dataclass(frozen=True)
class ComparedPairs:
    """The ``count`` of compared pairs, and the ``ties``: those without a faster store."""

    count: int
    ties: list[tuple]


def compared_pairs(pairs: pd.DataFrame) -> ComparedPairs:
    """Count the ``pairs``; ties are rows of them.

    Their ``comparisons`` are the number of pairs that the correction is for, where it alone leaves
    the pair undecided, else 0.
    """
    comparisons = (
        undecided_by_correction(pairs)["comparisons"].reindex(pairs.index).fillna(0).astype(int)
    )
    ties = pairs.assign(comparisons=comparisons).query("decision != 'faster'")
    return ComparedPairs(len(pairs), list(ties.itertuples()))


class OrderAgreement(NamedTuple):
    """The pairs with values on both sides by their order; ``open`` are equal on one side, or
    undecided here.
    """

    pairs: int
    same: int
    opposite: int
    open: int


def agreement(published: dict[str, float], pairs: pd.DataFrame) -> OrderAgreement:
    """Compare the order of the measured stores with that of the published values."""
    differences = [
        published[pair.faster] - published[pair.slower] if pair.decision == Decision.FASTER else 0
        for pair in pairs.itertuples()
        if {pair.faster, pair.slower} <= published.keys()
    ]
    return OrderAgreement(
        pairs=len(differences),
        same=sum(difference > 0 for difference in differences),
        opposite=sum(difference < 0 for difference in differences),
        open=differences.count(0),
    )


class Tail(NamedTuple):
    """Stores and their percentiles (us) of an operation, ascending.

    ``few`` are stores with too few operations beyond the percentile.
    """

    operation: str
    values: list[tuple[str, float]]
    few: list[str]


@dataclass(frozen=True)
class WorkloadFacts:
    """All that the section of the workload ``use`` says.

    ``mix`` are operations and their shares
    between 0 and 1, and ``sizes`` has one cell for each set of parameters, of which ``fewer``
    are of some stores. ``cell`` is the one of
    the headline sizes, and of these are ``throughput`` (``ranking``), ``pairs``, ``tails``, stores
    with ``short`` runs, and the ``client_bound`` stores with the reasons. At sizes
    ``elsewhere`` only the source has values.
    """

    use: WorkloadUse
    title: str
    properties: dict[str, str]
    load_only: bool
    mix: list[tuple[str, float]]
    distribution: str
    tables: list[AnyTable]
    figures: list[AnyFigure]
    cell: Cell
    sizes: list[Cell]
    fewer: list[tuple[str, list[Cell]]]
    throughput: list[tuple]
    pairs: ComparedPairs
    short: list[str]
    tails: list[Tail]
    client_bound: list[tuple[str, str]]
    agreement: OrderAgreement
    published: bool
    elsewhere: list[str]


def workload_facts(
    use: WorkloadUse, run: Run, names: DisplayNames, published: pd.DataFrame
) -> WorkloadFacts:
    """Return the facts on the workload ``use``; ``published`` are the source's values."""
    study, headline = run.study, run.headline[use.name]
    properties, stores = properties_of(study, use), study.store_names
    of_cell = "workload == @use.name and parameters == @headline"
    pairs = run.analysis.pairs.query(of_cell)
    bound = run.analysis.bottleneck.query(of_cell).query("limit == 'client'")
    speeds = throughputs(published[published["workload"] == use.name])
    values = speeds[speeds["store"].isin(stores)].set_index("store")["value"].to_dict()
    only_load = load_only(properties)
    shares = {"insert": 1.0} if only_load else proportions_of(properties)
    total = sum(shares.values())
    return WorkloadFacts(
        use=use,
        title=use.title,
        properties=properties,
        load_only=only_load,
        mix=[(name, share / total) for name, share in shares.items() if share > 0],
        distribution=properties.get("requestdistribution", "uniform"),
        tables=[table for table in study.tables_of("results") if table.workload == use.name],
        figures=[figure for figure in study.figures_of("bars") if figure.workloads == [use.name]],
        cell=names.cells[use.name, headline],
        sizes=[cell for (name, _), cell in names.cells.items() if name == use.name],
        fewer=_with_fewer_sizes(use.name, run, names),
        throughput=ranking(run.summary.query(of_cell), run.compared),
        pairs=compared_pairs(pairs),
        short=list(map(names.store, run.short.get(use.name, []))),
        tails=tails(run.analysis.percentiles.query(of_cell), stores),
        client_bound=list(zip(bound["store"], bound["reason"], strict=True)),
        agreement=agreement(values, pairs),
        published=bool(values),
        elsewhere=[
            ", ".join(amount(size, row[size]) for size in SIZES if pd.notna(row[size]))
            for row in run.swept.published_elsewhere(use.name).to_dict("records")
        ],
    )


def _with_fewer_sizes(workload: str, run: Run, names: DisplayNames) -> list[tuple[str, list[Cell]]]:
    """The stores that do not have all sets of sizes of the workload, with those they have."""
    had: dict[str, dict[str, None]] = {store: {} for store in run.study.store_names}
    for cell in run.planned.values():
        if cell.workload == workload and cell.store in had:
            had[cell.store][cell.parameters] = None
    most = max(map(len, had.values()))
    return [
        (names.store(store), [names.cells[workload, parameters] for parameters in sizes])
        for store, sizes in had.items()
        if len(sizes) < most
    ]


# The percentile that the text may name: of all runs together, of enough operations.
PERCENT = 99.0


def tails(percentiles: pd.DataFrame, stores: Sequence[str]) -> list[Tail]:
    """Return the tail of each operation with a histogram.

    ``percentiles`` are ``analysis.percentiles`` of one workload and its parameters.
    """
    store_rows = percentiles[
        (percentiles["percent"] == PERCENT) & percentiles["store"].isin(stores)
    ]
    tails = []
    for operation, rows in store_rows.groupby("operation", sort=False):
        enough = rows[rows["beyond"] >= ENOUGH_BEYOND].sort_values("value", kind="stable")
        few = set(rows["store"]) - set(enough["store"])
        values = list(zip(enough["store"], enough["value"], strict=True))
        few_in_order = [store for store in stores if store in few]
        tails.append(Tail(operation, values, few_in_order))
    return tails


# The text lists at most this many pairs of a workload without a faster store.
MOST_TIES = 3

# The first page says what at most this many workloads do.
MOST_EXPLAINED = 4

# The first page shows at most this many answers.
MOST_ANSWERS = 4


class Lead(NamedTuple):
    """The store ``over`` which others are ahead under a workload, with the ratio of the two.

    There are so many ``runs``, and about so many ``more`` would decide: None for more than
    ``stats.power.MOST``, and where one run shows no spread. ``undone`` is the correction for how
    many pairs leaves two of the stores undecided although their own interval excludes 1, 0 for
    none. Some runs of the workload are ``short``.
    """

    workload: str
    over: str
    ratio: float
    low: float
    high: float
    runs: int
    more: int | None
    undone: int
    short: bool


class FastestStores(NamedTuple):
    """The ``stores`` that are ahead, several where they are not told apart, with their leads."""

    kind: Decision
    stores: tuple[str, ...]
    of: list[Lead]


class Slowest(NamedTuple):
    """The store that is the slowest under all workloads.

    The next one is faster by these factors, at least and most.
    """

    store: str
    low: float
    high: float


class Answers(NamedTuple):
    """The decisions on the fastest stores, by their titles, in the order of the workloads.

    So many ``further`` workloads have other answers.
    """

    answers: list[FastestStores]
    further: int
    last: Slowest | None


def answers(run: Run) -> Answers:
    """Return the decisions of ``analysis.pairs`` at the headline sizes.

    Workloads with and without short runs have separate answers. Embedded stores have no answers
    where there are servers, nor have workloads of whose rounds a table compares the times.
    """
    group, titles = run.compared[0], run.titles
    items, slowest, factors = [], [], []
    by_rounds = {table.workload for table in run.study.tables_of("relative")}
    for use in run.study.workloads:
        if use.name in by_rounds:
            continue
        pairs = run.headline_analysis.pairs.query("workload == @use.name and faster in @group")
        if pairs.empty:
            continue
        stores = [store for store in group if store in {*pairs["faster"], *pairs["slower"]}]
        places = place_ranges(order_of(pairs, stores))
        last = [store for store in stores if places[store][0] == len(stores) > 2]
        slowest.append(last[0] if last else None)
        factors.append(pairs.loc[pairs["slower"].isin(last), "ratio"].min())
        kind, ahead, rows = _ahead(pairs, {store: places[store] for store in stores})
        if rows.empty:
            # No two of the stores have a repetition in common.
            continue
        # The one that is closest behind, and of several ahead the two that are farthest apart.
        row = rows.iloc[0 if kind == Decision.FASTER else -1]
        # Who is the fastest is known once it is decided of the one that leads now.
        leading = rows[~rows["faster"].isin(rows["slower"])]
        more = (rows if leading.empty else leading)["would_decide"].max(skipna=False)
        comparisons = undecided_by_correction(pairs)["comparisons"].reindex(rows.index).max()
        item = Lead(
            workload=use.short,
            over=titles[row["slower"]],
            ratio=row["ratio"],
            low=row["low"],
            high=row["high"],
            runs=int(rows["n"].min()),
            more=None if pd.isna(more) else round(more),
            undone=0 if pd.isna(comparisons) else int(comparisons),
            short=use.name in run.short,
        )
        leaders = tuple(titles[store] for store in ahead)
        items.append(((kind, leaders, item.short), item))
    shown = [
        FastestStores(kind, stores, leads)
        for (kind, stores, _short), leads in joined(items).items()
    ]
    if len(shown) > MOST_ANSWERS:
        shown = shown[: MOST_ANSWERS - 1]
    last = None
    if len({*slowest}) == 1 and slowest[0]:
        last = Slowest(titles[slowest[0]], min(factors), max(factors))
    further = len(items) - sum(len(answer.of) for answer in shown)
    return Answers(shown, further, last)


def _ahead(
    pairs: pd.DataFrame, ranges: dict[str, tuple[int, int]]
) -> tuple[Decision, list[str], pd.DataFrame]:
    """Return the leading stores of a workload and the pairs that show it, by ascending ratio.

    One that is faster than all others, or several that are equal or undecided.
    """
    rows = pairs.sort_values("ratio", kind="stable")
    if first := [store for store, places in ranges.items() if places == (1, 1)]:
        return Decision.FASTER, first, rows[rows["faster"] == first[0]]
    ahead = [store for store, places in ranges.items() if places[0] == 1]
    among = ahead if len(ahead) > 1 else [*ranges]
    both = rows["faster"].isin(among) & rows["slower"].isin(among)
    either = rows["faster"].isin(ahead) | rows["slower"].isin(ahead)
    rows = rows[both & either & (rows["decision"] != Decision.FASTER)]
    undecided = rows[rows["decision"] == Decision.UNDECIDED]
    kind = Decision.EQUAL if undecided.empty else Decision.UNDECIDED
    rows = rows if undecided.empty else undecided
    return kind, [store for store in ranges if store in {*rows["faster"], *rows["slower"]}], rows


class Busy(NamedTuple):
    """The combinations of store, workload and sizes whose limit was the CPU: ``number`` ``of`` all.

    The machine has so many ``cores``, 0 where that is not known.
    """

    number: int
    of: int
    cores: int


def busy_facts(run: Run) -> Busy:
    """Return in how many combinations the CPU was the limit."""
    rows = run.analysis.bottleneck
    cores = rows["machine_cores"].max()
    return Busy(
        number=int((rows["limit"] == Limit.CPU).sum()),
        of=len(rows),
        cores=int(cores) if cores > 0 else 0,
    )
