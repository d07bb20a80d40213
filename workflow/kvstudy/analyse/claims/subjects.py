"""The values that a part of a claim is about, as codes.

``in workload=a; of store=redis; by store=riak``: ``in`` has what all values have in common,
``of`` and ``by`` (``before`` of a break-even) what the two sides of a ratio differ in; ``over`` is
the size of a trend with its ends. Limits, and of how many ratios one is shown, follow.
``exhibits.claim_words`` reads them.
"""

from __future__ import annotations

from kvstudy.analyse.claims.quantities import Proposition, Quantity
from kvstudy.analyse.claims.selection import Operand, ParameterGrid
from kvstudy.language.reasons import reason, several
from kvstudy.study.base import SIZES

# In place of a size: that among several at which the value is best.
BEST = "best"
Described = dict[str, object]


def subject_of(
    part: Proposition, quantity: Quantity | None, grid: ParameterGrid, measured: bool = False
) -> str:
    """Return what the part is about: its operands, or those that ``quantity`` was found with.

    Sizes are those that were ``measured``, or those of the study: at another scale they differ.
    """
    operands = list(quantity.of if quantity and quantity.of else part.of)
    if part.over:
        return _over(part.over, operands, grid, measured)
    # Of many couples: what all have in common.
    sides = _sides(operands[0::2], operands[1::2], grid, measured, part.between)
    return several([*sides, *part.limits, *filter(None, [part.several])])


def value_code(operand: Operand, grid: ParameterGrid) -> str:
    """Return the code of one value, with the study's sizes."""
    return several(_sides([operand], [], grid))


def _over(size: str, operands: list[Operand], grid: ParameterGrid, measured: bool) -> str:
    counts = sorted({_numbers(operand, size, measured).pop() for operand in operands} - {None})
    limits = {"first": counts[0], "last": counts[-1]} if counts else {}
    different: dict[tuple, Operand] = {}
    for operand in operands:
        rest = _described(operand, measured) | {size: None}
        different.setdefault(tuple(rest.values()), operand)
    above, *below = different.values()
    sides = _sides([above], below, grid, measured, without=size)
    return several([*sides, reason("over", size=size, **limits)])


def _sides(
    above: list[Operand],
    below: list[Operand],
    grid: ParameterGrid,
    measured: bool = False,
    between: str = "by",
    without: str = "",
) -> list[str]:
    """Return what both sides have in common, then the differences; without ``below`` all of it."""
    common: Described = {}
    one: Described = {}
    other: Described = {}
    sides = [[_described(operand, measured) for operand in side] for side in (above, below)]
    for key in sides[0][0]:
        if key == without or (key in SIZES and not _is_telling(key, [*above, *below], grid)):
            continue
        first, second = (_shared({values[key] for values in side}) for side in sides)
        if first == second or not below:
            common[key] = first
        elif None not in (first, second):
            one[key], other[key] = first, second
    codes = {"in": common}
    if any(one.values()):
        codes |= {"of": one, between: other}
    known = {code: {k: v for k, v in values.items() if v} for code, values in codes.items()}
    return [reason(code, **values) for code, values in known.items() if values or code != "in"]


def _shared(values: set[object]) -> object:
    """Return the one value of a side; None where its operands differ."""
    return values.pop() if len(values) == 1 else None


def _is_telling(size: str, operands: list[Operand], grid: ParameterGrid) -> bool:
    """Return whether to name the size: the study has several, or not this one."""
    known = [(each, grid.values(each.workload, size)) for each in operands]
    return any(
        len(numbers) > 1 or getattr(each.candidates[0], size) not in [None, *numbers]
        for each, numbers in known
    )


def _described(operand: Operand, measured: bool) -> Described:
    """Return the parts of an operand; "" for what goes without saying, None for a missing size."""
    numbers = {size: _numbers(operand, size, measured) for size in SIZES}
    return {
        "workload": operand.workload,
        "store": operand.store,
        # Claims are about throughput where they do not say.
        "metric": "" if operand.metric == "throughput" else operand.metric,
        "operation": "" if operand.operation in ("overall", "all") else operand.operation,
        **{size: BEST if len(some) > 1 else some.pop() for size, some in numbers.items()},
    }


def _numbers(operand: Operand, size: str, measured: bool) -> set[int | None]:
    """The numbers of one size among which the operand's best value is taken."""
    return {
        dict(each.measured).get(size) if measured and each.measured else getattr(each, size)
        for each in operand.candidates
    }
