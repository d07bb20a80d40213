"""The places of the stores, as published and as measured: one slope per store."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.audit.doubts import MARK
from kvstudy.language.current import N_, _
from kvstudy.language.recorded import recorded
from kvstudy.present.charts.chart import Chart, Panel, bare, plain, records, scale_of, texts
from kvstudy.present.charts.legend import point_legend
from kvstudy.present.charts.texts import exact, rejected_note
from kvstudy.present.figures.draw import Look
from kvstudy.present.figures.slope import MARKERS, SINGLE, agreed_words, heights, sides
from kvstudy.study.model import Study

TEXTS = {
    "exact": N_("Throughput"),
    "place_text": N_("Place"),
    "undecided": N_("Undecided against"),
    "basis_text": N_("Rests on"),
}


def slope_chart(table: pd.DataFrame, study: Study, stores: dict[str, Look]) -> Chart:
    """Of ``figures.slope.slopes``'s table: a panel per workload."""
    if table.empty:
        return Chart([], [], note=_("no two stores have values on both sides"))
    legend = [
        entry for entry in point_legend(stores, MARKERS) if entry["store"] in set(table["store"])
    ]
    rows, panels = [], []
    groups = list(table.groupby(["workload", "parameters"], sort=False))
    most = max(len(mine) for _key, mine in groups)
    for number, ((workload, _parameters), mine) in enumerate(groups):
        left, right = heights(mine, "published_place"), heights(mine, "place")
        for row in records(mine):
            for side, at in ((0, left), (1, right)):
                found = _row(row, side, stores) | {"panel": number, "at": float(at[row["store"]])}
                rows.append(found)
        title = f"{study.workload(workload).title}\n{agreed_words(mine.iloc[0])}"
        words = _("Places of the stores, published and here. {}").format(title).replace("\n", ". ")
        dashed = mine["basis"].iloc[0] == SINGLE
        panels.append(Panel(_layers(legend, most, dashed), title, words, 30 + 32 * most))
    notes = [_("~: undecided against another store."), rejected_note(table)]
    return Chart(rows, panels, legend, 2, " ".join(filter(None, notes)))


def _row(row: dict, side: int, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    place = row[("published_place", "place")[side]]
    mark = MARK if row["rejected"] == "yes" else ""
    undecided = [stores[name].title for name in row["undecided_with"].split()] if side else []
    tilde = " ~" if undecided else ""
    label = f"{place} {look.title}{tilde}" if side else f"{look.title} {place}{mark}"
    value = row[("published", "measured")[side]]
    return plain(row, ["workload", "store"]) | {
        "side": sides()[side],
        "value": None if pd.isna(value) else float(value),
        "place": int(place),
        "name": look.title,
        "label": label,
        "title": f"{look.title}, {sides()[side]}",
        "exact": exact("throughput", value, "ops/s"),
        "place_text": str(place),
        "undecided": ", ".join(undecided),
        "basis_text": recorded(row["basis"]) if side else "",
    }


def _layers(legend: list[dict], most: int, dashed: bool) -> list[alt.Chart]:
    axis = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False, grid=False)
    published, here = sides()
    x = alt.X("side:N", sort=[published, here], title=None, axis=axis)
    x = x.scale(type="point", padding=1.1)
    scale = alt.Scale(domain=[most + 0.5, 0.5], nice=False)
    y = alt.Y("at:Q", axis=None, scale=scale)
    tint = alt.Color("name:N", scale=scale_of(legend, "color"), legend=None)
    base = bare().encode(x=x, y=y, **texts(TEXTS))
    words = {"style": "kv-text", "aria": False, "limit": 120}
    return [
        bare()
        .mark_line(strokeWidth=2, strokeDash=[5, 3] if dashed else [], aria=False)
        .encode(x=x, y=y, color=tint),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            color=tint, shape=alt.Shape("name:N", scale=scale_of(legend, "shape"), legend=None)
        ),
        base.transform_filter(f"datum.side === '{published}'")
        .mark_text(align="right", dx=-9, **words)
        .encode(text="label:N"),
        base.transform_filter(f"datum.side === '{here}'")
        .mark_text(align="left", dx=9, **words)
        .encode(text="label:N"),
    ]
