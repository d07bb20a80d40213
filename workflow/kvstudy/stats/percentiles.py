"""Percentiles over runs, from the sum of their histograms.

A histogram is a pandas Series: counts (integers above 0) by latency in µs, as
``kvstudy.logs.ycsb.latencies`` reads it. A mean of percentiles is the percentile
of nothing, so it is not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, nextafter
from typing import NamedTuple

from kvstudy.libraries import pd

# With fewer samples beyond it a percentile is a matter of a few operations.
ENOUGH_BEYOND = 100


class Percentile(NamedTuple):
    """A latency in µs of all runs together, and the range of the single runs' values.

    ``beyond`` is how many of all samples are larger by rank.
    """

    value: float
    low: float
    high: float
    runs: int
    beyond: int


def merged(histograms: Sequence[pd.Series]) -> pd.Series:
    """The sum of the histograms, by rising latency; that of all their samples together."""
    return pd.concat(list(histograms)).groupby(level=0).sum()


def quantiles(histogram: pd.Series, percents: Sequence[float]) -> list[float]:
    """The smallest latencies (µs) that at least so many per cent of the samples do not exceed.

    The rank of each is ⌈percent/100 · samples⌉, at least 1. This is what HdrHistogram
    2.2 prints; its value is the upper end of a bucket, up to 0.1 % above the sample.
    """
    ordered = histogram.sort_index()
    counts = ordered.cumsum()
    ranks = [_rank(int(counts.iloc[-1]), percent) for percent in percents]
    return [float(latency) for latency in ordered.index[counts.searchsorted(ranks)]]


def samples_beyond(samples: int, percent: float) -> int:
    """Return the number of ``samples`` above the percentile: samples - ⌈percent/100 · samples⌉."""
    return samples - _rank(samples, percent)


def percentiles_over_runs(
    histograms: Sequence[pd.Series], percents: Sequence[float]
) -> list[Percentile]:
    """Percentiles of all runs, one histogram each: those of the sum, and the runs' range.

    Source: HdrHistogram; G. Tene, "How not to measure latency".
    """
    together = merged(histograms)
    samples = int(together.sum())
    of_runs = zip(*(quantiles(histogram, percents) for histogram in histograms), strict=True)
    values = zip(percents, quantiles(together, percents), of_runs, strict=True)
    return [
        Percentile(value, min(of), max(of), len(of), samples_beyond(samples, percent))
        for percent, value, of in values
    ]


def _rank(samples: int, percent: float) -> int:
    # One step down as HdrHistogram does it, lest 99.9 % of 1 000 be 999.0000000000001.
    return max(1, ceil(nextafter(percent, 0) * samples / 100))
