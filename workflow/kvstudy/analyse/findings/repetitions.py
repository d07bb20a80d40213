"""Statistics over all repetitions of a setting: intervals, trimmed means, percentiles.

Percentiles are those of single latencies (us), from the sum of the repetitions' histograms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.findings.spread import level_of
from kvstudy.analyse.tidy.files import SETTING, SUMMARY_KEYS
from kvstudy.analyse.tidy.histograms import Histogram
from kvstudy.libraries import pd
from kvstudy.stats.intervals import FEWEST_TO_TRIM, LEVEL, log_t_interval, trimmed_mean, variation
from kvstudy.stats.percentiles import ENOUGH_BEYOND, PooledRuns, samples_beyond

METRICS = ["throughput", "runtime", "latency_mean", "client_cpu", "server_cpu"]
NUMBERS = ["n", "value", "low", "high", "cv"]
INTERVALS = AnalysisTable(
    "intervals",
    [*SUMMARY_KEYS, *NUMBERS],
    NUMBERS,
    make=lambda run, tables: intervals(run.own_values, level_of(run.study)),
)
TRIMMED_METRICS = ["throughput", "runtime"]
TRIMMED_KEYS = [*SETTING, "metric", "unit"]
TRIMMED_NUMBERS = ["n", "mean", "trimmed", "low", "high"]
TRIMMED = AnalysisTable(
    "trimmed",
    [*TRIMMED_KEYS, *TRIMMED_NUMBERS],
    TRIMMED_NUMBERS,
    make=lambda run, tables: trimmed(run.own_values, level_of(run.study)),
)
PERCENTS = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99]
# Places of the spectrum in a factor of ten of 1/(1 - p): from 90 % to 99 % it is as far as to
# 99.9 %.
PLACES = 20
# Evenly spaced in log(1/(1 - p)), rising; further ones are 100 % in eight decimals.
SPECTRUM_PERCENTS = [
    percent
    for place in range(11 * PLACES)
    if (percent := round(100 * (1 - 10 ** (-place / PLACES)), 8)) < 100
]
OPERATION_KEYS = [*SETTING, "operation"]
# The runs of each store, workload, parameters and operation.
Pooled = dict[tuple[str, ...], PooledRuns]
PERCENT_NUMBERS = ["percent", "value", "low", "high", "n", "beyond"]
PERCENTILES = AnalysisTable(
    "percentiles",
    [*OPERATION_KEYS, *PERCENT_NUMBERS],
    PERCENT_NUMBERS,
    make=lambda run, tables: percentiles(run.pooled_latencies),
)
SPECTRUM = AnalysisTable(
    "spectrum",
    PERCENTILES.columns,
    PERCENT_NUMBERS,
    make=lambda run, tables: spectrum(run.pooled_latencies),
)
IN_BOX = {"p1": 1.0, "p5": 5.0, "p25": 25.0, "p50": 50.0, "p75": 75.0, "p95": 95.0, "p99": 99.0}
OF_BOX = [*IN_BOX, "largest", "operations", "n"]
BOXES = AnalysisTable(
    "boxes",
    [*OPERATION_KEYS, *OF_BOX],
    OF_BOX,
    make=lambda run, tables: boxes(run.pooled_latencies),
)


def intervals(values: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Geometric mean and log-t interval over the repetitions.

    ``values`` has one row per repetition (``tidy.summary.per_repetition``). Columns: value, low,
    high (in ``unit``; NaN for one run), cv.
    """
    rows = []
    chosen = values[values["metric"].isin(METRICS) & (values["value"] > 0)]
    for key, group in chosen.groupby(SUMMARY_KEYS, sort=False):
        interval = log_t_interval(group["value"], level)
        rows.append(
            [
                *key,
                interval.n,
                interval.value,
                interval.low,
                interval.high,
                variation(group["value"]),
            ]
        )
    return INTERVALS.frame(rows)


def trimmed(values: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Plain and trimmed mean of throughput and run time over the repetitions, whole phases.

    Columns: n, mean, trimmed with its interval low and high (Tukey and McLaughlin's; in
    ``unit``). Cells with less than five runs that count have no row: nothing can be dropped.
    """
    rows = []
    chosen = values[(values["operation"] == "overall") & values["metric"].isin(TRIMMED_METRICS)]
    for key, group in chosen.groupby(TRIMMED_KEYS, sort=False):
        if len(group) >= FEWEST_TO_TRIM:
            mean = trimmed_mean(group["value"], level)
            means = [group["value"].mean(), mean.value, mean.low, mean.high]
            rows.append([*key, len(group), *means])
    return TRIMMED.frame(rows)


def percentiles(pooled: Pooled) -> pd.DataFrame:
    """One row per store, workload, parameters, operation and percentage.

    Columns: value of the merged histogram, low and high (the range of the single runs' values),
    n runs, beyond (operations of all runs that are slower).
    """
    return _percentiles(pooled, lambda samples: PERCENTS)


def spectrum(pooled: Pooled) -> pd.DataFrame:
    """As ``percentiles``, with one row per place of the spectrum of latencies.

    From 0 % (the smallest latency) to the last place with at least 100 operations of
    all runs beyond it.
    """
    return _percentiles(pooled, _places)


def boxes(pooled: Pooled) -> pd.DataFrame:
    """Return the values of box plots, one row per store, workload, parameters and operation.

    Columns: percentiles and the largest latency, how many operations they are of, n runs.
    """
    return BOXES.frame(
        [
            [*key, *runs.quantiles([*IN_BOX.values(), 100.0]), runs.samples, runs.runs]
            for key, runs in pooled.items()
        ]
    )


def pool(histograms: Iterable[Histogram]) -> Pooled:
    """Add up the histograms of the repetitions."""
    pooled: Pooled = {}
    for of in histograms:
        runs = pooled.setdefault(of.key, PooledRuns(PERCENTS + SPECTRUM_PERCENTS))
        runs.add(of.latencies, of.counts)
    return pooled


def _percentiles(pooled: Pooled, percents: Callable[[int], list[float]]) -> pd.DataFrame:
    """``percents`` chooses those of an operation by its number of samples."""
    rows = []
    for key, runs in pooled.items():
        chosen = percents(runs.samples)
        for percent, of in zip(chosen, runs.percentiles(chosen), strict=True):
            rows.append([*key, percent, *of])
    return PERCENTILES.frame(rows)


def _places(samples: int) -> list[float]:
    """Places of the spectrum with enough samples beyond them; the first one always."""
    first, *others = SPECTRUM_PERCENTS
    enough = (percent for percent in others if samples_beyond(samples, percent) >= ENOUGH_BEYOND)
    return [first, *enough]
