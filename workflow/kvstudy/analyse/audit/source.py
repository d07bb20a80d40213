"""What the checks of a source are of: its tables' values, and what it says beside."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.audit.check import Check, Kind, Number, half_unit, judged
from kvstudy.analyse.tidy.results import read_published
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.parts import MEAN
from kvstudy.study.published import PRINTED, read_rows
from kvstudy.study.quotes import Setting, StatedFailures, split_address

# What belongs together: all values of one run of the source.
CELL = ["store", "workload", *SIZES]


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
        """Of the rows (``source.read_values``) of one run."""
        first = rows.iloc[0]
        return Cell(
            first["table"],
            rows.drop_duplicates("operation").set_index("operation")["table"].to_dict(),
            first[CELL].to_dict(),
            {(row.operation, row.metric): row.number for row in rows.itertuples()},
        )

    def addresses(self, values: Iterable[tuple[str, str]]) -> str:
        """Those (``study.quotes``) of values by operation and metric, "; " between them."""
        sizes = "".join(
            f" {name}={self.keys[name]:.0f}" for name in SIZES if not math.isnan(self.keys[name])
        )
        start = f"{self.keys['store']}/{self.keys['workload']}"
        return "; ".join(f"{start}/{operation}/{metric}{sizes}" for operation, metric in values)

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
        self, kind: Kind, what: str, given: Number, expected: Number, **more: object
    ) -> Check:
        """Of ``given``, which must meet ``expected``; ``more`` are further fields."""
        fields = {"place": self.place} | self.keys | judged(given, expected) | more
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


def read_values(path: Path, decimals: int) -> pd.DataFrame:
    """The published values (``read_published``) that are there, with a column ``number``.

    ``decimals`` are those that a whole number of the tables has left out.
    """
    frame = read_published(path)
    texts = pd.Series([row["value"] for row in read_rows(path)], dtype=str)
    # The file may say 208419.0 for a number without decimals.
    texts = texts.str.replace(r"\.0+$", "", regex=True)
    shown = frame[PRINTED].where(frame[PRINTED] != "", texts)
    frame["number"] = [
        Number.rounded(value, half_unit(text, value, decimals))
        for text, value in zip(shown, frame["value"], strict=True)
    ]
    return frame.dropna(subset="value").reset_index(drop=True)


def at(values: pd.DataFrame, address: str) -> list[Number]:
    """The numbers at ``address`` (see ``study.quotes``); KvstudyError where there is none.

    Any workload is none that is the mean of the others.
    """
    keys, _ = split_address(address)
    found = which(values, address)
    if not found.any():
        hint = "look up which values the table of the source has"
        for name, wanted in reversed(keys.items()):
            # The first part of the address that the values do not have, and what they have.
            names = dict.fromkeys(values[name])
            if wanted not in ("*", *names):
                hint = f"no {name} '{wanted}' there, only {', '.join(names)}"
        raise KvstudyError(f"published.csv has no value at '{address}'; {hint}")
    return list(values.loc[found, "number"])


def which(values: pd.DataFrame, address: str) -> pd.Series:
    """Whether each of the values is at ``address``."""
    keys, sizes = split_address(address)
    found = pd.Series(True, index=values.index)
    for name, wanted in keys.items():
        if wanted != "*":
            found &= values[name] == wanted
        elif name == "workload":
            found &= values[name] != MEAN
    for name, wanted in sizes.items():
        found &= values[name] == wanted
    return found
