"""Changes over time: the warm-up within a run, and drift from run to run."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kvstudy.libraries import np, pd
from kvstudy.stats.intervals import finite, positive, variation

BATCH = 5
STEADY_VARIATION = 0.05
STEADY_SECONDS = 30
PERMUTATIONS = 9999


class Steadiness(StrEnum):
    """The steadiness of a run. Too short to judge is not an error."""

    STEADY = "steady"
    NOT_STEADY = "no steady state"
    TOO_SHORT = "too short to judge"


@dataclass(frozen=True)
class WarmUp:
    """The first ``cut`` seconds are warm-up.

    ``variation`` is the coefficient of variation of the other seconds, None when there is one or
    none of them had an operation.
    """

    cut: int
    variation: float | None
    verdict: Steadiness


def warm_up(per_second: Iterable[float]) -> WarmUp:
    """Cut off the warm-up of a series of one-second values (ops/s) by MSER-5.

    With Y the means of batches of 5 seconds, n of them, the cut is after
    d* = argmin over d of Σ_{i>d}(Y_i - Ȳ_d)²/(n - d)², Ȳ_d the mean of Y_i, i > d;
    of equal minima the first. d goes up to n/2: near the end few batches are
    alike by chance. Seconds after the last whole batch belong to the rest.

    The rest is steady if its seconds have a coefficient of variation of at most
    0.05. A rest of less than 30 s is too short to judge; from a run that is
    shorter as a whole nothing is cut off.

    Source: White 1997; White, Cobb & Spratt 2000 (batches of 5, at most half);
    Georges, Buytaert & Eeckhout 2007 (steadiness).
    ValueError: no seconds, one that is negative or not a number.
    """
    seconds = finite(per_second, "operations per second")
    if (seconds < 0).any():
        raise ValueError(f"operations per second: {seconds.min():g} is among them; needs >= 0")
    cut = 0
    if seconds.size >= STEADY_SECONDS:
        count = seconds.size // BATCH
        means = seconds[: count * BATCH].reshape(count, BATCH).mean(axis=1)
        scores = [
            ((means[d:] - means[d:].mean()) ** 2).sum() / (count - d) ** 2
            for d in range(count // 2 + 1)
        ]
        cut = BATCH * int(np.argmin(scores))
    rest = seconds[cut:]
    spread = variation(rest) if rest.any() else None
    if rest.size < STEADY_SECONDS:
        verdict = Steadiness.TOO_SHORT
    elif spread is not None and spread <= STEADY_VARIATION:
        verdict = Steadiness.STEADY
    else:
        verdict = Steadiness.NOT_STEADY
    return WarmUp(cut, spread, verdict)


def residuals(values: Sequence[float], cells: Sequence[Hashable]) -> np.ndarray:
    """Return each run's deviation from its cell's mean, ln x - mean(ln x), shape (n,).

    ``cells`` names the cell of each run. NaN for a cell with one run, which has nothing to differ
    from. ValueError: a value that is not above 0.
    """
    logs = pd.Series(np.log(positive(values, "values")))
    groups = logs.groupby(pd.Series(list(cells)), sort=False)
    return (logs - groups.transform("mean")).where(groups.transform("size") > 1).to_numpy()


def drift(
    residuals: Sequence[float], cells: Sequence[Hashable], positions: Sequence[float]
) -> tuple[float, float] | None:
    """Test for drift: Spearman's rho of residual and position in the run order, and its p-value.

    One number per run, of cells with several: its residual (see ``residuals``), which cell it
    repeats, and when it was measured. Rho below 0: later runs have smaller values. None where all
    residuals or all positions are equal.

    The p-value is two-sided, from 9 999 seeded permutations of the runs within
    each cell. The usual one takes the residuals for independent; they sum to 0 in
    each cell, and at three repetitions it calls 9 % of driftless machines
    drifting where 5 % are meant.

    Source: ReBench; Abedi & Brecht 2017 (random order); Spearman 1904.
    ValueError: a residual or a position that is not a number.
    """
    # Rounding noise must not order runs that are equal.
    ranks = pd.Series(finite(residuals, "residuals")).round(12).rank().to_numpy()
    order = pd.Series(finite(positions, "positions")).rank().to_numpy()
    if np.ptp(ranks) == 0 or np.ptp(order) == 0:
        return None
    ranks, order = ranks - ranks.mean(), order - order.mean()
    scale = np.sqrt((ranks**2).sum() * (order**2).sum())
    rho = float(ranks @ order / scale)
    random = np.random.default_rng(1)
    # Cell by cell: all runs of a large study would take a gigabyte.
    sums = np.zeros(PERMUTATIONS)
    names = pd.Series(list(cells))
    for places in names.groupby(names, sort=False).indices.values():
        rows = np.broadcast_to(ranks[places], (PERMUTATIONS, places.size))
        sums += random.permuted(rows, axis=1) @ order[places]
    as_far = int((np.abs(sums / scale) >= abs(rho) - 1e-12).sum())
    return rho, (1 + as_far) / (1 + PERMUTATIONS)
