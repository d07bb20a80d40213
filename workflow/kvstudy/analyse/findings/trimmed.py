"""Trimmed means, for a study whose source dropped its smallest and largest runs."""

from __future__ import annotations

from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.intervals import trimmed_mean

FEWEST = 5
METRICS = ["throughput", "runtime"]
KEYS = ["store", "workload", "parameters", "metric", "unit"]
NUMBERS = ["n", "mean", "trimmed", "low", "high"]
TABLE = Table("trimmed", [*KEYS, *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    return trimmed(run.own_values)


def trimmed(values: pd.DataFrame) -> pd.DataFrame:
    """Plain and trimmed mean of throughput and run time over the repetitions, whole phases.

    Columns: store, workload, parameters, metric, unit, n, mean, trimmed with its
    95 % interval low and high (Tukey and McLaughlin's; in ``unit``). Cells with less
    than five runs that count have no row: nothing can be dropped.
    """
    rows = []
    chosen = values[(values["operation"] == "overall") & values["metric"].isin(METRICS)]
    for key, group in chosen.groupby(KEYS, sort=False):
        if len(group) < FEWEST:
            continue
        found = trimmed_mean(group["value"])
        rows.append([*key, found.n, group["value"].mean(), found.value, found.low, found.high])
    return TABLE.frame(rows)
