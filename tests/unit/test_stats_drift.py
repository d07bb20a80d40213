"""Drift of the machine over the run order."""

from itertools import permutations
from math import log, nan, sqrt

import numpy as np
import pytest
from kvstudy.stats import over_time as module
from kvstudy.stats.over_time import drift, residuals
from scipy import stats

CELLS = ["redis", "riak", "redis", "riak", "riak", "redis"]


def test_residuals_are_from_the_own_cells_mean():
    found = residuals([100, 7, 400, 7, 7, 200], CELLS)
    assert found == pytest.approx([-log(2), 0, log(2), 0, 0, 0])


def test_a_cell_with_one_run_has_no_residual():
    assert np.isnan(residuals([5.0, 1.0, 2.0], ["once", "twice", "twice"])).tolist() == [
        *[True, False, False]
    ]


def test_rho_is_spearmans():
    values = [100, 7.0, 98, 6.5, 6.6, 97]
    positions = [1, 2, 3, 4, 5, 6]
    found = drift(values, CELLS, positions)
    expected = stats.spearmanr(residuals(values, CELLS), positions)
    assert found.rho == pytest.approx(expected.statistic)
    assert found.n == 6


def test_p_is_that_of_all_permutations_within_the_cells():
    """Small enough to list all 3! · 3! orders."""
    values, positions = [100, 7.0, 98, 6.5, 6.6, 97], np.arange(6)
    differences = residuals(values, CELLS)
    places = [[0, 2, 5], [1, 3, 4]]
    observed = abs(stats.spearmanr(differences, positions).statistic)
    as_far = 0
    for first in permutations(places[0]):
        for second in permutations(places[1]):
            order = np.empty(6, dtype=int)
            order[places[0]], order[places[1]] = first, second
            rho = stats.spearmanr(differences[order], positions).statistic
            as_far += abs(rho) >= observed - 1e-9
    assert drift(values, CELLS, positions).p == pytest.approx(as_far / 36, abs=0.015)


def test_a_machine_that_slows_down_is_found_behind_large_differences_of_the_stores():
    random = np.random.default_rng(1)
    cells = np.concatenate([random.permutation(8) for _ in range(5)])
    position = np.arange(40)
    steady = 1000.0 * 2.0**cells * random.lognormal(0, 0.02, 40)
    found = drift(steady * np.exp(-0.005 * position), cells, position)
    assert found.rho < -0.8
    # None of the 9 999 permutations is as far, and the order that was seen is one itself.
    assert found.p == pytest.approx(1 / 10_000)
    assert drift(steady, cells, position).p > 0.05


def test_five_in_a_hundred_steady_machines_are_called_drifting(monkeypatch):
    """And the usual p-value, for independent residuals, calls more of them so."""
    monkeypatch.setattr(module, "PERMUTATIONS", 199)
    random = np.random.default_rng(5)
    trials, ours, usual = 300, 0, 0
    for trial in range(trials):
        cells = np.concatenate([random.permutation(8) for _ in range(3)])
        values = random.lognormal(0.3 * cells, 0.05)
        ours += drift(values, cells, range(24), seed=trial).p <= 0.05
        usual += stats.spearmanr(residuals(values, cells), range(24)).pvalue <= 0.05
    assert abs(ours / trials - 0.05) < 3 * sqrt(0.05 * 0.95 / trials)
    assert usual / trials > 0.07


def test_the_same_seed_gives_the_same_p():
    values, positions = [100, 7.0, 98, 6.5, 6.6, 97], range(6)
    assert drift(values, CELLS, positions, seed=4) == drift(values, CELLS, positions, seed=4)


def test_nothing_to_order():
    found = drift([10.0, 3.0, 10.0, 3.0], ["a", "b", "a", "b"], [1, 2, 3, 4])
    assert (found.rho, found.p, found.n) == (None, None, 4)
    assert drift([10.0, 3.0, 11.0, 4.0], ["a", "b", "a", "b"], [1, 1, 1, 1]).rho is None


@pytest.mark.parametrize(
    ("values", "cells", "positions", "message"),
    [
        ([1, 2], ["a", "a"], [1, 2], "2 runs of repeated cells"),
        ([1, 2, 3], ["a", "b", "c"], [1, 2, 3], "0 runs of repeated cells"),
        ([1, 2, 3], ["a", "a"], [1, 2, 3], "3 values, 2 cells, 3 positions"),
        ([1, 0, 3], ["a", "a", "a"], [1, 2, 3], "values: 0 is among them"),
        ([1, nan, 3], ["a", "a", "a"], [1, 2, 3], "values: nan is among them"),
        ([1, 2, 3], ["a", "a", "a"], [1, nan, 3], "positions: nan is among them"),
    ],
)
def test_runs_that_cannot_be_tested(values, cells, positions, message):
    with pytest.raises(ValueError, match=message):
        drift(values, cells, positions)
