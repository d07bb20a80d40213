"""Intervals, ratios and the order of runs, from tidy tables."""

import math

import pandas as pd
import pytest
from kvstudy.analyse.findings.over_time import drift_of, order, out_of_order, steadiness
from kvstudy.analyse.findings.pairs import pairs
from kvstudy.analyse.findings.repetitions import intervals, percentiles, pool, trimmed
from kvstudy.analyse.findings.spread import spread_of
from kvstudy.analyse.tidy.files import MEASUREMENTS, SERIES
from kvstudy.analyse.tidy.histograms import read_histograms
from kvstudy.analyse.tidy.summary import over_workloads
from kvstudy.errors import DataError
from kvstudy.layout.rich_text import DASH
from kvstudy.stats.intervals import geometric_mean
from kvstudy.study.parts import MEAN
from pydantic import ValidationError

from tests.histogram_rows import histograms
from tests.unit import small_results as small

# Operations per second of three repetitions.
SPEED = {
    "fast": (200.0, 210.0, 220.0),
    "slow": (100.0, 104.0, 111.0),
    "near": (101.0, 102.0, 112.0),
}
# One of five was disturbed.
RUNS = (100.0, 104.0, 106.0, 110.0, 500.0)


def tables(speeds: dict[str, tuple[float, ...]] = SPEED) -> tuple[pd.DataFrame, pd.DataFrame]:
    values, cells = [], []
    runs = max(len(each) for each in speeds.values())
    for repetition in range(1, runs + 1):
        for place, (store, each) in enumerate(speeds.items(), start=1):
            if len(each) < repetition:
                continue
            key = [store, "a", "p", str(repetition)]
            position = (repetition - 1) * len(speeds) + place
            started = f"2026-01-01T00:{position:02d}:00+00:00"
            cells.append([*key, "measured", "", "", str(position), started])
            values.append([*key, "run", "overall", "throughput", "ops/s", each[repetition - 1]])
    return (
        pd.DataFrame(values, columns=MEASUREMENTS.columns),
        pd.DataFrame(cells, columns=small.CELL_COLUMNS),
    )


def test_interval_of_a_mean():
    row = intervals(tables()[0]).set_index("store").loc["fast"]
    logs = [math.log(x) for x in SPEED["fast"]]
    mean = sum(logs) / 3
    half = 4.302653 * math.sqrt(sum((x - mean) ** 2 for x in logs) / 2 / 3)
    assert row[["value", "low", "high"]].tolist() == pytest.approx(
        [math.exp(mean), math.exp(mean - half), math.exp(mean + half)], rel=1e-5
    )
    assert row.n == 3
    assert row["cv"] == pytest.approx(10 / 210)


def test_ratios_name_the_faster_store_first_and_what_is_decided():
    result = pairs(spread_of(tables()[0], paired=True), [*SPEED]).set_index(["faster", "slower"])
    assert set(result.index) == {("fast", "slow"), ("fast", "near"), ("slow", "near")}
    assert (result["ratio"] >= 1).all()
    assert result.loc[("fast", "slow"), "decision"] == "faster"
    assert result.loc[("slow", "near"), "decision"] == "equal"
    assert (result["p_adjusted"] >= result["p"]).all()


def test_one_run_has_neither_interval_nor_verdict():
    values, cells = tables({"fast": (200.0,), "slow": (100.0,)})
    (row,) = pairs(spread_of(values, paired=True), [*SPEED]).itertuples()
    assert row.ratio == pytest.approx(2)
    assert row.decision == "undecided"
    assert math.isnan(row.would_decide)
    assert intervals(values)["low"].isna().all()
    assert order(values, cells)["residual"].isna().all()
    assert drift_of(order(values, cells))["reason"] == "few-repeated"


@pytest.mark.parametrize(("plain", "geometric"), [(False, True), (True, False)])
def test_the_interval_of_a_geometric_mean_over_workloads_is_that_of_the_workloads_ratios(
    plain, geometric
):
    """A plain mean follows the workload with the larger numbers more."""
    quick, _cells = tables()
    rows = [quick]
    rows += [quick.assign(workload="b", value=[3.0, 2.0, 1.9, 3.1, 1.9, 2.0, 3.5, 2.1, 1.8])]
    both = pd.concat(rows, ignore_index=True)
    shown = {"a": "p", "b": "p"}
    over = over_workloads(both, ["a", "b"], shown, "mean" if plain else geometric_mean)
    spread = spread_of(pd.concat([both, over]), True, shown, plain)
    mean = spread.ratio((MEAN, "all"), "fast", "slow")
    of_both = spread.mean_ratio([("a", "p"), ("b", "p")], "fast", "slow")
    same = (mean.value, mean.low, mean.high) == pytest.approx(
        (of_both.value, of_both.low, of_both.high)
    )
    assert same is geometric


def test_nothing_measured_gives_empty_tables():
    values, cells = tables()
    none = values.head(0)
    assert intervals(none).empty
    assert pairs(spread_of(none, paired=True), [*SPEED]).empty
    assert order(none, cells.head(0)).empty


def test_a_cell_measured_again_is_out_of_order():
    values, cells = tables()
    cells.loc[cells["position"] == "2", "started"] = "2026-01-02T00:00:00+00:00"
    table = order(values, cells)
    assert table["sequence"].tolist() == list(range(1, 10))
    assert out_of_order(table)["position"].tolist() == [2]
    assert table["position"].iloc[-1] == 2


def test_repetitions_of_a_cluster_are_in_order_each_by_itself():
    values, cells = tables()
    first = cells["repetition"] == "1"
    cells.loc[first, "started"] = [f"2026-01-02T00:0{minute}:00+00:00" for minute in (0, 2, 1)]
    table = order(values, cells)
    assert set(out_of_order(table)["repetition"]) == {"1"}
    assert len(out_of_order(table)) == 3
    assert out_of_order(table, blocks=True)["position"].tolist() == [2]


def test_a_machine_that_slows_down_drifts():
    slower = {f"s{store}": tuple(100 * 0.97**run for run in range(6)) for store in range(4)}
    result = drift_of(order(*tables(slower)))
    assert result["rho"] < -0.9
    assert result["p"] < 0.01
    assert result["n"] == 24


def test_steadiness_of_each_run():
    warm = [10.0] * 5 + [100.0, 101.0] * 20
    rows = [["redis", "a", "p", "1", "run", second, rate] for second, rate in enumerate(warm, 1)]
    rows += [["redis", "a", "p", "2", "run", second, 50.0] for second in (1, 2)]
    table = steadiness(pd.DataFrame(rows, columns=SERIES.columns)).set_index("repetition")
    assert table.loc["1", ["seconds", "cut", "verdict"]].tolist() == [45, 5, "steady"]
    assert table.loc["1", "steady"] == pytest.approx(100.5)
    assert table.loc["1", "whole"] == pytest.approx(90.44, abs=0.01)
    assert table.loc["2", "verdict"] == "too short to judge"


def test_percentiles_are_those_of_all_runs_together():
    rows = []
    for repetition, latency in (("1", 10.0), ("2", 1000.0)):
        rows.append(["redis", "a", "p", repetition, "run", "read", latency, 600.0])
    pooled = pool(read_histograms(histograms(rows)))
    table = percentiles(pooled).set_index("percent")
    assert table.loc[50.0, ["value", "low", "high", "n", "beyond"]].tolist() == [
        *[10.0, 10.0, 1000.0, 2, 600]
    ]
    assert table.loc[99.0, "value"] == 1000
    assert table.loc[99.0, "beyond"] == 12


@pytest.mark.parametrize(
    ("column", "text", "problem"),
    [("counts", "600 1", "1 latencies, 2 counts"), ("latencies", "1o", "unmatched data")],
)
def test_a_broken_histogram_is_named(column, text, problem):
    table = histograms([["redis", "a", "p", "1", "run", "read", 10, 600]]).assign(**{column: text})
    with pytest.raises(DataError, match=rf"redis/a/p/rep1, read: .*{problem}.*`kvstudy parse`"):
        pool(read_histograms(table))


def test_repetitions_that_share_only_a_number_are_not_paired():
    """Runs of imported logs: a store without a common repetition is compared too."""
    present, here = (
        pairs(spread_of(tables()[0], paired), [*SPEED]).set_index(["faster", "slower"])
        for paired in (False, True)
    )
    # All three rise together, which a repetition's stores share only if they are paired.
    row, paired = present.loc[("fast", "slow")], here.loc[("fast", "slow")]
    assert row["ratio"] == pytest.approx(paired["ratio"])
    assert math.log(row["high"] / row["low"]) > 1.5 * math.log(paired["high"] / paired["low"])
    apart, _ = tables({"fast": (200.0, 210.0, 220.0, 230.0), "slow": (100.0,)})
    assert pairs(spread_of(apart, paired=False), [*SPEED]).iloc[0].ratio == pytest.approx(
        (200 * 210 * 220 * 230) ** 0.25 / 100
    )


def test_runs_without_a_time_have_no_place_in_the_order():
    values, cells = tables()
    cells["position"] = ""
    assert order(values, cells)["position"].tolist() == list(range(1, 10))
    some = cells.assign(started=cells["started"].where(cells["repetition"] == "1", ""))
    assert len(order(values, some)) == 3
    none = cells.assign(started="")
    assert len(order(values, none)) == 0
    assert drift_of(order(values, none))["reason"] == "no-times"


def test_the_disturbed_run_is_dropped_and_the_plain_mean_stays_beside_it():
    table = trimmed(tables({"redis": RUNS})[0])
    (row,) = table.itertuples()
    assert (row.n, row.mean) == (5, 184)
    assert row.trimmed == pytest.approx((104 + 106 + 110) / 3)
    assert row.low < row.trimmed < row.high
    study = small.study(repetitions=5, trimmed_mean=True)
    (grid,) = small.table("trimmed").grids(table, small.run(study=study))
    (line,) = grid.lines
    assert line.texts[:2] == ["184.0", "106.7"]
    assert line.texts[3:] == [DASH] * 3
    # There must be five that count.
    assert trimmed(tables({"redis": RUNS[:4]})[0]).empty


def test_a_study_of_few_repetitions_cannot_ask_for_it():
    with pytest.raises(ValidationError, match="needs 5 repetitions or more, there are 2"):
        small.study(trimmed_mean=True)
    names = [table.name for table in small.study(repetitions=5, trimmed_mean=True).tables]
    assert "trimmed" in names
    assert "trimmed" not in [table.name for table in small.study().tables]
