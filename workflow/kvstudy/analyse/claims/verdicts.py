"""The verdict on a claim, by what was measured, and whether the source's own values support it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import log, log1p

from kvstudy.analyse.audit.check import Fits
from kvstudy.language.current import N_
from kvstudy.stats.intervals import Interval

# Two ratios are the same size up to this factor.
SAME_SIZE = 1.25
# Of the last digit of a logarithm.
SLACK = 1e-12


class Verdict(StrEnum):
    """One word per claim. That cells were client-bound is said next to it."""

    REPRODUCED = N_("reproduced")
    DIRECTION_ONLY = N_("direction only")
    PARTLY = N_("partly reproduced")
    UNDECIDED = N_("undecided")
    CONTRADICTED = N_("contradicted")
    NOT_MEASURED = N_("not measured")


# Which of several parts is shown: the first here is the weakest. No part is PARTLY reproduced.
WEAKEST_FIRST = [
    Verdict.CONTRADICTED,
    Verdict.NOT_MEASURED,
    Verdict.UNDECIDED,
    Verdict.PARTLY,
    Verdict.DIRECTION_ONLY,
    Verdict.REPRODUCED,
]


# With these a part holds.
HOLDING = (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY)


def combined_verdict(counts: Mapping[Verdict, int]) -> Verdict:
    """The verdict on a claim (a statement) from how many of its parts have which.

    Contradicted where most parts are; partly reproduced where fewer are, and some hold. Else that
    of all parts where they have one; undecided where some part does not hold; else direction only.
    """
    present = {verdict for verdict, count in counts.items() if count}
    if 2 * counts.get(Verdict.CONTRADICTED, 0) > sum(counts.values()):
        return Verdict.CONTRADICTED
    if Verdict.CONTRADICTED in present and present.intersection(HOLDING):
        return Verdict.PARTLY
    if len(present) == 1:
        return present.pop()
    return Verdict.DIRECTION_ONLY if present <= set(HOLDING) else Verdict.UNDECIDED


class Support(StrEnum):
    """The support of a claim by the source's own values."""

    SUPPORTED = N_("supported")
    PARTLY = N_("supported in part")
    NOT = N_("not supported")
    NO_DATA = N_("no data")


def support_of(parts: Iterable[Support]) -> Support:
    """Combine the support of parts: not supported as soon as one part is not."""
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


@dataclass(frozen=True)
class Judge:
    """The condition on a quantity: bounds ``above`` and ``below``, and a ``claimed`` value.

    Without bounds nothing measured elsewhere can tell. ``within`` is the share by which a value
    of the source may be off, since its text rounds; None for a claim that names no size.
    ``differs``: it says that two values differ.
    """

    above: float | None = None
    below: float | None = None
    claimed: float | None = None
    within: float | None = None
    differs: bool = False

    @property
    def bounds(self) -> list[float]:
        return [bound for bound in (self.above, self.below) if bound is not None]

    def fits(self, point: float) -> bool:
        """Return whether a value of the source satisfies its claim."""
        near = self.within is None or self._distance(point) <= log1p(self.within) + SLACK
        return near and self._inside(point)

    def verdict(self, measured: Interval) -> Verdict:
        """The verdict on a measured quantity.

        - undecided: a bound is in its interval, or one run shows no interval
        - contradicted: the whole interval is beyond a bound
        - reproduced: it is within the bounds, and the value within ``SAME_SIZE`` of the claimed one
        - direction only: within the bounds, another size

        The interval is not adjusted for a table's other pairs: each claim was made before
        the measurement.
        """
        low, high = measured.low, measured.high
        if low is None or any(low <= bound <= high for bound in self.bounds):
            return Verdict.UNDECIDED
        if not self._inside(measured.value):
            return Verdict.CONTRADICTED
        if self.within is None or self._distance(measured.value) <= log(SAME_SIZE) + SLACK:
            return Verdict.REPRODUCED
        return Verdict.DIRECTION_ONLY

    def rank(self, point: float) -> float:
        """The smaller, the worse a value fits: which of many parts is shown."""
        if self.claimed is not None:
            return -self._distance(point)
        return min(abs(point - bound) for bound in self.bounds) * (1 if self._inside(point) else -1)

    def _inside(self, point: float) -> bool:
        above = self.above is None or point > self.above
        return above and (self.below is None or point < self.below)

    def _distance(self, point: float) -> float:
        return abs(log(point / self.claimed))


def beyond_one(above: bool = True, **size: float) -> Judge:
    """A ratio is above 1, or below; ``size`` is what is claimed of it, if anything."""
    return Judge(1 if above else None, None if above else 1, differs=True, **size)
