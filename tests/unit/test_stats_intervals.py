"""Intervals of a mean and of an error rate.

Reference values: R 4.2.2 (t.test, prop.test) and statsmodels 0.15 (proportion_confint).
"""

from math import exp, inf, isclose, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.stats.intervals import error_rate, log_t_interval, variation
from scipy import stats

THROUGHPUTS = [49900.2, 47310.5, 52011.9, 50412.3, 48875.1]
runs = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=12)


def test_log_t_interval_as_in_r():
    # x <- log(runs); exp(t.test(x)$estimate); exp(t.test(x)$conf.int)
    found = log_t_interval(THROUGHPUTS)
    assert found.value == pytest.approx(49677.2267076)
    assert (found.low, found.high) == pytest.approx((47545.0952022, 51904.9723818))
    assert found.n == 5


@pytest.mark.parametrize(("n", "width"), [(3, 2.48), (5, 1.24), (10, 0.72)])
def test_half_width_in_units_of_the_variation(n, width):
    """The factors that METHODOLOGY names: half width by CoV, for a small CoV."""
    logs = np.linspace(-1, 1, n)
    found = log_t_interval(np.exp(1e-4 * logs))
    relative = (found.high - found.low) / 2 / found.value
    assert relative / (1e-4 * logs.std(ddof=1)) == pytest.approx(width, abs=0.006)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_log_t_interval_covers_95_of_100_lognormal_medians(n):
    trials, spread = 2000, 0.3
    random = np.random.default_rng(n)
    covered = 0
    for sample in random.lognormal(10, spread, (trials, n)):
        found = log_t_interval(sample)
        covered += found.low <= exp(10) <= found.high
    assert abs(covered / trials - 0.95) < 3 * sqrt(0.95 * 0.05 / trials)


@given(runs, st.floats(0.01, 100))
def test_another_unit_scales_the_interval(values, factor):
    plain, scaled = log_t_interval(values), log_t_interval([factor * value for value in values])
    for name in ("value", "low", "high"):
        assert isclose(getattr(scaled, name), factor * getattr(plain, name), rel_tol=1e-6)


@given(runs, st.randoms())
def test_the_order_of_runs_does_not_matter(values, random):
    found = log_t_interval(values)
    random.shuffle(values)
    assert log_t_interval(values).high == pytest.approx(found.high)
    assert found.low <= found.value <= found.high


def test_one_run_has_no_interval():
    found = log_t_interval([1234.5])
    assert (found.low, found.high, found.n) == (None, None, 1)
    assert found.value == pytest.approx(1234.5)


def test_equal_runs_have_an_interval_without_width():
    found = log_t_interval([200.0, 200.0, 200.0])
    assert found.low == found.high == pytest.approx(200)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "at least one number"),
        ([100, 0, 100], "0 is among them; needs numbers above 0"),
        ([100, -3], "-3 is among them"),
        ([100, nan], "nan is among them; leave out what was not measured"),
        ([100, inf], "inf is among them"),
    ],
)
def test_runs_without_a_logarithm_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        log_t_interval(values)


def test_variation():
    assert variation([10, 12, 17]) == pytest.approx(sqrt(13) / 13)
    assert variation(THROUGHPUTS) == pytest.approx(stats.variation(THROUGHPUTS, ddof=1))
    assert variation([5, 5, 5]) == 0
    assert variation([5]) is None
    assert variation([0, 4]) == pytest.approx(sqrt(2))


@pytest.mark.parametrize("values", [[], [0, 0], [1, -1], [1, nan]])
def test_variation_of_nothing_sensible(values):
    with pytest.raises(ValueError, match="runs: "):
        variation(values)


@pytest.mark.parametrize(
    ("failed", "operations", "low", "high"),
    [
        # R: prop.test(3, 1000, correct = FALSE); statsmodels agrees.
        (3, 1000, 0.00102078388114, 0.00878301405350),
        (15, 148, 0.0623863995307, 0.1604872417233),
    ],
)
def test_wilson_interval_as_in_r(failed, operations, low, high):
    found = error_rate(failed, operations)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.value == failed / operations


@given(st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_error_rate_is_inside_its_interval(counts):
    found = error_rate(*counts)
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value <= found.high + 1e-12 <= 1 + 2e-12


def test_no_failure_seen_is_not_a_rate_of_zero():
    found = error_rate(0, 100_000)
    assert (found.value, found.low, found.high) == (0, 0, pytest.approx(3e-5))
    # The exact bound, from (1 - p)^n = 0.05.
    assert error_rate(0, 1000).high == pytest.approx(1 - 0.05 ** (1 / 1000), rel=0.003)
    assert error_rate(0, 2).high == 1


@pytest.mark.parametrize(("failed", "operations"), [(0, 0), (-1, 10), (11, 10)])
def test_counts_that_cannot_be(failed, operations):
    with pytest.raises(ValueError, match="no such error rate"):
        error_rate(failed, operations)
