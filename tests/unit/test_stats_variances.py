"""The spread of each cell, as all cells of a run tell it."""

import numpy as np
import pytest
from kvstudy.stats.variances import fit, planned_freedom
from scipy import stats


def error_of(logs: np.ndarray, one: int, other: int, paired: bool = True) -> tuple[float, float]:
    """Standard error and degrees of freedom of the first workload's ratio of two stores."""
    stores, repetitions = logs.shape[-2:]
    weights = np.zeros(logs.shape[-3:-1])
    weights[0, [one, other]] = 1 / repetitions
    return fit(logs, range(stores), paired).error(weights)


def test_two_stores_in_many_repetitions_are_those_of_the_paired_t_test():
    logs = np.random.default_rng(1).normal(0, 0.05, (1, 2, 60)) + np.linspace(0, 3, 60)
    error, freedom = error_of(logs, 0, 1)
    difference = logs[0, 0] - logs[0, 1]
    assert error == pytest.approx(difference.std(ddof=1) / np.sqrt(60), rel=0.01)
    assert freedom == pytest.approx(59, rel=0.01)


def test_without_blocks_it_is_that_of_each_store_by_itself():
    random = np.random.default_rng(2)
    logs = np.stack([random.normal(0, 0.1, 80), random.normal(3, 0.02, 80)])[None]
    error, freedom = error_of(logs, 0, 1, paired=False)
    assert error == pytest.approx(np.sqrt((logs[0].var(axis=1, ddof=1) / 80).sum()), rel=0.02)
    # Nearly all of it is the first store's.
    assert 75 < freedom < 90


def test_other_workloads_tell_what_three_runs_do_not():
    random = np.random.default_rng(3)
    logs = random.normal(0, 0.05, (6, 4, 3))
    # By luck the three runs of the first two stores lie together.
    logs[0, :2] = [[0.0, 0.001, 0.0005]] * 2
    alone, few = error_of(logs[:1, :2], 0, 1)
    error, freedom = error_of(logs, 0, 1)
    assert alone < 0.002
    assert few < 3 < freedom
    assert error > 0.01


def test_a_noisy_store_and_a_noisy_workload_keep_their_spread():
    random = np.random.default_rng(4)
    spread = np.full((4, 4), 0.02)
    spread[:, 3] *= 5
    spread[0] *= 3
    variances = fit(random.normal(0, 1, (4, 4, 30)) * spread[..., None], range(4))
    assert np.exp(variances.logs / 2) == pytest.approx(spread, rel=0.35)


def test_what_was_not_measured_is_nothing():
    random = np.random.default_rng(5)
    logs = random.normal(0, 0.05, (3, 3, 5))
    more = np.full((4, 4, 7), np.nan)
    more[:3, :3, :5] = logs
    here, present = (fit(of, range(of.shape[1])) for of in (logs, more))
    # A store and a workload without runs, and repetitions that nobody has, change nothing.
    assert present.logs[:3, :3] == pytest.approx(here.logs, abs=1e-3)
    missing = logs.copy()
    missing[0, 0, 4] = np.nan
    assert np.isfinite(fit(missing, range(3)).logs).all()


def test_hundreds_of_repetitions_have_a_spread():
    """Their rounded sums once looked like one more unknown."""
    spread = np.array([0.01, 0.02, 0.1, 1, 0.05, 0.05])
    logs = np.random.default_rng(8).normal(0, 1, (2, 6, 341)) * spread[:, None]
    assert np.exp(fit(logs, range(6)).logs / 2) == pytest.approx(np.tile(spread, (2, 1)), rel=0.3)


def test_runs_without_any_spread_are_as_good_as_certain():
    error, _ = error_of(np.ones((2, 2, 3)), 0, 1)
    # They are taken to differ by 0.1 %.
    assert error == pytest.approx(0.001 * np.sqrt(2 / 3), rel=0.2)


def test_one_store_under_two_names_has_one_spread():
    random = np.random.default_rng(6)
    logs = random.normal(0, 0.05, (4, 3, 3))
    apart, same = fit(logs, [0, 1, 2]), fit(logs, [0, 1, 0])
    distance = [abs(of.logs[:, 0] - of.logs[:, 2]).mean() for of in (apart, same)]
    assert distance[1] < distance[0]


def test_intervals_cover_what_they_promise_and_the_plan_knows_their_freedom():
    random = np.random.default_rng(7)
    logs = random.normal(0, 0.05, (400, 4, 4, 3))
    weights = np.zeros((4, 4))
    weights[0, :2] = 1 / 3
    error, freedom = fit(logs, range(4)).error(weights)
    t = abs(logs[:, 0, 0].mean(-1) - logs[:, 0, 1].mean(-1)) / error
    covered = (t < stats.t.ppf(0.975, freedom)).mean()
    assert covered == pytest.approx(0.95, abs=0.03)
    assert np.median(freedom) == pytest.approx(planned_freedom(4, 4, 3), rel=0.15)
