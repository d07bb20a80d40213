"""Open-loop cells: which rate each reached, and what its operations took."""

from __future__ import annotations

from statistics import geometric_mean
from typing import TYPE_CHECKING

from kvstudy.analyse.findings import percentiles
from kvstudy.analyse.tidy.files import CELL
from kvstudy.analyse.tidy.series import INTENDED
from kvstudy.libraries import pd
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME

if TYPE_CHECKING:
    from kvstudy.analyse.tidy.open_loop import OpenLoop

# Below this share of the rate that was asked for, the store or the client was overloaded.
REACHED = 0.99
# With fewer whole seconds of sending, a run's achieved rate is that of its whole run
# time, and connecting and closing take a part of that.
FEWEST_SECONDS = 3

RATE_NUMBERS = [
    *["load", "n", "reached", "target", "target_low", "target_high", "achieved"],
    *["share_low", "share_high", "short"],
]
RATE_COLUMNS = ["store", "workload", "parameters", *RATE_NUMBERS, "note"]
PERCENTILE_NUMBERS = ["load", "percent", "value", "low", "high", "n", "beyond"]
PERCENTILE_COLUMNS = [
    *["store", "workload", "parameters", "load", "operation", "time"],
    *PERCENTILE_NUMBERS[1:],
]


def rates(found: OpenLoop) -> pd.DataFrame:
    """One row per store, workload, parameters (of the closed loop) and load.

    Columns: n cells that count; reached, how many of them had at least 99 % of
    their rate; target and achieved (ops/s, geometric means), target_low and
    target_high; share_low and share_high (the cells' achieved by target); short, how
    many cells were too short to leave out connecting and closing; note.
    """
    chosen = found.measurements.merge(_counted(found.cells), on=CELL)
    chosen = chosen[(chosen["phase"] == "run") & (chosen["operation"] == "overall")]
    whole = chosen[chosen["metric"] == "throughput"]
    table = found.targets.merge(whole[[*CELL, "value"]], on=CELL)
    table = table.merge(_while_sending(found.series), on=CELL, how="left")
    table["short"] = table["sending"].isna()
    table["throughput"] = table["sending"].fillna(table["value"])
    rows = []
    for key, group in table.groupby(["store", "workload", "closed", "load"], sort=False):
        target, achieved = group["target"], group["throughput"]
        share = achieved / target
        rows.append(
            [
                *key,
                len(group),
                int((share >= REACHED).sum()),
                geometric_mean(target),
                target.min(),
                target.max(),
                geometric_mean(achieved),
                share.min(),
                share.max(),
                int(group["short"].sum()),
                "; ".join(dict.fromkeys(note for note in group["note"] if note)),
            ]
        )
    return pd.DataFrame(rows, columns=RATE_COLUMNS)


def _while_sending(series: pd.DataFrame) -> pd.DataFrame:
    """Operations per second of each cell, over the whole seconds in which it was sending.

    The first second with operations is a part of one; the last that it finished in is
    not in ``series``.
    """
    rows = []
    for key, seconds in series.groupby(CELL, sort=False):
        values = seconds.sort_values("second")["throughput"].astype(float).tolist()
        started = next((place for place, value in enumerate(values) if value), len(values))
        sending = values[started + 1 :]
        if len(sending) >= FEWEST_SECONDS:
            rows.append([*key, sum(sending) / len(sending)])
    return pd.DataFrame(rows, columns=[*CELL, "sending"]).astype({"sending": float})


def latencies(found: OpenLoop) -> pd.DataFrame:
    """Percentiles of all repetitions together, one row per percentage.

    Columns: store, workload, parameters (of the closed loop), load, operation,
    time (``service`` or ``intended``), and those of ``percentiles.percentiles``.
    The operation ``all`` is all of them together; read-modify-write is left out of
    it, for its reads and updates are there. Cells that did not reach their rate are
    among them.
    """
    histograms = found.histograms.merge(_counted(found.cells), on=CELL)
    together = _all_operations(histograms)
    table = percentiles.percentiles(pd.concat([histograms, together], ignore_index=True))
    keys = ["store", "workload", "parameters"]
    table = table.merge(found.targets[[*keys, "closed", "load"]].drop_duplicates(), on=keys)
    intended = table["operation"].str.startswith(INTENDED).astype(bool)
    table["time"] = intended.map({True: INTENDED_TIME, False: SERVICE_TIME})
    table["operation"] = table["operation"].str.removeprefix(INTENDED)
    table["parameters"] = table["closed"]
    return table[PERCENTILE_COLUMNS]


def of_workload(rates: pd.DataFrame, latencies: pd.DataFrame, workload: str) -> pd.DataFrame:
    """Both tables as one, in their order: the rows of ``latencies`` with their rate's columns."""
    keys = ["store", "workload", "parameters", "load"]
    # Both count runs; they are the same ones.
    known = rates[rates["workload"] == workload].drop(columns="n")
    return known.merge(latencies, on=keys)


def _all_operations(histograms: pd.DataFrame) -> pd.DataFrame:
    """The histograms of each cell added up, service and intended apart."""
    single = ~histograms["operation"].str.contains("read-modify-write").astype(bool)
    intended = histograms["operation"].str.startswith(INTENDED).astype(bool)
    named = histograms.assign(operation=intended.map({True: f"{INTENDED}{ALL}", False: ALL}))
    groups = named[single].groupby([*CELL, "phase", "operation", "latency"], sort=False)
    return groups["count"].sum().reset_index()


def _counted(cells: pd.DataFrame) -> pd.DataFrame:
    return cells.loc[(cells["status"] == "measured") & (cells["void"] == ""), CELL]
