"""How much the repetitions of a cell differ, from cells that were measured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import log, sqrt

from kvstudy.measure.planning.costs import Cost
from kvstudy.stats.power import block_spread, pooled_spread


@dataclass(frozen=True)
class Spread:
    """Standard deviation of ln throughput over repetitions; ``freedom`` its degrees."""

    value: float
    freedom: int


def spreads(costs: Iterable[Cost], names: dict[tuple, str]) -> dict[str, Spread]:
    """One for each store of ``names`` (from folder and options) that has repetitions."""
    groups: dict[str, dict[tuple, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, cost in _usable(costs, names):
        same = (cost.cell.store, *_conditions(cost))
        groups[name][same].append(cost.throughput)
    found = {}
    for name, cells in groups.items():
        try:
            spread = Spread(*pooled_spread(list(cells.values())))
        except ValueError:
            continue
        # Runs that are alike to the last digit are no measurement of a spread.
        if spread.value > 0:
            found[name] = spread
    return found


def between_stores(costs: Iterable[Cost], names: dict[tuple, str]) -> Spread | None:
    """The spread that is left when what all stores of a repetition share is taken out.

    ``costs`` are those of one run. None without two stores that share two repetitions.
    """
    tables: dict[tuple, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for name, cost in _usable(costs, names):
        # A store that is measured under two names counts once.
        if cost.cell.store == name:
            repetitions = tables[_conditions(cost)][name]
            repetitions[cost.cell.repetition] = log(cost.throughput)
    squares, freedom = 0.0, 0
    for stores in tables.values():
        blocks = set.intersection(*(set(runs) for runs in stores.values()))
        rows = [[runs[block] for block in sorted(blocks)] for runs in stores.values()]
        more, degrees = block_spread(rows)
        squares, freedom = squares + more, freedom + degrees
    return Spread(sqrt(squares / freedom), freedom) if freedom and squares > 0 else None


def together(found: Iterable[Spread]) -> Spread:
    """All of them pooled by their degrees of freedom. ValueError without any."""
    parts = list(found)
    freedom = sum(part.freedom for part in parts)
    if not freedom:
        raise ValueError("no spread is known")
    squares = sum(part.value**2 * part.freedom for part in parts)
    return Spread(sqrt(squares / freedom), freedom)


def _usable(costs: Iterable[Cost], names: dict[tuple, str]) -> Iterable[tuple[str, Cost]]:
    """Cells at a fixed rate have the throughput that they were told, and do not count."""
    for cost in costs:
        cell = cost.cell
        name = names.get((cell.folder, cell.options))
        if name is not None and cell.load is None and not cell.clients and cost.throughput > 0:
            yield name, cost


def _conditions(cost: Cost) -> tuple:
    return cost.cell.workload, cost.cell.properties, cost.cell.parameters
