"""Latency over the share of the operations that are not slower, up to the rare ones."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.recorded import recorded
from kvstudy.present.charts.chart import (
    Chart,
    Panel,
    bare,
    log_axis,
    plain,
    records,
    scale_of,
    texts,
    top_legend,
)
from kvstudy.present.charts.legend import line_entry
from kvstudy.present.charts.texts import between, exact, runs
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.spectrum import LINES, TICKS, odds

TEXTS = {
    "exact": N_("Latency"),
    "range": N_("Range of the single runs"),
    "runs": N_("Histograms of"),
    "beyond_text": N_("Slower operations"),
    "cells": N_("Cells"),
}


def spectrum_chart(table: pd.DataFrame, stores: dict[str, Look]) -> Chart:
    """Of ``figures.spectrum.spectrum_table``'s table; µs over 1/(1 - share), both logarithmic."""
    if table.empty:
        return Chart([], [], note=_("no histograms of latency"))
    several = table["parameters"].nunique() > 1
    rows, panels = [], []
    legend = [
        line_entry(look.title, look.color, LINES[index % len(LINES)], None, store)
        for index, (store, look) in enumerate(stores.items())
        if store in set(table["store"])
    ]
    for place, ((parameters, operation), mine) in enumerate(
        table.groupby(["parameters", "operation"], sort=False)
    ):
        title = recorded(operation) + (f", {parameters}" if several else "")
        rows += [_row(row, stores) | {"panel": place} for row in records(mine)]
        words = _("Percentiles of the latency of {} in µs, by store.").format(title)
        panels.append(Panel(_layers(mine, legend), title, words, 250))
    note = _("The band is the range of the single runs.") if (table["n"] > 1).any() else ""
    return Chart(rows, panels, legend, min(len(panels), 2), note)


def _row(row: dict, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    names = ["store", "workload", "percent", "value", "low", "high", "n"]
    several = row["n"] > 1
    return plain(row, names) | {
        "name": look.title,
        "title": _("{}, {}: {} % are not slower than").format(
            look.title, recorded(row["operation"]), decimal(f"{row['percent']:.7g}")
        ),
        "exact": exact("latency", row["value"], "us"),
        "range": between("latency", row["low"], row["high"], "us") if several else "",
        "runs": runs(row["n"]),
        "beyond_text": grouped(f"{row['beyond']:.0f}"),
        "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
    }


def _layers(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    farthest = float(odds(table["percent"]).max())
    ticks = [tick for tick in TICKS if odds(tick) <= farthest * 1.06]
    axis = alt.Axis(
        values=[float(odds(tick)) for tick in ticks],
        labelExpr="format(round((100 - 100 / datum.value) * 1e6) / 1e6, '~g') + ' %'",
        labelOverlap="greedy",
        grid=False,
    )
    scale = alt.Scale(type="log", domain=[1, max(farthest * 1.05, 2)], nice=False)
    x = alt.X(
        "odds:Q", title=_("Share of the operations that are not slower"), axis=axis, scale=scale
    )
    ends = table[["low", "value", "high"]].clip(lower=1)
    low, high = float(ends.min(axis=None)), float(ends.max(axis=None)) * 1.1
    logs = alt.Scale(type="log", domain=[low, high], nice=False)
    y = {"title": _("Latency (µs)"), "scale": logs, "axis": log_axis(low, high)}
    # A latency of 0 µs has no place on a logarithmic axis.
    clipped = {f"{name}_at": f"max(datum.{name}, 1)" for name in ("low", "value", "high")}
    clipped["odds"] = "100 / (100 - datum.percent)"
    base = bare().transform_calculate(**clipped).encode(x=x)
    color = alt.Color("name:N", scale=scale_of(legend, "color"), legend=top_legend())
    dashes = alt.StrokeDash("name:N", scale=scale_of(legend, "dash"), legend=None)
    return [
        base.transform_filter("datum.n > 1 && isValid(datum.low) && isValid(datum.high)")
        .mark_area(opacity=0.2, aria=False)
        .encode(y=alt.Y("low_at:Q", **y), y2="high_at:Q", color=color),
        base.mark_line(strokeWidth=1.6, aria=False).encode(
            y=alt.Y("value_at:Q", **y), color=color, strokeDash=dashes
        ),
        base.mark_point(filled=True, size=18, opacity=0.9).encode(
            y=alt.Y("value_at:Q", **y), color=color, **texts(TEXTS)
        ),
    ]
