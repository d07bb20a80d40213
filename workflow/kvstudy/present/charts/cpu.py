"""CPU time of an operation: the server's part below, the client's, lighter, on it."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.language.current import N_, _
from kvstudy.present.charts.chart import (
    Chart,
    Panel,
    bare,
    palette,
    plain,
    records,
    texts,
    top_legend,
)
from kvstudy.present.charts.legend import bar_legend, fill
from kvstudy.present.charts.texts import exact, runs
from kvstudy.present.figures.cpu import LIGHT
from kvstudy.present.figures.draw import Look
from kvstudy.study.model import Study

TEXTS = {
    "server_text": N_("Server"),
    "client_text": N_("Client"),
    "total_text": N_("Together"),
    "runs": N_("Geometric mean of"),
    "note": N_("Note"),
}
UPRIGHT = 38


def cpu_chart(table: pd.DataFrame, study: Study, stores: dict[str, Look]) -> Chart:
    """Of ``figures.cpu.cpu_table``'s table."""
    several = table.groupby("workload")["parameters"].nunique().max() > 1
    rows = [_row(row, several, study, stores) for row in records(table)]
    legend = bar_legend(stores)
    grey = {"mark": "bar", "color": "#808080", "hatch": 0}
    legend.append(grey | {"label": _("server (below)")})
    legend.append(grey | {"label": _("client (above)"), "opacity": LIGHT})
    words = _("Stacked bar chart of the CPU time of an operation, server and client, in µs.")
    return Chart(rows, [Panel(_layers(rows, stores), description=words, height=240)], legend)


def _row(row: dict, several: bool, study: Study, stores: dict[str, Look]) -> dict:
    group = study.workload(row["workload"]).short
    if several:
        group += f" {row['parameters']}"
    parts = [row[side] for side in ("server", "client") if not pd.isna(row[side])]
    total = sum(parts) if parts else None
    label = ""
    if total is not None:
        label = significant(total) + (" " + _("client only") if pd.isna(row["server"]) else "")
    look = stores[row["store"]]
    return plain(row, ["workload", "store", "client", "server", "n", "note"]) | {
        "panel": 0,
        "group": group,
        "name": look.title,
        "title": f"{look.title}, {group}",
        "server_text": exact("latency", row["server"], row["unit"]),
        "client_text": exact("latency", row["client"], row["unit"]),
        "total_text": exact("latency", total, row["unit"]) if len(parts) == 2 else "",
        "runs": runs(row["n"]),
        "label": label,
    }


def _layers(rows: list[dict], stores: dict[str, Look]) -> list[alt.Chart]:
    groups = list(dict.fromkeys(row["group"] for row in rows))
    titles = [look.title for look in stores.values()]
    scale = alt.Scale(paddingInner=0.12, paddingOuter=0.06)
    base = (
        bare()
        .transform_calculate(
            bottom="isValid(datum.server) ? datum.server : 0",
            top="isValid(datum.client) ? datum.bottom + datum.client : 0",
        )
        .encode(
            x=alt.X("group:N", sort=groups, scale=scale)
            .title(None)
            .axis(labelAngle=0, labelExpr="split(datum.label, ' ')", ticks=False),
            xOffset=alt.XOffset("name:N", scale=alt.Scale(domain=titles, paddingInner=0.06)),
            **texts(TEXTS),
        )
    )
    highest = max(((row["server"] or 0) + (row["client"] or 0) for row in rows), default=0) or 1
    y = {"scale": alt.Scale(domain=[0, 1.25 * highest], nice=False)}
    y["title"] = _("CPU time of an operation (µs)")
    color = alt.Color(
        "name:N",
        scale=palette(titles, [fill(store, look) for store, look in stores.items()]),
        legend=top_legend(),
    )
    known = base.transform_filter("isValid(datum.client)")
    turned = f"width / {max(len(groups) * len(stores), 1)} < {UPRIGHT}"
    return [
        known.mark_bar().encode(y=alt.Y("bottom:Q", **y), y2=alt.datum(0), color=color),
        known.mark_bar(fillOpacity=LIGHT, aria=False).encode(
            y=alt.Y("bottom:Q", **y), y2="top:Q", color=color
        ),
        known.mark_text(
            style="kv-text",
            aria=False,
            angle=alt.ExprRef(f"{turned} ? 270 : 0"),
            align=alt.ExprRef(f"{turned} ? 'left' : 'center'"),
            baseline=alt.ExprRef(f"{turned} ? 'middle' : 'bottom'"),
            dx=alt.ExprRef(f"{turned} ? 4 : 0"),
            dy=alt.ExprRef(f"{turned} ? 0 : -4"),
        ).encode(y=alt.Y("top:Q", **y), text="label:N"),
        base.transform_filter("!isValid(datum.client)")
        .mark_text(style="kv-note", angle=270, align="left", baseline="middle", dx=4)
        .encode(y=alt.YDatum(0, **y), text="note:N"),
    ]
