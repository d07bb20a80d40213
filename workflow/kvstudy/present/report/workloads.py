"""What is said of a workload: the order of its stores, and on the first page who is ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.claims.words import runs_words
from kvstudy.analyse.findings.pairs import order_of
from kvstudy.analyse.run import Run
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.ranks import place_ranges
from kvstudy.stats.ratios import Decision
from kvstudy.study.cells import Cell
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.workload import load_only, properties_of, proportions_of


@dataclass(frozen=True)
class Lead:
    """How a store stands to the store ``over``, which comes before it.

    ``ratio`` is how many times ``faster``, one of the two, is faster than the other:
    at least 1, with its 95 % interval. The places are by plain means of all runs and
    the ratio is by geometric means of shared repetitions, so it need not be ``over``.
    ``low`` and ``high`` are None for a single repetition. ``decision`` is that of
    ``analysis.pairs``; ``runs`` says of an undecided pair how many there are and how many would
    decide. ``in_floor``: the ratio is not above the noise floor.
    """

    over: str
    faster: str
    ratio: float
    low: float | None
    high: float | None
    decision: str
    runs: str
    in_floor: bool


@dataclass(frozen=True)
class Rank:
    """One store's place. ``low`` and ``high`` are the extremes of ``n`` runs.

    A published value has no runs of its own: ``n`` is 0 and both are None.
    ``group`` is the number of those that it is compared with (``Run.compared``). ``behind``
    compares it with the place before; None for the first one, and where no comparison was made.
    """

    store: str
    mean: float
    n: int
    low: float | None
    high: float | None
    group: int = 0
    behind: Lead | None = None


def ranking(summary: pd.DataFrame, stores: Sequence[str]) -> list[Rank]:
    """The throughputs of the ``stores``, best first."""
    rows = summary[(summary["operation"] == "overall") & (summary["metric"] == "throughput")]
    rows = rows[rows["store"].isin(stores)].sort_values("mean", ascending=False, kind="stable")
    return [
        Rank(row.store, row.mean, int(row.n), _number(row.min), _number(row.max))
        for row in rows.itertuples()
    ]


def compared(ranks: Sequence[Rank], pairs: pd.DataFrame) -> list[Rank]:
    """Ranks of throughput, each compared with the one before it.

    ``pairs`` are those of one workload and its parameters (``analysis.pairs``).
    """
    return [
        replace(rank, behind=_lead(ranks[place - 1].store, rank.store, pairs) if place else None)
        for place, rank in enumerate(ranks)
    ]


def apart(ranks: Sequence[Rank], pairs: pd.DataFrame) -> SimpleNamespace:
    """What the comparisons of neighbours (``compared``) do not tell: pairs that are none.

    ``told`` are those of which one is decided to be faster: each faster store once, with its
    slower ones. ``all`` is whether no pair is left.
    """
    told: dict[str, list[str]] = {}
    left = False
    for place, first in enumerate(ranks):
        for other in ranks[place + 2 :]:
            if other.group != first.group:
                break
            lead = _lead(first.store, other.store, pairs)
            if lead is None or lead.decision != Decision.FASTER:
                left = True
                continue
            slower = other.store if lead.faster == first.store else first.store
            told.setdefault(lead.faster, []).append(slower)
    return SimpleNamespace(told=list(told.items()), all=bool(told) and not left)


def agreement(published: Sequence[Rank], pairs: pd.DataFrame) -> SimpleNamespace:
    """How the order of the measured stores agrees with that of the published values.

    Of the ``pairs`` with values on both sides, ``equal`` are equal on one side, ``undecided`` here.
    """
    values = {rank.store: rank.mean for rank in published}
    counts = dict.fromkeys(("same", "opposite", "equal", "undecided"), 0)
    for one, other in combinations(values, 2):
        lead = _lead(one, other, pairs)
        if lead is None:
            continue
        if lead.decision == Decision.UNDECIDED:
            counts["undecided"] += 1
        elif lead.decision == Decision.EQUAL or values[one] == values[other]:
            counts["equal"] += 1
        else:
            as_published = (lead.faster == one) == (values[one] > values[other])
            counts["same" if as_published else "opposite"] += 1
    return SimpleNamespace(pairs=sum(counts.values()), **counts)


def _lead(over: str, store: str, pairs: pd.DataFrame) -> Lead | None:
    both = {over, store}
    row = next((row for row in pairs.itertuples() if {row.faster, row.slower} == both), None)
    if row is None:
        return None
    return Lead(
        over,
        row.faster,
        row.ratio,
        *(_number(row.low), _number(row.high)),
        decision=row.decision,
        runs=runs_words(int(row.n), row.would_decide),
        in_floor=row.in_floor == "yes",
    )


def _number(value: float) -> float | None:
    return None if pd.isna(value) else value


def workload_facts(
    use: WorkloadUse,
    run: Run,
    plan: list[Cell],
    published: pd.DataFrame,
    gaps: list[SimpleNamespace],
) -> SimpleNamespace:
    """All that the section of the workload ``use`` says.

    ``plan`` are the closed-loop cells, ``published`` values as in ``summary.csv``. Of the
    result, ``mix`` are operations and their shares between 0 and 1, and ``sizes`` has one cell
    for each set of parameters. ``result`` is of the headline sizes and the measured stores:
    ``throughput`` (ops/s) by falling mean; ``client_bound`` stores and why the client limited
    them; ``agreement`` with the published order, None where no pair of stores has values on both
    sides.
    """
    study, headline = run.study, run.headline[use.name]
    properties, stores = properties_of(study, use), study.store_names
    cells = [cell for cell in reversed(plan) if cell.workload == use.name]
    # A store with sizes of its own stands under the study's.
    last = sorted(cells, key=lambda cell: cell.beside is None)
    first = {cell.parameters: cell for cell in last}
    of_cell = "workload == @use.name and parameters == @headline"
    pairs = run.analysis.pairs.query(of_cell)
    bound = run.analysis.bottleneck.query(of_cell).query("client_bound == 'yes'")
    order = ranking(published[published["workload"] == use.name], stores)
    agreed = agreement(order, pairs)
    ours = run.summary.query(of_cell)
    speeds = [
        replace(rank, group=number)
        for number, group in enumerate(run.compared)
        for rank in ranking(ours, group)
    ]
    only_load = load_only(properties)
    shares = {"insert": 1.0} if only_load else proportions_of(properties)
    total = sum(shares.values())
    return SimpleNamespace(
        use=use,
        title=use.title,
        properties=properties,
        load_only=only_load,
        mix=[(name, share / total) for name, share in shares.items() if share > 0],
        distribution=properties.get("requestdistribution", "uniform"),
        tables=[table for table in study.tables_of("results") if table.workload == use.name],
        figures=[figure for figure in study.figures_of("bars") if figure.workloads == [use.name]],
        result=SimpleNamespace(
            cell=first[headline],
            throughput=compared(speeds, pairs),
            apart=apart(speeds, pairs),
            tails=tails(run.analysis.percentiles.query(of_cell), stores),
            client_bound=list(zip(bound["store"], bound["reason"], strict=True)),
            agreement=agreed if agreed.pairs else None,
        ),
        sizes=list(first.values()),
        published=order,
        gaps=gaps,
    )


# The percentile that the text may name: of all runs together, of enough operations.
PERCENT = 99.0


def tails(percentiles: pd.DataFrame, stores: Sequence[str]) -> list[SimpleNamespace]:
    """Of each operation with a histogram, stores and their percentiles (us), smallest first.

    ``percentiles`` are ``analysis.percentiles`` of one workload and its parameters. ``few`` are
    stores with too few operations beyond the percentile.
    """
    own = percentiles[(percentiles["percent"] == PERCENT) & percentiles["store"].isin(stores)]
    tails = []
    for operation, rows in own.groupby("operation", sort=False):
        enough = rows[rows["beyond"] >= ENOUGH_BEYOND].sort_values("value", kind="stable")
        few = set(rows["store"]) - set(enough["store"])
        values = list(zip(enough["store"], enough["value"], strict=True))
        few_in_order = [store for store in stores if store in few]
        tails.append(SimpleNamespace(operation=operation, values=values, few=few_in_order))
    return tails


# So many answers of throughput stand on the page.
MOST_ANSWERS = 4


@dataclass
class Answer:
    """Workloads under which the same ``stores`` are ahead, with what is said of each.

    ``kind`` is "faster" (one store), "equal" or "undecided" (several that are not told apart).
    ``workloads`` are short names. ``over`` has for each the store behind the first one, the
    ratio of the two and its interval (None for one run); ``runs`` how many there are, ``more``
    about how many would decide, None for more than ``stats.power.MOST`` or where one run tells
    no spread.
    """

    kind: str
    stores: tuple[str, ...]
    workloads: list[str] = field(default_factory=list)
    over: list[tuple[str, float, tuple[float, float] | None]] = field(default_factory=list)
    runs: int = 0
    more: list[int | None] = field(default_factory=list)


def answers(run: Run) -> SimpleNamespace:
    """What ``analysis.pairs`` decide at the headline sizes, stores by their titles.

    ``answers`` are in the order of the workloads; so many ``further`` ones have others. ``last``
    is the store that is the slowest under all, and by which factors the next one is faster, at
    least and most. Embedded stores have no answers where there are servers.
    """
    groups: dict[tuple[str, tuple[str, ...]], Answer] = {}
    behind: list[tuple[str, float] | None] = []
    first = run.compared[0]
    for name in run.study.workload_names:
        pairs = run.headline_analysis.pairs.query("workload == @name and faster in @first")
        if pairs.empty:
            continue
        named = {*pairs["faster"], *pairs["slower"]}
        there = [store for store in first if store in named]
        places = place_ranges(order_of(pairs, there))
        ranges = {store: places[store] for store in there}
        _add(groups, run.study.workload(name).short, pairs, ranges, run.titles)
        behind.append(_last(pairs, ranges))
    shown = list(groups.values())
    if len(shown) > MOST_ANSWERS:
        shown = shown[: MOST_ANSWERS - 1]
    named = sum(len(answer.workloads) for answer in shown)
    last = None
    if None not in behind and len({store for store, _factor in behind}) == 1:
        factors = [factor for _store, factor in behind]
        title = run.titles[behind[0][0]]
        last = SimpleNamespace(store=title, low=min(factors), high=max(factors))
    return SimpleNamespace(answers=shown, further=len(behind) - named, last=last)


def _add(
    groups: dict,
    workload: str,
    pairs: pd.DataFrame,
    ranges: dict[str, tuple[int, int]],
    titles: dict[str, str],
) -> None:
    """The answer under one workload to the others of its kind."""
    rows = sorted(pairs.itertuples(), key=lambda row: row.ratio)
    first = tuple(store for store, places in ranges.items() if places == (1, 1))
    kind = Decision.FASTER
    if first:
        rows = [row for row in rows if row.faster == first[0]]
    else:
        first = tuple(store for store, places in ranges.items() if places[0] == 1)
        among = set(first if len(first) > 1 else ranges)
        rows = [
            row
            for row in rows
            if {row.faster, row.slower} <= among
            and {row.faster, row.slower} & set(first)
            and row.decision != Decision.FASTER
        ]
        if not rows:
            # Of these, no two have a repetition in common.
            return
        kind = Decision.EQUAL
        if open_rows := [row for row in rows if row.decision == Decision.UNDECIDED]:
            kind, rows = Decision.UNDECIDED, open_rows
        both = {name for row in rows for name in (row.faster, row.slower)}
        first = tuple(store for store in ranges if store in both)
    stores = tuple(titles[store] for store in first)
    answer = groups.setdefault((kind, first), Answer(kind.value, stores))
    answer.workloads.append(workload)
    # The one that is closest behind, and of several ahead the two that are farthest apart.
    row = rows[0 if kind is Decision.FASTER else -1]
    interval = None if pd.isna(row.low) else (row.low, row.high)
    answer.over.append((titles[row.slower], row.ratio, interval))
    runs = min(int(row.n) for row in rows)
    answer.runs = min(answer.runs, runs) if answer.runs else runs
    needed = [row.would_decide for row in rows]
    answer.more.append(None if any(map(pd.isna, needed)) else round(max(needed)))


def _last(pairs: pd.DataFrame, ranges: dict[str, tuple[int, int]]) -> tuple[str, float] | None:
    """The store that all others are decided to be faster than, and the next one's factor."""
    last = [store for store, places in ranges.items() if places[0] == len(ranges)]
    if len(ranges) < 3 or not last:
        return None
    rows = [row for row in pairs.itertuples() if row.slower == last[0]]
    return last[0], min(row.ratio for row in rows)
