"""The order of stores and what may be said about it."""

from __future__ import annotations

import pytest
from kvstudy.report.rank import ranking


def row(store: str, mean: float, low: float, high: float, n: int = 3) -> dict[str, str]:
    values = {"mean": mean, "min": low, "max": high, "n": n}
    texts = {key: str(value) for key, value in values.items()}
    return {"store": store, "operation": "overall", "metric": "throughput", **texts}


STORES = ["a", "b", "c"]


def rank(*rows: dict[str, str], falling: bool = True):
    return ranking(rows, "overall", "throughput", STORES, falling=falling)


def test_the_order_is_by_mean_and_the_ratio_to_the_place_before() -> None:
    first, second, third = rank(
        row("a", 100, 90, 110), row("b", 400, 390, 410), row("c", 200, 1, 9)
    )
    assert [first.store, second.store, third.store] == ["b", "c", "a"]
    assert (first.ratio, first.apart) == (None, None)
    assert (second.ratio, third.ratio) == (2, 2)


@pytest.mark.parametrize(
    ("low", "high", "apart"),
    [(80, 89, True), (80, 90, False), (80, 200, False), (95, 96, False)],
)
def test_ranges_that_touch_are_not_apart(low: float, high: float, apart: bool) -> None:
    ranks = rank(row("a", 100, 90, 110), row("b", 85, low, high))
    assert ranks[1].apart is apart


def test_one_run_has_no_range() -> None:
    assert rank(row("a", 2, 2, 2, n=1), row("b", 1, 1, 1))[1].apart is None


def test_published_values_have_no_runs() -> None:
    bare = [{"store": s, "operation": "overall", "metric": "throughput", "mean": m} for s, m in
            [("a", "1"), ("b", "2")]]  # fmt: skip
    ranks = rank(*bare)
    assert [(each.store, each.n, each.low) for each in ranks] == [("b", 0, None), ("a", 0, None)]


def test_zero_gives_no_ratio() -> None:
    assert rank(row("a", 5, 4, 6), row("b", 0, 0, 0))[1].ratio is None


def test_latencies_rise_and_stores_of_other_studies_are_left_out() -> None:
    ranks = rank(row("a", 9, 9, 9), row("b", 3, 3, 3), row("z", 1, 1, 1), falling=False)
    assert [each.store for each in ranks] == ["b", "a"]
