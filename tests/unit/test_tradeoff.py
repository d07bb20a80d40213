"""Throughput against the 99th percentile of latency: the rows, and both forms of them."""

from __future__ import annotations

import pandas as pd
import pytest
from kvstudy.analyse.findings.percentiles import TABLE as PERCENTILES
from kvstudy.errors import KvstudyError
from kvstudy.present.figures.tradeoff import Tradeoff

from . import small_results as small

KEYS = {"name": "tradeoff", "caption": "T", "workloads": ["a", "c"], "operation": "read"}
TRADEOFF = small.figure("tradeoff", **KEYS)


def rows() -> pd.DataFrame:
    """Of both stores that were measured; Memcached has no reads in workload C."""
    reads = [("redis", "a", 900.0), ("redis", "c", 450.0), ("memcached", "a", 5000.0)]
    percentiles = pd.DataFrame(
        [[*key, "r10_o20_t1", "read", 99.0, us, us / 2, 2 * us, 2, 10] for *key, us in reads],
        columns=["store", "workload", *PERCENTILES.columns[2:]],
    )
    analysis = small.analysis(percentiles=percentiles)
    return TRADEOFF.rows(small.run(results=small.results(), analysis=analysis))


def test_a_row_for_each_store_and_workload_says_its_values_or_why_there_are_none():
    table = rows().set_index(["store", "workload"])
    assert len(table) == 6
    redis = table.loc["redis", "a"]
    assert (redis["latency"], redis["latency_low"], redis["latency_high"]) == (900, 450, 1800)
    assert redis["throughput"] == pytest.approx((2000 * 2200) ** 0.5)
    assert redis["throughput_low"] < redis["throughput"] < redis["throughput_high"]
    assert table.loc["riak", "a"]["note"] == "not measured"
    assert table.loc["memcached", "c"]["note"] == "not-timed operation=read"


def test_each_mark_has_both_intervals():
    figure = TRADEOFF.draw(rows(), small.looked())
    (ax,) = figure.axes
    assert len(ax.containers) == 3
    assert [len(bar.lines[2]) for bar in ax.containers] == [2, 2, 2]
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["Redis", "Memcached", "A", "C"]


def test_nothing_to_show_is_said():
    none = rows().iloc[:0]
    (ax,) = TRADEOFF.draw(none, small.looked()).axes
    assert "nothing was measured" in [text.get_text() for text in ax.texts]
    assert TRADEOFF.chart(none, small.looked()).note == "nothing was measured"


def test_a_workload_that_the_study_has_not_is_refused(tmp_path):
    figure = Tradeoff(kind="tradeoff", **KEYS | {"workloads": ["b"]})
    with pytest.raises(KvstudyError, match=r"figures\[0\].workload: unknown workload 'b'"):
        figure.check(small.study(), tmp_path / "study.yaml", "figures[0]")
