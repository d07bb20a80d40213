"""The steady state of each run, and the drift of the machine over the runs."""

from __future__ import annotations

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.tidy.files import CELL, SETTING, grouped
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.libraries import pd
from kvstudy.stats.over_time import drift, residuals, warm_up

STEADINESS = AnalysisTable(
    "steadiness",
    [*CELL, "seconds", "cut", "verdict", "variation", "whole", "steady"],
    ["seconds", "cut", "variation", "whole", "steady"],
    # A second of rounds is of inserts, of reads or of deletes.
    make=lambda run, tables: steadiness(
        run.series[~run.series["workload"].isin(run.rounds["workload"])].merge(run.counted, on=CELL)
    ),
)
NUMBERS = ["position", "sequence", "throughput", "residual"]
ORDER = AnalysisTable(
    "order", [*CELL, *NUMBERS], NUMBERS, make=lambda run, tables: order(run.values, run.cells)
)


def steadiness(series: pd.DataFrame) -> pd.DataFrame:
    """One row per cell, from its one-second values (``series.csv``).

    Columns: seconds (whole ones of the measured phase), cut (s of warm-up, MSER-5), verdict,
    variation (coefficient of the seconds after the cut), whole and steady (mean of the seconds'
    ops/s, all of them and those after the cut).
    """
    rows = []
    for key, run in grouped(series, CELL, "second", ["throughput"]):
        values = run["throughput"]
        warmup = warm_up(values)
        steady = values[warmup.cut :].mean()
        verdict = [warmup.cut, str(warmup.verdict), warmup.variation]
        rows.append([*key, len(values), *verdict, values.mean(), steady])
    return STEADINESS.frame(rows)


def order(values: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """One row per measured cell that counts, in the order in which they were measured.

    Columns: position (as planned, from 1), sequence (as measured, from 1; a cell that was
    measured again comes later than its position), throughput (ops/s), residual (ln of throughput
    less the mean over the cell's repetitions; NaN for a cell with one).
    """
    chosen = throughputs(values)[[*CELL, "value"]].rename(columns={"value": "throughput"})
    # Imported logs may not show when they were measured: they have no place in the order.
    table = cells.merge(chosen, on=CELL)
    table = table[table["started"] != ""].sort_values("started", kind="stable")
    table["sequence"] = range(1, len(table) + 1)
    # And nobody planned them.
    planned = pd.to_numeric(table["position"], errors="coerce")
    table["position"] = planned.fillna(table["sequence"]).astype(int)
    table["residual"] = residuals(table["throughput"], _names(table)) if len(table) else []
    return table[ORDER.columns].reset_index(drop=True)


def drift_of(table: pd.DataFrame) -> dict[str, float | int | str | None]:
    """The drift test over the runs in ``order``: rho, p, n; ``reason`` says why there is none."""
    usable = table.dropna(subset="residual")
    n, reason = len(usable), ""
    if n < 3:
        reason = "few-repeated" if len(table) else "no-times"
    result = None if reason else drift(usable["residual"], _names(usable), usable["sequence"])
    rho, p = result or (None, None)
    return {"rho": rho, "p": p, "n": n, "reason": reason}


def out_of_order(table: pd.DataFrame, blocks: bool = False) -> pd.DataFrame:
    """Rows of ``order`` that were measured later than planned (measured again, alone).

    A cell is out of order when a cell with a larger position was measured before it; with
    ``blocks`` one of its own repetition, since a cluster measures them in any order, or at once.
    """
    within = table.groupby("repetition") if blocks else table
    return table[table["position"] < within["position"].cummax()]


def _names(table: pd.DataFrame) -> list[str]:
    """Return the columns that identify cells apart from their repetition."""
    return table[SETTING].agg("/".join, axis=1).tolist()
