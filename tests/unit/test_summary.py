"""Summaries over repetitions, with numbers that can be checked by hand."""

from __future__ import annotations

import io
from math import isnan, nan

import pandas as pd
import pytest
from kvstudy.analyse.tidy.files import CELLS as TABLE
from kvstudy.analyse.tidy.files import MEASUREMENTS, SUMMARY
from kvstudy.analyse.tidy.summary import (
    mean_over_workloads,
    over_workloads,
    shown_mean,
    summarise,
)
from kvstudy.errors import KvstudyError

from . import small_results as small

CELLS = """\
store,workload,parameters,repetition,status,reason,invalid
redis,a,r1_o2_t1,1,measured,,
redis,a,r1_o2_t1,2,measured,,
redis,a,r1_o2_t1,3,measured,,
"""
HEAD = "store,workload,parameters,repetition,phase,operation,metric,unit,value\n"
A = "redis,a,r1_o2_t1"


def table(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def measured(*lines: str) -> pd.DataFrame:
    frame = table(HEAD + "\n".join(lines) + "\n")
    frame["value"] = frame["value"].astype(float)
    return frame


def overall(*values: float) -> list[str]:
    return [
        f"{A},{number},run,overall,throughput,ops/s,{value}"
        for number, value in enumerate(values, 1)
    ]


def summary(measurements: pd.DataFrame, cells: str = CELLS) -> pd.DataFrame:
    result = summarise(measurements, table(cells), ["redis", "riak"], ["a", "insert"])
    return result.set_index(["store", "workload", "operation", "metric"])


@pytest.mark.parametrize(
    ("values", "mean", "sd", "cv"),
    [
        ([10, 12, 17], 13, 13**0.5, 13**-0.5),  # (9 + 1 + 16) / 2
        ([10], 10, nan, nan),
        ([0, 0, 0], 0, 0, nan),
    ],
)
def test_mean_spread_and_range(values, mean, sd, cv):
    cells = "\n".join(CELLS.splitlines()[: 1 + len(values)])
    row = summary(measured(*overall(*values)), cells).loc["redis", "a", "overall", "throughput"]
    assert (row["n"], row["mean"]) == (len(values), mean)
    assert [row["sd"], row["cv"]] == pytest.approx([sd, cv], nan_ok=True)
    assert (row["min"], row["max"]) == (min(values), max(values))


@pytest.mark.parametrize(
    ("values", "geometric"), [([1000, 4000], 2000), ([1234.5], 1234.5), ([0, 10, 10], 0)]
)
def test_rates_have_a_geometric_mean_and_times_have_none(values, geometric):
    cells = "\n".join(CELLS.splitlines()[: 1 + len(values)])
    times = [line.replace("throughput,ops/s", "runtime,ms") for line in overall(*values)]
    result = summary(measured(*overall(*values), *times), cells).loc["redis", "a", "overall"]
    assert result.loc["throughput", "geometric"] == pytest.approx(geometric)
    assert isnan(result.loc["runtime", "geometric"])
    shown = shown_mean(result)
    assert shown["throughput"] == pytest.approx(geometric)
    assert shown["runtime"] == sum(values) / len(values)


def test_the_mean_of_the_workloads_is_plain_only_beside_a_source():
    for source, mean in (("default", 2500), (None, 2000)):
        study = small.study(**({} if source else {"source": None}))
        rows = pd.DataFrame(
            [[*("redis", name, "r1", "1"), value] for name, value in (("a", 1000), ("c", 4000))],
            columns=["store", "workload", "parameters", "repetition", "value"],
        ).assign(phase="run", operation="overall", metric="throughput", unit="ops/s")
        result = over_workloads(rows, ["a", "c"], None, mean_over_workloads(study))
        assert result["value"].tolist() == pytest.approx([mean])


@pytest.mark.parametrize(
    ("status", "invalid"),
    [("failed", ""), ("not measured", ""), ("measured", "2 % failed updates")],
)
def test_a_cell_that_does_not_count_is_not_in_n(status, invalid):
    cells = CELLS.replace("2,measured,,", f"2,{status},why,{invalid}")
    lines = overall(10, 12, 17)
    if status != "measured":
        del lines[1]
    row = summary(measured(*lines), cells).loc["redis", "a", "overall", "throughput"]
    assert row["n"] == 2
    assert row["mean"] == 13.5


def test_combined_row_is_the_plain_mean_of_each_repetition():
    lines = overall(1, 1, 1)
    for repetition, (read, update) in enumerate([(10, 20), (30, 10), (20, 60)], 1):
        lines += [
            f"{A},{repetition},run,read,latency_mean,us,{read}",
            f"{A},{repetition},run,update,latency_mean,us,{update}",
            # Far more reads than updates: the mean must not be weighted by them.
            f"{A},{repetition},run,read,operations,count,950",
            f"{A},{repetition},run,update,operations,count,{50 + repetition}",
        ]
    result = summary(measured(*lines))
    latency = result.loc["redis", "a", "read+update", "latency_mean"]
    assert (latency["n"], latency["mean"]) == (3, 25)
    assert (latency["min"], latency["max"]) == (15, 40)
    count = result.loc["redis", "a", "read+update", "operations"]
    assert (count["min"], count["mean"], count["max"]) == (1001, 1002, 1003)
    assert count["unit"] == "count"


def test_no_combined_value_from_an_incomplete_repetition():
    lines = [
        f"{A},{repetition},run,{operation},latency_mean,us,{value}"
        for repetition, operation, value in [
            *[(1, "read", 1), (1, "update", 3), (2, "read", 5), (3, "read", 4), (3, "update", 8)]
        ]
    ]
    row = summary(measured(*lines)).loc["redis", "a", "read+update", "latency_mean"]
    assert (row["n"], row["min"], row["max"]) == (2, 2, 6)


def test_read_modify_write_does_not_count_twice():
    lines = [
        f"{A},{repetition},run,{operation},latency_mean,us,{value}"
        for repetition in (1, 2, 3)
        for operation, value in [("read", 2), ("read-modify-write", 100), ("update", 4)]
    ]
    row = summary(measured(*lines)).loc["redis", "a", "read+update", "latency_mean"]
    assert row["mean"] == 3


def test_one_operation_has_no_combined_row():
    lines = [f"{A},{number},run,read,latency_mean,us,1" for number in (1, 2, 3)]
    operations = summary(measured(*lines)).index.get_level_values("operation")
    assert set(operations) == {"read"}


def test_the_measured_phase_is_the_load_only_where_there_is_no_run():
    cells = CELLS + "redis,insert,r9_o0_t1,1,measured,,\n"
    load = [line.replace(",run,", ",load,") for line in overall(900, 900, 900)]
    insert = ["redis,insert,r9_o0_t1,1,load,overall,throughput,ops/s,7"]
    result = summary(measured(*overall(1, 2, 3), *load, *insert), cells)
    assert result.loc["redis", "a", "overall", "throughput"]["mean"] == 2
    assert result.loc["redis", "insert", "overall", "throughput"]["mean"] == 7


def test_a_store_that_was_not_measured_has_no_rows():
    cells = CELLS + "riak,a,r1_o2_t1,1,not measured,no server,\n"
    result = summary(measured(*overall(1, 2, 3)), cells)
    assert "riak" not in result.index.get_level_values("store")


def test_nothing_measured_at_all():
    cells = "\n".join([CELLS.splitlines()[0], "redis,a,r1_o2_t1,1,failed,no memory,"])
    assert len(summary(measured(), cells)) == 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (overall(1, 2), "redis/a/r1_o2_t1/rep3 is measured, but has no"),
        (overall(1, 2, 3, 4), "redis/a/r1_o2_t1/rep4 is not among the planned"),
        (overall(1, 2, 3) + overall(1), "is twice: run overall throughput"),
    ],
)
def test_values_that_do_not_go_with_the_cells_are_an_error(lines, message):
    with pytest.raises(KvstudyError, match=message):
        summary(measured(*lines))


def test_files_with_faults_are_named(tmp_path):
    path = tmp_path / "cells.csv"
    with pytest.raises(KvstudyError, match=r"cells\.csv: no such file"):
        TABLE.read(tmp_path)
    path.write_text("")
    with pytest.raises(KvstudyError, match=r"cells\.csv: not a CSV file"):
        TABLE.read(tmp_path)
    path = tmp_path / "measurements.csv"
    path.write_text("store,workload\nredis,a\n")
    with pytest.raises(KvstudyError, match=r"no column parameters, repetition"):
        MEASUREMENTS.read(tmp_path)
    path.write_text(HEAD + overall(1)[0] + "\n" + f"{A},1,run,read,latency_max,us,many\n")
    with pytest.raises(KvstudyError, match=r"\.csv: line 3, column value: 'many' is no number"):
        MEASUREMENTS.read(tmp_path)


def test_summary_survives_its_file(tmp_path):
    path = tmp_path / "summary.csv"
    before = summarise(measured(*overall(10, 12, 17)), table(CELLS), ["redis"], ["a"])
    before.to_csv(path, index=False)
    after = SUMMARY.read(tmp_path)
    assert after.loc[0, "sd"] == before.loc[0, "sd"]
    assert list(after.columns) == list(before.columns)
