"""Open-loop cells: which rate each reached, and what their operations took."""

from __future__ import annotations

from collections import defaultdict

from kvstudy.analyse.findings import AnalysisTable, repetitions
from kvstudy.analyse.tidy.cell import INTENDED
from kvstudy.analyse.tidy.files import CELL, SETTING, grouped
from kvstudy.analyse.tidy.histograms import Histogram, read_histograms
from kvstudy.analyse.tidy.open_loop import OpenLoopTables
from kvstudy.libraries import np, pd
from kvstudy.stats.intervals import geometric_mean
from kvstudy.stats.percentiles import summed
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME

# Below this share of the rate that was asked for, the store or the client was overloaded.
REACHED = 0.99
# With fewer whole seconds of sending, a run's achieved rate is that of its whole run
# time, and connecting and closing take a part of that.
FEWEST_SECONDS = 3

NUMBERS = [
    *["load", "n", "reached", "target", "target_low", "target_high", "achieved"],
    *["share_low", "share_high", "short"],
]
RATES = AnalysisTable(
    "open_rates",
    [*SETTING, *NUMBERS, "note"],
    NUMBERS,
    make=lambda run, tables: rates(run.open_loop),
)
LATENCIES = AnalysisTable(
    "open_percentiles",
    [*SETTING, "load", "operation", "time", *repetitions.PERCENT_NUMBERS],
    ["load", *repetitions.PERCENT_NUMBERS],
    make=lambda run, tables: latencies(run.open_loop),
)


def rates(closed_tables: OpenLoopTables) -> pd.DataFrame:
    """One row per store, workload, parameters (of the closed loop) and load.

    Columns: n cells that count; reached, how many of them had at least 99 % of
    their rate; target and achieved (ops/s, geometric means), target_low and
    target_high; share_low and share_high (the cells' achieved by target); short, how
    many cells were too short to leave out connecting and closing; note.
    """
    chosen = closed_tables.measurements.merge(closed_tables.counted, on=CELL)
    chosen = chosen[(chosen["phase"] == "run") & (chosen["operation"] == "overall")]
    whole = chosen[chosen["metric"] == "throughput"]
    table = closed_tables.targets.merge(whole[[*CELL, "value"]], on=CELL)
    table = table.merge(_while_sending(closed_tables.series), on=CELL, how="left")
    table["short"] = table["sending"].isna()
    table["throughput"] = table["sending"].fillna(table["value"])
    table["share"] = table["throughput"] / table["target"]
    table["reached"] = table["share"] >= REACHED
    groups = table.groupby(["store", "workload", "closed", "load"], sort=False)
    rates = groups.agg(
        n=("share", "size"),
        reached=("reached", "sum"),
        target=("target", geometric_mean),
        target_low=("target", "min"),
        target_high=("target", "max"),
        achieved=("throughput", geometric_mean),
        share_low=("share", "min"),
        share_high=("share", "max"),
        short=("short", "sum"),
        note=("note", lambda notes: "; ".join(filter(None, dict.fromkeys(notes)))),
    )
    return RATES.frame(rates.reset_index().rename(columns={"closed": "parameters"}))


def latencies(closed_tables: OpenLoopTables) -> pd.DataFrame:
    """Percentiles of all repetitions together, one row per percentage.

    Columns: store, workload, parameters (of the closed loop), load, operation,
    time (``service`` or ``intended``), and those of ``repetitions.percentiles``.
    The operation ``all`` is all of them together; read-modify-write is left out of
    it, for its reads and updates are there. Cells that did not reach their rate are
    among them.
    """
    rows = closed_tables.histograms.merge(closed_tables.counted, on=CELL)
    histograms = [*read_histograms(rows)]
    # Those of each cell added up, service and intended apart.
    together: dict[tuple, list[tuple[np.ndarray, np.ndarray]]] = defaultdict(list)
    for (*setting, operation), repetition, *numbers in histograms:
        if "read-modify-write" not in operation:
            every = f"{INTENDED}{ALL}" if operation.startswith(INTENDED) else ALL
            together[(*setting, every), repetition].append(numbers)
    sums = (Histogram(*cell, *summed(parts)) for cell, parts in together.items())
    table = repetitions.percentiles(repetitions.pool([*histograms, *sums]))
    table = table.merge(
        closed_tables.targets[[*SETTING, "closed", "load"]].drop_duplicates(), on=SETTING
    )
    intended = table["operation"].str.startswith(INTENDED).astype(bool)
    table["time"] = intended.map({True: INTENDED_TIME, False: SERVICE_TIME})
    table["operation"] = table["operation"].str.removeprefix(INTENDED)
    table["parameters"] = table["closed"]
    return table[LATENCIES.columns]


def of_workload(rates: pd.DataFrame, latencies: pd.DataFrame, workload: str) -> pd.DataFrame:
    """Both tables as one, in their order: the rows of ``latencies`` with their rate's columns."""
    # Both count runs; they are the same ones.
    known = rates[rates["workload"] == workload].drop(columns="n")
    return known.merge(latencies, on=[*SETTING, "load"])


def _while_sending(series: pd.DataFrame) -> pd.DataFrame:
    """Operations per second of each cell, over the whole seconds in which it was sending.

    The first second with operations is a part of one; the last that it finished in is
    not in ``series``.
    """
    rows = []
    for key, seconds in grouped(series, CELL, "second", ["throughput"]):
        values = seconds["throughput"].astype(float).tolist()
        started = next((place for place, value in enumerate(values) if value), len(values))
        sending = values[started + 1 :]
        if len(sending) >= FEWEST_SECONDS:
            rows.append([*key, sum(sending) / len(sending)])
    return pd.DataFrame(rows, columns=[*CELL, "sending"]).astype({"sending": float})
