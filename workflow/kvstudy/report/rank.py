"""Stores in the order of one value, and whether their runs tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Rank:
    """One store's place. ``low`` and ``high`` are the extremes of ``n`` runs.

    A published value has no runs of its own: ``n`` is 0 and both are None.
    ``ratio`` is the larger of this mean and the one of the place before, by the
    smaller; ``apart`` says whether the two ranges have no value in common.
    Both are None for the first place, ``apart`` also where a side has one run.
    """

    store: str
    mean: float
    n: int
    low: float | None
    high: float | None
    ratio: float | None = None
    apart: bool | None = None


def ranking(
    rows: Sequence[dict[str, str]],
    operation: str,
    metric: str,
    stores: Sequence[str],
    *,
    falling: bool,
) -> list[Rank]:
    """The rows of ``operation`` and ``metric`` as ranks, best first."""
    ranks = [
        Rank(
            store=row["store"],
            mean=float(row["mean"]),
            n=int(row.get("n") or 0),
            low=_number(row.get("min")),
            high=_number(row.get("max")),
        )
        for row in rows
        if row["operation"] == operation and row["metric"] == metric and row["store"] in stores
    ]
    ranks.sort(key=lambda rank: rank.mean, reverse=falling)
    return [_beside(rank, ranks[place - 1] if place else None) for place, rank in enumerate(ranks)]


def _beside(rank: Rank, before: Rank | None) -> Rank:
    if before is None:
        return rank
    smaller, larger = sorted((rank.mean, before.mean))
    ratio = larger / smaller if smaller > 0 else None
    apart = None
    if rank.n > 1 and before.n > 1:
        apart = rank.high < before.low or before.high < rank.low
    return Rank(rank.store, rank.mean, rank.n, rank.low, rank.high, ratio, apart)


def _number(text: str | None) -> float | None:
    return float(text) if text else None
