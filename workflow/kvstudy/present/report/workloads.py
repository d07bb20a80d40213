"""What the section of a workload speaks about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.present.report.cells import Gap
from kvstudy.present.report.rank import Agreement, Apart, Rank, agreement, apart, compared, ranking
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.cells import Cell
from kvstudy.study.kinds import AnyFigure, AnyTable
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.workload import PROPORTIONS, load_only, operations_of, properties_of

# The percentile that the text may name: of all runs together, of enough operations.
PERCENT = 99.0


@dataclass(frozen=True)
class Tail:
    """One operation: ``values`` are stores and percentiles (us), the smallest first.

    ``few`` are stores with too few operations beyond the percentile.
    """

    operation: str
    values: list[tuple[str, float]]
    few: list[str]


@dataclass(frozen=True)
class ResultFacts:
    """One workload with the parameters that are shown.

    Lists hold the measured stores only: ``throughput`` is sorted by falling
    mean (ops/s), ``mean`` by rising latency (us). ``apart`` are the pairs of stores
    that are no neighbours in ``throughput``, ``tails`` the 99th percentiles of each
    operation. ``client_bound`` are stores and why the client limited them.
    ``agreement`` is with the published order; None where no pair of stores has
    values on both sides.
    """

    cell: Cell
    throughput: list[Rank]
    mean: list[Rank]
    apart: Apart
    tails: list[Tail]
    client_bound: list[tuple[str, str]]
    agreement: Agreement | None


@dataclass(frozen=True)
class WorkloadFacts:
    """A workload of the study with its results and what belongs to its section.

    ``sizes`` has one cell for each set of parameters.
    """

    use: WorkloadUse
    properties: dict[str, str]
    tables: list[AnyTable]
    figures: list[AnyFigure]
    result: ResultFacts
    sizes: tuple[Cell, ...]
    published: list[Rank]
    gaps: tuple[Gap, ...]

    @property
    def title(self) -> str:
        return self.use.title

    @property
    def load_only(self) -> bool:
        return load_only(self.properties)

    @property
    def operations(self) -> list[str]:
        return operations_of(self.properties)

    @property
    def mix(self) -> list[tuple[str, float]]:
        """Operations and their shares between 0 and 1."""
        if self.load_only:
            return [("insert", 1.0)]
        shares = {
            operation: float(self.properties.get(name, default))
            for name, (operation, default) in PROPORTIONS.items()
        }
        total = sum(shares.values())
        return [(name, share / total) for name, share in shares.items() if share > 0]

    @property
    def distribution(self) -> str:
        return self.properties.get("requestdistribution", "uniform")


def workload_facts(
    use: WorkloadUse, run: Run, plan: list[Cell], published: pd.DataFrame, gaps: tuple[Gap, ...]
) -> WorkloadFacts:
    """All that the section of the workload ``use`` says; values are of its headline sizes.

    ``plan`` are the closed-loop cells, ``published`` values as in ``summary.csv``.
    """
    study, headline = run.study, run.headline[use.name]
    properties, stores = properties_of(study, use), study.store_names
    first = {cell.parameters: cell for cell in reversed(plan) if cell.workload == use.name}
    of_cell = "workload == @use.name and parameters == @headline"
    pairs = run.analysis.pairs.query(of_cell)
    bound = run.analysis.bottleneck.query(of_cell).query("client_bound == 'yes'")
    theirs = published[published["workload"] == use.name]
    order = ranking(theirs, "overall", "throughput", stores, falling=True)
    agreed = agreement(order, pairs)
    ours = run.summary.query(of_cell)
    speeds = ranking(ours, "overall", "throughput", stores, falling=True)
    operation = "+".join(operations_of(properties))
    result = ResultFacts(
        cell=first[headline],
        throughput=compared(speeds, pairs),
        mean=ranking(ours, operation, "latency_mean", stores, falling=False),
        apart=apart(speeds, pairs),
        tails=tails(run.analysis.percentiles.query(of_cell), stores),
        client_bound=list(zip(bound["store"], bound["reason"], strict=True)),
        agreement=agreed if agreed.pairs else None,
    )
    return WorkloadFacts(
        use=use,
        properties=properties,
        tables=[
            table
            for table in study.tables_of("results", "percentiles", "runs")
            if table.workload == use.name
        ],
        figures=[figure for figure in study.figures_of("bars") if figure.workloads == [use.name]],
        result=result,
        sizes=tuple(first.values()),
        published=order,
        gaps=gaps,
    )


def tails(percentiles: pd.DataFrame, stores: Sequence[str]) -> list[Tail]:
    """``percentiles`` are ``analysis.percentiles`` of one workload and its parameters.

    An operation without a histogram is left out.
    """
    own = percentiles[(percentiles["percent"] == PERCENT) & percentiles["store"].isin(stores)]
    tails = []
    for operation, rows in own.groupby("operation", sort=False):
        enough = rows[rows["beyond"] >= ENOUGH_BEYOND].sort_values("value", kind="stable")
        few = set(rows["store"]) - set(enough["store"])
        tails.append(
            Tail(
                operation,
                list(zip(enough["store"], enough["value"], strict=True)),
                [store for store in stores if store in few],
            )
        )
    return tails
