"""The table of one store: all of its workloads, and how it stands beside the fastest."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import share
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import Grid, Line, Section, Table, interval, number_of, rate
from kvstudy.study.base import Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

NUMBERS = ["n", "throughput", "low", "high", "of_fastest", "latency_mean"]
COLUMNS = ["workload", *NUMBERS, "client_cpu", "server_cpu", "failed", "note"]


class StoreTable(Table):
    """All workloads of one store; a part of the report of a study with ``store_pages``."""

    own_caption = N_("All workloads of the store")

    kind: Literal["store"] = Field(description="All workloads of one store.")
    store: Name = Field(description="The store.")

    @classmethod
    def automatic(cls, study: Study) -> list[StoreTable]:
        """One for each store."""
        caption = _(cls.own_caption)
        return [
            cls(name=f"store-{store}", kind="store", caption=caption, store=store)
            for store in study.store_names
        ]

    def stores_of(self, study: Study) -> list[str]:
        """All: the store's places among them are in the table too."""
        return study.store_names

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload: throughput (geometric mean, ops/s) with its 95 % interval.

        ``of_fastest`` is throughput by that of the fastest of ``Run.compared`` (0 to 1),
        latency_mean is of all operations (plain mean over kinds, us), client_cpu and server_cpu
        are us per operation, failed is a share (0 to 1). A value that does not exist is NaN.
        """
        rows = [self._row(use.name, run) for use in run.study.workloads]
        return pd.DataFrame(rows, columns=COLUMNS)

    def _row(self, workload: str, run: Run) -> dict[str, object]:
        results, rows = run.results, run.headline_analysis.intervals
        rows = rows[(rows["workload"] == workload) & (rows["operation"] == "overall")]
        own = rows[rows["store"] == self.store].set_index("metric")
        row = dict.fromkeys(COLUMNS, math.nan) | {"workload": workload, "note": ""}
        if "throughput" not in own.index:
            return row | {"note": results.state(self.store, workload).label}
        compared = next(group for group in run.compared if self.store in group)
        rivals = rows[(rows["metric"] == "throughput") & rows["store"].isin(compared)]
        speed, values = own.loc["throughput"], own["value"]
        operation = results.all_operations(workload)
        latency = results.measured(self.store, workload, operation, "latency_mean")
        return row | {
            **speed[["n", "low", "high"]],
            "throughput": speed["value"],
            "of_fastest": speed["value"] / rivals["value"].max(),
            "latency_mean": latency.mean if latency else math.nan,
            "client_cpu": values.get("client_cpu", math.nan),
            "server_cpu": values.get("server_cpu", math.nan),
            "failed": results.failed_share(self.store, workload, "overall"),
        }

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per workload."""
        columns = [
            (_("Ops/s"), number_of("throughput", partial(rate, digits=4))),
            (_("95 % interval"), lambda row: interval(row.throughput, row.low, row.high, 4)),
            (_("Of the fastest"), number_of("of_fastest", share)),
            (_("Mean (µs)"), number_of("latency_mean", rate)),
            (_("Client (µs)"), number_of("client_cpu", rate)),
            (_("Server (µs)"), number_of("server_cpu", rate)),
            (_("Failed"), number_of("failed", lambda failed: share(failed) if failed else "0 %")),
        ]
        lines = []
        for row in rows.itertuples():
            cells = [sentence(row.note) or DASH, *[DASH] * 6]
            if not math.isnan(row.throughput):
                cells = [cell(row) for _head, cell in columns]
            title = run.study.workload(row.workload).title
            lines.append(Line(title, cells, workload=row.workload))
        note = _(
            "Ops/s: geometric mean of the runs. Of the fastest: by the throughput of the "
            "fastest store that it is compared with. Mean: service time, plain mean over the "
            "kinds of operation. Client, Server: CPU time of one operation."
        )
        heads = [head for head, _cell in columns]
        return [Grid(heads, [Section("", lines)], [note], sortable=True)]
