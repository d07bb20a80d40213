"""The rule that tears bars."""

from __future__ import annotations

import pandas as pd
import pytest
from kvstudy.present.drawing.bar_chart import with_broken


def heights_torn(values, tops=None, groups=None):
    rows = pd.DataFrame({"value": values, "max": tops, "group": groups}, dtype=object)
    table = with_broken(rows.astype({"value": float, "max": float}).to_dict("records"))
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
    ],
)
def test_heights(values, expected):
    assert heights_torn(values) == expected


def test_twelve_groups_with_one_outlier():
    values = [float(10 + number % 5) for number in range(48)]
    values[17] = 900.0
    assert heights_torn(values) == [900]


def test_order_and_unit_do_not_matter():
    values = [1.27, 6.76, 1.12, 1.39, 1.90, 11.9, 1.54, 1.85]
    assert heights_torn(values) == [6.76, 11.9]
    assert heights_torn(values[::-1]) == [11.9, 6.76]
    assert heights_torn([1000 * value for value in values]) == [6760, 11900]


def test_published_figure_that_the_thesis_tears():
    # Jedlička 2024, figure 4.10, which he names as his example of broken bars:
    # 95th and 99th percentile of Redis, Riak KV, Aerospike, Memcached in ms.
    values = [1.32, 6.07, 1.19, 1.74, 2.24, 10.65, 1.77, 2.83]
    assert heights_torn(values) == [6.07, 10.65]


def test_no_group_is_torn_as_a_whole():
    values, groups = [0.02, 0.03, 0.18, 0.20], ["min", "min", "mean", "mean"]
    assert heights_torn(values) == [0.18, 0.20]
    assert heights_torn(values, None, groups) == []
    # A higher cut that leaves one of the group is taken instead.
    values = [0.02, 0.03, 0.18, 0.60]
    assert heights_torn(values, None, groups) == [0.60]


def test_one_store_has_groups_of_one_bar():
    values = [1, 1, 1, 20]
    assert heights_torn(values, None, list("abci")) == [20]


def test_what_stays_must_show_its_whisker():
    assert heights_torn([1, 1, 1, 4], [1, 1, 1.2, 5]) == [4]
    assert heights_torn([1, 1, 1, 4], [1, 1, 2.5, 5]) == []
