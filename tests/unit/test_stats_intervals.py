"""Intervals of a mean, plain and trimmed (Tukey and McLaughlin), an error rate and a quotient.

Reference values: R 4.2.2 (t.test, prop.test) and statsmodels 0.15 (proportion_confint); for the
trimmed mean Yuen's test in scipy 1.17 (``ttest_ind`` with ``trim``), written independently. Its
error has one such term for each of two samples; that of equal values is 0.
"""

from math import exp, inf, isclose, nan, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.stats.intervals import (
    Estimate,
    error_rate,
    geometric_mean,
    log_t_interval,
    quotient,
    trimmed_mean,
    variation,
)
from scipy import stats

THROUGHPUTS = [49900.2, 47310.5, 52011.9, 50412.3, 48875.1]
runs = st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=12)


def test_the_geometric_mean_is_the_middle_of_the_interval_and_takes_a_zero():
    assert geometric_mean(THROUGHPUTS) == pytest.approx(stats.gmean(THROUGHPUTS))
    assert geometric_mean(THROUGHPUTS) == pytest.approx(log_t_interval(THROUGHPUTS).value)
    assert geometric_mean([2199.7]) == 2199.7
    assert geometric_mean([0.0, 5.0]) == 0


def test_log_t_interval_as_in_r():
    # x <- log(runs); exp(t.test(x)$estimate); exp(t.test(x)$conf.int)
    result = log_t_interval(THROUGHPUTS)
    assert result.value == pytest.approx(49677.2267076)
    assert (result.low, result.high) == pytest.approx((47545.0952022, 51904.9723818))


@pytest.mark.parametrize(("n", "width"), [(3, 2.48), (5, 1.24), (10, 0.72)])
def test_half_width_in_units_of_the_variation(n, width):
    """The factors that METHODOLOGY names: half width by CV, for a small CV."""
    logs = np.linspace(-1, 1, n)
    result = log_t_interval(np.exp(1e-4 * logs))
    relative = (result.high - result.low) / 2 / result.value
    assert relative / (1e-4 * logs.std(ddof=1)) == pytest.approx(width, abs=0.006)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_log_t_interval_covers_95_of_100_lognormal_medians(n):
    trials, spread = 2000, 0.3
    random = np.random.default_rng(n)
    covered = 0
    for sample in random.lognormal(10, spread, (trials, n)):
        result = log_t_interval(sample)
        covered += result.low <= exp(10) <= result.high
    assert abs(covered / trials - 0.95) < 3 * sqrt(0.95 * 0.05 / trials)


@given(runs, st.floats(0.01, 100))
def test_another_unit_scales_the_interval(values, factor):
    plain, scaled = log_t_interval(values), log_t_interval([factor * value for value in values])
    for name in ("value", "low", "high"):
        assert isclose(getattr(scaled, name), factor * getattr(plain, name), rel_tol=1e-6)


@given(runs, st.randoms())
def test_the_order_of_runs_does_not_matter(values, random):
    result = log_t_interval(values)
    random.shuffle(values)
    assert log_t_interval(values).high == pytest.approx(result.high)
    assert result.low <= result.value <= result.high


def test_one_run_has_no_interval():
    result = log_t_interval([1234.5])
    assert (result.low, result.high, result.n) == (None, None, 1)
    assert result.value == pytest.approx(1234.5)


def test_equal_runs_have_an_interval_without_width():
    result = log_t_interval([200.0, 200.0, 200.0])
    assert result.low == result.high == pytest.approx(200)


def test_variation():
    assert variation([10, 12, 17]) == pytest.approx(sqrt(13) / 13)
    assert variation(THROUGHPUTS) == pytest.approx(stats.variation(THROUGHPUTS, ddof=1))
    assert variation([5, 5, 5]) == 0
    assert variation([5]) is None
    assert variation([0, 4]) == pytest.approx(sqrt(2))


@pytest.mark.parametrize(
    ("failed", "operations", "low", "high"),
    [
        # R: prop.test(3, 1000, correct = FALSE); statsmodels agrees.
        (3, 1000, 0.00102078388114, 0.00878301405350),
        (15, 148, 0.0623863995307, 0.1604872417233),
    ],
)
def test_wilson_interval_as_in_r(failed, operations, low, high):
    result = error_rate(failed, operations)
    assert (result.low, result.high) == pytest.approx((low, high))
    assert result.value == failed / operations


@given(st.integers(1, 10**7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_error_rate_is_inside_its_interval(counts):
    result = error_rate(*counts)
    assert 0 <= result.low <= result.value + 1e-12
    assert result.value <= result.high + 1e-12 <= 1 + 2e-12


def test_no_failure_seen_is_not_a_rate_of_zero():
    result = error_rate(0, 100_000)
    assert (result.value, result.low, result.high) == (0, 0, pytest.approx(3e-5))
    # The exact bound, from (1 - p)^n = 0.05.
    assert error_rate(0, 1000).high == pytest.approx(1 - 0.05 ** (1 / 1000), rel=0.003)
    assert error_rate(0, 2).high == 1


RUNS = [967.9, 1012.4, 988.1, 875.0, 1003.6]


def test_of_five_the_smallest_and_the_largest_are_dropped():
    result = trimmed_mean(RUNS)
    assert result.value == pytest.approx((967.9 + 988.1 + 1003.6) / 3)
    # By hand: winsorised 967.9 967.9 988.1 1003.6 1003.6, whose mean is 986.22; squared
    # deviations 2 · 335.6224 + 3.5344 + 2 · 302.0644 = 1278.908; t(0.975, 2) = 4.302653.
    half = 4.302653 * sqrt(1278.908 / (3 * 2))
    assert (result.low, result.high) == pytest.approx((result.value - half, result.value + half))
    assert (result.low, result.high) == pytest.approx((923.71588, 1049.35079))


@given(st.integers(5, 21).flatmap(lambda n: st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)))
def test_trimmed_mean_as_in_scipy(values):
    result = trimmed_mean(values)
    against_none = stats.ttest_ind(values, np.zeros(len(values)), trim=0.2, equal_var=False)
    expected = tuple(against_none.confidence_interval(0.95))
    assert (result.low, result.high) == pytest.approx(expected, abs=1e-6)


def test_of_seven_what_was_dropped_counts_and_not_what_was_asked_for():
    """A fifth of seven is more than one, so 1 - 2·0.2 is not the share that is kept."""
    result = trimmed_mean([9.1, 10.2, 10.8, 11.5, 9.9, 10.4, 14.0])
    # Winsorised 9.9 9.9 10.2 10.4 10.8 11.5 11.5: SSD = 2.84, h = 5, t(0.975, 4) = 2.776445.
    half = 2.776445 * sqrt(2.84 / (5 * 4))
    assert result.value == pytest.approx(10.56)
    assert (result.low, result.high) == pytest.approx((10.56 - half, 10.56 + half))


def test_how_many_runs_are_dropped_is_rounded_down():
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
def test_coverage_of_the_trimmed_mean_is_below_what_it_claims(n, expected):
    """Found with 200 000 normal samples: 95 % cover 93.8 % at n = 5, 94.1 % at n = 10."""
    trials = 2000
    random = np.random.default_rng(n)
    intervals = [trimmed_mean(sample) for sample in random.normal(100, 5, (trials, n))]
    covered = sum(result.low <= 100 <= result.high for result in intervals) / trials
    assert abs(covered - expected) < 3 * sqrt(expected * (1 - expected) / trials)


def test_equal_runs_have_a_trimmed_mean_without_width():
    result = trimmed_mean([7.0] * 5)
    assert (result.value, result.low, result.high) == (7, 7, 7)


def test_a_quotient_by_hand():
    """A = 10 ± 1, B = 5 ± 0.5, both with 1e9 degrees of freedom, so t is 1.96."""
    result = quotient([Estimate(10, 1, 1e9), Estimate(5, 0.5, 1e9)], above=(1, 0), below=(0, 1))
    z = stats.norm.ppf(0.975)
    # The formula of textbooks, with g = z²·e_B²/B².
    g = (z * 0.5 / 5) ** 2
    half = z / 5 * sqrt(1 + 2**2 * 0.5**2 - g * 1)
    assert result.value == 2
    assert result.low == pytest.approx((2 - half) / (1 - g), rel=1e-6)
    assert result.high == pytest.approx((2 + half) / (1 - g), rel=1e-6)


def test_at_the_bounds_the_sum_is_just_told_from_zero():
    """Also where one estimate is above and below, as the database's read of a cache."""
    parts = [Estimate(4, 0.2, 2), Estimate(4, 0.1, 2), Estimate(12, 0.3, 2), Estimate(4, 0.2, 2)]
    above, below = (1, 1, 1, 0), (0, 0, 1, -1)
    result = quotient(parts, above, below)
    assert result.value == pytest.approx(20 / 8)
    weights = [up - result.value * down for up, down in zip(above, below, strict=True)]
    squares = [(weight * each.error) ** 2 for weight, each in zip(weights, parts, strict=True)]
    t = stats.t.ppf(0.975, sum(squares) ** 2 / sum(part**2 / 2 for part in squares))
    for bound in (result.low, result.high):
        weights = [up - bound * down for up, down in zip(above, below, strict=True)]
        total = sum(weight * each.value for weight, each in zip(weights, parts, strict=True))
        error = sqrt(
            sum((weight * each.error) ** 2 for weight, each in zip(weights, parts, strict=True))
        )
        assert abs(total) == pytest.approx(t * error)


def test_95_of_100_quotients_are_covered():
    """Runs of two stores: 95 % of the intervals contain the ratio of the true means."""
    random = np.random.default_rng(3)
    inside = 0
    studies = 2_000
    for _ in range(studies):
        parts = []
        for mean in (30.0, 10.0):
            runs = random.normal(mean, 0.1 * mean, 5)
            parts.append(Estimate(runs.mean(), runs.std(ddof=1) / sqrt(5), 4))
        result = quotient(parts, above=(1, 0), below=(0, 1))
        inside += result.low <= 3 <= result.high
    assert 0.93 < inside / studies < 0.97


def test_a_divisor_that_may_be_zero_has_no_upper_end():
    result = quotient([Estimate(10, 0.1, 2), Estimate(1, 0.5, 2)], above=(1, 0), below=(0, 1))
    assert result.value == 10
    assert 0 < result.low < 10
    assert result.high == inf
    # And if the dividend may be 0 too, nothing is known.
    result = quotient([Estimate(1, 0.5, 2), Estimate(1, 0.5, 2)], above=(1, 0), below=(0, 1))
    assert (result.low, result.high) == (0, inf)


def test_a_divisor_below_zero_has_no_quotient():
    assert quotient([Estimate(1, 0.1, 2), Estimate(-1, 0.1, 2)], (1, 0), (0, 1)) is None
    assert quotient([Estimate(1, 0.1, 2), Estimate(0, 0.1, 2)], (1, 0), (0, 1)) is None


def test_single_runs_have_no_spread_and_equal_ones_none():
    result = quotient([Estimate(4, None, None), Estimate(2, 0.1, 2)], (1, 0), (0, 1))
    assert (result.value, result.low, result.high) == (2, None, None)
    result = quotient([Estimate(4, 0, 2), Estimate(2, 0, 2)], (1, 0), (0, 1))
    assert (result.value, result.low, result.high) == (2, 2, 2)


@pytest.mark.parametrize(
    ("estimate", "arguments", "message"),
    [
        (log_t_interval, [[]], "at least one number"),
        (log_t_interval, [[100, 0, 100]], "0 is among them; needs numbers above 0"),
        (log_t_interval, [[100, -3]], "-3 is among them"),
        (log_t_interval, [[100, nan]], "nan is among them; leave out what was not measured"),
        (log_t_interval, [[100, inf]], "inf is among them"),
        (geometric_mean, [[]], "at least one number"),
        (geometric_mean, [[100, nan]], "nan is among them"),
        (geometric_mean, [[100, -3]], "-3 is among them; needs numbers of 0 or above"),
        *[(variation, [values], "runs: ") for values in ([], [0, 0], [1, -1], [1, nan])],
        *[(error_rate, counts, "no such error rate") for counts in ((0, 0), (-1, 10), (11, 10))],
        (trimmed_mean, [[]], "at least one number"),
        (trimmed_mean, [[1, 2, 3, 4, nan]], "nan is among them"),
        (quotient, [[Estimate(-4, 0.1, 2), Estimate(2, 0.1, 2)], (1, 0), (0, 1)], "dividend"),
        (quotient, [[Estimate(nan, 0.1, 2), Estimate(2, 0.1, 2)], (1, 0), (0, 1)], "leave out"),
    ],
)
def test_values_that_have_no_estimate(estimate, arguments, message):
    with pytest.raises(ValueError, match=message):
        estimate(*arguments)
