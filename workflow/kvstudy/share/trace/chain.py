"""The chain of a value: summary.csv, measurements.csv, raw log, line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import path_of, why_not
from kvstudy.analyse.tidy.summary import measured_phases
from kvstudy.errors import KvstudyError
from kvstudy.share.trace.address import WHOLE, Address
from kvstudy.share.trace.sources import Source, raw_cell
from kvstudy.study.parts import MEAN

# Between a value as written and the same worked out again.
SAME = 1e-9


@dataclass(frozen=True)
class Value:
    """A row of measurements.csv. ``place`` is its file and line."""

    cell: str
    operation: str
    metric: str
    value: float
    unit: str
    place: str
    sources: list[Source]


@dataclass(frozen=True)
class Repetition:
    """What one repetition gives: its value, or why it gives none; ``made_of`` are its rows.

    ``value`` is NaN without any. ``why`` is "" for one that counts.
    """

    repetition: str
    counts: bool
    why: str
    value: float
    made_of: list[Value]


@dataclass(frozen=True)
class Chain:
    """A mean with all that it is made of. ``mean``, ``sd``: as summary.csv has them, or NaN.

    ``place`` is the row of summary.csv, "" for a value that is not in it (of control cells and
    of cells at fixed rates). ``problems`` are numbers and files that do not fit.
    """

    address: Address
    unit: str
    mean: float
    sd: float
    n: int
    place: str
    repetitions: list[Repetition]
    problems: list[str] = field(default_factory=list)


def chain(run: Run, address: Address) -> Chain:
    """Follow ``address`` to its raw logs, and work its numbers out again on the way."""
    problems: list[str] = []
    repetitions = _repetitions(run, address, problems)
    counted = [each.value for each in repetitions if each.counts and not math.isnan(each.value)]
    found = run.summary
    for key, wanted in vars(address).items():
        found = found[found[key] == wanted]
    units = [value.unit for each in repetitions for value in each.made_of]
    unit = units[0] if units else ""
    if found.empty:
        mean = sum(counted) / len(counted) if counted else math.nan
        sd = float(pd.Series(counted, dtype=float).std())
        return Chain(address, unit, mean, sd, len(counted), "", repetitions, problems)
    row = found.iloc[0]
    place = f"{run.folder}/summary.csv:{row.name + 2}"
    if counted and not same(row["mean"], sum(counted) / len(counted)):
        problems.append(
            f"{place}: the mean {row['mean']!r} is not that of its repetitions, "
            f"{sum(counted) / len(counted)!r}; run 'kvstudy summarise' again"
        )
    if int(row["n"]) != len(counted):
        problems.append(f"{place}: n is {int(row['n'])}, but {len(counted)} repetitions count")
    return Chain(
        address, row["unit"], row["mean"], row["sd"], int(row["n"]), place, repetitions, problems
    )


def same(one: float, other: float) -> bool:
    """Whether two numbers are one, but for the last digits of floating point."""
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-12)


def _repetitions(run: Run, address: Address, problems: list[str]) -> list[Repetition]:
    cells = run.all_cells[run.all_cells["store"] == address.store]
    if address.workload == MEAN:
        cells = cells[cells["parameters"] == cells["workload"].map(run.headline)]
        cells = cells[cells["workload"].isin(run.study.workload_names)]
    else:
        cells = cells[
            (cells["workload"] == address.workload) & (cells["parameters"] == address.parameters)
        ]
    values = run.all_values
    for key, wanted in vars(address).items():
        values = values[values[key] == wanted]
    given = dict(zip(values["repetition"], values["value"], strict=True))
    found = []
    for repetition, rows in cells.groupby("repetition", sort=False):
        reasons = [reason for row in rows.itertuples() if (reason := why_not(row))]
        made_of = [
            value
            for row in rows.itertuples()
            if row.status == "measured"
            for value in _values(run, address, row, problems)
        ]
        value = given.get(repetition, math.nan)
        if math.isnan(value) and len(made_of) == 1:
            # A void cell has a value; it is in no mean.
            value = made_of[0].value
        counts = repetition in given
        if not counts and not reasons:
            reasons = ["not all of the values that it would be made of are there"]
        found.append(
            Repetition(repetition, counts, "" if counts else "; ".join(reasons), value, made_of)
        )
    return sorted(found, key=lambda each: int(each.repetition))


def _values(run: Run, address: Address, cell, problems: list[str]) -> list[Value]:
    """The rows of measurements.csv that a cell gives to the value."""
    rows = run.all_measurements
    phase = measured_phases(rows).get(cell.workload, "run")
    for key in ("store", "workload", "parameters", "repetition"):
        rows = rows[rows[key] == getattr(cell, key)]
    operations = [address.operation]
    if "+" in address.operation:
        operations = address.operation.split("+")
    rows = rows[
        (rows["phase"] == phase)
        & rows["operation"].isin(operations if address.workload != MEAN else [WHOLE])
        & (rows["metric"] == address.metric)
    ]
    path = path_of(cell)
    raw = raw_cell(run, path)
    found = []
    for row in rows.itertuples():
        place = f"{row.file}:{row.line}"
        sources = raw.sources(phase, row.operation, row.metric)
        problems += [f"{each.path}: {each.problem}" for each in sources if each.problem]
        problems += _disagreement(raw, phase, row, place)
        found.append(Value(path, row.operation, row.metric, row.value, row.unit, place, sources))
    return found


def _disagreement(raw, phase: str, row, place: str) -> list[str]:
    """What the raw logs say now, where that is another number."""
    try:
        now = raw.value_now(phase, row.operation, row.metric)
    except (KvstudyError, OSError, ValueError, KeyError) as error:
        return [f"{raw.folder}: cannot be parsed: {error}"]
    if now is None or same(now, row.value):
        return []
    return [f"{place}: {row.value!r}, but the raw logs say {now!r}; run 'kvstudy parse' again"]
