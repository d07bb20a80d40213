"""Open-loop cells: which rate each reached."""

from __future__ import annotations

from statistics import geometric_mean

from kvstudy.analyse.tidy.files import CELL, Table
from kvstudy.analyse.tidy.open_loop import OpenLoop
from kvstudy.libraries import pd

# Below this share of the rate that was asked for, the store or the client was overloaded.
REACHED = 0.99
# With fewer whole seconds of sending, a run's achieved rate is that of its whole run
# time, and connecting and closing take a part of that.
FEWEST_SECONDS = 3

NUMBERS = [
    *["load", "n", "reached", "target", "target_low", "target_high", "achieved"],
    *["share_low", "share_high", "short"],
]
TABLE = Table(
    "open_rates", ["store", "workload", "parameters", *NUMBERS, "note"], NUMBERS, "analyse"
)


def make(run, made) -> pd.DataFrame:
    return rates(run.open_loop)


def rates(found: OpenLoop) -> pd.DataFrame:
    """One row per store, workload, parameters (of the closed loop) and load.

    Columns: n cells that count; reached, how many of them had at least 99 % of
    their rate; target and achieved (ops/s, geometric means), target_low and
    target_high; share_low and share_high (the cells' achieved by target); short, how
    many cells were too short to leave out connecting and closing; note.
    """
    chosen = found.measurements.merge(found.counted, on=CELL)
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
        notes = dict.fromkeys(note for note in group["note"] if note)
        rows.append(
            [
                *[*key, len(group), int((share >= REACHED).sum())],
                *[geometric_mean(target), target.min(), target.max(), geometric_mean(achieved)],
                *[share.min(), share.max(), int(group["short"].sum()), "; ".join(notes)],
            ]
        )
    return TABLE.frame(rows)


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
