"""What the section of a workload speaks about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.published import read_published
from kvstudy.analyse.tidy.shown import published_only
from kvstudy.present.report.cell_facts import Gap, Row, StoreFacts, gaps_of, titles_of
from kvstudy.present.report.cell_names import CellNames
from kvstudy.present.report.rank import Agreement, Apart, Rank, agreement, apart, compared, ranking
from kvstudy.present.report.tails import Tail, tails
from kvstudy.study.cells import Cell
from kvstudy.study.figure_kinds import Bars
from kvstudy.study.model import Study
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.table_kinds import WorkloadTable
from kvstudy.study.workload import PROPORTIONS, load_only, operations_of


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
    tables: tuple[WorkloadTable, ...]
    figures: tuple[Bars, ...]
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


SUMMARY = ["store", "workload", "parameters", "operation", "metric", "n", "mean", "min", "max"]


def published_rows(path: Path, study: Study) -> tuple[Row, ...]:
    """The published values of the sizes that are shown."""
    frame = published_only(read_published(path), study).dropna(subset="value")
    names = ["store", "workload", "operation", "metric", "value"]
    return tuple(frame[names].astype(str).to_dict("records"))


def workload_facts(
    use: WorkloadUse,
    properties: dict[str, str],
    study: Study,
    plan: tuple[Cell, ...],
    cells: tuple[Row, ...],
    summary: tuple[Row, ...],
    published: tuple[Row, ...],
    stores: tuple[StoreFacts, ...],
    analysis: Analysis,
    shown: str,
) -> WorkloadFacts:
    """All that the section of the workload ``use`` says; values are of the ``shown`` parameters."""
    mine = [row for row in summary if row["workload"] == use.name]
    operation = "+".join(operations_of(properties))
    first = {cell.parameters: cell for cell in reversed(plan) if cell.workload == use.name}
    theirs = [row for row in published if row["workload"] == use.name]
    theirs = [row | {"mean": row["value"]} for row in theirs]
    order = ranking(theirs, "overall", "throughput", study.store_names, falling=True)
    rows = [row for row in mine if row["parameters"] == shown]
    of_cell = "workload == @use.name and parameters == @shown"
    pairs = analysis.pairs.query(of_cell)
    bound = analysis.bottleneck.query(of_cell).query("client_bound == 'yes'")
    agreed = agreement(order, pairs)
    speeds = ranking(rows, "overall", "throughput", study.store_names, falling=True)
    result = ResultFacts(
        cell=first[shown],
        throughput=compared(speeds, pairs),
        mean=ranking(rows, operation, "latency_mean", study.store_names, falling=False),
        apart=apart(speeds, pairs),
        tails=tails(analysis.percentiles.query(of_cell), study.store_names),
        client_bound=list(zip(bound["store"], bound["reason"], strict=True)),
        agreement=agreed if agreed.pairs else None,
    )
    return WorkloadFacts(
        use=use,
        properties=properties,
        tables=tuple(
            table
            for table in study.tables
            if isinstance(table, WorkloadTable) and table.workload == use.name
        ),
        figures=tuple(
            figure
            for figure in study.figures
            if isinstance(figure, Bars) and figure.workloads == [use.name]
        ),
        result=result,
        sizes=tuple(first.values()),
        published=order,
        gaps=gaps_of(
            [row for row in cells if row["workload"] == use.name],
            CellNames.of(study, plan),
            titles_of(stores),
        ),
    )
