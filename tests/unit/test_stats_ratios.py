"""Ratios of two stores. Reference values: R 4.2.2 (t.test, p.adjust)."""

from itertools import combinations
from math import log, nan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.stats.ratios import (
    Ratio,
    adjusted,
    decide,
    equivalence_p,
    equivalent,
    paired_ratio,
    possible_equalities,
    ratio_of,
    unpaired_ratio,
)
from scipy import stats

A = {1: 51.2, 2: 48.9, 3: 50.1, 4: 55.0, 5: 47.3}
B = {1: 42.0, 2: 40.5, 3: 41.7, 4: 46.1, 5: 40.9}
distinct = st.lists(st.integers(1, 10_000), min_size=2, max_size=8, unique=True)
values = st.lists(st.floats(1, 1e6), min_size=2, max_size=8)


def test_paired_ratio_as_in_r():
    # r <- t.test(log(a), log(b), paired = TRUE); exp(r$estimate); exp(r$conf.int); r$p.value
    result = paired_ratio(A, B)
    assert result.value == pytest.approx(1.19529514317)
    assert (result.low, result.high) == pytest.approx((1.16590102958, 1.22543032645))
    assert result.p == pytest.approx(3.76811078839e-05)
    assert (result.n, result.freedom) == (5, 4)


def test_unpaired_ratio_as_in_r():
    # r <- t.test(log(a), log(b[1:3])), which is Welch's test
    result = unpaired_ratio(A.values(), list(B.values())[:3])
    assert result.value == pytest.approx(1.218375860247)
    assert (result.low, result.high) == pytest.approx((1.136026616086, 1.306694505052))
    assert result.p == pytest.approx(0.000658784321132)
    assert result.freedom == pytest.approx(5.295685080711)
    assert result.n == 3


@given(distinct, distinct)
def test_unpaired_ratio_as_in_scipy(a, b):
    expected = stats.ttest_ind(np.log(a), np.log(b), equal_var=False)
    assert unpaired_ratio(a, b).p == pytest.approx(expected.pvalue)


def test_blocks_are_matched_by_name_not_by_place():
    shuffled = {block: B[block] for block in (4, 1, 5, 3, 2)}
    assert paired_ratio(A, shuffled) == paired_ratio(A, B)
    assert paired_ratio(pd.Series(A), pd.Series(shuffled)) == paired_ratio(A, B)


def test_a_block_that_one_side_lost_is_left_out():
    result = paired_ratio(A, {block: B[block] for block in (1, 2, 3)})
    assert result == paired_ratio({block: A[block] for block in (1, 2, 3)}, B)
    assert result.n == 3


def test_pairing_removes_what_slows_both_sides():
    """A machine that slows down by half hides a difference of 5 % from unpaired runs only."""
    slowdown = np.array([1, 0.8, 0.65, 0.5])
    a = dict(enumerate(105 * slowdown * [1.001, 1, 0.999, 1]))
    b = dict(enumerate(100 * slowdown))
    assert paired_ratio(a, b).differs is True
    assert unpaired_ratio(a.values(), b.values()).differs is False


@given(values, values)
def test_the_inverse_ratio_has_the_inverse_interval(a, b):
    present, back = unpaired_ratio(a, b), unpaired_ratio(b, a)
    assert back.value == pytest.approx(1 / present.value)
    assert back.low == pytest.approx(1 / present.high)
    assert back.p == pytest.approx(present.p)
    assert back.differs == present.differs
    assert equivalent(back) == equivalent(present)


def test_paired_interval_covers_95_of_100():
    trials = 2000
    random = np.random.default_rng(7)
    covered = 0
    for _ in range(trials):
        blocks = random.normal(0, 0.5, 3)
        a = np.exp(blocks + random.normal(0.2, 0.1, 3))
        b = np.exp(blocks + random.normal(0, 0.1, 3))
        result = paired_ratio(dict(enumerate(a)), dict(enumerate(b)))
        covered += result.low <= np.exp(0.2) <= result.high
    assert abs(covered / trials - 0.95) < 3 * sqrt(0.95 * 0.05 / trials)


def test_one_run_tells_a_ratio_and_no_more():
    for result in (paired_ratio({1: 6.0}, {1: 3.0}), unpaired_ratio([6.0], [3.0, 3.0])):
        assert result.value == pytest.approx(2)
        assert (result.low, result.high, result.p, result.differs) == (None, None, None, None)
        assert equivalent(result) is None
        assert equivalence_p(result) is None


def test_runs_without_any_spread():
    apart, same = unpaired_ratio([8, 8, 8], [2, 2, 2]), unpaired_ratio([8, 8], [8, 8])
    assert (apart.low, apart.high) == pytest.approx((4, 4))
    assert (apart.p, apart.differs) == (0, True)
    assert (same.p, same.differs) == (1, False)
    assert equivalent(same) is True
    assert equivalence_p(same) == 0
    assert equivalence_p(apart) == 1


@pytest.mark.parametrize(
    ("compare", "a", "b", "message"),
    [
        (paired_ratio, {1: 5.0}, {2: 5.0}, "no block in common"),
        (paired_ratio, {}, {}, "no block in common"),
        (paired_ratio, {1: 5.0, 2: 0.0}, {1: 5.0, 2: 5.0}, "values of A: 0 is among them"),
        (paired_ratio, {1: 5.0, 2: 1.0}, {1: 5.0, 2: nan}, "values of B: nan is among them"),
        (unpaired_ratio, [], [1, 2], "values of A: "),
        (unpaired_ratio, [1, 2], [], "values of B: "),
        (unpaired_ratio, [1, -2], [1, 2], "values of A: "),
    ],
)
def test_runs_that_cannot_be_compared(compare, a, b, message):
    with pytest.raises(ValueError, match=message):
        compare(a, b)


def holm(p: list[float | None]) -> list[float | None]:
    ratios = {number: Ratio(1.0, 3, p=value) for number, value in enumerate(p)}
    return [ratio.p_adjusted for ratio in adjusted(ratios).values()]


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        # R: p.adjust(p, "holm"); statsmodels' multipletests agrees.
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),
        ([0.0008, 0.2, 0.011, 0.04, 0.9, 0.0099], [0.0048, 0.4, 0.0495, 0.12, 0.9, 0.0495]),
        ([0.3], [0.3]),
        ([0.6, 0.7], [1, 1]),
        ([], []),
        # What was not tested does not count.
        ([0.01, None, 0.04], [0.02, None, 0.04]),
    ],
)
def test_holm_as_in_r(p, expected):
    assert holm(p) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_makes_a_p_value_smaller(p):
    for before, after in zip(p, holm(p), strict=True):
        assert before <= after <= min(1, len(p) * before) + 1e-12


def test_many_pairs_make_more_ties():
    pairs = {
        ("a", "b"): paired_ratio({1: 10, 2: 11, 3: 10.5}, {1: 9.6, 2: 10.2, 3: 9.9}),
        ("a", "c"): paired_ratio({1: 10, 2: 11, 3: 10.5}, {1: 5, 2: 5.5, 3: 5.2}),
        ("a", "d"): unpaired_ratio([10, 11, 10.5], [10]),
    }
    assert pairs["a", "b"].differs is True
    table = adjusted(pairs)
    assert table["a", "b"].p_adjusted == pytest.approx(pairs["a", "b"].p)
    assert table["a", "c"].p_adjusted == pytest.approx(2 * pairs["a", "c"].p)
    assert table["a", "d"].differs is None
    crowd = adjusted(
        pairs
        | {("a", str(i)): pairs["a", "c"] for i in range(9)}
        | {("b", str(i)): pairs["a", "b"] for i in range(9)}
    )
    assert crowd["a", "b"].differs is False
    assert crowd["a", "b"].low == pairs["a", "b"].low


def test_two_one_sided_tests_as_in_r():
    # max(t.test(x, y, mu = -log(1.1), paired = TRUE, alternative = "greater")$p.value,
    #     t.test(x, y, mu = log(1.1), paired = TRUE, alternative = "less")$p.value)
    result = paired_ratio({1: 51.2, 2: 48.9, 3: 50.1}, {1: 50.0, 2: 48.5, 3: 49.2})
    assert equivalence_p(result) == pytest.approx(0.00165373106454)
    assert equivalent(result) is True


alike = st.lists(st.floats(100, 120), min_size=2, max_size=8)


@given(alike, alike)
def test_equivalence_is_the_two_tests_at_half_of_what_the_interval_leaves(a, b):
    result = unpaired_ratio(a, b)
    p = equivalence_p(result)
    if abs(p - 0.025) > 1e-9:
        assert equivalent(result) == (p < 0.025)


@pytest.mark.parametrize(
    ("ratio", "word"),
    [
        (Ratio(1.5, 3, 1.2, 1.9), "faster"),
        (Ratio(0.5, 3, 0.4, 0.6), "faster"),
        (Ratio(1.5, 3, 1.2, 1.9, p_adjusted=0.06), "undecided"),
        (Ratio(1.5, 3, 0.9, 2.4), "undecided"),
        (Ratio(1.0, 3, 0.7, 1.4), "undecided"),  # contains 1, and shows nothing
        (Ratio(1.0, 3, 0.95, 1.05), "equal"),
        (Ratio(1.04, 3, 1.02, 1.06), "faster"),
        (Ratio(3.0, 1), "undecided"),
    ],
)
def test_what_is_decided_of_two_stores(ratio, word):
    assert decide(ratio) == word


def test_a_ratio_has_to_be_above_the_noise_floor():
    """By hand: (ln 1.2 - ln 1.1)/0.02 = 4.3506, t(0.975, 4) = 2.7764."""
    free, floored = (ratio_of(log(1.2), 0.02, 4, 5, floor) for floor in (1.0, 1.1))
    assert floored.p == pytest.approx(2 * stats.t.sf(4.3506, 4), rel=1e-3)
    assert free.p < floored.p < 0.05
    assert ratio_of(log(1.2), 0.02, 4, 5, 1.2).p == 1
    assert ratio_of(-log(1.2), 0.02, 4, 5, 1.1).p == pytest.approx(floored.p)
    assert (floored.low, floored.high) == (free.low, free.high)


def test_equal_pairs_that_cannot_be_alone_need_less_correction():
    """Shaffer 1986, table 1: of four means 6, 3, 2, 1 or 0 pairs can be equal."""
    stores = [*combinations("abcd", 2)]
    assert possible_equalities(stores) == {0, 1, 2, 3, 6}
    p = dict(zip(stores, (0.001, 0.01, 0.012, 0.02, 0.04, 0.6), strict=True))
    ratios = {pair: Ratio(1.2, 3, p=value) for pair, value in p.items()}
    result = [each.p_adjusted for each in adjusted(ratios, possible_equalities(ratios)).values()]
    assert result == pytest.approx([0.006, 0.03, 0.036, 0.06, 0.08, 0.6])
    # Groups that are not compared, and pairs without a common repetition.
    assert possible_equalities([*combinations("abc", 2), ("x", "y")]) == {0, 1, 2, 3, 4}
    assert possible_equalities([("a", "b"), ("b", "c")]) == {0, 1, 2}
    assert possible_equalities([]) == {0}
