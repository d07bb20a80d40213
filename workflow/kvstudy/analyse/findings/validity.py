"""Successful operations, goodput, and agreement with the server's counters.

A probe shows how many commands of the server one operation takes. So the operations
of a cell predict what the server must have counted while they ran. Failed
operations may have reached the server or not: the prediction is a range, from the
operations that were OK to all of them. No probe deletes: a delete may or may not have
sent each of the commands once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.findings.spread import level_of
from kvstudy.analyse.tidy.files import CELL, OUTCOMES, SETTING
from kvstudy.analyse.tidy.probes import ONE_FIELD, Probes, updates_of
from kvstudy.analyse.tidy.summary import measured_phases
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import GOOD
from kvstudy.stats.intervals import LEVEL, error_rate
from kvstudy.study.probe import other_records

AGREEMENT_NUMBERS = ["least", "most", "counted", "deviation"]
AGREEMENT = AnalysisTable(
    "agreement",
    [*CELL, "counter", *AGREEMENT_NUMBERS, "reason"],
    AGREEMENT_NUMBERS,
    make=lambda run, tables: agreement(
        *(run.own_outcomes, run.probes),
        {name for name, what in updates_of(run.study).items() if what == ONE_FIELD},
        other_records(run.study),
    ),
)
NUMBERS = [
    *["n", "invalid", "operations", "good", "failed", "missed", "share", "low", "high"],
    *["throughput", "goodput", "checked", "deviation"],
]
VALIDITY = AnalysisTable(
    "validity",
    [*SETTING, *NUMBERS, "kinds"],
    NUMBERS,
    make=lambda run, tables: validity(
        run.measurements[run.measurements["store"].isin(run.study.store_names)],
        run.cells,
        run.own_outcomes,
        tables["agreement"],
        level_of(run.study),
    ),
)
METRICS = ["runtime", "throughput", "goodput", "operations", "failed", "missed", "shared_time"]
# Rarer commands (connecting, for one) are not worth a prediction.
LEAST_SHARE = 0.1
# A larger deviation is flagged.
TOLERATED = 0.01
PROBED = ["read", "insert", "update"]
MISSING = {"read": "read-missing", "update": "update-missing"}


class Outcome(NamedTuple):
    """A row of ``outcomes.csv``, without its cell."""

    kind: str
    operation: str
    name: str
    number: float


def agreement(
    outcomes: pd.DataFrame,
    probes: Probes,
    one_field: set[str],
    unlike: Collection[tuple[str, str]] = (),
) -> pd.DataFrame:
    """One row per cell and counter that can be predicted.

    ``outcomes`` is ``outcomes.csv``; ``one_field`` are the workloads whose updates write one
    field, ``unlike`` are stores and workloads with other records than the probe. Columns: counter
    (the server's name of it), least and most (predicted), counted, deviation (of counted from the
    range, as a share of its nearer end; 0 within).
    A cell that cannot be checked has one row with the ``reason`` and no numbers.
    """
    cells: dict[tuple, list[Outcome]] = defaultdict(list)
    for *key, kind, operation, name, number in outcomes[OUTCOMES.columns].itertuples(False, None):
        cells[tuple(key)].append(Outcome(kind, operation, name, number))
    rows = []
    for key, of in cells.items():
        store, workload, *_ = key
        why = _unchecked(store, of, probes)
        if (store, workload) in unlike:
            why = why or "other-records"
        predicted = {} if why else _predicted(store, of, probes, workload in one_field)
        if not predicted:
            rows.append([*key, "", *[None] * len(AGREEMENT_NUMBERS), why or "no-command"])
        counted = {each.name: each.number for each in of if each.kind == "counter"}
        for counter, (least, most) in predicted.items():
            count = counted.get(counter, 0.0)
            rows.append([*key, counter, least, most, count, _deviation(count, least, most), ""])
    return AGREEMENT.frame(rows)


def flagged(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``agreement`` in which server and YCSB disagree."""
    return table[table["deviation"].abs() > TOLERATED]


def validity(
    measurements: pd.DataFrame,
    cells: pd.DataFrame,
    outcomes: pd.DataFrame,
    agreement: pd.DataFrame,
    level: float = LEVEL,
) -> pd.DataFrame:
    """One row per store, workload and parameters, over all measured cells, invalid ones too.

    Columns: n (cells), invalid (of them), operations, good, failed and missed (sums over
    the cells; missed is NaN where the server's misses are not known), share (of
    failed and missed operations) with its interval low to high, throughput and
    goodput (ops/s, all and good operations by the time of all cells), checked (cells whose counts
    were compared with the server's), deviation (the largest of them, see ``agreement``; NaN
    without), kinds (``update: 12 ERROR; read: 3 NOT_FOUND``).
    """
    measured = cells[cells["status"] == "measured"]
    overall = _overall(measurements).join(measured.set_index(CELL)["invalid"], how="inner")
    kinds = outcomes[(outcomes["kind"] == "status") & ~outcomes["name"].isin(GOOD)]
    listed = {key: _listed(ends) for key, ends in kinds.groupby(SETTING)}
    compared = dict(list(agreement[agreement["reason"] == ""].groupby(SETTING)))
    rows = []
    for key, runs in overall.groupby(SETTING, sort=False):
        operations, failed = int(runs["operations"].sum()), int(runs["failed"].sum())
        missed = runs["missed"].sum(min_count=1)
        several = runs["shared_time"].notna()
        seconds = (runs["operations"] / runs["throughput"]).where(several, runs["runtime"] / 1000)
        good = round((runs["goodput"] * seconds).sum())
        rate = error_rate(operations - good, operations, level)
        counters = compared.get(key, agreement.head(0))
        numbers = [
            *[len(runs), (runs["invalid"] != "").sum(), operations, good, failed, missed],
            *[rate.value, rate.low, rate.high],
            *(count / seconds.sum() for count in (operations, good)),
            counters["repetition"].nunique(),
            max(counters["deviation"], key=abs, default=None),
        ]
        rows.append([*key, *numbers, listed.get(key, "")])
    return VALIDITY.frame(rows)


def _unchecked(store: str, of: Collection[Outcome], probes: Probes) -> str:
    """Return why the cell cannot be checked; empty if it can."""
    by_kind = {each.kind: each.name for each in of}
    if "none" in by_kind:
        return by_kind["none"]
    if probes.reason(store):
        return reason("no-probe", why=probes.reason(store))
    if probes.client(store) != by_kind["client"]:
        return reason("other-client", client=probes.client(store))
    if any(each.operation == "scan" for each in of):
        return "scan-length"
    return ""


def _predicted(
    store: str, of: Collection[Outcome], probes: Probes, one_field: bool
) -> dict[str, tuple[float, float]]:
    """Least and most of each counter."""
    statuses = [each for each in of if each.kind == "status" and each.operation in PROBED]
    counters: dict[str, tuple[float, float]] = {}
    for row in statuses:
        step = row.operation
        if row.name == "NOT_FOUND":
            step = MISSING.get(step, step)
        elif step == "update" and not one_field:
            step = "update-all"
        for command, each in probes.commands(store, step).items():
            least, most = counters.get(command, (0.0, 0.0))
            certain = row.name in (*GOOD, "NOT_FOUND")
            counters[command] = (least + certain * each * row.number, most + each * row.number)
    unknown = sum(each.number for each in of if (each.kind, each.operation) == ("status", "delete"))
    enough = LEAST_SHARE * sum(row.number for row in statuses)
    return {
        command: (least, most + unknown)
        for command, (least, most) in sorted(counters.items())
        if most + unknown >= enough
    }


def _deviation(counted: float, least: float, most: float) -> float:
    if counted < least:
        return counted / least - 1
    return counted / most - 1 if counted > most else 0.0


def _overall(measurements: pd.DataFrame) -> pd.DataFrame:
    """One row per cell: what its measured phase says over all operations."""
    phases = measurements["workload"].map(measured_phases(measurements))
    rows = measurements[
        (measurements["phase"] == phases) & (measurements["operation"] == "overall")
    ]
    rows = rows[rows["metric"].isin(METRICS)]
    wide = rows.set_index([*CELL, "metric"])["value"].unstack("metric", sort=False)
    return wide.reindex(columns=METRICS)


def _listed(kinds: pd.DataFrame) -> str:
    """``update: 12 ERROR, 3 NOT_FOUND``, the operations separated by semicolons."""
    counts = kinds.groupby(["operation", "name"], sort=False)["count"].sum()
    return "; ".join(
        f"{operation}: " + ", ".join(f"{count:.0f} {name}" for (_, name), count in of.items())
        for operation, of in counts.groupby(level="operation", sort=False)
    )
