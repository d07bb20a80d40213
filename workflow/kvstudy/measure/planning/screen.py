"""The screens of ``kvstudy plan``, at most 80 characters wide."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import cache, partial

from kvstudy.measure.planning.costs import (
    OTHER,
    SIZES,
    TIME,
    CostEstimate,
    PooledVariance,
    together,
)
from kvstudy.measure.planning.progress import Outlook, duration, size, times
from kvstudy.stats.power import MOST, POWER, Freedom, repetitions_for, smallest_difference
from kvstudy.stats.variances import planned_freedom
from kvstudy.study.cells import Cell
from kvstudy.study.controls import is_compared

WIDTH = 80
DIFFERENCES = (0.05, 0.10, 0.25)
REPETITIONS = (2, 3, 5, 10, 20)
# With fewer degrees of freedom a standard deviation is off by more than a third.
FEW = 5
# With more settings a ratio's degrees of freedom hardly grow.
ENOUGH_SETTINGS = 20
PARTS = ("start", "load", "run", "stop", "rest")
FORM = "{:19.19}{:>8}" + "{:>7}" * 5 + "{:>9}{:>8}"


def rows(
    outlook: Outlook, estimate: Callable[[Cell], CostEstimate | None]
) -> dict[str, dict[str, Counter]]:
    """Sums over the wanted cells of each store and workload, in the order of the plan's names.

    ``cells`` and those ``done``; times (s) and ``bytes`` where the estimate is known. Of ``timed``
    cells only the time limit of their run is; ``rough`` ones are told by another workload,
    ``smaller`` ones by cells of another size.
    """
    counts: dict[str, dict[str, Counter]] = {}
    for cell in sorted(outlook.wanted, key=lambda cell: (cell.closed is not None, cell.load or 0)):
        name = cell.workload
        if cell.closed is not None:
            name += ", trial" if cell.sets_rate else f", {cell.load} % load"
        row = counts.setdefault(cell.store, {}).setdefault(name, Counter())
        row["cells"] += 1
        row["done"] += cell in outlook.done
        estimated = estimate(cell)
        if estimated is None:
            row["unknown"] += 1
            continue
        row.update({part: getattr(estimated, part) for part in PARTS}, bytes=estimated.bytes)
        row["left"] += 0 if cell in outlook.done else estimated.seconds
        row["timed"] += estimated.likeness == TIME
        row["rough"] += estimated.likeness == OTHER
        row["smaller"] += estimated.likeness in (SIZES, OTHER)
    return counts


def total(rows: Iterable[Counter]) -> Counter:
    """One row of the sums of others."""
    return sum(rows, Counter())


def table(counts: dict[str, dict[str, Counter]], order: list[str]) -> list[str]:
    """Cells, times and disk by store and workload; stores and workloads as the study has them."""
    lines = [FORM.format("", "there", *PARTS, "left", "disk")]
    place = {name: number for number, name in enumerate(order)}
    for store in sorted(counts, key=lambda name: (place.get(name, len(place)), name)):
        workloads = counts[store]
        lines.append(_line(store, total(workloads.values())))
        if len(workloads) > 1:
            names = sorted(workloads, key=lambda name: place.get(name.split(",")[0], 0))
            lines += [_line(f"  {name}", workloads[name]) for name in names]
    if len(counts) > 1:
        everything = total(row for workloads in counts.values() for row in workloads.values())
        lines.append(_line("all", everything))
    return [line.rstrip() for line in lines]


def _line(name: str, row: Counter) -> str:
    done = f"{row['done']}/{row['cells']}"
    if row["unknown"] == row["cells"]:
        return FORM.format(name, done, *["?"] * 7)
    mark = ">" if row["unknown"] or row["timed"] else "~" if row["rough"] else ""
    shown = [_short(row[part]) for part in PARTS]
    disk = size(row["bytes"])
    if row["unknown"] + row["timed"] == row["cells"]:
        shown = ["?", "?", shown[2], "?", "?"]
        disk = "?"
    return FORM.format(name, done, *shown, f"{mark}{_short(row['left'])}", disk)


def _short(seconds: float) -> str:
    """As ``duration``, with one letter."""
    return duration(seconds).replace("min", "m")


def freedom_of(cells: list[Cell]) -> Freedom:
    """The degrees of freedom of two stores' ratio by the number of repetitions, in this plan."""
    stores = defaultdict(set)
    for cell in cells:
        if cell.closed is None and is_compared(cell.store):
            stores[cell.workload, cell.parameters].add(cell.store)
    most = max([2, *map(len, stores.values())])
    return cache(partial(planned_freedom, min(len(stores), ENOUGH_SETTINGS), most))


def repetition_lines(
    spreads: dict[str, PooledVariance],
    paired: PooledVariance | None,
    repetitions: int,
    freedom: Freedom,
) -> list[str]:
    """Return the detectable differences by number of repetitions, for the spreads ``spreads``.

    ``paired`` is the spread without what all stores of a repetition share, if it is known.
    ``freedom``: see ``freedom_of``.
    """
    every = together(spreads.values())
    used = paired or every
    lines = paragraph(
        "Spread of a store's throughput over its repetitions: "
        + ", ".join(f"{spread.value:.1%} ({name})" for name, spread in spreads.items())
        + f"; pooled {every.value:.1%}."
        + (
            f" Without shared drift the spread is {paired.value:.1%}"
            if paired
            else " The share of drift in it is unknown"
        )
        + f" ({times(used.freedom, 'degree')} of freedom"
        + (", few: the numbers below are rough)." if used.freedom < FEW else ").")
    )
    lines.append("")
    for difference in DIFFERENCES:
        n = repetitions_for(difference, used.value, freedom)
        number = f"more than {MOST}" if n is None else str(n)
        lines.append(f"to detect a difference of {difference:3.0%}: {number:>8} repetitions")
    for n in sorted({*REPETITIONS, repetitions} - {1}):
        least = smallest_difference(n, used.value, freedom)
        number = "> 900%" if least > 9 else f"{least:.0%}" if least >= 0.1 else f"{least:.1%}"
        mark = "  (this study)" if n == repetitions else ""
        lines.append(f"{n:3} repetitions detect a difference of {number:>8}{mark}")
    lines.append("")
    if repetitions == 1:
        lines += paragraph(
            "This study has one repetition: no interval, and no difference beyond chance."
        )
    return lines + paragraph(
        "Detected: the 95 % interval of the ratio A/B, paired by repetition, excludes 1 with "
        f"a probability of {POWER:.0%}. With s the spread (standard deviation of ln throughput), "
        "s_d = s*sqrt(2) and n repetitions, the t of mean(ln A/B) follows the noncentral t "
        "distribution with lambda = ln(1 + difference)*sqrt(n)/s_d; n is the least with "
        f"P(|t| > t(0.975, df)) >= {POWER:.2f}. The spread is estimated from all planned cells, "
        f"which gives df = {freedom(max(repetitions, 2)):.1f} degrees of freedom at "
        f"{times(max(repetitions, 2), 'repetition')}; no correction for many pairs."
    )


def paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def notes(everything: Counter) -> list[str]:
    """Explain the signs of the table."""
    lines = []
    if everything["unknown"]:
        lines += paragraph(
            f"? or >: {times(everything['unknown'], 'cell')} without any information yet; the sums "
            "omit them."
        )
    if everything["timed"]:
        lines += paragraph(
            f"? or >: {times(everything['timed'], 'timed cell')} with known run time only; the "
            "sums include nothing else of them."
        )
    if everything["rough"]:
        lines += paragraph("~: estimated from another workload of the store; may be far off.")
    if everything["smaller"]:
        lines += paragraph(
            "Estimated from smaller cells than the study's. Cells shorter than 3 s had a cold "
            "client; from them alone, the times can be four times too long."
        )
    return lines
