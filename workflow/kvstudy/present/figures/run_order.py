"""The runs in the order of their measurement: does the machine drift?"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import CELL
from kvstudy.analyse.tidy.numbers import change
from kvstudy.language.current import N_, _
from kvstudy.language.locale import percent_sign
from kvstudy.libraries import alt, np, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.study.cells import cell_path
from kvstudy.study.model import Study

CONTROL = "0.7"
CONTROLS = N_("control cells")
TEXTS = {"exact": N_("Throughput"), "change_text": N_("Relative to the geometric mean")}
TEXTS |= {"place": N_("Position"), "cells": N_("Cell")}


class RunOrder(DrawnFigure):
    """The runs in the order of their measurement; a part of every report."""

    in_template = True
    cells = "every size"
    controls = True
    texts = TEXTS
    fields = ("store", "workload", "sequence", "residual", "name")
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

    def rows(self, run: draw.Run) -> pd.DataFrame:
        return run.headline_analysis.order

    def nothing(self, table: pd.DataFrame) -> str:
        if table["residual"].notna().any():
            return ""
        if len(table):
            return _("no cell was measured twice")
        return _("the order of the runs is unknown")

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """Runs of a single repetition have nothing to differ from and are left out.

        Residuals are logarithms, shown as ratios less one (``change``). What is none of the stores
        is a control cell.
        """
        words = _(
            "Each run's throughput relative to the geometric mean of its setting, by position."
        )
        rows = table.dropna(subset="residual")
        rows = rows.assign(
            change=np.expm1(rows["residual"].astype(float)),
            name=rows["store"].map(looks.titles).fillna(_(CONTROLS)),
        )
        return [Panel("", rows, words, 230)]

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        """Control cells first, so that they hide no store."""
        table = table.dropna(subset="residual")
        controls = Style(_(CONTROLS), CONTROL, marker="x")
        any_control = not set(table["store"]) <= set(looks.stores)
        return [controls] * any_control + looks.legend(table, "marker")

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """Each run's throughput by the geometric mean of its setting, over its place in the order.

        ``table`` is ``analysis.order.order``'s.
        """
        figure, ax = plt.subplots(figsize=(draw.TEXT_WIDTH, 2.1), layout="constrained")
        ax.axhline(0, color="0.6", linewidth=0.6)
        (panel,) = self.panels(table, looks)
        for look, rows in draw.by_style(panel.rows, self.legend(table, looks)):
            style = look.style(markersize=4, rasterized=len(rows) > draw.MOST_SHAPES)
            ax.plot(rows["sequence"], rows["change"], **style)
        for position in _repetitions(table):
            ax.axvline(position, color="0.8", linewidth=0.6, linestyle="--")
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(1, decimals=0, symbol=percent_sign()))
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.set_xlabel(_("Position in the order of measurement"))
        ax.set_ylabel(_("Throughput relative to\nthe geometric mean"))
        draw.legend(figure, ax.get_legend_handles_labels()[0], handletextpad=0.3)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        store = looks.titles.get(row["store"], row["store"])
        return {
            "title": f"{store}, {row['workload']}",
            "exact": chart.exact("throughput", row["throughput"], "ops/s"),
            "change_text": change(row["change"]),
            "place": f"{row['sequence']:.0f}",
            "cells": cell_path(*(row[key] for key in CELL)),
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        x = chart.linear(_("Position in the order of measurement"), 0, table["sequence"].max() + 1)
        x["axis"] = alt.Axis(format="d", tickMinStep=1, grid=False)
        low, high = min(0.0, rows["change"].min()), max(0.0, rows["change"].max())
        room = 0.08 * (high - low) or 0.01
        ends = low - room, high + room
        y = chart.linear(_("Throughput relative to the mean"), *ends, format="+.0%", tickCount=6)
        points = (
            alt.Chart()
            .transform_calculate(change="exp(datum.residual) - 1")
            .mark_point(filled=True, opacity=0.9, size=55)
            .encode(
                x=alt.X("sequence:Q", **x),
                y=alt.Y("change:Q", **y),
                **chart.by_legend(self.legend(table, looks), "color", "shape"),
                **chart.texts(self.texts),
            )
        )
        rule = alt.Chart().mark_rule(style="kv-line", strokeDash=[4, 4], aria=False)
        repetitions = [rule.encode(x=alt.XDatum(place, **x)) for place in _repetitions(table)]
        return [chart.line_at(y=alt.YDatum(0, **y)), *repetitions, points]


def _repetitions(table: pd.DataFrame) -> list[float]:
    """Return the positions where a repetition starts."""
    ordered = table.sort_values("sequence")
    begins = ordered["repetition"].astype(int).diff() > 0
    return (ordered.loc[begins, "sequence"] - 0.5).astype(float).tolist()
