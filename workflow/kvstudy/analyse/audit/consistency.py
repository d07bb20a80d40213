"""Whether the numbers of a source's tables can be true together."""

from __future__ import annotations

import pandas as pd

from kvstudy.analyse.audit.across_cells import by_threads, means, mixture
from kvstudy.analyse.audit.check import Check
from kvstudy.analyse.audit.of_cell import combined, counts_of, failed, little, order, runtime, steps
from kvstudy.analyse.audit.source_cell import Cell, Shares
from kvstudy.analyse.audit.values import CELL
from kvstudy.study.quotes import Setting, StatedFailures


def consistency(
    values: pd.DataFrame, setting: Setting, failures: list[StatedFailures], shares: Shares
) -> list[Check]:
    """The checks of the tables with the ``values`` (``values.read_values``).

    ``shares`` are those of the operations (0 to 1) of each workload.
    """
    cells = [Cell.of(rows) for _, rows in values.groupby(CELL, sort=False, dropna=False)]
    found: list[Check] = []
    for cell in cells:
        found += little(cell, setting)
        found += runtime(cell, setting)
        found += combined(cell)
        found += counts_of(cell, setting)
        found += failed(cell, failures, setting, shares)
        found += steps(cell, setting)
        found += order(cell)
    found += means(values)
    found += mixture(cells, setting, shares)
    found += by_threads(values)
    return found
