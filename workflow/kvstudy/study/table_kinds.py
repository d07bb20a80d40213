"""The kinds of tables that a report may have; those of larger topics have files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from kvstudy.language.current import N_, _
from kvstudy.study.base import Name
from kvstudy.study.curves import ScalingTable, SweepTable
from kvstudy.study.kinds import AnyTable
from kvstudy.study.properties import PropertiesTable
from kvstudy.study.ranking import RankingTable
from kvstudy.study.relative import BreakEvenTable, RelativeTable
from kvstudy.study.source_parts import AgainstTable, AuditedTable, AuditTable

if TYPE_CHECKING:
    from kvstudy.study.model import Study


class MachineTable(AnyTable):
    """What the cells were measured on, beside the machine of the source."""

    cells = "all"
    controls = "all"

    kind: Literal["machine"] = Field(description="What the cells were measured on.")


class ResultsTable(AnyTable):
    """Run time, throughput and latencies of one workload, one column per store."""

    kind: Literal["results"] = Field(
        description="Run time, throughput and latencies of a workload, one column per store."
    )
    workload: Name = Field(description="The workload.")


class ComparisonTable(AnyTable):
    """Throughput and failed operations of one store against another, per workload."""

    controls = "noise floor"

    kind: Literal["comparison"] = Field(
        description="Throughput and failed operations of one store against another."
    )
    baseline: Name = Field(description="The store that is the 100 %.")
    store: Name = Field(description="The store that is compared with it.")


class OperationsTable(AnyTable):
    """What one operation makes each server do. A study that names none has it all the same."""

    cells = "none"
    probes = True
    own_caption = N_("What one operation means on each store")

    kind: Literal["operations"] = Field(
        description="What one operation makes each server do; every study has one, also unnamed."
    )


class RatiosTable(AnyTable):
    """Throughput ratios of every two stores, per workload; a part of every report."""

    controls = "all"
    own_caption = N_("Throughput of each two stores")

    kind: Literal["ratios"] = Field(description="Throughput of every two stores by each other.")


class BottleneckTable(AnyTable):
    """What limits each store's throughput; a part of every report."""

    controls = "all"
    own_caption = N_("What limits the throughput")

    kind: Literal["bottleneck"] = Field(
        description="CPU of client and server, and whether the client is the limit."
    )


class TrimmedTable(AnyTable):
    """Trimmed means beside plain ones; a part of the report of a study that uses them."""

    own_caption = N_("Means without the smallest and the largest runs")

    kind: Literal["trimmed"] = Field(description="Trimmed means of throughput and run time.")


class PercentilesTable(AnyTable):
    """Percentiles from the histograms of all repetitions; a part of every report."""

    own_caption = N_("Percentiles of service time over all runs, {}")

    kind: Literal["percentiles"] = Field(
        description="Percentiles of a workload's latencies, all repetitions together."
    )
    workload: Name = Field(description="The workload.")


class RunsTable(AnyTable):
    """Intervals, spread, steadiness and CPU time; a part of every report."""

    own_caption = N_("The runs behind the values, {}")

    kind: Literal["runs"] = Field(
        description="Intervals, spread, steadiness and CPU time of a workload's runs."
    )
    workload: Name = Field(description="The workload.")


class StoreTable(AnyTable):
    """All workloads of one store; a part of the report of a study with ``store_pages``."""

    own_caption = N_("All workloads of the store")

    kind: Literal["store"] = Field(description="All workloads of one store.")
    store: Name = Field(description="The store.")

    @classmethod
    def automatic(cls, study: Study) -> list[StoreTable]:
        """One for each store."""
        caption = _(cls.own_caption)
        return [
            cls(name=f"store-{store}", kind="store", caption=caption, store=store)
            for store in study.store_names
        ]

    def stores_of(self, study: Study) -> list[str]:
        """All: the store's places among them are in the table too."""
        return study.store_names


class OpenLoopTable(AnyTable):
    """Latencies of a workload at fixed rates; a part of every report with open-loop cells."""

    cells = "open loop"
    by_itself = True
    own_caption = N_("Latency at fixed rates, {}")

    kind: Literal["open-loop"] = "open-loop"
    workload: Name


class ValidityTable(AnyTable):
    """How many operations did what was asked; a part of every report."""

    probes = True
    own_caption = N_("Operations that did what was asked, and goodput")

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
