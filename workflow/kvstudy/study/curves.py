"""Tables and figures over one size: threads, records or operations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.language.current import N_
from kvstudy.study.base import Name, Size, Sizes
from kvstudy.study.kinds import AnyTable

if TYPE_CHECKING:
    from kvstudy.study.model import Study


class SweepTable(AnyTable):
    """Throughput over a size: a row for each value, columns for stores and other sizes."""

    cells = "every size"

    kind: Literal["sweep"] = Field(description="Throughput over threads, records or operations.")
    workload: Name = Field(description="The workload.")
    over: Size = Field(description="The size that the rows have.")
    where: Sizes = Field(
        default=Sizes(),
        description="The other sizes; a list makes a column for each. Left out: those shown.",
    )

    def check(self, study: Study, path: Path, key: str) -> None:
        """KvstudyError for names that the study does not have, or a line without cells."""
        from kvstudy.study.check_shown import check_lines

        super().check(study, path, key)
        check_lines(self, study, path, key)


class ScalingTable(AnyTable):
    """Where throughput saturates; a part of every report with six thread counts or more."""

    cells = "every size"
    own_caption = N_("Throughput over client threads")

    kind: Literal["scaling"] = Field(
        description="Saturation and the universal scalability law, per store and workload."
    )
