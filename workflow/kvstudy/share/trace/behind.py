"""Which cells and probes a table or a figure is made of."""

from __future__ import annotations

from dataclasses import dataclass

from kvstudy.study.cells import Cell
from kvstudy.study.controls import AGAIN, controls, noise_store
from kvstudy.study.curves import Curves, ScalingTable, SweepTable
from kvstudy.study.figure_kinds import (
    DrawnFigure,
    OpenLoopFigure,
    RatioPlot,
    RunOrder,
    Transcript,
)
from kvstudy.study.grids import Averages, Heatmap
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.properties import PropertiesTable
from kvstudy.study.ranking import RankingTable
from kvstudy.study.relative import ROUNDS_FIGURES, ROUNDS_TABLES
from kvstudy.study.source_parts import AgainstTable, AuditedTable, AuditTable, Slopes
from kvstudy.study.table_kinds import (
    BottleneckTable,
    ComparisonTable,
    MachineTable,
    OpenLoopTable,
    OperationsTable,
    RatiosTable,
    Table,
    ValidityTable,
)

# Of what the stores are or the source says; nothing measured is in them.
WITHOUT_CELLS = (PropertiesTable, AuditTable, AuditedTable, OperationsTable)
EVERY_SIZE = (
    *(SweepTable, ScalingTable, Curves, Heatmap, Averages, RunOrder, MachineTable, Transcript),
    *ROUNDS_TABLES,
    *ROUNDS_FIGURES,
)
# Two measurements of one store tell what chance makes.
WITH_NOISE_FLOOR = (RatiosTable, RatioPlot, ComparisonTable, RankingTable, AgainstTable, Slopes)
# What the client could do at most; ratios and places name stores that it limits.
WITH_ALL_CONTROLS = (BottleneckTable, RatiosTable, RankingTable, RunOrder, MachineTable)
WITH_PROBES = (OperationsTable, ValidityTable)
OPEN_LOOP = (OpenLoopTable, OpenLoopFigure)


@dataclass(frozen=True)
class Behind:
    """Paths of the cells that go into something, and stores whose probe does.

    Planned ones: whether a cell counts, its status tells.
    """

    cells: list[str]
    probes: list[str]


def behind(
    part: Table | OpenLoopTable | DrawnFigure | Transcript,
    study: Study,
    planned: list[Cell],
    shown: dict[str, str],
) -> Behind:
    """What a table or figure of ``study`` is made of; ``shown`` as in ``study.cells.shown``."""
    probes = study.store_names if isinstance(part, WITH_PROBES) and not study.imported else []
    if isinstance(part, WITHOUT_CELLS):
        return Behind([], probes)
    stores, workloads = _stores(part, study), _workloads(part, study)
    cells = [
        cell
        for cell in planned
        if cell.store in stores
        and cell.workload in workloads
        and _is_of_sizes(part, cell, shown[cell.workload])
    ]
    if isinstance(part, Transcript):
        # Of the first of these that was measured.
        cells.sort(key=lambda cell: (cell.parameters != shown[cell.workload], cell.path))
    return Behind([cell.path for cell in cells], probes)


def claims_behind(study: Study, planned: list[Cell]) -> Behind:
    """What the verdicts on the source's claims are made of."""
    cells = [cell.path for cell in planned if cell.load is None]
    return Behind(cells, [] if study.imported else study.store_names)


def _is_of_sizes(part, cell: Cell, one: str) -> bool:
    if isinstance(part, OPEN_LOOP):
        # With the cells that the rates come from.
        return one in (cell.closed, cell.parameters)
    if isinstance(part, MachineTable):
        return True
    if cell.load is not None:
        return False
    return isinstance(part, EVERY_SIZE) or cell.parameters == one


def _workloads(part, study: Study) -> list[str]:
    if isinstance(part, RankingTable):
        named = [line.workload for line in part.lines]
    elif hasattr(part, "workload"):
        named = [part.workload]
    else:
        named = getattr(part, "workloads", None) or [MEAN]
    return study.workload_names if MEAN in named else named


def _stores(part, study: Study) -> list[str]:
    """The stores of the study that the part is of, and the controls that it needs."""
    if isinstance(part, (ComparisonTable, *ROUNDS_TABLES, *ROUNDS_FIGURES)):
        keys = ("baseline", "store", "database", "cache")
        stores = [getattr(part, key) for key in keys if hasattr(part, key)]
    elif isinstance(part, Transcript):
        stores = [part.store]
    else:
        stores = getattr(part, "stores", None) or study.store_names
    found = list(stores)
    if isinstance(part, WITH_ALL_CONTROLS):
        found += [use.name for use in controls(study)]
    if isinstance(part, WITH_NOISE_FLOOR) and (noise := noise_store(study)):
        found += [noise, f"{noise}{AGAIN}"]
    return list(dict.fromkeys(found))
