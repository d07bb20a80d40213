"""The table of one store: all of its workloads, and how it stands beside the fastest."""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.numbers import between, grouped, share, significant
from kvstudy.analyse.tidy.results import Results
from kvstudy.language.current import _
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH, Grid, Line, Section
from kvstudy.present.tables.markup import marked
from kvstudy.study.model import Study

NUMBERS = ["n", "throughput", "low", "high", "of_fastest", "latency_mean"]
COLUMNS = ["workload", *NUMBERS, "client_cpu", "server_cpu", "failed", "note"]


def rows(store: str, study: Study, found: Results, analysis: Analysis) -> pd.DataFrame:
    """One row per workload: throughput (geometric mean, ops/s) with its 95 % interval.

    ``of_fastest`` is throughput by that of the fastest store (0 to 1), latency_mean is of
    all operations (plain mean over kinds, us), client_cpu and server_cpu are us per
    operation, failed is a share (0 to 1). A value that does not exist is NaN.
    """
    table = []
    for use in study.workloads:
        speeds = {
            name: interval
            for name in study.store_names
            if (interval := _interval(analysis, name, use.name, "throughput")) is not None
        }
        mine = speeds.get(store)
        row = dict.fromkeys(COLUMNS, math.nan) | {"workload": use.name}
        state = found.state(store, use.name)
        row["note"] = state.label if mine is None else ""
        if mine is not None:
            fastest = max(each["value"] for each in speeds.values())
            mean = found.measured(store, use.name, found.all_operations(use.name), "latency_mean")
            row |= {
                "n": mine["n"],
                "throughput": mine["value"],
                "low": mine["low"],
                "high": mine["high"],
                "of_fastest": mine["value"] / fastest,
                "latency_mean": mean.mean if mean else math.nan,
                "failed": found.failed_share(store, use.name, "overall"),
            }
            for side in ("client_cpu", "server_cpu"):
                cpu = _interval(analysis, store, use.name, side)
                row[side] = math.nan if cpu is None else cpu["value"]
        table.append(row)
    return pd.DataFrame(table, columns=COLUMNS)


def content(frame: pd.DataFrame, study: Study) -> Grid:
    """What the template of checks needs of ``rows``."""
    lines = []
    for row in frame.to_dict("records"):
        title = study.workload(row["workload"]).title
        if math.isnan(row["throughput"]):
            cells = [sentence(row["note"]) or DASH, *[DASH] * 6]
            lines.append(Line(title, cells, workload=row["workload"]))
            continue
        interval = DASH
        if not math.isnan(row["low"]):
            low, high = (grouped(significant(row[name], 4)) for name in ("low", "high"))
            interval = between(low, high)
        numbers = (row[name] for name in ("latency_mean", "client_cpu", "server_cpu"))
        lines.append(
            Line(
                title,
                [
                    marked(grouped(significant(row["throughput"], 4)), row["throughput"]),
                    interval,
                    marked(share(row["of_fastest"]), row["of_fastest"]),
                    *(
                        DASH if math.isnan(n) else marked(grouped(significant(n)), n)
                        for n in numbers
                    ),
                    marked(share(row["failed"]) if row["failed"] else "0 %", row["failed"]),
                ],
                workload=row["workload"],
            )
        )
    return {
        "columns": [
            *[_("Ops/s"), _("95 % interval"), _("Of the fastest"), _("Mean (µs)")],
            *[_("Client (µs)"), _("Server (µs)"), _("Failed")],
        ],
        "sections": [Section("", lines)],
        "sortable": True,
        "notes": [
            _(
                "Ops/s: geometric mean of the runs. Of the fastest: by the throughput of the "
                "fastest store of the workload. Mean: service time, plain mean over the kinds of "
                "operation. Client, Server: CPU time of one operation."
            )
        ],
    }


def _interval(analysis: Analysis, store: str, workload: str, metric: str) -> dict | None:
    found = analysis.intervals
    mine = found[
        (found["store"] == store)
        & (found["workload"] == workload)
        & (found["operation"] == "overall")
        & (found["metric"] == metric)
    ]
    return None if mine.empty else mine.iloc[0].to_dict()
