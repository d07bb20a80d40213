"""What the measurement says of a published claim."""

from __future__ import annotations

from enum import StrEnum
from math import log

from kvstudy.language.current import N_
from kvstudy.stats.ratios import MARGIN, Ratio, equivalent, margin_bounds
from kvstudy.stats.values import positive

# Two ratios are the same size up to this factor.
SAME_SIZE = 1.25


class Verdict(StrEnum):
    """One word per claim. That cells were client-bound is said beside it."""

    REPRODUCED = N_("reproduced")
    DIRECTION_ONLY = N_("direction only")
    UNDECIDED = N_("undecided")
    CONTRADICTED = N_("contradicted")
    NOT_MEASURED = N_("not measured")


def ratio_verdict(published: float, measured: Ratio | None) -> Verdict:
    """Verdict on "A is ``published`` times B", a ratio without unit and other than 1.

    - not measured: there is no ratio
    - undecided: its interval contains 1, or one run tells no interval
    - contradicted: the interval is on the other side of 1
    - reproduced: same side, and abs ln(published/measured) <= ln 1.25
    - direction only: same side, another size

    The interval is the ratio's own, not adjusted for the table's other pairs: each
    claim was made before the measurement.

    ValueError: ``published`` is 1 (see ``equality_verdict``) or not above 0.
    """
    positive([published], "published ratio")
    if published == 1:
        raise ValueError("published ratio 1: that is a claim of equality; use equality_verdict")
    if unknown := _without_interval(measured):
        return unknown
    if measured.low <= 1 <= measured.high:
        return Verdict.UNDECIDED
    if (published > 1) != (measured.value > 1):
        return Verdict.CONTRADICTED
    # 1.25 itself is still the same size, whatever the logarithms' last digit says.
    if abs(log(published / measured.value)) <= log(SAME_SIZE) + 1e-12:
        return Verdict.REPRODUCED
    return Verdict.DIRECTION_ONLY


def equality_verdict(measured: Ratio | None, margin: float = MARGIN) -> Verdict:
    """Verdict on "A and B are equal", or that something has no effect.

    - not measured: there is no ratio
    - reproduced: the whole interval is inside 1/(1 + margin) to 1 + margin
      (two one-sided tests)
    - contradicted: the whole interval is outside
    - undecided: it reaches over a bound, or one run tells no interval

    That the interval contains 1 reproduces nothing: few or noisy runs do that too.

    ValueError: a margin that is not above 0.
    """
    lower, upper = margin_bounds(margin)
    if unknown := _without_interval(measured):
        return unknown
    if equivalent(measured, margin):
        return Verdict.REPRODUCED
    if measured.high < lower or measured.low > upper:
        return Verdict.CONTRADICTED
    return Verdict.UNDECIDED


def _without_interval(measured: Ratio | None) -> Verdict | None:
    if measured is None:
        return Verdict.NOT_MEASURED
    return Verdict.UNDECIDED if measured.low is None else None
