"""Places where pairs are undecided, and agreement of two rankings."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.stats.ranks import agreement, agreement_of_runs, places
from scipy.stats import kendalltau


def all_pairs(values: dict[str, float], undecided: set[str] = frozenset()) -> dict:
    """The order of all pairs; ``undecided`` names pairs such as "ab"."""
    return {
        (a, b): 0 if a + b in undecided else (values[a] > values[b]) - (values[a] < values[b])
        for a, b in combinations(values, 2)
    }


def test_places_where_all_is_decided():
    pairs = all_pairs({"a": 10, "b": 40, "c": 20})
    assert places(pairs, larger_is_better=True) == {"b": 1, "c": 2, "a": 3}
    assert places(pairs, larger_is_better=False) == {"a": 1, "c": 2, "b": 3}
    assert list(places(pairs, larger_is_better=True)) == ["b", "c", "a"]


def test_undecided_stores_share_a_place_and_the_next_one_is_left_out():
    pairs = all_pairs({"a": 40, "b": 39, "c": 20, "d": 10}, undecided={"ab"})
    assert places(pairs, larger_is_better=True) == {"a": 1, "b": 1, "c": 3, "d": 4}


def test_what_is_undecided_need_not_be_transitive():
    pairs = all_pairs({"a": 40, "b": 38, "c": 36}, undecided={"ab", "bc"})
    assert places(pairs, larger_is_better=True) == {"a": 1, "b": 1, "c": 2}


def test_a_pair_may_stand_the_other_way_round():
    pairs = all_pairs({"a": 10, "b": 40, "c": 20})
    pairs["c", "a"] = 1
    del pairs["a", "c"]
    assert places(pairs, larger_is_better=True) == {"b": 1, "c": 2, "a": 3}


def test_every_pair_is_needed_once():
    pairs = all_pairs({"a": 10, "b": 40, "c": 20})
    with pytest.raises(ValueError, match="ratio of a and b must be there once"):
        places(pairs | {("b", "a"): 1}, larger_is_better=True)
    del pairs["b", "c"]
    with pytest.raises(ValueError, match="ratio of b and c must be there once"):
        places(pairs, larger_is_better=True)


@pytest.mark.parametrize(
    ("published", "measured", "undecided", "tau", "concordant", "discordant"),
    [
        # R: cor(published, measured, method = "kendall")
        ([4, 3, 2, 1], [40, 30, 20, 10], set(), 1, 6, 0),
        ([4, 3, 2, 1], [10, 20, 30, 40], set(), -1, 0, 6),
        ([4, 3, 2, 1], [20, 10, 10, 10], set(), 0.707106781187, 3, 0),
        ([4, 3, 2, 1], [30, 40, 20, 10], set(), 2 / 3, 5, 1),
        # Not transitive, so no ranks: (C - D)/√(U1·U2) = 4/√(6·4).
        ([4, 3, 2, 1], [40, 39, 38, 10], {"ab", "bc"}, 4 / 24**0.5, 4, 0),
    ],
)
def test_agreement(published, measured, undecided, tau, concordant, discordant):
    stores = "abcd"
    pairs = all_pairs(dict(zip(stores, measured, strict=True)), undecided)
    found = agreement(dict(zip(stores, published, strict=True)), pairs)
    assert found.tau == pytest.approx(tau)
    assert (found.concordant, found.discordant, found.total) == (concordant, discordant, 6)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=7))
def test_tau_as_in_scipy(values):
    names = [str(number) for number in range(len(values))]
    published = {name: value[0] for name, value in zip(names, values, strict=True)}
    measured = {name: value[1] for name, value in zip(names, values, strict=True)}
    found = agreement(published, all_pairs(measured))
    expected = kendalltau(list(published.values()), list(measured.values())).statistic
    if found.tau is None:
        assert len(set(published.values())) == 1 or len(set(measured.values())) == 1
    else:
        assert found.tau == pytest.approx(expected)


def test_the_order_of_stores_does_not_matter():
    published = {"d": 1, "a": 4, "c": 2, "b": 3}
    pairs = all_pairs({"a": 40, "b": 39, "c": 20, "d": 10}, undecided={"ab"})
    assert agreement(published, pairs) == agreement(dict(sorted(published.items())), pairs)


def test_nothing_decided_has_no_tau():
    found = agreement({"a": 2, "b": 1}, all_pairs({"a": 2, "b": 1}, undecided={"ab"}))
    assert (found.tau, found.concordant, found.discordant, found.total) == (None, 0, 0, 1)


@pytest.mark.parametrize(
    ("published", "message"),
    [
        ({"a": 1, "c": 2}, "not the same"),
        ({"a": 1}, "not the same"),
        ({"a": 1, "b": float("nan")}, "published values: nan"),
        ({"a": 1, "b": 0}, "published values: 0"),
    ],
)
def test_published_values_that_do_not_fit(published, message):
    with pytest.raises(ValueError, match=message):
        agreement(published, all_pairs({"a": 2, "b": 1}))


def test_agreement_of_two_measured_rankings():
    one = all_pairs({"a": 40, "b": 30, "c": 20, "d": 10}, undecided={"cd"})
    other = all_pairs({"a": 30, "b": 40, "c": 5, "d": 1}, undecided={"bc"})
    found = agreement_of_runs(one, other)
    assert (found.concordant, found.discordant, found.total) == (3, 1, 6)
    assert found.tau == pytest.approx((3 - 1) / 5)
    assert agreement_of_runs(other, one) == found


def test_agreement_of_runs_takes_a_pair_the_other_way_round():
    one = all_pairs({"a": 40, "b": 30, "c": 20})
    turned = {(b, a): -sign for (a, b), sign in one.items()}
    found = agreement_of_runs(one, turned)
    assert (found.concordant, found.discordant, found.tau) == (3, 0, 1)


@given(st.permutations([1, 2, 3, 4]), st.permutations([1, 2, 3, 4]))
def test_agreement_of_runs_as_in_scipy(first, second):
    both = [dict(zip("abcd", values, strict=True)) for values in (first, second)]
    found = agreement_of_runs(*(all_pairs(values) for values in both))
    assert found.tau == pytest.approx(kendalltau(first, second).statistic)


def test_agreement_of_runs_needs_the_same_stores():
    with pytest.raises(ValueError, match="the other"):
        agreement_of_runs(all_pairs({"a": 1, "b": 2}), all_pairs({"a": 1, "c": 2}))
