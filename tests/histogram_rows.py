"""Histograms as ``histograms.csv`` has them, from one row per latency."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import pandas as pd
from kvstudy.analyse.tidy.files import CELL, HISTOGRAMS
from kvstudy.analyse.tidy.histograms import histogram_row, read_histograms


def histograms(rows: Iterable[list]) -> pd.DataFrame:
    """The table of ``rows`` of cell, phase, operation, rising latency (us) and count."""
    counts: dict[tuple, dict[int, int]] = defaultdict(dict)
    for *key, latency, count in rows:
        counts[tuple(key)][int(latency)] = int(count)
    return HISTOGRAMS.frame(
        [
            dict(zip(CELL, cell, strict=True)) | histogram_row(phase, operation, of)
            for (*cell, phase, operation), of in counts.items()
        ]
    )


def long(table: pd.DataFrame) -> pd.DataFrame:
    """The ``table`` with a row per latency, of numbers in the columns ``latency`` and ``count``."""
    numbers = [(each.latencies, each.counts) for each in read_histograms(table)]
    latencies, counts = zip(*numbers, strict=True) if numbers else ([], [])
    lists = table.drop(columns=["latencies", "counts"])
    return lists.assign(latency=latencies, count=counts).explode(["latency", "count"])
