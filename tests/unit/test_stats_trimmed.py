"""The trimmed mean and the interval of Tukey and McLaughlin.

Reference: Yuen's test in scipy 1.17 (``ttest_ind`` with ``trim``), written independently. Its
error has one such term for each of two samples; that of equal values is 0.
"""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.stats.intervals import log_t_interval, trimmed_mean
from scipy.stats import ttest_ind

RUNS = [967.9, 1012.4, 988.1, 875.0, 1003.6]


def test_of_five_the_smallest_and_the_largest_are_dropped():
    found = trimmed_mean(RUNS)
    assert found.value == pytest.approx((967.9 + 988.1 + 1003.6) / 3)
    # By hand: winsorised 967.9 967.9 988.1 1003.6 1003.6, whose mean is 986.22; squared
    # deviations 2 · 335.6224 + 3.5344 + 2 · 302.0644 = 1278.908; t(0.975, 2) = 4.302653.
    half = 4.302653 * sqrt(1278.908 / (3 * 2))
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))
    assert (found.low, found.high) == pytest.approx((923.71588, 1049.35079))
    assert found.n == 5


@given(st.integers(5, 21).flatmap(lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)))
def test_as_in_scipy(values):
    found = trimmed_mean(values)
    against_none = ttest_ind(values, np.zeros(len(values)), trim=0.2, equal_var=False)
    expected = tuple(against_none.confidence_interval(0.95))
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-6)


def test_of_seven_what_was_dropped_counts_and_not_what_was_asked_for():
    """A fifth of seven is more than one, so 1 - 2·0.2 is not the share that is kept."""
    found = trimmed_mean([9.1, 10.2, 10.8, 11.5, 9.9, 10.4, 14.0])
    # Winsorised 9.9 9.9 10.2 10.4 10.8 11.5 11.5: SSD = 2.84, h = 5, t(0.975, 4) = 2.776445.
    half = 2.776445 * sqrt(2.84 / (5 * 4))
    assert found.value == pytest.approx(10.56)
    assert (found.low, found.high) == pytest.approx((10.56 - half, 10.56 + half))


def test_how_many_are_dropped_is_rounded_down():
    values = list(range(1, 10))
    assert trimmed_mean(values).value == 5
    assert trimmed_mean([*values[:-1], 1000]).value == 5
    assert trimmed_mean([*values[:-2], 1000, 1000]).value > 5


def test_an_outlier_ruins_the_plain_interval_only():
    spoiled = [*RUNS[:3], 100.0, RUNS[4]]
    assert trimmed_mean(spoiled) == trimmed_mean(RUNS)
    plain = log_t_interval(spoiled)
    assert plain.low < 300


@pytest.mark.parametrize(("n", "expected"), [(5, 0.938), (10, 0.941)])
def test_coverage_is_below_what_it_claims(n, expected):
    """Found with 200 000 normal samples: 95 % cover 93.8 % at n = 5, 94.1 % at n = 10."""
    trials = 2000
    random = np.random.default_rng(n)
    intervals = [trimmed_mean(sample) for sample in random.normal(100, 5, (trials, n))]
    covered = sum(found.low <= 100 <= found.high for found in intervals) / trials
    assert abs(covered - expected) < 3 * sqrt(expected * (1 - expected) / trials)


def test_equal_runs():
    found = trimmed_mean([7.0] * 5)
    assert (found.value, found.low, found.high) == (7, 7, 7)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least one number"),
        ([1, 2, 3, 4], "4 runs: .*needs 5"),
        ([1, 2, 3, 4, float("nan")], "nan is among them"),
    ],
)
def test_too_few_or_no_runs(values, message):
    with pytest.raises(ValueError, match=message):
        trimmed_mean(values)
