"""Two stores over the number of records, and when a cache pays off."""

from __future__ import annotations

import altair as alt
import pandas as pd

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.language.current import N_, _
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
from kvstudy.present.charts.legend import color, line_entry
from kvstudy.present.charts.texts import exact, is_number
from kvstudy.present.figures.break_even import CACHED, WITHOUT, line_names, panel_title
from kvstudy.present.figures.relative import LOOKS, line_name
from kvstudy.present.figures.words import from_to, size_words
from kvstudy.study.relative import BreakEvenPlot, RelativePlot

RATIO = {"exact": N_("Ratio"), "interval": N_("95 % interval")}
COSTS = {"exact": N_("Cost"), "crossing_text": N_("Pays off from")}
# More rows than that have no points of their own in print either.
FEW = 20


def relative_chart(table: pd.DataFrame, figure: RelativePlot, titles: dict[str, str]) -> Chart:
    """Of ``figures.relative.relative_table``'s table."""
    known = table.dropna(subset="ratio")
    if known.empty:
        return Chart([], [], note=_("nothing was measured"))
    rows = [_ratio(row, figure) for row in records(known)]
    there = {row["name"] for row in rows}
    legend = [
        line_entry(
            line_name(operation, origin), color(tint), style, marker, hollow=origin == PUBLISHED
        )
        for operation, (tint, marker) in zip(figure.operations, LOOKS, strict=False)
        for origin, style in ((MEASURED, "-"), (PUBLISHED, "--"))
        if line_name(operation, origin) in there
    ]
    name = f"{titles[figure.baseline]}:{titles[figure.store]} = 1:…"
    words = _("Line chart of the relative performance, {}, over records.").format(name)
    note = _("The band is the 95 % interval.") if any(row["low"] for row in rows) else ""
    return Chart(rows, [Panel(_ratios(known, legend), name, words)], legend, 1, note)


def _ratio(row: dict, figure: RelativePlot) -> dict:
    name = line_name(row["operation"], row["origin"])
    interval = ""
    if is_number(row["low"]):
        end = significant(row["high"]) if is_number(row["high"]) else _("no upper end")
        interval = from_to(significant(row["low"]), end)
    return plain(row, ["origin", "records", "ratio", "low", "high"]) | {
        "panel": 0,
        "store": figure.store,
        "other": figure.baseline,
        "workload": figure.workload,
        "name": name,
        "title": f"{name}, {size_words('records', row['records'])}",
        "exact": f"1:{significant(row['ratio'])}",
        "interval": interval,
    }


def _ratios(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    ends = [value for value in table[["low", "high"]].to_numpy().ravel() if is_number(value)]
    ends = [value for value in ends if value > 0]
    ratios = table["ratio"]
    # A single round that was disturbed must not make all others a flat line.
    low = min(1, max(min([*ends, ratios.min()]), ratios.min() / 4)) / 1.2
    high = max(1, min(max([*ends, ratios.max()]), ratios.max() * 4)) * 1.2
    values = sorted(table["records"].unique().tolist())
    ends = [max(values[0], 1) / 1.15, values[-1] * 1.15]
    logs = alt.Scale(type="log", nice=False, domain=ends)
    axis = alt.Axis(values=values, format=",", labelOverlap="greedy", grid=False)
    x = alt.X("records:Q", title=_("Records"), scale=logs, axis=axis)
    y = {"title": "1:…", "axis": log_axis(low, high)}
    y["scale"] = alt.Scale(type="log", domain=[float(low), float(high)], nice=False, clamp=True)
    tint = alt.Color("name:N", scale=scale_of(legend, "color"), legend=top_legend())
    shape = alt.Shape("name:N", scale=scale_of(legend, "shape"), legend=None)
    dashes = alt.StrokeDash("name:N", scale=scale_of(legend, "dash"), legend=None)
    base = bare().encode(x=x)
    points = base.encode(y=alt.Y("ratio:Q", **y), color=tint, shape=shape, **texts(RATIO))
    return [
        bare().mark_rule(style="kv-line", aria=False).encode(y=alt.YDatum(1, **y)),
        base.transform_filter("isValid(datum.low)")
        .transform_calculate(upper=f"isValid(datum.high) ? datum.high : {high}")
        .mark_area(opacity=0.2, aria=False, clip=True)
        .encode(y=alt.Y("low:Q", **y), y2="upper:Q", color=tint),
        base.mark_line(strokeWidth=1.6, aria=False).encode(
            y=alt.Y("ratio:Q", **y), color=tint, strokeDash=dashes
        ),
        points.transform_filter(f"datum.origin === '{MEASURED}'").mark_point(
            filled=True, size=45, opacity=1
        ),
        points.transform_filter(f"datum.origin === '{PUBLISHED}'").mark_point(
            filled=False, size=45, opacity=1
        ),
    ]


def break_even_chart(
    table: pd.DataFrame, figure: BreakEvenPlot, titles: dict[str, str], source: str
) -> Chart:
    """Of ``figures.break_even.break_even_table``'s table; ``source`` says who published."""
    if table.empty:
        return Chart([], [], note=_("the times that it takes were not measured"))
    alone, cached = line_names(titles[figure.database], titles[figure.cache])
    legend = [line_entry(alone, WITHOUT, "--"), line_entry(cached, CACHED, "-")]
    rows, panels = [], []
    for place, (panel, mine) in enumerate(table.groupby("panel", sort=False)):
        title = panel_title(panel, mine["records"].iloc[0], source)
        for row in records(mine):
            rows += [_cost(row, figure, side, legend) | {"panel": place} for side in (0, 1)]
        text = _("Line chart of the cost of a write and its reads. {}.").format(title)
        panels.append(Panel(_costs(mine, legend), title, text))
    known = table["low"].notna().any()
    note = _("The dotted line is where the cache pays off.")
    if known:
        note = _("The dotted line is where the cache pays off, the band its 95 % interval.")
    return Chart(rows, panels, legend, 2, note if table["crossing"].notna().any() else "")


def _cost(row: dict, figure: BreakEvenPlot, side: int, legend: list[dict]) -> dict:
    value = row[("without", "cached")[side]]
    crossing = ""
    if is_number(row["crossing"]):
        crossing = _("{} reads per write").format(significant(row["crossing"]))
        if is_number(row["low"]) and is_number(row["high"]):
            crossing += f" ({from_to(significant(row['low']), significant(row['high']))})"
    name = legend[side]["label"]
    return {
        "store": (figure.database, figure.cache)[side],
        "workload": figure.workload,
        "reads": row["reads"],
        "cost": float(value),
        "name": name,
        "title": _("{}, {} reads after the write").format(name, f"{row['reads']:.0f}"),
        "exact": exact("latency", value, "us"),
        "crossing_text": crossing,
    }


def _costs(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    scale, unit = (1e-3, "ms") if table[["without", "cached"]].max(axis=None) > 2_000 else (1, "µs")
    low, high = int(table["reads"].min()), int(table["reads"].max())
    scale_x = alt.Scale(domain=[low - 0.2, high + 0.2], nice=False)
    axis = alt.Axis(grid=False, tickMinStep=1, format="d")
    x = alt.X("reads:Q", title=_("Reads after each write"), scale=scale_x, axis=axis)
    y = alt.Y("shown:Q", title=_("Cost in {}").format(unit), scale=alt.Scale(zero=False))
    tint = alt.Color("name:N", scale=scale_of(legend, "color"), legend=top_legend())
    dashes = alt.StrokeDash("name:N", scale=scale_of(legend, "dash"), legend=None)
    base = bare().transform_calculate(shown=f"datum.cost * {scale}").encode(x=x, y=y, color=tint)
    first = table.iloc[0]
    layers = []
    place = {"scale": scale_x, "axis": axis, "title": _("Reads after each write")}
    if is_number(first["low"]):
        end = min(first["high"], high) if is_number(first["high"]) else high
        ends = {"x": alt.XDatum(float(first["low"]), **place), "x2": alt.datum(float(end))}
        layers.append(bare().mark_rect(style="kv-band", aria=False, clip=True).encode(**ends))
    if is_number(first["crossing"]):
        at = alt.XDatum(float(first["crossing"]), **place)
        layers.append(bare().mark_rule(style="kv-ink", strokeDash=[2, 3], clip=True).encode(x=at))
        words = bare().mark_text(style="kv-text", align="left", dx=4, dy=-6, aria=False)
        value = alt.value(significant(first["crossing"]))
        layers.append(words.encode(x=at, y=alt.YValue("height"), text=value))
    return [
        *layers,
        base.mark_line(strokeWidth=1.6, aria=False).encode(strokeDash=dashes),
        base.mark_point(filled=True, opacity=1 if len(table) < FEW else 0, size=36).encode(
            **texts(COSTS)
        ),
    ]
