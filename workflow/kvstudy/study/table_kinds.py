"""The kinds of tables that a report may have; those of larger topics have files of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from kvstudy.study.base import AnyTable, Name
from kvstudy.study.curves import ScalingTable, SweepTable
from kvstudy.study.properties import PropertiesTable
from kvstudy.study.ranking import RankingTable
from kvstudy.study.relative import BreakEvenTable, RelativeTable
from kvstudy.study.source_parts import AgainstTable, AuditedTable, AuditTable


class MachineTable(AnyTable):
    """What the cells were measured on, beside the machine of the source."""

    kind: Literal["machine"] = Field(description="What the cells were measured on.")


class ResultsTable(AnyTable):
    """Run time, throughput and latencies of one workload, one column per store."""

    kind: Literal["results"] = Field(
        description="Run time, throughput and latencies of a workload, one column per store."
    )
    workload: Name = Field(description="The workload.")


class ComparisonTable(AnyTable):
    """Throughput and failed operations of one store against another, per workload."""

    kind: Literal["comparison"] = Field(
        description="Throughput and failed operations of one store against another."
    )
    baseline: Name = Field(description="The store that is the 100 %.")
    store: Name = Field(description="The store that is compared with it.")


class OperationsTable(AnyTable):
    """What one operation makes each server do. A study that names none has it all the same."""

    kind: Literal["operations"] = Field(
        description="What one operation makes each server do; every study has one, also unnamed."
    )


class RatiosTable(AnyTable):
    """Throughput ratios of every two stores, per workload; a part of every report."""

    kind: Literal["ratios"] = Field(description="Throughput of every two stores by each other.")


class BottleneckTable(AnyTable):
    """What limits each store's throughput; a part of every report."""

    kind: Literal["bottleneck"] = Field(
        description="CPU of client and server, and whether the client is the limit."
    )


class TrimmedTable(AnyTable):
    """Trimmed means beside plain ones; a part of the report of a study that uses them."""

    kind: Literal["trimmed"] = Field(description="Trimmed means of throughput and run time.")


class PercentilesTable(AnyTable):
    """Percentiles from the histograms of all repetitions; a part of every report."""

    kind: Literal["percentiles"] = Field(
        description="Percentiles of a workload's latencies, all repetitions together."
    )
    workload: Name = Field(description="The workload.")


class RunsTable(AnyTable):
    """Intervals, spread, steadiness and CPU time; a part of every report."""

    kind: Literal["runs"] = Field(
        description="Intervals, spread, steadiness and CPU time of a workload's runs."
    )
    workload: Name = Field(description="The workload.")


class StoreTable(AnyTable):
    """All workloads of one store; a part of the report of a study with ``store_pages``."""

    kind: Literal["store"] = Field(description="All workloads of one store.")
    store: Name = Field(description="The store.")


class OpenLoopTable(AnyTable):
    """Latencies of a workload at fixed rates; a part of every report with open-loop cells."""

    kind: Literal["open-loop"] = "open-loop"
    workload: Name


class ValidityTable(AnyTable):
    """How many operations did what was asked; a part of every report."""

    kind: Literal["validity"] = Field(
        description="Failed and missed operations, goodput, agreement with the servers' counters."
    )


WorkloadTable = ResultsTable | PercentilesTable | RunsTable
Table = Annotated[
    MachineTable
    | ResultsTable
    | ComparisonTable
    | OperationsTable
    | RatiosTable
    | BottleneckTable
    | TrimmedTable
    | PercentilesTable
    | RunsTable
    | ValidityTable
    | SweepTable
    | ScalingTable
    | StoreTable
    | RankingTable
    | PropertiesTable
    | AuditTable
    | AuditedTable
    | AgainstTable
    | RelativeTable
    | BreakEvenTable,
    Field(discriminator="kind"),
]
