"""Tables and figures that set the source against itself, and against what was measured."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kvstudy.study.base import Name
from kvstudy.study.kinds import AnyTable


class AuditTable(AnyTable):
    """The checks of the source, and what does not fit; a part of every report with a source."""

    cells = "none"

    kind: Literal["audit"] = Field(
        description="Checks of the source's tables and text, and what does not fit."
    )


class AuditedTable(AnyTable):
    """What the checks of one of the source's tables found, beside that table."""

    cells = "none"

    kind: Literal["audited"] = Field(
        description="The checks of the source's values of a workload, one column per store."
    )
    workload: Name = Field(description="The workload.")


class AgainstTable(AnyTable):
    """Ratios to one store, published and here; a part of every report with both."""

    controls = "noise floor"

    kind: Literal["against"] = Field(
        description="Throughput by that of one store, published and measured."
    )
    base: Name | None = Field(
        default=None,
        description="The store that the others are divided by. Left out: the first that has "
        "values on both sides.",
    )
