"""The numbers in a source's text against its tables."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd

from kvstudy.audit.check import Check, Fits, Kind
from kvstudy.audit.expressions import evaluate
from kvstudy.audit.number import quoted
from kvstudy.errors import KvstudyError
from kvstudy.study.quotes import Quote

# A number whose last digit only is wrong: off by fewer units of it, and by a smaller share.
DIGIT, SMALL = 10, 0.01


def quotes(found: list[Quote], values: pd.DataFrame, path: Path) -> list[Check]:
    """A check of each quote; KvstudyError names its key in ``path``."""
    return [_quote(quote, values, f"{path}: quotes[{i}].expected") for i, quote in enumerate(found)]


def _quote(quote: Quote, values: pd.DataFrame, key: str) -> Check:
    said = quoted(quote.value, quote.about)
    words = {"kind": Kind.TEXT, "place": quote.place, "what": quote.says, "unit": quote.unit}
    words |= {"given": said.value, "note": quote.note}
    if quote.expected is None:
        return Check(**words, expected=math.nan, low=math.nan, high=math.nan, fits=Fits.NONE)
    try:
        number = evaluate(quote.expected, values)
    except KvstudyError as error:
        raise KvstudyError(f"{key}: {error}") from None
    # What is expected stands to the quoted number as it says, so this is the other way round.
    low = -math.inf if quote.relation == "at least" else number.low
    high = math.inf if quote.relation == "at most" else number.high
    half = said.high - said.value
    fits = Fits.YES if said.meets(low, high) else Fits.NO
    off = abs(said.value - number.value)
    if fits is Fits.NO and off < DIGIT * 2 * half and off < SMALL * abs(number.value):
        fits = Fits.DIGIT
    return Check(
        **words,
        expected=number.value,
        low=low - half,
        high=high + half,
        fits=fits,
    )
