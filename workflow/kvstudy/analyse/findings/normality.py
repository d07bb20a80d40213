"""A normality test of the runs' logarithms, which the intervals of ratios assume."""

from __future__ import annotations

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.findings.spread import Spread
from kvstudy.libraries import np, pd, stats

SIMULATED = 999
# Shapiro and Wilk's W is of at least three values.
FEWEST = 3

NUMBERS = ["residuals", "w", "p"]
NORMALITY = AnalysisTable(
    "normality", NUMBERS, NUMBERS, make=lambda run, tables: normality(run.spread)
)


def normality(spread: Spread) -> pd.DataFrame:
    """One row: how many residuals there are, Shapiro and Wilk's W of them and its p-value.

    A residual is what is left of ln throughput without what its cell and its repetition share, in
    standard deviations of its own cell. They are not independent, so the p-value is the share of
    999 seeded runs with normal errors whose residuals have a W that is no larger. No row where
    nothing was repeated. Few residuals show gross departures only, and the spread that an odd run
    adds to its own cell makes it less odd.

    Source: Shapiro and Wilk 1965.
    """
    if not spread.settings:
        return NORMALITY.frame([])
    variances = spread.variances
    values, projection = variances.residuals, variances.projection
    finite = np.isfinite(values)
    if finite.sum() < FEWEST:
        return NORMALITY.frame([])
    alone = np.sqrt(projection.variances()[finite])
    w = stats.shapiro(values[finite]).statistic
    random = np.random.default_rng(1)
    smaller = 0
    for _ in range(SIMULATED):
        simulated = projection.residuals(random.standard_normal(values.shape))
        smaller += stats.shapiro(simulated[finite] / alone).statistic <= w
    return NORMALITY.frame([[int(finite.sum()), float(w), (1 + smaller) / (1 + SIMULATED)]])
