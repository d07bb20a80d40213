"""Throughput of one store against that of another: a point for each workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.language.current import N_, _
from kvstudy.libraries import pd, sns
from kvstudy.present.drawing.looks import DASHED, MARKERS, SOLID, Style, StyleSheet
from kvstudy.present.drawing.plot import DrawnFigure, Interval, Line, Panel, Plot, Points, axis
from kvstudy.present.drawing.texts import exact
from kvstudy.study.base import Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# Dashes of the lines, by how many times as fast the store is there.
LINES = {1: SOLID, 2: DASHED, 0.5: DASHED}


class Scatter(DrawnFigure):
    """One store against another, with lines at equal throughput and at twice the other's."""

    texts = {"x_text": N_("Baseline"), "y_text": N_("Store")}  # noqa: RUF012

    kind: Literal["scatter"] = Field(description="One store's throughput against another's.")
    baseline: Name = Field(description="The store on the x axis.")
    store: Name = Field(description="The store on the y axis.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload: throughput (ops/s) of the baseline (x) and of the store (y)."""
        table = run.headline_analysis.intervals
        table = table.query("operation == 'overall' and metric == 'throughput'")
        table = table.set_index(["workload", "parameters"])
        sides = {"x": self.baseline, "y": self.store}
        values = {name: table[table["store"] == store] for name, store in sides.items()}
        parts = [of[["value", "low", "high"]].add_prefix(f"{name}_") for name, of in values.items()]
        return parts[0].join(parts[1], how="inner").reset_index()

    def nothing(self, table: pd.DataFrame) -> str:
        return _("nothing was measured") if table.empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> Plot:
        names = [styles.study.workload(name).title for name in table["workload"]]
        colors = sns.color_palette("colorblind", len(names)).as_hex()
        looks = [Style(n, c, None, m) for n, c, m in zip(names, colors, MARKERS * len(names))]
        rows = table.assign(name=names, store=self.store, other=self.baseline)
        values = rows[["x_value", "y_value"]]
        ends = [values.min(axis=None) / 1.3, values.max(axis=None) * 1.3]
        stores, title = (self.baseline, self.store), _("Throughput of {} (ops/s)")
        titles = [title.format(styles.titles[store]) for store in stores]
        x, y = (axis(f"{n}_value", t, *ends, log=True) for n, t in zip("xy", titles, strict=True))
        lines = {n: pd.DataFrame({x.column: ends, y.column: [n * end for end in ends]}) for n in LINES}
        layers = [Line(rows=lines[n], look=Style("", "0.6", line=LINES[n])) for n in LINES]
        layers += [Interval("x_low", "x_high", "x"), Interval("y_low", "y_high"), Points(hover=True)]
        return Plot([Panel("", rows, x, y, layers, looks, height=320)], looks, across=1, each=3)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        texts = {f"{side}_text": exact("throughput", row[f"{side}_value"], "ops/s") for side in "xy"}
        return texts | {"title": row["name"]}
