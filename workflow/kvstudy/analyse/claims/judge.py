"""What a quantity says of a statement: a verdict for measured ones, yes or no for the source's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf, log, log1p

from kvstudy.analyse.audit.check import Fits
from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.language.current import N_
from kvstudy.stats.ratios import Verdict, equality_verdict, margin_bounds, ratio_verdict


class Support(StrEnum):
    """Whether the source's own values say what it claims."""

    SUPPORTED = N_("supported")
    PARTLY = N_("supported in part")
    NOT = N_("not supported")
    NO_DATA = N_("no data")


@dataclass(frozen=True)
class Judge:
    """The verdict on a measured quantity, and whether a value of the source fits.

    No verdict: nothing measured here can tell.
    """

    verdict: Callable[[Quantity], Verdict] | None
    fits: Callable[[float], bool]
    # The smaller, the worse a value fits: which of many parts is shown.
    rank: Callable[[float], float]
    # Whether the statement says that two values differ.
    differs: bool = False


# Of two parts the weaker one stands for both; the first here is the weakest.
WEAKEST_FIRST = [
    Verdict.CONTRADICTED,
    Verdict.NOT_MEASURED,
    Verdict.UNDECIDED,
    Verdict.DIRECTION_ONLY,
    Verdict.REPRODUCED,
]


def weakest(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on a claim (a statement), from those on its statements (parts)."""
    return min(verdicts, key=WEAKEST_FIRST.index)


def support_of(parts: Iterable[Support]) -> Support:
    """Whether the source supports the whole: not, as soon as one part does not fit."""
    kinds = set(parts)
    if Support.NOT in kinds:
        return Support.NOT
    return kinds.pop() if len(kinds) == 1 else Support.PARTLY


def audited(support: Support, fits: Fits) -> Support:
    """``support`` where the audit of the source says of the same statement what ``fits``.

    Both judge one sentence: what changes a result is not supported, what changes a value is so
    in part. Digits change nothing.
    """
    if fits == Fits.RESULT:
        return Support.NOT
    return Support.PARTLY if fits == Fits.VALUE and support is Support.SUPPORTED else support


def times(claimed: float, within: float) -> Judge:
    """The ratio is ``claimed``; the source's own may be off by the share ``within``."""
    close = near(claimed, within)
    return replace(
        close,
        verdict=lambda quantity: ratio_verdict(claimed, quantity.as_ratio),
        fits=lambda point: (point > 1) == (claimed > 1) and close.fits(point),
        differs=True,
    )


def near(claimed: float, within: float) -> Judge:
    """A value of the source's machine; nothing measured elsewhere can confirm it."""

    def distance(point: float) -> float:
        return abs(log(point / claimed))

    return Judge(
        None, lambda point: distance(point) <= log1p(within) + 1e-12, lambda point: -distance(point)
    )


def equal(margin: float) -> Judge:
    """The ratio is 1, within the margin."""
    low, high = margin_bounds(margin)
    return Judge(
        lambda quantity: equality_verdict(quantity.as_ratio, margin),
        lambda point: low <= point <= high,
        lambda point: -abs(log(point)),
    )


def beyond_one(above: bool = True) -> Judge:
    """The ratio is above 1, or below; the claim names no size: there is no "direction only"."""
    sign = 1 if above else -1

    def verdict(quantity: Quantity) -> Verdict:
        if quantity.low is None or quantity.low <= 1 <= quantity.high:
            return Verdict.UNDECIDED
        return Verdict.REPRODUCED if (quantity.low > 1) == above else Verdict.CONTRADICTED

    return Judge(
        verdict, lambda point: sign * point > sign, lambda point: sign * point, differs=True
    )


def limits(at_least: float | None, at_most: float | None) -> Judge:
    """The quantity lies within the limits, with its whole interval."""
    low, high = at_least or -inf, at_most or inf

    def verdict(quantity: Quantity) -> Verdict:
        if quantity.low is None:
            return Verdict.UNDECIDED
        if low <= quantity.low and quantity.high <= high:
            return Verdict.REPRODUCED
        outside = quantity.high < low or quantity.low > high
        return Verdict.CONTRADICTED if outside else Verdict.UNDECIDED

    return Judge(
        verdict,
        lambda point: low <= point <= high,
        lambda point: min(point - low, high - point),
        differs=low >= 1 or high <= 1,
    )


def reads(claimed: float, within: float) -> Judge:
    """Reads per write: the size decides, as for a ratio; infinite means that none pay off."""
    judge = times(claimed, within)

    def verdict(quantity: Quantity) -> Verdict:
        if quantity.low == inf:
            return Verdict.CONTRADICTED
        return Verdict.UNDECIDED if quantity.high == inf else judge.verdict(quantity)

    return Judge(verdict, lambda point: point < inf and judge.fits(point), judge.rank)
