"""Tables that put the stores in order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from kvstudy.language.texts import Text
from kvstudy.study.base import Name, Strict
from kvstudy.study.kinds import AnyTable
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.study.model import Study


class RankingLine(Strict):
    """One order of the stores."""

    title: Text = Field(description="What the order is of, for example Inserting.")
    workload: Name = Field(
        description="Its throughput gives the order; mean stands for the mean of all."
    )


class RankingTable(AnyTable):
    """The places of the stores by throughput, one line per workload or for their mean."""

    controls = "all"

    kind: Literal["ranking"] = Field(
        description="The stores in the order of their throughput; those that the runs do not tell "
        "apart share a place."
    )
    lines: Annotated[list[RankingLine], Field(min_length=1)] = Field(
        description="The lines of the table."
    )

    def _named_workloads(self) -> list[str]:
        return [line.workload for line in self.lines]

    def check(self, study: Study, path: Path, key: str) -> None:
        """KvstudyError for a line of a workload that the study has not."""
        names = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
        for index, line in enumerate(self.lines):
            key_of_line = f"{key}.lines[{index}].workload"
            if line.workload not in names:
                check_known(path, key_of_line, "workload", line.workload, study.workload_names)
