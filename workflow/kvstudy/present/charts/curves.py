"""Throughput and latencies over one size, with the points where throughput saturates."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.audit.doubts import MARK, marked_values
from kvstudy.analyse.tidy.numbers import sign
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.language.current import N_, _
from kvstudy.language.recorded import recorded
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
from kvstudy.present.charts.legend import color, line_entry
from kvstudy.present.charts.texts import between, exact, rejected_note, runs
from kvstudy.present.figures.curves import WIDE, line_looks, panels_of, title_of
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.words import size_words
from kvstudy.study.base import SIZE_TITLES
from kvstudy.study.curves import Curves
from kvstudy.study.model import Study

TEXTS = {
    "exact": N_("Value"),
    "size": N_("Size"),
    "range": N_("Range"),
    "runs": N_("Mean of"),
    "saturation": N_("Saturation"),
    "note": N_("Note"),
}


def curves_chart(
    table: pd.DataFrame, figure: Curves, study: Study, stores: dict[str, Look]
) -> Chart:
    """Of ``figures.curves.curves_table``'s table."""
    looks = line_looks(figure, study, stores)
    known = table.dropna(subset="value")
    if known.empty:
        return Chart([], [], note=_("nothing was measured"))
    names = panels_of(table, figure)
    rows = [
        _row(row, figure, looks) | {"panel": names.index(row["panel"])} for row in records(known)
    ]
    legend = []
    for index in sorted(known["line"].unique()):
        of_color, style, marker, label = looks[index]
        stores_of = set(known.loc[known["line"] == index, "store"])
        legend.append(line_entry(label, color(of_color), style, marker, stores_of.pop()))
    panels = []
    for name in names:
        mine = known[known["panel"] == name]
        title, unit = title_of(mine), sign(mine["unit"].iloc[0])
        words = _("Line chart. {}, in {}, over {}.").format(title, unit, recorded(figure.over))
        panels.append(Panel(_layers(mine, figure, legend), title, words))
    rings = (known["saturated"] == "yes").any()
    notes = [_("A ring: from here on throughput is saturated.") if rings else ""]
    notes.append(rejected_note(known))
    return Chart(rows, panels, legend, min(len(panels), 2), " ".join(filter(None, notes)))


def _row(row: dict, figure: Curves, looks: dict) -> dict:
    sizes = [size_words(size, row[size]) for size in ("records", "operations", "threads")]
    names = ["store", "workload", figure.over, "value", "low", "high", "n", "saturated"]
    several = row["n"] > 1
    label = looks[row["line"]][3]
    return plain(row, names) | {
        "name": label,
        "title": f"{label}, {size_words(figure.over, row[figure.over])}",
        "size": ", ".join(sizes),
        "exact": exact(row["metric"], row["value"], row["unit"]),
        "range": between(row["metric"], row["low"], row["high"], row["unit"]) if several else "",
        "runs": runs(row["n"]) if row["side"] == MEASURED else "",
        "saturation": _("from here on") if row["saturated"] == "yes" else "",
        "mark": MARK if row["rejected"] == "yes" else "",
        "note": marked_values() if row["rejected"] == "yes" else "",
    }


def _layers(table: pd.DataFrame, figure: Curves, legend: list[dict]) -> list[alt.Chart]:
    values = sorted(table[figure.over].unique().tolist())
    wide = values[0] > 0 and values[-1] / values[0] > WIDE
    kind = "log" if wide else "linear"
    axis = alt.Axis(values=values, format=",", labelOverlap="greedy", grid=False)
    room = (values[-1] / values[0]) ** 0.03 if wide else 0.03 * (values[-1] - values[0]) or 1
    ends = [values[0] / room, values[-1] * room] if wide else [values[0] - room, values[-1] + room]
    scale = alt.Scale(type=kind, nice=False, zero=False, domain=[float(end) for end in ends])
    x = alt.X(f"{figure.over}:Q", title=_(SIZE_TITLES[figure.over]), scale=scale, axis=axis)
    top = 1.05 * float(table[["value", "high"]].max(axis=None)) or 1
    y = {"title": sign(table["unit"].iloc[0]), "scale": alt.Scale(domain=[0, top])}
    there = scale_of(legend, "color")
    tint = alt.Color("name:N", scale=there, legend=top_legend())
    base = bare().encode(x=x, **texts(TEXTS))
    dashes = alt.StrokeDash("name:N", scale=scale_of(legend, "dash"), legend=None)
    shapes = alt.Shape("name:N", scale=scale_of(legend, "shape"), legend=None)
    return [
        bare()
        .transform_filter("datum.n > 1")
        .mark_area(opacity=0.15, aria=False)
        .encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q", color=tint),
        bare()
        .mark_line(strokeWidth=1.6, aria=False)
        .encode(x=x, y=alt.Y("value:Q", **y), color=tint, strokeDash=dashes),
        base.transform_filter("datum.saturated === 'yes'")
        .mark_point(filled=False, size=200, style="kv-ink", aria=False)
        .encode(y=alt.Y("value:Q", **y)),
        base.mark_point(filled=True, opacity=1, size=40).encode(
            y=alt.Y("value:Q", **y), color=tint, shape=shapes
        ),
        base.transform_filter("datum.mark !== ''")
        .mark_text(style="kv-text", aria=False, dx=6, dy=-6)
        .encode(y=alt.Y("value:Q", **y), text="mark:N"),
    ]
