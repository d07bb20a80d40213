"""How a source prints its numbers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kvstudy.study.base import Strict


class PrintedForm(Strict):
    """How a source prints its numbers, so that its tables can be made again cell by cell."""

    decimal_mark: Literal[".", ","] = Field(default=".", description="The decimal mark.")
    group_mark: Literal["", " ", ",", "."] = Field(
        default="", description="What parts whole digits into groups of three."
    )
    decimals: dict[str, int] = Field(
        default={}, description="Decimals of the metrics that always have the same number of them."
    )
    most_decimals: int = Field(
        default=2, ge=0, description="Most decimals of all other values; zeros at the end are cut."
    )

    def text(self, metric: str, value: float) -> str:
        """``value`` as the source prints it, but where ``published.csv`` says otherwise."""
        fixed = self.decimals.get(metric)
        text = f"{value:.{self.most_decimals if fixed is None else fixed}f}"
        if fixed is None and "." in text:
            text = text.rstrip("0").rstrip(".")
        whole, point, rest = text.partition(".")
        grouped = f"{int(whole):,}".replace(",", self.group_mark) if self.group_mark else whole
        return grouped + point.replace(".", self.decimal_mark) + rest
