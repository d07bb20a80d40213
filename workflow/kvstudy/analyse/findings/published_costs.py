"""A cache's break-even from the times that a source printed, by the same formula."""

from __future__ import annotations

from kvstudy.analyse.findings.break_even import Costs
from kvstudy.analyse.tidy.published import over_records
from kvstudy.libraries import pd
from kvstudy.stats.estimates import Estimate

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
        number = records if operation != "read" else reads_of(published, workload)
        return None if number is None else Estimate(value * 1e3 / number, None, None)

    write, delete = time(cache, "insert"), time(cache, "delete")
    found = [time(database, "insert"), time(database, "read"), write, time(cache, "read")]
    found.append(delete or write)
    return None if None in found else Costs(*found)


def reads_of(published: pd.DataFrame, workload: str) -> int | None:
    """How many reads the published run times of reads are of; None where that is not said."""
    rows = published[(published["workload"] == workload) & (published["operation"] == "read")]
    numbers = rows["operations"].dropna().unique()
    return int(numbers[0]) if len(numbers) == 1 else None
