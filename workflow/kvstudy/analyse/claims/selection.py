"""The values that a statement is about: as selected in ``claims.yaml``, and one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field

from kvstudy.study.base import SIZES, Asked, Count, Name, Strict, as_list
from kvstudy.study.cells import by_combination
from kvstudy.study.combinations import shown_combination
from kvstudy.study.metrics import SHOWN, metric_of
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import MEAN

Metric = Literal[*(name for name in SHOWN if name != "operations"), "failed_share"]
# Of the numbers that the study has.
NUMBER_WORDS = {"all": slice(None), "smallest": slice(1), "largest": slice(-1, None)}
Word = Literal[*NUMBER_WORDS, "best"]
# What a statement may leave to its sides.
KEYS = ["store", "workload", "operation", "metric", *SIZES]


def _known(kind: str, names: tuple[str, ...]) -> BeforeValidator:
    """Each name must be one of ``names``; the error suggests the nearest."""

    def check(value: object) -> object:
        for name in value if isinstance(value, list) else [value]:
            if name is not None and name not in names:
                raise ValueError(f"unknown {kind} '{name}'{did_you_mean(str(name), list(names))}")
        return value

    return BeforeValidator(check)


def _numbers(value: object) -> object:
    """Numbers, or one of the words."""
    numbers = value if isinstance(value, list) else [value]
    if value not in (None, *get_args(Word)) and not all(
        isinstance(number, int) and number > 0 for number in numbers
    ):
        words = ", ".join(get_args(Word))
        raise ValueError(f"give a number above 0, several in a list, or one of {words}")
    return value


# Names or one name; each of several makes a part of the statement.
Names = Name | list[Name]
Operations = Annotated[Asked | list[Asked] | None, _known("operation", get_args(Asked))]
Metrics = Annotated[Metric | list[Metric] | None, _known("metric", get_args(Metric))]
Numbers = Annotated[Count | list[Count] | Word | None, BeforeValidator(_numbers)]


class Selection(Strict):
    """A selection of values; omitted keys mean any store named elsewhere, and the shown sizes."""

    store: Names | None = Field(
        default=None, description="Names of the study's stores; several: the claim is of each."
    )
    workload: Names | None = Field(
        default=None, description="Workloads of the study, or mean; several: the claim is of each."
    )
    operation: Operations = Field(
        default=None,
        description="overall: the whole phase, for throughput and run time if left out. all: the "
        "workload's operations combined, or its only one; for latencies if left out.",
    )
    metric: Metrics = Field(
        default=None, description="Left out: throughput. Several: the claim is of each."
    )
    records: Numbers = Field(
        default=None,
        description="Full-size number or numbers; all: each that the study has; smallest, largest: "
        "that of these; best: the one at which the value is best. Left out: what tables and "
        "figures show.",
    )
    operations: Numbers = Field(default=None, description="As records.")
    threads: Numbers = Field(default=None, description="As records.")

    def values_of(self, key: str) -> list:
        """Return the values of ``key`` as a list."""
        return as_list(getattr(self, key))


@dataclass(frozen=True)
class ParameterSet:
    """One set of parameters with the study's full-size numbers; None where there is none.

    ``slug`` is its name in the run's files, ``measured`` are its numbers there, by name; both
    are empty for a set that the study does not have.
    """

    records: int | None
    operations: int | None
    threads: int | None
    slug: str = ""
    measured: tuple[tuple[str, int], ...] = ()


# Of the mean of all workloads.
OF_MEAN = ParameterSet(None, None, None, "all")


@dataclass(frozen=True)
class ParameterGrid:
    """The parameter sets of each workload, and the one that tables and figures show."""

    sets: dict[str, list[ParameterSet]]
    shown: dict[str, ParameterSet]

    def values(self, workload: str, size: str) -> list[int]:
        """The different numbers of one size, rising."""
        numbers = {getattr(each, size) for each in self.sets.get(workload, [])}
        return sorted(numbers - {None})

    def find(self, workload: str, numbers: dict[str, object]) -> list[ParameterSet]:
        """The sets with these ``numbers``; "best" fits any number."""
        if workload == MEAN:
            return [OF_MEAN]
        return [
            each
            for each in self.sets.get(workload, [])
            if all(number in ("best", getattr(each, size)) for size, number in numbers.items())
        ]


@dataclass(frozen=True)
class Operand:
    """One value of each repetition: a store's, under one workload.

    ``candidates`` are the parameter sets among which the best is taken; mostly it is one.
    """

    store: str
    workload: str
    operation: str
    metric: str
    candidates: tuple[ParameterSet, ...]

    @property
    def name(self) -> tuple[str, str, str, str]:
        """All but the sizes."""
        return (self.store, self.workload, self.operation, self.metric)

    @property
    def larger_is_better(self) -> bool:
        return metric_of(self.metric).larger_is_better


def grid_of(study: Study, scale: float) -> ParameterGrid:
    """The study's parameter sets, with their names in a run at ``scale``."""
    sets, shown_sets = {}, {}
    for use in study.workloads:
        scaled = by_combination(study, use, scale)
        planned = {(cell.records, cell.operations, cell.threads): cell for cell in scaled.values()}
        result = {}
        for each, cell in scaled.items():
            full = (each.records, each.operations if cell.operations else 0, each.threads)
            # A scaled run may have the very sizes.
            cell = planned.get(full, cell)
            result[each] = ParameterSet(
                each.records,
                each.operations if cell.operations else None,
                each.threads,
                cell.parameters,
                tuple((size, getattr(cell, size)) for size in SIZES),
            )
        # Insert-only cells are the same for every operation count.
        sets[use.name] = list(dict.fromkeys(result.values()))
        shown_sets[use.name] = result[shown_combination(study, use)]
    return ParameterGrid(sets, shown_sets)


def singles(base: Selection, grid: ParameterGrid, **fixed: object) -> list[Operand]:
    """Each value that the selection is of; ``fixed`` are keys that the kind brings."""
    return [one for (one,) in _together(base, [Selection()], grid, fixed)]


def couples(
    base: Selection, of: Selection, to: Selection, grid: ParameterGrid
) -> list[tuple[Operand, Operand]]:
    """Each two values of ``of`` and ``to``; what neither says is the same on both sides."""
    return [(a, b) for a, b in _together(base, [of, to], grid, {}) if a != b]


def _together(
    base: Selection, sides: list[Selection], grid: ParameterGrid, fixed: dict[str, object]
) -> Iterator[tuple[Operand, ...]]:
    selected = [{key: side.values_of(key) for key in KEYS if side.values_of(key)} for side in sides]
    common = {
        key: [fixed[key]] if key in fixed else base.values_of(key)
        for key in KEYS
        if not all(key in each for each in selected)
    }
    # All numbers of the study, under whichever workloads are asked.
    workloads = {name for each in (common, *selected) for name in each.get("workload", [])}
    for choices in (common, *selected):
        for size in SIZES:
            word = next(iter(choices.get(size, [])), None)
            if word in NUMBER_WORDS:
                numbers = {number for name in workloads for number in grid.values(name, size)}
                chosen = sorted(numbers)[NUMBER_WORDS[word]]
                choices[size] = [_OptionalSize(number) for number in chosen]
    # Of sizes that are one in a scaled run the first.
    different = set()
    for choice, *chosen in product(*([*_products(each)] for each in (common, *selected))):
        operands = [_operand(choice | side, grid) for side in chosen]
        if None in operands:
            continue
        cells = tuple((*each.name, *(of.slug or of for of in each.candidates)) for each in operands)
        if cells not in different:
            different.add(cells)
            yield tuple(operands)


class _OptionalSize(int):
    """A number from a word: the study need not have every combination with it."""


def _products(choices: dict[str, list[object]]) -> Iterator[dict[str, object]]:
    """Each combination; a key without choices is left out."""
    named = {key: values for key, values in choices.items() if values}
    for values in product(*named.values()):
        yield dict(zip(named, values, strict=True))


def _operand(choice: dict[str, object], grid: ParameterGrid) -> Operand | None:
    """None for a combination of numbers from words that the study does not have."""
    metric = choice.get("metric", "throughput")
    whole = metric in ("throughput", "runtime")
    workload = choice["workload"]
    shown = grid.shown.get(workload, OF_MEAN)
    numbers = {size: choice.get(size, getattr(shown, size)) for size in SIZES}
    sets = grid.find(workload, numbers)
    if not sets:
        if any(isinstance(number, _OptionalSize) for number in numbers.values()):
            return None
        sets = [ParameterSet(**{size: None if n == "best" else n for size, n in numbers.items()})]
    return Operand(
        choice["store"],
        workload,
        choice.get("operation", "overall" if whole else "all"),
        metric,
        tuple(sets),
    )
