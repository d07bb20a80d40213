"""The paragraph of the first page on what a user of the stores may conclude."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
from kvstudy.documents.report.conclusions import MOST_PAIRS, Advantage, conclusions

COLUMNS = ["workload", "faster", "slower", "n", "decision", "in_floor"]


def concluded(*rows: tuple, stores: str = "abc", short: tuple[str, ...] = (), n: int = 3):
    """Of rows like ``("W", "a", "b", "faster")``; a fifth value is whether in the noise floor."""
    pairs = pd.DataFrame(
        [dict(zip(COLUMNS, (*row[:3], n, row[3], (*row, "no")[4]), strict=True)) for row in rows],
        columns=COLUMNS,
    )
    uses = [SimpleNamespace(name=name, short=name.upper()) for name in "vw"]
    run = SimpleNamespace(
        compared=[[*stores]],
        titles={store: store.upper() for store in stores},
        study=SimpleNamespace(workloads=uses),
        short={name: ["a"] for name in short},
        headline_analysis=SimpleNamespace(pairs=pairs),
    )
    return conclusions(run)


def test_what_is_decided_everywhere_in_part_both_ways_and_nowhere():
    result = concluded(
        ("v", "a", "b", "faster"),
        ("w", "a", "b", "faster"),
        ("v", "a", "c", "faster"),
        ("w", "c", "a", "faster"),
        ("v", "b", "c", "undecided"),
        ("w", "c", "b", "equal"),
    )
    assert result.faster == [Advantage("A", ["B"], ["V", "W"])]
    assert result.contrary == [("A", "C")]
    assert result.open == [("B", "C")]


def test_one_workload_alone_is_named():
    result = concluded(("v", "a", "b", "faster"), ("w", "a", "b", "undecided"), stores="ab")
    assert result.faster == [Advantage("A", ["B"], ["V"])]
    assert not result.open


def test_a_ratio_within_the_noise_floor_and_short_runs_decide_nothing():
    rows = [("v", "a", "b", "faster", "yes"), ("w", "a", "b", "faster")]
    result = concluded(*rows, stores="ab", short=("w",))
    assert (result.open, result.excluded) == ([("A", "B")], ["W"])
    assert concluded(*rows, stores="ab").faster == [Advantage("A", ["B"], ["W"])]


def test_nothing_is_concluded_of_one_repetition():
    assert concluded(("v", "a", "b", "undecided"), stores="ab", n=1)[:3] == ([], [], [])


def test_of_many_stores_those_with_the_fastest_are_named():
    stores = "abcde"
    rows = [
        ("v", one, other, "faster")
        for place, one in enumerate(stores)
        for other in stores[place + 1 :]
    ]
    assert len(rows) > MOST_PAIRS
    assert concluded(*rows, stores=stores).faster == [Advantage("A", ["B", "C", "D", "E"], ["V"])]
