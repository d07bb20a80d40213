"""The runs in the order of their measurement: does the machine drift?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import CELL
from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.table import throughput_of
from kvstudy.exhibits.texts import exact
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.layout import plot
from kvstudy.layout.looks import DASHED, Style, StyleSheet
from kvstudy.layout.numbers import change
from kvstudy.libraries import np, pd
from kvstudy.study.cells import cell_path
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

CONTROLS = N_("control cells")
TEXTS = {"exact": N_("Throughput"), "change_text": N_("Relative to the geometric mean")}
TEXTS |= {"place": N_("Position"), "cells": N_("Cell")}


class RunOrder(DrawnFigure):
    """The runs in the order of their measurement; a part of every report."""

    in_template = True
    cells = "every size"
    controls = True
    texts = TEXTS
    own_caption = N_(
        "Runs in the order of measurement, relative to the geometric mean of their setting"
    )

    kind: Literal["run-order"] = Field(description="The runs in the order of measurement.")

    @classmethod
    def automatic(cls, study: Study) -> list[RunOrder]:
        """The one, whose caption has the seed of the order."""
        (order,) = super().automatic(study)
        if study.imported:
            return [order]
        seed = _(" (random order, seed {})").format(study.seed)
        return [order.model_copy(update={"caption": order.caption + seed})]

    def rows(self, run: Run) -> pd.DataFrame:
        return run.headline_analysis.order

    def nothing(self, table: pd.DataFrame) -> str:
        if table["residual"].notna().any():
            return ""
        if len(table):
            return _("no cell was measured twice")
        return _("the order of the runs is unknown")

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """Each run's throughput by the geometric mean of its setting, over its place in the order.

        Runs of a single repetition have nothing to differ from and are left out. Residuals are
        logarithms, shown as ratios less one. What is none of the stores is a control cell; those
        are drawn first, so that they hide no store.
        """
        rows = table.dropna(subset="residual")
        rows = rows.assign(
            change=np.expm1(rows["residual"].astype(float)),
            name=rows["store"].map(styles.titles).fillna(_(CONTROLS)),
            made_of=[
                throughput_of(row.store, [(row.workload, row.parameters)], kind="run").text
                for row in rows.itertuples()
            ],
        )
        legend = styles.legend(rows, "marker")
        if not set(rows["store"]) <= set(styles.stores):
            legend.insert(0, Style(_(CONTROLS), "0.7", marker="x"))
        last = table["sequence"].max() + 1
        ticks = [tick for tick in plot.linear_ticks(0, last) if tick == int(tick)]
        x = plot.axis(
            "sequence", _("Position in the order of measurement"), 0, last, ticks=ticks, grid=False
        )
        low, high = min(0.0, rows["change"].min()), max(0.0, rows["change"].max())
        room, title = 0.08 * (high - low) or 0.01, _("Throughput relative to\nthe geometric mean")
        y = plot.axis("change", title, low - room, high + room, written=_percent)
        begin = Style("", "0.6", line=DASHED)
        repetitions = [plot.Rule(place, "x", look=begin) for place in _repetitions(table)]
        layers = [plot.Rule(0), *repetitions, plot.Points(hover=True)]
        words = _(
            "Each run's throughput relative to the geometric mean of its setting, by position."
        )
        panel = plot.Panel("", rows, x, y, layers, legend, words, 230)
        return plot.Plot([panel], legend, each=1.6)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        store = styles.titles.get(row["store"], row["store"])
        return {
            "title": f"{store}, {row['workload']}",
            "exact": exact("throughput", row["throughput"], "ops/s"),
            "change_text": change(row["change"]),
            "place": f"{row['sequence']:.0f}",
            "cells": cell_path(*(row[key] for key in CELL)),
        }


def _percent(value: float) -> str:
    """A number of the axis of changes: +10 %."""
    sign = "+" if value > 0 else "\N{MINUS SIGN}" if value < 0 else ""
    return decimal(f"{sign}{abs(100 * value):.6g} %")


def _repetitions(table: pd.DataFrame) -> list[float]:
    """Return the positions where a repetition starts."""
    ordered = table.sort_values("sequence")
    begins = ordered["repetition"].astype(int).diff() > 0
    return (ordered.loc[begins, "sequence"] - 0.5).astype(float).tolist()
