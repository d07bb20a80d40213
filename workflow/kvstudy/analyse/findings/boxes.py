"""What a box plot shows of single operations, from the sum of the runs' histograms."""

from __future__ import annotations

from kvstudy.analyse.findings.percentiles import KEYS, runs_of
from kvstudy.analyse.tidy.files import Table
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import merged, quantiles

PERCENTS = {"p1": 1.0, "p5": 5.0, "p25": 25.0, "p50": 50.0, "p75": 75.0, "p95": 95.0, "p99": 99.0}
NUMBERS = [*PERCENTS, "largest", "operations", "n"]
TABLE = Table("boxes", [*KEYS, *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    return boxes(run.counted_histograms)


def boxes(histograms: pd.DataFrame) -> pd.DataFrame:
    """One row per store, workload, parameters and operation.

    ``histograms`` is ``histograms.csv`` of the cells that count. Columns: percentiles
    and the largest latency (us), how many operations they are of, n runs.
    """
    rows = []
    for key, runs in runs_of(histograms):
        together = merged(runs)
        values = quantiles(together, [*PERCENTS.values(), 100.0])
        rows.append([*key, *values, int(together.sum()), len(runs)])
    return TABLE.frame(rows)
