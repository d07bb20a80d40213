"""Number formats for tables, figures and text."""

from __future__ import annotations

import re
from math import floor, inf, log10

from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal, decimal_mark
from kvstudy.study.metrics import metric_of

# Times off its value, beyond which an end of an interval is only a bound.
FARTHEST = 1000
# Behind a published value that the audit of the source finds inconsistent.
MARK = "\N{DOUBLE DAGGER}"
# Behind a value of other numbers of records or operations than those next to it.
OTHER_SIZE = "\N{SECTION SIGN}"
OTHER_SIZE_TEXT = N_("other size")


def sign(unit: str) -> str:
    """The unit as people read it: µs for us."""
    return "µs" if unit == "us" else unit


def grouped(text: str, separator: str = "\N{NARROW NO-BREAK SPACE}") -> str:
    """``text`` with its whole digits in groups of three, and the language's decimal mark."""
    whole, mark, rest = decimal(text).partition(decimal_mark())
    return re.sub(r"(?<=\d)(?=(\d{3})+$)", separator, whole) + mark + rest


def fixed(metric: str, value: float) -> str:
    """``value`` with the decimals of ``metric`` in tables, else with one; no grouping."""
    decimals = metric_of(metric).decimals
    return decimal(f"{value:.{1 if decimals is None else decimals}f}")


def significant(value: float, digits: int = 3) -> str:
    """``value`` rounded to ``digits`` significant digits, never in exponential form."""
    if value in (0, inf):
        return "0" if value == 0 else "\N{INFINITY}"
    decimals = max(0, digits - 1 - floor(log10(abs(value))))
    # 0.9996 has one digit less after rounding up to 1.00.
    if decimals and floor(log10(abs(round(value, decimals)))) > floor(log10(abs(value))):
        decimals -= 1
    return decimal(f"{value:.{decimals}f}")


def ends(value: float, low: float, high: float, digits: int = 3) -> tuple[str, str]:
    """The ends of the interval around ``value``, no farther off than some ``FARTHEST`` times.

    The interval of two runs that differ is 12.7 standard errors wide on each side: 10⁻⁹ to 10⁹
    fills a column and says no more than <0.001 to >1000.
    """
    least, most = low, high
    if 0 < value < inf:
        size = 10.0 ** round(log10(value))
        least, most = size / FARTHEST, size * FARTHEST
    first, last = (grouped(significant(end, digits)) for end in (low, high))
    if low < least:
        first = f"<{grouped(significant(least, 1))}"
    if most < high < inf:
        last = f">{grouped(significant(most, 1))}"
    return first, last


def between(low: str, high: str) -> str:
    return _("{} to {}").format(low, high)


def share(value: float) -> str:
    """A share between 0 and 1 in percent, with two significant digits; 0 % means none at all."""
    return f"{significant(value * 100, 2)} %"


def change(value: float) -> str:
    """A relative change, 0.226 as +22.6 %."""
    sign = "\N{MINUS SIGN}" if value < 0 else "+"
    return decimal(f"{sign}{abs(value) * 100:.1f} %")


def marked_values() -> str:
    """Return the text of the mark."""
    return _("inconsistent with the source's other values")


def of_other_sizes() -> str:
    """Return the text of the mark of other sizes."""
    return _(OTHER_SIZE_TEXT)


def operation_word(operation: str, sign: str = "+") -> str:
    """``read`` or ``read+update`` as people read it."""
    return sign.join(_(name) for name in operation.split("+"))


def sized(size: str, number: int) -> str:
    """``{} records``: so many of a size, to be filled with the number as it is written."""
    if size == "records":
        return ngettext("{} record", "{} records", number)
    if size == "operations":
        return ngettext("{} operation", "{} operations", number)
    return ngettext("{} thread", "{} threads", number)


def rate(value: float, digits: int = 3) -> str:
    """With so many significant digits, in groups."""
    return grouped(significant(value, digits))


def latency(value: float) -> str:
    """A latency in us, with its unit; in ms from a thousand on."""
    factor, unit = (1e-3, "ms") if abs(value) >= 1000 else (1, "us")
    return f"{rate(value * factor)}\N{NARROW NO-BREAK SPACE}{sign(unit)}"


def whole(value: float) -> str:
    """Without decimals, in groups."""
    return grouped(f"{value:.0f}")


def amount(size: str, number: float) -> str:
    """``10 000 records``: so many of a size."""
    return sized(size, int(number)).format(whole(number))
