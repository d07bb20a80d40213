"""A value of a workload at all of its sizes: a map for each store, all in one colour scale."""

from __future__ import annotations

import altair as alt
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm, Normalize

from kvstudy.analyse.tidy.numbers import grouped, sign, significant
from kvstudy.language.current import N_, _
from kvstudy.present.charts.chart import Chart, Panel, bare, plain, records, texts
from kvstudy.present.charts.texts import between, exact, is_missing, runs
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.heatmap import COLORS, norm_of, runs_words
from kvstudy.present.figures.words import size_words
from kvstudy.study.base import SIZES
from kvstudy.study.grids import Heatmap
from kvstudy.study.metrics import METRICS

TEXTS = {
    "exact": N_("Value"),
    "size": N_("Size"),
    "range": N_("Range"),
    "runs": N_("Mean of"),
    "cells": N_("Cells"),
    "note": N_("Note"),
}
# Pixels of a cell: high, and the least width that has room for its value.
HEIGHT, LEAST = 26, 26
INKS = ["#262626", "#ffffff"]


def heatmap_chart(table: pd.DataFrame, figure: Heatmap, stores: dict[str, Look]) -> Chart:
    """Of ``figures.heatmap.heatmap_table``'s table."""
    norm = norm_of(table["value"].dropna())
    shown = [store for store in stores if (table["store"] == store).any()]
    rows = [_row(row, figure, stores, norm, shown) for row in records(table)]
    places = list(dict.fromkeys(row["place"] for row in rows))
    threads = sorted({row["threads"] for row in rows})
    name = f"{_(METRICS[figure.metric].title)} ({sign(figure.unit)})"
    layers = _layers(places, threads, norm, name)
    words = _("Heat map of {}: {} by records, operations and threads.")
    panels = [
        Panel(
            layers,
            stores[store].title,
            words.format(stores[store].title, name),
            HEIGHT * len(places),
        )
        for store in shown
    ]
    note = _("{}, {}. Rows: records, operations.").format(name, runs_words(table))
    return Chart(rows, panels, [], min(len(shown), 3) or 1, note)


def _row(row: dict, figure: Heatmap, stores: dict, norm: Normalize, shown: list[str]) -> dict:
    value, unit, look = row["value"], row["unit"], stores[row["store"]]
    records_, operations = (grouped(f"{row[name]:.0f}") for name in ("records", "operations"))
    names = ["workload", "store", "records", "operations", "threads", "value", "low", "high", "n"]
    several = row["n"] > 1
    return plain(row, [*names, "note"]) | {
        "panel": shown.index(row["store"]),
        "place": f"{records_}, {operations}",
        "title": look.title,
        "size": ", ".join(size_words(size, row[size]) for size in SIZES),
        "exact": exact(figure.metric, value, unit),
        "range": between(figure.metric, row["low"], row["high"], unit) if several else "",
        "runs": runs(row["n"]) if row["n"] else "",
        "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
        "label": "" if is_missing(value) else grouped(significant(value)),
        "ink": "" if is_missing(value) else _ink(value, norm),
    }


def _ink(value: float, norm: Normalize) -> str:
    """Black or white, whichever is readable on the cell's colour, as in print."""
    color = plt.get_cmap(COLORS)(norm(value))
    return INKS[0] if np.dot(color[:3], [0.299, 0.587, 0.114]) > 0.5 else INKS[1]


def _layers(places: list[str], threads: list[float], norm: Normalize, name: str) -> list[alt.Chart]:
    base = bare().encode(
        x=alt.X("threads:O", sort=threads, title=_("Client threads")).axis(
            labelAngle=0, ticks=False
        ),
        y=alt.Y("place:O", sort=places, title=None).axis(ticks=False, domain=False),
        **texts(TEXTS),
    )
    kind = "log" if isinstance(norm, LogNorm) else "linear"
    scale = alt.Scale(
        scheme=COLORS, type=kind, domain=[float(norm.vmin), float(norm.vmax)], nice=False
    )
    legend = alt.Legend(title=name, orient="top")
    known = base.transform_filter("isValid(datum.value)")
    narrow = f"width / {len(threads)} < {LEAST} ? 0 : 1"
    return [
        known.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=legend)),
        base.transform_filter("!isValid(datum.value)").mark_rect(
            fill="url(#kv-nothing) #8c8c8c", fillOpacity=0.5
        ),
        *[
            known.transform_filter(f"datum.ink === '{ink}'")
            .mark_text(color=ink, aria=False, opacity=alt.ExprRef(narrow))
            .encode(text="label:N")
            for ink in INKS
        ],
    ]
