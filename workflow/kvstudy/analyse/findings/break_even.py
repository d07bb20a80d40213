"""From how many reads per write on a cache before a database pays off.

One write is followed by N reads. Without a cache that costs W + N·R: the write and the
reads of the database. With a cache the write also deletes the key in the cache (D), the
first read misses there (r), reads the database (R) and writes the cache (w), and all others
find the record in the cache: (W + D) + (r + R + w) + (N - 1)·r. Both cost the same
at N = (D + w + R)/(R - r). Of N reads, N - 1 hit, so the hit probability there is (N - 1)/N.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf

from kvstudy.analyse.findings.rounds import Times
from kvstudy.analyse.tidy.results import over_records
from kvstudy.libraries import pd
from kvstudy.stats.intervals import Estimate, Quotient, quotient


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

    def crossing(self) -> Quotient | None:
        """Reads per write from which on the cache pays off; None when it never does."""
        return crossing(self.cache_delete, self.cache_write, self.read, self.cache_read)


def crossing(
    cache_delete: Estimate, cache_write: Estimate, read: Estimate, cache_read: Estimate
) -> Quotient | None:
    """Reads per write from which on the cache pays off; None when it never does.

    The time of a write to the database is in both costs, and does not matter.
    """
    parts = (cache_delete, cache_write, read, cache_read)
    return quotient(parts, above=(1, 1, 1, 0), below=(0, 0, 1, -1))


def costs_of(times: Times, database: str, cache: str, records: int) -> Costs | None:
    """The measured costs with so many records; None where one of them is missing."""
    wanted = [(database, "insert"), (database, "read")]
    wanted += [(cache, operation) for operation in ("insert", "read", "delete")]
    found = [times.estimate(store, records, operation) for store, operation in wanted]
    return None if None in found else Costs(*found)


def hit_probability(crossing: Quotient) -> Quotient:
    """The share of reads that find their record in the cache, at the crossing."""

    def share(reads: float | None) -> float | None:
        if reads is None:
            return None
        # With less than one read per write there is nothing to hit.
        return 1.0 if isinf(reads) else max(0.0, 1 - 1 / reads) if reads else 0.0

    return Quotient(*(share(each) for each in (crossing.value, crossing.low, crossing.high)))


# What the costs are worked out from, and what the table calls that.
FROM = {"runtime": "run times", "throughput": "rates"}


def printed(
    published: pd.DataFrame | None, workload: str, database: str, cache: str
) -> dict[int, tuple[float, float]]:
    """Reads per write and hit probability (0 to 1) as the source states them, by records."""
    source = over_records(published, workload)
    pair = f"{cache}/{database}"
    found = {}
    for (store, operation, metric, records), (value, _) in source.items():
        if (store, metric) == (pair, "break_even"):
            hits = source.get((pair, operation, "hit_probability", records), (float("nan"), ""))[0]
            found[records] = (value, hits / 100)
    return found


def published_costs(
    published: pd.DataFrame | None,
    workload: str,
    database: str,
    cache: str,
    records: int,
    metric: str,
) -> Costs | None:
    """The source's times with so many records; None where it does not have them all.

    ``metric`` is one of ``FROM``. Without a published deletion, it costs as much as a write.
    """
    source = over_records(published, workload)

    def time(store: str, operation: str) -> Estimate | None:
        value, _ = source.get((store, operation, metric, records), (float("nan"), ""))
        if pd.isna(value) or value <= 0:
            return None
        if metric == "throughput":
            return Estimate(1e6 / value, None, None)
        # All writes, or all reads, of a round.
        number = records
        if operation == "read":
            rows = published[published["workload"] == workload]
            numbers = rows.loc[rows["operation"] == "read", "operations"].dropna().unique()
            # Unless it is said how many they are.
            if len(numbers) != 1:
                return None
            number = int(numbers[0])
        return Estimate(value * 1e3 / number, None, None)

    write, delete = time(cache, "insert"), time(cache, "delete")
    found = [time(database, "insert"), time(database, "read"), write, time(cache, "read")]
    found.append(delete or write)
    return None if None in found else Costs(*found)
