"""In which order the cells were measured, and whether the machine drifted."""

from __future__ import annotations

import pandas as pd

from kvstudy.stats.drift import drift, residuals
from kvstudy.tidy.summary import CELL

NUMBERS = ["position", "sequence", "residual"]
COLUMNS = [*CELL, *NUMBERS]


def order(values: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """One row per measured cell that counts, in the order in which they were measured.

    Columns: store, workload, parameters, repetition, position (as planned, from
    1), sequence (as measured, from 1; a cell that was measured again comes
    later than its position), residual (ln of throughput less the mean over the
    cell's repetitions; NaN for a cell with one).
    """
    chosen = values[(values["operation"] == "overall") & (values["metric"] == "throughput")]
    table = cells.merge(chosen[[*CELL, "value"]], on=CELL).sort_values("started", kind="stable")
    table["position"] = table["position"].astype(int)
    table["sequence"] = range(1, len(table) + 1)
    if len(table):
        names = table[["store", "workload", "parameters"]].agg("/".join, axis=1)
        table["residual"] = residuals(table["value"].tolist(), names.tolist())
    else:
        table["residual"] = []
    return table[COLUMNS].reset_index(drop=True)


def drift_of(values: pd.DataFrame, cells: pd.DataFrame) -> dict[str, float | int | str | None]:
    """The drift test over all runs: rho, p, n; ``reason`` says why there is none."""
    table = order(values, cells)
    usable = table.dropna(subset="residual")
    chosen = values[(values["operation"] == "overall") & (values["metric"] == "throughput")]
    usable = usable.merge(chosen[[*CELL, "value"]], on=CELL)
    if len(usable) < 3:
        return {"rho": None, "p": None, "n": len(usable), "reason": "too few repeated cells"}
    names = usable[["store", "workload", "parameters"]].agg("/".join, axis=1)
    found = drift(usable["value"].tolist(), names.tolist(), usable["sequence"].tolist())
    return {"rho": found.rho, "p": found.p, "n": found.n, "reason": ""}


def out_of_order(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of ``order`` that were measured later than planned (measured again, alone).

    A cell is out of order when a cell with a larger position was measured before it.
    """
    latest = table["position"].cummax()
    return table[table["position"] < latest]
