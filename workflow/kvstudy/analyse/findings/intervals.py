"""Each value with its 95 % interval."""

from __future__ import annotations

from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.intervals import log_t_interval, variation

METRICS = ["throughput", "runtime", "latency_mean", "client_cpu", "server_cpu"]
KEYS = ["store", "workload", "parameters", "operation", "metric", "unit"]
NUMBERS = ["n", "value", "low", "high", "cov"]
TABLE = Table("intervals", [*KEYS, *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    return intervals(run.own_values)


def intervals(values: pd.DataFrame) -> pd.DataFrame:
    """Geometric mean and 95 % log-t interval over the repetitions.

    ``values`` has one row per repetition (``tidy.summary.per_repetition``).
    Columns: store, workload, parameters, operation, metric, unit, n, value, low,
    high (in ``unit``; NaN for one run), cov.
    """
    rows = []
    chosen = values[values["metric"].isin(METRICS) & (values["value"] > 0)]
    for key, group in chosen.groupby(KEYS, sort=False):
        found = log_t_interval(group["value"])
        rows.append([*key, found.n, found.value, found.low, found.high, variation(group["value"])])
    return TABLE.frame(rows)
