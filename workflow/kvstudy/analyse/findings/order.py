"""In which order the cells were measured, and whether the machine drifted."""

from __future__ import annotations

from kvstudy.analyse.tidy.files import CELL, SETTING, Table
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.libraries import pd
from kvstudy.stats.over_time import drift, residuals

NUMBERS = ["position", "sequence", "throughput", "residual"]
TABLE = Table("order", [*CELL, *NUMBERS], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    return order(run.values, run.cells)


def order(values: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """One row per measured cell that counts, in the order in which they were measured.

    Columns: store, workload, parameters, repetition, position (as planned, from
    1), sequence (as measured, from 1; a cell that was measured again comes
    later than its position), throughput (ops/s), residual (ln of throughput less
    the mean over the cell's repetitions; NaN for a cell with one).
    """
    chosen = throughputs(values)[[*CELL, "value"]].rename(columns={"value": "throughput"})
    # Imported logs may not tell when they were measured: they have no place in the order.
    table = cells.merge(chosen, on=CELL)
    table = table[table["started"] != ""].sort_values("started", kind="stable")
    table["sequence"] = range(1, len(table) + 1)
    # And nobody planned them.
    planned = pd.to_numeric(table["position"], errors="coerce")
    table["position"] = planned.fillna(table["sequence"]).astype(int)
    table["residual"] = residuals(table["throughput"].tolist(), _names(table)) if len(table) else []
    return table[TABLE.columns].reset_index(drop=True)


def drift_of(table: pd.DataFrame) -> dict[str, float | int | str | None]:
    """The drift test over the runs in ``order``: rho, p, n; ``reason`` says why there is none."""
    usable = table.dropna(subset="residual")
    if len(usable) < 3:
        why = "few-repeated" if len(table) else "no-times"
        return {"rho": None, "p": None, "n": len(usable), "reason": why}
    found = drift(usable["throughput"].tolist(), _names(usable), usable["sequence"].tolist())
    return {"rho": found.rho, "p": found.p, "n": found.n, "reason": ""}


def out_of_order(table: pd.DataFrame, blocks: bool = False) -> pd.DataFrame:
    """Rows of ``order`` that were measured later than planned (measured again, alone).

    A cell is out of order when a cell with a larger position was measured before it; with
    ``blocks`` one of its own repetition, since a cluster measures them in any order, or at once.
    """
    within = table.groupby("repetition") if blocks else table
    return table[table["position"] < within["position"].cummax()]


def _names(table: pd.DataFrame) -> list[str]:
    """What tells cells apart but for their repetition."""
    return table[SETTING].agg("/".join, axis=1).tolist()
