"""The trimmed mean of runs and its interval, as a source study used it."""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt

import numpy as np
from scipy import stats

from kvstudy.stats.intervals import LEVEL, Interval
from kvstudy.stats.values import finite

# Of five runs the smallest and the largest.
SHARE = 0.2


def trimmed_mean(runs: Iterable[float], share: float = SHARE, level: float = LEVEL) -> Interval:
    """Mean without the smallest and the largest runs, with Tukey and McLaughlin's interval.

    g = ⌊share·n⌋ runs are dropped at each end, h = n - 2g are kept. The interval is
    mean ± t((1 + level)/2, h - 1) · √(SSD_w/(h·(h - 1))), where SSD_w is the sum of squared
    deviations of the winsorised runs from their mean: each dropped one replaced by the
    nearest that is kept. Of 5 runs: √(SSD_w/6), 2 degrees of freedom, t = 4.303. Runs and
    result in the same unit.

    Yuen (1974) adds two such squared errors for two samples; ``scipy.stats.ttest_ind`` with
    ``trim`` is that test. ``scipy.stats.mstats.trimmed_mean_ci`` has another error:
    s_w/((1 - 2·share)·√n), which is that of ``share``, not of the runs that were dropped,
    and too small at n = 5 and too large at n = 9.

    ``n`` of the result counts all runs. The interval is that of the trimmed
    mean of the distribution, which is not its mean where that is skewed. Of few
    runs it is somewhat too narrow: 95 % cover 94 % of normal samples at n = 5 to 10.

    Source: Tukey and McLaughlin 1963. ValueError: so few runs that none is dropped (less
    than 5), less than two kept, a run that is not a number.
    """
    if not 0 < level < 1:
        raise ValueError(f"share {share}, level {level}: needs 0 < share < 0.5 and 0 < level < 1")
    mean, error, freedom, n = trimmed_error(runs, share)
    half = float(stats.t.ppf((1 + level) / 2, freedom) * error)
    return Interval(mean, mean - half, mean + half, n)


def trimmed_error(runs: Iterable[float], share: float = SHARE) -> tuple[float, float, int, int]:
    """The trimmed mean, its standard error, the error's degrees of freedom, and n.

    See ``trimmed_mean``, which makes an interval of them. Raises as it does.
    """
    ordered = np.sort(finite(runs, "runs"))
    n = ordered.size
    if not 0 < share < 0.5:
        raise ValueError(f"share {share}: needs 0 < share < 0.5")
    # 0.29 · 100 is 28.999999999999996.
    dropped = int(share * n + 1e-9)
    kept = n - 2 * dropped
    if dropped == 0 or kept < 2:
        raise ValueError(
            f"{n} runs: {share:g} of them at each end is {dropped}, which leaves {kept}; a "
            "trimmed mean drops at least one and keeps at least two"
        )
    inner = ordered[dropped : n - dropped]
    winsorised = np.clip(ordered, inner[0], inner[-1])
    error = sqrt(((winsorised - winsorised.mean()) ** 2).sum() / (kept * (kept - 1)))
    return float(inner.mean()), error, kept - 1, n
