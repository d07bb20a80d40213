"""Ranking with ties, and how far two rankings agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from kvstudy.stats.ratios import Ratio
from kvstudy.stats.values import positive

Pairs = Mapping[tuple[str, str], Ratio]


@dataclass(frozen=True)
class Agreement:
    """How two rankings of the same stores agree, over all ``total`` pairs of stores.

    ``concordant`` pairs have the same order in both, ``discordant`` ones the
    opposite; the others are tied on at least one side. ``tau`` is Kendall's
    tau-b, -1 to 1, or None when one side ties every pair.
    """

    tau: float | None
    concordant: int
    discordant: int
    total: int


def places(pairs: Pairs, *, larger_is_better: bool) -> dict[str, int]:
    """The place of each store, 1 is best, from the ratios of all pairs of stores.

    A store's place is 1 + the number of stores that are better and not tied with
    it; a pair whose spread is unknown counts as tied. Ties need not be
    transitive: of A ~ B, B ~ C and A better than C, A and B are first and C second.
    Best first, equal places in the order of ``pairs``, whose keys (A, B) belong to A/B.

    ValueError: a pair that is missing.
    """
    sign = 1 if larger_is_better else -1
    stores = _stores(pairs)
    better = {
        store: sum(sign * _order(pairs, other, store) > 0 for other in stores if other != store)
        for store in stores
    }
    return {store: 1 + better[store] for store in sorted(stores, key=better.__getitem__)}


def agreement(published: Mapping[str, float], pairs: Pairs) -> Agreement:
    """Agreement of published values with the measured ratios of the same stores.

    tau-b = (C - D)/√(U_1·U_2), with C and D the concordant and discordant pairs
    and U_i the pairs that side i does not tie. Measured pairs are tied where the
    interval contains 1 (or is unknown), published ones where the values are equal.
    Published values are in one unit, and larger means the same as in the ratios.

    No p-value: of four stores even full agreement has p = 1/12.

    Source: Kendall 1945.
    ValueError: other stores than those of ``pairs``, a pair that is missing,
    published values not above 0.
    """
    stores = _stores(pairs)
    if set(published) != set(stores):
        raise ValueError(f"published {sorted(published)}, measured {sorted(stores)}: not the same")
    positive(published.values(), "published values")
    signs = [
        (_sign(published[a] - published[b]), _order(pairs, a, b))
        for a, b in combinations(stores, 2)
    ]
    return _agreement(signs)


def agreement_of_runs(one: Pairs, other: Pairs) -> Agreement:
    """Agreement of two measurements of the same stores, each with ties of its own.

    As ``agreement``; a pair is tied on a side where that side's interval contains 1.

    ValueError: other stores on one side, a pair that is missing.
    """
    stores = _stores(one)
    if set(stores) != set(_stores(other)):
        raise ValueError(f"one has {sorted(stores)}, the other {sorted(_stores(other))}")
    signs = [(_order(one, a, b), _order(other, a, b)) for a, b in combinations(stores, 2)]
    return _agreement(signs)


def _agreement(signs: list[tuple[int, int]]) -> Agreement:
    """``signs`` holds each pair's order on both sides, 0 for a tie."""
    concordant = sum(first * second > 0 for first, second in signs)
    discordant = sum(first * second < 0 for first, second in signs)
    told = sqrt(sum(first != 0 for first, _ in signs) * sum(second != 0 for _, second in signs))
    tau = (concordant - discordant) / told if told else None
    return Agreement(tau, concordant, discordant, len(signs))


def _stores(pairs: Pairs) -> list[str]:
    stores = list(dict.fromkeys(store for pair in pairs for store in pair))
    for a, b in combinations(stores, 2):
        if ((a, b) in pairs) == ((b, a) in pairs):
            raise ValueError(f"the ratio of {a} and {b} must be there once")
    return stores


def _order(pairs: Pairs, a: str, b: str) -> int:
    """1 when A is larger than B, -1 when it is smaller, 0 when they are tied."""
    ratio = pairs.get((a, b))
    if ratio is None:
        return -_order(pairs, b, a)
    return _sign(ratio.value - 1) if ratio.tied is False else 0


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
