"""What a part of a claim comes to: a ratio or a value, with its interval over repetitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log

from kvstudy.analyse.claims.selection import Operand
from kvstudy.analyse.claims.values import Runs, UnknownValue, Values, geometric_mean
from kvstudy.analyse.findings.rounds import crossing
from kvstudy.language.reasons import reason
from kvstudy.libraries import np
from kvstudy.stats.intervals import error_rate, log_t_interval, mean_estimate, trimmed_estimate
from kvstudy.stats.laws import saturation
from kvstudy.stats.ratios import Ratio, Verdict, paired_ratio, unpaired_ratio
from kvstudy.study.metrics import metric_of

Couple = tuple[Operand, Operand]
# A size with the value there, and what that is divided by.
Step = tuple[int, Operand, Operand | None]
SHARE = "share"
THREADS = "threads"
READS = "reads"


@dataclass(frozen=True)
class Quantity:
    """A ratio (``unit`` is "") or a value with its 95 % interval, None for one repetition.

    ``n`` counts repetitions, of a share operations. Of thread counts, which have no
    interval, ``low`` and ``high`` are the range; infinite is more than were measured.
    ``of`` are the values behind it, where they had to be found.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str = ""
    of: tuple[Operand, ...] = ()

    @property
    def as_ratio(self) -> Ratio:
        return Ratio(self.value, self.n, self.low, self.high)


def ratio(values: Values, a: Operand, b: Operand) -> Quantity:
    """A by B, paired by repetition where they were measured side by side."""
    one, other = values.runs(a), values.runs(b)
    if values.best(a) != values.best(b) and values.setting(a) == values.setting(b):
        raise UnknownValue(Verdict.NOT_MEASURED, "same-cell")
    return _ratio_of(values.side_by_side(a, b), one, other, (a, b))


def mean_ratio(values: Values, couples: Sequence[Couple]) -> Quantity:
    """The geometric mean of the ratios, in each repetition."""
    above = _means([values.runs(a) for a, _ in couples])
    below = _means([values.runs(b) for _, b in couples])
    side_by_side = values.side_by_side(*(operand for couple in couples for operand in couple))
    return _ratio_of(side_by_side, above, below)


def extreme_ratio(
    values: Values, couples: Sequence[Couple], choose: Callable[..., Quantity]
) -> Quantity:
    """The smallest or largest ratio (``choose``: min or max); all must be known."""
    return choose((ratio(values, a, b) for a, b in couples), key=lambda each: each.value)


def value(values: Values, operand: Operand) -> Quantity:
    """The operand itself."""
    if operand.metric == "failed_share":
        printed = values.printed_share(operand)
        if printed is not None:
            return Quantity(printed, None, None, 1, SHARE)
        failed, operations = values.failed_share(operand)
        share = error_rate(failed, operations)
        return Quantity(share.value, share.low, share.high, share.n, SHARE)
    return _over_repetitions(values.runs(operand), metric_of(operand.metric).unit)


def change(values: Values, steps: Sequence[Step]) -> Quantity:
    """How many times the value (or first by second) is larger at the last step than at the first.

    By the straight line through the logarithms of value and size, fitted in each
    repetition that has all steps.
    """
    sizes = np.log([size for size, _, _ in steps])
    if len(sizes) < 2:
        raise UnknownValue(Verdict.NOT_MEASURED, "one-size")
    at_steps = []
    for _, a, b in steps:
        runs = values.runs(a)
        below = values.runs(b) if b else dict.fromkeys(runs, 1.0)
        at_steps.append({name: runs[name] / below[name] for name in runs if name in below})
    changes = {
        name: exp(np.polyfit(sizes, [log(runs[name]) for runs in at_steps], 1)[0] * np.ptp(sizes))
        for name in _common(at_steps)
    }
    return _over_repetitions(changes, "")


def change_until_saturation(values: Values, steps: Sequence[Step]) -> Quantity:
    """As ``change``, up to the thread count at which the mean throughput saturates."""
    counts = [count for count, _, _ in steps]
    if len(counts) < 2:
        raise UnknownValue(Verdict.NOT_MEASURED, "one-thread-count")
    rates = [
        geometric_mean(values.runs(replace(a, metric="throughput", operation="overall")).values())
        for _, a, _ in steps
    ]
    last = saturation(counts, rates) or counts[-1]
    return change(values, [step for step in steps if step[0] <= last])


def saturation_point(
    values: Values,
    steps: Sequence[Step],
    at_least: float | None = None,
    at_most: float | None = None,
) -> Quantity:
    """The thread count at which throughput saturates: median and range over repetitions.

    UnknownValue where there are too few counts to tell whether it is ``at_least`` or
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


def break_even(values: Values, costs: dict[str, Operand], deletes: Operand) -> Quantity:
    """Reads per write from which a cache pays off, as ``findings.rounds`` has it.

    Of single cells the costs are trimmed means of the rounds, of several plain ones of the
    cells, so that table and claim have one value. Without a measured deletion, a write to the
    cache stands for it. Infinite: it never pays off; that ``low`` is infinite too when the
    runs tell it, and None when they do not.
    """
    try:
        values.runs(deletes)
        operands = costs | {"delete": deletes}
    except UnknownValue:
        operands = costs | {"delete": costs["write"]}
    runs = {}
    for name, operand in operands.items():
        of = values.runs(operand)
        runs[name] = {run: 1 / rate for run, rate in of.items()} if operand.larger_is_better else of
    means = {}
    for name, operand in operands.items():
        inside = values.setting(operand) in values.in_rounds
        means[name] = (trimmed_estimate if inside else mean_estimate)(runs[name].values())
    n = min(map(len, runs.values()))
    reads = crossing(*(means[name] for name in ("delete", "write", "read database", "read")))
    if reads is None:
        slower = unpaired_ratio(runs["read"].values(), runs["read database"].values())
        told = slower.low is not None and slower.low > 1
        return Quantity(inf, *([inf, inf] if told else [None, None]), n, READS)
    return Quantity(reads.value, reads.low, reads.high, n, READS)


def _ratio_of(side_by_side: bool, a: Runs, b: Runs, of: tuple[Operand, ...] = ()) -> Quantity:
    if side_by_side:
        if not a.keys() & b.keys():
            raise UnknownValue(Verdict.NOT_MEASURED, "no-common-repetition")
        of_runs = paired_ratio(a, b)
    else:
        of_runs = unpaired_ratio(a.values(), b.values())
    return Quantity(of_runs.value, of_runs.low, of_runs.high, of_runs.n, "", of)


def _over_repetitions(runs: Runs, unit: str) -> Quantity:
    mean = log_t_interval(runs.values())
    return Quantity(mean.value, mean.low, mean.high, mean.n, unit)


def _means(several: list[Runs]) -> Runs:
    return {name: geometric_mean(runs[name] for runs in several) for name in _common(several)}


def _common(several: Sequence[Runs]) -> list[str]:
    """The repetitions that all have; UnknownValue when there is none."""
    names = [name for name in several[0] if all(name in runs for runs in several)]
    if not names:
        raise UnknownValue(Verdict.NOT_MEASURED, "no-repetition-of-all")
    return names
