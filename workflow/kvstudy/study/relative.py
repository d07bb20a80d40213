"""Tables and figures of workloads with rounds: one store by another's, and a cache's gain.

*Relative performance* is the time of the baseline by that of the store, for the same
operations: 1:30 says that the store does in one second what takes the baseline 30.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvstudy.study.base import AnyFigure, AnyTable, Name, Strict

Part = Literal["insert", "read", "delete"]


class TwoStores(Strict):
    """Whose times are compared, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    baseline: Name = Field(description="The store that is the 1 of 1:x.")
    store: Name = Field(description="The store that is compared with it.")


class Caching(Strict):
    """A database and what could be a cache before it, under a workload with rounds."""

    workload: Name = Field(description="A workload with rounds.")
    database: Name = Field(description="The store that holds the records.")
    cache: Name = Field(description="The store that would be its cache.")


class RelativeTable(TwoStores, AnyTable):
    """Times and rates of two stores over the number of records, and their ratio."""

    kind: Literal["relative"] = Field(
        description="Times, rates and relative performance of two stores over the records."
    )
    operation: Part = Field(description="The operation of the rounds.")


class BreakEvenTable(Caching, AnyTable):
    """The number of reads per write from which a cache pays off."""

    kind: Literal["break-even"] = Field(
        description="From how many reads per write on a cache pays off, over the records."
    )


class RelativePlot(TwoStores, AnyFigure):
    """Relative performance over the number of records."""

    kind: Literal["relative"] = Field(description="Relative performance over the records.")
    operations: Annotated[list[Part], Field(min_length=1)] = Field(
        description="The operations of the rounds, a line for each."
    )


class BreakEvenPlot(Caching, AnyFigure):
    """Cost of a write and its reads with and without a cache."""

    kind: Literal["break-even"] = Field(
        description="Cost of a write and its reads, with and without a cache."
    )
    records: Annotated[int, Field(gt=0)] = Field(
        description="Times are those with so many records, or with the next fewer measured."
    )


ROUNDS_TABLES = (RelativeTable, BreakEvenTable)
ROUNDS_FIGURES = (RelativePlot, BreakEvenPlot)
