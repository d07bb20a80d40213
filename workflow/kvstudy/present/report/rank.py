"""Stores in the order of one value, and what the runs say about that order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import pandas as pd

from kvstudy.analyse.claims.words import runs_words
from kvstudy.stats.ratios import Decision


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
    ``behind`` compares it with the place before; None for the first one, and
    where no comparison was made.
    """

    store: str
    mean: float
    n: int
    low: float | None
    high: float | None
    behind: Lead | None = None


@dataclass(frozen=True)
class Apart:
    """Pairs of stores that are no neighbours in an order.

    ``told`` are those of which one is decided to be faster: each faster store once, with its
    slower ones. ``all`` is whether no pair is left.
    """

    told: list[tuple[str, list[str]]]
    all: bool


@dataclass(frozen=True)
class Agreement:
    """Pairs of stores that have values on both sides: order as published or not.

    ``equal`` are those that are equal on one side, ``undecided`` here.
    """

    pairs: int
    same: int
    opposite: int
    equal: int
    undecided: int


def ranking(
    summary: pd.DataFrame, operation: str, metric: str, stores: Sequence[str], *, falling: bool
) -> list[Rank]:
    """The rows of ``operation`` and ``metric`` as ranks, best first."""
    rows = summary[(summary["operation"] == operation) & (summary["metric"] == metric)]
    rows = rows[rows["store"].isin(stores)]
    rows = rows.sort_values("mean", ascending=not falling, kind="stable")
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


def apart(ranks: Sequence[Rank], pairs: pd.DataFrame) -> Apart:
    """What the comparisons of neighbours (``compared``) do not tell."""
    told: dict[str, list[str]] = {}
    left = False
    for place, first in enumerate(ranks):
        for other in ranks[place + 2 :]:
            lead = _lead(first.store, other.store, pairs)
            if lead is None or lead.decision != Decision.FASTER:
                left = True
                continue
            slower = other.store if lead.faster == first.store else first.store
            told.setdefault(lead.faster, []).append(slower)
    return Apart(list(told.items()), bool(told) and not left)


def agreement(published: Sequence[Rank], pairs: pd.DataFrame) -> Agreement:
    """How the order of the measured stores agrees with that of the published values."""
    values = {rank.store: rank.mean for rank in published}
    counts = {"same": 0, "opposite": 0, "equal": 0, "undecided": 0}
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
    return Agreement(sum(counts.values()), **counts)


def _lead(over: str, store: str, pairs: pd.DataFrame) -> Lead | None:
    for row in pairs.itertuples():
        if {row.faster, row.slower} != {over, store}:
            continue
        return Lead(
            over,
            row.faster,
            row.ratio,
            _number(row.low),
            _number(row.high),
            decision=row.decision,
            runs=runs_words(int(row.n), row.would_decide),
            in_floor=row.in_floor == "yes",
        )
    return None


def _number(value: float) -> float | None:
    return None if pd.isna(value) else value
