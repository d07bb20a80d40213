"""How a number is named: ``redis/a/throughput``, ``redis/a/threads=4/read/latency_p99``."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.summary import OPERATIONS, measured_phases
from kvstudy.errors import KvstudyError
from kvstudy.study.base import ALL
from kvstudy.study.metrics import PRINTED
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import MEAN

# Parts of the name of a cell's parameters: r1000_o10000_t4_load50.
SIZES = {"records": "r", "operations": "o", "threads": "t", "seconds": "s", "load": "load"}
WHOLE = "overall"


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
        """Those of a table that are of it."""
        for key, value in vars(self).items():
            table = table[table[key] == value]
        return table


def resolve(run: Run, text: str) -> Address:
    """The address that ``text`` names: STORE/WORKLOAD[/SIZES][/OPERATION]/METRIC.

    SIZES are ``records=…,threads=…`` or the name of the parameters; left out, they are
    those that the report shows. OPERATION is left out for what is of the whole phase; ``all``
    are a workload's operations combined. KvstudyError for a name that is not there,
    with those that are.
    """
    parts = text.strip("/").split("/")
    if len(parts) < 3:
        raise KvstudyError(
            f"{text}: name a value as STORE/WORKLOAD/METRIC or STORE/WORKLOAD/OPERATION/METRIC, "
            "for example redis/a/throughput or redis/a/read/latency_p99"
        )
    store, workload, *rest = parts
    cells = run.all_cells
    _known(text, "store", store, [*dict.fromkeys(cells["store"])])
    own = cells[cells["store"] == store]
    there = [name for name in run.study.workload_names if name in set(own["workload"])]
    _known(text, "workload", workload, [*there, MEAN])
    sized = "=" in rest[0] or re.fullmatch(r"r\d+_o\d+_t\d+\w*", rest[0])
    sizes = rest.pop(0) if sized else ""
    parameters = "all"
    if workload != MEAN:
        sets = list(dict.fromkeys(own.loc[own["workload"] == workload, "parameters"]))
        parameters = _parameters(text, sizes, sets, run.headline[workload])
    if len(rest) not in (1, 2):
        raise KvstudyError(f"{text}: after the sizes come METRIC or OPERATION/METRIC")
    operation = _operation(run, text, store, workload, rest)
    return Address(store, workload, parameters, operation, rest[-1])


def _parameters(text: str, sizes: str, sets: list[str], one: str) -> str:
    if not sizes:
        return one if one in sets else sets[0]
    if "=" not in sizes:
        _known(text, "parameters", sizes, sets)
        return sizes
    parts = set()
    for size in sizes.split(","):
        name, _, number = size.partition("=")
        _known(text, "size", name, [*SIZES])
        parts.add(f"{SIZES[name]}{number}")
    fitting = [name for name in sets if parts <= set(name.split("_"))]
    # Cells at fixed rates are asked for by their load.
    fitting = [name for name in fitting if "_load" not in name] or fitting
    if one in fitting:
        return one
    if len(fitting) != 1:
        what = "no cell has" if not fitting else "several sets of cells have"
        raise KvstudyError(f"{text}: {what} {sizes}; there are {', '.join(fitting or sets)}")
    return fitting[0]


def _operation(run: Run, text: str, store: str, workload: str, rest: list[str]) -> str:
    """The operation of ``rest`` (OPERATION/METRIC or METRIC), if there are such values."""
    operation, metric = rest if len(rest) == 2 else (WHOLE, rest[0])
    combined = run.all_values[run.all_values["workload"] == workload]
    rows = combined
    if workload != MEAN:
        rows = run.all_measurements
        rows = rows[rows["workload"] == workload]
        rows = rows[rows["phase"] == rows["workload"].map(measured_phases(run.all_measurements))]
    values = {
        (row.operation, row.metric)
        for frame in (rows, combined)
        for row in frame[["operation", "metric"]].drop_duplicates().itertuples()
    }
    operations = sorted(
        {name for name, _ in values},
        key=lambda name: ("+" in name, OPERATIONS.index(name) if name in OPERATIONS else 9, name),
    )
    if not operations:
        # Nothing of the workload was measured; the chain tells why.
        return operation
    if operation == ALL:
        operation = operations[-1]
    _known(text, "operation", operation, operations)
    if (operation, metric) in values:
        return operation
    if others := [name for name in operations if (name, metric) in values]:
        names = ", ".join(f"{store}/{workload}/{name}/{metric}" for name in others)
        raise KvstudyError(f"{text}: {metric} is not of '{operation}'; there are {names}")
    known = {metric for name, metric in values if name == operation}
    first = [name for name in PRINTED if name in known]
    _known(text, "metric", metric, [*first, *sorted(known - {*first})])
    return operation


def _known(text: str, kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise KvstudyError(f"{text}: unknown {kind} '{name}'{did_you_mean(name, known)}")
