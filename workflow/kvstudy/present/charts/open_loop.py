"""Service and intended latencies over the load."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.findings.open_loop import INTENDED_TIME, SERVICE_TIME
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.present.charts.chart import (
    Chart,
    Panel,
    bare,
    log_axis,
    palette,
    plain,
    records,
    texts,
)
from kvstudy.present.charts.legend import SHAPES, dash, line_entry
from kvstudy.present.charts.texts import between, exact, runs
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.open_loop import MARKERS, TIMES, share_words

TEXTS = {
    "exact": N_("Latency"),
    "range": N_("Range"),
    "runs": N_("Runs"),
    "reached_text": N_("Rate reached in"),
    "cells": N_("Cells"),
}
STYLES = {SERVICE_TIME: "--", INTENDED_TIME: "-"}


def open_loop_chart(table: pd.DataFrame, workload: str, stores: dict[str, Look]) -> Chart:
    """Of ``figures.open_loop.open_loop_table``'s table: a panel per store, latencies in ms."""
    if table.empty:
        return Chart([], [], note=_("not measured"))
    shown = [store for store in stores if store in set(table["store"])]
    rows = [
        _row(row, workload, stores) | {"panel": shown.index(row["store"])} for row in records(table)
    ]
    grey = "#808080"
    shares = zip(share_words(), MARKERS.values(), strict=True)
    legend = [line_entry(label, grey, None, marker) for label, marker in shares]
    legend += [line_entry(_(TIMES[time]), grey, style) for time, style in STYLES.items()]
    missed = (table["reached"] < table["n"]).any()
    if missed:
        legend.append(line_entry(_("rate not reached"), grey, None, "X"))
    values = table["value"] / 1000
    domain = [float(values.min()) / 1.3, float(values.max()) * 1.3]
    loads = sorted(table["load"].unique().tolist())
    words = _("Percentiles of latency of {} in ms over the load.")
    panels = [
        Panel(
            _layers(stores[store].color, loads, domain),
            stores[store].title,
            words.format(stores[store].title),
        )
        for store in shown
    ]
    absent = [look.title for store, look in stores.items() if store not in shown]
    note = _("Not measured: {}.").format(", ".join(absent)) if absent else ""
    return Chart(rows, panels, legend, min(len(panels), 3), note)


def _row(row: dict, workload: str, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    kind = decimal(f"{row['percent']:g} %")
    time, load = TIMES[row["time"]], decimal(f"{row['load']:g} %")
    reached = ngettext("{} of {} run", "{} of {} runs", int(row["n"]))
    names = ["store", "load", "time", "value", "low", "high", "n", "reached"]
    several = row["n"] > 1
    return plain(row, names) | {
        "workload": workload,
        "share": kind,
        "line": f"{row['parameters']} {row['time']} {kind}",
        "title": _("{}, {}, {}, load {}").format(look.title, _(time), kind, load),
        "exact": exact("latency", row["value"], "us"),
        "range": between("latency", row["low"], row["high"], "us") if several else "",
        "runs": runs(row["n"]),
        "reached_text": reached.format(f"{row['reached']:.0f}", f"{row['n']:.0f}"),
        "cells": f"{row['store']}/{workload}/{row['parameters']}",
    }


def _layers(color: str, loads: list[float], domain: list[float]) -> list[alt.Chart]:
    room = max(0.2 * (loads[-1] - loads[0]), 5)
    scale = alt.Scale(domain=[loads[0] - room, loads[-1] + room], nice=False)
    axis = alt.Axis(values=loads, labelExpr="datum.label + ' %'", grid=False)
    x = alt.X("load:Q", title=_("Load"), scale=scale, axis=axis)
    y = alt.Y("ms:Q", title=_("Latency (ms)"), axis=log_axis(*domain))
    y = y.scale(type="log", domain=domain, nice=False)
    base = bare().transform_calculate(ms="datum.value / 1000").encode(x=x, y=y)
    dashes = palette(STYLES, [dash(style) for style in STYLES.values()])
    shapes = palette(share_words(), [SHAPES[marker] for marker in MARKERS.values()])
    points = base.encode(shape=alt.Shape("share:N", scale=shapes, legend=None), **texts(TEXTS))
    return [
        base.mark_line(strokeWidth=1.4, color=color, aria=False).encode(
            strokeDash=alt.StrokeDash("time:N", scale=dashes, legend=None), detail="line:N"
        ),
        points.transform_filter(f"datum.time !== '{INTENDED_TIME}'").mark_point(
            filled=False, color=color, size=50, opacity=1
        ),
        points.transform_filter(f"datum.time === '{INTENDED_TIME}'").mark_point(
            filled=True, color=color, size=50, opacity=1
        ),
        base.transform_filter("datum.reached < datum.n").mark_point(
            shape=SHAPES["X"], filled=True, style="kv-ink", size=80, opacity=1, aria=False
        ),
    ]
