"""The runs in the order of their measurement: does the machine drift?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import change
from kvstudy.language.current import N_, _
from kvstudy.language.locale import percent_sign
from kvstudy.libraries import alt, np, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.study.cells import cell_path
from kvstudy.study.model import Study

CONTROL = "0.7"
CONTROLS = N_("control cells")
TEXTS = {"exact": N_("Throughput"), "change_text": N_("Against the geometric mean")}
TEXTS |= {"place": N_("Place in the order"), "cells": N_("Cell")}


class RunOrder(draw.DrawnFigure):
    """The runs in the order of their measurement; a part of every report."""

    cells = "every size"
    controls = "all"
    own_caption = N_(
        "The runs in the order of measurement, against the geometric mean of their setting"
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
        return _("no run has a known place in the order")

    def draw(self, table: pd.DataFrame, looks: draw.Looks) -> plt.Figure:
        """Each run's throughput by the geometric mean of its setting, over its place in the order.

        ``table`` is ``analysis.order.order``'s, with residuals in logarithms; the axis has
        their ratios less one. Runs of a single repetition have nothing to differ from and
        are left out. What is not of ``stores`` is a control cell, and grey.
        """
        figure, ax = plt.subplots(figsize=(draw.TEXT_WIDTH, 2.3), layout="constrained")
        ax.axhline(0, color="0.6", linewidth=0.6)
        for look, rows in _marks(table, looks):
            style = {"color": look.color, "markersize": 4, "label": look.title}
            style["rasterized"] = len(rows) > draw.MOST_SHAPES
            ax.plot(rows["sequence"], _changes(rows), look.marker, **style)
        for position in _repetitions(table):
            ax.axvline(position, color="0.8", linewidth=0.6, linestyle="--")
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(1, decimals=0, symbol=percent_sign()))
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.set_xlabel(_("Place in the order of measurement"))
        ax.set_ylabel(_("Throughput against\nthe geometric mean"))
        figure.legend(loc="outside upper center", ncols=6, handletextpad=0.3)
        return figure

    def chart(self, table: pd.DataFrame, looks: draw.Looks) -> chart.Chart:
        """Residuals are logarithms, shown as ratios less one."""
        shown = table.dropna(subset="residual")
        rows = [_row(row, looks.titles) for row in shown.to_dict("records")]
        legend = [look for look, _rows in _marks(table, looks)]
        words = _(
            "Each run's throughput against the geometric mean of its setting, over its place."
        )
        panel = chart.Panel(_layers(table, legend), description=words, height=230)
        return chart.Chart(rows, [panel], legend)


def _marks(table: pd.DataFrame, looks: draw.Looks) -> Iterator[tuple[draw.Look, pd.DataFrame]]:
    """How the runs of each store are drawn; control cells first, so that they hide no store."""
    table = table.dropna(subset="residual")
    controls = table[~table["store"].isin(list(looks.stores))]
    if len(controls):
        yield draw.Look(_(CONTROLS), CONTROL, marker="x"), controls
    for look in looks.legend(table, "marker"):
        yield look, table[table["store"] == look.store]


def _changes(rows: pd.DataFrame) -> pd.Series:
    return np.expm1(rows["residual"].astype(float))


def _repetitions(table: pd.DataFrame) -> list[float]:
    """Where the next repetition begins."""
    ordered = table.sort_values("sequence")
    begins = ordered["repetition"].astype(int).diff() > 0
    return (ordered.loc[begins, "sequence"] - 0.5).astype(float).tolist()


def _row(row: dict, titles: dict[str, str]) -> dict:
    store, title = row["store"], titles.get(row["store"])
    cell = cell_path(*(row[key] for key in ("store", "workload", "parameters", "repetition")))
    return chart.plain(row, ["store", "workload", "sequence", "residual"]) | {
        "name": title or _(CONTROLS),
        "title": f"{title or store}, {row['workload']}",
        "exact": chart.exact("throughput", row["throughput"], "ops/s"),
        "change_text": change(float(np.expm1(row["residual"]))),
        "place": f"{row['sequence']:.0f}",
        "cells": cell,
    }


def _layers(table: pd.DataFrame, legend: list[draw.Look]) -> list[alt.Chart]:
    x = chart.linear(_("Place in the order of measurement"), 0, table["sequence"].max() + 1)
    x["axis"] = alt.Axis(format="d", tickMinStep=1, grid=False)
    changes = _changes(table.dropna(subset="residual"))
    low, high = min(0.0, changes.min()), max(0.0, changes.max())
    room = 0.08 * (high - low) or 0.01
    ends = low - room, high + room
    y = chart.linear(_("Throughput against the mean"), *ends, format="+.0%", tickCount=6)
    points = (
        alt.Chart()
        .transform_calculate(change="exp(datum.residual) - 1")
        .mark_point(filled=True, opacity=0.9, size=55)
        .encode(
            x=alt.X("sequence:Q", **x),
            y=alt.Y("change:Q", **y),
            **chart.by_legend(legend, "color", "shape"),
            **chart.texts(TEXTS),
        )
    )
    rule = alt.Chart().mark_rule(style="kv-line", strokeDash=[4, 4], aria=False)
    repetitions = [rule.encode(x=alt.XDatum(place, **x)) for place in _repetitions(table)]
    return [chart.line_at(y=alt.YDatum(0, **y)), *repetitions, points]
