"""Intervals of a mean over runs, of an error rate, and of quotients of several means.

What a statistic does not accept is refused, never skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt

from kvstudy.libraries import np, special, stats

LEVEL = 0.95
# A larger coefficient of variation is flagged.
NOISY = 0.10
# Of five runs a trimmed mean drops the smallest and the largest; of fewer there are none to drop.
FEWEST_TO_TRIM = 5


def finite(values: Iterable[float], what: str) -> np.ndarray:
    """``values`` as an array of floats, shape (n,), n >= 1.

    ValueError, with their name ``what``, when there are none, or one is NaN or infinite.
    """
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{what}: needs a row of at least one number, got shape {array.shape}")
    if not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{what}: {wrong} is among them; leave out what was not measured")
    return array


def positive(values: Iterable[float], what: str) -> np.ndarray:
    """As ``finite``, and all above 0: these have a logarithm."""
    array = finite(values, what)
    if (array <= 0).any():
        raise ValueError(f"{what}: {array.min():g} is among them; needs numbers above 0")
    return array


@dataclass(frozen=True)
class Interval:
    """A value and the bounds of its interval, all in the same unit.

    ``n`` is how many runs (error rate: operations) are behind it, None for a quotient. The bounds
    are None for a single run, which shows nothing about its spread.
    """

    value: float
    low: float | None
    high: float | None
    n: int | None = None


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard ``error`` (in its unit), which has ``freedom`` degrees of freedom.

    Both are None for a single run. ``low`` to ``high`` is the t interval of several, of the
    ``level``.
    """

    value: float
    error: float | None
    freedom: float | None
    level: float = LEVEL

    @property
    def low(self) -> float:
        return self.value - self._half

    @property
    def high(self) -> float:
        return self.value + self._half

    @property
    def _half(self) -> float:
        return float(special.stdtrit(self.freedom, (1 + self.level) / 2) * self.error)


def log_t_interval(runs: Iterable[float], level: float = LEVEL) -> Interval:
    """Geometric mean of the runs and its t interval on logarithms.

    exp(m ± t((1 + level)/2, n - 1) · s/√n), with m and s the mean and the standard deviation
    (n - 1) of ln x. One value per run, in any unit, which the result keeps: the run is the unit,
    never the operation. Assumes that ln x is about normal over runs; a bootstrap is no way out for
    few runs (its 95 % cover 75 to 91 % at n = 3 to 10). Equal runs have an interval of no width.

    Source: Hoefler & Belli 2015, Kalibera & Jones 2013.
    ValueError: no runs, a run that is not a number above 0.
    """
    logs = [log(run) for run in positive(runs, "runs")]
    n = len(logs)
    mean = sum(logs) / n
    if n == 1:
        return Interval(exp(mean), None, None, 1)
    spread = sqrt(sum((value - mean) ** 2 for value in logs) / (n - 1))
    half = special.stdtrit(n - 1, (1 + level) / 2) * spread / sqrt(n)
    return Interval(exp(mean), exp(mean - half), exp(mean + half), n)


def geometric_mean(values: Iterable[float]) -> float:
    """exp of the mean of the logarithms, in the unit of ``values``; 0 where one of them is 0.

    The mean of rates: the ratio of two such means is the mean of the ratios, whichever unit and
    baseline they have. ValueError: no values, one that is not a number of 0 or above.
    """
    array = finite(values, "values")
    if (array < 0).any():
        raise ValueError(f"values: {array.min():g} is among them; needs numbers of 0 or above")
    if array.size == 1:
        # Not another one in its last digit.
        return float(array[0])
    return float(np.exp(np.log(array).mean())) if array.all() else 0.0


def variation(runs: Iterable[float]) -> float | None:
    """Coefficient of variation s/mean (n - 1 in s), without unit; None for one run.

    ValueError: no runs, a negative one, all of them 0.
    """
    array = finite(runs, "runs")
    if (array < 0).any() or not array.any():
        raise ValueError(f"runs: {array.tolist()} have no coefficient of variation; needs >= 0")
    return float(array.std(ddof=1) / array.mean()) if array.size > 1 else None


def error_rate(failed: int, operations: int, level: float = LEVEL) -> Interval:
    """Share of failed operations and its interval, between 0 and 1.

    Wilson's: (p + z²/2n ± z·√(p(1 - p)/n + z²/4n²)) / (1 + z²/n), with p = failed/n and z
    the normal quantile. Where none failed, up to 3/n (the rule of three, one-sided): from
    (1 - p)^n = 0.05, so p is about -ln(0.05)/n; the 3 grows with the ``level`` as that logarithm
    does. Operations of one run fail together, so over runs it is too narrow.

    Source: Wilson 1927; Hanley & Lippman-Hand 1983.
    ValueError: not 0 <= failed <= operations, no operations.
    """
    if operations < 1 or not 0 <= failed <= operations:
        raise ValueError(f"{failed} of {operations} operations failed: no such error rate")
    if failed == 0:
        three = 3 * (log(1 - level) / log(1 - LEVEL))
        return Interval(0.0, 0.0, min(1.0, three / operations), operations)
    low, high = stats.binomtest(failed, operations).proportion_ci(level, method="wilson")
    return Interval(failed / operations, float(low), float(high), operations)


def plain_mean(runs: Iterable[float], level: float = LEVEL) -> Estimate:
    """The mean of all runs. ValueError: no runs, a run that is not a number."""
    array = finite(runs, "runs")
    if array.size == 1:
        return Estimate(float(array[0]), None, None, level)
    error = float(array.std(ddof=1) / sqrt(array.size))
    return Estimate(float(array.mean()), error, array.size - 1, level)


def trimmed_mean(runs: Iterable[float], level: float = LEVEL) -> Estimate:
    """Mean without the smallest and the largest fifth, with Tukey and McLaughlin's error.

    g = ⌊n/5⌋ runs are dropped at each end, h = n - 2g are kept; of fewer than five runs none is
    dropped. The error is √(SSD_w/(h·(h - 1))) with h - 1 degrees of freedom, where SSD_w is the
    sum of squared deviations of the winsorised runs from their mean: each dropped one replaced by
    the nearest that is kept. Of 5 runs: √(SSD_w/6), 2 degrees of freedom, t = 4.303.

    Yuen (1974) adds two such squared errors for two samples; ``scipy.stats.ttest_ind`` with
    ``trim`` is that test. ``scipy.stats.mstats.trimmed_mean_ci`` has another error:
    s_w/(0.6·√n), which is that of a fifth, not of the runs that were dropped,
    and too small at n = 5 and too large at n = 9.

    The interval is that of the trimmed mean of the distribution, which is not its mean where that
    is skewed. Of few runs it is somewhat too narrow: 95 % cover 94 % of normal samples at n = 5
    to 10.

    Source: Tukey and McLaughlin 1963. ValueError: no runs, a run that is not a number.
    """
    ordered = finite(runs, "runs")
    dropped = ordered.size // FEWEST_TO_TRIM
    if not dropped:
        return plain_mean(ordered, level)
    ordered = np.sort(ordered)
    inner = ordered[dropped:-dropped]
    winsorised = np.clip(ordered, inner[0], inner[-1])
    error = sqrt(((winsorised - winsorised.mean()) ** 2).sum() / (inner.size * (inner.size - 1)))
    return Estimate(float(inner.mean()), error, inner.size - 1, level)


def quotient(
    estimates: Sequence[Estimate], above: Sequence[float], below: Sequence[float]
) -> Interval | None:
    """Σ above_k·x_k by Σ below_k·x_k of independent estimates x_k, by Fieller's method.

    The interval has all q > 0 for which Σ (above_k - q·below_k)·x_k does not differ from 0:
    (A - qB)² ≤ t²·Σ (above_k - q·below_k)²·e_k², with t of the degrees of freedom of
    that sum at the quotient A/B (Welch and Satterthwaite) and the level of the estimates. One x_k
    may be above and below. None when the divisor is not above 0; ``high`` is infinite where it may
    be 0.

    Source: Fieller 1954. ValueError: a dividend that is not above 0, a value that is
    not a number.
    """
    values = finite((each.value for each in estimates), "values")
    up, down = np.array(above, dtype=float), np.array(below, dtype=float)
    a, b = float((up * values).sum()), float((down * values).sum())
    if a <= 0:
        raise ValueError(f"the dividend is {a:g}; needs a number above 0")
    if b <= 0:
        return None
    value = a / b
    if None in [each.error for each in estimates]:
        return Interval(value, None, None)
    errors = np.array([each.error for each in estimates], dtype=float)
    parts = ((up - value * down) * errors) ** 2
    if not parts.any():
        return Interval(value, value, value)
    freedoms = np.array([each.freedom for each in estimates])
    freedom = parts.sum() ** 2 / (parts**2 / freedoms).sum()
    t = float(special.stdtrit(freedom, (1 + estimates[0].level) / 2))
    # The bounds are the roots of square·q² - 2·middle·q + rest.
    square, middle, rest = (
        product - t * t * float((left * right * errors * errors).sum())
        for product, left, right in ((b * b, down, down), (a * b, up, down), (a * a, up, up))
    )
    root = sqrt(max(middle * middle - square * rest, 0.0))
    if square > 0:
        return Interval(value, max((middle - root) / square, 0.0), (middle + root) / square)
    # The divisor may be 0. What is then left above 0 begins at the positive root, if there is one.
    low = (middle - root) / square if square < 0 and rest > 0 else 0.0
    return Interval(value, max(low, 0.0), inf)
