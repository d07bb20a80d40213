"""The table of what limits each store's throughput."""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.study.model import Study
from kvstudy.tables.checks import DASH, Grid, Line, Section, by_workload
from kvstudy.tables.markup import marked
from kvstudy.tidy.numbers import share, significant


def content(found: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """``found`` is ``analysis.bottleneck``'s; a section per workload and parameters."""
    columns = ["Client µs", "Server µs", "Client cores", "Server cores", "In calls", "Of ceiling"]
    second = found["two_clients"].notna().any()
    if second:
        columns.append("Two clients")
    sections = []
    for title, rows in by_workload(found, study):
        by_store = rows.set_index("store")
        lines = [
            Line(titles[store], _cells(by_store.loc[store], second), store)
            for store in study.store_names
            if store in by_store.index
        ]
        sections.append(Section(title, lines, workload=rows["workload"].iloc[0]))
    cores = found["machine_cores"].dropna()
    machine = f"the machine's {cores.max():.0f} cores" if len(cores) else "the machine's cores"
    return {
        "columns": [*columns, "Client-bound"],
        "sections": sections,
        "sortable": True,
        "notes": [
            "Geometric means over the runs. Client µs, Server µs: CPU time for one operation. "
            f"Client cores, Server cores: average number of {machine} in use. In calls: share of "
            "the client threads' time inside calls to the store. Of ceiling: throughput by that of "
            "YCSB without a store. Client-bound no: no sign of it was found."
            + (" Two clients: their total throughput by that of one." if second else "")
        ],
    }


def _cells(row: pd.Series, second: bool) -> list[str]:
    return [
        *(_number(row[name]) for name in ("client_cpu", "server_cpu")),
        *(_number(row[name], 2) for name in ("client_cores", "server_cores")),
        *(_share(row[name]) for name in ("in_call", "ceiling")),
        *([_number(row["two_clients"])] if second else []),
        row["client_bound"] or DASH,
    ]


def _number(value: float, digits: int = 3) -> str:
    return DASH if math.isnan(value) else marked(significant(value, digits), value)


def _share(value: float) -> str:
    return DASH if math.isnan(value) else marked(share(value), value)
