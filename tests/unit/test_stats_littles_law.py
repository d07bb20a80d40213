"""Audits of tables by Little's law, on real logs and on published numbers."""

from pathlib import Path

import pytest
from kvstudy.analyse.tidy.results import read_published
from kvstudy.logs.ycsb.log import parse
from kvstudy.stats.laws import CLIENT_BELOW, IMPOSSIBLE_ABOVE, in_call, weighted_latency

DATA = Path(__file__).parents[1] / "data" / "ycsb"
STUDIES = Path(__file__).parents[2] / "config" / "studies"


def test_a_real_run():
    log = parse((DATA / "redis-workloada-run-r3.out").read_text(), "run.out")
    latency = weighted_latency(
        {name: section.latencies["latency_mean"] for name, section in log.sections.items()},
        {name: section.operations for name, section in log.sections.items()},
    )
    found = in_call(log.throughput, latency, 4)
    assert latency == pytest.approx(68.9, abs=0.1)
    assert found == pytest.approx(0.86, abs=0.005)


@pytest.mark.parametrize(
    ("store", "workload", "share"),
    [
        ("redis", "a", 0.997),
        ("memcached", "b", 1.011),
        ("riak", "a", 1.303),
        ("riak", "insert", 0.725),
    ],
)
def test_published_tables(store, workload, share):
    """Four threads; Riak's latencies under workload A do not go with its throughput."""
    table = read_published(STUDIES / "jedlicka2024" / "published.csv")
    rows = table[(table["store"] == store) & (table["workload"] == workload)]
    values = rows.set_index(["operation", "metric"])["value"]
    mixture = {"a": {"read": 50, "update": 50}, "b": {"read": 95, "update": 5}}
    shares = mixture.get(workload, {"insert": 1})
    latency = weighted_latency({kind: values[kind, "latency_mean"] for kind in shares}, shares)
    found = in_call(values["overall", "throughput"], latency, 4)
    assert found == pytest.approx(share, abs=0.001)
    assert found >= CLIENT_BELOW
    assert (found > IMPOSSIBLE_ABOVE) == (share > 1.3)


def test_latency_is_weighted_by_operations():
    assert weighted_latency({"read": 100, "update": 300}, {"read": 95, "update": 5}) == 110
    assert weighted_latency({"read": 100, "update": 300}, {"read": 0.5, "update": 0.5}) == 200
    assert weighted_latency({"read": 100, "scan": 9e9}, {"read": 10, "scan": 0}) == 100


@pytest.mark.parametrize(
    ("throughput", "latency", "threads", "share"),
    [
        (1000, 1000, 1, 1.0),
        (1020, 1000, 1, 1.02),
        (1030, 1000, 1, 1.03),
        (700, 1000, 1, 0.7),
        (690, 1000, 1, 0.69),
        (40_000, 250, 4, 2.5),
    ],
)
def test_share_of_time_in_calls(throughput, latency, threads, share):
    assert in_call(throughput, latency, threads) == pytest.approx(share)


@pytest.mark.parametrize("values", [(0, 1, 1), (1, -1, 1), (1, 1, 0), (1, float("nan"), 1)])
def test_numbers_that_cannot_be_audited(values):
    with pytest.raises(ValueError, match="throughput, latency and threads: "):
        in_call(*values)


@pytest.mark.parametrize(
    ("latencies", "operations", "message"),
    [
        ({"read": 1}, {"read": 0}, "nor all operations 0"),
        ({"read": -1}, {"read": 5}, "cannot be below 0"),
        ({"read": float("nan")}, {"read": 5}, "latencies: nan"),
        ({}, {}, "at least one number"),
    ],
)
def test_latencies_that_cannot_be_weighted(latencies, operations, message):
    with pytest.raises(ValueError, match=message):
        weighted_latency(latencies, operations)
