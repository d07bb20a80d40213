"""Times of single operations from the rounds of cells, with what is needed to compare them.

The time of an operation in a round is the sum of its latencies by their number. Of a
cell's rounds the trimmed mean is taken. Where a setting has one cell, its error is that
of this mean (``stats.intervals``), over the rounds: it tells how well the rounds of one
server and client repeat, not how another server would do. With several cells it is that
of the mean over the cells.
"""

from __future__ import annotations

from kvstudy.analyse.tidy.files import CELL, Table
from kvstudy.libraries import pd
from kvstudy.stats.intervals import Estimate, Quotient, mean_estimate, quotient, trimmed_estimate

KEYS = ["store", "workload", "parameters", "records", "operation"]
NUMBERS = ["operations", "rounds", "cells", "mean", "time", "error", "freedom"]
TABLE = Table("rounds", [*KEYS, *NUMBERS], ["records", *NUMBERS], "analyse")


def make(run, made) -> pd.DataFrame:
    return rounds(run.rounds, run.counted)


def rounds(found: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """One row per setting and operation.

    ``found`` is ``rounds.csv``, ``counted`` the cells that count (columns ``CELL``). Columns:
    store, workload, parameters, records, operation, operations (of one round), rounds
    (that count, of all cells), cells, mean (us of one operation, over all rounds), time (us,
    the trimmed mean) with its standard error (NaN for cells of one round) and the degrees
    of freedom of that. Of less than five rounds nothing is dropped.
    """
    rows = []
    some = found[found["counted"] == "yes"].merge(counted, on=CELL)
    some = some.assign(us=some["ns"] / some["operations"] / 1000)
    for key, of in some.groupby(KEYS, sort=False):
        cells = [group["us"].to_numpy() for _, group in of.groupby("repetition", sort=False)]
        estimate = _estimate([trimmed_estimate(values) for values in cells])
        numbers = [of["operations"].iloc[0], len(of), len(cells), of["us"].mean()]
        rows.append([*key, *numbers, estimate.value, estimate.error, estimate.freedom])
    return TABLE.frame(rows).astype({"error": float, "freedom": float})


def _estimate(cells: list[Estimate]) -> Estimate:
    return cells[0] if len(cells) == 1 else mean_estimate([cell.value for cell in cells])


class Times:
    """The times of a workload with rounds (``rounds``), by store, records and operation."""

    def __init__(self, found: pd.DataFrame, workload: str) -> None:
        own = found[found["workload"] == workload]
        self.records = sorted({int(number) for number in own["records"]})
        self._found = {
            (row.store, int(row.records), row.operation): row for row in own.itertuples()
        }

    def row(self, store: str, records: int, operation: str):
        """The row of ``rounds``, or None."""
        return self._found.get((store, records, operation))

    def estimate(self, store: str, records: int, operation: str) -> Estimate | None:
        """The time of one operation in us; None where it was not measured."""
        row = self.row(store, records, operation)
        if row is None:
            return None
        known = not pd.isna(row.error)
        return Estimate(row.time, row.error if known else None, row.freedom if known else None)

    def relative(self, baseline: str, store: str, records: int, operation: str) -> Quotient | None:
        """The baseline's time by the store's; None where one of them was not measured."""
        both = [self.estimate(name, records, operation) for name in (baseline, store)]
        return None if None in both else quotient(both, above=(1, 0), below=(0, 1))
