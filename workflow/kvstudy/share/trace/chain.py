"""The chain of a value or ratio: summary.csv, measurements.csv, raw log, line."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import CELL, path_of, why_not
from kvstudy.analyse.tidy.summary import measured_phases
from kvstudy.errors import KvstudyError
from kvstudy.share.trace.address import WHOLE, Address, resolve
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
    n, again = len(counted), sum(counted) / len(counted) if counted else math.nan
    rows = address.rows(run.summary)
    if rows.empty:
        unit = next((value.unit for each in repetitions for value in each.made_of), "")
        sd = float(pd.Series(counted, dtype=float).std())
        return Chain(address, unit, again, sd, n, "", repetitions, problems)
    row = rows.iloc[0]
    place = f"{run.folder}/summary.csv:{row.name + 2}"
    if counted and not same(row["mean"], again):
        problems.append(
            f"{place}: the mean {row['mean']!r} is not that of its repetitions, {again!r}; "
            "run 'kvstudy summarise' again"
        )
    if int(row["n"]) != n:
        problems.append(f"{place}: n is {int(row['n'])}, but {n} repetitions count")
    numbers = (row["mean"], row["sd"], int(row["n"]))
    return Chain(address, row["unit"], *numbers, place, repetitions, problems)


def same(one: float, other: float) -> bool:
    """Whether two numbers are one, but for the last digits of floating point."""
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-12)


def _repetitions(run: Run, address: Address, problems: list[str]) -> list[Repetition]:
    cells = run.all_cells[run.all_cells["store"] == address.store]
    workloads, sizes = [address.workload], address.parameters
    if address.workload == MEAN:
        workloads, sizes = run.study.workload_names, cells["workload"].map(run.headline)
    cells = cells[cells["workload"].isin(workloads) & (cells["parameters"] == sizes)]
    values = address.rows(run.all_values)
    given = dict(zip(values["repetition"], values["value"], strict=True))
    repetitions = []
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
        repetitions.append(
            Repetition(repetition, counts, "" if counts else "; ".join(reasons), value, made_of)
        )
    return sorted(repetitions, key=lambda each: int(each.repetition))


def _values(run: Run, address: Address, cell, problems: list[str]) -> list[Value]:
    """The rows of measurements.csv that a cell gives to the value."""
    rows = run.all_measurements
    phase = measured_phases(rows).get(cell.workload, "run")
    # A mean of workloads is of whole phases.
    operations = [WHOLE] if address.workload == MEAN else address.operation.split("+")
    rows = rows[
        (rows[CELL] == [getattr(cell, key) for key in CELL]).all(axis=1)
        & (rows["phase"] == phase)
        & rows["operation"].isin(operations)
        & (rows["metric"] == address.metric)
    ]
    path = path_of(cell)
    raw = raw_cell(run, path)
    values = []
    for row in rows.itertuples():
        place = f"{row.file}:{row.line}"
        sources = raw.sources(phase, row.operation, row.metric)
        problems += [f"{each.path}: {each.problem}" for each in sources if each.problem]
        # What the raw logs say now, where that is another number.
        try:
            now = raw.value_now(phase, row.operation, row.metric)
        except (KvstudyError, OSError, ValueError, KeyError) as error:
            problems.append(f"{raw.folder}: cannot be parsed: {error}")
        else:
            if now is not None and not same(now, row.value):
                problems.append(
                    f"{place}: {row.value!r}, but the raw logs say {now!r}; "
                    "run 'kvstudy parse' again"
                )
        values.append(Value(path, row.operation, row.metric, row.value, row.unit, place, sources))
    return values


@dataclass(frozen=True)
class RatioChain:
    """Throughput of ``faster`` by that of ``slower``, with its 95 % interval (NaN for one pair).

    ``pairs`` are (repetition, ratio); ``paired`` is false for imported logs, whose
    repetitions only share a number: then ``pairs`` is empty.
    """

    faster: str
    slower: str
    workload: str
    parameters: str
    ratio: float
    low: float
    high: float
    place: str
    paired: bool
    pairs: list[tuple[str, float]]
    chains: list[Chain]
    problems: list[str]


def ratio_chain(run: Run, text: str) -> RatioChain:
    """Follow the ratio ``STORE/OTHER/WORKLOAD[/SIZES]``; KvstudyError when there is none."""
    parts = text.split("/")
    if len(parts) not in (3, 4):
        raise KvstudyError(
            f"ratio:{text}: name a ratio as ratio:STORE/OTHER/WORKLOAD, "
            "for example ratio:redis/memcached/a"
        )
    one, other, *rest = parts
    sides = {store: resolve(run, "/".join([store, *rest, "throughput"])) for store in (one, other)}
    setting: Address = sides[one]
    path = run.analysis_folder / "pairs.csv"
    rows = run.analysis.pairs
    rows = rows[
        (rows["workload"] == setting.workload)
        & (rows["parameters"] == setting.parameters)
        & rows[["faster", "slower"]].isin([one, other]).all(axis=1)
    ]
    if rows.empty:
        raise KvstudyError(
            f"ratio:{text}: {path} has no such pair: the two have no repetition in common that "
            f"counts, or one is a control; see 'kvstudy trace {sides[other]}'"
        )
    row = rows.iloc[0]
    chains = [chain(run, sides[store]) for store in (row["faster"], row["slower"])]
    given = [
        {each.repetition: each.value for each in side.repetitions if each.counts} for side in chains
    ]
    paired = run.study.imported is None
    pairs = [
        (repetition, value / given[1][repetition])
        for repetition, value in given[0].items()
        if paired and repetition in given[1]
    ]
    place = f"{path}:{rows.index[0] + 2}"
    problems = [problem for side in chains for problem in side.problems]
    if pairs:
        again = math.exp(sum(math.log(value) for _, value in pairs) / len(pairs))
        if not same(again, row["ratio"]):
            problems.append(
                f"{place}: {row['ratio']!r} is not the geometric mean of its pairs, {again!r}; "
                "run 'kvstudy analyse' again"
            )
    return RatioChain(
        *(row["faster"], row["slower"], setting.workload, setting.parameters),
        *(row["ratio"], row["low"], row["high"], place, paired, pairs, chains, problems),
    )
