"""Whether each run reached a steady state, and what it says without its warm-up."""

from __future__ import annotations

from kvstudy.analyse.tidy.files import CELL, Table
from kvstudy.libraries import pd
from kvstudy.stats.over_time import warm_up

TABLE = Table(
    "steadiness",
    [*CELL, "seconds", "cut", "verdict", "variation", "whole", "steady"],
    ["seconds", "cut", "variation", "whole", "steady"],
    "analyse",
)


def make(run, made) -> pd.DataFrame:
    return steadiness(run.series.merge(run.counted, on=CELL))


def steadiness(series: pd.DataFrame) -> pd.DataFrame:
    """One row per cell, from its one-second values (``series.csv``).

    Columns: store, workload, parameters, repetition, seconds (whole ones of the
    measured phase), cut (s of warm-up, MSER-5), verdict, variation (coefficient
    of the seconds after the cut), whole and steady (mean of the seconds' ops/s,
    all of them and those after the cut).
    """
    rows = []
    for key, run in series.groupby(CELL, sort=False):
        values = run.sort_values("second")["throughput"]
        found = warm_up(values)
        steady = values.iloc[found.cut :].mean()
        verdict = [found.cut, str(found.verdict), found.variation]
        rows.append([*key, len(values), *verdict, values.mean(), steady])
    return TABLE.frame(rows)
