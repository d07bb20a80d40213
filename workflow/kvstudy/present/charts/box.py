"""Latencies of single operations: a box for each kind of operation and store."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.tidy.numbers import converted, grouped, sign
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.recorded import recorded
from kvstudy.present.charts.chart import (
    Chart,
    Panel,
    bare,
    log_axis,
    palette,
    plain,
    records,
    texts,
    top_legend,
)
from kvstudy.present.charts.legend import bar_legend, fill
from kvstudy.present.charts.texts import exact, is_missing, runs
from kvstudy.present.figures.box import SHARES
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.words import from_to
from kvstudy.study.grids import Box

TEXTS = {
    "p50_text": N_("Median"),
    "middle": N_("25th to 75th percentile"),
    "most": N_("5th to 95th percentile"),
    "nearly": N_("1st to 99th percentile"),
    "largest_text": N_("Largest"),
    "count": N_("Operations"),
    "runs": N_("Of"),
    "cells": N_("Cells"),
    "note": N_("Note"),
}


def box_chart(table: pd.DataFrame, figure: Box, stores: dict[str, Look]) -> Chart:
    """Of ``figures.box.box_table``'s table, over a logarithmic axis."""
    rows = [_row(row, figure, stores) for row in records(table)]
    unit = table["unit"].iloc[0]
    words = _("Box plot of the latencies of single operations in {}, by store.").format(sign(unit))
    panel = Panel(_layers(rows, unit, stores), description=words, height=280)
    return Chart(rows, [panel], bar_legend(stores))


def _row(row: dict, figure: Box, stores: dict[str, Look]) -> dict:
    unit, look = row["unit"], stores[row["store"]]
    text = {name: exact("latency", row[name], unit) for name in SHARES}
    there = not is_missing(row["p50"])
    operation = recorded(row["operation"])
    names = ["store", *SHARES, "n", "note"]
    return plain(row, names) | {
        "panel": 0,
        "operation": operation,
        "workload": figure.workload,
        "name": look.title,
        "title": f"{look.title}, {operation}",
        "p50_text": text["p50"],
        "largest_text": text["largest"],
        "middle": from_to(text["p25"], text["p75"]) if there else "",
        "most": from_to(text["p5"], text["p95"]) if there else "",
        "nearly": from_to(text["p1"], text["p99"]) if there else "",
        "count": grouped(f"{row['operations']:.0f}") if there else "",
        "runs": runs(row["n"]),
        "cells": f"{row['store']}/{figure.workload}/{row['parameters']}" if there else "",
    }


def _layers(rows: list[dict], unit: str, stores: dict[str, Look]) -> list[alt.Chart]:
    # A latency of 0 has no place on a logarithmic axis; YCSB counts whole microseconds.
    least = converted(1, "us", unit)
    groups = list(dict.fromkeys(row["operation"] for row in rows))
    titles = [look.title for look in stores.values()]
    clipped = {f"{name}_at": f"max(datum.{name}, {least})" for name in SHARES}
    # Where long names of operations may be broken.
    hyphen = pgettext("in read-modify-write", "-")
    base = bare().encode(
        x=alt.X("operation:N", sort=groups, scale=alt.Scale(paddingInner=0.12))
        .title(None)
        .axis(labelAngle=0, labelExpr=f"split(datum.label, '{hyphen}')", ticks=False),
        xOffset=alt.XOffset("name:N", scale=alt.Scale(domain=titles, paddingInner=0.25)),
        **texts(TEXTS),
    )
    ends = [
        max(row[name], least) for row in rows for name in ("p1", "p99") if row[name] is not None
    ]
    low, high = min(ends, default=least), max(ends, default=least)
    domain = [low / 1.3, high * 1.3]
    y = {"scale": alt.Scale(type="log", domain=domain, nice=False)}
    y["title"] = _("Latency of an operation ({})").format(sign(unit))
    y["axis"] = log_axis(*domain)
    known = base.transform_filter("isValid(datum.p50)").transform_calculate(**clipped)
    color = alt.Color(
        "name:N",
        scale=palette(titles, [fill(store, look) for store, look in stores.items()]),
        legend=top_legend(),
    )
    rule = {"style": "kv-ink", "aria": False}
    cap = rule | {"orient": "horizontal", "size": 8, "thickness": 1}
    point = {"style": "kv-ink", "aria": False, "size": 9, "filled": True, "opacity": 1}
    return [
        known.mark_rule(**rule).encode(y=alt.Y("p5_at:Q", **y), y2="p95_at:Q"),
        known.mark_tick(**cap).encode(y=alt.Y("p5_at:Q", **y)),
        known.mark_tick(**cap).encode(y=alt.Y("p95_at:Q", **y)),
        known.mark_bar(minBandSize=3).encode(y=alt.Y("p25_at:Q", **y), y2="p75_at:Q", color=color),
        known.mark_tick(orient="horizontal", bandSize=400, thickness=2.5, **rule).encode(
            y=alt.Y("p50_at:Q", **y)
        ),
        known.mark_point(**point).encode(y=alt.Y("p1_at:Q", **y)),
        known.mark_point(**point).encode(y=alt.Y("p99_at:Q", **y)),
        base.transform_filter("!isValid(datum.p50)")
        .mark_text(style="kv-note", angle=270, align="left", baseline="middle", dx=4)
        .encode(y=alt.YValue("height"), text="note:N"),
    ]
