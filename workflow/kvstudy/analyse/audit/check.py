"""One check of a source, as a row of audit.csv, and the numbers that are compared."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from enum import StrEnum

from kvstudy.language.current import N_

# A number in a cell of a table: 26,2 m; 21 277; of 1:40 the second one.
PRINTED = re.compile(r"\d+(?:[ \u00a0\u202f]\d{3})*(?:[.,](\d+))?")
# Of the arithmetic of floating-point numbers.
SLACK = 1e-9


@dataclass(frozen=True)
class PrintedNumber:
    """``value`` as printed or computed; rounding leaves it between ``low`` and ``high``."""

    value: float
    low: float
    high: float

    @staticmethod
    def exact(value: float) -> PrintedNumber:
        return PrintedNumber(value, value, value)

    @staticmethod
    def rounded(value: float, half: float) -> PrintedNumber:
        """``half`` is half a unit of the last printed digit."""
        return PrintedNumber(value, value - half, value + half)

    def __add__(self, other: PrintedNumber) -> PrintedNumber:
        return PrintedNumber(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: PrintedNumber) -> PrintedNumber:
        return PrintedNumber(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, other: PrintedNumber | float) -> PrintedNumber:
        other = _number(other)
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return PrintedNumber(self.value * other.value, min(corners), max(corners))

    def __truediv__(self, other: PrintedNumber | float) -> PrintedNumber:
        """ZeroDivisionError where the other can be 0."""
        other = _number(other)
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError(f"division by {other.value:g}")
        corners = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return PrintedNumber(self.value / other.value, min(corners), max(corners))

    def meets(self, low: float, high: float) -> bool:
        """Return whether any possible value is from ``low`` to ``high``."""
        room = SLACK * max(abs(self.low), abs(self.high), 1)
        return self.high >= low - room and self.low <= high + room


def _number(value: PrintedNumber | float) -> PrintedNumber:
    return value if isinstance(value, PrintedNumber) else PrintedNumber.exact(value)


def half_unit(text: str, value: float, whole: int = 0) -> float:
    """Half a unit of the last digit of ``text``, in the unit of ``value``.

    ``text`` may have another unit than ``value`` (26,2 m for 1 572 000 ms). Whole numbers
    have ``whole`` decimals that the source leaves out.
    """
    matches = list(PRINTED.finditer(text))
    if not matches:
        return 0.0
    last = matches[-1]
    shown = float(re.sub(r"\s", "", last[0]).replace(",", "."))
    scale = abs(value / shown) if shown and value else 1.0
    return 0.5 * 10.0 ** -(len(last[1] or "") or whole) * scale


def quoted(text: str, about: bool) -> PrintedNumber:
    """A number of a text; where it stands for about so much, zeros at its end do not count."""
    value = float(text)
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    if about and "." not in text:
        digits = text.lstrip("-")
        half *= 10.0 ** (len(digits) - len(digits.rstrip("0"))) if digits.strip("0") else 1
    return PrintedNumber.rounded(value, half)


class Kind(StrEnum):
    """The kinds of checks with their headings, in the order of tables and text."""

    heading: str

    def __new__(cls, value: str, heading: str) -> Kind:
        kind = str.__new__(cls, value)
        kind._value_, kind.heading = value, heading
        return kind

    LITTLE = "little", N_("Throughput, latency and threads (Little's law)")
    RUNTIME = "runtime", N_("Throughput times run time = operations")
    COMBINED = "combined", N_("Combined rows = the means or sums that they state")
    WEIGHTED = "weighted", N_("Combined rows against means weighted by operations")
    COUNTS = "counts", N_("Operation counts = the operations of a run")
    STEPS = "steps", N_("Means of whole numbers")
    MIXTURE = "mixture", N_("Scatter of the operation counts")
    FAILURES = "failures", N_("Operation counts and stated failures")
    ORDER = "order", N_("Order of minimum, mean, percentiles, maximum")
    THREADS = "threads", N_("N threads at most N times as fast as one thread")
    TEXT = "text", N_("Numbers in the text = the tables")


class Fits(StrEnum):
    """The result of a check: it passes, or the effect of the error (``severity``), worst first.

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
    """Return the effect of a number's relative error ``off``.

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


COLUMNS = [field.name for field in fields(Check)]
NUMBERS = ["given", "expected", "low", "high", "off", "records", "operations", "threads"]


def judged(given: PrintedNumber, expected: PrintedNumber) -> dict[str, object]:
    """The fields of a check of ``given`` against ``expected``, with all that this may be.

    ``low`` and ``high`` become those of the value as printed: what rounding has
    hidden is allowed for.
    """
    off = beyond(given, expected.low, expected.high)
    return {
        "given": given.value,
        "expected": expected.value,
        "low": expected.low - (given.high - given.value),
        "high": expected.high + (given.value - given.low),
        "off": off,
        "fits": severity(off) if off else Fits.YES,
    }


def beyond(given: PrintedNumber, low: float, high: float) -> float:
    """The share by which ``given`` must be beyond ``low`` to ``high``, whatever was rounded."""
    if given.meets(low, high):
        return 0.0
    value, bound = (given.high, low) if given.high < low else (given.low, high)
    return value / bound - 1 if value > 0 < bound else math.copysign(math.inf, value - bound)
