"""What a quoted number should equal, worked out from the tables."""

from __future__ import annotations

import pandas as pd

from kvstudy.analyse.audit.number import Number, quoted
from kvstudy.analyse.audit.values import at
from kvstudy.errors import KvstudyError
from kvstudy.study.quotes import Computed, is_number

# These take all the values that an address with * stands for.
OF_MANY = ("mean", "sum", "least", "most")


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
