"""Which cells of a plan are to be there before the run is parsed."""

from __future__ import annotations

from collections.abc import Set

from kvstudy.study.cells import Cell
from kvstudy.study.model import Study


def left_out(study: Study, cells: list[Cell], measured: Set[Cell], absent: Set[Cell]) -> set[Cell]:
    """Control cells that a run does without: its own cells are all there, and no control is.

    Such a run was finished without controls. Measured later, perhaps on another machine,
    they would say nothing of it. ``absent`` are cells that cannot be measured here.
    """
    own = {cell for cell in cells if cell.store in study.store_names}
    controls = set(cells) - own
    if own - measured - absent or not own & measured or controls & measured:
        return set()
    return controls
