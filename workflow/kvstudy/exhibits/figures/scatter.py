"""Throughput of one store against that of another: a point for each workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.table import throughput_of
from kvstudy.exhibits.texts import exact
from kvstudy.language.current import N_, _
from kvstudy.layout import plot
from kvstudy.layout.looks import DASHED, MARKERS, SOLID, Style, StyleSheet
from kvstudy.libraries import pd
from kvstudy.study.base import Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# How many times as fast the store is on a line, and its dashes.
LINES = {1: SOLID, 2: DASHED, 0.5: DASHED}


class Scatter(DrawnFigure):
    """One store against another, with lines at equal throughput and at twice the other's."""

    texts = {"x": N_("Baseline"), "y": N_("Store")}  # noqa: RUF012
    kind: Literal["scatter"] = Field(description="One store's throughput against another's.")
    baseline: Name = Field(description="The store on the x axis.")
    store: Name = Field(description="The store on the y axis.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload: throughput (ops/s) of the baseline (x) and of the store (y)."""
        table = run.headline_analysis.intervals.set_index(["workload", "parameters"])
        table = table.query("operation == 'overall' and metric == 'throughput'")
        stores = [table[table["store"] == name] for name in (self.baseline, self.store)]
        x, y = (of_store[["value", "low", "high"]] for of_store in stores)
        return x.join(y, how="inner", suffixes=("_x", "_y")).reset_index()

    def nothing(self, table: pd.DataFrame) -> str:
        return _("nothing was measured") if table.empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        names = [styles.study.workload(name).title for name in table["workload"]]
        looks = [Style(name, "#0072b2", marker=MARKERS[n % 8]) for n, name in enumerate(names)]
        settings = zip(table["workload"], table["parameters"], strict=True)
        of_runs = [throughput_of(self.store, [of], self.baseline).text for of in settings]
        rows = table.assign(name=names, store=self.store, other=self.baseline, made_of=of_runs)
        values, title = rows[["value_x", "value_y"]], _("Throughput of {} (ops/s)")
        ends = [values.min(axis=None) / 1.3, values.max(axis=None) * 1.3]
        axes, layers = [], [plot.Points(hover=True)]
        for n, store in (("x", self.baseline), ("y", self.store)):
            name = title.format(styles.titles[store])
            axes.append(plot.axis(f"value_{n}", name, *ends, log=True))
            layers.insert(0, plot.Whisker(f"low_{n}", f"high_{n}", n))
        for factor, dash in LINES.items():
            line = pd.DataFrame({"value_x": ends, "value_y": [factor * end for end in ends]})
            layers.insert(0, plot.Line(rows=line, look=Style("", "0.6", line=dash)))
        return plot.Plot([plot.Panel("", rows, *axes, layers, looks)], looks, across=1, each=3)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        texts = {name: exact("throughput", row[f"value_{name}"], "ops/s") for name in "xy"}
        return texts | {"title": row["name"]}
