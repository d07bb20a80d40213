"""Verdicts on claims, case by case."""

import pytest
from kvstudy.stats.ratios import (
    Ratio,
    Verdict,
    adjusted,
    equality_verdict,
    paired_ratio,
    ratio_verdict,
)


def ratio(value: float, low: float, high: float) -> Ratio:
    return Ratio(value, 3, low=low, high=high, p=0.01)


@pytest.mark.parametrize(
    ("published", "measured", "verdict"),
    [
        (2.0, ratio(2.1, 1.9, 2.3), "reproduced"),
        (0.5, ratio(0.45, 0.4, 0.5), "reproduced"),
        (2.0, ratio(2.5, 2.2, 2.8), "reproduced"),  # exactly 1.25 times
        (2.0, ratio(1.6, 1.4, 1.8), "reproduced"),  # exactly 1/1.25
        (2.0, ratio(2.51, 2.2, 2.8), "direction only"),
        (2.0, ratio(1.59, 1.4, 1.8), "direction only"),
        (0.5, ratio(0.1, 0.05, 0.2), "direction only"),
        (2.0, ratio(1.9, 0.9, 4.0), "undecided"),
        (2.0, ratio(0.8, 0.6, 1.05), "undecided"),
        (2.0, ratio(1.5, 1.0, 2.2), "undecided"),  # a bound of 1 is contained
        (2.0, ratio(0.8, 0.7, 0.9), "contradicted"),
        (0.9, ratio(1.1, 1.05, 1.2), "contradicted"),
        (2.0, Ratio(2.0, 1), "undecided"),  # one run
    ],
)
def test_claims_of_a_ratio(published, measured, verdict):
    assert ratio_verdict(published, measured) == verdict


def test_the_inverse_claim_gets_the_same_verdict():
    a, b = {1: 10.0, 2: 11.0, 3: 10.5}, {1: 7.0, 2: 7.5, 3: 7.1}
    for published in (0.3, 0.8, 1.2, 1.4, 3.0):
        there = ratio_verdict(published, paired_ratio(a, b))
        assert ratio_verdict(1 / published, paired_ratio(b, a)) == there


def test_a_claim_is_not_adjusted_for_other_pairs_of_the_table():
    measured = adjusted({"claim": ratio(2, 1.2, 3.3), "other": Ratio(1, 3, 0.9, 1.1, p=0.9)})
    assert measured["claim"].p_holm == 0.02
    crowd = adjusted({"claim": ratio(2, 1.2, 3.3)} | {i: ratio(2, 1.2, 3.3) for i in range(9)})
    assert crowd["claim"].differs is False
    assert ratio_verdict(2.0, crowd["claim"]) == Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (ratio(1.0, 0.95, 1.05), "reproduced"),
        (ratio(1.03, 1.01, 1.05), "reproduced"),  # a real but small difference
        (ratio(1.0, 0.7, 1.4), "undecided"),  # contains 1, and proves nothing
        (ratio(1.1, 1.05, 1.15), "undecided"),
        (ratio(0.95, 0.905, 1.0), "undecided"),
        (ratio(1.5, 1.2, 1.9), "contradicted"),
        (ratio(0.7, 0.6, 0.8), "contradicted"),
        (Ratio(1.0, 1), "undecided"),
    ],
)
def test_claims_of_equality(measured, verdict):
    assert equality_verdict(measured) == verdict


def test_the_margin_of_a_claim():
    assert equality_verdict(ratio(1.0, 0.7, 1.4), margin=0.5) == Verdict.REPRODUCED
