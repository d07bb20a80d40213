"""What the first page says: who is ahead under which workloads, and whom the runs leave open."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.findings.pairs import order_of
from kvstudy.analyse.run import Run
from kvstudy.stats.ranks import place_ranges
from kvstudy.stats.ratios import Decision

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
        places = place_ranges(order_of(pairs, there), larger_is_better=True)
        ranges = {store: places[store] for store in there}
        _add(groups, run.study.workload(name).short, pairs, ranges)
        behind.append(_last(pairs, ranges))
    shown = list(groups.values())
    for answer in shown:
        answer.stores = tuple(run.titles[store] for store in answer.stores)
        answer.over = [(run.titles[store], *ratio) for store, *ratio in answer.over]
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
    groups: dict, workload: str, pairs: pd.DataFrame, ranges: dict[str, tuple[int, int]]
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
    answer = groups.setdefault((kind, first), Answer(kind.value, first))
    answer.workloads.append(workload)
    # The one that is closest behind, and of several ahead the two that are farthest apart.
    row = rows[0 if kind is Decision.FASTER else -1]
    interval = None if pd.isna(row.low) else (row.low, row.high)
    answer.over.append((row.slower, row.ratio, interval))
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
