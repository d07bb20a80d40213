"""Intervals of a mean over runs and of an error rate over operations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log, sqrt

from scipy import stats

from kvstudy.stats.values import finite, positive

LEVEL = 0.95
# A larger coefficient of variation is flagged.
NOISY = 0.10


@dataclass(frozen=True)
class Interval:
    """A value and the bounds of its interval, all in the same unit.

    ``n`` is how many runs (error rate: operations) stand behind it. ``low`` and
    ``high`` are None for a single run, which tells nothing about its spread.
    """

    value: float
    low: float | None
    high: float | None
    n: int


def log_t_interval(runs: Iterable[float], level: float = LEVEL) -> Interval:
    """Geometric mean of the runs and its t interval on logarithms.

    exp(m ± t((1 + level)/2, n - 1) · s/√n), with m and s the mean and the
    standard deviation (n - 1) of ln x. One value per run, in any unit, which
    the result keeps: the run is the unit, never the operation. Assumes that
    ln x is about normal over runs; a bootstrap is no way out for few runs (its
    95 % cover 75 to 91 % at n = 3 to 10). Equal runs have an interval of no width.

    Source: Hoefler & Belli 2015, Kalibera & Jones 2013.
    ValueError: no runs, a run that is not a number above 0.
    """
    _check_level(level)
    logs = [log(run) for run in positive(runs, "runs")]
    n = len(logs)
    mean = sum(logs) / n
    if n == 1:
        return Interval(exp(mean), None, None, 1)
    spread = sqrt(sum((value - mean) ** 2 for value in logs) / (n - 1))
    half = stats.t.ppf((1 + level) / 2, n - 1) * spread / sqrt(n)
    return Interval(exp(mean), exp(mean - half), exp(mean + half), n)


def variation(runs: Iterable[float]) -> float | None:
    """Coefficient of variation s/mean (n - 1 in s), without unit; None for one run.

    ValueError: no runs, a negative one, all of them 0.
    """
    array = finite(runs, "runs")
    if (array < 0).any() or not array.any():
        raise ValueError(f"runs: {array.tolist()} have no coefficient of variation; needs >= 0")
    return float(array.std(ddof=1) / array.mean()) if array.size > 1 else None


def wilson_interval(failed: int, operations: int, level: float = LEVEL) -> Interval:
    """Share of failed operations and its Wilson interval, between 0 and 1.

    (p + z²/2n ± z·√(p(1 - p)/n + z²/4n²)) / (1 + z²/n), with p = failed/n and z
    the normal quantile. Operations of one run fail together, so over runs it is
    too narrow.

    Source: Wilson 1927. ValueError: not 0 <= failed <= operations, no operations.
    """
    _check_level(level)
    _check_counts(failed, operations)
    found = stats.binomtest(failed, operations).proportion_ci(level, method="wilson")
    return Interval(failed / operations, float(found.low), float(found.high), operations)


def rule_of_three(operations: int) -> float:
    """Upper 95 % bound of the error rate when none of the operations failed: 3/n, at most 1.

    From (1 - p)^n = 0.05, so p is about -ln(0.05)/n. One-sided, unlike Wilson's.

    Source: Hanley & Lippman-Hand 1983. ValueError: no operations.
    """
    _check_counts(0, operations)
    return min(1.0, 3 / operations)


def error_rate(failed: int, operations: int) -> Interval:
    """Share of failed operations: Wilson's 95 % interval, the rule of three when none failed.

    ValueError: not 0 <= failed <= operations, no operations.
    """
    if failed == 0:
        return Interval(0.0, 0.0, rule_of_three(operations), operations)
    return wilson_interval(failed, operations)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level {level}: needs a share between 0 and 1, such as 0.95")


def _check_counts(failed: int, operations: int) -> None:
    if operations < 1 or not 0 <= failed <= operations:
        raise ValueError(f"{failed} of {operations} operations failed: no such error rate")
