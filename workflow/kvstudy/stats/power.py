"""The number of repetitions that decides a comparison, before measuring."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import exp, expm1, inf, log, log1p, sqrt

from kvstudy.libraries import np, optimize, special
from kvstudy.stats.intervals import LEVEL, positive
from kvstudy.stats.ratios import Ratio

POWER = 0.80
# More than anybody measures.
MOST = 1000
# The degrees of freedom of a ratio's standard error by the number of repetitions.
Freedom = Callable[[int], float]


def pooled_spread(groups: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Standard deviation of ln x over repetitions, and its degrees of freedom.

    Each group has the values of one cell's repetitions; their variances are pooled by
    their degrees of freedom (n - 1). About the coefficient of variation while that is
    small. ValueError: no group has two values, a value is not above 0.
    """
    logs = [np.log(positive(group, "a cell")) for group in groups]
    squares = sum(((of - of.mean()) ** 2).sum() for of in logs)
    freedom = sum(of.size - 1 for of in logs)
    if not freedom:
        raise ValueError("no cell has two repetitions; their spread is unknown")
    return sqrt(squares / freedom), freedom


def block_spread(rows: Sequence[Sequence[float]]) -> tuple[float, int]:
    """Sum of squares of ln x without what the blocks share, and its degrees of freedom.

    One row per store with the logarithms of one run per block, all of the same blocks.
    The residual of row and column means, with (rows - 1)·(blocks - 1) degrees of
    freedom, 0 where there are fewer than two of either: √2 times the root of their
    quotient is the standard deviation s_d of ``paired_ratio``.

    ValueError: rows of different lengths.
    """
    table = np.array(rows, dtype=float)
    if table.ndim < 2 or min(table.shape) < 2:
        return 0.0, 0
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    return float((rest**2).sum()), (table.shape[0] - 1) * (table.shape[1] - 1)


def power(repetitions: int, difference: float, spread: float, freedom: Freedom) -> float:
    """Probability that the interval of a paired ratio excludes 1 when it is 1 + ``difference``.

    d_b = ln(A_b/B_b) has the standard deviation s_d = √2·``spread`` when the runs of a
    block are independent; then the t statistic of the ratio has the noncentral t distribution with
    λ = ln(1 + difference)·√n/s_d and the degrees of ``freedom`` of n repetitions.
    """
    size = log1p(difference) * sqrt(repetitions) / (sqrt(2) * spread)
    return _power(size, freedom(repetitions))


def repetitions_for(
    difference: float, spread: float, freedom: Freedom, level: float = LEVEL
) -> int | None:
    """The fewest repetitions with which ``power`` is at least ``POWER``; None above MOST."""
    size = log1p(difference) / (sqrt(2) * spread)
    numbers = range(2, MOST + 1)
    needed = 2 + bisect_left(
        numbers, POWER, key=lambda n: _power(size * sqrt(n), freedom(n), level)
    )
    return needed if needed <= MOST else None


def repetitions_to_decide(ratio: Ratio, floor: float = 1.0) -> int | None:
    """About how many repetitions decide on a pair that is undecided, if it is as it looks.

    They tell the two apart or show them to be equal, whichever takes fewer: what has to be
    told is the distance of ``ratio`` from the noise ``floor``, at the level that the correction
    for the other pairs leaves, or its distance from the bound of its margin. None above MOST, and
    where no spread is known.
    """
    if not ratio.error or ratio.n < 2:
        return None
    spread = ratio.error * sqrt(ratio.n / 2)
    logarithm = abs(log(ratio.value))
    pairs = 1.0
    if ratio.p_adjusted is not None and ratio.p:
        pairs = max(1.0, ratio.p_adjusted / ratio.p)
    ways = [
        (logarithm - log(floor), 1 - (1 - ratio.level) / pairs),
        (log1p(ratio.margin) - logarithm, ratio.level),
    ]

    def freedom(repetitions: int) -> float:
        return ratio.freedom * (repetitions - 1) / (ratio.n - 1)

    needed = [
        repetitions_for(expm1(distance), spread, freedom, level)
        for distance, level in ways
        if distance > 0
    ]
    return max(min(filter(None, needed), default=0), ratio.n + 1) if any(needed) else None


def smallest_difference(repetitions: int, spread: float, freedom: Freedom) -> float:
    """The smallest difference that is told with ``POWER``; infinite above a factor of e^50."""
    degrees = freedom(repetitions)
    needed = optimize.brentq(lambda size: _power(size, degrees) - POWER, 0, 100)
    logarithm = needed * sqrt(2) * spread / sqrt(repetitions)
    return exp(logarithm) - 1 if logarithm < 50 else inf


def _power(size: float, freedom: float, level: float = LEVEL) -> float:
    """P(|T| > t) as the mean over the spread s that the runs may happen to show.

    SciPy's own noncentral t gives no number for some sizes that are needed here.
    """
    critical = special.stdtrit(freedom, (1 + level) / 2)
    # Middles of equal shares of a distribution; with these the power is right to 0.001.
    quantiles = (np.arange(2000) + 0.5) / 2000
    shown = np.sqrt(2 * special.gammaincinv(freedom / 2, quantiles) / freedom)
    both = special.ndtr(size - critical * shown) + special.ndtr(-critical * shown - size)
    return float(both.mean())
