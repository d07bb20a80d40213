"""All values of one run of a source."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kvstudy.audit.number import Number
from kvstudy.study.quotes import Setting

Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Cell:
    """All values of one run of the source: ``numbers`` by operation and metric.

    ``place`` is the table of the first one, ``places`` are those of the operations.
    """

    place: str
    places: dict[str, str]
    keys: dict[str, object]
    numbers: dict[tuple[str, str], Number]

    def get(self, operation: str, metric: str) -> Number | None:
        return self.numbers.get((operation, metric))

    def of_operations(self, metric: str) -> dict[str, Number]:
        """The values of single operations."""
        return {
            operation: number
            for (operation, name), number in self.numbers.items()
            if name == metric and operation != "overall" and "+" not in operation
        }


def threads_of(cell: Cell, setting: Setting) -> float | None:
    own = cell.keys["threads"]
    return setting.threads if math.isnan(own) else own
