"""One check of a source, as a row of audit.csv."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from enum import StrEnum

from kvstudy.audit.number import Number


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
    """Whether it fits; ``NONE`` where there is nothing to judge by, or no fault is meant.

    ``DIGIT``: a number of the text of which only the last digit is wrong.
    """

    YES = "yes"
    DIGIT = "last digit"
    NO = "no"
    NONE = ""


@dataclass(frozen=True)
class Check:
    """``given`` is what the source gives, ``expected`` what it should be by all else it says.

    What lies from ``low`` to ``high`` fits. ``what`` says it in words; ``place`` is a table
    or a passage of the source. Sizes are NaN, words "" where they do not apply.
    """

    kind: Kind
    place: str
    what: str
    given: float
    expected: float
    low: float
    high: float
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

    def row(self) -> dict[str, object]:
        """As a row of audit.csv."""
        return {name: str(x) if isinstance(x, StrEnum) else x for name, x in asdict(self).items()}


COLUMNS = [field.name for field in fields(Check)]
NUMBERS = ["given", "expected", "low", "high", "records", "operations", "threads"]


def judged(given: Number, low: float, high: float) -> dict[str, object]:
    """The fields of a check of ``given`` against what is from ``low`` to ``high``.

    ``low`` and ``high`` become those of the value as printed: what rounding has
    hidden is allowed for.
    """
    below, above = given.value - given.low, given.high - given.value
    fits = Fits.YES if given.meets(low, high) else Fits.NO
    return {"given": given.value, "low": low - above, "high": high + below, "fits": fits}
