"""The table of one store: all of its workloads, and how it stands beside the fastest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import grouped, share, significant
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked, number_cell
from kvstudy.present.typeset.table import Grid, Line, Section, Table, interval
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
        rows = rows.drop_duplicates(["store", "metric"]).set_index(["store", "metric"])
        compared = next(group for group in run.compared if self.store in group)
        speeds = rows[rows.index.isin([(name, "throughput") for name in compared])]["value"]
        row = dict.fromkeys(COLUMNS, math.nan) | {"workload": workload, "note": ""}
        if (self.store, "throughput") not in speeds:
            return row | {"note": results.state(self.store, workload).label}
        own = rows.loc[self.store, "throughput"]
        operation = results.all_operations(workload)
        latency = results.measured(self.store, workload, operation, "latency_mean")
        return row | {
            "n": own["n"],
            "throughput": own["value"],
            "low": own["low"],
            "high": own["high"],
            "of_fastest": own["value"] / speeds.max(),
            "latency_mean": latency.mean if latency else math.nan,
            "failed": results.failed_share(self.store, workload, "overall"),
            **{
                side: rows["value"].get((self.store, side), math.nan)
                for side in ("client_cpu", "server_cpu")
            },
        }

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per workload."""
        lines = [
            Line(run.study.workload(row.workload).title, _cells(row), workload=row.workload)
            for row in rows.itertuples()
        ]
        columns = [
            *[_("Ops/s"), _("95 % interval"), _("Of the fastest"), _("Mean (µs)")],
            *[_("Client (µs)"), _("Server (µs)"), _("Failed")],
        ]
        note = _(
            "Ops/s: geometric mean of the runs. Of the fastest: by the throughput of the "
            "fastest store that it is compared with. Mean: service time, plain mean over the "
            "kinds of operation. Client, Server: CPU time of one operation."
        )
        return [Grid(columns, [Section("", lines)], [note], sortable=True)]


def _cells(row) -> list[str]:
    if math.isnan(row.throughput):
        return [sentence(row.note) or DASH, *[DASH] * 6]
    return [
        marked(grouped(significant(row.throughput, 4)), row.throughput),
        interval(row.throughput, row.low, row.high, digits=4),
        marked(share(row.of_fastest), row.of_fastest),
        *(
            number_cell(value, lambda value: grouped(significant(value)))
            for value in (row.latency_mean, row.client_cpu, row.server_cpu)
        ),
        marked(share(row.failed) if row.failed else "0 %", row.failed),
    ]
