"""What the checks of a source are of: all values of one run, and what the source says beside."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kvstudy.analyse.audit.check import Check, Kind, judged
from kvstudy.analyse.audit.number import Number
from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.quotes import Setting, StatedFailures


@dataclass(frozen=True)
class Cell:
    """All values of one run of the source: ``numbers`` by operation and metric.

    ``place`` is the table of the first one, ``places`` are those of the operations.
    """

    place: str
    places: dict[str, str]
    keys: dict[str, object]
    numbers: dict[tuple[str, str], Number]

    @staticmethod
    def of(rows: pd.DataFrame) -> Cell:
        """Of the rows (``values.read_values``) of one run."""
        first = rows.iloc[0]
        return Cell(
            first["table"],
            rows.drop_duplicates("operation").set_index("operation")["table"].to_dict(),
            {name: first[name] for name in ("store", "workload", *SIZES)},
            {(row.operation, row.metric): row.number for row in rows.itertuples()},
        )

    def address(self, operation: str, *metrics: str) -> str:
        """The addresses (``study.quotes``) of its values of an operation, "; " between them."""
        sizes = "".join(
            f" {name}={self.keys[name]:.0f}" for name in SIZES if not math.isnan(self.keys[name])
        )
        start = f"{self.keys['store']}/{self.keys['workload']}/{operation}/"
        return "; ".join(f"{start}{metric}{sizes}" for metric in metrics)

    def get(self, operation: str, metric: str) -> Number | None:
        return self.numbers.get((operation, metric))

    def of_operations(self, metric: str) -> dict[str, Number]:
        """The values of single operations."""
        return {
            operation: number
            for (operation, name), number in self.numbers.items()
            if name == metric and operation != "overall" and "+" not in operation
        }

    @property
    def executed(self) -> Number:
        """How many operations there were, by the counts of single ones."""
        return Number.exact(sum(each.value for each in self.of_operations("operations").values()))

    def check(
        self, kind: Kind, what: str, given: Number, low: float, high: float, **more: object
    ) -> Check:
        """Of ``given``, which must be from ``low`` to ``high``; ``more`` are further fields."""
        fields = {"place": self.place} | self.keys | judged(given, low, high) | more
        return Check(kind=kind, what=what, **fields)


@dataclass(frozen=True)
class Source:
    """How a source measured, which failures it speaks of, and its workloads.

    ``shares`` are those of the operations (0 to 1) of each workload.
    """

    setting: Setting
    failures: list[StatedFailures]
    shares: Mapping[str, Mapping[str, float]]

    def threads_of(self, cell: Cell) -> float | None:
        """The client threads of the cell."""
        own = cell.keys["threads"]
        return self.setting.threads if math.isnan(own) else own
