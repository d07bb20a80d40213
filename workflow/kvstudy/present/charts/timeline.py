"""The runs of a workload second by second: throughput, and the cores that were busy."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
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
from kvstudy.present.charts.legend import line_entry
from kvstudy.present.charts.texts import exact
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.timeline import SIDES, verdict_words
from kvstudy.present.figures.words import from_to
from kvstudy.study.cells import cell_path

LABELS = {"client": N_("client"), "server": N_("server"), "rest": N_("rest of the machine")}
LOOKS = {"client": ("#0072b2", "-"), "server": ("#d55e00", "--"), "rest": ("#808080", ":")}
TEXTS = {"exact": N_("Value"), "seconds": N_("Seconds"), "cells": N_("Cell")}
NOTE = N_("The grey part is the warm-up of the first run.")


def timeline_chart(table: pd.DataFrame, workload: str, stores: dict[str, Look]) -> Chart:
    """Of ``figures.timeline.timeline``'s table: for each store its throughput and its cores.

    An interval of the table is a step; lines of long runs have at most
    ``figures.timeline.MOST_INTERVALS``, as the table says.
    """
    rows, panels, notes = [], [], []
    cores = table.loc[table["strip"].isin(SIDES), "high"].max()
    several = table.loc[table["parameters"] != "", "parameters"].nunique() > 1
    legend = [
        line_entry(_(LABELS[side]), *LOOKS[side])
        for side in SIDES
        if (table["strip"] == side).any()
    ]
    for (store, parameters), mine in table.groupby(["store", "parameters"], sort=False):
        title = stores[store].title + (f", {parameters}" if several and parameters else "")
        if (mine["note"] != "").any():
            notes.append(f"{title}: {mine['note'].iloc[0]}.")
            continue
        verdict = verdict_words(mine.replace({"verdict": {"": None}}))
        speed = mine[mine["strip"] == "throughput"]
        busy = mine[mine["strip"].isin(SIDES)]
        head = f"{title}: {verdict}" if verdict else title
        for strip in (speed, busy):
            if strip.empty:
                notes.append(_("{}: busy cores were not recorded.").format(title))
                continue
            if strip is speed:
                layers = _throughput(speed, stores[store].color)
            else:
                layers = _cores(busy, legend, cores)
            what = _("throughput in ops/s") if strip is speed else _("busy cores")
            words = _("Line chart. {}: {} over the time of the run.").format(title, what)
            rows += [_row(row, workload, title) | {"panel": len(panels)} for row in records(strip)]
            panels.append(Panel(layers, head, words, 150))
    if (pd.to_numeric(table["warm_up"]) > 0).any():
        notes.insert(0, _(NOTE))
    return Chart(rows, panels, legend, 2, " ".join(notes))


def _row(row: dict, workload: str, title: str) -> dict:
    cell = cell_path(row["store"], workload, row["parameters"], row["repetition"])
    names = ["store", "repetition", "start", "end", "low", "high"]
    strip = row["strip"]
    is_speed = strip == "throughput"
    ends = [
        exact("throughput", value, "ops/s")
        if is_speed
        else _("{} cores").format(significant(value))
        for value in (row["low"], row["high"])
    ]
    run = _("{}, repetition {}").format(title, row["repetition"])
    seconds = (decimal(f"{row[end]:g}") for end in ("start", "end"))
    return plain(row, names) | {
        "workload": workload,
        "name": title if is_speed else _(LABELS[strip]),
        "title": run if is_speed else f"{run}, {_(LABELS[strip])}",
        "exact": ends[0] if row["low"] == row["high"] else from_to(*ends),
        "seconds": from_to(*seconds),
        "cells": cell,
    }


def _base() -> alt.Chart:
    return bare().transform_calculate(middle="(datum.start + datum.end) / 2")


def _x(last: float) -> alt.X:
    scale = alt.Scale(domain=[0, last], nice=False)
    return alt.X("middle:Q", title=_("Time (s)"), scale=scale, axis=alt.Axis(grid=False))


def _throughput(rows: pd.DataFrame, color: str) -> list[alt.Chart]:
    y = {"title": "ops/s", "axis": alt.Axis(tickCount=4, format="~s")}
    y["scale"] = alt.Scale(domain=[0, 1.08 * float(rows["high"].max()) or 1], nice=False)
    x = _x(float(rows["end"].max()))
    step = {"interpolate": "step", "color": color, "aria": False}
    run = alt.Detail("repetition:N")
    layers = [
        _base()
        .transform_filter("datum.low < datum.high")
        .mark_area(opacity=0.4, **step)
        .encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q", detail=run),
        _base().mark_line(strokeWidth=1.2, **step).encode(x=x, y=alt.Y("high:Q", **y), detail=run),
        _base()
        .mark_point(filled=True, opacity=0, size=70, aria=False)
        .encode(x=x, y=alt.Y("high:Q", **y), **texts(TEXTS)),
    ]
    warm_up = float(pd.to_numeric(rows["warm_up"]).iloc[0] or 0) if len(rows) else 0
    if warm_up > 0:
        band = bare().mark_rect(style="kv-band", aria=False)
        layers.insert(0, band.encode(x=alt.XDatum(0), x2=alt.datum(warm_up)))
    return layers


def _cores(rows: pd.DataFrame, legend: list[dict], highest: float) -> list[alt.Chart]:
    x = _x(float(rows["end"].max()))
    scale = alt.Scale(domain=[0, 1.08 * float(highest) or 1], nice=False)
    y = {"title": _("busy cores"), "axis": alt.Axis(tickCount=4), "scale": scale}
    color = alt.Color("name:N", scale=scale_of(legend, "color"), legend=top_legend())
    dashes = alt.StrokeDash("name:N", scale=scale_of(legend, "dash"), legend=None)
    return [
        _base()
        .transform_filter("datum.low < datum.high")
        .mark_area(interpolate="step", opacity=0.3, aria=False)
        .encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q", color=color),
        _base()
        .mark_line(interpolate="step", strokeWidth=1.3, aria=False)
        .encode(x=x, y=alt.Y("high:Q", **y), color=color, strokeDash=dashes),
        _base()
        .mark_point(filled=True, opacity=0, size=70, aria=False)
        .encode(x=x, y=alt.Y("high:Q", **y), **texts(TEXTS)),
    ]
