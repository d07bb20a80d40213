"""99th percentiles that the text may name: of all runs together, of enough operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from kvstudy.stats.percentiles import ENOUGH_BEYOND

PERCENT = 99.0


@dataclass(frozen=True)
class Tail:
    """One operation: ``values`` are stores and percentiles (us), the smallest first.

    ``few`` are stores with too few operations beyond the percentile.
    """

    operation: str
    values: list[tuple[str, float]]
    few: list[str]


def tails(found: pd.DataFrame, stores: Sequence[str]) -> list[Tail]:
    """``found`` is ``analysis.percentiles`` of one workload and its parameters.

    An operation without a histogram is left out.
    """
    found = found[(found["percent"] == PERCENT) & found["store"].isin(stores)]
    tails = []
    for operation, rows in found.groupby("operation", sort=False):
        enough = rows[rows["beyond"] >= ENOUGH_BEYOND].sort_values("value", kind="stable")
        few = set(rows["store"]) - set(enough["store"])
        tails.append(
            Tail(
                operation,
                list(zip(enough["store"], enough["value"], strict=True)),
                [store for store in stores if store in few],
            )
        )
    return tails
