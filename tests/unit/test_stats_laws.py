"""The universal scalability law, and audits of tables by Little's law.

Reference: the examples of Gunther and Moeding's R package usl (its documentation
prints the coefficients), which nls of R 4.2.2 gives too. Audited are real logs and published
numbers.
"""

from math import nan
from pathlib import Path

import numpy as np
import pytest
from kvstudy.analyse.tidy.results import read_published
from kvstudy.language.reasons import sentence
from kvstudy.logs.ycsb.log import parse
from kvstudy.stats.laws import (
    CLIENT_BELOW,
    IMPOSSIBLE_ABOVE,
    fit_scalability,
    in_call,
    saturation,
    weighted_latency,
)

DATA = Path(__file__).parents[1] / "data" / "ycsb"
STUDIES = Path(__file__).parents[2] / "config" / "studies"
SDM_LOAD = [1, 18, 36, 72, 108, 144, 216]
SDM = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
RAYTRACER_CPUS = [1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64]
RAYTRACER = [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310]
THREADS = np.array([1, 2, 4, 8, 16, 32])


def law(threads, single, contention, coherency):
    return single * threads / (1 + contention * (threads - 1) + coherency * threads * (threads - 1))


def test_spec_sdm91():
    result = fit_scalability(SDM_LOAD, SDM)
    assert result.single == pytest.approx(89.9952, rel=1e-5)
    assert result.contention == pytest.approx(0.0277285, rel=1e-4)
    assert result.coherency == pytest.approx(0.000104365, rel=1e-4)
    assert result.knee == pytest.approx(96.52, abs=0.01)
    # One thread does 65, the law says 90: worth a doubt.
    assert result.doubts == ("off-law",)


def test_raytracer_has_no_knee():
    result = fit_scalability(RAYTRACER_CPUS, RAYTRACER)
    assert result.single == pytest.approx(21.84884, rel=1e-5)
    assert result.contention == pytest.approx(0.0577708, rel=1e-4)
    assert result.knee is None
    assert result.doubts == ()


@pytest.mark.parametrize("scale", [1e-3, 1, 1e5])
def test_points_on_the_law_give_its_coefficients(scale):
    result = fit_scalability(THREADS, scale * law(THREADS, 12_000, 0.08, 0.004))
    assert result.single == pytest.approx(scale * 12_000)
    assert (result.contention, result.coherency) == pytest.approx((0.08, 0.004))
    assert result.knee == pytest.approx(((1 - 0.08) / 0.004) ** 0.5)
    assert result.off < 1e-6
    assert result.doubts == ()


def test_noisy_repetitions_of_six_counts():
    random = np.random.default_rng(2)
    threads = np.repeat(THREADS, 5)
    rates = law(threads, 12_000, 0.08, 0.004) * random.lognormal(0, 0.03, threads.size)
    result = fit_scalability(threads, rates)
    assert result.knee == pytest.approx(15.2, rel=0.1)
    assert result.off == pytest.approx(0.03, rel=0.4)
    assert result.doubts == ()


def test_linear_growth_is_no_contention():
    result = fit_scalability(THREADS, 1000.0 * THREADS)
    assert (result.contention, result.coherency) == pytest.approx((0, 0), abs=1e-9)
    assert result.knee is None


def test_a_knee_beyond_the_measured_counts_is_doubted():
    result = fit_scalability(THREADS, law(THREADS, 1000, 0.01, 0.0002))
    assert result.knee == pytest.approx(70.4, abs=0.1)
    (doubt,) = result.doubts
    assert sentence(doubt) == "the peak at 70 threads is above the largest measured count of 32"


def test_throughput_that_only_falls_is_doubted():
    result = fit_scalability(THREADS, 1000.0 / THREADS)
    assert result.contention <= 1
    assert "contention-bound" in result.doubts


def test_flat_throughput():
    result = fit_scalability(THREADS, [5000.0] * 6)
    assert result.contention == pytest.approx(1)
    assert result.knee is None
    assert result.doubts == ("contention-bound",)


def test_points_without_any_law_are_doubted():
    result = fit_scalability(THREADS, [1000, 9000, 2000, 30_000, 1000, 20_000])
    assert "off-law" in result.doubts


def test_saturation():
    assert saturation(SDM_LOAD, SDM) == 72
    assert saturation([1, 2, 4], [100, 96, 50]) == 1
    assert saturation([1, 2, 2, 4, 4], [50, 97, 95, 99, 101]) == 2


def test_still_rising_is_not_saturated():
    assert saturation(RAYTRACER_CPUS, RAYTRACER) is None
    assert saturation([4, 1], [40, 10]) is None


def test_time_in_calls_of_a_real_run():
    log = parse((DATA / "redis-workloada-run-r3.out").read_text(), "run.out")
    latency = weighted_latency(
        {name: section.latencies["latency_mean"] for name, section in log.sections.items()},
        {name: section.operations for name, section in log.sections.items()},
    )
    result = in_call(log.throughput, latency, 4)
    assert latency == pytest.approx(68.9, abs=0.1)
    assert result == pytest.approx(0.86, abs=0.005)


@pytest.mark.parametrize(
    ("store", "workload", "share"),
    [
        ("redis", "a", 0.997),
        ("memcached", "b", 1.011),
        ("riak", "a", 1.303),
        ("riak", "insert", 0.725),
    ],
)
def test_time_in_calls_of_published_tables(store, workload, share):
    """Four threads; Riak's latencies under workload A do not go with its throughput."""
    table = read_published(STUDIES / "jedlicka2024" / "published.csv")
    rows = table[(table["store"] == store) & (table["workload"] == workload)]
    values = rows.set_index(["operation", "metric"])["value"]
    mixture = {"a": {"read": 50, "update": 50}, "b": {"read": 95, "update": 5}}
    shares = mixture.get(workload, {"insert": 1})
    latency = weighted_latency({kind: values[kind, "latency_mean"] for kind in shares}, shares)
    result = in_call(values["overall", "throughput"], latency, 4)
    assert result == pytest.approx(share, abs=0.001)
    assert result >= CLIENT_BELOW
    assert (result > IMPOSSIBLE_ABOVE) == (share > 1.3)


def test_latency_is_weighted_by_operations():
    assert weighted_latency({"read": 100, "update": 300}, {"read": 95, "update": 5}) == 110
    assert weighted_latency({"read": 100, "update": 300}, {"read": 0.5, "update": 0.5}) == 200
    assert weighted_latency({"read": 100, "scan": 9e9}, {"read": 10, "scan": 0}) == 100


def test_share_of_time_in_calls():
    assert in_call(1020, 1000, 1) == pytest.approx(1.02)
    assert in_call(690, 1000, 1) == pytest.approx(0.69)
    assert in_call(40_000, 250, 4) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (fit_scalability, (THREADS[:5], THREADS[:5]), "5 thread counts; the law needs at least 6"),
        (fit_scalability, ([1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2]), "2 thread counts"),
        (fit_scalability, (THREADS, [1, 2, 0, 4, 5, 6]), "throughput: 0 is among them"),
        (fit_scalability, (THREADS, [1, 2, nan, 4, 5, 6]), "throughput: nan"),
        (saturation, ([4, 4], [10, 11]), "one thread count"),
        (in_call, (0, 1, 1), "throughput, latency and threads: "),
        (in_call, (1, -1, 1), "throughput, latency and threads: "),
        (in_call, (1, 1, 0), "throughput, latency and threads: "),
        (in_call, (1, nan, 1), "throughput, latency and threads: "),
        (weighted_latency, ({"read": 1}, {"read": 0}), "nor all operations 0"),
        (weighted_latency, ({"read": -1}, {"read": 5}), "cannot be below 0"),
        (weighted_latency, ({"read": nan}, {"read": 5}), "latencies: nan"),
        (weighted_latency, ({}, {}), "at least one number"),
    ],
)
def test_numbers_to_which_no_law_applies(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)
