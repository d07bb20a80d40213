"""Percentiles of all repetitions together, from the sum of their histograms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import percentiles_over_runs

PERCENTS = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99]
KEYS = ["store", "workload", "parameters", "operation"]
NUMBERS = ["percent", "value", "low", "high", "n", "beyond"]
TABLE = Table("percentiles", [*KEYS, *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
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
    return TABLE.frame(rows_of(histograms, lambda runs: PERCENTS))


def rows_of(
    histograms: pd.DataFrame, percents: Callable[[list[pd.Series]], list[float]]
) -> list[list[object]]:
    """The rows of ``percentiles``, of the ``percents`` of each operation's runs."""
    rows = []
    for key, runs in runs_of(histograms):
        chosen = percents(runs)
        for percent, of in zip(chosen, percentiles_over_runs(runs, chosen), strict=True):
            rows.append([*key, percent, of.value, of.low, of.high, of.runs, of.beyond])
    return rows
