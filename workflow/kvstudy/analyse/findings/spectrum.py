"""All percentiles of all repetitions together: the spectrum of latencies."""

from __future__ import annotations

from kvstudy.analyse.findings.percentiles import KEYS, NUMBERS, rows_of
from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import ENOUGH_BEYOND, samples_beyond

TABLE = Table("spectrum", [*KEYS, *NUMBERS], NUMBERS, "analyse")
# Places in a factor of ten of 1/(1 - p): from 90 % to 99 % it is as far as to 99.9 %.
PLACES = 20


def make(run, made) -> pd.DataFrame:
    return spectrum(run.counted_histograms)


def spectrum(histograms: pd.DataFrame) -> pd.DataFrame:
    """One row per store, workload, parameters, operation and place of the spectrum.

    From 0 % (the smallest latency) to the last place with at least 100 operations of
    all runs beyond it. ``histograms`` is ``histograms.csv`` of the cells that count.
    Columns as of ``percentiles``: value of the merged histogram, low and
    high (range of the single runs' values; us), n runs, beyond.
    """
    return TABLE.frame(rows_of(histograms, _places))


def _places(runs: list[pd.Series]) -> list[float]:
    """Percentages, evenly spaced in log(1/(1 - p)); the last has enough samples beyond it."""
    samples = sum(int(run.sum()) for run in runs)
    percents = [0.0]
    while True:
        percent = round(100 * (1 - 10 ** (-len(percents) / PLACES)), 8)
        if percent >= 100 or samples_beyond(samples, percent) < ENOUGH_BEYOND:
            return percents
        percents.append(percent)
