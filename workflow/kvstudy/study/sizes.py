"""The sizes of a study's cells as numbers."""

from __future__ import annotations

import math

from kvstudy.libraries import pd
from kvstudy.study.cells import by_combination
from kvstudy.study.model import Study

NUMBERS = ["records", "operations", "threads", "seconds"]
COLUMNS = ["workload", "parameters", *NUMBERS]


def sizes(study: Study, scale: float = 1.0) -> pd.DataFrame:
    """One row per workload and parameters, in the study's order.

    Columns: workload, parameters (their name in all files), records, operations (0 where
    there is no run phase), threads, seconds (NaN but for timed cells).
    """
    rows = []
    for use in study.workloads:
        # Cells that differ in nothing but the scale's floors have one name.
        cells = {cell.parameters: cell for cell in by_combination(study, use, scale).values()}
        of_workload = [
            [
                *(use.name, cell.parameters, cell.records, cell.operations, cell.threads),
                math.nan if cell.seconds is None else cell.seconds,
            ]
            for cell in cells.values()
        ]
        rows += sorted(of_workload, key=lambda row: row[2:])
    return pd.DataFrame(rows, columns=COLUMNS)
