"""What paths to a server cost: the table, the figure, and what both are made of."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from kvstudy.analyse.findings import paths
from kvstudy.analyse.findings.paths import COLUMNS, added_latency
from kvstudy.exhibits.figure import plot_of
from kvstudy.exhibits.figures import delay
from kvstudy.exhibits.figures.delay import DelayPlot
from kvstudy.exhibits.tables.path import PathTable
from kvstudy.layout.looks import styles
from kvstudy.layout.rich_text import DASH
from kvstudy.stats.ratios import Decision

from . import small_results as small

FIGURE = small.figure("delay")
# Latency of four threads (us) at the shortest delay.
FIRST = {"redis": 100.0, "memcached": 50.0}
DELAYS = [5.0, 260.0, 790.0]
STORES = [
    {"store": store, "name": f"{store}-{delay:.0f}", "delay": round(delay)}
    for delay in DELAYS
    for store in FIRST
]


def slow_study(**keys: object):
    return small.study(
        stores=[*FIRST, *STORES], workloads=["a"], tables=[], figures=[], repetitions=3, **keys
    )


class _Run:
    """As much of a run as the exhibits ask for; threads wait ``round_trips`` times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, round_trips: float = 1.0) -> None:
        self.study = slow_study()
        self.headline = {"a": "p"}
        names = self.study.store_names
        self.titles = {name: name.title() for name in names}
        known = {use["name"]: delay for use, delay in zip(STORES, _each_twice(), strict=True)}
        self.environment = {
            "stores": {name: {"delay": {"median": value}} for name, value in known.items()}
        }
        settings = dict.fromkeys((name, "a", "p") for name in names)
        for module, name, value in (
            (delay, "threads_of", dict.fromkeys(settings, 4)),
            (delay, "mean_round_trips", dict.fromkeys(settings, round_trips)),
            (paths, "round_trips", {(name, "a", "read"): 1 for name in names}),
        ):
            monkeypatch.setattr(module, name, lambda run, value=value: value)
        speeds = {name: _speed(name.split("-")[0], known[name]) for name in known}
        self.headline_analysis = small.analysis(
            intervals=pd.DataFrame(
                [
                    [name, "a", "overall", "throughput", speed, 0.9 * speed, 1.1 * speed, 3]
                    for name, speed in speeds.items()
                ],
                columns=["store", "workload", "operation", "metric", "value", "low", "high", "n"],
            ),
            pairs=pd.DataFrame(
                [
                    ["a", one["name"], other["name"], 2.0, 1.5, 2.5, 3, Decision.FASTER]
                    for other, one in zip(STORES[::2], STORES[1::2], strict=True)
                ],
                columns=["workload", "faster", "slower", "ratio", "low", "high", "n", "decision"],
            ),
        )


def _each_twice() -> list[float]:
    return [delay for delay in DELAYS for _store in FIRST]


def _speed(store: str, micros: float, round_trips: float = 1.0) -> float:
    """What a closed loop of four threads gives in ops/s."""
    return 4e6 / (FIRST[store] + round_trips * (micros - DELAYS[0]))


@pytest.mark.parametrize("round_trips", [1.0, 2.0])
def test_the_law_is_that_of_a_closed_loop(monkeypatch, round_trips):
    rows = FIGURE.rows(_Run(monkeypatch, round_trips))
    speeds = rows[rows["panel"] == "throughput"]
    assert len(speeds) == 6
    for row in speeds.itertuples():
        assert row.law == pytest.approx(_speed(row.one, row.delay, round_trips))


def test_it_says_nothing_where_the_round_trips_are_unknown(monkeypatch):
    rows = FIGURE.rows(_Run(monkeypatch, math.nan))
    speeds = rows[rows["panel"] == "throughput"]
    # The first ones are measured.
    assert speeds["law"].notna().sum() == 0
    assert not plot_of(FIGURE, small.as_csv(rows), _looks(monkeypatch)).keys


def _looks(monkeypatch: pytest.MonkeyPatch):
    run = _Run(monkeypatch)
    return small.looked(styles(run.titles, dict.fromkeys(run.titles, "#0072b2")), run.study)


def test_ratios_are_those_of_stores_with_one_delay(monkeypatch):
    rows = FIGURE.rows(_Run(monkeypatch))
    ratios = rows[rows["panel"] == "ratio"]
    assert ratios[["one", "other"]].drop_duplicates().values.tolist() == [["redis", "memcached"]]
    # Memcached is twice as fast.
    assert ratios["value"].tolist() == [0.5] * 3
    assert ratios["low"].tolist() == pytest.approx([0.4] * 3)
    assert ratios["delay"].tolist() == DELAYS


def latencies(**stores: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            [store.replace("_", "-"), "a", "p", str(number), "read", "latency_mean", value]
            for store, values in stores.items()
            for number, value in enumerate(values, start=1)
        ],
        columns=["store", "workload", "parameters", "repetition", "operation", "metric", "value"],
    )


def test_what_a_path_adds_is_paired_by_repetition(monkeypatch):
    run = _Run(monkeypatch)
    # The machine gets slower, and what the path adds stays.
    run.own_values = latencies(redis=[100, 120, 140], redis_5=[151, 169, 190], memcached=[50])
    rows = added_latency(run, "a", "read")
    assert list(rows.columns) == COLUMNS
    rows = rows.set_index("store")
    assert math.isnan(rows.loc["redis", "added"])
    added = rows.loc["redis-5"]
    assert (added["n"], added["direct"], added["delay"]) == (3, "redis", 5.0)
    assert added["added"] == pytest.approx(50)
    assert 45 < added["low"] < 50 < added["high"] < 55


def test_an_interval_may_reach_below_0(monkeypatch):
    run = _Run(monkeypatch)
    run.own_values = latencies(redis=[100, 120, 140], redis_5=[110, 115, 150])
    run.stores = small.run().stores
    run.stores["redis"].product = "Redis"
    table = PathTable(name="ladder", kind="path", caption="C", workload="a")
    (grid,) = table.grids(table.rows(run), run)
    assert grid.lines[1].texts[2:4] == ["5.00", "-16.5 to 26.5"]


def test_one_run_has_no_interval(monkeypatch):
    run = _Run(monkeypatch)
    run.own_values = latencies(redis=[100], redis_5=[151])
    rows = added_latency(run, "a", "read").set_index("store")
    assert rows.loc["redis-5", "added"] == 51
    assert math.isnan(rows.loc["redis-5", "low"])
    table = PathTable(name="ladder", kind="path", caption="C", workload="a")
    run.stores = small.run().stores
    run.stores["redis"].product = "Redis"
    (grid,) = table.grids(rows.reset_index(), run)
    assert [line.texts for line in grid.lines] == [
        ["1", "100", DASH, DASH, DASH],
        ["1", "151", "51.0", "one run", "5.00"],
    ]
    assert grid.sections[0].title == "Redis"
    assert "One operation is one round trip." in grid.notes


def example() -> pd.DataFrame:
    """Rows of the figure, for the tests of all figures."""
    with pytest.MonkeyPatch.context() as patch:
        rows = DelayPlot.rows(FIGURE, _Run(patch))
    return rows.assign(store=rows["one"])
