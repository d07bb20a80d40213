"""The universal scalability law.

Reference: the examples of Gunther and Moeding's R package usl (its documentation
prints the coefficients), which nls of R 4.2.2 gives too.
"""

import numpy as np
import pytest
from kvstudy.language.reasons import sentence
from kvstudy.stats.laws import fit_scalability, saturation

SDM_LOAD = [1, 18, 36, 72, 108, 144, 216]
SDM = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]
RAYTRACER_CPUS = [1, 4, 8, 12, 16, 20, 24, 28, 32, 48, 64]
RAYTRACER = [20, 78, 130, 170, 190, 200, 210, 230, 260, 280, 310]
THREADS = np.array([1, 2, 4, 8, 16, 32])


def law(threads, single, contention, coherency):
    return single * threads / (1 + contention * (threads - 1) + coherency * threads * (threads - 1))


def test_spec_sdm91():
    found = fit_scalability(SDM_LOAD, SDM)
    assert found.single == pytest.approx(89.9952, rel=1e-5)
    assert found.contention == pytest.approx(0.0277285, rel=1e-4)
    assert found.coherency == pytest.approx(0.000104365, rel=1e-4)
    assert found.knee == pytest.approx(96.52, abs=0.01)
    # One thread does 65, the law says 90: worth a doubt.
    assert found.doubts == ("off-law",)


def test_raytracer_has_no_knee():
    found = fit_scalability(RAYTRACER_CPUS, RAYTRACER)
    assert found.single == pytest.approx(21.84884, rel=1e-5)
    assert found.contention == pytest.approx(0.0577708, rel=1e-4)
    assert found.knee is None
    assert found.doubts == ()


@pytest.mark.parametrize("scale", [1e-3, 1, 1e5])
def test_points_on_the_law_give_its_coefficients(scale):
    found = fit_scalability(THREADS, scale * law(THREADS, 12_000, 0.08, 0.004))
    assert found.single == pytest.approx(scale * 12_000)
    assert (found.contention, found.coherency) == pytest.approx((0.08, 0.004))
    assert found.knee == pytest.approx(((1 - 0.08) / 0.004) ** 0.5)
    assert found.off < 1e-6
    assert found.doubts == ()


def test_noisy_repetitions_of_six_counts():
    random = np.random.default_rng(2)
    threads = np.repeat(THREADS, 5)
    rates = law(threads, 12_000, 0.08, 0.004) * random.lognormal(0, 0.03, threads.size)
    found = fit_scalability(threads, rates)
    assert found.knee == pytest.approx(15.2, rel=0.1)
    assert found.off == pytest.approx(0.03, rel=0.4)
    assert found.doubts == ()


def test_linear_growth_is_no_contention():
    found = fit_scalability(THREADS, 1000.0 * THREADS)
    assert (found.contention, found.coherency) == pytest.approx((0, 0), abs=1e-9)
    assert found.knee is None


def test_a_knee_beyond_the_measured_counts_is_doubted():
    found = fit_scalability(THREADS, law(THREADS, 1000, 0.01, 0.0002))
    assert found.knee == pytest.approx(70.4, abs=0.1)
    (doubt,) = found.doubts
    assert sentence(doubt) == "the knee at 70 threads is beyond the 32 that were measured"


def test_throughput_that_only_falls_is_doubted():
    found = fit_scalability(THREADS, 1000.0 / THREADS)
    assert found.contention <= 1
    assert "contention-bound" in found.doubts


def test_flat_throughput():
    found = fit_scalability(THREADS, [5000.0] * 6)
    assert found.contention == pytest.approx(1)
    assert found.knee is None
    assert found.doubts == ("contention-bound",)


def test_points_without_any_law_are_doubted():
    found = fit_scalability(THREADS, [1000, 9000, 2000, 30_000, 1000, 20_000])
    assert "off-law" in found.doubts


@pytest.mark.parametrize(
    ("threads", "throughput", "message"),
    [
        ([1, 2, 4, 8, 16], [1, 2, 3, 4, 5], "5 thread counts; the law needs at least 6"),
        ([1, 1, 1, 2, 2, 2], [1, 1, 1, 2, 2, 2], "2 thread counts"),
        ([1, 2, 4, 8, 16, 32], [1, 2, 0, 4, 5, 6], "throughput: 0 is among them"),
        ([1, 2, 4, 8, 16, 32], [1, 2, float("nan"), 4, 5, 6], "throughput: nan"),
    ],
)
def test_points_that_cannot_be_fitted(threads, throughput, message):
    with pytest.raises(ValueError, match=message):
        fit_scalability(threads, throughput)


def test_saturation():
    assert saturation(SDM_LOAD, SDM) == 72
    assert saturation([1, 2, 4], [100, 96, 50]) == 1
    assert saturation([1, 2, 2, 4, 4], [50, 97, 95, 99, 101]) == 2


def test_still_rising_is_not_saturated():
    assert saturation(RAYTRACER_CPUS, RAYTRACER) is None
    assert saturation([4, 1], [40, 10]) is None


def test_one_count_has_no_saturation():
    with pytest.raises(ValueError, match="one thread count"):
        saturation([4, 4], [10, 11])
