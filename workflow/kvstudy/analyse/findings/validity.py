"""How many operations did what was asked, and how fast those came."""

from __future__ import annotations

from kvstudy.analyse.tidy.files import CELL, SETTING, Table
from kvstudy.analyse.tidy.summary import measured_phases
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import GOOD
from kvstudy.stats.intervals import error_rate

NUMBERS = [
    *["n", "invalid", "operations", "good", "failed", "missed", "share", "low", "high"],
    *["throughput", "goodput", "checked", "deviation"],
]
TABLE = Table("validity", [*SETTING, *NUMBERS, "kinds"], NUMBERS, "analyse")


def make(run, made) -> pd.DataFrame:
    own = run.measurements[run.measurements["store"].isin(run.study.store_names)]
    return validity(own, run.cells, run.own_outcomes, made["agreement"])


def validity(
    measurements: pd.DataFrame, cells: pd.DataFrame, outcomes: pd.DataFrame, agreement: pd.DataFrame
) -> pd.DataFrame:
    """One row per store, workload and parameters, over all measured cells, invalid ones too.

    Columns: n (cells), invalid (of them), operations, good, failed and missed (sums over
    the cells; missed is NaN where the server's misses are not known), share (of
    failed and missed operations) with its 95 % interval low to high, throughput and
    goodput (ops/s, plain means), checked (cells whose counts were compared with the
    server's), deviation (the largest of them, see ``agreement``; NaN without), kinds
    (``update: 12 ERROR; read: 3 NOT_FOUND``).
    """
    measured = cells[cells["status"] == "measured"]
    overall = _overall(measurements).join(measured.set_index(CELL)["invalid"], how="inner")
    kinds = outcomes[(outcomes["kind"] == "status") & ~outcomes["name"].isin(GOOD)]
    rows = []
    for key, runs in overall.groupby(SETTING, sort=False):
        operations, failed = int(runs["operations"].sum()), int(runs["failed"].sum())
        missed = runs["missed"].sum(min_count=1)
        several = runs["shared_time"].notna()
        seconds = (runs["operations"] / runs["throughput"]).where(several, runs["runtime"] / 1000)
        good = round((runs["goodput"] * seconds).sum())
        rate = error_rate(operations - good, operations)
        compared = _rows(agreement[agreement["reason"] == ""], key)
        numbers = [
            *[len(runs), (runs["invalid"] != "").sum(), operations, good, failed, missed],
            *[rate.value, rate.low, rate.high],
            *[runs["throughput"].mean(), runs["goodput"].mean()],
            compared["repetition"].nunique(),
            max(compared["deviation"], key=abs, default=None),
        ]
        rows.append([*key, *numbers, _listed(_rows(kinds, key))])
    return TABLE.frame(rows)


METRICS = ["runtime", "throughput", "goodput", "operations", "failed", "missed", "shared_time"]


def _overall(measurements: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: what its measured phase says over all operations."""
    phases = measurements["workload"].map(measured_phases(measurements))
    rows = measurements[
        (measurements["phase"] == phases) & (measurements["operation"] == "overall")
    ]
    rows = rows[rows["metric"].isin(METRICS)]
    wide = rows.set_index([*CELL, "metric"])["value"].unstack("metric", sort=False)
    return wide.reindex(columns=METRICS)


def _rows(frame: pd.DataFrame, key: tuple[str, ...]) -> pd.DataFrame:
    return frame[(frame[SETTING] == list(key)).all(axis=1)]


def _listed(kinds: pd.DataFrame) -> str:
    """``update: 12 ERROR, 3 NOT_FOUND``, the operations separated by semicolons."""
    counts = kinds.groupby(["operation", "name"], sort=False)["count"].sum()
    parts: dict[str, list[str]] = {}
    for (operation, name), count in counts.items():
        parts.setdefault(operation, []).append(f"{count:.0f} {name}")
    return "; ".join(f"{operation}: {', '.join(each)}" for operation, each in parts.items())
