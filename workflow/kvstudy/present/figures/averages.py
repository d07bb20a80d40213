"""Mean and median of a value over all sizes of a workload, as a table of bars."""

from __future__ import annotations

import math
from itertools import product
from typing import Annotated, Literal

from pydantic import Field, model_validator

from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd
from kvstudy.present.drawing import draw
from kvstudy.present.drawing.bar_chart import NUMBERS, BarFigure, with_broken
from kvstudy.present.drawing.draw import Looks, Panel
from kvstudy.study.base import Name, Unit, check_unit
from kvstudy.study.metrics import METRICS

GROUPS = {N_("Mean"): "mean", N_("Median"): "median"}


class Averages(BarFigure):
    """Mean and median over all sizes, a bar for each store."""

    cells = "every size"
    dot = N_("one size")

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

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per bar, with the columns of ``bars.bars``.

        ``panel`` is the workload's name, ``group`` Mean or Median. ``n`` are the sizes behind
        the value, ``runs`` their values, ``min`` and ``max`` the range of these. They are the
        sizes that every store has which was measured at all, so that all bars of a panel are of
        the same work; ``note`` says why there is no bar, or how many sizes are left out.
        """
        values = run.swept.values(self.metric, "overall", self.unit)
        panels = [_panel(self, run, values, workload) for workload in self.workloads]
        return pd.concat(panels, ignore_index=True)

    @property
    def value_name(self) -> str:
        return _(METRICS[self.metric].short)

    def panels(self, table: pd.DataFrame, looks: Looks) -> list[Panel]:
        return super().panels(table.assign(workload=table["panel"], metric=self.metric), looks)

    def titles(self, table: pd.DataFrame, looks: Looks) -> dict[str, str]:
        """The workload, and how many sizes are behind the bars."""
        titles = {}
        for workload, n in table.groupby("panel", sort=False)["n"].max().items():
            sizes = (
                ngettext("{} size", "{} sizes", int(n)).format(int(n)) if n > 0 else _("no size")
            )
            titles[workload] = f"{looks.study.workload(workload).short}: {sizes}"
        return titles

    def mark(self, row: dict, looks: Looks) -> dict:
        words = _("{} of {} sizes").format(row["group"], f"{row['n']:.0f}")
        return super().mark(row, looks) | {"runs": "" if pd.isna(row["n"]) else words}


def _panel(figure: Averages, run: draw.Run, values: pd.DataFrame, workload: str) -> pd.DataFrame:
    swept, stores = run.swept, run.study.store_names
    sizes = list(swept.grid(workload)["parameters"])
    mine = values[(values["workload"] == workload) & values["parameters"].isin(sizes)]
    wide = mine.pivot(index="parameters", columns="store", values="value")
    common = wide[[store for store in stores if store in wide]].dropna()
    left_out = len(sizes) - len(common)
    some = reason("without-sizes", left_out=left_out, sizes=len(sizes)) if left_out else ""
    rows = []
    for (group, average), store in product(GROUPS.items(), stores):
        row = {"panel": workload, "group": group, "store": store, "unit": figure.unit}
        row |= dict.fromkeys(NUMBERS, math.nan) | {"runs": "", "note": "no-common-size"}
        if store not in common:
            reasons = {swept.label(store, workload, size) for size in sizes}
            row["note"] = reasons.pop() if len(reasons) == 1 else "no-valid-value"
        elif len(common):
            column = common[store]
            row |= {"value": column.agg(average), "min": column.min(), "max": column.max()}
            row |= {"n": len(column), "runs": " ".join(map(str, column)), "note": some}
        rows.append(row)
    return with_broken(rows)
