"""The table of trimmed means, of a study that uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, grouped, significant
from kvstudy.language.current import N_, _
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked
from kvstudy.present.typeset.table import Grid, Line, Table, sections_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class TrimmedTable(Table):
    """Trimmed means beside plain ones; a part of the report of a study that uses them."""

    finding = "trimmed"
    own_caption = N_("Means without the smallest and the largest runs")

    kind: Literal["trimmed"] = Field(description="Trimmed means of throughput and run time.")

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and parameters."""

        def line(store: str, of: pd.DataFrame) -> Line:
            cells = []
            by_metric = of.set_index("metric")
            for metric in ("throughput", "runtime"):
                if metric not in by_metric.index:
                    cells += [DASH] * 3
                    continue
                row = by_metric.loc[metric]
                mean, trimmed, low, high = (
                    marked(grouped(significant(row[name], 4)), row[name])
                    for name in ("mean", "trimmed", "low", "high")
                )
                cells += [mean, trimmed, between(low, high)]
            return Line(run.titles[store], cells, store)

        columns = [
            *(_("ops/s: mean"), _("trimmed"), _("95 % interval")),
            *(_("Run time in ms: mean"), _("trimmed"), _("95 % interval")),
        ]
        notes = [
            _(
                "Means over the runs. Trimmed: without the smallest and the largest fifth of the "
                "runs (of five runs one each), with Tukey and McLaughlin's interval."
            )
        ]
        return [Grid(columns, sections_of(rows, run.study, line), notes, sortable=True)]
