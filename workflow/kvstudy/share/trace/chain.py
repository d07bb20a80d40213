"""The chain of a value or ratio: summary.csv, measurements.csv, raw log, line.

A value is named like ``redis/a/throughput`` or ``redis/a/threads=4/read/latency_p99``.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import CELL, path_of, why_not
from kvstudy.analyse.tidy.summary import measured_phases, operation_rank
from kvstudy.errors import InputError, KvstudyError
from kvstudy.share.trace.sources import RawCell, RawFile
from kvstudy.stats.intervals import geometric_mean
from kvstudy.study.base import ALL
from kvstudy.study.metrics import PRINTED, RATE_UNIT
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN

# Parts of the name of a cell's parameters: r1000_o10000_t4_load50.
SIZES = {"records": "r", "operations": "o", "threads": "t", "seconds": "s", "load": "load"}
WHOLE = "overall"
# Between a value as written and the same recomputed.
SAME = 1e-9


@dataclass(frozen=True)
class Address:
    """A value over the repetitions of one store, workload and set of sizes."""

    store: str
    workload: str
    parameters: str
    operation: str
    metric: str

    def __str__(self) -> str:
        return "/".join(vars(self).values())

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table that the address means."""
        keys = vars(self)
        return table[(table[[*keys]] == [*keys.values()]).all(axis=1)]


def resolve(run: Run, text: str) -> Address:
    """The address that ``text`` names: STORE/WORKLOAD[/SIZES][/OPERATION]/METRIC.

    SIZES are ``records=…,threads=…`` or the name of the parameters; left out, they are
    those that the report shows. OPERATION is left out for what is of the whole phase; ``all``
    are a workload's operations combined. InputError for a name that is not there,
    with those that are.
    """
    parts = text.strip("/").split("/")
    if len(parts) < 3:
        raise InputError(
            f"{text}: name a value as STORE/WORKLOAD/METRIC or STORE/WORKLOAD/OPERATION/METRIC, "
            "for example redis/a/throughput or redis/a/read/latency_p99"
        )
    store, workload, *rest = parts
    cells = run.all_cells
    check_known(text, "store", store, list(cells["store"].unique()))
    rows = cells[cells["store"] == store]
    workloads = [name for name in run.study.workload_names if name in set(rows["workload"])]
    check_known(text, "workload", workload, [*workloads, MEAN])
    sized = "=" in rest[0] or re.fullmatch(r"r\d+_o\d+_t\d+\w*", rest[0])
    sizes, parameters = rest.pop(0) if sized else "", "all"
    if workload != MEAN:
        sets = list(rows.loc[rows["workload"] == workload, "parameters"].unique())
        parameters = _parameters(text, sizes, sets, run.headline[workload])
    if len(rest) not in (1, 2):
        raise InputError(f"{text}: after the sizes come METRIC or OPERATION/METRIC")
    *operations, metric = rest
    operation = operations[0] if operations else WHOLE
    # Where nothing of the workload was measured, the chain shows why.
    if metrics := _metrics(run, workload):
        operation = list(metrics)[-1] if operation == ALL else operation
        check_known(text, "operation", operation, list(metrics))
        others = [of for of in metrics if metric in metrics[of]]
        if others and operation not in others:
            names = ", ".join(f"{store}/{workload}/{of}/{metric}" for of in others)
            raise InputError(f"{text}: {metric} is not of '{operation}'; there are {names}")
        first = [name for name in PRINTED if name in metrics[operation]]
        check_known(text, "metric", metric, [*first, *sorted(metrics[operation] - {*first})])
    return Address(store, workload, parameters, operation, metric)


def _parameters(text: str, sizes: str, sets: list[str], one: str) -> str:
    if not sizes:
        return one if one in sets else sets[0]
    if "=" not in sizes:
        check_known(text, "parameters", sizes, sets)
        return sizes
    parts = set()
    for size in sizes.split(","):
        name, _, number = size.partition("=")
        check_known(text, "size", name, [*SIZES])
        parts.add(f"{SIZES[name]}{number}")
    fitting = [name for name in sets if parts <= set(name.split("_"))]
    # Cells at fixed rates are asked for by their load.
    fitting = [name for name in fitting if "_load" not in name] or fitting
    if one in fitting:
        return one
    if len(fitting) != 1:
        what = "several sets of cells have" if fitting else "no cell has"
        raise InputError(f"{text}: {what} {sizes}; there are {', '.join(fitting or sets)}")
    return fitting[0]


def _metrics(run: Run, workload: str) -> dict[str, set[str]]:
    """The metrics of each operation of the workload that has a value, combined ones last."""
    frames = [run.all_values]
    if workload != MEAN:
        rows = run.all_measurements
        frames.append(rows[rows["phase"] == measured_phases(rows).get(workload)])
    rows = pd.concat(frames)
    metrics = rows[rows["workload"] == workload].groupby("operation")["metric"].agg(set).to_dict()
    return dict(sorted(metrics.items(), key=lambda item: (operation_rank(item[0]), item[0])))


@dataclass(frozen=True)
class MeasuredValue:
    """A row of measurements.csv. ``place`` is its file and line."""

    cell: str
    operation: str
    metric: str
    value: float
    unit: str
    place: str
    sources: list[RawFile]


@dataclass(frozen=True)
class Repetition:
    """The value of a repetition, or why it has none; ``made_of`` are its rows.

    ``value`` is NaN without any. ``why`` is "" for one that counts.
    """

    repetition: str
    counts: bool
    why: str
    value: float
    made_of: list[MeasuredValue]


@dataclass(frozen=True)
class Chain:
    """A mean with all that it is made of.

    ``mean`` and ``sd`` are as summary.csv has them, or NaN; ``geometric`` is the geometric mean.

    ``place`` is the row of summary.csv, "" for a value that is not in it (of control cells and
    of cells at fixed rates). ``problems`` are numbers and files that do not fit.
    """

    address: Address
    unit: str
    mean: float
    geometric: float
    sd: float
    n: int
    place: str
    repetitions: list[Repetition]
    problems: list[str]


def chain(run: Run, address: Address) -> Chain:
    """Follow ``address`` to its raw logs, and work its numbers out again on the way."""
    problems: list[str] = []
    repetitions = _repetitions(run, address, problems)
    counted = [each.value for each in repetitions if each.counts and not math.isnan(each.value)]
    n, again = len(counted), sum(counted) / len(counted) if counted else math.nan
    geometric = geometric_mean(counted) if counted else math.nan
    rows = address.rows(run.summary)
    if rows.empty:
        unit = next((value.unit for each in repetitions for value in each.made_of), "")
        sd = pd.Series(counted, dtype=float).std()
        return Chain(address, unit, again, geometric, sd, n, "", repetitions, problems)
    row = rows.iloc[0]
    place = f"{run.folder}/summary.csv:{row.name + 2}"
    means = [("mean", "mean", again)]
    if counted and row["unit"] == RATE_UNIT:
        means.append(("geometric", "geometric mean", geometric))
    problems += [
        f"{place}: the {words} {row[name]!r} is not that of its repetitions, {of_runs!r}; "
        "run 'kvstudy analyse' again"
        for name, words, of_runs in means
        if counted and not same(row[name], of_runs)
    ]
    if int(row["n"]) != n:
        problems.append(f"{place}: n is {int(row['n'])}, but {n} repetitions count")
    return Chain(
        address=address,
        unit=row["unit"],
        mean=row["mean"],
        geometric=geometric,
        sd=row["sd"],
        n=int(row["n"]),
        place=place,
        repetitions=repetitions,
        problems=problems,
    )


def same(one: float, other: float) -> bool:
    """Return whether two numbers are equal up to the last digits of floating point."""
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
        made_of = [
            value
            for row in rows.itertuples()
            if row.status == "measured"
            for value in _values(run, address, row, problems)
        ]
        counts, value, why = repetition in given, given.get(repetition, math.nan), ""
        if math.isnan(value) and len(made_of) == 1:
            # An invalid cell has a value; it is in no mean.
            value = made_of[0].value
        if not counts:
            why = "; ".join(filter(None, map(why_not, rows.itertuples())))
            why = why or "not all of the values that it would be made of are there"
        repetitions.append(Repetition(repetition, counts, why, value, made_of))
    return sorted(repetitions, key=lambda each: int(each.repetition))


def _values(run: Run, address: Address, cell, problems: list[str]) -> list[MeasuredValue]:
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
    raw = RawCell(run, path)
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
        values.append(
            MeasuredValue(path, row.operation, row.metric, row.value, row.unit, place, sources)
        )
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
    """Follow the ratio ``STORE/OTHER/WORKLOAD[/SIZES]``; InputError when there is none."""
    parts = text.split("/")
    if len(parts) not in (3, 4):
        raise InputError(
            f"ratio:{text}: name a ratio as ratio:STORE/OTHER/WORKLOAD, "
            "for example ratio:redis/memcached/a"
        )
    stores, rest = parts[:2], parts[2:]
    sides = {store: resolve(run, "/".join([store, *rest, "throughput"])) for store in stores}
    address, path = sides[stores[0]], run.analysis_folder / "pairs.csv"
    rows = run.analysis.pairs
    rows = rows[
        (rows["workload"] == address.workload)
        & (rows["parameters"] == address.parameters)
        & rows[["faster", "slower"]].isin(stores).all(axis=1)
    ]
    if rows.empty:
        raise InputError(
            f"ratio:{text}: {path} has no such pair: the two have no repetition in common that "
            f"counts, or one is a control; see 'kvstudy trace {sides[stores[1]]}'"
        )
    row = rows.iloc[0]
    chains = [chain(run, sides[store]) for store in (row["faster"], row["slower"])]
    faster, slower = (
        {each.repetition: each.value for each in side.repetitions if each.counts} for side in chains
    )
    paired = run.study.imported is None
    pairs = [(n, faster[n] / slower[n]) for n in faster if paired and n in slower]
    place = f"{path}:{row.name + 2}"
    problems = [problem for side in chains for problem in side.problems]
    if pairs and not same(again := geometric_mean(ratio for _, ratio in pairs), row["ratio"]):
        problems.append(
            f"{place}: {row['ratio']!r} is not the geometric mean of its pairs, {again!r}; "
            "run 'kvstudy analyse' again"
        )
    numbers = row[["faster", "slower", "workload", "parameters", "ratio", "low", "high"]]
    return RatioChain(*numbers, place, paired, pairs, chains, problems)
