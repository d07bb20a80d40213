"""The parts of a claim, and what each comes to, with its interval over repetitions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from math import exp, inf, log

from kvstudy.analyse.claims.selection import Operand
from kvstudy.analyse.claims.values import Runs, UnknownValue, Values
from kvstudy.analyse.claims.verdicts import Judge, Verdict
from kvstudy.analyse.findings.rounds import crossing
from kvstudy.analyse.findings.spread import Setting
from kvstudy.language.reasons import reason
from kvstudy.libraries import np
from kvstudy.stats.intervals import (
    Interval,
    geometric_mean,
    log_t_interval,
    plain_mean,
    trimmed_mean,
)
from kvstudy.stats.laws import saturation
from kvstudy.stats.ratios import paired_ratio, unpaired_product, unpaired_ratio
from kvstudy.study.base import SIZES
from kvstudy.study.metrics import metric_of

Couple = tuple[Operand, Operand]
# A size with the value there, and what that is divided by.
Step = tuple[int, Operand, Operand | None]
SHARE = "share"
THREADS = "threads"
READS = "reads"


@dataclass(frozen=True)
class Quantity(Interval):
    """A ratio (``unit`` is "") or a value with its interval, None for one repetition.

    ``n`` counts repetitions, of a share operations. Of thread counts, which have no
    interval, ``low`` and ``high`` are the range; infinite is more than were measured.
    ``of`` are the values behind it, where they had to be found.
    """

    unit: str = ""
    of: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class Proposition:
    """One thing to ask: which quantity, and what it must be like.

    ``of`` are the operands behind it (two make a ratio); ``over`` names the size
    of a trend or a saturation, ``several`` how many ratios are taken together, ``between``
    is between the two operands, ``limits`` are what the claim says of the value: all are codes.
    """

    find: Callable[[Values], Quantity]
    judge: Judge
    of: tuple[Operand, ...]
    over: str = ""
    several: str = ""
    between: str = "by"
    limits: tuple[str, ...] = ()


def part_of_ratio(verdict: Judge, a: Operand, b: Operand) -> Proposition:
    """One value by another."""
    return Proposition(partial(ratio, a=a, b=b), verdict, (a, b))


def part_over(
    size: str, find: Callable[..., Quantity], judge: Judge, steps: list[Step]
) -> Proposition:
    """Return the proposition about the steps of a ``series``."""
    of = tuple(operand for _, *operands in steps for operand in operands if operand)
    return Proposition(partial(find, steps=steps), judge, of, over=size)


def series(pairs: list[tuple[Operand, Operand | None]], over: str) -> list[list[Step]]:
    """The values that differ in one size only, with that size, rising."""
    fixed = [size for size in SIZES if size != over]

    def rest(step: Step) -> str:
        named = ((each.name, each.candidates[0]) for each in step[1:] if each)
        return str([(*name, *(getattr(sizes, size) for size in fixed)) for name, sizes in named])

    steps = [(_size(pair[0], over), *pair) for pair in pairs]
    ordered = sorted(steps, key=lambda step: (rest(step), step[0]))
    return [list(group) for _, group in groupby(ordered, key=rest)]


def _size(operand: Operand, name: str) -> int:
    """As it was measured, which a scaled run makes smaller."""
    sizes = operand.candidates[0]
    return dict(sizes.measured).get(name) or getattr(sizes, name) or 0


def ratio(values: Values, a: Operand, b: Operand) -> Quantity:
    """A by B, paired by repetition where they were measured side by side."""
    one, other = values.runs(a), values.runs(b)
    if values.best(a) != values.best(b) and values.setting(a) == values.setting(b):
        raise UnknownValue(Verdict.NOT_MEASURED, "same-cell")
    ratio = _modelled(values, [(a, b)]) or _ratio_of(values, [a, b], one, other)
    return replace(ratio, of=(a, b))


def mean_ratio(values: Values, couples: Sequence[Couple]) -> Quantity:
    """The geometric mean of the ratios."""
    if ratio := _modelled(values, couples):
        return ratio
    means: list[Runs] = []
    for operands in zip(*couples, strict=True):
        several = [values.runs(operand) for operand in operands]
        shared = _common(several)
        means.append({name: geometric_mean(runs[name] for runs in several) for name in shared})
    return _ratio_of(values, chain(*couples), *means)


def extreme_ratio(
    values: Values, couples: Sequence[Couple], choose: Callable[..., Quantity]
) -> Quantity:
    """The smallest or largest ratio (``choose``: min or max); all must be known."""
    return choose((ratio(values, a, b) for a, b in couples), key=lambda each: each.value)


def value(values: Values, operand: Operand) -> Quantity:
    """The operand itself."""
    if operand.metric == "failed_share":
        return Quantity(**vars(values.failed_share(operand)), unit=SHARE)
    mean = log_t_interval(values.runs(operand).values(), values.level)
    return Quantity(**vars(mean), unit=metric_of(operand.metric).unit)


def change(values: Values, steps: Sequence[Step], until_saturation: bool = False) -> Quantity:
    """Return the factor from the first step's value (or first by second) to the last step's.

    By the straight line through the logarithms of value and size, fitted in each
    repetition that has all steps, or through the means of runs that have no counterpart; up to the
    size at which the mean throughput saturates, if only ``until_saturation``.
    """
    sizes = [size for size, *_ in steps]
    if until_saturation and len(sizes) > 1:
        whole = (replace(a, metric="throughput", operation="overall") for _, a, _ in steps)
        rates = [geometric_mean(values.runs(each).values()) for each in whole]
        last = saturation(sizes, rates) or sizes[-1]
        sizes = [size for size in sizes if size <= last]
    if len(sizes) < 2:
        one_count = until_saturation and len(steps) < 2
        raise UnknownValue(Verdict.NOT_MEASURED, "one-thread-count" if one_count else "one-size")
    steps, x = steps[: len(sizes)], np.log(sizes)
    operands = [operand for _, *both in steps for operand in both if operand]
    if not values.side_by_side(*operands):
        line = (x - x.mean()) * np.ptp(x) / ((x - x.mean()) ** 2).sum()
        ratio = unpaired_product(
            [
                (sign * power, values.runs(operand).values())
                for power, (_, *both) in zip(line, steps, strict=True)
                for sign, operand in zip((1, -1), both, strict=True)
                if operand
            ],
            values.level,
        )
        return Quantity(ratio.value, ratio.low, ratio.high, ratio.n)
    at_steps = []
    for _, a, b in steps:
        runs = values.runs(a)
        below = values.runs(b) if b else dict.fromkeys(runs, 1.0)
        at_steps.append({name: runs[name] / below[name] for name in runs if name in below})
    changes = [
        exp(np.polyfit(x, [log(runs[name]) for runs in at_steps], 1)[0] * np.ptp(x))
        for name in _common(at_steps)
    ]
    return Quantity(**vars(log_t_interval(changes, values.level)))


def saturation_point(
    values: Values,
    steps: Sequence[Step],
    at_least: float | None = None,
    at_most: float | None = None,
) -> Quantity:
    """The thread count at which throughput saturates: median and range over repetitions.

    UnknownValue where there are too few counts to show whether it is ``at_least`` or
    ``at_most`` so large.
    """
    counts = [count for count, *_ in steps]
    if len(counts) < 2 or counts[-1] < (at_least or 0) or counts[-1] <= (at_most or 0):
        raise UnknownValue(Verdict.NOT_MEASURED, reason("not-above-threads", threads=counts[-1]))
    rates = [values.runs(operand) for _, operand, _ in steps]
    points = [saturation(counts, [runs[name] for runs in rates]) or inf for name in _common(rates)]
    return _median(points, THREADS)


def saturates_after(values: Values, first: Sequence[Step], other: Sequence[Step]) -> Quantity:
    """Saturation of ``other`` by that of ``first``: median and range over repetitions."""
    if min(len(first), len(other)) < 2:
        raise UnknownValue(Verdict.NOT_MEASURED, "one-thread-count")
    points = []
    for name in _common([values.runs(operand) for _, operand, _ in (*first, *other)]):
        one, two = (
            saturation([count for count, *_ in steps], [values.runs(o)[name] for _, o, _ in steps])
            for steps in (first, other)
        )
        points.append(1.0 if one is None is two else (two or inf) / one if one else 0.0)
    return _median(points, "")


def _median(points: list[float], unit: str) -> Quantity:
    """The (lower) median, with the range in place of an interval."""
    ordered, n = sorted(points), len(points)
    ends = (ordered[0], ordered[-1]) if n > 1 else (None, None)
    return Quantity(ordered[(n - 1) // 2], *ends, n, unit)


def break_even(
    values: Values, delete: Operand, write: Operand, database: Operand, read: Operand
) -> Quantity:
    """Reads per write from which a cache pays off, as ``findings.rounds`` has it.

    ``database`` is a read there, the others are of the cache. Of single cells the costs are
    trimmed means of the rounds, of several plain ones of the cells, so that table and claim
    have one value. Without a measured deletion, a write to the cache stands for it. Infinite: it
    never pays off; that ``low`` is infinite too when the runs tell it, and None when they do not.
    """
    try:
        values.runs(delete)
    except UnknownValue:
        delete = write
    times, means = [], []
    for operand in (delete, write, database, read):
        runs = values.runs(operand).values()
        times.append([1 / rate for rate in runs] if operand.larger_is_better else [*runs])
        inside = values.setting(operand) in values.in_rounds
        means.append((trimmed_mean if inside else plain_mean)(times[-1], values.level))
    n = min(map(len, times))
    if (reads := crossing(*means)) is not None:
        return Quantity(reads.value, reads.low, reads.high, n, READS)
    slower = unpaired_ratio(times[3], times[2], values.level)
    end = inf if slower.low is not None and slower.low > 1 else None
    return Quantity(inf, end, end, n, READS)


def _modelled(values: Values, couples: Sequence[Couple]) -> Quantity | None:
    """The geometric mean of ratios of two stores, by the spread of all cells.

    None where a ratio is not one of two stores in one setting, by one metric of their runs: that
    spreads in its own way.
    """
    spread = values.spread(couples[0][0])
    powers: dict[tuple[Setting, str], float] = defaultdict(float)
    for couple in couples:
        (one, *where), (other, *second_sizes) = map(values.setting, couple)
        if one == other or where != second_sizes or values.spread(couple[0]) is not spread:
            return None
        if values.spread(couple[1]) is not spread or not spread.knows(tuple(where)):
            return None
        powers[tuple(where), one] += 1 / len(couples)
        powers[tuple(where), other] -= 1 / len(couples)
    ratio = spread.product(powers)
    if ratio is None:
        raise UnknownValue(Verdict.NOT_MEASURED, "no-common-repetition")
    return Quantity(ratio.value, ratio.low, ratio.high, ratio.n)


def _ratio_of(values: Values, of: Iterable[Operand], a: Runs, b: Runs) -> Quantity:
    side_by_side = values.side_by_side(*of)
    if side_by_side and not a.keys() & b.keys():
        raise UnknownValue(Verdict.NOT_MEASURED, "no-common-repetition")
    sides = (a, b) if side_by_side else (a.values(), b.values())
    ratio = (paired_ratio if side_by_side else unpaired_ratio)(*sides, values.level)
    return Quantity(ratio.value, ratio.low, ratio.high, ratio.n)


def _common(several: Sequence[Runs]) -> list[str]:
    """The repetitions that all have; UnknownValue when there is none."""
    names = [name for name in several[0] if all(name in runs for runs in several)]
    if not names:
        raise UnknownValue(Verdict.NOT_MEASURED, "no-repetition-of-all")
    return names
