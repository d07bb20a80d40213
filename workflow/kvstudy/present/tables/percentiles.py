"""The table of percentiles from the histograms of all repetitions together."""

from __future__ import annotations

import math
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked, number_cell, stacked
from kvstudy.present.typeset.table import (
    Grid,
    Line,
    Section,
    Table,
    by_workload,
    operation_word,
    two_lines,
    whole,
)
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.metrics import PERCENTILES

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

SHOWN = [50.0, 95.0, 99.0, 99.9]


class PercentilesTable(Table):
    """Percentiles from the histograms of all repetitions; a part of every report."""

    own_caption = N_("Percentiles of service time over all runs")

    kind: Literal["percentiles"] = Field(
        description="Percentiles of the latencies of each workload, all repetitions together."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """The rows of the analysis, and ``mean_of_runs`` (us).

        That is the plain mean of the values of the single runs, as sources print it; NaN
        where no percentiles of the workload were published, and for other percentages.
        """
        rows, results = run.headline_analysis.percentiles, run.results
        published = {
            (workload, metric)
            for workload in rows["workload"].unique()
            for metric in PERCENTILES.values()
            for store in rows["store"].unique()
            for operation in results.operations(workload)
            if results.published(store, workload, operation, metric) is not None
        }
        means = []
        for row in rows.itertuples():
            metric, value = PERCENTILES.get(row.percent, ""), None
            if (row.workload, metric) in published:
                value = results.measured(row.store, row.workload, row.operation, metric)
            means.append(math.nan if value is None else value.mean)
        return rows.assign(mean_of_runs=means)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters, a line per store and operation."""
        averaged = rows.dropna(subset="mean_of_runs")["percent"].unique()
        columns = [(percent, decimal(f"{percent:g} %"), _merged) for percent in SHOWN]
        head = stacked(_("mean of the"), _("runs' values"))
        columns += [(percent, head, _mean) for percent in averaged]
        columns.sort(key=itemgetter(0))
        sections = []
        for setting, mine in by_workload(rows, run.study):
            lines = []
            for store in run.titles:
                of_store = mine[mine["store"] == store].groupby("operation", sort=False)
                for operation, of in of_store:
                    of = of.set_index("percent").reindex(SHOWN)
                    cells = [cell(of.loc[percent]) for percent, _head, cell in columns]
                    label = f"{run.titles[store]}, {operation_word(operation)}"
                    lines += two_lines(label, cells, store)
            sections.append(Section(setting, lines, workload=mine["workload"].iloc[0]))
        if not sections:
            sections = [Section("", [Line(_("no run has a histogram"), [DASH] * len(columns))])]
        notes = [
            _(
                "Service time in µs that this share of the operations of all runs together does "
                "not exceed, below it the range of the single runs. Left out: percentiles with "
                "fewer than {} operations beyond them."
            ).format(ENOUGH_BEYOND)
        ]
        if len(averaged):
            notes.append(
                _(
                    "Mean of the runs' values: plain mean of the percentiles of the single runs, "
                    "as the source has it; it is no percentile of any set of operations."
                )
            )
        return [Grid([head for _percent, head, _cell in columns], sections, notes)]


def _merged(row: pd.Series) -> tuple[str, str]:
    """The percentile of all runs, and below it the range of the single ones."""
    if not row["beyond"] >= ENOUGH_BEYOND:
        return DASH, ""
    below = f"{whole(row['low'])}{DASH}{whole(row['high'])}" if row["n"] > 1 else ""
    return marked(whole(row["value"]), row["value"]), below


def _mean(row: pd.Series) -> tuple[str, str]:
    return number_cell(row["mean_of_runs"], whole), ""
