"""One check of a source, as a row of audit.csv."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from enum import StrEnum

from kvstudy.analyse.audit.number import Number
from kvstudy.language.current import N_


class Kind(StrEnum):
    """What is checked, with its heading; in the order of tables and text."""

    heading: str

    def __new__(cls, value: str, heading: str) -> Kind:
        kind = str.__new__(cls, value)
        kind._value_, kind.heading = value, heading
        return kind

    LITTLE = "little", N_("Throughput, latency and threads (Little's law)")
    RUNTIME = "runtime", N_("Throughput times run time = operations")
    COMBINED = "combined", N_("Combined rows = what they are said to be")
    WEIGHTED = "weighted", N_("Combined rows against all operations together")
    COUNTS = "counts", N_("Operation counts = the operations of a run")
    STEPS = "steps", N_("Means of whole numbers")
    MIXTURE = "mixture", N_("Scatter of the operation counts")
    FAILURES = "failures", N_("Operation counts and stated failures")
    ORDER = "order", N_("Order of minimum, mean, percentiles, maximum")
    THREADS = "threads", N_("N threads at most N times as fast as one")
    TEXT = "text", N_("Numbers in the text = the tables")


class Fits(StrEnum):
    """Whether it fits, and if not, what that changes (``severity``), the gravest first.

    ``NONE`` where there is nothing to judge by, or no fault is meant.
    """

    RESULT = N_("changes a result")
    VALUE = N_("changes a value")
    DIGITS = N_("changes digits")
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
