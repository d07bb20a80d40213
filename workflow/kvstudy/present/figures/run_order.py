"""The runs in the order of their measurement: does the machine drift?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import change
from kvstudy.language.current import N_, _
from kvstudy.language.locale import percent_sign
from kvstudy.libraries import alt, np, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel
from kvstudy.present.drawing.draw import MOST_SHAPES, TEXT_WIDTH, DrawnFigure, Look, Looks
from kvstudy.study.cells import cell_path
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

CONTROL = "0.7"
CONTROLS = N_("control cells")
TEXTS = {"exact": N_("Throughput"), "change_text": N_("Against the geometric mean")}
TEXTS |= {"place": N_("Place in the order"), "cells": N_("Cell")}


class RunOrder(DrawnFigure):
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

    def rows(self, run: Run) -> pd.DataFrame:
        return run.headline_analysis.order

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Each run's throughput by the geometric mean of its setting, over its place in the order.

        ``table`` is ``analysis.order.order``'s, with residuals in logarithms; the axis has
        their ratios less one. Runs of a single repetition have nothing to differ from and
        are left out. What is not of ``stores`` is a control cell, and grey.
        """
        figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.3), layout="constrained")
        ax.axhline(0, color="0.6", linewidth=0.6)
        shown = table.dropna(subset="residual")
        controls = shown[~shown["store"].isin(list(looks.stores))]
        # First, so that they hide no store.
        if len(controls):
            _points(ax, controls, "x", CONTROL, _("control cells"))
        for store, look in looks.stores.items():
            rows = shown[shown["store"] == store]
            if len(rows):
                _points(ax, rows, look.marker, look.color, look.title)
        for position in _repetitions(table):
            ax.axvline(position, color="0.8", linewidth=0.6, linestyle="--")
        ax.yaxis.set_major_formatter(ticker.PercentFormatter(1, decimals=0, symbol=percent_sign()))
        ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
        ax.set_xlabel(_("Place in the order of measurement"))
        ax.set_ylabel(_("Throughput against\nthe geometric mean"))
        if len(shown):
            figure.legend(loc="outside upper center", ncols=6, handletextpad=0.3)
        else:
            draw.say(ax, why_nothing(table))
        return figure

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        """Residuals are logarithms, shown as ratios less one."""
        shown = table.dropna(subset="residual")
        if shown.empty:
            return Chart([], [], note=why_nothing(table))
        rows = [_row(row, looks.stores) for row in shown.to_dict("records")]
        there = {row["name"] for row in rows}
        controls = chart.line_entry(_(CONTROLS), "#808080", None, "X")
        legend = [controls, *chart.point_legend(looks.stores)]
        legend = [entry for entry in legend if entry["label"] in there]
        words = _(
            "Each run's throughput against the geometric mean of its setting, over its place."
        )
        panel = Panel(_layers(table, legend), description=words, height=230)
        return Chart(rows, [panel], legend)


def why_nothing(table: pd.DataFrame) -> str:
    """Why no run of ``table`` is drawn."""
    if len(table):
        return _("no cell was measured twice")
    return _("no run has a known place in the order")


def _points(ax: plt.Axes, rows: pd.DataFrame, marker: str, color: str, label: str) -> None:
    change = np.expm1(rows["residual"].astype(float))
    style = {"color": color, "markersize": 4, "label": label}
    ax.plot(rows["sequence"], change, marker, rasterized=len(rows) > MOST_SHAPES, **style)


def _repetitions(table: pd.DataFrame) -> list[float]:
    """Where the next repetition begins."""
    ordered = table.sort_values("sequence")
    begins = ordered["repetition"].astype(int).diff() > 0
    return (ordered.loc[begins, "sequence"] - 0.5).astype(float).tolist()


def _row(row: dict, stores: dict[str, Look]) -> dict:
    look = stores.get(row["store"])
    cell = cell_path(*(row[key] for key in ("store", "workload", "parameters", "repetition")))
    return chart.plain(row, ["store", "workload", "sequence", "residual"]) | {
        "panel": 0,
        "name": look.title if look else _(CONTROLS),
        "title": f"{look.title if look else row['store']}, {row['workload']}",
        "exact": chart.exact("throughput", row["throughput"], "ops/s"),
        "change_text": change(float(np.expm1(row["residual"]))),
        "place": f"{row['sequence']:.0f}",
        "cells": cell,
    }


def _layers(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    x = {"title": _("Place in the order of measurement")}
    x["scale"] = alt.Scale(domain=[0, float(table["sequence"].max()) + 1], nice=False)
    x["axis"] = alt.Axis(format="d", tickMinStep=1, grid=False)
    y_axis = alt.Axis(format="+.0%", tickCount=6)
    changes = np.expm1(table["residual"].dropna().to_numpy(float))
    low, high = min(0.0, changes.min()), max(0.0, changes.max())
    room = 0.08 * (high - low) or 0.01
    scale = alt.Scale(domain=[float(low - room), float(high + room)], nice=False)
    y = {"title": _("Throughput against the mean"), "axis": y_axis, "scale": scale}
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
    lines = [rule.encode(x=alt.XDatum(place, **x)) for place in _repetitions(table)]
    zero = alt.Chart().mark_rule(style="kv-line", aria=False).encode(y=alt.YDatum(0, **y))
    return [zero, *lines, points]
