"""The cost of measured cells, from their raw logs, and estimates for similar ones.

That is time by parts, disk, throughput and its spread.
"""

import contextlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from itertools import chain
from math import log, sqrt
from pathlib import Path
from statistics import median

from kvstudy.errors import KvstudyError
from kvstudy.stats.power import block_spread, pooled_spread
from kvstudy.study.cells import Cell
from kvstudy.study.controls import clients_of_trial
from kvstudy.study.raw import SUMS

# Files that grow with the time of a cell, all others hardly do.
GROWING = (".err", ".gc.log", "processes.csv", "machine.csv")
LATENCIES = ".latencies.parquet"
# Of one operation, when no cell with raw latencies was measured yet.
LATENCY_BYTES = 3.0
# Between two cells: Snakemake's own work and the start of the next process. Measured over
# 71 pairs of cells on two busy cores: median 0.8 s, from 0 to 2.9 s.
BETWEEN = 0.8
# From cells with the same parameters; from the same workload with other sizes or threads; from
# another workload of the store; only the time limit of a timed cell's run, all else is 0.
SAME, SIZES, OTHER, TIME = "same", "sizes", "other", "time"
# A cell that is so many times larger is too far to be foretold.
MOST_TIMES = 100


@dataclass(frozen=True)
class PhaseCost:
    """A phase: wall time with its client's start (s), YCSB's run time (s), operations done.

    Of several ``clients`` the first is looked at: each of the others does as much.
    """

    errors: Path
    seconds: float
    runtime: float
    count: int
    clients: int = 1

    @cached_property
    def rate(self) -> float:
        """Operations per s in the second half, when the client is warm; of all if that is short."""
        # NumPy takes long to load, and the workflow asks for a rate when cells differ only.
        from kvstudy.logs.ycsb.status import read_status

        with contextlib.suppress(OSError, KvstudyError):
            status = read_status(self.errors.read_text("utf-8", "replace"), str(self.errors))
            # The last line comes when YCSB has ended, at any moment of its second.
            first, last = (len(status.times) - 1) // 2, -2
            if len(status.times) > 4:
                seconds = status.times[last] - status.times[first]
                done = self.clients * (status.operations[last] - status.operations[first])
                if seconds > 0 and done > 0:
                    return done / seconds
        return self.count / self.runtime if self.runtime > 0 else float("inf")

    @property
    def around(self) -> float:
        """Start and end of the client, which the run time does not count."""
        return max(self.seconds - self.runtime, 0.0)

    def seconds_for(self, count: int) -> float:
        """Wall time with ``count`` operations; more of them go on at the rate of a warm client."""
        if count <= self.count or self.count == 0:
            share = count / self.count if self.count else 1
            return self.around + (self.seconds - self.around) * share
        return self.seconds + (count - self.count) / self.rate


@dataclass(frozen=True)
class Cost:
    """A measured cell; times in s.

    ``ready`` is the server's start, ``stop`` its end, ``rest`` all around. ``throughput`` (ops/s)
    is that of the measured phase, ``latency_bytes`` those of one raw latency, None without any.
    """

    cell: Cell
    ready: float
    stop: float
    rest: float
    phases: dict[str, PhaseCost]
    bytes: int
    growing_bytes: int
    latency_bytes: float | None
    throughput: float

    @property
    def seconds(self) -> float:
        """The whole cell."""
        phases = sum(phase.seconds for phase in self.phases.values())
        return self.ready + self.stop + self.rest + phases


def read_costs(raws: Iterable[Path]) -> list[Cost]:
    """All complete cells in these folders of raw logs; those that show no times are left out."""
    cells = (path.parent for raw in raws for path in sorted(raw.glob(f"*/*/*/rep*/{SUMS}")))
    return [cost for cell in cells if (cost := read_cost(cell)) is not None]


def read_cost(directory: Path) -> Cost | None:
    """The cell whose raw logs are in ``directory``; None for gaps and imports, without times."""
    try:
        manifest = json.loads((directory / "manifest.json").read_text(encoding="utf-8"))
        fields = manifest["cell"]
        pairs = {name: tuple(sorted(fields[name].items())) for name in ("properties", "options")}
        cell = Cell(**fields | pairs)
        seconds = manifest["seconds"]
        phases = {
            name: _phase(directory, name, float(phase["seconds"]), len(cell.shares(name)))
            for name, phase in manifest["phases"].items()
        }
        rest = seconds["total"] - seconds["ready"] - seconds["stop"]
        rest -= sum(phase.seconds for phase in phases.values())
        last = phases[[*phases][-1]]
        sizes = {path.name: path.stat().st_size for path in directory.iterdir()}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None
    latencies = sum(size for name, size in sizes.items() if name.endswith(LATENCIES))
    return Cost(
        cell=cell,
        ready=seconds["ready"],
        stop=seconds["stop"],
        rest=max(rest, 0.0),
        phases=phases,
        bytes=sum(sizes.values()) - latencies,
        growing_bytes=sum(size for name, size in sizes.items() if name.endswith(GROWING)),
        latency_bytes=latencies / last.count if latencies and last.count else None,
        throughput=last.count / last.runtime if last.runtime > 0 else 0.0,
    )


def _phase(directory: Path, name: str, seconds: float, clients: int) -> PhaseCost:
    """ValueError when the log does not begin as YCSB's does."""
    with (directory / f"{name}.out").open(encoding="utf-8", errors="replace") as file:
        overall = dict(
            line.strip().split(", ")[1:] for line in file if line.startswith("[OVERALL]")
        )
    runtime = float(overall["RunTime(ms)"]) / 1000
    count = clients * round(float(overall["Throughput(ops/sec)"]) * runtime)
    return PhaseCost(directory / f"{name}.err", seconds, runtime, count, clients)


@dataclass(frozen=True)
class PooledVariance:
    """The pooled variance of ln throughput over repetitions: sum of squares, degrees of freedom."""

    squares: float
    freedom: int

    @property
    def value(self) -> float:
        """The standard deviation."""
        return sqrt(self.squares / self.freedom)


def spreads(costs: Iterable[Cost], names: dict[tuple, str]) -> dict[str, PooledVariance]:
    """One for each store of ``names`` (from folder and options) that has repetitions."""
    groups: dict[str, dict[tuple, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, cost in _usable(costs, names):
        same = (cost.cell.store, *conditions(cost.cell))
        groups[name][same].append(cost.throughput)
    spreads = {}
    for name, cells in groups.items():
        with contextlib.suppress(ValueError):
            deviation, freedom = pooled_spread(list(cells.values()))
            # Runs that are alike to the last digit are no measurement of a spread.
            if deviation > 0:
                spreads[name] = PooledVariance(deviation**2 * freedom, freedom)
    return spreads


def between_stores(costs: Iterable[Cost], names: dict[tuple, str]) -> PooledVariance | None:
    """The spread in one run without what all stores of a repetition share.

    None without two stores that share two repetitions.
    """
    tables: dict[tuple, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for name, cost in _usable(costs, names):
        # A store that is measured under two names counts once.
        if cost.cell.store == name:
            repetitions = tables[conditions(cost.cell)][name]
            repetitions[cost.cell.repetition] = log(cost.throughput)
    squares, freedom = 0.0, 0
    for stores in tables.values():
        blocks = set.intersection(*(set(runs) for runs in stores.values()))
        rows = [[runs[block] for block in sorted(blocks)] for runs in stores.values()]
        more, degrees = block_spread(rows)
        squares, freedom = squares + more, freedom + degrees
    return PooledVariance(squares, freedom) if squares > 0 else None


def together(variances: Iterable[PooledVariance]) -> PooledVariance:
    """All of them pooled by their degrees of freedom."""
    parts = list(variances)
    return PooledVariance(sum(part.squares for part in parts), sum(part.freedom for part in parts))


def _usable(costs: Iterable[Cost], names: dict[tuple, str]) -> Iterable[tuple[str, Cost]]:
    """Cells at a fixed rate have the throughput that they were told, and do not count.

    Nor do the trial cells that set it.
    """
    for cost in costs:
        cell = cost.cell
        name = names.get((cell.folder, cell.options))
        closed_loop_cell = cell.closed is None and clients_of_trial(cell.store) is None
        if name is not None and closed_loop_cell and cost.throughput > 0:
            yield name, cost


def conditions(cell: Cell) -> tuple:
    """Return the key that cells of a store share if they are repetitions of one another."""
    return cell.workload, cell.properties, cell.parameters, cell.records, cell.operations


@dataclass(frozen=True)
class CostEstimate:
    """Seconds of a cell's parts, bytes of its raw logs, and how like are the cells that show it."""

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
        self._estimates: dict[tuple, dict[tuple, CostEstimate | None]] = defaultdict(dict)
        for cost in costs:
            self.add(cost)

    def add(self, cost: Cost) -> None:
        """Take in another measured cell."""
        store = same_store(cost.cell)
        self._costs[store][_parameters(cost.cell)].append(cost)
        self._estimates[store].clear()

    def __call__(self, cell: Cell) -> CostEstimate | None:
        """Estimate the cost of ``cell``; None if nothing is known."""
        store, parameters = same_store(cell), _parameters(cell)
        estimates = self._estimates[store]
        if parameters not in estimates:
            estimate = _estimate(cell, [*self._costs[store].values()])
            if estimate is None and cell.seconds is not None:
                estimate = CostEstimate(0.0, 0.0, float(cell.seconds), 0.0, 0.0, 0.0, TIME)
            estimates[parameters] = estimate
        return estimates[parameters]


def _estimate(cell: Cell, groups: list[list[Cost]]) -> CostEstimate | None:
    """From the measured cells of the store, grouped by their parameters."""
    every = [*chain.from_iterable(groups)]
    groups = [group for group in groups if _tells_of(cell, group[0].cell)]
    if not groups:
        return None
    nearest, distance = _nearest(groups, "load", partial(_load_distance, cell))
    load = median(cost.phases["load"].seconds_for(cell.records) for cost in nearest)
    likeness, run = SIZES, 0.0
    if cell.operations:
        # A cell at a fixed rate shows nothing of any other.
        groups = [group for group in groups if group[0].cell.load in (None, cell.load)]
        nearest, distance = _nearest(groups, "run", partial(_run_distance, cell))
        if not nearest:
            return None
        run = median(_seconds(cell, cost) for cost in nearest)
        likeness = OTHER if distance[0] else SIZES
    return CostEstimate(
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
    by_distance: dict[tuple, list[Cost]] = defaultdict(list)
    for group in groups:
        if phase in group[0].phases:
            by_distance[distance(group[0].cell)] += group
    least = min(by_distance, default=())
    return by_distance[least], least


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
    """Return whether ``other`` is similar enough in size to predict ``cell``."""
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
    """Return the properties that determine the size of a record."""
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
