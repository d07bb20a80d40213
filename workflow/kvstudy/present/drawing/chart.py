"""A chart: rows of data, panels that show them, and a legend, as one Vega-Lite specification.

Panels are next to each other in a ``concat``; a page may take it apart and give each panel
the width that there is (``mount.js``). The parameters ``kv_stores`` and ``kv_workloads`` hold
what a reader has hidden.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from kvstudy.analyse.tidy.numbers import (
    UNIT_FACTORS,
    between,
    fixed,
    grouped,
    sign,
)
from kvstudy.language.current import _, ngettext
from kvstudy.libraries import alt, pd
from kvstudy.present.drawing.draw import (
    HATCHES,
    DrawnFigure,
    Panel,
    Style,
    StyleSheet,
    round_numbers,
)
from kvstudy.present.drawing.page import themes
from kvstudy.study.metrics import metric_of

OF_LAYER = ("mark", "encoding", "transform")
# Pixels next to the first and the last size on an axis of sizes.
ROOM = 10
# Where nothing shows how wide a panel may be.
WIDTH = 320
HIDDEN = (
    "indexof(kv_stores, datum.store) < 0 && indexof(kv_stores, datum.other) < 0"
    " && indexof(kv_workloads, datum.workload) < 0"
)
# Points in print are pixels here, a little larger.
STRETCH = 1.4
DASHES = {"-": [], "--": [5, 3], ":": [1.5, 2.5]}
TOP = {"title": None, "orient": "top", "columns": 3}
SHAPES = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "P": "cross",
    "*": "M0,-1L0.24,-0.31L0.95,-0.31L0.36,0.12L0.59,0.81L0,0.38L-0.59,0.81L-0.36,0.12"
    "L-0.95,-0.31L-0.24,-0.31Z",
    "X": "M-0.9,-0.6L-0.6,-0.9L0,-0.3L0.6,-0.9L0.9,-0.6L0.3,0L0.9,0.6L0.6,0.9L0,0.3"
    "L-0.6,0.9L-0.9,0.6L-0.3,0Z",
}
SHAPES["x"] = SHAPES["X"]


def spec(figure: DrawnFigure, table: pd.DataFrame, looks: StyleSheet) -> dict:
    """The chart of ``table``, valid by Vega-Lite's schema.

    Where there is no panel, its note is all there is.
    """
    note, panels = figure.nothing(table), []
    if not note:
        note = figure.note(table, looks)
        panels = [panel for panel in figure.panels(table, looks) if len(panel.rows)]
    parts, rows, of_all = [], [], {"workload": getattr(figure, "workload", None)}
    for place, panel in enumerate(panels):
        layers = figure.layers(panel.rows, table, looks)
        parts.append(_part(panel, layers, place, figure.caption))
        for row in panel.rows.to_dict("records"):
            values = {name: plain(row[name]) for name in figure.fields}
            rows.append(of_all | values | figure.mark(row, looks) | {"panel": place})
    if not panels:
        place = {"x": alt.value(WIDTH / 2), "y": alt.value(30), "text": alt.value(note)}
        words = alt.Chart().mark_text(style="kv-note").encode(**place)
        parts = [_part(Panel("", table, height=60), [words], 0, figure.caption)]
    meta = {"title": figure.caption, "note": note, "empty": not panels}
    meta["legend"] = [_entry(look) for look in figure.legend(table, looks)] if panels else []
    for name in ("store", "workload"):
        meta[name] = list(dict.fromkeys(row[name] for row in rows if row.get(name)))
    # Pairs keep their order where keys are sorted.
    meta["labels"] = [(name, _(label)) for name, label in figure.texts.items() if panels]
    return {
        "$schema": alt.SCHEMA_URL,
        "columns": min(len(panels), figure.across) or 1,
        "concat": parts,
        "config": themes()["light"],
        "data": {"values": rows or [{"panel": 0}]},
        "description": figure.caption,
        "params": [{"name": name, "value": []} for name in ("kv_stores", "kv_workloads")],
        "transform": [{"filter": HIDDEN}],
        "usermeta": {"kvstudy": meta},
    }


def _part(panel: Panel, layers: list[alt.Chart], place: int, title: str) -> dict:
    # Altair's own layer() and concat() copy and check all of it again, which takes seconds.
    return {
        "description": panel.words or panel.title or title,
        "height": panel.height,
        "layer": [
            # Data and configuration are of the whole chart.
            {key: value for key, value in layer.to_dict(validate=False).items() if key in OF_LAYER}
            for layer in layers
        ],
        "transform": [{"filter": f"datum.panel === {place}"}],
        "width": WIDTH,
    } | ({"title": panel.title.split("\n")} if panel.title else {})


def as_json(spec: dict) -> str:
    """The specification as text: the same for the same values, and valid JSON."""
    return json.dumps(spec, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: str | float) -> str | float | None:
    """``value`` as JSON has it; what is no number or has no end is null."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def texts(fields: Mapping[str, str]) -> dict:
    """Encodings of what a mark says on hover and to a screen reader.

    ``fields`` are the labels of rows' text fields by their names, in English; those that are
    empty are left out. A row's ``title`` is above.
    """
    objects, words = ["{title: datum.title}"], ["datum.title"]
    for name, label in fields.items():
        place, text = f"datum[{json.dumps(name)}]", json.dumps(_(label), ensure_ascii=False)
        objects.append(f"({place} ? {{{text}: {place}}} : {{}})")
        words.append(f"({place} ? '; ' + {text} + ' ' + {place} : '')")
    return {
        "tooltip": alt.TooltipValue(alt.ExprRef(f"merge({', '.join(objects)})")),
        "description": alt.DescriptionValue(alt.ExprRef(" + ".join(words))),
    }


def log_side(title: str, low: float, high: float, **options: object) -> dict:
    """Title, axis and scale (with ``options``) of a logarithmic side from ``low`` to ``high``.

    The axis has few numbers: 1, 2, 5, 10, or powers of ten alone.
    """
    ticks = round_numbers(low, high, (1, 2, 5) if high / low < 1000 else (1,))
    return {
        "title": title,
        "axis": alt.Axis(values=ticks, format=",~g" if low < 1 else ","),
        "scale": alt.Scale(type="log", domain=[float(low), float(high)], nice=False, **options),
    }


def by_legend(legend: list[Style], *channels: str, of: str = "name") -> dict:
    """The ``channels`` (color, strokeDash, shape) of a row's field ``of``, a title of the legend.

    Hatches are patterns of the page; a viewer without them takes the colour alone.
    """
    forms = {
        "color": lambda look: (f"url(#kv-{look.store}) " if look.hatch else "") + color(look.color),
        "strokeDash": lambda look: dash(look.line),
        "shape": lambda look: SHAPES[look.marker],
    }
    # Of a dictionary, Altair looks for its class among all of the schema's.
    kinds = {"color": alt.Color, "strokeDash": alt.StrokeDash, "shape": alt.Shape}
    titles = [look.title for look in legend]
    return {
        channel: kinds[channel](
            f"{of}:N",
            scale=alt.Scale(domain=titles, range=[forms[channel](look) for look in legend]),
            # For viewers that show the specification alone; a page draws a legend of its own.
            legend=alt.Legend(**TOP) if channel == "color" else None,
        )
        for channel in channels
    }


def by_group(
    field: str, groups: list[str], legend: list[Style], splits: str, apart: float, **scale: float
) -> alt.Chart:
    """Marks in ``groups`` along the x axis, side by side in the order of the ``legend``.

    Labels may be broken where they have ``splits``; ``apart`` is the room between marks.
    """
    x = alt.X(field, sort=groups, scale=alt.Scale(paddingInner=0.12, **scale)).title(None)
    x = x.axis(labelAngle=0, labelExpr=f"split(datum.label, '{splits}')", ticks=False)
    # Without a domain, so that a hidden store leaves no gap.
    grouped = alt.Scale(paddingInner=apart)
    titles = [look.title for look in legend]
    return alt.Chart().encode(x=x, xOffset=alt.XOffset("name:N", sort=titles, scale=grouped))


def gaps(base: alt.Chart, field: str) -> alt.Chart:
    """The notes of ``by_group`` in the places that have no ``field``."""
    style = {"style": "kv-note", "angle": 270, "align": "left", "baseline": "middle", "dx": 4}
    empty = base.transform_filter(f"!isValid(datum.{field})")
    return empty.mark_text(**style).encode(text="note:N")


def sizes(field: str, title: str, values: list[float], kind: str) -> alt.X:
    """The side of sizes with each of the ``values``; its ``kind`` of scale is log or linear."""
    ends = [values[0], values[-1]]
    scale = alt.Scale(type=kind, domain=ends, padding=ROOM, nice=False)
    axis = alt.Axis(values=values, format=",", labelOverlap="greedy", grid=False)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=axis)


def linear(title: str, low: float, high: float, **axis: object) -> dict:
    """Title, axis and scale of a linear side from ``low`` to ``high``."""
    scale = alt.Scale(domain=[low, high], nice=False)
    return {"title": title, "axis": alt.Axis(**axis), "scale": scale}


def line_at(**sides: object) -> alt.Chart:
    """A thin line through all of a panel; ``sides`` is its x or its y."""
    return alt.Chart().mark_rule(style="kv-line", aria=False).encode(**sides)


def band(low: float, high: float, x: dict, **mark: object) -> alt.Chart:
    """Return the layer behind the values from ``low`` to ``high`` on the side ``x``."""
    ends = {"x": alt.XDatum(low, **x), "x2": alt.datum(float(high))}
    return alt.Chart().mark_rect(style="kv-band", aria=False, **mark).encode(**ends)


def dash(style: object) -> list[float]:
    """A line style of the static figures as dashes and gaps in pixels."""
    return DASHES[style] if isinstance(style, str) else [STRETCH * length for length in style[1]]


def color(name: str) -> str:
    """A colour of the static figures; their greys are readable on light and on dark pages."""
    return name if name.startswith("#") else "#808080"


def _entry(look: Style) -> dict:
    """Return the legend entry of a style on a page."""
    entry = {"label": look.title, "store": look.store, "color": color(look.color)}
    if look.hatch is not None:
        entry |= {"mark": "bar", "hatch": HATCHES.index(look.hatch)}
    else:
        entry |= {"mark": "line", "dash": dash(look.line) if look.line else None}
        entry |= {"shape": look.marker and SHAPES[look.marker], "hollow": look.hollow or None}
    return {key: value for key, value in entry.items() if value is not None}


# Decimals that are made by converting to the axis's unit and back, and no others.
ROUNDING = 6


def exact(metric: str, value: float | None, unit: str) -> str:
    """``value``, given in ``unit``, with the unit and the decimals of ``metric`` in tables.

    Nothing for a value that is missing.
    """
    if pd.isna(value):
        return ""
    base = metric_of(metric).unit
    in_base = round(value / UNIT_FACTORS[base, unit], ROUNDING)
    return f"{grouped(fixed(metric, in_base))} {sign(base)}"


def exact_range(metric: str, low: float | None, high: float | None, unit: str) -> str:
    """From ``low`` to ``high`` as ``exact`` has them; nothing where one is missing."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return between(exact(metric, low, unit), exact(metric, high, unit))


def runs(n: float | None) -> str:
    """Return the number of runs behind a value."""
    return "" if pd.isna(n) else ngettext("{} run", "{} runs", int(n)).format(int(n))


def value_texts(row: Mapping, metric: str, unit: str) -> dict[str, str]:
    """The texts ``exact``, ``range`` (of several runs) and ``runs`` of a row's value."""
    ends = (row["low"], row["high"]) if row["n"] > 1 else (None, None)
    return {
        "exact": exact(metric, row["value"], unit),
        "range": exact_range(metric, *ends, unit),
        "runs": runs(row["n"]),
    }
