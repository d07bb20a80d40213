"""The rule that tears bars."""

from __future__ import annotations

import math

import pytest
from kvstudy.present.drawing.bar_chart import with_broken

TWELVE_GROUPS = [10 + number % 5 for number in range(48)]
MIN_MEAN = ["min", "min", "mean", "mean"]
# Jedlička 2024, figure 4.10, which he names as his example of broken bars:
# 95th and 99th percentile of Redis, Riak KV, Aerospike, Memcached in ms.
THESIS = [1.32, 6.07, 1.19, 1.74, 2.24, 10.65, 1.77, 2.83]


def heights_torn(values, **columns):
    rows = [{"value": math.nan if value is None else value} for value in values]
    for name, column in columns.items():
        rows = [row | {name: value} for row, value in zip(rows, column, strict=True)]
    table = with_broken(rows)
    return table.loc[table["broken"] == "yes", "value"].tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([5], []),
        ([None, None], []),
        ([7, 7, 7, 7], []),
        ([0, 0, 0], []),
        ([0, 0, 5], []),
        ([3, 4, 5, 7], []),
        ([1, 1.2, 1.1, 10], [10]),
        ([10, None, 1.2, 1.1, 0], [10]),
        ([1, 1, 1, 1, 6, 30], [6, 30]),
        ([1, 1.1, 50, 60], [50, 60]),
        # More than half would be broken.
        ([1, 50, 60, 70], []),
        # Twice the next, but not three times the typical one.
        ([4, 4, 5, 10], []),
        # Three times the typical one, but close to the next.
        ([1, 1, 1, 2, 3, 4], []),
        # On the border both conditions hold.
        ([1, 1, 1.5, 3], [3]),
        ([1, 1, 1.5, 2.99], []),
        # One bar against one other is no comparison with the others.
        ([1, 30], []),
        ([1, 1, 30], [30]),
        ([*TWELVE_GROUPS[:17], 900, *TWELVE_GROUPS[18:]], [900]),
        (THESIS, [6.07, 10.65]),
        # Neither order nor unit matters.
        (THESIS[::-1], [10.65, 6.07]),
        ([1000 * value for value in THESIS], [6070, 10650]),
    ],
)
def test_heights(values, expected):
    assert heights_torn(values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "groups", "expected"),
    [
        ([0.02, 0.03, 0.18, 0.20], ["one"] * 4, [0.18, 0.20]),
        ([0.02, 0.03, 0.18, 0.20], MIN_MEAN, []),
        # A higher cut that leaves one of the group is taken instead.
        ([0.02, 0.03, 0.18, 0.60], MIN_MEAN, [0.60]),
        # One store has groups of one bar.
        ([1, 1, 1, 20], list("abci"), [20]),
    ],
)
def test_no_group_is_torn_as_a_whole(values, groups, expected):
    assert heights_torn(values, group=groups) == expected


def test_what_stays_must_show_its_whisker():
    assert heights_torn([1, 1, 1, 4], max=[1, 1, 1.2, 5]) == [4]
    assert heights_torn([1, 1, 1, 4], max=[1, 1, 2.5, 5]) == []
