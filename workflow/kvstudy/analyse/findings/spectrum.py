"""All percentiles of all repetitions together: the spectrum of latencies."""

from __future__ import annotations

from kvstudy.analyse.findings.percentiles import KEYS, NUMBERS, runs_of
from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import ENOUGH_BEYOND, merged, quantiles, samples_beyond

TABLE = Table("spectrum", [*KEYS, *NUMBERS], NUMBERS, "analyse")
# Places in a factor of ten of 1/(1 - p): from 90 % to 99 % it is as far as to 99.9 %.
PLACES = 20


def make(run, made) -> pd.DataFrame:
    """The rows of the cells that count."""
    return spectrum(run.counted_histograms)


def spectrum(histograms: pd.DataFrame) -> pd.DataFrame:
    """One row per store, workload, parameters, operation and place of the spectrum.

    From 0 % (the smallest latency) to the last place with at least 100 operations of
    all runs beyond it. ``histograms`` is ``histograms.csv`` of the cells that count.
    Columns as of ``analysis.percentiles``: value of the merged histogram, low and
    high (range of the single runs' values; us), n runs, beyond.
    """
    rows = []
    for key, runs in runs_of(histograms):
        together = merged(runs)
        samples = int(together.sum())
        percents = _places(samples)
        singles = [quantiles(run, percents) for run in runs]
        for percent, value, *each in zip(
            percents, quantiles(together, percents), *singles, strict=True
        ):
            beyond = samples_beyond(samples, percent)
            rows.append([*key, percent, value, min(each), max(each), len(runs), beyond])
    return TABLE.frame(rows)


def _places(samples: int) -> list[float]:
    """Percentages, evenly spaced in log(1/(1 - p)); the last has enough samples beyond it."""
    percents = [0.0]
    while True:
        percent = round(100 * (1 - 10 ** (-len(percents) / PLACES)), 8)
        if percent >= 100 or samples_beyond(samples, percent) < ENOUGH_BEYOND:
            return percents
        percents.append(percent)
