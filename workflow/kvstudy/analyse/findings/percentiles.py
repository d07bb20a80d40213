"""Percentiles of all repetitions together, from the sum of their histograms."""

from __future__ import annotations

from collections.abc import Iterator

from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import percentiles_over_runs

PERCENTS = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99]
KEYS = ["store", "workload", "parameters", "operation"]
NUMBERS = ["percent", "value", "low", "high", "n", "beyond"]
TABLE = Table("percentiles", [*KEYS, *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    """The rows of the cells that count."""
    return percentiles(run.counted_histograms)


def runs_of(histograms: pd.DataFrame) -> Iterator[tuple[tuple[str, ...], list[pd.Series]]]:
    """Each store, workload, parameters and operation with its runs: counts by latency (us)."""
    for key, group in histograms.groupby(KEYS, sort=False):
        yield (
            key,
            [
                run.set_index("latency")["count"].astype(int)
                for _, run in group.groupby("repetition", sort=False)
            ],
        )


def percentiles(histograms: pd.DataFrame) -> pd.DataFrame:
    """One row per store, workload, parameters, operation and percentage.

    ``histograms`` is ``histograms.csv`` of the cells that count. Columns: value of
    the merged histogram, low and high (the range of the single runs' values; us),
    n runs, beyond (operations of all runs that are slower).
    """
    rows = []
    for key, runs in runs_of(histograms):
        for percent, found in zip(PERCENTS, percentiles_over_runs(runs, PERCENTS), strict=True):
            numbers = [found.value, found.low, found.high, found.runs, found.beyond]
            rows.append([*key, percent, *numbers])
    return TABLE.frame(rows)
