"""Places where pairs are undecided, and agreement of two rankings."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.stats.ranks import agreement, place_ranges
from scipy.stats import kendalltau


def all_pairs(values: dict[str, float], undecided: set[str] = frozenset()) -> dict:
    """The order of all pairs; ``undecided`` names pairs such as "ab"."""
    return {
        (a, b): 0 if a + b in undecided else (values[a] > values[b]) - (values[a] < values[b])
        for a, b in combinations(values, 2)
    }


def places(pairs: dict) -> dict[str, int]:
    """The first place of each store."""
    return {store: first for store, (first, _last) in place_ranges(pairs).items()}


def test_places_where_all_is_decided():
    pairs = all_pairs({"a": 10, "b": 40, "c": 20})
    assert places(pairs) == {"b": 1, "c": 2, "a": 3}
    assert places({pair: -sign for pair, sign in pairs.items()}) == {"a": 1, "c": 2, "b": 3}
    assert list(places(pairs)) == ["b", "c", "a"]


def test_undecided_stores_share_a_place_and_the_next_one_is_left_out():
    pairs = all_pairs({"a": 40, "b": 39, "c": 20, "d": 10}, undecided={"ab"})
    assert places(pairs) == {"a": 1, "b": 1, "c": 3, "d": 4}


def test_what_is_undecided_need_not_be_transitive():
    pairs = all_pairs({"a": 40, "b": 38, "c": 36}, undecided={"ab", "bc"})
    assert places(pairs) == {"a": 1, "b": 1, "c": 2}
    ranges = place_ranges(pairs)
    assert ranges == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


def test_a_pair_may_stand_the_other_way_round():
    pairs = all_pairs({"a": 10, "b": 40, "c": 20})
    pairs["c", "a"] = 1
    del pairs["a", "c"]
    assert places(pairs) == {"b": 1, "c": 2, "a": 3}


def test_every_pair_is_needed_once():
    pairs = all_pairs({"a": 10, "b": 40, "c": 20})
    with pytest.raises(ValueError, match="every pair of a, b, c must be there once"):
        places(pairs | {("b", "a"): 1})
    del pairs["b", "c"]
    with pytest.raises(ValueError, match="every pair of a, b, c must be there once"):
        places(pairs)


def test_agreement_of_two_measured_rankings():
    one = all_pairs({"a": 40, "b": 30, "c": 20, "d": 10}, undecided={"cd"})
    other = all_pairs({"a": 30, "b": 40, "c": 5, "d": 1}, undecided={"bc"})
    result = agreement(one, other)
    assert (result.concordant, result.discordant, result.total) == (3, 1, 6)
    assert result.tau == pytest.approx((3 - 1) / 5)
    assert agreement(other, one) == result
    none = dict.fromkeys(one, 0)
    assert agreement(one, none).tau is None


def test_agreement_takes_a_pair_the_other_way_round():
    one = all_pairs({"a": 40, "b": 30, "c": 20})
    turned = {(b, a): -sign for (a, b), sign in one.items()}
    result = agreement(one, turned)
    assert (result.concordant, result.discordant, result.tau) == (3, 0, 1)


@given(st.permutations([1, 2, 3, 4]), st.permutations([1, 2, 3, 4]))
def test_agreement_as_in_scipy(first, second):
    both = [dict(zip("abcd", values, strict=True)) for values in (first, second)]
    result = agreement(*(all_pairs(values) for values in both))
    assert result.tau == pytest.approx(kendalltau(first, second).statistic)


def test_agreement_needs_the_same_stores():
    with pytest.raises(ValueError, match="the other"):
        agreement(all_pairs({"a": 1, "b": 2}), all_pairs({"a": 1, "c": 2}))
