"""The table of what limits each store's throughput."""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.analyse.tidy.numbers import share, significant
from kvstudy.language.current import _
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH, Grid, Line, Section, by_workload
from kvstudy.present.tables.markup import marked
from kvstudy.study.model import Study


def content(found: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """``found`` is ``analysis.bottleneck``'s; a section per workload and parameters."""
    columns = [_("Client µs"), _("Server µs"), _("Client cores"), _("Server cores")]
    columns += [_("In calls"), _("Of ceiling")]
    second = found["two_clients"].notna().any()
    if second:
        columns.append(_("Two clients"))
    sections = []
    for title, rows in by_workload(found, study):
        by_store = rows.set_index("store")
        lines = [
            Line(titles[store], _cells(by_store.loc[store], second), store)
            for store in study.store_names
            if store in by_store.index
        ]
        sections.append(Section(title, lines, workload=rows["workload"].iloc[0]))
    return {
        "columns": [*columns, _("Client-bound")],
        "sections": sections,
        "sortable": True,
        "notes": [
            " ".join(
                [
                    _(
                        "Geometric means over the runs. Client µs, Server µs: CPU time for one "
                        "operation."
                    ),
                    _cores(found["machine_cores"].dropna()),
                    _(
                        "In calls: share of the client threads' time inside calls to the store. "
                        "Of ceiling: throughput by that of YCSB without a store. Client-bound no: "
                        "no sign of it was found."
                    ),
                    *([_("Two clients: their total throughput by that of one.")] if second else []),
                ]
            )
        ],
    }


def _cores(cores: pd.Series) -> str:
    if not len(cores):
        return _("Client cores, Server cores: average number of the machine's cores in use.")
    return _("Client cores, Server cores: average number of the machine's {} cores in use.").format(
        f"{cores.max():.0f}"
    )


def _cells(row: pd.Series, second: bool) -> list[str]:
    return [
        *(_number(row[name]) for name in ("client_cpu", "server_cpu")),
        *(_number(row[name], 2) for name in ("client_cores", "server_cores")),
        *(_share(row[name]) for name in ("in_call", "ceiling")),
        *([_number(row["two_clients"])] if second else []),
        sentence(row["client_bound"]) or DASH,
    ]


def _number(value: float, digits: int = 3) -> str:
    return DASH if math.isnan(value) else marked(significant(value, digits), value)


def _share(value: float) -> str:
    return DASH if math.isnan(value) else marked(share(value), value)
