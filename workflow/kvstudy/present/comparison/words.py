"""How changes are written, on the terminal, in the figure and in the PDF."""

from __future__ import annotations

import re

import pandas as pd

from kvstudy.analyse.tidy.numbers import grouped, significant

TIE, EQUAL = "~", "="
UNKNOWN = "?"
# Beyond these, an interval of two noisy runs says no more than "anything".
SMALLEST, LARGEST = 0.001, 1000.0


def number(value: float) -> str:
    """A ratio with three digits; the smallest and largest only as a bound."""
    if value < SMALLEST:
        return f"<{SMALLEST:g}"
    return f">{LARGEST:g}" if value > LARGEST else significant(value)


def interval(low: float, high: float) -> str:
    if pd.isna(low):
        return "one run"
    return f"{number(low)} to {number(high)}"


def sizes(parameters: str) -> str:
    """The short name of a cell's parameters in words."""
    found = re.fullmatch(r"r(\d+)_o(\d+)_t(\d+)(?:_s(\d+))?", parameters)
    if not found:
        return parameters
    names = ["records", "operations", "threads", "seconds"]
    return ", ".join(
        f"{grouped(count)} {name if count != '1' else name[:-1]}"
        for name, count in zip(names, found.groups(), strict=True)
        if count not in (None, "0")
    )


def speed(value: float) -> str:
    """ops/s with three digits."""
    return grouped(significant(value))


def marks(row) -> str:
    """``=`` for equal within the margin, ``~ 12`` for undecided, ``?`` for one run."""
    if row.different == "":
        return UNKNOWN
    if row.equal == "yes":
        return EQUAL
    if row.different == "yes":
        return ""
    return TIE if pd.isna(row.would_decide) else f"{TIE} {row.would_decide:.0f}"
