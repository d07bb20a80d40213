"""Tables and figures that a report has by itself, whatever the study names."""

from __future__ import annotations

from typing import get_args

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

RATIOS = RatiosTable(name="ratios", kind="ratios", caption="Throughput of each two stores")
BOTTLENECK = BottleneckTable(
    name="bottleneck", kind="bottleneck", caption="What limits the throughput"
)
TRIMMED = TrimmedTable(
    name="trimmed", kind="trimmed", caption="Means without the smallest and the largest runs"
)
OPERATIONS = OperationsTable(
    name="operations", kind="operations", caption="What one operation means on each store"
)
SCALING = ScalingTable(name="scaling", kind="scaling", caption="Throughput over client threads")
# The scalability law needs so many (stats.scalability.LEAST_COUNTS).
THREADS_FOR_SCALING = 6
VALIDITY = ValidityTable(
    name="validity", kind="validity", caption="Operations that did what was asked, and goodput"
)
AUTOMATIC_TABLES_OF_A_WORKLOAD = {
    RunsTable: "The runs behind the values, {}",
    PercentilesTable: "Percentiles of service time over all runs, {}",
}
AUTOMATIC_FIGURES = [
    RunOrder(
        name="run-order",
        kind="run-order",
        caption="The runs in the order of measurement, against the geometric mean of their setting",
    ),
    CpuBars(name="cpu", kind="cpu", caption="CPU time of client and server for one operation"),
    RatioPlot(
        name="ratios",
        kind="ratios",
        caption="Throughput of each two stores with 95 % intervals, and the noise floor (band)",
    ),
]
AUTOMATIC_FIGURES_OF_A_WORKLOAD = {
    TimeStrips: "The runs second by second, {}",
    Spectrum: "Latency by share of the operations, {}",
}


def with_automatic(
    own: list, automatic: list, of_a_workload: dict[type, str], workloads: list[WorkloadUse]
) -> list:
    """What the study names itself, and what every report has besides.

    ``of_a_workload`` are kinds that each workload has one of, with their captions.
    """
    found = list(own)
    found += [
        each
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
                    caption=caption.format(use.title),
                    workload=use.name,
                )
            )
    return found
