"""Where the warm-up of a run ends, and whether the rest is steady."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kvstudy.libraries import np
from kvstudy.stats.intervals import finite, variation

BATCH = 5
STEADY_VARIATION = 0.05
STEADY_SECONDS = 30


class Steadiness(StrEnum):
    """What a run's series tells. Too short to judge is no fault of the run."""

    STEADY = "steady"
    NOT_STEADY = "no steady state"
    TOO_SHORT = "too short to judge"


@dataclass(frozen=True)
class WarmUp:
    """The first ``cut`` seconds are warm-up; the ``length`` seconds after it are the rest.

    ``variation`` is the coefficient of variation of the rest's seconds, None when
    it is one second or none of them had an operation.
    """

    cut: int
    length: int
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
    cut = BATCH * _best_cut(seconds) if seconds.size >= STEADY_SECONDS else 0
    rest = seconds[cut:]
    spread = variation(rest) if rest.any() else None
    if rest.size < STEADY_SECONDS:
        verdict = Steadiness.TOO_SHORT
    elif spread is not None and spread <= STEADY_VARIATION:
        verdict = Steadiness.STEADY
    else:
        verdict = Steadiness.NOT_STEADY
    return WarmUp(cut, rest.size, spread, verdict)


def _best_cut(seconds: np.ndarray) -> int:
    """How many batches MSER cuts off."""
    count = seconds.size // BATCH
    batches = seconds[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    scores = [
        ((batches[d:] - batches[d:].mean()) ** 2).sum() / (count - d) ** 2
        for d in range(count // 2 + 1)
    ]
    return int(np.argmin(scores))
