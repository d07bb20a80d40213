"""How a number is named: ``redis/a/throughput``, ``redis/a/threads=4/read/latency_p99``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.summary import OPERATIONS, measured_phases
from kvstudy.errors import KvstudyError
from kvstudy.study.metrics import PRINTED
from kvstudy.study.naming import did_you_mean
from kvstudy.study.parts import MEAN

# Parts of the name of a cell's parameters: r1000_o10000_t4_load50.
SIZES = {"records": "r", "operations": "o", "threads": "t", "seconds": "s", "load": "load"}
WHOLE = "overall"
ALL = "all"


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
    stores = list(dict.fromkeys(run.all_cells["store"]))
    _known(text, "store", store, stores)
    own = run.all_cells[run.all_cells["store"] == store]
    there = [name for name in run.study.workload_names if name in set(own["workload"])]
    _known(text, "workload", workload, [*there, MEAN])
    parameters = "all"
    sets = list(dict.fromkeys(own.loc[own["workload"] == workload, "parameters"]))
    given = "=" in rest[0] or re.fullmatch(r"r\d+_o\d+_t\d+\w*", rest[0])
    if workload != MEAN:
        parameters = _parameters(text, rest[0] if given else "", sets, run.headline[workload])
    if given:
        rest = rest[1:]
    if len(rest) not in (1, 2):
        raise KvstudyError(f"{text}: after the sizes come METRIC or OPERATION/METRIC")
    operation, metric = rest if len(rest) == 2 else (WHOLE, rest[0])
    return _value(run, text, Address(store, workload, parameters, operation, metric))


def _parameters(text: str, given: str, sets: list[str], one: str) -> str:
    if not given:
        return one if one in sets else sets[0]
    if "=" not in given:
        _known(text, "parameters", given, sets)
        return given
    wanted = set()
    for each in given.split(","):
        name, _, number = each.partition("=")
        _known(text, "size", name, [*SIZES])
        wanted.add(f"{SIZES[name]}{number}")
    found = [name for name in sets if wanted <= set(name.split("_"))]
    # Cells at fixed rates are asked for by their load.
    closed = [name for name in found if "_load" not in name]
    found = closed or found
    if one in found:
        return one
    if len(found) != 1:
        what = "no cell has" if not found else "several sets of cells have"
        raise KvstudyError(f"{text}: {what} {given}; there are {', '.join(found or sets)}")
    return found[0]


def _value(run: Run, text: str, address: Address) -> Address:
    """The address with ``all`` replaced, when there are such values."""
    values = run.all_values[run.all_values["workload"] == MEAN]
    if address.workload != MEAN:
        values = run.all_measurements
    rows = values[values["workload"] == address.workload]
    rows = rows[rows["phase"] == rows["workload"].map(measured_phases(values))]
    combined = run.all_values[run.all_values["workload"] == address.workload]
    operations = sorted(
        {*rows["operation"], *combined["operation"]},
        key=lambda name: ("+" in name, OPERATIONS.index(name) if name in OPERATIONS else 9, name),
    )
    if not operations:
        # Nothing of the workload was measured; the chain tells why.
        return address
    operation = address.operation
    if operation == ALL:
        operation = operations[-1]
    _known(text, "operation", operation, operations)
    both = {
        (row.operation, row.metric)
        for frame in (rows, combined)
        for row in frame[["operation", "metric"]].drop_duplicates().itertuples()
    }
    if (operation, address.metric) not in both:
        others = [name for name in operations if (name, address.metric) in both]
        if others:
            where = f"{address.store}/{address.workload}"
            names = ", ".join(f"{where}/{name}/{address.metric}" for name in others)
            raise KvstudyError(
                f"{text}: {address.metric} is not of '{operation}'; there are {names}"
            )
        known = {metric for name, metric in both if name == operation}
        first = [name for name in PRINTED if name in known]
        _known(text, "metric", address.metric, [*first, *sorted(known - {*first})])
    return Address(address.store, address.workload, address.parameters, operation, address.metric)


def _known(text: str, kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        raise KvstudyError(f"{text}: unknown {kind} '{name}'{did_you_mean(name, known)}")
