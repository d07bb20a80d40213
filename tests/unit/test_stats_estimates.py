"""Fieller's interval of a quotient."""

from math import inf, sqrt

import numpy as np
import pytest
from kvstudy.stats.intervals import Estimate, quotient
from scipy import stats


def test_by_hand():
    """A = 10 ± 1, B = 5 ± 0.5, both with 1e9 degrees of freedom, so t is 1.96."""
    found = quotient([Estimate(10, 1, 1e9), Estimate(5, 0.5, 1e9)], above=(1, 0), below=(0, 1))
    z = stats.norm.ppf(0.975)
    # The formula of textbooks, with g = z²·e_B²/B².
    g = (z * 0.5 / 5) ** 2
    half = z / 5 * sqrt(1 + 2**2 * 0.5**2 - g * 1)
    assert found.value == 2
    assert found.low == pytest.approx((2 - half) / (1 - g), rel=1e-6)
    assert found.high == pytest.approx((2 + half) / (1 - g), rel=1e-6)


def test_at_the_bounds_the_sum_is_just_told_from_zero():
    """Also where one estimate is above and below, as the database's read of a cache."""
    parts = [Estimate(4, 0.2, 2), Estimate(4, 0.1, 2), Estimate(12, 0.3, 2), Estimate(4, 0.2, 2)]
    above, below = (1, 1, 1, 0), (0, 0, 1, -1)
    found = quotient(parts, above, below)
    assert found.value == pytest.approx(20 / 8)
    weights = [up - found.value * down for up, down in zip(above, below, strict=True)]
    squares = [(weight * each.error) ** 2 for weight, each in zip(weights, parts, strict=True)]
    t = stats.t.ppf(0.975, sum(squares) ** 2 / sum(part**2 / 2 for part in squares))
    for bound in (found.low, found.high):
        weights = [up - bound * down for up, down in zip(above, below, strict=True)]
        total = sum(weight * each.value for weight, each in zip(weights, parts, strict=True))
        error = sqrt(
            sum((weight * each.error) ** 2 for weight, each in zip(weights, parts, strict=True))
        )
        assert abs(total) == pytest.approx(t * error)


def test_it_covers_the_true_quotient():
    """Runs of two stores: 95 % of the intervals contain the ratio of the true means."""
    random = np.random.default_rng(3)
    inside = 0
    studies = 2_000
    for _ in range(studies):
        parts = []
        for mean in (30.0, 10.0):
            runs = random.normal(mean, 0.1 * mean, 5)
            parts.append(Estimate(runs.mean(), runs.std(ddof=1) / sqrt(5), 4))
        found = quotient(parts, above=(1, 0), below=(0, 1))
        inside += found.low <= 3 <= found.high
    assert 0.93 < inside / studies < 0.97


def test_a_divisor_that_may_be_zero_has_no_upper_end():
    found = quotient([Estimate(10, 0.1, 2), Estimate(1, 0.5, 2)], above=(1, 0), below=(0, 1))
    assert found.value == 10
    assert 0 < found.low < 10
    assert found.high == inf
    # And if the dividend may be 0 too, nothing is known.
    found = quotient([Estimate(1, 0.5, 2), Estimate(1, 0.5, 2)], above=(1, 0), below=(0, 1))
    assert (found.low, found.high) == (0, inf)


def test_a_divisor_below_zero_has_no_quotient():
    assert quotient([Estimate(1, 0.1, 2), Estimate(-1, 0.1, 2)], (1, 0), (0, 1)) is None
    assert quotient([Estimate(1, 0.1, 2), Estimate(0, 0.1, 2)], (1, 0), (0, 1)) is None


def test_single_runs_have_no_spread_and_equal_ones_none():
    found = quotient([Estimate(4, None, None), Estimate(2, 0.1, 2)], (1, 0), (0, 1))
    assert (found.value, found.low, found.high) == (2, None, None)
    found = quotient([Estimate(4, 0, 2), Estimate(2, 0, 2)], (1, 0), (0, 1))
    assert (found.value, found.low, found.high) == (2, 2, 2)


def test_what_is_no_quotient_is_refused():
    with pytest.raises(ValueError, match="dividend"):
        quotient([Estimate(-4, 0.1, 2), Estimate(2, 0.1, 2)], (1, 0), (0, 1))
    with pytest.raises(ValueError, match="leave out"):
        quotient([Estimate(float("nan"), 0.1, 2), Estimate(2, 0.1, 2)], (1, 0), (0, 1))
