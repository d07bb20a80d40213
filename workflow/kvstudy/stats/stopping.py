"""The stopping rule: intervals that hold although they are computed after each repetition."""

from __future__ import annotations

from functools import cache

from kvstudy.libraries import np, optimize, special
from kvstudy.stats.intervals import LEVEL

# Points of the grid on which the density is carried from one look to the next.
POINTS = 801


@cache
def level_of_look(first: int, last: int) -> float:
    """The level of an interval at each look, so that those of a run that may stop have ``LEVEL``.

    A run is looked at after ``first`` repetitions, and after each further one up to ``last``. With
    a true ratio of 1 the standardised mean of n repetitions is S_n/√n, S_n a sum of n independent
    normal numbers; the result is the level of the interval ±z for which P(some look has
    abs(S_n/√n) > z) = 1 - LEVEL. It is one bound for all looks, so an interval means the same at
    each. Of one look it is ``LEVEL``. The variances are taken for known, as the bounds of clinical
    trials do; the simulations of docs/decisions.md show what that costs with few repetitions.

    Source: Pocock 1977; Armitage, McPherson and Rowe 1969 (the integration).
    ValueError: not 1 <= first <= last.
    """
    if not 1 <= first <= last:
        raise ValueError(f"from {first} to {last} repetitions there is no look")
    if first == last:
        return LEVEL
    z = optimize.brentq(lambda bound: _crossing(bound, first, last) - (1 - LEVEL), 1.5, 6)
    return float(1 - 2 * special.ndtr(-z))


def _crossing(bound: float, first: int, last: int) -> float:
    """P(abs(S_n) > bound·√n for some n from ``first`` to ``last``)."""

    def points(n: int) -> np.ndarray:
        return np.linspace(-bound, bound, POINTS) * np.sqrt(n)

    at = points(first)
    density = _normal(at / np.sqrt(first)) / np.sqrt(first)
    for n in range(first + 1, last + 1):
        following = points(n)
        steps = _normal(following[:, None] - at[None, :])
        density = np.trapezoid(steps * density, at, axis=1)
        at = following
    return 1 - float(np.trapezoid(density, at))


def _normal(x: np.ndarray) -> np.ndarray:
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
