"""The lines of the first page on two stores that a table compares."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.documents.report.comparisons import Failures, comparison_facts

COLUMNS = ["workload", "faster", "slower", "n", "ratio", "low", "high", "decision", "in_floor"]
SHARES = [f"{of}failed_{side}" for of in ("", "published_") for side in ("baseline", "store")]
NONE = (0.0, 0.0, math.nan, math.nan)
# Of a third store, without which the answers on the fastest one would do.
THIRD = ("v", "third", "strong", 3, 9.0, 8.0, 10.0, "faster", "no")


def facts(*pairs: tuple, failed: str = "", shares: tuple[float, ...] = NONE, short=None):
    """Of rows of ``pairs`` on the workloads v and w, and of what failed in all of them."""
    row = pd.DataFrame([[failed, *shares]], columns=["failed_operation", *SHARES])
    table = SimpleNamespace(baseline="strong", store="eventual", rows=lambda run: row)
    uses = [SimpleNamespace(name=name, short=name.upper()) for name in "vw"]
    study = SimpleNamespace(workloads=uses, tables_of={"comparison": [table]}.get)
    frame = pd.DataFrame(pairs, columns=COLUMNS)
    analysis = SimpleNamespace(pairs=frame)
    run = SimpleNamespace(study=study, headline_analysis=analysis, short=short or {})
    return comparison_facts(run)


def test_ratios_are_the_stores_by_the_baselines_and_what_is_open_is_named():
    (of,) = facts(
        THIRD,
        ("v", "strong", "eventual", 3, 2.0, 1.6, 2.5, "faster", "no"),
        ("w", "eventual", "strong", 3, 1.1, 0.9, 1.3, "undecided", "no"),
    )
    assert [tuple(one) for one in of.decided] == [
        ("V", 0.5, pytest.approx(0.4), pytest.approx(0.625))
    ]
    assert of.open == ["W"]
    assert of.failures is None


def test_a_ratio_within_the_noise_floor_and_equal_stores_are_open():
    (of,) = facts(
        THIRD,
        ("v", "eventual", "strong", 3, 1.2, 1.1, 1.3, "faster", "yes"),
        ("w", "eventual", "strong", 3, 1.0, 0.99, 1.01, "equal", ""),
    )
    assert (of.decided, of.open) == ([], ["V", "W"])


def test_short_runs_of_the_two_are_left_out():
    rows = [
        ("v", "eventual", "strong", 3, 2.0, 1.6, 2.5, "faster", "no"),
        ("w", "eventual", "strong", 3, 2.0, 1.6, 2.5, "faster", "no"),
    ]
    (of,) = facts(THIRD, *rows, short={"v": ["third"], "w": ["third", "strong"]})
    assert [one.workload for one in of.decided] == ["V"]


@pytest.mark.parametrize(
    "pairs",
    [
        # The only two stores.
        [("v", "eventual", "strong", 3, 2.0, 1.6, 2.5, "faster", "no")],
        # One repetition.
        [THIRD, ("v", "eventual", "strong", 1, 2.0, math.nan, math.nan, "undecided", "")],
        [THIRD],
        [],
    ],
)
def test_nothing_is_said_where_the_page_says_it_already_or_nothing_is_known(pairs):
    assert facts(*pairs) == []


@pytest.mark.parametrize(
    ("published", "shown"), [((0.05, 0.0), (0.05, 0.0)), ((0.05, math.nan), None)]
)
def test_failures_are_those_of_all_workloads(published, shown):
    (of,) = facts(
        THIRD,
        ("v", "eventual", "strong", 3, 2.0, 1.6, 2.5, "faster", "no"),
        failed="update",
        shares=(0.0018, 0.0, *published),
    )
    assert of.failures == Failures("updates", 0.0018, 0.0, shown)
