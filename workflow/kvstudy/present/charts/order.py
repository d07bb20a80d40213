"""The runs in the order of their measurement."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from kvstudy.analyse.tidy.numbers import change
from kvstudy.language.current import N_, _
from kvstudy.present.charts.chart import (
    Chart,
    Panel,
    bare,
    plain,
    records,
    scale_of,
    texts,
    top_legend,
)
from kvstudy.present.charts.legend import line_entry, point_legend
from kvstudy.present.charts.texts import exact
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.order import why_nothing
from kvstudy.study.cells import cell_path

CONTROLS = N_("control cells")
TEXTS = {
    "exact": N_("Throughput"),
    "change_text": N_("Against the geometric mean"),
    "place": N_("Place in the order"),
    "cells": N_("Cell"),
}


def order_chart(table: pd.DataFrame, stores: dict[str, Look]) -> Chart:
    """Of ``analysis.order.order``'s table: residuals in logarithms, shown as ratios less one."""
    shown = table.dropna(subset="residual")
    if shown.empty:
        return Chart([], [], note=why_nothing(table))
    rows = [_row(row, stores) for row in records(shown)]
    there = {row["name"] for row in rows}
    legend = [line_entry(_(CONTROLS), "#808080", None, "X"), *point_legend(stores)]
    legend = [entry for entry in legend if entry["label"] in there]
    words = _("Each run's throughput against the geometric mean of its setting, over its place.")
    panel = Panel(_layers(table, legend), description=words, height=230)
    return Chart(rows, [panel], legend)


def _row(row: dict, stores: dict[str, Look]) -> dict:
    look = stores.get(row["store"])
    cell = cell_path(*(row[key] for key in ("store", "workload", "parameters", "repetition")))
    return plain(row, ["store", "workload", "sequence", "residual"]) | {
        "panel": 0,
        "name": look.title if look else _(CONTROLS),
        "title": f"{look.title if look else row['store']}, {row['workload']}",
        "exact": exact("throughput", row["throughput"], "ops/s"),
        "change_text": change(float(np.expm1(row["residual"]))),
        "place": f"{row['sequence']:.0f}",
        "cells": cell,
    }


def _layers(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    ordered = table.sort_values("sequence")
    numbers = ordered["repetition"].astype(int).tolist()
    at = ordered["sequence"].tolist()
    starts = [
        float(at[place] - 0.5) for place in range(1, len(at)) if numbers[place] > numbers[place - 1]
    ]
    last = float(table["sequence"].max())
    x = {"title": _("Place in the order of measurement")}
    x["scale"] = alt.Scale(domain=[0, last + 1], nice=False)
    x["axis"] = alt.Axis(format="d", tickMinStep=1, grid=False)
    y_axis = alt.Axis(format="+.0%", tickCount=6)
    changes = np.expm1(table["residual"].dropna().to_numpy(float))
    low, high = min(0.0, changes.min()), max(0.0, changes.max())
    room = 0.08 * (high - low) or 0.01
    scale = alt.Scale(domain=[float(low - room), float(high + room)], nice=False)
    y = {"title": _("Throughput against the mean"), "axis": y_axis, "scale": scale}
    points = (
        bare()
        .transform_calculate(change="exp(datum.residual) - 1")
        .mark_point(filled=True, opacity=0.9, size=55)
        .encode(
            x=alt.X("sequence:Q", **x),
            y=alt.Y("change:Q", **y),
            color=alt.Color("name:N", scale=scale_of(legend, "color"), legend=top_legend()),
            shape=alt.Shape("name:N", scale=scale_of(legend, "shape"), legend=None),
            **texts(TEXTS),
        )
    )
    lines = [
        bare()
        .mark_rule(style="kv-line", strokeDash=[4, 4], aria=False)
        .encode(x=alt.XDatum(place, **x))
        for place in starts
    ]
    zero = bare().mark_rule(style="kv-line", aria=False).encode(y=alt.YDatum(0, **y))
    return [zero, *lines, points]
