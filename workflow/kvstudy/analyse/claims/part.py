"""What can be asked of values one by one, and what statements are taken apart into."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from kvstudy.analyse.claims import quantities
from kvstudy.analyse.claims.judge import Judge, beyond_one
from kvstudy.analyse.claims.quantities import Couple, Quantity
from kvstudy.analyse.claims.selection import Grid, Operand, Selection, couples, singles
from kvstudy.analyse.claims.values import Values
from kvstudy.language.reasons import reason
from kvstudy.study.base import SIZES

if TYPE_CHECKING:
    from kvstudy.analyse.claims.statements import Quotient


@dataclass(frozen=True)
class Part:
    """One thing to ask: which quantity, and what it must be like.

    ``of`` are the operands behind it (two make a ratio); ``over`` names the size
    of a trend or a saturation, ``several`` how many ratios are taken together, ``between``
    stands between the two operands. ``only_source``: nothing measured here can tell.
    """

    find: Callable[[Values], Quantity]
    judge: Judge
    of: tuple[Operand, ...]
    over: str = ""
    several: str = ""
    between: str = "/"
    only_source: bool = False


def value(judge: Judge, operand: Operand, only_source: bool = False) -> Part:
    """One value itself."""
    find = partial(quantities.value, operand=operand)
    return Part(find, judge, (operand,), only_source=only_source)


def ratio(judge: Judge, a: Operand, b: Operand) -> Part:
    """One value by another."""
    return Part(partial(quantities.ratio, a=a, b=b), judge, (a, b))


def better(base: Selection, first: str, second: str, grid: Grid) -> list[Part]:
    """That one store is better than another, under each workload and sizes.

    The ratio of the larger to the smaller value.
    """
    pairs = zip(singles(base, grid, store=first), singles(base, grid, store=second), strict=True)
    return [
        ratio(beyond_one(), *((one, other) if one.larger_is_better else (other, one)))
        for one, other in pairs
    ]


def quotients(statement: Quotient, judge: Judge, grid: Grid) -> list[Part]:
    """The quotients of a statement's sides, each or what it takes of them."""
    pairs = couples(statement, statement.of, statement.to, grid)
    if statement.take == "each":
        return [ratio(judge, a, b) for a, b in pairs]
    if statement.take == "mean":
        return [_together(quantities.mean_ratio, of, judge, "mean") for of in _by_name(pairs)]
    choose = {"smallest": min, "largest": max}[statement.take]
    find = partial(quantities.extreme_ratio, choose=choose)
    return [_together(find, pairs, judge, statement.take)]


def _together(find: Callable[..., Quantity], of: list[Couple], judge: Judge, take: str) -> Part:
    operands = tuple(operand for couple in of for operand in couple)
    return Part(partial(find, couples=of), judge, operands, several=reason(f"{take}-of", n=len(of)))


def _by_name(pairs: list[Couple]) -> list[list[Couple]]:
    """The couples that differ in sizes only."""
    groups: dict[tuple, list[Couple]] = {}
    for couple in pairs:
        groups.setdefault(tuple(operand.name for operand in couple), []).append(couple)
    return list(groups.values())


def over(size: str, find: Callable[[Values], Quantity], judge: Judge, steps: Iterable) -> Part:
    """What is found over the steps of ``series``."""
    of = tuple(operand for _, *operands in steps for operand in operands if operand)
    return Part(find, judge, of, over=size)


def series(pairs: list[tuple[Operand, Operand | None]], over: str) -> list[list[tuple]]:
    """The values that differ in one size only, with that size, rising."""

    def rest(pair: tuple[Operand, Operand | None]) -> str:
        return str([_without(operand, over) for operand in pair if operand])

    def size(pair: tuple[Operand, Operand | None]) -> int:
        return getattr(pair[0].candidates[0], over) or 0

    ordered = sorted(pairs, key=lambda pair: (rest(pair), size(pair)))
    return [[(size(pair), *pair) for pair in group] for _, group in groupby(ordered, key=rest)]


def _without(operand: Operand, over: str) -> tuple:
    others = [getattr(operand.candidates[0], size) for size in SIZES if size != over]
    return (*operand.name, *others)


def over_threads(base: Selection, grid: Grid, **fixed: object) -> list[list[tuple]]:
    """The values of each thread count, with the count, rising."""
    return [
        [(count, operand) for count, operand, _ in steps]
        for steps in series([(one, None) for one in singles(base, grid, **fixed)], "threads")
    ]
