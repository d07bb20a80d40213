"""Each value with its 95 % interval: of all runs, and of those that a trimmed mean keeps."""

from __future__ import annotations

from kvstudy.analyse.findings import Finding
from kvstudy.analyse.tidy.files import SETTING, SUMMARY_KEYS
from kvstudy.libraries import pd
from kvstudy.stats.intervals import FEWEST_TO_TRIM, log_t_interval, trimmed_mean, variation

METRICS = ["throughput", "runtime", "latency_mean", "client_cpu", "server_cpu"]
NUMBERS = ["n", "value", "low", "high", "cov"]
INTERVALS = Finding(
    "intervals",
    [*SUMMARY_KEYS, *NUMBERS],
    NUMBERS,
    make=lambda run, made: intervals(run.own_values),
)
TRIMMED_METRICS = ["throughput", "runtime"]
TRIMMED_KEYS = [*SETTING, "metric", "unit"]
TRIMMED_NUMBERS = ["n", "mean", "trimmed", "low", "high"]
TRIMMED = Finding(
    "trimmed",
    [*TRIMMED_KEYS, *TRIMMED_NUMBERS],
    TRIMMED_NUMBERS,
    make=lambda run, made: trimmed(run.own_values),
)


def intervals(values: pd.DataFrame) -> pd.DataFrame:
    """Geometric mean and 95 % log-t interval over the repetitions.

    ``values`` has one row per repetition (``tidy.summary.per_repetition``). Columns: value, low,
    high (in ``unit``; NaN for one run), cov.
    """
    rows = []
    chosen = values[values["metric"].isin(METRICS) & (values["value"] > 0)]
    for key, group in chosen.groupby(SUMMARY_KEYS, sort=False):
        found = log_t_interval(group["value"])
        rows.append([*key, found.n, found.value, found.low, found.high, variation(group["value"])])
    return INTERVALS.frame(rows)


def trimmed(values: pd.DataFrame) -> pd.DataFrame:
    """Plain and trimmed mean of throughput and run time over the repetitions, whole phases.

    Columns: n, mean, trimmed with its 95 % interval low and high (Tukey and McLaughlin's; in
    ``unit``). Cells with less than five runs that count have no row: nothing can be dropped.
    """
    rows = []
    chosen = values[(values["operation"] == "overall") & values["metric"].isin(TRIMMED_METRICS)]
    for key, group in chosen.groupby(TRIMMED_KEYS, sort=False):
        if len(group) >= FEWEST_TO_TRIM:
            found = trimmed_mean(group["value"])
            rows.append([*key, found.n, group["value"].mean(), found.value, found.low, found.high])
    return TRIMMED.frame(rows)
