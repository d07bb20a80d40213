"""A check of a source, as a row of audit.csv, and the run of the source that it is of."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum

import pandas as pd

from kvstudy.analyse.audit.number import Number
from kvstudy.study.base import SIZES
from kvstudy.study.quotes import Setting


class Kind(StrEnum):
    """What is checked; in the order of tables and text."""

    LITTLE = "little"
    RUNTIME = "runtime"
    COMBINED = "combined"
    WEIGHTED = "weighted"
    COUNTS = "counts"
    STEPS = "steps"
    MIXTURE = "mixture"
    FAILURES = "failures"
    ORDER = "order"
    THREADS = "threads"
    TEXT = "text"


class Fits(StrEnum):
    """Whether it fits, and if not, what that changes (``severity``), the gravest first.

    ``NONE`` where there is nothing to judge by, or no fault is meant.
    """

    RESULT = "changes a result"
    VALUE = "changes a value"
    DIGITS = "changes digits"
    YES = "fits"
    NONE = ""


MISFITS = (Fits.RESULT, Fits.VALUE, Fits.DIGITS)
# Off by less than the first share, only digits change; from the second on, a result does.
SMALL, LARGE = 0.01, 0.1


def severity(off: float, turned: bool = False) -> Fits:
    """What changes when a number is off by the share ``off``.

    ``turned``: what was said to be more is less, so that an order is another one.
    """
    if turned or not abs(off) < LARGE:
        return Fits.RESULT
    return Fits.VALUE if abs(off) >= SMALL else Fits.DIGITS


@dataclass(frozen=True)
class Check:
    """``given`` is what the source gives, ``expected`` what it should be by all else it says.

    What lies from ``low`` to ``high`` fits; ``off`` is the share by which the given number is
    beyond that, 0 where it fits, NaN without a verdict. ``what`` says it in words; ``place`` is
    a table or a passage of the source. Sizes are NaN, words "" where they do not apply.
    ``doubts`` are the addresses (``study.quotes``) of the published values that cannot all be
    true if it does not fit, with "; " between; ``claim`` is the statement that makes it.
    """

    kind: Kind
    place: str
    what: str
    given: float
    expected: float
    low: float
    high: float
    off: float
    fits: Fits
    unit: str = ""
    store: str = ""
    workload: str = ""
    operation: str = ""
    metric: str = ""
    records: float = math.nan
    operations: float = math.nan
    threads: float = math.nan
    note: str = ""
    doubts: str = ""
    claim: str = ""

    def row(self) -> dict[str, object]:
        """As a row of audit.csv."""
        return {name: str(x) if isinstance(x, StrEnum) else x for name, x in asdict(self).items()}


COLUMNS = [field.name for field in fields(Check)]
NUMBERS = ["given", "expected", "low", "high", "off", "records", "operations", "threads"]


def judged(given: Number, low: float, high: float) -> dict[str, object]:
    """The fields of a check of ``given`` against what is from ``low`` to ``high``.

    ``low`` and ``high`` become those of the value as printed: what rounding has
    hidden is allowed for.
    """
    below, above = given.value - given.low, given.high - given.value
    off = beyond(given, low, high)
    fits = severity(off) if off else Fits.YES
    return {"given": given.value, "low": low - above, "high": high + below} | {
        "off": off,
        "fits": fits,
    }


def beyond(given: Number, low: float, high: float) -> float:
    """The share by which ``given`` must be beyond ``low`` to ``high``, whatever was rounded."""
    if given.meets(low, high):
        return 0.0
    own, bound = (given.high, low) if given.high < low else (given.low, high)
    return own / bound - 1 if own > 0 < bound else math.copysign(math.inf, own - bound)


# Of the operations (0 to 1), by workload and operation.
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


def threads_of(cell: Cell, setting: Setting) -> float | None:
    own = cell.keys["threads"]
    return setting.threads if math.isnan(own) else own
