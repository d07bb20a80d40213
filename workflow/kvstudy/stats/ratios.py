"""Ratios of stores: estimates, intervals, decisions."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from math import comb, copysign, exp, inf, log, log1p, sqrt

from kvstudy.language.current import N_
from kvstudy.libraries import np, special
from kvstudy.stats.intervals import LEVEL, positive

# What is equal may differ by so much, in both directions, where nothing else is said.
MARGIN = 0.10


@dataclass(frozen=True)
class Ratio:
    """The ratio A/B of two stores' values, without unit.

    ``low`` and ``high`` bound its interval of the ``level``; ``p`` is the two-sided p-value of A =
    B, or of a ratio that is not above the noise floor, ``p_adjusted`` the same over a table (see
    ``adjusted``). ``error`` is the standard error of ln(A/B), with ``freedom`` degrees of freedom.
    All of these are None when a side has only one run (or there is only one block): the ratio is
    then known and its spread is not. ``n`` counts the blocks, or the runs of the side that has
    fewer. A value of A within the ``margin`` of B is equal to it.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    p: float | None = None
    error: float | None = None
    freedom: float | None = None
    p_adjusted: float | None = None
    level: float = LEVEL
    margin: float = MARGIN

    @property
    def differs(self) -> bool | None:
        """Return whether the interval excludes 1; None if the spread is unknown.

        After ``adjusted`` the p-value decides, and tells fewer apart: an interval that excludes 1
        by itself can be one of many.
        """
        if self.low is None:
            return None
        if self.p_adjusted is not None:
            return self.p_adjusted < 1 - self.level
        return not self.low <= 1 <= self.high


def paired_ratio(
    a: Mapping[Hashable, float], b: Mapping[Hashable, float], level: float = LEVEL
) -> Ratio:
    """Ratio of A to B from runs that were measured in the same blocks.

    exp(d ± t((1 + level)/2, n - 1) · s/√n), with d and s the mean and the
    standard deviation of d_b = ln(A_b/B_b) over the n blocks. ``a`` and ``b``
    map a block (the repetition) to one run's value, in a common unit. What slows
    the machine in a block cancels out. A block that only one side has is left out.

    Source: Kalibera & Jones 2013.
    ValueError: no common block, a value that is not a number above 0.
    """
    blocks = [block for block in a.keys() if block in b.keys()]  # noqa: SIM118 (pandas Series)
    if not blocks:
        raise ValueError("the two sides have no block in common; use unpaired_ratio")
    logs_a = np.log(positive((a[block] for block in blocks), "values of A"))
    differences = logs_a - np.log(positive((b[block] for block in blocks), "values of B"))
    n = len(blocks)
    mean = float(differences.mean())
    if n == 1:
        return Ratio(exp(mean), 1)
    return ratio_of(mean, float(differences.std(ddof=1)) / sqrt(n), n - 1, n, level=level)


def unpaired_ratio(a: Iterable[float], b: Iterable[float], level: float = LEVEL) -> Ratio:
    """Ratio of A to B from runs that share no blocks: Welch's t interval on logarithms.

    exp(m_A - m_B ± t(0.975, df) · √(s_A²/n_A + s_B²/n_B)), m and s over
    ln x of each side, df by Welch and Satterthwaite. Values in a common unit.

    Source: Welch 1947; Kalibera & Jones 2013.
    ValueError: a side without values, a value that is not a number above 0.
    """
    return unpaired_product([(1, a), (-1, b)], level)


def unpaired_quotient(above: Sequence[Iterable[float]], below: Sequence[Iterable[float]]) -> Ratio:
    """The product of the geometric means ``above`` by that of those ``below``, none paired."""
    return unpaired_product([*((1, runs) for runs in above), *((-1, runs) for runs in below)])


def unpaired_product(
    powers: Sequence[tuple[float, Iterable[float]]], level: float = LEVEL
) -> Ratio:
    """The product of geometric means, each raised to its power, of runs that share no blocks.

    As ``unpaired_ratio``, with the variances of all means added: with the powers 1, 1, -1 and -1
    it is a ratio of ratios. ``n`` counts the runs of the one that has fewest.

    Source: Welch 1947 (any number of independent means). ValueError as there.
    """
    logs = [
        power * np.log(positive(runs, f"values of {'A' if power > 0 else 'B'}"))
        for power, runs in powers
    ]
    mean = float(sum(of.mean() for of in logs))
    sizes = np.array([of.size for of in logs])
    n = int(sizes.min())
    if n == 1:
        return Ratio(exp(mean), 1)
    parts = np.array([of.var(ddof=1) / of.size for of in logs])
    if not parts.sum():
        return ratio_of(mean, 0.0, n - 1, n, level=level)
    shares = parts / parts.sum()
    freedom = 1 / float((shares**2 / (sizes - 1)).sum())
    return ratio_of(mean, sqrt(parts.sum()), freedom, n, level=level)


def ratio_of(
    mean: float,
    error: float,
    freedom: float,
    n: int,
    floor: float = 1.0,
    level: float = LEVEL,
    margin: float = MARGIN,
) -> Ratio:
    """The ratio whose logarithm is ``mean``, with a standard ``error`` of ``freedom`` degrees.

    Its p-value is that of a ratio between 1/``floor`` and ``floor``: P(abs(T) > (abs(mean) - ln
    floor)/error). The same numbers as ``scipy.stats.ttest_rel`` and ``ttest_ind``, which have no
    p-value for equal runs, take two means at most, and do not show the standard error, from which
    equivalence and the repetitions that would decide are computed.
    """
    half = special.stdtrit(freedom, (1 + level) / 2) * error
    beyond = max(abs(mean) - log(floor), 0.0)
    p = 2 * float(special.stdtr(freedom, -_over(beyond, error)))
    ends = exp(mean - half), exp(mean + half)
    return Ratio(exp(mean), n, *ends, p, error, freedom, level=level, margin=margin)


def _over(distance: float, error: float) -> float:
    """``distance`` in standard errors; runs without any spread are infinitely sure."""
    if error:
        return distance / error
    return copysign(inf, distance) if distance else 0.0


def adjusted(
    ratios: Mapping[Hashable, Ratio], equalities: Iterable[int] | None = None
) -> dict[Hashable, Ratio]:
    """The ratios of one table's pairs with ``p_adjusted``; their intervals stay as they are.

    The i-th smallest of m p-values becomes max over j <= i of min(1, f_j·p_j), with f_j =
    m - j + 1. Where only so many of the pairs can be equal at once (``equalities``, see
    ``possible_equalities``), f_j is the largest such number that is no larger. A ratio without a
    p-value was not tested and does not count in m.

    Source: Holm 1979; Shaffer 1986 (``equalities``).
    """
    tested = sorted(
        (pair for pair, ratio in ratios.items() if ratio.p is not None),
        key=lambda pair: ratios[pair].p,
    )
    counts = range(len(tested) + 1) if equalities is None else equalities
    with_adjusted = dict(ratios)
    largest = 0.0
    for number, pair in enumerate(tested):
        factor = max((count for count in counts if count <= len(tested) - number), default=0)
        largest = max(largest, min(1.0, max(factor, 1) * ratios[pair].p))
        with_adjusted[pair] = replace(ratios[pair], p_adjusted=largest)
    return with_adjusted


def possible_equalities(pairs: Iterable[tuple[str, str]]) -> set[int]:
    """Return the possible numbers of equal pairs among the ``pairs`` of stores.

    Of three stores that are all compared none, one or all three pairs can be equal, never two: if A
    is as fast as B, and B as C, so is A as C. Stores of which not every pair is there are taken to
    allow any number.

    Source: Shaffer 1986.
    """
    pairs = [frozenset(pair) for pair in pairs]
    groups: list[set[str]] = []
    for pair in pairs:
        touched = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(set(pair).union(*touched))
    sums = {0}
    for group in groups:
        count = sum(pair <= group for pair in pairs)
        whole = count == comb(len(group), 2)
        equal_pairs = _equal_pairs(len(group)) if whole else set(range(count + 1))
        sums = {one + other for one in sums for other in equal_pairs}
    return sums


@cache
def _equal_pairs(stores: int) -> set[int]:
    """Return the possible numbers of equal pairs of so many stores: one class, and the others."""
    if stores < 2:
        return {0}
    sizes = range(1, stores + 1)
    return {comb(size, 2) + rest for size in sizes for rest in _equal_pairs(stores - size)}


class Decision(StrEnum):
    """The decision on two stores; equality is shown, not assumed."""

    FASTER = N_("faster")
    EQUAL = N_("equal")
    UNDECIDED = N_("undecided")


def decide(ratio: Ratio) -> Decision:
    """The word on ``ratio``.

    Faster: the runs tell the two apart, by more than the noise floor where its p-value is of that.
    Equal: the whole interval is within the margin. Undecided: anything else, also a single run.
    """
    if ratio.differs:
        return Decision.FASTER
    return Decision.EQUAL if equivalent(ratio) else Decision.UNDECIDED


def margin_bounds(margin: float = MARGIN) -> tuple[float, float]:
    """The ratios that count as equal: 1/(1 + margin) to 1 + margin.

    Symmetric on logarithms, so that A/B and B/A get the same answer: ±10 % is
    0.909 to 1.1.
    """
    return 1 / (1 + margin), 1 + margin


def equivalence_p(ratio: Ratio) -> float | None:
    """p-value of the two one-sided tests that A/B is outside the margin; None without a spread.

    The larger of P(T > (ln r + δ)/SE) and P(T < (ln r - δ)/SE), δ = ln(1 + margin).

    Source: Schuirmann 1987.
    """
    if ratio.low is None:
        return None
    mean, bound = log(ratio.value), log1p(ratio.margin)
    above = special.stdtr(ratio.freedom, -_over(mean + bound, ratio.error))
    below = special.stdtr(ratio.freedom, _over(mean - bound, ratio.error))
    return float(max(above, below))


def equivalent(ratio: Ratio) -> bool | None:
    """Return whether the whole interval is inside the margin; None without a spread.

    With a 95 % interval that is two one-sided tests at 2.5 % each, so what is called equal can be
    checked in the printed interval. That the interval
    contains 1 shows nothing of the kind.
    """
    lower, upper = margin_bounds(ratio.margin)
    if ratio.low is None:
        return None
    return lower < ratio.low and ratio.high < upper
