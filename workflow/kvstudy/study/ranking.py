"""Tables that put the stores in order."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvstudy.language.texts import Text
from kvstudy.study.base import AnyTable, Name, Strict


class RankingLine(Strict):
    """One order of the stores."""

    title: Text = Field(description="What the order is of, for example Inserting.")
    workload: Name = Field(
        description="Its throughput gives the order; mean stands for the mean of all."
    )


class RankingTable(AnyTable):
    """The places of the stores by throughput, one line per workload or for their mean."""

    kind: Literal["ranking"] = Field(
        description="The stores in the order of their throughput; those that the runs do not tell "
        "apart share a place."
    )
    lines: Annotated[list[RankingLine], Field(min_length=1)] = Field(
        description="The lines of the table."
    )
