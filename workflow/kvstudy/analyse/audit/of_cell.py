"""Whether the numbers of one run of a source can be true together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from math import sqrt

from kvstudy.analyse.audit.check import Cell, Check, Fits, Kind, Shares, judged, threads_of
from kvstudy.analyse.audit.number import Number
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.littles_law import CLIENT_BELOW, IMPOSSIBLE_ABOVE, in_call, weighted_latency
from kvstudy.study.metrics import metric_of
from kvstudy.study.quotes import Setting, StatedFailures

# The metrics of one operation whose order is certain.
ORDERS = [
    ("latency_min", "latency_mean", "latency_max"),
    ("latency_min", "latency_p95", "latency_p99", "latency_max"),
]
OF_ALL = {
    "latency_mean": N_("weighted by operations"),
    "latency_min": N_("least"),
    "latency_max": N_("most"),
}


# Of latencies, which is clear here.
WORDS = [N_("minimum"), N_("mean"), N_("maximum")]


def _word(metric: str) -> str:
    return metric_of(metric).phrase.removesuffix(" latency")


def little(cell: Cell, setting: Setting) -> Iterator[Check]:
    """U = X·R/N cannot be above 1, with R weighted by operations."""
    speed, threads = cell.get("overall", "throughput"), threads_of(cell, setting)
    latencies = cell.of_operations("latency_mean")
    counts = cell.of_operations("operations")
    if len(latencies) == 1:
        counts = dict.fromkeys(latencies, Number.exact(1))
    if not speed or not threads or not latencies or latencies.keys() != counts.keys():
        return
    mean = _weighted(latencies, counts)
    found = in_call(speed.value, mean.value, threads)
    given = (speed * mean).times(1e-6 / threads)
    note = f"{found.audit}" if found.share < CLIENT_BELOW else ""
    if found.share > IMPOSSIBLE_ABOVE:
        most = threads / speed.value * 1e6
        note = reason("little-most", most=f"{most:.0f}", mean=f"{mean.value:.0f}")
    yield Check(
        Kind.LITTLE,
        cell.place,
        "in-calls",
        expected=1,
        note=note,
        doubts="; ".join(_latencies(cell, setting)),
        **judged(given, 0, IMPOSSIBLE_ABOVE),
        **cell.keys,
    )


def _latencies(cell: Cell, setting: Setting) -> Iterator[str]:
    """The mean latencies, and the throughput where no run time tells that it is right."""
    for operation, metric in cell.numbers:
        if metric == "latency_mean":
            yield cell.address(operation, metric)
    confirmed = [check for check in runtime(cell, setting) if check.operation == "overall"]
    if not confirmed or confirmed[0].fits == Fits.RESULT:
        yield cell.address("overall", "throughput")


def _weighted(latencies: dict[str, Number], counts: dict[str, Number]) -> Number:
    number = {name: each.value for name, each in counts.items()}
    return Number(
        *(
            weighted_latency({name: getattr(r, end) for name, r in latencies.items()}, number)
            for end in ("value", "low", "high")
        )
    )


def runtime(cell: Cell, setting: Setting) -> Iterator[Check]:
    """Throughput times run time is the number of operations.

    Of means over runs it is more, by the square of the run times' coefficient of
    variation (less the n-th part), since mean(1/T)·mean(T) >= 1.
    """
    for (operation, metric), speed in cell.numbers.items():
        time = cell.get(operation, "runtime")
        wanted = _operations(cell, operation, setting)
        if metric != "throughput" or not time or not time.value or not wanted:
            continue
        given = (speed * time).times(1e-3)
        runs = setting.runs
        excess = given.value / wanted - 1
        room = 0 if runs == 1 else NOISY**2
        note = ""
        if runs and runs > 1 and given.low > wanted:
            spread = sqrt(excess * runs / (runs - 1))
            note = reason("spread", runs=runs, spread=f"{100 * spread:.1f}")
        elif excess < 0 and not given.meets(wanted, math.inf):
            note = reason("not-less", rate=f"{wanted / time.value * 1e3:.0f}")
        yield Check(
            Kind.RUNTIME,
            cell.places[operation],
            "by-runtime"
            if operation == "overall"
            else reason("by-runtime-of", operation=operation),
            expected=wanted,
            unit="operations",
            operation=operation,
            note=note,
            doubts=cell.address(operation, "throughput", "runtime"),
            **judged(given, wanted, wanted * (1 + room)),
            **cell.keys,
        )


def _operations(cell: Cell, operation: str, setting: Setting) -> float | None:
    """How many operations of the kind there are, of ``overall`` all."""
    counts = cell.of_operations("operations")
    if operation in counts:
        return counts[operation].value
    if operation == "overall" and counts:
        return sum(number.value for number in counts.values())
    own = cell.keys["operations"]
    told = setting.operations.get(operation) or setting.operations.get(cell.keys["workload"])
    if told:
        return told
    if operation == "insert":
        own = cell.keys["records"]
    return None if math.isnan(own) else own


def combined(cell: Cell) -> Iterator[Check]:
    """A row of several operations: their plain mean (counts: their sum), and what is of all."""
    for (operation, metric), number in cell.numbers.items():
        parts = [cell.get(part, metric) for part in operation.split("+")]
        if "+" not in operation or None in parts:
            continue
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        words = {"operation": operation, "metric": metric} | cell.keys
        unit = "operations" if metric == "operations" else "µs"
        plain = total if metric == "operations" else total.times(1 / len(parts))
        name = _word(metric)
        kind = N_("sum") if metric == "operations" else N_("plain mean")
        yield Check(
            Kind.COMBINED,
            cell.place,
            reason("combined", metric=name, operation=operation, how=kind),
            expected=plain.value,
            unit=unit,
            doubts=cell.address(operation, metric),
            **judged(number, plain.low, plain.high),
            **words,
        )
        true = _of_all(cell, operation, metric)
        if true is not None:
            yield Check(
                Kind.WEIGHTED,
                cell.place,
                reason("combined", metric=name, operation=operation, how=OF_ALL[metric]),
                expected=true.value,
                unit=unit,
                **judged(number, true.low, true.high) | {"off": math.nan, "fits": Fits.NONE},
                **words,
            )


def _of_all(cell: Cell, operation: str, metric: str) -> Number | None:
    """What the metric is of all operations together; None for percentiles."""
    names = operation.split("+")
    parts = {name: cell.get(name, metric) for name in names}
    if metric == "latency_mean":
        counts = {name: cell.get(name, "operations") for name in names}
        return None if None in counts.values() else _weighted(parts, counts)
    pick = {"latency_min": min, "latency_max": max}.get(metric)
    return pick(parts.values(), key=lambda each: each.value) if pick else None


def counts_of(cell: Cell, setting: Setting) -> Iterator[Check]:
    counts = cell.of_operations("operations")
    wanted = setting.operations.get(cell.keys["workload"])
    if not counts or not wanted:
        return
    total = Number.exact(sum(number.value for number in counts.values()))
    yield Check(
        Kind.COUNTS,
        cell.place,
        "sum-of-counts",
        expected=wanted,
        unit="operations",
        doubts="; ".join(cell.address(operation, "operations") for operation in counts),
        **judged(total, wanted - len(counts) / 2, wanted + len(counts) / 2),
        **cell.keys,
    )


def steps(cell: Cell, setting: Setting) -> Iterator[Check]:
    """YCSB gives these as whole numbers, so means of n runs are multiples of 1/n."""
    if not setting.runs:
        return
    for (operation, metric), number in cell.numbers.items():
        if not metric_of(metric).whole or "+" in operation:
            continue
        near = round(number.value * setting.runs) / setting.runs
        # Where rounding hides the steps there is nothing to see.
        if number.high - number.low >= 0.5 / setting.runs:
            continue
        yield Check(
            Kind.STEPS,
            cell.place,
            reason("whole-numbers", operation=operation, metric=_word(metric), runs=setting.runs),
            expected=near,
            unit="ms" if metric == "runtime" else "µs",
            operation=operation,
            metric=metric,
            doubts=cell.address(operation, metric),
            **judged(number, near, near),
            **cell.keys,
        )


def failed(
    cell: Cell, failures: list[StatedFailures], setting: Setting, shares: Shares
) -> Iterator[Check]:
    """YCSB counts a failed operation apart, so it is missing among the others."""
    counts = cell.of_operations("operations")
    for stated in failures:
        wanted = setting.operations.get(cell.keys["workload"])
        share = shares.get(cell.keys["workload"], {}).get(stated.operation)
        if stated.store != cell.keys["store"] or stated.operation not in counts:
            continue
        if not wanted or not share:
            continue
        percent = Number.rounded(
            float(stated.percent), 0.5 * 10.0 ** -len(stated.percent.partition(".")[2])
        )
        left = Number.exact(wanted) - percent.times(wanted * share / 100)
        total = Number.exact(sum(number.value for number in counts.values()))
        yield Check(
            Kind.FAILURES,
            cell.place,
            reason(
                "not-failed",
                percent=stated.percent,
                operation=stated.operation,
                place=stated.place,
            ),
            expected=left.value,
            unit="operations",
            operation=stated.operation,
            note="both-added",
            doubts="; ".join(cell.address(operation, "operations") for operation in counts),
            **judged(total, left.low, left.high),
            **cell.keys,
        )


def order(cell: Cell) -> Iterator[Check]:
    names = dict.fromkeys(operation for operation, _ in cell.numbers)
    for operation in names:
        for order in ORDERS:
            there = [(each, cell.get(operation, each)) for each in order]
            there = [(each, number) for each, number in there if number is not None]
            for (one, less), (other, more) in pairwise(there):
                if one == "latency_min" and other == "latency_max":
                    continue
                yield Check(
                    Kind.ORDER,
                    cell.place,
                    reason("not-above", operation=operation, less=_word(one), more=_word(other)),
                    expected=more.value,
                    unit="µs",
                    operation=operation,
                    metric=one,
                    doubts=cell.address(operation, one, other),
                    **judged(less, -math.inf, more.high),
                    **cell.keys,
                )
