"""Numbers that are known to the digits they were printed with."""

from __future__ import annotations

import re
from dataclasses import dataclass

# A number in a cell of a table: 26,2 m; 21 277; of 1:40 the second one.
PRINTED = re.compile(r"\d+(?:[ \u00a0\u202f]\d{3})*(?:[.,](\d+))?")
# Of the arithmetic of floating-point numbers.
SLACK = 1e-9


@dataclass(frozen=True)
class Number:
    """``value`` as printed or worked out; rounding leaves it between ``low`` and ``high``."""

    value: float
    low: float
    high: float

    @staticmethod
    def exact(value: float) -> Number:
        return Number(value, value, value)

    @staticmethod
    def rounded(value: float, half: float) -> Number:
        """Printed as ``value``, with ``half`` a unit of its last digit."""
        return Number(value, value - half, value + half)

    def __add__(self, other: Number) -> Number:
        return Number(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: Number) -> Number:
        return Number(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, other: Number) -> Number:
        corners = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Number(self.value * other.value, min(corners), max(corners))

    def __truediv__(self, other: Number) -> Number:
        """ZeroDivisionError where the other can be 0."""
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError(f"division by {other.value:g}")
        corners = [a / b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Number(self.value / other.value, min(corners), max(corners))

    def times(self, factor: float) -> Number:
        """Multiplied by an exact number."""
        return self * Number.exact(factor)

    def meets(self, low: float, high: float) -> bool:
        """Whether any of its possible values is from ``low`` to ``high``."""
        room = SLACK * max(abs(self.low), abs(self.high), 1)
        return self.high >= low - room and self.low <= high + room


def half_unit(text: str, value: float, whole: int = 0) -> float:
    """Half a unit of the last digit of ``text``, in the unit of ``value``.

    ``text`` may have another unit than ``value`` (26,2 m for 1 572 000 ms). Whole numbers
    have ``whole`` decimals that the source leaves out.
    """
    found = PRINTED.findall(text)
    if not found:
        return 0.0
    decimals = len(found[-1])
    number = list(PRINTED.finditer(text))[-1].group()
    shown = float(re.sub(r"[ \u00a0\u202f]", "", number).replace(",", "."))
    scale = abs(value / shown) if shown and value else 1.0
    return 0.5 * 10.0 ** -(decimals or whole) * scale


def quoted(text: str, about: bool) -> Number:
    """A number of a text; where it stands for about so much, zeros at its end do not count."""
    value = float(text)
    half = 0.5 * 10.0 ** -len(text.partition(".")[2])
    if about and "." not in text:
        digits = text.lstrip("-")
        half *= 10.0 ** (len(digits) - len(digits.rstrip("0"))) if digits.strip("0") else 1
    return Number.rounded(value, half)
