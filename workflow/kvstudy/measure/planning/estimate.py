"""What a cell will take, from what cells like it took."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from math import log
from statistics import median

from kvstudy.measure.planning.costs import LATENCY_BYTES, Cost
from kvstudy.study.cells import Cell

# Between two cells: Snakemake's own work and the start of the next process. Measured over
# 71 pairs of cells on two busy cores: median 0.8 s, from 0 to 2.9 s.
BETWEEN = 0.8
# From cells with the same parameters; from the same workload with other sizes or threads; from
# another workload of the store; only the time limit of a timed cell's run, all else is 0.
SAME, SIZES, OTHER, TIME = "same", "sizes", "other", "time"
# A cell that is so many times larger is too far to be foretold.
MOST_TIMES = 100


@dataclass(frozen=True)
class Estimate:
    """Seconds of a cell's parts, bytes of its raw logs, and how like are the cells that tell it."""

    start: float
    load: float
    run: float
    stop: float
    rest: float
    bytes: float
    likeness: str

    @property
    def seconds(self) -> float:
        return self.start + self.load + self.run + self.stop + self.rest


class Estimator:
    """Knows what measured cells took; a store is known by its folder and options."""

    def __init__(self, costs: Iterable[Cost]) -> None:
        # By store; its cells by their parameters: with all repetitions of thousands of cells
        # in one list, a look at what is left would take seconds.
        self._costs: dict[tuple, dict[tuple, list[Cost]]] = defaultdict(lambda: defaultdict(list))
        self._estimates: dict[tuple, dict[tuple, Estimate | None]] = defaultdict(dict)
        for cost in costs:
            self.add(cost)

    def add(self, cost: Cost) -> None:
        """Take in another measured cell."""
        store = same_store(cost.cell)
        self._costs[store][_parameters(cost.cell)].append(cost)
        self._estimates[store].clear()

    def __call__(self, cell: Cell) -> Estimate | None:
        """What ``cell`` will take; None when nothing is known of it."""
        store, parameters = same_store(cell), _parameters(cell)
        estimates = self._estimates[store]
        if parameters not in estimates:
            estimate = _estimate(cell, [*self._costs[store].values()])
            if estimate is None and cell.seconds is not None:
                estimate = Estimate(0.0, 0.0, float(cell.seconds), 0.0, 0.0, 0.0, TIME)
            estimates[parameters] = estimate
        return estimates[parameters]


def _estimate(cell: Cell, groups: list[list[Cost]]) -> Estimate | None:
    """From the measured cells of the store, grouped by their parameters."""
    every = [*chain.from_iterable(groups)]
    groups = [group for group in groups if _tells_of(cell, group[0].cell)]
    if not groups:
        return None
    nearest, distance = _nearest(groups, "load", partial(_load_distance, cell))
    load = median(cost.phases["load"].seconds_for(cell.records) for cost in nearest)
    likeness, run = SIZES, 0.0
    if cell.operations:
        # A cell at a fixed rate tells nothing of any other.
        groups = [group for group in groups if group[0].cell.load in (None, cell.load)]
        nearest, distance = _nearest(groups, "run", partial(_run_distance, cell))
        if not nearest:
            return None
        run = median(_seconds(cell, cost) for cost in nearest)
        likeness = OTHER if distance[0] else SIZES
    return Estimate(
        start=median(cost.ready for cost in every),
        load=load,
        run=run,
        stop=median(cost.stop for cost in every),
        rest=median(cost.rest for cost in every) + BETWEEN,
        bytes=_bytes(cell, load + run, every),
        likeness=likeness if any(distance) else SAME,
    )


def _nearest(
    groups: list[list[Cost]], phase: str, distance: Callable[[Cell], tuple]
) -> tuple[list[Cost], tuple]:
    """All cells with that phase that are nearest, and their distance."""
    groups = [group for group in groups if phase in group[0].phases]
    distances = [distance(group[0].cell) for group in groups]
    least = min(distances, default=())
    near = [group for group, far in zip(groups, distances, strict=True) if far == least]
    return [*chain.from_iterable(near)], least


def _load_distance(cell: Cell, other: Cell) -> tuple:
    far = _far(other.threads, cell.threads) + _far(other.records, cell.records)
    return _shape(other) != _shape(cell), far


def _run_distance(cell: Cell, other: Cell) -> tuple:
    return (
        same_workload(other) != same_workload(cell),
        other.load != cell.load,
        _far(other.threads, cell.threads),
        _far(other.records, cell.records) + _far(other.operations, cell.operations),
        other.seconds != cell.seconds,
    )


def _tells_of(cell: Cell, other: Cell) -> bool:
    """Whether ``other`` is near enough in size to tell anything of ``cell``."""
    # From ten inserts, a million were once foretold to take 158 hours.
    return cell.records <= MOST_TIMES * other.records and (
        not other.operations or cell.operations <= MOST_TIMES * other.operations
    )


def _seconds(cell: Cell, cost: Cost) -> float:
    """Seconds of the run phase of ``cell`` as ``cost`` says; a timed one lasts its time."""
    phase = cost.phases["run"]
    if cell.seconds is not None:
        return phase.around + cell.seconds
    if cell.load is not None and cost.cell.load is None:
        return phase.around + cell.operations / (phase.rate * cell.load / 100)
    return phase.seconds_for(cell.operations)


def _far(one: int, other: int) -> float:
    return abs(log(max(one, 1) / max(other, 1)))


def same_store(cell: Cell) -> tuple:
    return cell.folder, cell.options


def _parameters(cell: Cell) -> tuple:
    """All but the repetition and the store's name."""
    sizes = (cell.records, cell.operations, cell.threads, cell.seconds)
    return (cell.workload, cell.properties, *sizes, cell.load, cell.closed, cell.clients)


@lru_cache(maxsize=4096)
def same_workload(cell: Cell) -> tuple:
    """Under other names it may be the same one; how it is measured is no part of it."""
    how = ("measurementtype", "measurement.interval")
    return tuple((name, value) for name, value in cell.properties if name not in how)


def _shape(cell: Cell) -> tuple:
    """What decides how large a record is."""
    return tuple(pair for pair in cell.properties if pair[0].startswith("field"))


def _bytes(cell: Cell, seconds: float, costs: list[Cost]) -> float:
    """Raw logs: some grow with the time, and raw latencies with the operations."""

    def whole(cost: Cost) -> float:
        measured = sum(phase.seconds for phase in cost.phases.values())
        growing = cost.growing_bytes * (seconds / measured if measured else 1)
        return cost.bytes - cost.growing_bytes + growing

    size = median(map(whole, costs))
    if cell.raw_latencies:
        each = [cost.latency_bytes for cost in costs if cost.latency_bytes]
        size += (cell.operations or cell.records) * (median(each) if each else LATENCY_BYTES)
    return size
