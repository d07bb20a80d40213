"""The order of stores and what may be said about it."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
from kvstudy.documents.report.workloads import agreement, answers, compared_pairs, ranking, tails

from . import small_results as small


def row(store: str, mean: float, low: float, high: float, n: int = 3) -> dict:
    values = {"geometric": mean, "min": low, "max": high, "n": n}
    return {"store": store, "operation": "overall", "metric": "throughput", **values}


STORES = ["a", "b", "c"]
OF_PAIRS = ["faster", "slower", "n", "ratio", "decision", "low", "high", "would_decide"]
TESTED = {"parameters": "r1", "p": 0.2, "p_adjusted": 0.2, "in_floor": "no"}
PAIRS = pd.DataFrame(
    [
        ["b", "c", 3.0, 2.0, "faster", 1.8, 2.2, math.nan],
        ["b", "a", 3.0, 4.0, "faster", 3.0, 5.0, math.nan],
        ["a", "c", 3.0, 1.25, "undecided", 0.9, 1.6, 12.0],
    ],
    columns=OF_PAIRS,
).assign(workload="a", **TESTED)


def ranks(*rows: dict, groups: list[list[str]] = (STORES,)):
    return ranking(pd.DataFrame(rows), groups)


def test_the_order_is_by_mean_of_the_studys_stores() -> None:
    rows = [row("a", 100, 90, 110), row("b", 400, 390, 410), row("c", 101, 1, 9)]
    first, second, third = ranks(*rows, row("z", 1, 1, 1))
    assert [first.store, second.store, third.store] == ["b", "c", "a"]
    assert (first.n, first.min, first.max) == (3, 390, 410)


def test_pairs_without_a_faster_store_are_ties() -> None:
    pairs = compared_pairs(PAIRS)
    assert pairs.count == 3
    assert [(tie.faster, tie.slower, tie.comparisons) for tie in pairs.ties] == [("a", "c", 0)]
    # Significant alone, but not after the correction.
    alone = compared_pairs(PAIRS.assign(low=[1.8, 3.0, 1.1]))
    assert [tie.comparisons for tie in alone.ties] == [3]
    assert compared_pairs(PAIRS.head(0)).count == 0


def test_99th_percentiles_are_named_where_enough_operations_lie_beyond() -> None:
    rows = [
        ["b", "read", 99.0, 500.0, 100],
        ["a", "read", 99.0, 300.0, 2000],
        ["c", "read", 99.0, 100.0, 99],
        ["z", "read", 99.0, 1.0, 5000],
        ["a", "read", 95.0, 2.0, 5000],
        ["a", "update", 99.0, 9.0, 3],
    ]
    table = pd.DataFrame(rows, columns=["store", "operation", "percent", "value", "beyond"])
    assert [(tail.operation, tail.values, tail.few) for tail in tails(table, STORES)] == [
        ("read", [("a", 300.0), ("b", 500.0)], ["c"]),
        ("update", [], ["a"]),
    ]


def test_agreement_with_published_values_counts_pairs() -> None:
    published = dict(zip("abcz", (9, 7, 1, 3), strict=True))
    # b before c in both; a and b the other way round; a and c undecided; z was not measured.
    assert agreement(published, PAIRS) == (3, 1, 1, 1)
    alike = PAIRS.assign(decision="equal")
    assert agreement(published, alike) == (3, 0, 0, 3)
    assert agreement(published, PAIRS.head(0)).pairs == 0


def answered(*rows: list, stores: tuple[str, ...] = ("redis", "riak", "memcached"), **run: list):
    """Of rows: workload, faster, slower, n, ratio, decision; of the undecided twelve decide."""
    frame = pd.DataFrame(
        [
            [*row, 1.1, 9.9, 12.0 if row[3] > 1 and row[5] == "undecided" else math.nan]
            for row in rows
        ],
        columns=["workload", *OF_PAIRS],
    ).assign(**TESTED)
    analysis = SimpleNamespace(pairs=frame)
    study = small.study(stores=list(stores))
    titles = dict(zip(stores, ("Redis", "Riak", "Memcached"), strict=False))
    run = {"study": study, "titles": titles, "compared": [list(stores)], "short": {}} | run
    return answers(SimpleNamespace(headline_analysis=analysis, **run))


def test_workloads_with_the_same_answer_are_joined() -> None:
    rows = [
        ["a", "redis", "memcached", 3, 2.0, "faster"],
        ["a", "redis", "riak", 3, 8.0, "faster"],
        ["a", "memcached", "riak", 3, 4.0, "faster"],
    ]
    both = answered(*rows, *(["c", *row[1:4], row[4] + 1, row[5]] for row in rows))
    (answer,) = both.answers
    assert (answer.kind, answer.stores) == ("faster", ("Redis",))
    assert [(of.workload, of.over, of.ratio, of.low, of.high) for of in answer.of] == [
        ("A", "Memcached", 2.0, 1.1, 9.9),
        ("C", "Memcached", 3.0, 1.1, 9.9),
    ]
    assert both.last == ("Riak", 4.0, 5.0)


def test_an_answer_of_short_runs_is_separate() -> None:
    """Claims about such runs are undecided, so the first page tells them from the others."""
    rows = [[workload, "redis", "riak", 3, 2.0, "faster"] for workload in ("a", "c", "insert")]
    plain, short = answered(*rows, short={"insert": ["riak"]}).answers
    assert [(of.workload, of.short) for of in plain.of] == [("A", False), ("C", False)]
    assert [(of.workload, of.short) for of in short.of] == [("Insert", True)]


def test_who_is_first_may_be_open_or_shown_to_be_equal() -> None:
    two = ("redis", "riak")
    (answer,) = answered(["a", "redis", "riak", 3, 1.2, "undecided"], stores=two).answers
    assert (answer.kind, answer.stores) == ("undecided", ("Redis", "Riak"))
    assert [(of.runs, of.more) for of in answer.of] == [(3, 12)]
    (answer,) = answered(["a", "redis", "riak", 1, 1.2, "undecided"], stores=two).answers
    assert [(of.runs, of.more) for of in answer.of] == [(1, None)]
    (answer,) = answered(["a", "redis", "riak", 3, 1.02, "equal"], stores=two).answers
    assert (answer.kind, answer.stores) == ("equal", ("Redis", "Riak"))
    # The third is not the fastest, whatever is known of it and the second.
    (answer,) = answered(
        ["a", "redis", "riak", 3, 1.1, "undecided"],
        ["a", "redis", "memcached", 3, 2.0, "faster"],
        ["a", "riak", "memcached", 3, 1.8, "undecided"],
    ).answers
    assert answer.stores == ("Redis", "Riak")
    assert answered().answers == []


def test_runs_that_decide_between_stores_behind_do_not_count() -> None:
    """Which of two slower stores is ahead says nothing of the fastest."""
    rows = pd.DataFrame(
        [
            ["a", "redis", "riak", 2, 2.0, "undecided", 1.1, 9.9, 11.0],
            ["a", "redis", "memcached", 2, 1.8, "undecided", 1.1, 9.9, 12.0],
            ["a", "memcached", "riak", 2, 1.1, "undecided", 1.1, 9.9, 86.0],
        ],
        columns=["workload", *OF_PAIRS],
    ).assign(**TESTED)
    titles = {"redis": "Redis", "riak": "Riak", "memcached": "Memcached"}
    run = SimpleNamespace(
        headline_analysis=SimpleNamespace(pairs=rows),
        study=small.study(stores=[*titles]),
        titles=titles,
        compared=[[*titles]],
        short={},
    )
    (answer,) = answers(run).answers
    assert (len(answer.stores), answer.of[0].more) == (3, 12)


def test_embedded_stores_are_in_no_answer_of_servers() -> None:
    rows = [["a", "redis", "riak", 3, 2.0, "faster"], ["a", "rocksdb", "je", 3, 2.0, "faster"]]
    stores = ("redis", "riak", "rocksdb", "je")
    compared = [["redis", "riak"], ["rocksdb", "je"]]
    (answer,) = answered(*rows, stores=stores, compared=compared).answers
    assert answer.stores == ("Redis",)
    assert [(of.over, of.ratio) for of in answer.of] == [("Riak", 2.0)]
    values = {"redis": 4, "riak": 2, "je": 9}
    rows = [row(store, mean, mean, mean) for store, mean in values.items()]
    order = ranks(*rows, groups=compared)
    assert [(rank.store, rank.group) for rank in order] == [("redis", 0), ("riak", 0), ("je", 1)]
