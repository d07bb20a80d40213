"""The numbers in a source's text against its tables."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from kvstudy.analyse.audit.check import Check, Fits, Kind, beyond, severity
from kvstudy.analyse.audit.expressions import OF_MANY, evaluate
from kvstudy.analyse.audit.number import Number, quoted
from kvstudy.errors import KvstudyError
from kvstudy.study.quotes import Computed, Quote


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
        **words,
        expected=number.value,
        low=low - half,
        high=high + half,
        off=off,
        fits=fits,
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
