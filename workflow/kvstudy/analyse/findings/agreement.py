"""Do the server's own counters agree with YCSB's counts?

A probe tells how many commands of the server one operation takes. So the operations
of a cell predict what the server must have counted while they ran. Failed
operations may have reached the server or not: the prediction is a range, from the
operations that were OK to all of them. No probe deletes: a delete may or may not have
sent each of the commands once.
"""

from __future__ import annotations

from kvstudy.analyse.tidy.files import CELL, Table
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import GOOD
from kvstudy.study.model import Study
from kvstudy.study.workload import properties_of

NUMBERS = ["least", "most", "counted", "deviation"]
TABLE = Table("agreement", [*CELL, "counter", *NUMBERS, "reason"], NUMBERS, "analyse")
# Rarer commands (connecting, for one) are not worth a prediction.
LEAST_SHARE = 0.1
# A larger deviation is flagged.
TOLERATED = 0.01
STEPS = {"read": "read", "insert": "insert", "update": "update"}
MISSING = {"read": "read-missing", "update": "update-missing"}


def make(run, made) -> pd.DataFrame:
    return agreement(run.own_outcomes, run.probes, writing_all_fields(run.study))


def agreement(outcomes: pd.DataFrame, probes: Probes, all_fields: set[str]) -> pd.DataFrame:
    """One row per cell and counter that can be predicted.

    ``outcomes`` is ``outcomes.csv``; ``all_fields`` are the workloads whose updates
    write all fields. Columns: store, workload, parameters, repetition, counter (the
    server's name of it), least and most (predicted), counted, deviation (of counted
    from the range, as a share of its nearer end; 0 within). A cell that cannot be
    checked has one row with the ``reason`` and no numbers.
    """
    rows = []
    for key, of in outcomes.groupby(CELL, sort=False):
        store, workload, *_ = key
        why = _unchecked(store, of, probes)
        predicted = {} if why else _predicted(store, of, probes, workload in all_fields)
        if not why and not predicted:
            why = "no-command"
        if why:
            rows.append([*key, "", None, None, None, None, why])
        counted = of[of["kind"] == "counter"].set_index("name")["count"]
        for counter, (least, most) in predicted.items():
            count = counted.get(counter, 0.0)
            rows.append([*key, counter, least, most, count, _deviation(count, least, most), ""])
    return TABLE.frame(rows)


def writing_all_fields(study: Study) -> set[str]:
    """The study's workloads whose updates write all fields."""
    return {
        use.name
        for use in study.workloads
        if properties_of(study, use).get("writeallfields") == "true"
    }


def flagged(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``agreement`` in which server and YCSB disagree."""
    return table[table["deviation"].abs() > TOLERATED]


def _unchecked(store: str, of: pd.DataFrame, probes: Probes) -> str:
    """Why the cell cannot be checked; empty when it can."""
    by_kind = of.set_index("kind")["name"]
    if "none" in by_kind.index:
        return by_kind["none"]
    if probes.reason(store):
        return reason("no-probe", why=probes.reason(store))
    if probes.client(store) != by_kind["client"]:
        return reason("other-client", client=probes.client(store))
    if "scan" in set(of["operation"]):
        return "scan-length"
    return ""


def _predicted(
    store: str, of: pd.DataFrame, probes: Probes, all_fields: bool
) -> dict[str, tuple[float, float]]:
    """Least and most of each counter."""
    status = of[of["kind"] == "status"]
    statuses = status[status["operation"].isin(STEPS)]
    counters: dict[str, tuple[float, float]] = {}
    for row in statuses.itertuples():
        step = "update-all" if row.operation == "update" and all_fields else STEPS[row.operation]
        if row.name == "NOT_FOUND":
            step = MISSING.get(row.operation, step)
        for command, each in probes.commands(store, step).items():
            least, most = counters.get(command, (0.0, 0.0))
            certain = row.name in (*GOOD, "NOT_FOUND")
            counters[command] = (least + certain * each * row.count, most + each * row.count)
    unknown = status.loc[status["operation"] == "delete", "count"].sum()
    enough = LEAST_SHARE * statuses["count"].sum()
    return {
        command: (least, most + unknown)
        for command, (least, most) in sorted(counters.items())
        if most + unknown >= enough
    }


def _deviation(counted: float, least: float, most: float) -> float:
    if counted < least:
        return counted / least - 1
    return counted / most - 1 if counted > most else 0.0
