"""How many repetitions tell a difference: against the distribution itself and by simulation."""

import math

import numpy as np
import pytest
from kvstudy.stats.power import (
    MOST,
    block_spread,
    pooled_spread,
    power,
    repetitions_for,
    repetitions_to_decide,
    smallest_difference,
)
from kvstudy.stats.ratios import Ratio, paired_ratio
from scipy import stats


def paired(repetitions: int) -> int:
    """The degrees of freedom of a paired t test."""
    return repetitions - 1


@pytest.mark.parametrize(("n", "difference"), [(3, 0.2), (5, 0.1), (10, 0.05), (10, 0.25)])
def test_power_is_that_of_the_noncentral_t(n, difference):
    spread = 0.05
    size = math.log(1 + difference) * math.sqrt(n) / (math.sqrt(2) * spread)
    critical = stats.t.ppf(0.975, n - 1)
    exact = stats.nct.sf(critical, n - 1, size) + stats.nct.cdf(-critical, n - 1, size)
    assert power(n, difference, spread, paired) == pytest.approx(exact, abs=1e-3)


def test_paired_ratios_tell_as_often_as_foretold():
    """Drift that a block shares changes nothing."""
    random = np.random.default_rng(1)
    n, spread, difference = 5, 0.05, 0.12
    reply = 0
    for _ in range(1000):
        drift = random.normal(0, 0.3, n)
        a = np.exp(random.normal(math.log(1 + difference), spread, n) + drift)
        b = np.exp(random.normal(0, spread, n) + drift)
        reply += paired_ratio(dict(enumerate(a)), dict(enumerate(b))).differs
    assert reply / 1000 == pytest.approx(power(n, difference, spread, paired), abs=0.04)


@pytest.mark.parametrize("difference", [0.05, 0.10, 0.25])
@pytest.mark.parametrize("spread", [0.005, 0.03, 0.1])
def test_the_fewest_repetitions_are_enough_and_one_less_is_not(difference, spread):
    n = repetitions_for(difference, spread, paired)
    assert power(n, difference, spread, paired) >= 0.8
    assert n == 2 or power(n - 1, difference, spread, paired) < 0.8


@pytest.mark.parametrize("n", [2, 3, 5, 10, 50])
def test_the_smallest_difference_is_told_with_the_power_that_was_asked_for(n):
    assert power(n, smallest_difference(n, 0.04, paired), 0.04, paired) == pytest.approx(
        0.8, abs=1e-6
    )


def test_a_spread_without_bounds():
    assert repetitions_for(0.05, 2.0, paired) is None
    assert power(MOST, 0.05, 2.0, paired) < 0.8
    assert smallest_difference(2, 20.0, paired) == math.inf


def test_spread_is_pooled_over_cells_by_degrees_of_freedom():
    value, freedom = pooled_spread([[1, math.e], [10, 10, 10], [5]])
    assert freedom == 3
    assert value == pytest.approx(math.sqrt(0.5 / 3))


def test_what_blocks_share_is_no_spread_between_stores():
    drift = [0.0, 0.5, -0.2]
    squares, freedom = block_spread([drift, [1 + part for part in drift]])
    assert (round(squares, 12), freedom) == (0, 2)
    rows = np.random.default_rng(2).normal(0, 0.1, (2, 400))
    squares, freedom = block_spread(rows)
    # √2 times it is the spread of the differences, by which a ratio is judged.
    assert math.sqrt(2 * squares / freedom) == pytest.approx((rows[0] - rows[1]).std(ddof=1))


def test_too_little_for_blocks():
    assert block_spread([[1.0, 2.0]]) == (0.0, 0)
    assert block_spread([[1.0], [2.0]]) == (0.0, 0)
    assert block_spread([]) == (0.0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pooled_spread([[1.0], [2.0]]), "no cell has two repetitions"),
        (lambda: pooled_spread([[1.0, 0.0]]), "needs numbers above 0"),
        (lambda: block_spread([[1.0], [2.0, 3.0]]), "inhomogeneous"),
    ],
)
def test_what_has_no_answer(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def shown(value: float, spread: float, **more: float) -> Ratio:
    """Of three pairs of stores that vary by ``spread`` each."""
    return Ratio(value, 3, 0.6, 2.9, error=spread * math.sqrt(2 / 3), freedom=2, **more)


def test_how_many_repetitions_decide_is_what_the_plan_says_of_that_difference():
    assert repetitions_to_decide(shown(1.3, 0.2)) == repetitions_for(0.3, 0.2, paired) > 3
    # It is the same seen from the other store.
    assert repetitions_to_decide(shown(1 / 1.3, 0.2)) == repetitions_for(0.3, 0.2, paired)
    # What has to be told is what is left above the noise floor.
    above = repetitions_for(1.3 / 1.1 - 1, 0.2, paired)
    assert repetitions_to_decide(shown(1.3, 0.2), floor=1.1) == above
    # Six pairs at once, of which this one is the most certain.
    many = repetitions_to_decide(shown(1.3, 0.2, p=0.05, p_adjusted=0.3))
    assert (
        many == repetitions_for(0.3, 0.2, paired, 1 - 0.05 / 6) > repetitions_for(0.3, 0.2, paired)
    )
    # What other cells report the spread makes fewer enough.
    moderated = Ratio(1.3, 3, 0.6, 2.9, error=0.2 * math.sqrt(2 / 3), freedom=8)
    assert repetitions_to_decide(moderated) < repetitions_for(0.3, 0.2, paired)


def test_two_stores_that_look_alike_are_shown_to_be_equal():
    assert repetitions_to_decide(shown(1.0, 0.05)) == repetitions_for(0.10, 0.05, paired)


def test_more_repetitions_than_there_were_or_none_that_anybody_measures():
    assert repetitions_to_decide(shown(2.0, 0.001)) == 4
    assert repetitions_to_decide(shown(1.05, 9.0)) is None
    assert repetitions_to_decide(Ratio(2.0, 1)) is None
