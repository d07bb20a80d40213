"""Consistency checks of the numbers in a source's tables, within one run and across runs.

A check yields what it finds in a cell of the source, or in its values and all their cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from math import sqrt
from operator import add

from kvstudy.analyse.audit.check import Check, Fits, Kind, PrintedNumber, judged, quoted, severity
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd, special
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.laws import CLIENT_BELOW, IMPOSSIBLE_ABOVE, in_call, weighted_latency
from kvstudy.study.base import SIZES
from kvstudy.study.metrics import PERCENTILES, metric_of
from kvstudy.study.parts import MEAN
from kvstudy.study.quotes import Quotes

# The metrics of one operation whose order is certain.
ORDERS = [
    ("latency_min", "latency_mean", "latency_max"),
    ("latency_min", *PERCENTILES.values(), "latency_max"),
]
OF_ALL = {
    "latency_mean": N_("weighted by operations"),
    "latency_min": N_("least"),
    "latency_max": N_("most"),
}


# Of latencies, which is clear here.
WORDS = [N_("minimum"), N_("mean"), N_("maximum")]
# Of kinds of checks; else of metrics, of most of them µs.
UNITS = {Kind.LITTLE: "", Kind.THREADS: ""}
UNITS |= dict.fromkeys((Kind.RUNTIME, Kind.COUNTS, Kind.FAILURES), "operations")
METRIC_UNITS = {"operations": "operations", "runtime": "ms"}
# A chance of less than this is no chance.
LEAST_P = 0.001

# What belongs together: all values of one run of the source.
CELL = ["store", "workload", *SIZES]
# Of the operations (0 to 1) of each workload.
Shares = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class PublishedRun:
    """All values of one run of the source: ``numbers`` by operation and metric.

    ``said`` shows how it measured and which failures it mentions; ``shares`` are those of the
    workload's operations (0 to 1), ``places`` the tables of the operations, the first one first.
    """

    said: Quotes
    shares: Mapping[str, float]
    places: dict[str, str]
    keys: dict[str, object]
    numbers: dict[tuple[str, str], PrintedNumber]

    @staticmethod
    def of(rows: pd.DataFrame, said: Quotes, shares: Shares) -> PublishedRun:
        """Make one from the rows (``files.read_values``) of a run."""
        keys = rows.iloc[0][CELL].to_dict()
        return PublishedRun(
            said,
            shares.get(keys["workload"], {}),
            rows.drop_duplicates("operation").set_index("operation")["table"].to_dict(),
            keys,
            {(row.operation, row.metric): row.number for row in rows.itertuples()},
        )

    @property
    def place(self) -> str:
        return next(iter(self.places.values()))

    @property
    def threads(self) -> float | None:
        """The client threads."""
        threads = self.keys["threads"]
        return self.said.setting.threads if math.isnan(threads) else threads

    @property
    def stated(self) -> int | None:
        """Return the stated number of operations of the run."""
        return self.said.setting.operations.get(self.keys["workload"])

    @property
    def counts(self) -> dict[str, PrintedNumber]:
        """Return the number of single operations of each kind."""
        return self.of_operations("operations")

    @property
    def executed(self) -> PrintedNumber:
        """Return the total number of operations, by the counts of single ones."""
        return PrintedNumber.exact(sum(count.value for count in self.counts.values()))

    def of_operations(self, metric: str) -> dict[str, PrintedNumber]:
        """The values of single operations."""
        return {
            operation: number
            for (operation, name), number in self.numbers.items()
            if name == metric and operation != "overall" and "+" not in operation
        }

    def get(self, operation: str, metric: str) -> PrintedNumber | None:
        return self.numbers.get((operation, metric))

    def addresses(self, values: Iterable[tuple[str, str]]) -> str:
        """Return the addresses (``study.quotes``) of values by operation and metric as text."""
        sizes = "".join(
            f" {name}={self.keys[name]:.0f}" for name in SIZES if not math.isnan(self.keys[name])
        )
        start = f"{self.keys['store']}/{self.keys['workload']}"
        return "; ".join(f"{start}/{operation}/{metric}{sizes}" for operation, metric in values)

    def check(
        self,
        kind: Kind,
        what: str,
        given: PrintedNumber,
        expected: PrintedNumber,
        doubts: Iterable[tuple[str, str]] = (),
        **more: object,
    ) -> Check:
        """Check ``given`` against ``expected``; ``wrong`` names the values by operation and metric.

        ``more`` are further fields.
        """
        unit = UNITS.get(kind, METRIC_UNITS.get(more.get("metric"), "µs"))
        fields = {"place": self.place, "unit": unit} | self.keys | judged(given, expected) | more
        return Check(kind=kind, what=what, doubts=self.addresses(doubts), **fields)


def _word(metric: str) -> str:
    return metric_of(metric).phrase.removesuffix(" latency")


def little(cell: PublishedRun) -> Iterator[Check]:
    """U = X·R/N cannot be above 1, with R weighted by operations."""
    speed, threads = cell.get("overall", "throughput"), cell.threads
    latencies, counts = cell.of_operations("latency_mean"), cell.counts
    if len(latencies) == 1:
        counts = dict.fromkeys(latencies, PrintedNumber.exact(1))
    if not speed or not threads or not latencies or latencies.keys() != counts.keys():
        return
    mean = _weighted(latencies, counts)
    share = in_call(speed.value, mean.value, threads)
    given = speed * mean * (1e-6 / threads)
    note = "start-up or client time dominates" if share < CLIENT_BELOW else ""
    if share > IMPOSSIBLE_ABOVE:
        most = threads / speed.value * 1e6
        note = reason("little-most", most=f"{most:.0f}", mean=f"{mean.value:.0f}")
    doubts = [key for key in cell.numbers if key[1] == "latency_mean"]
    confirmed = [check for check in runtime(cell) if check.operation == "overall"]
    if not confirmed or confirmed[0].fits == Fits.RESULT:
        # No run time shows that the throughput is right.
        doubts.append(("overall", "throughput"))
    expected = PrintedNumber(1, 0, IMPOSSIBLE_ABOVE)
    yield cell.check(Kind.LITTLE, "in-calls", given, expected, doubts, note=note)


def _weighted(
    latencies: dict[str, PrintedNumber], counts: dict[str, PrintedNumber]
) -> PrintedNumber:
    numbers = {name: count.value for name, count in counts.items()}
    ends = (
        weighted_latency({name: getattr(of, end) for name, of in latencies.items()}, numbers)
        for end in ("value", "low", "high")
    )
    return PrintedNumber(*ends)


def runtime(cell: PublishedRun) -> Iterator[Check]:
    """Throughput times run time is the number of operations.

    Of means over runs it is more, by the square of the run times' coefficient of
    variation (less the n-th part), since mean(1/T)·mean(T) >= 1.
    """
    for operation, place in cell.places.items():
        speed, time = cell.get(operation, "throughput"), cell.get(operation, "runtime")
        count = _operations(cell, operation)
        if not speed or not time or not time.value or not count:
            continue
        given = speed * time * 1e-3
        runs = cell.said.setting.runs
        excess = given.value / count - 1
        room = NOISY**2 * (1 - 1 / runs if runs else 1)
        note = ""
        if runs and runs > 1 and given.low > count:
            spread = sqrt(excess * runs / (runs - 1))
            note = reason("spread", runs=runs, spread=f"{100 * spread:.1f}")
        elif excess < 0 and not given.meets(count, math.inf):
            note = reason("not-less", rate=f"{count / time.value * 1e3:.0f}")
        whole = operation == "overall"
        what = "by-runtime" if whole else reason("by-runtime-of", operation=operation)
        doubts = [(operation, "throughput"), (operation, "runtime")]
        expected = PrintedNumber(count, count, count * (1 + room))
        fields = {"place": place, "operation": operation, "note": note}
        yield cell.check(Kind.RUNTIME, what, given, expected, doubts, **fields)


def _operations(cell: PublishedRun, operation: str) -> float | None:
    """Return the number of operations of the kind, for ``overall`` of all."""
    if operation in cell.counts:
        return cell.counts[operation].value
    if operation == "overall" and cell.counts:
        return cell.executed.value
    if stated := cell.said.setting.operations.get(operation) or cell.stated:
        return stated
    count = cell.keys["records" if operation == "insert" else "operations"]
    return None if math.isnan(count) else count


def combined(cell: PublishedRun) -> Iterator[Check]:
    """A row of several operations: their plain mean (counts: their sum), and what is of all."""
    for (operation, metric), number in cell.numbers.items():
        parts = [cell.get(part, metric) for part in operation.split("+")]
        if "+" not in operation or None in parts:
            continue
        plain, how = reduce(add, parts), N_("sum")
        if metric != "operations":
            plain, how = plain * (1 / len(parts)), N_("arithmetic mean")
        fields = {"metric": metric, "operation": operation}
        words = fields | {"metric": _word(metric)}
        what = reason("combined", **words, how=how)
        yield cell.check(Kind.COMBINED, what, number, plain, [(operation, metric)], **fields)
        if (true := _of_all(cell, operation, metric)) is not None:
            # For the reader: the source does not say that the row is this.
            fields |= {"off": math.nan, "fits": Fits.NONE}
            what = reason("combined", **words, how=OF_ALL[metric])
            yield cell.check(Kind.WEIGHTED, what, number, true, **fields)


def _of_all(cell: PublishedRun, operation: str, metric: str) -> PrintedNumber | None:
    """Return the metric over all operations; None for percentiles."""
    names = operation.split("+")
    parts = {name: cell.get(name, metric) for name in names}
    if metric == "latency_mean":
        counts = {name: cell.get(name, "operations") for name in names}
        return None if None in counts.values() else _weighted(parts, counts)
    pick = {"latency_min": min, "latency_max": max}.get(metric)
    return pick(parts.values(), key=lambda part: part.value) if pick else None


def counts_of(cell: PublishedRun) -> Iterator[Check]:
    """The operations of a run are as many as the source says."""
    if cell.counts and cell.stated:
        doubts = [(operation, "operations") for operation in cell.counts]
        expected = PrintedNumber.rounded(cell.stated, len(cell.counts) / 2)
        yield cell.check(Kind.COUNTS, "sum-of-counts", cell.executed, expected, doubts)


def steps(cell: PublishedRun) -> Iterator[Check]:
    """YCSB gives these as whole numbers, so means of n runs are multiples of 1/n."""
    runs = cell.said.setting.runs
    for (operation, metric), number in cell.numbers.items() if runs else ():
        # Where rounding hides the steps there is nothing to see.
        hidden = number.high - number.low >= 0.5 / runs
        if not metric_of(metric).whole or "+" in operation or hidden:
            continue
        what = reason("whole-numbers", operation=operation, metric=_word(metric), runs=runs)
        expected = PrintedNumber.exact(round(number.value * runs) / runs)
        fields = {"operation": operation, "metric": metric}
        yield cell.check(Kind.STEPS, what, number, expected, [(operation, metric)], **fields)


def failed(cell: PublishedRun) -> Iterator[Check]:
    """YCSB counts a failed operation apart, so it is missing among the others."""
    for stated in cell.said.failures:
        share = cell.shares.get(stated.operation)
        of_cell = stated.store == cell.keys["store"] and stated.operation in cell.counts
        if not of_cell or not cell.stated or not share:
            continue
        percent = quoted(stated.percent, about=False)
        left = PrintedNumber.exact(cell.stated) - percent * (cell.stated * share / 100)
        words = {"percent": stated.percent, "operations": f"{stated.operation}s"}
        what = reason("not-failed", **words, place=stated.place)
        doubts = [(operation, "operations") for operation in cell.counts]
        fields = {"note": "both-added", "operation": stated.operation}
        yield cell.check(Kind.FAILURES, what, cell.executed, left, doubts, **fields)


def order(cell: PublishedRun) -> Iterator[Check]:
    """Minimum, mean, percentiles and maximum are in their order."""
    for operation, metrics in product(cell.places, ORDERS):
        printed = [metric for metric in metrics if (operation, metric) in cell.numbers]
        for one, other in pairwise(printed):
            if one == "latency_min" and other == "latency_max":
                continue
            less, more = cell.get(operation, one), cell.get(operation, other)
            what = reason("not-above", operation=operation, less=_word(one), more=_word(other))
            expected = PrintedNumber(more.value, -math.inf, more.high)
            doubts = [(operation, one), (operation, other)]
            fields = {"operation": operation, "metric": one}
            yield cell.check(Kind.ORDER, what, less, expected, doubts, **fields)


# In the order of audit.csv. A further check is a kind (``check.Kind``) and a function here.
OF_CELL = (little, runtime, combined, counts_of, failed, steps, order)


def means(values: pd.DataFrame, cells: list[PublishedRun], said: Quotes) -> Iterator[Check]:
    """A value of the mean of all workloads is that of the store's values."""
    for row in values[values["workload"] == MEAN].itertuples():
        same = (values["store"] == row.store) & (values["workload"] != MEAN)
        same &= (values["operation"] == row.operation) & (values["metric"] == row.metric)
        parts = list(values.loc[same, "number"])
        if not parts:
            continue
        mean = reduce(add, parts) * (1 / len(parts))
        yield Check(
            Kind.COMBINED,
            row.table,
            reason("mean-of-workloads", metric=row.metric, n=len(parts)),
            unit=row.unit,
            store=row.store,
            workload=MEAN,
            operation=row.operation,
            metric=row.metric,
            doubts=f"{row.store}/{MEAN}/{row.operation}/{row.metric}",
            **judged(row.number, mean),
        )


def mixture(values: pd.DataFrame, cells: list[PublishedRun], said: Quotes) -> Iterator[Check]:
    """Counts of operations that are drawn at random scatter by a known amount.

    The sum of z² over all runs is chi-squared, z = (count - N·p)/√(N·p·(1 - p)/runs), for one
    operation of each (the others are what is left).
    """
    drawn = []
    for cell in cells:
        counts, shares, total = cell.counts, cell.shares, cell.executed.value
        if len(counts) != 2 or not counts.keys() <= shares.keys():
            continue
        name, number = next(iter(counts.items()))
        share = shares[name]
        if 0 < share < 1:
            square = (number.value - total * share) ** 2 / (total * share * (1 - share))
            whole = all(count.value.is_integer() for count in counts.values())
            drawn.append((square, number.value / (total * share) - 1, cell.place, whole))
    runs = said.setting.runs
    if not drawn or not runs:
        return
    squares, offs, places, whole = zip(*drawn, strict=True)
    degrees = len(squares)
    chi = sum(squares) * runs
    most = 2 * float(special.gammaincinv(degrees / 2, 1 - LEAST_P))
    note, off = "", max(offs, key=abs)
    if runs > 1:
        p, single = (_p(special.chdtrc(degrees, each)) for each in (chi, sum(squares)))
        note = reason("p-value-whole" if all(whole) else "p-value", p=p, single=single)
    yield Check(
        Kind.MIXTURE,
        ", ".join(dict.fromkeys(places)),
        reason("scatter", counts=degrees, n=runs),
        expected=degrees,
        note=note,
        given=chi,
        low=0,
        high=most,
        # What changes is the counts; of these, the one that is farthest off.
        off=off if chi > most else 0.0,
        fits=severity(off) if chi > most else Fits.YES,
    )


def _p(value: float) -> str:
    return reason("below", bound=0.001) if value < 0.001 else f"{value:.2g}"


def by_threads(values: pd.DataFrame, cells: list[PublishedRun], said: Quotes) -> Iterator[Check]:
    """N client threads do at most N times what one does, unless that one was disturbed."""
    speeds = values[(values["operation"] == "overall") & (values["metric"] == "throughput")]
    same = ["store", "workload", *(size for size in SIZES if size != "threads")]
    for _, rows in speeds.dropna(subset="threads").groupby(same, sort=False, dropna=False):
        by_threads = rows.set_index("threads")["number"]
        if 1 not in by_threads.index or len(by_threads) < 2:
            continue
        one = by_threads[1]
        gains = {n: more / one * (1 / n) for n, more in by_threads.items() if n != 1}
        most = max(gains, key=lambda n: gains[n].value)
        many = [n for n, gain in gains.items() if gain.value > IMPOSSIBLE_ABOVE]
        note = ""
        if many:
            above = f"{min(many):.0f}"
            if len(many) > 1:
                above = reason("range", first=above, last=f"{max(many):.0f}")
            note = reason("disturbed", worst=f"{most:.0f}", above=above)
        cell = PublishedRun.of(rows[rows["threads"] == 1], said, {})
        expected = PrintedNumber(1, 0, IMPOSSIBLE_ABOVE)
        fields = {"threads": most, "note": note}
        doubts = [("overall", "throughput")]
        yield cell.check(Kind.THREADS, "by-threads", gains[most], expected, doubts, **fields)


# In the order of audit.csv, after those of cells.
ACROSS_CELLS = (means, mixture, by_threads)
