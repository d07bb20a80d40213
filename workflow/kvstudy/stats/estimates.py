"""Quotients of quantities of which only the mean and its standard error are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

from kvstudy.libraries import stats
from kvstudy.stats.intervals import FEWEST_TO_TRIM, LEVEL, finite, trimmed_error


@dataclass(frozen=True)
class Estimate:
    """A value with its standard ``error``, which has ``freedom`` degrees of freedom.

    The error is in the unit of the value. It is None for a single run.
    """

    value: float
    error: float | None
    freedom: float | None


@dataclass(frozen=True)
class Quotient:
    """A quotient with the bounds of its interval.

    ``low`` and ``high`` are None where a spread is unknown. ``high`` is infinite where the
    divisor may be 0.
    """

    value: float
    low: float | None
    high: float | None


def mean_estimate(runs: Iterable[float]) -> Estimate:
    """The plain mean of the runs. ValueError: no runs, a run that is not a number."""
    array = finite(runs, "runs")
    if array.size == 1:
        return Estimate(float(array[0]), None, None)
    error = float(array.std(ddof=1) / sqrt(array.size))
    return Estimate(float(array.mean()), error, array.size - 1)


def trimmed_estimate(runs: Iterable[float]) -> Estimate:
    """The trimmed mean of five runs or more (``trimmed_mean``), of fewer the plain one."""
    array = finite(runs, "runs")
    if array.size < FEWEST_TO_TRIM:
        return mean_estimate(array)
    return Estimate(*trimmed_error(array))


def quotient(
    estimates: Sequence[Estimate],
    above: Sequence[float],
    below: Sequence[float],
) -> Quotient | None:
    """Σ above_k·x_k by Σ below_k·x_k of independent estimates x_k, by Fieller's method.

    The interval has all q > 0 for which Σ (above_k - q·below_k)·x_k does not differ from 0:
    (A - qB)² ≤ t²·Σ (above_k - q·below_k)²·e_k², with t of the degrees of freedom of
    that sum at the quotient A/B (Welch and Satterthwaite). One x_k may be above and below.
    None when the divisor is not above 0.

    Source: Fieller 1954. ValueError: a dividend that is not above 0, a value that is
    not a number.
    """
    values = [each.value for each in estimates]
    if not all(isfinite(value) for value in values):
        raise ValueError(f"{values}: leave out what was not measured")
    a = sum(weight * value for weight, value in zip(above, values, strict=True))
    b = sum(weight * value for weight, value in zip(below, values, strict=True))
    if a <= 0:
        raise ValueError(f"the dividend is {a:g}; needs a number above 0")
    if b <= 0:
        return None
    value = a / b
    errors = [each.error for each in estimates]
    if any(error is None for error in errors):
        return Quotient(value, None, None)
    parts = [
        ((up - value * down) * error) ** 2
        for up, down, error in zip(above, below, errors, strict=True)
    ]
    if not sum(parts):
        return Quotient(value, value, value)
    freedom = sum(parts) ** 2 / sum(
        part**2 / each.freedom for part, each in zip(parts, estimates, strict=True) if part
    )
    t = float(stats.t.ppf((1 + LEVEL) / 2, freedom))

    def spread(left: Sequence[float], right: Sequence[float]) -> float:
        weighted = zip(left, right, errors, strict=True)
        return t * t * sum(one * other * error * error for one, other, error in weighted)

    # The bounds are the roots of square·q² - 2·middle·q + rest.
    square = b * b - spread(below, below)
    middle = a * b - spread(above, below)
    rest = a * a - spread(above, above)
    root = sqrt(max(middle * middle - square * rest, 0.0))
    if square > 0:
        return Quotient(value, max((middle - root) / square, 0.0), (middle + root) / square)
    # The divisor may be 0. What is then left above 0 begins at the positive root, if there is one.
    low = (middle - root) / square if square < 0 and rest > 0 else 0.0
    return Quotient(value, max(low, 0.0), inf)
