"""Open-loop cells: what their operations took."""

from __future__ import annotations

from kvstudy.analyse.findings import percentiles
from kvstudy.analyse.tidy.cell import INTENDED
from kvstudy.analyse.tidy.files import CELL, SETTING, Table
from kvstudy.analyse.tidy.open_loop import OpenLoop
from kvstudy.libraries import pd
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME

NUMBERS = ["load", *percentiles.NUMBERS]
TABLE = Table(
    "open_percentiles",
    [*SETTING, "load", "operation", "time", *percentiles.NUMBERS],
    NUMBERS,
    "analyse",
)


def make(run, made) -> pd.DataFrame:
    return latencies(run.open_loop)


def latencies(found: OpenLoop) -> pd.DataFrame:
    """Percentiles of all repetitions together, one row per percentage.

    Columns: store, workload, parameters (of the closed loop), load, operation,
    time (``service`` or ``intended``), and those of ``percentiles.percentiles``.
    The operation ``all`` is all of them together; read-modify-write is left out of
    it, for its reads and updates are there. Cells that did not reach their rate are
    among them.
    """
    histograms = found.histograms.merge(found.counted, on=CELL)
    together = _all_operations(histograms)
    table = percentiles.percentiles(pd.concat([histograms, together], ignore_index=True))
    targets = found.targets[[*SETTING, "closed", "load"]].drop_duplicates()
    table = table.merge(targets, on=SETTING)
    intended = table["operation"].str.startswith(INTENDED).astype(bool)
    table["time"] = intended.map({True: INTENDED_TIME, False: SERVICE_TIME})
    table["operation"] = table["operation"].str.removeprefix(INTENDED)
    table["parameters"] = table["closed"]
    return table[TABLE.columns]


def of_workload(rates: pd.DataFrame, latencies: pd.DataFrame, workload: str) -> pd.DataFrame:
    """Both tables as one, in their order: the rows of ``latencies`` with their rate's columns."""
    # Both count runs; they are the same ones.
    known = rates[rates["workload"] == workload].drop(columns="n")
    return known.merge(latencies, on=[*SETTING, "load"])


def _all_operations(histograms: pd.DataFrame) -> pd.DataFrame:
    """The histograms of each cell added up, service and intended apart."""
    single = ~histograms["operation"].str.contains("read-modify-write").astype(bool)
    intended = histograms["operation"].str.startswith(INTENDED).astype(bool)
    named = histograms.assign(operation=intended.map({True: f"{INTENDED}{ALL}", False: ALL}))
    groups = named[single].groupby([*CELL, "phase", "operation", "latency"], sort=False)
    return groups["count"].sum().reset_index()
