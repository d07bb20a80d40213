"""The sentences of a comparison, the same on the terminal and in the PDF."""

from __future__ import annotations

from datetime import datetime

from kvstudy.comparison.compare import Comparison
from kvstudy.comparison.runs import Run
from kvstudy.comparison.words import sizes
from kvstudy.stats.ratios import MARGIN

MARKS = (
    "~: not different, the runs do not tell the change from 1 (Holm's correction for the number of "
    f"rows, level 5 %). =: equal, the whole interval is within ±{MARGIN * 100:.0f} % "
    f"({1 / (1 + MARGIN):.3f} to {1 + MARGIN:g}; two one-sided tests at 2.5 % each). No mark: "
    "different. ~ alone is no evidence that nothing changed. ?: one repetition tells no interval."
)


def about_relative(found: Comparison) -> str:
    base = found.title(found.base)
    return (
        f"Within each run, a store's throughput is divided by that of {base}, repetition by "
        "repetition, so the speed of the machine cancels out. The columns of run A and run B are "
        "geometric means of these ratios. The change is B by A: 1.5 means that the store gained half "
        f"against {base}. A slower {base} looks the same as faster others. The 95 % interval is "
        "Welch's, for two independent means, on logarithms; n is the number of repetitions in A and in B."
    )


def about_absolute() -> str:
    return (
        "Both runs say that they are of one machine: the same CPU, cores and memory. (Two machines "
        "of one type look the same.) Geometric means in operations per second; the change is B by "
        "A with Welch's 95 % interval on logarithms. The interval knows the spread of the "
        "repetitions of each run only. What differed between the two times of measurement, such as "
        "another load of the machine, is part of the change."
    )


def about_orders() -> str:
    return (
        "A pair of stores is tied in a run when its repetitions do not tell the two apart (ratio "
        "paired by repetition, Holm's correction for the pairs of a workload); stores that are not "
        "told apart can share a place."
    )


def order_line(found: Comparison, row) -> str:
    """``run A has 1 Redis, 2 Memcached; run B has ...; of 1 pair, 1 in the same order, ...``."""
    of = "1 pair" if row.pairs == 1 else f"{row.pairs} pairs"
    counts = f"of {of}, {row.same} in the same order, {row.opposite} in the opposite"
    return (
        f"run A has {_titled(found, row.order_a)}; run B has {_titled(found, row.order_b)}; "
        f"{counts}, {row.tied} tied in a run"
    )


def _titled(found: Comparison, order: str) -> str:
    places = (part.split(" ", 1) for part in order.split(", "))
    return ", ".join(f"{place} {found.title(store)}" for place, store in places)


def place_of(row) -> str:
    """Which run, workload, store and repetitions a row of what is left out is about."""
    side = "both runs" if row.run == "both" else f"run {row.run}"
    workload = f"workload {row.workload}" if row.workload else ""
    repetitions = f"repetition {row.repetitions}" if row.repetitions else ""
    parts = [side, row.store, workload, row.parameters and sizes(row.parameters), repetitions]
    return ", ".join(part for part in parts if part)


def span(run: Run) -> str:
    """``2 November 2026, 12 of 12 cells count``."""
    started = sorted(text for text in run.cells["started"] if text)
    days = [_day(text) for text in dict.fromkeys([*started[:1], *started[-1:]])]
    when = f"measured {' to '.join(dict.fromkeys(days))}" if days else "time not recorded"
    return f"{when}, {run.counted} of {len(run.cells)} cells count"


def _day(text: str) -> str:
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{day.day} {day:%B %Y, %H:%M}"
