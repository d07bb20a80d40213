"""Ranking where some pairs are not decided, and how far two rankings agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

# Of each pair (A, B): 1 if A is larger, -1 if it is smaller, 0 if that is not decided.
Pairs = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Agreement:
    """How two rankings of the same stores agree, over all ``total`` pairs of stores.

    ``concordant`` pairs have the same order in both, ``discordant`` ones the opposite; the others
    are not decided on at least one side. ``tau`` is Kendall's tau-b, -1 to 1, or None when one side
    decides no pair.
    """

    tau: float | None
    concordant: int
    discordant: int
    total: int


def places(pairs: Pairs) -> dict[str, int]:
    """The place of each store, 1 is best, from all pairs of stores.

    It is 1 + the number of stores that are decided to be larger. That need not
    be transitive: of A ~ B, B ~ C and A better than C, A and B are first and C second.
    Best first, equal places in the order of ``pairs``. ValueError: a pair that is missing.
    """
    stores = _stores(pairs)
    place = {
        store: 1 + sum(_order(pairs, other, store) > 0 for other in stores if other != store)
        for store in stores
    }
    return dict(sorted(place.items(), key=lambda item: item[1]))


def place_ranges(pairs: Pairs) -> dict[str, tuple[int, int]]:
    """The first and the last place that each store may have, 1 is best.

    The first is that of ``places``; from the last one up are the stores that are decided to be
    worse. ValueError: a pair that is missing.
    """
    first = places(pairs)
    from_behind = places({pair: -sign for pair, sign in pairs.items()})
    return {store: (place, len(first) + 1 - from_behind[store]) for store, place in first.items()}


def agreement(one: Pairs, other: Pairs) -> Agreement:
    """Agreement of two measurements of the same stores, each with pairs it does not decide.

    tau-b = (C - D)/√(U_1·U_2), with C and D the concordant and discordant pairs
    and U_i the pairs that side i decides. No p-value: of four stores even full agreement
    has p = 1/12.

    Source: Kendall 1945. ValueError: other stores on one side, a pair that is missing.
    """
    stores = _stores(one)
    if set(stores) != set(_stores(other)):
        raise ValueError(f"one has {sorted(stores)}, the other {sorted(_stores(other))}")
    signs = [(_order(one, a, b), _order(other, a, b)) for a, b in combinations(stores, 2)]
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
    return pairs[a, b] if (a, b) in pairs else -pairs[b, a]
