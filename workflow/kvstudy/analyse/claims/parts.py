"""A statement taken apart into what can be asked of values one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, singledispatch
from itertools import combinations, groupby

from kvstudy.analyse.claims import judge
from kvstudy.analyse.claims import quantities as q
from kvstudy.analyse.claims.judge import Judge
from kvstudy.analyse.claims.operands import Grid, Operand, couples, singles
from kvstudy.analyse.claims.quantities import Couple, Quantity
from kvstudy.analyse.claims.values import Values
from kvstudy.language.current import N_
from kvstudy.study.base import SIZES
from kvstudy.study.claims import (
    Bound,
    BreakEven,
    Equal,
    Extreme,
    Factors,
    First,
    Order,
    Saturation,
    Selection,
    Statement,
    TimesAs,
    Trend,
    Value,
)


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


@singledispatch
def parts_of(statement: Statement, grid: Grid, stores: list[str]) -> list[Part]:
    """The parts of ``statement``, which must all hold. ``stores`` are the study's."""
    raise TypeError(f"{type(statement).__name__} is no statement")


@parts_of.register
def _(statement: Order, grid: Grid, stores: list[str]) -> list[Part]:
    found = []
    for better, worse in combinations(statement.stores, 2):
        found += _better(statement, better, worse, grid)
    return found


@parts_of.register
def _(statement: Extreme, grid: Grid, stores: list[str]) -> list[Part]:
    found = []
    for other in stores:
        if other == statement.store:
            continue
        best = statement.kind == "best"
        better, worse = (statement.store, other) if best else (other, statement.store)
        found += _better(statement, better, worse, grid)
    return found


def _better(base: Selection, better: str, worse: str, grid: Grid) -> list[Part]:
    """The ratio of the larger to the smaller value, under each workload and sizes."""
    found = []
    pairs = zip(singles(base, grid, store=better), singles(base, grid, store=worse), strict=True)
    for one, other in pairs:
        a, b = (one, other) if one.larger_is_better else (other, one)
        found.append(Part(partial(q.ratio, a=a, b=b), judge.above_one(), (a, b)))
    return found


@parts_of.register
def _(statement: TimesAs, grid: Grid, stores: list[str]) -> list[Part]:
    return _quotients(statement, judge.times(statement.times, statement.within), grid)


@parts_of.register
def _(statement: Factors, grid: Grid, stores: list[str]) -> list[Part]:
    return _quotients(statement, judge.limits(statement.at_least, statement.at_most), grid)


@parts_of.register
def _(statement: Equal, grid: Grid, stores: list[str]) -> list[Part]:
    return _quotients(statement, judge.equal(statement.margin), grid)


def _quotients(statement: TimesAs | Factors | Equal, what: Judge, grid: Grid) -> list[Part]:
    found = couples(statement, statement.of, statement.to, grid)
    if statement.take == "mean":
        return [_several(q.mean_ratio, of, what, "mean") for of in _by_name(found)]
    if statement.take != "each":
        choose = {"smallest": min, "largest": max}[statement.take]
        return [_several(partial(q.extreme_ratio, choose=choose), found, what, statement.take)]
    return [Part(partial(q.ratio, a=a, b=b), what, (a, b)) for a, b in found]


def _several(find: Callable[..., Quantity], of: list[Couple], what: Judge, take: str) -> Part:
    operands = tuple(operand for couple in of for operand in couple)
    return Part(partial(find, couples=of), what, operands, several=f"{take} of {len(of)}")


def _by_name(found: list[Couple]) -> list[list[Couple]]:
    """The couples that differ in sizes only."""
    groups: dict[tuple, list[Couple]] = {}
    for couple in found:
        groups.setdefault(tuple(_name(operand) for operand in couple), []).append(couple)
    return list(groups.values())


def _name(operand: Operand) -> tuple[str, ...]:
    return (operand.store, operand.workload, operand.operation, operand.metric)


@parts_of.register
def _(statement: Bound, grid: Grid, stores: list[str]) -> list[Part]:
    what = judge.limits(statement.at_least, statement.at_most)
    return [Part(partial(q.value, operand=o), what, (o,)) for o in singles(statement, grid)]


@parts_of.register
def _(statement: Value, grid: Grid, stores: list[str]) -> list[Part]:
    what = judge.near(statement.value, statement.within)
    return [
        Part(partial(q.value, operand=o), what, (o,), only_source=True)
        for o in singles(statement, grid)
    ]


@parts_of.register
def _(statement: Trend, grid: Grid, stores: list[str]) -> list[Part]:
    what = judge.above_one() if statement.goes == "up" else judge.below_one()
    if statement.of:
        pairs = couples(statement, statement.of, statement.to, grid)
    else:
        pairs = [(operand, None) for operand in singles(statement, grid)]
    found = []
    for steps in _series(pairs, statement.over):
        of = tuple(operand for _, *operands in steps for operand in operands if operand)
        find = partial(
            q.change_until_saturation if statement.until_saturation else q.change, steps=steps
        )
        found.append(Part(find, what, of, over=statement.over))
    return found


@parts_of.register
def _(statement: Saturation, grid: Grid, stores: list[str]) -> list[Part]:
    what = judge.limits(statement.at_least, statement.at_most)
    return [
        Part(
            partial(
                q.saturation_point,
                steps=steps,
                at_least=statement.at_least,
                at_most=statement.at_most,
            ),
            what,
            tuple(operand for _, operand in steps),
            over="threads",
        )
        for steps in _over_threads(statement, grid)
    ]


@parts_of.register
def _(statement: First, grid: Grid, stores: list[str]) -> list[Part]:
    found = []
    for other in stores:
        if other == statement.store:
            continue
        both = zip(
            _over_threads(statement, grid, store=statement.store),
            _over_threads(statement, grid, store=other),
            strict=True,
        )
        for first, second in both:
            of = tuple(operand for _, operand in (*second, *first))
            find = partial(q.saturates_after, first=first, other=second)
            found.append(Part(find, judge.above_one(), of, over="threads"))
    return found


def _over_threads(base: Selection, grid: Grid, **fixed: object) -> list[list[tuple]]:
    return [
        [(count, operand) for count, operand, _ in steps]
        for steps in _series([(o, None) for o in singles(base, grid, **fixed)], "threads")
    ]


def _series(pairs: list[tuple[Operand, Operand | None]], over: str) -> list[list[tuple]]:
    """The values that differ in one size only, with that size, rising."""

    def rest(pair: tuple[Operand, Operand | None]) -> str:
        return str([_without(operand, over) for operand in pair if operand])

    def size(pair: tuple[Operand, Operand | None]) -> int:
        return getattr(pair[0].candidates[0], over) or 0

    ordered = sorted(pairs, key=lambda pair: (rest(pair), size(pair)))
    return [[(size(pair), *pair) for pair in group] for _, group in groupby(ordered, key=rest)]


def _without(operand: Operand, over: str) -> tuple:
    sizes = operand.candidates[0]
    others = [getattr(sizes, size) for size in SIZES if size != over]
    return (*_name(operand), *others)


@parts_of.register
def _(statement: BreakEven, grid: Grid, stores: list[str]) -> list[Part]:
    roles = {
        "read": (statement.cache, "read"),
        "write": (statement.cache, "insert"),
        "read database": (statement.database, "read"),
    }

    def operand(store: str, operation: str) -> Operand:
        return singles(statement, grid, store=store, operation=operation)[0]

    costs = {role: operand(*which) for role, which in roles.items()}
    find = partial(q.break_even, costs=costs, deletes=operand(statement.cache, "delete"))
    of = (costs["read"], costs["read database"])
    what = judge.reads(statement.reads, statement.within)
    return [Part(find, what, of, between=N_("before"))]
