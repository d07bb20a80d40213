"""Mean, deviation and range of the runs, and the mean relative to that of the fastest store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.results import THROUGHPUT, only
from kvstudy.exhibits.table import Table, number_of, store_grid, throughput_of
from kvstudy.language.current import _
from kvstudy.layout.grid import Grid, Statistic
from kvstudy.layout.numbers import rate, significant
from kvstudy.libraries import pd

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = ["workload", "parameters", "store", "n", "geometric", "sd", "min", "max"]


class SummaryTable(Table):
    """Throughput of each store over its runs."""

    kind: Literal["summary"] = Field(
        description="Mean, standard deviation and range of throughput, relative to the fastest."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and store: throughput (ops/s) over n runs at the headline sizes.

        ``relative`` is the mean by that of the ``fastest`` of ``Run.compared``.
        """
        rows = only(run.summary, run.headline)
        of_throughput = (rows["operation"] == THROUGHPUT[0]) & (rows["metric"] == THROUGHPUT[1])
        rows = rows.loc[of_throughput & rows["workload"].isin(run.headline), COLUMNS]
        group = {store: number for number, stores in enumerate(run.compared) for store in stores}
        rows = rows[rows["store"].isin(group)].reset_index(drop=True)
        means = rows.groupby(["workload", rows["store"].map(group)])["geometric"]
        fastest = rows.loc[means.transform("idxmax"), "store"].to_numpy()
        return rows.assign(fastest=fastest, relative=rows["geometric"] / means.transform("max"))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload, a line per store."""

        def runs(row, kind: str = "geometric", base: str = "") -> Statistic:
            return throughput_of(row.store, [(row.workload, row.parameters)], base, kind)

        heads = {"geometric": _("Mean"), "sd": _("SD"), "min": _("Smallest"), "max": _("Largest")}
        columns = [(_("Runs"), number_of("n", "{:.0f}".format))]
        for kind, head in heads.items():
            columns.append((head, number_of(kind, rate, lambda row, kind=kind: runs(row, kind))))
        share = number_of("relative", significant, lambda row: runs(row, base=row.fastest))
        note = _(
            "Throughput in ops/s: geometric mean, standard deviation (SD) and range of the runs. "
            "Relative: the mean divided by that of the fastest store."
        )
        return [store_grid(rows, run, [*columns, (_("Relative"), share)], [note], sortable=True)]
