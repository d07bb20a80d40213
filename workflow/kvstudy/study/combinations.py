"""The combinations of sizes that a workload is measured with."""

import itertools
import math
from dataclasses import dataclass
from operator import attrgetter

from kvstudy.study.base import SIZES, Sizes, as_list
from kvstudy.study.model import Study
from kvstudy.study.parts import WorkloadUse


@dataclass(frozen=True)
class Combination:
    """Records, operations and client threads of a cell, as the study file gives them."""

    records: int
    operations: int
    threads: int


def combinations_of(study: Study, use: WorkloadUse) -> list[Combination]:
    """All of the workload ``use``, each once: of its lists, then of those under ``also``."""
    products = [itertools.product(*lists.values()) for lists in _lists(study, use)]
    return list(dict.fromkeys(Combination(*sizes) for product in products for sizes in product))


def most_cells(study: Study) -> int:
    """Return the maximum number of cells of the study, also if they are too many to list."""
    cells = 0
    for use in study.workloads:
        several = sum(math.prod(map(len, lists.values())) for lists in _lists(study, use))
        cells += several * (len(use.stores) or len(study.stores))
        # Open-loop cells, the trial cells that set their rates, and controls have one set of sizes.
        once = 1 + len(study.open_loop.loads) if study.open_loop else 0
        cells += once * len(study.stores) + bool(study.noise_floor) + study.client_ceiling
    return cells * study.repetitions


def shown_combination(study: Study, use: WorkloadUse) -> Combination:
    """The one that tables and figures show which have a value per store and workload."""
    sizes = {}
    for name, values in _own(study, use).items():
        of_all = getattr(study.parameters.shown, name)
        usual = of_all if of_all in values else values[-1]
        sizes[name] = (use.shown and getattr(use.shown, name)) or usual
    return Combination(**sizes)


@dataclass(frozen=True)
class Series:
    """A store's ``points`` under a workload, in the order of one size; the others are ``fixed``."""

    store: str
    workload: str
    fixed: tuple[tuple[str, int], ...]
    points: tuple[Combination, ...]


def series_of(
    study: Study, over: str, where: Sizes, workloads: list[str], stores: list[str]
) -> list[Series]:
    """All lines over the size ``over``; a line without points was not measured.

    ``where`` gives the other sizes; those that it leaves out are as shown.
    """
    drawn = []
    for store, name in itertools.product(stores, workloads):
        use = study.workload(name)
        one, measured = shown_combination(study, use), combinations_of(study, use)
        others = {
            size: as_list(getattr(where, size)) or [getattr(one, size)]
            for size in SIZES
            if size != over
        }
        for numbers in itertools.product(*others.values()):
            fixed = tuple(zip(others, numbers, strict=True))
            points = [
                sizes
                for sizes in sorted(measured, key=attrgetter(over))
                if attrgetter(*others)(sizes) == numbers
            ]
            drawn.append(Series(store, name, fixed, tuple(points)))
    return drawn


def _own(study: Study, use: WorkloadUse) -> dict[str, list[int]]:
    return {
        name: as_list(getattr(use, name)) or as_list(getattr(study.parameters, name))
        for name in SIZES
    }


def _lists(study: Study, use: WorkloadUse) -> list[dict[str, list[int]]]:
    """The workload's own lists of sizes, and those of each entry under ``also``."""
    lists = _own(study, use)
    return [lists] + [
        {name: as_list(getattr(sizes, name)) or lists[name] for name in lists} for sizes in use.also
    ]


def threads_of(study: Study, use: WorkloadUse) -> list[int]:
    """The client threads of the workload's own list, without those under ``also``."""
    return _own(study, use)["threads"]
