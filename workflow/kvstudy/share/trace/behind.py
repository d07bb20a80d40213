"""Which cells and probes a table or a figure is made of."""

from __future__ import annotations

from dataclasses import dataclass

from kvstudy.study.cells import Cell
from kvstudy.study.controls import AGAIN, controls, noise_store
from kvstudy.study.kinds import Part
from kvstudy.study.model import Study


@dataclass(frozen=True)
class Behind:
    """Paths of the cells that go into something, and stores whose probe does.

    Planned ones: whether a cell counts, its status tells.
    """

    cells: list[str]
    probes: list[str]


def behind(part: Part, study: Study, planned: list[Cell], shown: dict[str, str]) -> Behind:
    """What a table or figure of ``study`` is made of; ``shown`` as in ``study.cells.shown``."""
    probes = study.store_names if part.probes and not study.imported else []
    stores = part.stores_of(study) + _controls(part, study)
    workloads = part.workloads_of(study)
    cells = [
        cell
        for cell in planned
        if cell.store in stores
        and cell.workload in workloads
        and _is_of_sizes(part, cell, shown[cell.workload])
    ]
    if part.one_cell:
        cells.sort(key=lambda cell: (cell.parameters != shown[cell.workload], cell.path))
    return Behind([cell.path for cell in cells], probes)


def claims_behind(study: Study, planned: list[Cell]) -> Behind:
    """What the verdicts on the source's claims are made of."""
    cells = [cell.path for cell in planned if cell.load is None]
    return Behind(cells, [] if study.imported else study.store_names)


def _is_of_sizes(part: Part, cell: Cell, one: str) -> bool:
    if part.cells == "open loop":
        # With the cells that the rates come from.
        return one in (cell.closed, cell.parameters)
    if part.cells in ("all", "none"):
        return part.cells == "all"
    return cell.load is None and (part.cells == "every size" or cell.parameters == one)


def _controls(part: Part, study: Study) -> list[str]:
    if part.controls == "all":
        return [use.name for use in controls(study)]
    if part.controls == "noise floor" and (noise := noise_store(study)):
        return [noise, f"{noise}{AGAIN}"]
    return []
