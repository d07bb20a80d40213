"""Mean and median of a value over all sizes of a workload, as a table of bars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.reasons import reason, sentence
from kvstudy.libraries import pd, plt
from kvstudy.present.drawing.bar_chart import (
    NUMBERS,
    bar_row,
    interactive_bars,
    static_bars,
    with_broken,
)
from kvstudy.present.drawing.chart import Chart
from kvstudy.present.drawing.draw import DrawnFigure, Looks
from kvstudy.study.base import Name, Unit, check_unit
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

GROUPS = {N_("Mean"): "mean", N_("Median"): "median"}


class Averages(DrawnFigure):
    """Mean and median over all sizes, a bar for each store."""

    cells = "every size"

    kind: Literal["averages"] = Field(
        description="Mean and median of a value over all sizes of a workload, a bar for each "
        "store; sizes as in a heatmap, and only those that every measured store has."
    )
    workloads: Annotated[list[Name], Field(min_length=1)] = Field(description="Their names.")
    metric: Literal["runtime", "throughput"] = Field(
        default="runtime", description="What is shown."
    )
    unit: Unit

    @model_validator(mode="after")
    def _fits(self) -> Averages:
        check_unit(self.metric, self.unit)
        return self

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per bar, with the columns of ``bars.bars``.

        ``panel`` is the workload's name, ``group`` Mean or Median. ``n`` are the sizes behind
        the value, ``runs`` their values, ``min`` and ``max`` the range of these. They are the
        sizes that every store has which was measured at all, so that all bars of a panel are of
        the same work; ``note`` says why there is no bar, or how many sizes are left out.
        """
        values = run.swept.values(self.metric, "overall", self.unit)
        panels = [_panel(self, run, values, workload) for workload in self.workloads]
        return pd.concat(panels, ignore_index=True)

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        titles = panel_titles(table, looks.study)
        return static_bars(table, looks.stores, titles, _("one size"))

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        rows, titles = [], panel_titles(table, looks.study)
        for row in table.to_dict("records"):
            words = _("{} of {} sizes").format(sentence(row["group"]), f"{row['n']:.0f}")
            shown = {"workload": row["panel"], "runs": "" if pd.isna(row["n"]) else words}
            rows.append(bar_row(row, self.metric, looks.stores, titles) | shown)
        return interactive_bars(table, rows, _(METRICS[self.metric].short), titles, looks.stores)


def panel_titles(table: pd.DataFrame, study: Study) -> dict[str, str]:
    """What stands above each panel: the workload, and how many sizes are behind the bars."""
    titles = {}
    for workload, n in table.groupby("panel", sort=False)["n"].max().items():
        sizes = ngettext("{} size", "{} sizes", int(n)).format(int(n)) if n > 0 else _("no size")
        titles[workload] = f"{study.workload(workload).short}: {sizes}"
    return titles


def _panel(figure: Averages, run: Run, values: pd.DataFrame, workload: str) -> pd.DataFrame:
    study, swept = run.study, run.swept
    sizes = list(swept.grid(workload)["parameters"])
    mine = values[(values["workload"] == workload) & values["parameters"].isin(sizes)]
    wide = mine.pivot(index="parameters", columns="store", values="value")
    there = [store for store in study.store_names if store in wide]
    common = wide[there].dropna()
    left_out = len(sizes) - len(common)
    some = reason("without-sizes", left_out=left_out, sizes=len(sizes))
    rows = []
    for group, average in GROUPS.items():
        for store in study.store_names:
            row = {"panel": workload, "group": group, "store": store, "unit": figure.unit}
            row |= dict.fromkeys(NUMBERS, math.nan) | {"runs": ""}
            if store in there and len(common):
                column = common[store]
                row |= {"value": column.agg(average), "min": column.min(), "max": column.max()}
                row |= {"n": len(column), "runs": " ".join(map(str, column))}
                row["note"] = some if left_out else ""
            elif store in there:
                row["note"] = "no-common-size"
            else:
                reasons = {swept.label(store, workload, each) for each in sizes}
                row["note"] = reasons.pop() if len(reasons) == 1 else "no-valid-value"
            rows.append(row)
    return with_broken(rows)
