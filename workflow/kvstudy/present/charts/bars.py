"""Bars in groups, one per store; torn where the static figure tears them."""

from __future__ import annotations

import altair as alt
import pandas as pd
from matplotlib.ticker import MaxNLocator

from kvstudy.analyse.audit.doubts import MARK, marked_values
from kvstudy.analyse.tidy.numbers import grouped, sign, significant
from kvstudy.language.current import N_, _
from kvstudy.language.recorded import recorded
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
from kvstudy.present.charts.texts import between, exact, rejected_note, runs
from kvstudy.present.figures.averages import GROUPS, panel_titles
from kvstudy.present.figures.draw import TORN_HEIGHT, Look, panel_title, top_of
from kvstudy.study.figure_kinds import Bars
from kvstudy.study.grids import Averages
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

NUMBERS = ["value", "min", "max", "n"]
TEXTS = {
    "exact": N_("Value"),
    "range": N_("Range"),
    "runs": N_("Mean of"),
    "note": N_("Note"),
    "cut": N_("Bar"),
}
# Where a torn bar is cut, by its height: what is left of it.
PIECES = "datum.torn === 'yes' ? [[0, 0.86], [0.885, 0.915], [0.94, 1]] : [[0, 1]]"
# Room above the highest bar for its value, upright or turned.
ROOM = 1.24
# Pixels of a bar below which its value is turned, or left out.
UPRIGHT, LEAST = 38, 9


def bars_chart(table: pd.DataFrame, figure: Bars, study: Study, stores: dict[str, Look]) -> Chart:
    """Of ``figures.bars.bars``'s table."""
    places = _workloads(figure, study)
    metrics = {METRICS[metric].short: metric for metric in figure.metrics}
    who = f"({study.source.author}, {study.source.year})" if study.source else ""
    rows = []
    for row in records(table):
        metric = metrics.get(row["group"], figure.metrics[0])
        rows.append(_row(row, metric, stores) | {"workload": places.get(row["group"], places[""])})
    name = _(METRICS[figure.metrics[0]].short) if len(figure.metrics) == 1 else _("Value")
    if figure.metrics[0].startswith("latency"):
        several = len(figure.metrics) > 1
        name = _("Latency") if several else _("Latency, {}").format(name.lower())
    titles = {panel: panel_title(panel, table, who) for panel in table["panel"].unique()}
    return _chart(table, rows, name, titles, stores)


def averages_chart(
    table: pd.DataFrame, figure: Averages, study: Study, stores: dict[str, Look]
) -> Chart:
    """Of ``figures.averages.averages``'s table."""
    rows, of_sizes = [], _("{} of {} sizes")
    for row in records(table):
        sizes = row["n"]
        shown = _row(row, figure.metric, stores) | {"workload": row["panel"]}
        shown["runs"] = (
            "" if pd.isna(sizes) else of_sizes.format(recorded(row["group"]), f"{sizes:.0f}")
        )
        rows.append(shown)
    assert set(table["group"]) <= set(GROUPS)
    name = _(METRICS[figure.metric].short)
    return _chart(table, rows, name, panel_titles(table, study), stores)


def _workloads(figure: Bars, study: Study) -> dict[str, str]:
    """Workloads by the name of their group; the one of all groups by an empty name."""
    one = figure.workloads[0] if len(figure.workloads) == 1 else ""
    several = {study.workload(name).short: name for name in figure.workloads}
    return {"": one} | (several if len(figure.workloads) > 1 else {})


def _row(row: dict, metric: str, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    several = row["n"] > 1
    group = recorded(row["group"])
    label = "" if pd.isna(row["value"]) else grouped(significant(row["value"]))
    rejected = row.get("rejected") == "yes"
    return (
        plain(row, ["store", "torn", "note", *NUMBERS])
        | {
            "group": group,
            "side": row["panel"],
            "name": look.title,
            "title": f"{look.title}, {group}",
            "exact": exact(metric, row["value"], row["unit"]),
            "range": between(metric, row["min"], row["max"], row["unit"]) if several else "",
            "runs": runs(row["n"]),
            "label": label,
            "cut": _("cut off, higher than drawn") if row["torn"] == "yes" else "",
        }
        | ({"label": f"{label}{MARK}", "note": marked_values()} if rejected else {})
    )


def _chart(
    table: pd.DataFrame, rows: list[dict], name: str, titles: dict[str, str], stores: dict
) -> Chart:
    shown = {store: look for store, look in stores.items() if store in set(table["store"])}
    unit = sign(table["unit"].iloc[0])
    panels = []
    for place, (side, title) in enumerate(titles.items()):
        mine = table[table["panel"] == side]
        panels.append(
            Panel(
                _layers(mine, shown, f"{name} ({unit})"),
                title,
                _("Bar chart. {}. {} in {}, by store.").format(title, name, unit),
            )
        )
        for row in rows:
            if row["side"] == side:
                row["panel"] = place
    for row in rows:
        del row["side"]
    across = 2 if table["group"].nunique() <= 2 else 1
    return Chart(rows, panels, bar_legend(shown), across, rejected_note(table))


def _layers(table: pd.DataFrame, stores: dict[str, Look], title: str) -> list[alt.Chart]:
    top = top_of(table)
    has_torn = (table["torn"] == "yes").any()
    ticks = MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, top)
    y_axis = alt.Axis(
        title=title, values=[float(tick) for tick in ticks if 0 <= tick <= top * 1.001]
    )
    y_scale = alt.Scale(domain=[0, top * (TORN_HEIGHT if has_torn else 1) * ROOM], nice=False)
    groups = list(dict.fromkeys(table["group"].map(recorded)))
    titles = [look.title for look in stores.values()]
    base = (
        bare()
        .transform_calculate(
            height=f"datum.torn === 'yes' ? {TORN_HEIGHT * top} : datum.value",
            end="datum.torn === 'no' && datum.n > 1 ? datum.max : datum.height",
        )
        .encode(
            x=alt.X("group:N", sort=groups, scale=alt.Scale(paddingInner=0.12, paddingOuter=0.06))
            .title(None)
            .axis(labelAngle=0, labelExpr="split(datum.label, ' ')", ticks=False),
            xOffset=alt.XOffset(
                "name:N", sort=titles, scale=alt.Scale(domain=titles, paddingInner=0.06)
            ),
        )
    )
    color = alt.Color(
        "name:N",
        scale=palette(titles, [fill(store, look) for store, look in stores.items()]),
        legend=top_legend(),
    )
    step = f"width / {len(groups) * len(stores)}"
    turned = f"{step} < {UPRIGHT}"
    words = {
        "angle": alt.ExprRef(f"{turned} ? 270 : 0"),
        "align": alt.ExprRef(f"{turned} ? 'left' : 'center'"),
        "baseline": alt.ExprRef(f"{turned} ? 'middle' : 'bottom'"),
        "dx": alt.ExprRef(f"{turned} ? 4 : 0"),
        "dy": alt.ExprRef(f"{turned} ? 0 : -4"),
    }
    whole = base.transform_filter("isValid(datum.value)")
    several = whole.transform_filter("datum.torn === 'no' && datum.n > 1 && isValid(datum.max)")
    y = {"axis": y_axis, "scale": y_scale}
    return [
        whole.transform_calculate(pieces=PIECES)
        .transform_flatten(["pieces"])
        .transform_calculate(
            low="datum.height * datum.pieces[0]", high="datum.height * datum.pieces[1]"
        )
        .mark_bar()
        .encode(y=alt.Y("low:Q", **y), y2="high:Q", color=color, **texts(TEXTS)),
        several.mark_rule(style="kv-ink", aria=False).encode(y=alt.Y("min:Q", **y), y2="max:Q"),
        several.mark_tick(
            style="kv-ink", aria=False, orient="horizontal", size=7, thickness=1
        ).encode(y=alt.Y("min:Q", **y)),
        several.mark_tick(
            style="kv-ink", aria=False, orient="horizontal", size=7, thickness=1
        ).encode(y=alt.Y("max:Q", **y)),
        whole.mark_text(
            style="kv-text",
            aria=False,
            opacity=alt.ExprRef(f"{step} < {LEAST} ? 0 : 1"),
            fontWeight="normal",
            **words,
        ).encode(y=alt.Y("end:Q", **y), text="label:N"),
        base.transform_filter("!isValid(datum.value)")
        .mark_text(style="kv-note", angle=270, align="left", baseline="middle", dx=4)
        .encode(y=alt.YDatum(0, **y), text="note:N", **texts(TEXTS)),
    ]
