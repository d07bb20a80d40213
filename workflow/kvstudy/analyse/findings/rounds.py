"""Times of single operations from the rounds of cells, and when a cache pays off by them.

The time of an operation in a round is the sum of its latencies by their number. Of a
cell's rounds the trimmed mean is taken. Where a setting has one cell, its error is that
of this mean (``stats.intervals``), over the rounds: it shows how well the rounds of one
server and client repeat, not how another server would do. With several cells it is that
of the mean over the cells.

From how many reads per write on does a cache before a database pay off? One write is followed by
N reads. Without a cache that costs W + N·R: the write and the
reads of the database. With a cache the write also deletes the key in the cache (D), the
first read misses there (r), reads the database (R) and writes the cache (w), and all others
find the record in the cache: (W + D) + (r + R + w) + (N - 1)·r. Both cost the same
at N = (D + w + R)/(R - r). Of N reads, N - 1 hit, so the hit probability there is (N - 1)/N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.tidy.files import CELL, SETTING
from kvstudy.analyse.tidy.results import over_records
from kvstudy.libraries import pd
from kvstudy.stats.intervals import (
    LEVEL,
    Estimate,
    Interval,
    plain_mean,
    quotient,
    trimmed_mean,
)

KEYS = [*SETTING, "records", "operation"]
NUMBERS = [
    *["operations", "missed", "rounds", "cells"],
    *["least", "most", "mean", "time", "error", "freedom"],
]
ROUNDS = AnalysisTable(
    "rounds",
    [*KEYS, *NUMBERS],
    ["records", *NUMBERS],
    make=lambda run, tables: rounds(run.rounds, run.counted),
)
# The name of the time of all operations of one round (ms), in keys of single runs.
ROUND_TIME = "round_time"
# What the costs are computed from, and what the table calls that.
FROM = {"runtime": "run times", "throughput": "rates"}


def rounds(table: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """One row per setting and operation.

    ``table`` is ``rounds.csv``, ``counted`` the cells that count (columns ``CELL``). Columns:
    operations (of one round), missed (the share of them that was not OK), rounds (that count, of
    all cells), cells, least, most and mean (us of one operation, over all rounds), time (us, the
    trimmed mean) with its standard error (NaN for cells of one round) and the degrees of freedom
    of that. Of less than five rounds nothing is dropped.
    """
    rows = []
    some = table[table["counted"] == "yes"].merge(counted, on=CELL)
    some = some.assign(us=some["ns"] / some["operations"] / 1000)
    for key, of in some.groupby(KEYS, sort=False):
        cells = of.groupby("repetition", sort=False)["us"]
        estimates = [trimmed_mean(values) for _, values in cells]
        means = [each.value for each in estimates]
        estimate = estimates[0] if len(means) == 1 else plain_mean(means)
        missed = 1 - of["ok"].sum() / of["operations"].sum()
        numbers = [of["operations"].iloc[0], missed, len(of), len(estimates)]
        numbers += [of["us"].min(), of["us"].max(), of["us"].mean()]
        rows.append([*key, *numbers, estimate.value, estimate.error, estimate.freedom])
    return ROUNDS.frame(rows).astype({"error": float, "freedom": float})


class Times:
    """The times of a workload with rounds (``rounds``), by store, records and operation.

    Their intervals have the ``level``.
    """

    def __init__(self, table: pd.DataFrame, workload: str, level: float = LEVEL) -> None:
        self._level = level
        rows = table[table["workload"] == workload]
        self.records = sorted({int(number) for number in rows["records"]})
        self._found = {
            (row.store, int(row.records), row.operation): row for row in rows.itertuples()
        }

    def row(self, store: str, records: int, operation: str):
        """The row of ``rounds``, or None."""
        return self._found.get((store, records, operation))

    def estimate(self, store: str, records: int, operation: str) -> Estimate | None:
        """The time of one operation in us; None where it was not measured."""
        row = self.row(store, records, operation)
        if row is None:
            return None
        known = (None, None) if pd.isna(row.error) else (row.error, row.freedom)
        return Estimate(row.time, *known, self._level)

    def relative(self, baseline: str, store: str, records: int, operation: str) -> Interval | None:
        """The baseline's time by the store's; None where one of them was not measured."""
        both = [self.estimate(name, records, operation) for name in (baseline, store)]
        return None if None in both else quotient(both, above=(1, 0), below=(0, 1))


@dataclass(frozen=True)
class Costs:
    """Times of one operation in us: of the database, then of the cache."""

    write: Estimate
    read: Estimate
    cache_write: Estimate
    cache_read: Estimate
    cache_delete: Estimate

    def without(self, reads: float) -> float:
        """Cost of one write and its ``reads`` (us) without a cache."""
        return self.write.value + reads * self.read.value

    def cached(self, reads: float) -> float:
        """The same with a cache."""
        first = self.cache_read.value + self.read.value + self.cache_write.value
        rest = (reads - 1) * self.cache_read.value
        return self.write.value + self.cache_delete.value + first + rest

    def crossing(self) -> Interval | None:
        """Reads per write from which on the cache pays off; None when it never does."""
        return crossing(self.cache_delete, self.cache_write, self.read, self.cache_read)


def crossing(
    cache_delete: Estimate, cache_write: Estimate, read: Estimate, cache_read: Estimate
) -> Interval | None:
    """Reads per write from which on the cache pays off; None when it never does.

    The time of a write to the database is in both costs, and does not matter.
    """
    parts = (cache_delete, cache_write, read, cache_read)
    return quotient(parts, above=(1, 1, 1, 0), below=(0, 0, 1, -1))


def costs_of(times: Times, database: str, cache: str, records: int) -> Costs | None:
    """The costs with so many records; None where one of them is missing."""
    operations = [(database, "insert"), (database, "read")]
    operations += [(cache, operation) for operation in ("insert", "read", "delete")]
    costs = [times.estimate(store, records, operation) for store, operation in operations]
    return None if None in costs else Costs(*costs)


def hit_probability(crossing: Interval) -> Interval:
    """The share of reads that find their record in the cache, at the crossing."""
    reads = (crossing.value, crossing.low, crossing.high)
    # With less than one read per write there is nothing to hit.
    hits = (each if each is None else max(0.0, 1 - 1 / each) if each else 0.0 for each in reads)
    return Interval(*hits)


def printed(
    published: pd.DataFrame | None, workload: str, database: str, cache: str
) -> dict[int, tuple[float, float]]:
    """Reads per write and hit probability (0 to 1) as the source states them, by records."""
    source = over_records(published, workload)
    pair = f"{cache}/{database}"
    costs = {}
    for (store, operation, metric, records), (value, _) in source.items():
        if (store, metric) == (pair, "break_even"):
            hits = source.get((pair, operation, "hit_probability", records), (float("nan"), ""))[0]
            costs[records] = (value, hits / 100)
    return costs


def published_costs(
    published: pd.DataFrame | None,
    workload: str,
    database: str,
    cache: str,
    records: int,
    metric: str,
) -> Costs | None:
    """``costs_of`` the source's times. ``metric`` is one of ``FROM``.

    Without a published deletion, it costs as much as a write.
    """
    if published is None:
        return None
    rows = published[published["workload"] == workload]
    reads = rows.loc[rows["operation"] == "read", "operations"].dropna().unique()
    rows = rows[(rows["metric"] == metric) & (rows["value"] > 0) & rows["records"].notna()]
    if metric == "throughput":
        time = 1e6 / rows["value"]
    else:
        # Of all writes of a round, or of all reads, unless it is not said how many they are.
        number = rows["records"].where(
            rows["operation"] != "read", reads[0] if len(reads) == 1 else math.nan
        )
        time = rows["value"] * 1e3 / number
    rows = rows.assign(time=time, error=math.nan, freedom=math.nan).dropna(subset="time")
    writes = rows[rows["operation"] == "insert"].assign(operation="delete")
    rows = pd.concat([writes, rows])
    return costs_of(Times(rows, workload), database, cache, records)
