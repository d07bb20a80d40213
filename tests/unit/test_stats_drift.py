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
    result = residuals([100, 7, 400, 7, 7, 200], CELLS)
    assert result == pytest.approx([-log(2), 0, log(2), 0, 0, 0])


def test_a_cell_with_one_run_has_no_residual():
    assert np.isnan(residuals([5.0, 1.0, 2.0], ["once", "twice", "twice"])).tolist() == [
        *[True, False, False]
    ]


def test_rho_is_spearmans():
    values = [100, 7.0, 98, 6.5, 6.6, 97]
    positions = [1, 2, 3, 4, 5, 6]
    differences = residuals(values, CELLS)
    rho, _ = drift(differences, CELLS, positions)
    assert rho == pytest.approx(stats.spearmanr(differences, positions).statistic)


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
    _, p = drift(differences, CELLS, positions)
    assert p == pytest.approx(as_far / 36, abs=0.015)


def test_a_machine_that_slows_down_is_found_behind_large_differences_of_the_stores():
    random = np.random.default_rng(1)
    cells = np.concatenate([random.permutation(8) for _ in range(5)])
    position = np.arange(40)
    steady = 1000.0 * 2.0**cells * random.lognormal(0, 0.02, 40)
    rho, p = drift(residuals(steady * np.exp(-0.005 * position), cells), cells, position)
    assert rho < -0.8
    # None of the 9 999 permutations is as far, and the order that was seen is one itself.
    assert p == pytest.approx(1 / 10_000)
    assert drift(residuals(steady, cells), cells, position)[1] > 0.05


def test_five_in_a_hundred_steady_machines_are_called_drifting(monkeypatch):
    """And the usual p-value, for independent residuals, calls more of them so."""
    monkeypatch.setattr(module, "PERMUTATIONS", 199)
    random = np.random.default_rng(5)
    trials, ours, usual = 300, 0, 0
    for _trial in range(trials):
        cells = np.concatenate([random.permutation(8) for _ in range(3)])
        differences = residuals(random.lognormal(0.3 * cells, 0.05), cells)
        ours += drift(differences, cells, range(24))[1] <= 0.05
        usual += stats.spearmanr(differences, range(24)).pvalue <= 0.05
    assert abs(ours / trials - 0.05) < 3 * sqrt(0.05 * 0.95 / trials)
    assert usual / trials > 0.07


def test_the_same_runs_give_the_same_p():
    differences, positions = residuals([100, 7.0, 98, 6.5, 6.6, 97], CELLS), range(6)
    first, again = (drift(differences, CELLS, positions) for _ in range(2))
    assert first == again


def test_nothing_to_order():
    cells = ["a", "b", "a", "b"]
    assert drift([0.0, 0.0, 0.0, 0.0], cells, [1, 2, 3, 4]) is None
    assert drift([-0.1, -0.2, 0.1, 0.2], cells, [1, 1, 1, 1]) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: residuals([1, 0, 3], ["a"] * 3), "values: 0 is among them"),
        (lambda: residuals([1, nan, 3], ["a"] * 3), "values: nan is among them"),
        (lambda: drift([0, nan, 0.1], ["a"] * 3, [1, 2, 3]), "residuals: nan"),
        (lambda: drift([0, 0.1, 0.2], ["a"] * 3, [1, nan, 3]), "positions: nan"),
    ],
)
def test_runs_that_cannot_be_tested(call, message):
    with pytest.raises(ValueError, match=message):
        call()
