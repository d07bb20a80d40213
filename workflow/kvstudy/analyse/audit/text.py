"""The numbers in a source's text against its tables."""

from __future__ import annotations

import math
from pathlib import Path

from kvstudy.analyse.audit.check import Check, Fits, Kind, Number, beyond, quoted, severity
from kvstudy.analyse.audit.source import at
from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.study.quotes import Computed, Quote, is_number

# These take all the values that an address with * stands for.
OF_MANY = ("mean", "sum", "least", "most")


def quotes(found: list[Quote], values: pd.DataFrame, path: Path) -> list[Check]:
    """A check of each quote; KvstudyError names its key in ``path``."""
    return [_quote(quote, values, f"{path}: quotes[{i}].expected") for i, quote in enumerate(found)]


def _quote(quote: Quote, values: pd.DataFrame, key: str) -> Check:
    said = quoted(quote.value, quote.about)
    words = {"kind": Kind.TEXT, "place": quote.place, "what": quote.says, "unit": quote.unit}
    words |= {"given": said.value, "note": quote.note, "claim": quote.claim or ""}
    if quote.expected is None:
        unknown = dict.fromkeys(("expected", "low", "high", "off"), math.nan)
        return Check(**words, **unknown, fits=Fits.NONE)
    try:
        number = evaluate(quote.expected, values)
    except KvstudyError as error:
        raise KvstudyError(f"{key}: {error}") from None
    # What is expected stands to the quoted number as it says, so this is the other way round.
    low = -math.inf if quote.relation == "at least" else number.low
    high = math.inf if quote.relation == "at most" else number.high
    half = said.high - said.value
    off, fits = 0.0, Fits.YES
    if not said.meets(low, high):
        shift, unit = _ratio(quote.expected, values)
        first, second = (
            (each + shift).times(1 / unit) for each in (said, Number(number.value, low, high))
        )
        off = beyond(first, second.low, second.high)
        turned = shift.value != 0 and (first.value - 1) * (second.value - 1) < 0
        fits = severity(off, turned)
    return Check(
        **words, expected=number.value, low=low - half, high=high + half, off=off, fits=fits
    )


def _ratio(expected: object, values: pd.DataFrame) -> tuple[Number, float]:
    """What makes a ratio of a number like ``expected``: (number + the first) by the second.

    A change of -20 % is a ratio of 0.8. So is a difference of -20 from 100: what is wrong
    then is the compared value, and not the whole of it. Other numbers stay as they are.
    """
    if isinstance(expected, Computed):
        if expected.how == "change":
            return Number.exact(100), 100
        if expected.how == "difference":
            base = evaluate(expected.parts[1], values).value
            if base > 0:
                return Number.exact(base), base
        if expected.how in OF_MANY:
            return _ratio(expected.parts[0], values)
    return Number.exact(0), 1


def evaluate(operand: Computed | str | float, values: pd.DataFrame) -> Number:
    """The number that ``operand`` stands for, with its room for rounding.

    KvstudyError: an address without a value, or with several where one belongs; a
    division by 0.
    """
    if isinstance(operand, str) and is_number(operand):
        return quoted(operand, about=False)
    if isinstance(operand, str):
        found = at(values, operand)
        if len(found) > 1:
            raise KvstudyError(
                f"published.csv has {len(found)} values at '{operand}'; add sizes to it, or take "
                f"one of {', '.join(OF_MANY)}"
            )
        return found[0]
    if not isinstance(operand, Computed):
        return Number.exact(operand)
    numbers = [
        number
        for part in operand.parts
        for number in (
            at(values, part)
            if isinstance(part, str) and not is_number(part) and operand.how in OF_MANY
            else [evaluate(part, values)]
        )
    ]
    try:
        return _computed(operand.how, numbers)
    except ZeroDivisionError as error:
        raise KvstudyError(f"{operand.how}: {error}; the source gives no such number") from None


def _computed(how: str, numbers: list[Number]) -> Number:
    if how == "ratio":
        return numbers[0] / numbers[1]
    if how == "change":
        return (numbers[0] / numbers[1] - Number.exact(1)).times(100)
    if how == "difference":
        return numbers[0] - numbers[1]
    if how in ("least", "most"):
        pick = min if how == "least" else max
        return Number(
            *(pick(getattr(n, part) for n in numbers) for part in ("value", "low", "high"))
        )
    result = numbers[0]
    for number in numbers[1:]:
        result = result * number if how == "product" else result + number
    return result.times(1 / len(numbers)) if how == "mean" else result
