"""Percentiles over runs, from the sum of their histograms.

A histogram is a pandas Series: counts (integers above 0) by latency in µs, as
``kvstudy.logs.ycsb.latencies`` reads it. A mean of percentiles is the percentile
of nothing, so it is not here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kvstudy.libraries import np, pd

# With fewer samples beyond it a percentile is a matter of a few operations.
ENOUGH_BEYOND = 100
# Histograms are added up when there are so many.
MOST_PARTS = 64


class Percentile(NamedTuple):
    """A latency in µs of all runs together, and the range of the single runs' values.

    ``beyond`` is how many of all samples are larger by rank.
    """

    value: float
    low: float
    high: float
    runs: int
    beyond: int


def quantiles(histogram: pd.Series, percents: Sequence[float]) -> list[float]:
    """The smallest latencies (µs) that at least so many per cent of the samples do not exceed.

    The rank of each is ⌈percent/100 · samples⌉, at least 1. This is what HdrHistogram
    2.2 prints; its value is the upper end of a bucket, up to 0.1 % above the sample.
    """
    ordered = histogram.sort_index()
    return _at(ordered.index.to_numpy(), ordered.to_numpy().cumsum(), percents).tolist()


def samples_beyond(samples: int, percent: float) -> int:
    """Return the number of ``samples`` above the percentile: samples - ⌈percent/100 · samples⌉."""
    return samples - int(_rank(samples, percent))


def summed(histograms: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The sum of several (latencies, counts): rising latencies, and how often each was."""
    latencies, counts = map(np.concatenate, zip(*histograms, strict=True))
    values, places = np.unique(latencies, return_inverse=True)
    sums = np.zeros(values.size, dtype=counts.dtype)
    np.add.at(sums, places, counts)
    return values, sums


class PooledRuns:
    """The histograms of several runs, added one by one.

    Of each run only its quantiles at the ``percents`` are kept, as the ``low`` and ``high`` ones of
    all runs: all histograms of a large study take gigabytes.
    """

    def __init__(self, percents: Sequence[float]) -> None:
        self.runs = 0
        self._columns = {percent: column for column, percent in enumerate(dict.fromkeys(percents))}
        self._low, self._high = np.full(len(self._columns), np.inf), np.zeros(len(self._columns))
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, latencies: np.ndarray, counts: np.ndarray) -> None:
        """Add a run: integers above 0 by rising latency (us)."""
        values = _at(latencies, counts.cumsum(), [*self._columns])
        self._low, self._high = np.minimum(self._low, values), np.maximum(self._high, values)
        self.runs += 1
        self._parts.append((latencies, counts))
        if len(self._parts) == MOST_PARTS:
            self._parts = [self.together]

    @property
    def together(self) -> tuple[np.ndarray, np.ndarray]:
        """Rising latencies, and how many samples of all runs have each."""
        return summed(self._parts)

    @property
    def samples(self) -> int:
        return sum(int(counts.sum()) for _latencies, counts in self._parts)

    def quantiles(self, percents: Sequence[float]) -> list[float]:
        """As the function ``quantiles``, of the sum of the histograms."""
        latencies, counts = self.together
        return _at(latencies, counts.cumsum(), percents).tolist()

    def percentiles(self, percents: Sequence[float]) -> list[Percentile]:
        """Return those of all runs, and the runs' range; ``percents`` are among those of a run.

        Source: HdrHistogram; G. Tene, "How not to measure latency".
        """
        columns = [self._columns[percent] for percent in percents]
        ends = (self._low[columns].tolist(), self._high[columns].tolist())
        samples = self.samples
        return [
            Percentile(value, low, high, self.runs, samples_beyond(samples, percent))
            for percent, value, low, high in zip(
                percents, self.quantiles(percents), *ends, strict=True
            )
        ]


def _at(latencies: np.ndarray, cumulated: np.ndarray, percents: Sequence[float]) -> np.ndarray:
    ranks = _rank(cumulated[-1], np.asarray(percents, dtype=float))
    return latencies[cumulated.searchsorted(ranks)].astype(float)


def _rank(samples: int, percent: float | np.ndarray) -> np.ndarray:
    # One step down as HdrHistogram does it, lest 99.9 % of 1 000 be 999.0000000000001.
    return np.maximum(1, np.ceil(np.nextafter(percent, 0) * samples / 100)).astype(np.int64)
