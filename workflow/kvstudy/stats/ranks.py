"""Ranking where some pairs are not decided, and how far two rankings agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from math import comb, sqrt

# Of each pair (A, B): 1 if A is larger, -1 if it is smaller, 0 if that is not decided.
Pairs = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Agreement:
    """The agreement of two rankings of the same stores, over all ``total`` pairs of stores.

    ``concordant`` pairs have the same order in both, ``discordant`` ones the opposite; the others
    are not decided on at least one side. ``tau`` is Kendall's tau-b, -1 to 1, or None when one side
    decides no pair.
    """

    tau: float | None
    concordant: int
    discordant: int
    total: int


def place_ranges(pairs: Pairs) -> dict[str, tuple[int, int]]:
    """The first and the last place that each store may have from all pairs of stores, 1 is best.

    The first is 1 + the number of stores that are decided to be larger; from the last one up are
    those that are decided to be smaller. By the first one, best first, equal ones in the order of
    ``pairs``. They need not be transitive: of A ~ B, B ~ C and A better than C, A and B may be
    first, C second. ValueError: a pair that is missing.
    """
    stores = _stores(pairs)
    wins, losses = Counter(), Counter()
    for (a, b), sign in pairs.items():
        if sign:
            larger, smaller = (a, b) if sign > 0 else (b, a)
            wins[larger] += 1
            losses[smaller] += 1
    ranges = {store: (1 + losses[store], len(stores) - wins[store]) for store in stores}
    return dict(sorted(ranges.items(), key=lambda item: item[1][0]))


def agreement(one: Pairs, other: Pairs) -> Agreement:
    """Agreement of two measurements of the same stores, each with pairs it does not decide.

    tau-b = (C - D)/√(U_1·U_2), with C and D the concordant and discordant pairs
    and U_i the pairs that side i decides. No p-value: of four stores even full agreement
    has p = 1/12.

    Source: Kendall 1945. ValueError: other stores on one side, a pair that is missing.
    """
    if _stores(one).keys() != _stores(other).keys():
        raise ValueError(f"one has the pairs {sorted(one)}, the other {sorted(other)}")
    either_way = {(b, a): -sign for (a, b), sign in other.items()} | other
    signs = [(sign, either_way[pair]) for pair, sign in one.items()]
    concordant = sum(first * second > 0 for first, second in signs)
    discordant = sum(first * second < 0 for first, second in signs)
    product = sqrt(sum(first != 0 for first, _ in signs) * sum(second != 0 for _, second in signs))
    tau = (concordant - discordant) / product if product else None
    return Agreement(tau, concordant, discordant, len(signs))


def _stores(pairs: Pairs) -> dict[str, None]:
    stores = dict.fromkeys(chain.from_iterable(pairs))
    if not len(pairs) == len(set(map(frozenset, pairs))) == comb(len(stores), 2):
        raise ValueError(f"every pair of {', '.join(stores)} must be there once: {[*pairs]}")
    return stores
