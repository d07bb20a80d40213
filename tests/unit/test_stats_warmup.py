"""MSER-5. Reference cuts: pyMSER 1.0.22, an independent implementation."""

import numpy as np
import pytest
from kvstudy.stats.over_time import Steadiness, warm_up


def warming(seconds: int, time: float, depth: float, wave: float) -> np.ndarray:
    """ops/s that rise to 1 000 with a time constant, and a ripple."""
    second = np.arange(seconds)
    return np.round(1000 - depth * np.exp(-second / time) + wave * np.sin(1.7 * second))


@pytest.mark.parametrize(
    ("series", "cut"),
    [
        # MSERm_index(calculate_MSEm(series, 5), 5)
        (warming(120, 12, 600, 40), 45),
        (warming(200, 4, 300, 10), 20),
    ],
)
def test_cut_as_in_pymser(series, cut):
    result = warm_up(series)
    assert result.cut == cut
    assert result.variation == pytest.approx(np.std(series[cut:], ddof=1) / series[cut:].mean())
    assert result.verdict == Steadiness.STEADY


def test_at_most_half_is_cut_off():
    """pyMSER, without that limit, cuts 170 of these 300 seconds."""
    result = warm_up(warming(300, 40, 500, 30))
    assert result.cut == 145
    assert warm_up(np.linspace(100, 200, 300)).cut == 150


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("true_cut", [0, 10, 40])
def test_a_step_is_found(true_cut, seed):
    series = np.full(120, 50_000.0)
    series[:true_cut] = 20_000
    series += np.random.default_rng(seed).normal(0, 500, 120)
    result = warm_up(series)
    assert true_cut <= result.cut <= true_cut + 15
    assert result.verdict == Steadiness.STEADY
    assert result.variation == pytest.approx(0.01, rel=0.4)


def test_a_cut_between_two_batches_is_after_the_second():
    assert warm_up([10.0] * 12 + [100.0] * 60).cut == 15


def test_seconds_after_the_last_batch_are_in_the_rest():
    assert warm_up([10.0] * 5 + [100.0] * 60 + [50.0] * 3).variation > 0


def test_a_run_that_never_settles():
    result = warm_up(np.linspace(1_000, 10_000, 300))
    assert result.verdict == Steadiness.NOT_STEADY
    assert result.variation > 0.05


def test_noise_is_no_steady_state():
    result = warm_up(np.random.default_rng(3).normal(1000, 200, 120))
    assert result.verdict == Steadiness.NOT_STEADY
    assert result.verdict == "no steady state"


def test_the_limit_of_variation_itself_is_steady():
    # Half of the seconds 95, half 105: s/mean is 0.05 · √(n/(n - 1)), so a bit less is needed.
    def around(step):
        return [100 - step, 100 + step] * 50

    assert warm_up(around(4.97)).verdict == Steadiness.STEADY
    assert warm_up(around(5.03)).verdict == Steadiness.NOT_STEADY


@pytest.mark.parametrize("seconds", [1, 2, 4, 5, 9, 10, 29])
def test_a_short_run_is_not_judged_and_not_cut(seconds):
    result = warm_up([10.0] * (seconds // 2) + [100.0] * (seconds - seconds // 2))
    assert result.cut == 0
    assert result.verdict == Steadiness.TOO_SHORT


def test_a_short_rest_is_not_judged_either():
    result = warm_up([10.0] * 20 + [100.0] * 29)
    assert (result.cut, result.variation) == (20, 0)
    assert result.verdict == Steadiness.TOO_SHORT
    assert warm_up([10.0] * 20 + [100.0] * 30).verdict == Steadiness.STEADY


def test_equal_seconds_are_steady_from_the_start():
    result = warm_up([100.0] * 60)
    assert (result.cut, result.variation) == (0, 0)
    assert result.verdict == Steadiness.STEADY


def test_no_operation_at_all_is_not_steady():
    result = warm_up([0.0] * 60)
    assert result.variation is None
    assert result.verdict == Steadiness.NOT_STEADY


@pytest.mark.parametrize("series", [[], [1, float("nan")], [1, -1], [1, float("inf")]])
def test_no_series(series):
    with pytest.raises(ValueError, match="operations per second: "):
        warm_up(series)
