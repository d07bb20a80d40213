"""Sizes and exact values in words: what a reader sees on a mark is as in the tables."""

from __future__ import annotations

import math

from kvstudy.analyse.tidy.numbers import MARK, UNIT_FACTORS, fixed, grouped, marked_values, sign
from kvstudy.language.current import NN_, _, ngettext
from kvstudy.libraries import pd
from kvstudy.present.drawing.draw import any_rejected

SIZES = {
    "records": NN_("{} record", "{} records"),
    "operations": NN_("{} operation", "{} operations"),
    "threads": NN_("{} thread", "{} threads"),
}
# Decimals that are made by converting to the axis's unit and back, and no others.
ROUNDING = 6


def size_words(size: str, number: float) -> str:
    """A size and how large it is: ``1 000 records``."""
    return ngettext(*SIZES[size], int(number)).format(grouped(f"{number:.0f}"))


def from_to(low: object, high: object) -> str:
    """Both ends of a range."""
    return _("{} to {}").format(low, high)


def exact(metric: str, value: float | None, unit: str) -> str:
    """``value``, given in ``unit``, with the unit and the decimals of ``metric`` in tables.

    Nothing for a value that is missing.
    """
    if is_missing(value):
        return ""
    base = _table_unit(metric, unit)
    in_base = round(value / UNIT_FACTORS[base, unit], ROUNDING)
    return f"{grouped(fixed(metric, in_base))} {sign(base)}"


def between(metric: str, low: float | None, high: float | None, unit: str) -> str:
    """From ``low`` to ``high`` as ``exact`` has them; nothing where one is missing."""
    if is_missing(low) or is_missing(high):
        return ""
    return from_to(exact(metric, low, unit), exact(metric, high, unit))


def rejected_note(table: pd.DataFrame) -> str:
    """What the mark of a rejected value says, below the figure of ``table``; "" without any."""
    return f"{MARK}: {marked_values()}." if any_rejected(table) else ""


def runs(n: float | None) -> str:
    """How many runs are behind a value."""
    if is_missing(n):
        return ""
    return ngettext("{} run", "{} runs", int(n)).format(int(n))


def is_missing(value: object) -> bool:
    return value is None or bool(pd.isna(value))


def is_number(value: object) -> bool:
    """Neither missing nor without an end."""
    return not is_missing(value) and math.isfinite(value)


def _table_unit(metric: str, unit: str) -> str:
    if unit.endswith("ops/s"):
        return "ops/s"
    if metric == "runtime":
        return "ms"
    return "us" if metric.startswith("latency") else unit
