"""Throughput against the 99th percentile of latency: the rows, and both forms of them."""

from __future__ import annotations

import pandas as pd
import pytest
from kvstudy.analyse.findings.repetitions import PERCENTILES
from kvstudy.exhibits.figure import plot_of
from kvstudy.layout.numbers import OTHER_SIZE

from . import small_results as small

KEYS = {"name": "tradeoff", "caption": "T", "operation": "read"}
TRADEOFF = small.figure("tradeoff", **KEYS)
LOOKS = small.looked()


def rows(beyond: int = 100) -> pd.DataFrame:
    """Of both stores that were measured; Memcached has no reads in workload C."""
    reads = [("redis", "a", 900.0), ("redis", "c", 450.0), ("memcached", "a", 5000.0)]
    percentiles = pd.DataFrame(
        [[*key, "r10_o20_t1", "read", 99.0, us, us / 2, 2 * us, 2, beyond] for *key, us in reads],
        columns=["store", "workload", *PERCENTILES.columns[2:]],
    )
    analysis = small.analysis(percentiles=percentiles)
    return TRADEOFF.rows(small.run(results=small.results(), analysis=analysis))


def test_a_row_for_each_store_and_workload_says_its_values_or_why_there_are_none():
    table = rows().set_index(["store", "workload"])
    assert len(table) == 9
    redis = table.loc["redis", "a"]
    assert (redis["latency"], redis["latency_low"], redis["latency_high"]) == (900, 450, 1800)
    assert redis["throughput"] == pytest.approx((2000 * 2200) ** 0.5)
    assert redis["throughput_low"] < redis["throughput"] < redis["throughput_high"]
    assert table.loc["riak", "a"]["note"] == "not measured"
    assert table.loc["memcached", "c"]["note"] == "not-timed operation=read"


def test_percentiles_of_too_few_operations_are_not_shown():
    table = rows(beyond=99).set_index(["store", "workload"])
    assert table["latency"].isna().all()
    assert table.loc["redis", "a"]["note"] == "few-timed operation=read"


def test_each_workload_has_a_panel_and_each_mark_both_intervals():
    figure = small.painted(TRADEOFF, rows(), LOOKS)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "Workload A: read",
        "Workload C: read",
    ]
    # One along each axis for each of three marks.
    bars = [bar for ax in figure.axes for bars in ax.collections for bar in bars.get_segments()]
    assert len(bars) == 2 * 3
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["Redis", "Memcached"]


def test_points_of_another_size_have_a_mark():
    table = rows()
    assert set(table["other_size"].dropna()) == {"no"}
    table.loc[(table["store"] == "memcached") & (table["workload"] == "a"), "other_size"] = "yes"
    figure = small.painted(TRADEOFF, table, LOOKS)
    marks = [[text.get_text() for text in ax.texts if text.get_text()] for ax in figure.axes]
    assert marks == [[OTHER_SIZE], []]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["Redis", "Memcached", "other size"]
    assert plot_of(TRADEOFF, table, LOOKS).note.endswith(f"{OTHER_SIZE}: other size.")


def test_an_axis_is_logarithmic_where_values_are_far_apart():
    scales = [
        (ax.get_xscale(), ax.get_yscale()) for ax in small.painted(TRADEOFF, rows(), LOOKS).axes
    ]
    assert scales == [("linear", "log")] * 2
    near = rows().query("store == 'redis'")
    assert small.painted(TRADEOFF, near, LOOKS).axes[0].get_yscale() == "linear"
