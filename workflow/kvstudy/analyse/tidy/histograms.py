"""``histograms.csv``: the different latencies of an operation in a cell, and how often each was.

A row for each latency would be tens of millions in a large run, a gigabyte that takes longer to
read than all else of the analysis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kvstudy.analyse.tidy.files import HISTOGRAMS, SETTING, path_of
from kvstudy.errors import DataError
from kvstudy.libraries import np, pd


class Histogram(NamedTuple):
    """The ``counts`` of rising ``latencies`` (us) of an operation in a cell, as integers.

    ``key`` is store, workload, parameters and operation.
    """

    key: tuple[str, ...]
    repetition: str
    latencies: np.ndarray
    counts: np.ndarray

    @property
    def cell(self) -> tuple[str, ...]:
        return (*self.key[:-1], self.repetition)


def histogram_row(phase: str, operation: str, counts: Mapping[int, int]) -> dict[str, str]:
    """The row of ``counts`` by rising latency, without the columns of the cell."""
    numbers = {"latencies": counts, "counts": counts.values()}
    lists = {name: " ".join(map(str, of)) for name, of in numbers.items()}
    return {"phase": phase, "operation": operation} | lists


def read_histograms(table: pd.DataFrame) -> Iterator[Histogram]:
    """Yield the histogram of each row of the ``table``; DataError for one that is broken."""
    for row in table.itertuples():
        try:
            latencies, counts = (
                np.fromstring(numbers, dtype=np.int64, sep=" ")
                for numbers in (row.latencies, row.counts)
            )
            if latencies.size != counts.size or not counts.size:
                raise ValueError(f"{latencies.size} latencies, {counts.size} counts")
        # A row that was cut off has no text at its end.
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{HISTOGRAMS.name}.csv: {path_of(row)}, {row.operation}: {error}; the file is "
                f"{HISTOGRAMS.made_by}"
            ) from None
        key = (*(getattr(row, name) for name in SETTING), row.operation)
        yield Histogram(key, row.repetition, latencies, counts)
