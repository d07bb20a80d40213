"""Every two stores compared, with the noise floor behind: a forest plot per workload."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.language.current import N_, _
from kvstudy.present.charts.chart import Chart, Panel, bare, plain, records, texts
from kvstudy.present.charts.texts import is_number
from kvstudy.present.figures.ratios import ACROSS, ticks_of
from kvstudy.present.figures.words import from_to
from kvstudy.stats.ratios import Decision
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

TEXTS = {
    "ratio_text": N_("Ratio of the throughputs"),
    "interval": N_("95 % interval"),
    "verdict": N_("Verdict"),
    "floor_text": N_("Noise floor"),
    "cells": N_("Sizes"),
}
NOTE = N_(
    "Filled: a difference. Square: equal within ±10 %. Hollow: undecided. Faint: not above the "
    "noise floor, the grey band. "
    "Right of 1 the first store is faster."
)

WORDS = {
    Decision.FASTER: N_("a difference"),
    Decision.EQUAL: N_("equal within ±10 %"),
    Decision.UNDECIDED: N_("undecided"),
}


def ratios_chart(table: pd.DataFrame, study: Study, titles: dict[str, str]) -> Chart:
    """Of ``figures.ratios.ratios``'s table."""
    if table.empty:
        return Chart([], [], note=_("no two stores have a repetition in common"))
    pairs = list(
        dict.fromkeys(f"{titles[a]} / {titles[b]}" for a, b in table[["one", "other"]].values)
    )
    sizes = table.groupby("workload")["parameters"].nunique()
    rows, panels = [], []
    words = _("Ratios of the throughputs of every two stores with 95 % intervals. {}.")
    for place, ((workload, parameters), mine) in enumerate(
        table.groupby(["workload", "parameters"], sort=False)
    ):
        use = study.workload(workload)
        title = use.short if workload == MEAN else use.title
        title += f", {parameters}" if sizes[workload] > 1 else ""
        rows += [_row(row, titles, title) | {"panel": place} for row in records(mine)]
        panels.append(
            Panel(
                _layers(mine, pairs),
                title,
                words.format(title),
                34 + 24 * len(pairs),
            )
        )
    return Chart(rows, panels, [], min(len(panels), ACROSS, 3), _(NOTE))


def _row(row: dict, titles: dict[str, str], title: str) -> dict:
    pair = f"{titles[row['one']]} / {titles[row['other']]}"
    numbers = {name: row[name] for name in ("low", "high", "floor")}
    ends = [significant(row[name]) if is_number(row[name]) else "" for name in ("low", "high")]
    verdict = _(WORDS[row["decision"]])
    if row["decision"] == Decision.UNDECIDED and row["in_floor"] == "yes":
        verdict = _("undecided, not above the noise floor")
    return plain(
        row | numbers, ["workload", "ratio", "low", "high", "decision", "in_floor", "floor"]
    ) | {
        "store": row["one"],
        "other": row["other"],
        "pair": pair,
        "title": f"{pair}, {title}",
        "ratio_text": significant(row["ratio"], 4),
        "interval": from_to(*ends) if all(ends) else "",
        "verdict": verdict,
        "floor_text": significant(row["floor"], 4) if is_number(row["floor"]) else "",
        "cells": row["parameters"],
    }


def _layers(table: pd.DataFrame, pairs: list[str]) -> list[alt.Chart]:
    floor = table["floor"].iloc[0]
    ends = [
        value for value in table[["ratio", "low", "high"]].to_numpy().ravel() if is_number(value)
    ]
    ends += [floor, 1 / floor] if is_number(floor) else []
    domain = [float(min(*ends, 0.9) / 1.1), float(max(*ends, 1.1) * 1.1)]
    x = {"scale": alt.Scale(type="log", domain=domain, nice=False)}
    x |= {
        "title": _("Ratio of the throughputs"),
        "axis": alt.Axis(values=ticks_of(*domain), format="~g", labelOverlap="greedy"),
    }
    y = alt.Y("pair:N", sort=pairs, title=None).axis(labelLimit=150, ticks=False)
    base = bare().encode(y=y, **texts(TEXTS))
    faint = alt.condition("datum.in_floor === 'yes'", alt.value(0.45), alt.value(1))
    layers = [
        bare().mark_rule(style="kv-line", aria=False).encode(x=alt.XDatum(1, **x)),
        base.transform_filter("isValid(datum.low) && isValid(datum.high)")
        .mark_rule(style="kv-ink", aria=False)
        .encode(x=alt.X("low:Q", **x), x2="high:Q", opacity=faint),
        base.transform_filter(f"datum.decision === '{Decision.UNDECIDED}'")
        .mark_point(filled=False, size=60, strokeWidth=1.5, style="kv-ink")
        .encode(x=alt.X("ratio:Q", **x), opacity=faint),
        *(
            base.transform_filter(f"datum.decision === '{decision}'")
            .mark_point(filled=True, size=60, shape=shape, style="kv-ink")
            .encode(x=alt.X("ratio:Q", **x), opacity=faint)
            for decision, shape in ((Decision.FASTER, "circle"), (Decision.EQUAL, "square"))
        ),
    ]
    if not is_number(floor):
        return layers
    band = bare().mark_rect(style="kv-band", aria=False)
    return [band.encode(x=alt.XDatum(float(1 / floor), **x), x2=alt.datum(float(floor))), *layers]
