"""Tables and figures that a report has by itself, whatever the study names."""

from __future__ import annotations

from typing import get_args

from kvstudy.language.current import N_, _
from kvstudy.study.curves import ScalingTable
from kvstudy.study.figure_kinds import CpuBars, RatioPlot, RunOrder, Spectrum, TimeStrips
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.table_kinds import (
    BottleneckTable,
    OperationsTable,
    PercentilesTable,
    RatiosTable,
    RunsTable,
    StoreTable,
    TrimmedTable,
    ValidityTable,
)

RATIOS = RatiosTable(name="ratios", kind="ratios", caption=N_("Throughput of each two stores"))
BOTTLENECK = BottleneckTable(
    name="bottleneck", kind="bottleneck", caption=N_("What limits the throughput")
)
TRIMMED = TrimmedTable(
    name="trimmed", kind="trimmed", caption=N_("Means without the smallest and the largest runs")
)
OPERATIONS = OperationsTable(
    name="operations", kind="operations", caption=N_("What one operation means on each store")
)
SCALING = ScalingTable(name="scaling", kind="scaling", caption=N_("Throughput over client threads"))
# The scalability law needs so many (stats.scalability.LEAST_COUNTS).
THREADS_FOR_SCALING = 6
VALIDITY = ValidityTable(
    name="validity", kind="validity", caption=N_("Operations that did what was asked, and goodput")
)
AUTOMATIC_TABLES_OF_A_WORKLOAD = {
    RunsTable: N_("The runs behind the values, {}"),
    PercentilesTable: N_("Percentiles of service time over all runs, {}"),
}
AUTOMATIC_FIGURES = [
    RunOrder(
        name="run-order",
        kind="run-order",
        caption=N_(
            "The runs in the order of measurement, against the geometric mean of their setting"
        ),
    ),
    CpuBars(name="cpu", kind="cpu", caption=N_("CPU time of client and server for one operation")),
    RatioPlot(
        name="ratios",
        kind="ratios",
        caption=N_("Throughput of each two stores with 95 % intervals, and the noise floor (band)"),
    ),
]
AUTOMATIC_FIGURES_OF_A_WORKLOAD = {
    TimeStrips: N_("The runs second by second, {}"),
    Spectrum: N_("Latency by share of the operations, {}"),
}


def with_automatic(
    own: list, automatic: list, of_a_workload: dict[type, str], workloads: list[WorkloadUse]
) -> list:
    """What the study names itself, and what every report has besides.

    ``of_a_workload`` are kinds that each workload has one of, with their captions.
    """
    found = list(own)
    found += [
        each.model_copy(update={"caption": _(each.caption)})
        for each in automatic
        if isinstance(each, StoreTable) or not any(type(has) is type(each) for has in own)
    ]
    for use in workloads:
        for kind, caption in of_a_workload.items():
            if any(isinstance(each, kind) and each.workload == use.name for each in own):
                continue
            word = get_args(kind.model_fields["kind"].annotation)[0]
            found.append(
                kind(
                    name=f"{word}-{use.name}",
                    kind=word,
                    caption=_(caption).format(use.title),
                    workload=use.name,
                )
            )
    return found
