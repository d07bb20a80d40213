"""The commands and the output of one cell, as they were: a figure of text."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kvstudy.study.base import Name
from kvstudy.study.exhibits import AnyFigure


class Transcript(AnyFigure):
    """The commands and the output of one cell, as they were."""

    in_template = True
    cells = "every size"
    one_cell = True
    drawn = False

    kind: Literal["transcript"] = Field(description="Commands and output of a cell.")
    store: Name
    workload: Name
    part: Literal["server", "load", "run"]
