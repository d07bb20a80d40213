"""The painter of pages: a ``Plot`` as one Vega-Lite specification, with its rows as data.

Panels are next to each other in a ``concat``; a page may take it apart and give each panel the
width that there is (``mount.js``). The parameters ``kv_stores`` and ``kv_workloads`` hold what a
reader has hidden.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from kvstudy.language.current import _
from kvstudy.layout.looks import HATCHES, NOTHING, SHAPES, Style
from kvstudy.layout.plot import (
    Area,
    Axis,
    Band,
    Bands,
    Bar,
    Label,
    Layer,
    Line,
    Panel,
    Plot,
    Points,
    Rule,
    Tick,
    Whisker,
)
from kvstudy.libraries import pd
from kvstudy.render.page import themes

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.4.1.json"
# Where nothing shows how wide a panel may be.
WIDTH = 320
HIDDEN = (
    "indexof(kv_stores, datum.store) < 0 && indexof(kv_stores, datum.other) < 0"
    " && indexof(kv_workloads, datum.workload) < 0"
)
# Points in print are pixels here, a little larger.
STRETCH = 1.4
# A mark's area in square pixels by its size in points.
AREA = 3.4
# Pixels of a bar below which its value is turned, or left out.
UPRIGHT, LEAST = 38, 9
# Pixels of a cell of a map that has no room for its value.
NARROW = 26
TOP = {"title": None, "orient": "top", "columns": 3}
# Columns of every row: by what it is hidden, the line that it is of, the runs that it is made of.
ALWAYS = ("store", "other", "workload", "name", "line", "made_of")
# Colours of the theme in place of greys: of marks, texts, lines.
THEMED = {"0.15": "kv-ink", "0.35": "kv-note", "0.6": "kv-line", "0.9": "kv-band"}


def spec(plot: Plot) -> dict:
    """The chart of a ``plot``, valid by Vega-Lite's schema.

    Where there is no panel, its note is all there is.
    """
    chart = _Chart(plot)
    panels = [panel for panel in plot.panels if len(panel.rows)]
    parts = [chart.part(panel, place) for place, panel in enumerate(panels)]
    data = [row for place, panel in enumerate(panels) for row in chart.rows(panel, place)]
    if not panels:
        words = {"x": WIDTH / 2, "y": 30, "text": plot.note}
        words = {channel: {"value": value} for channel, value in words.items()}
        layer = {"mark": {"type": "text", "style": "kv-note"}, "encoding": words}
        parts = [{"description": plot.caption, "height": 60, "layer": [layer], "width": WIDTH}]
    meta = {"title": plot.caption, "note": plot.note, "empty": not panels}
    meta |= {"legend": [_entry(look) for look in plot.legend], "nothing": HATCHES[NOTHING]}
    for name in ("store", "workload"):
        meta[name] = list(dict.fromkeys(row[name] for row in data if row.get(name)))
    # Pairs keep their order where keys are sorted.
    meta["labels"] = [(name, _(label)) for name, label in plot.texts.items() if panels]
    return {
        "$schema": SCHEMA,
        "columns": min(len(panels), plot.across) or 1,
        "concat": parts,
        "config": themes()["light"],
        "data": {"values": data or [{"panel": 0}]},
        "description": plot.caption,
        "params": [{"name": name, "value": []} for name in ("kv_stores", "kv_workloads")],
        "transform": [{"filter": HIDDEN}],
        "usermeta": {"kvstudy": meta},
    }


@dataclass(frozen=True)
class _Chart:
    plot: Plot

    def part(self, panel: Panel, place: int) -> dict:
        """Return the specification of the panel in this ``place``."""
        title = {"title": panel.title.split("\n")} if panel.title else {}
        return title | {
            "description": panel.words or panel.title or self.plot.caption,
            "height": panel.height,
            "layer": [self._layer(panel, layer) for layer in panel.layers if layer.only != "print"],
            "transform": [{"filter": f"datum.panel === {place}"}],
            "width": WIDTH,
        }

    def rows(self, panel: Panel, place: int) -> list[dict]:
        """Return the data that the layers of a panel share."""
        shared = (layer for layer in panel.layers if layer.rows is None and layer.only != "print")
        return [row | {"panel": place} for row in self._values(panel, panel.rows, *shared)]

    def _values(self, panel: Panel, rows: pd.DataFrame, *layers: Layer) -> list[dict]:
        """The columns of ``rows`` that ``layers`` need, and what marks tell on hover."""
        named = {*ALWAYS, panel.x.column, panel.y.column}.union(*map(_columns, layers))
        columns = [column for column in rows if column in named]
        hover = any(layer.hover for layer in layers) or rows is panel.rows
        return [
            {"workload": self.plot.workload}
            | {name: plain(row[name]) for name in columns}
            | (self.plot.hover(row) if hover else {})
            for row in rows.to_dict("records")
        ]

    def _layer(self, panel: Panel, layer: Layer) -> dict:
        mark, encoding, needed = MARKS[type(layer)](layer, panel)
        filters = [f"isValid(datum[{json.dumps(name)}])" for name in needed]
        filters += [f"datum[{json.dumps(layer.where)}]"] if layer.where else []
        if not isinstance(layer, (Band, Rule)):
            sides = {name: _side(getattr(panel, name), name) for name in "xy"}
            encoding |= {name: side | encoding.get(name, {}) for name, side in sides.items()}
            if isinstance(panel.x, Bands) and panel.x.members:
                # Without a domain, so that a hidden store leaves no gap.
                members, scale = [*panel.x.members], {"paddingInner": 1.06 - panel.x.width}
                offset = {"field": "name", "type": "nominal", "sort": members, "scale": scale}
                encoding["xOffset"] = offset
        if layer.look is not None:
            mark |= _fixed(layer.look, mark)
        else:
            encoding |= _by_name(layer, panel, self.plot)
        encoding |= _hover(self.plot.texts) if layer.hover else {}
        result = {"mark": mark | ({} if layer.hover else {"aria": False}), "encoding": encoding}
        if layer.rows is not None:
            result["data"] = {"values": self._values(panel, layer.rows, layer)}
            # The rows that all layers share are filtered for all of them.
            filters.append(HIDDEN)
        return result | ({"transform": [{"filter": " && ".join(filters)}]} if filters else {})


def as_json(spec: dict) -> str:
    """The specification as text: the same for the same values, and valid JSON."""
    return json.dumps(spec, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def plain(value: object) -> object:
    """``value`` as JSON has it; what is no number or has no end is null."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def _columns(layer: Layer) -> set[str]:
    """Return the names of columns that a ``layer`` may have."""
    steps = getattr(layer, "steps", None) or ()
    return {value for value in vars(layer).values() if isinstance(value, str)} | {*steps}


def _side(side: Axis | Bands, name: str) -> dict:
    """The encoding of an axis."""
    title = side.title.split("\n") if side.title else None
    if isinstance(side, Bands):
        texts = [*side.texts]
        axis = {"labelAngle": 0, "ticks": False, "labelLimit": 180}
        if side.members:
            scale = {"paddingInner": 0.12, "paddingOuter": 0.06}
            axis["labelExpr"] = "split(datum.label, ' ')"
        else:
            scale, axis["domain"] = {}, False
        form = {"field": side.column, "type": "nominal", "sort": texts, "title": title}
        return form | {"axis": axis} | ({"scale": scale} if scale else {})
    ticks = [*map(plain, side.ticks)]
    written = f"{json.dumps([*side.texts], ensure_ascii=False)}[indexof({ticks}, datum.value)]"
    axis = {"values": ticks, "labelExpr": written, "grid": side.grid}
    axis |= {"labelOverlap": "greedy"} if name == "x" else {}
    kind = "log" if side.log else "linear"
    scale = {"type": kind, "domain": [plain(side.low), plain(side.high)], "nice": False}
    scale |= {} if side.log else {"zero": False}
    form = {"field": side.column, "type": "quantitative", "title": title}
    return form | {"axis": axis, "scale": scale}


def _fixed(look: Style, mark: dict) -> dict:
    """The properties of a ``mark`` that all have one look; greys are those of the theme."""
    if "fill" in mark:
        return {}
    themed = THEMED.get(look.color)
    if themed == "kv-ink" and mark["type"] == "text":
        themed = "kv-text"
    form = {"style": themed} if themed else {"color": color(look)}
    if mark["type"] == "point":
        marker, hollow = mark.pop("marker") or look.marker, mark.pop("hollow") or look.hollow
        form |= {"shape": SHAPES[marker], "filled": not hollow}
    if mark["type"] in ("line", "rule") and look.line:
        form["strokeDash"] = dash(look.line)
    return form


def _by_name(layer: Layer, panel: Panel, plot: Plot) -> dict:
    """The encoding of a row's ``name``: colour, dashes and shape.

    Hatches are patterns of the page; a viewer without them takes the colour alone.
    """
    looks = panel.looks
    forms = {"color": [color(look) for look in looks]}
    if isinstance(layer, Bar):
        forms["color"] = [
            (f"url(#kv-{look.store}) " if look.hatch else "") + color(look) for look in looks
        ]
    if isinstance(layer, Line):
        forms["strokeDash"] = [dash(look.line or ()) for look in looks]
    if isinstance(layer, Points):
        if not layer.hollow:
            forms["fill"] = ["transparent" if look.hollow else color(look) for look in looks]
        if not layer.marker:
            forms["shape"] = [SHAPES[look.marker or "o"] for look in looks]
    titles, encoding = [look.title for look in looks], {}
    for channel, values in forms.items():
        encoding[channel] = {"field": "name", "type": "nominal", "legend": None}
        encoding[channel]["scale"] = {"domain": titles, "range": values}
    # For viewers that show the specification alone; a page draws a legend of its own.
    if panel.looks == plot.legend:
        encoding["color"]["legend"] = TOP
    return encoding


def _hover(fields: Mapping[str, str]) -> dict:
    """The encoding of what marks tell on hover, and to those who do not see them.

    ``fields`` are texts of a row with their label; empty ones are left out. A row's ``title`` is
    the first line.
    """
    objects, words = ["{title: datum.title}"], ["datum.title"]
    for name, label in fields.items():
        place, text = f"datum[{json.dumps(name)}]", json.dumps(_(label), ensure_ascii=False)
        objects.append(f"({place} ? {{{text}: {place}}} : {{}})")
        words.append(f"({place} ? '; ' + {text} + ' ' + {place} : '')")
    return {
        "tooltip": {"value": {"expr": f"merge({', '.join(objects)})"}},
        "description": {"value": {"expr": " + ".join(words)}},
    }


# Of each kind of layer: the mark, its encoding, and the columns without which there is none.
Mark = tuple[dict, dict, list[str]]


def _line(layer: Line, panel: Panel) -> Mark:
    mark = {"type": "line", "strokeWidth": STRETCH * layer.width, "clip": True}
    encoding = {"y": {"field": layer.y or panel.y.column}} | _detail(layer, panel)
    return mark | _steps(layer), encoding, []


def _area(layer: Area, panel: Panel) -> Mark:
    mark = {"type": "area", "opacity": layer.opacity} | _steps(layer)
    encoding = {"y": {"field": layer.low}, "y2": {"field": layer.high}} | _detail(layer, panel)
    return mark, encoding, [layer.low, layer.high]


def _steps(layer: Line | Area) -> dict:
    return {"interpolate": "step"} if layer.steps else {}


def _detail(layer: Layer, panel: Panel) -> dict:
    """Return the encoding that keeps lines apart that have one look."""
    rows = panel.rows if layer.rows is None else layer.rows
    return {"detail": {"field": "line", "type": "nominal"}} if "line" in rows else {}


def _points(layer: Points, panel: Panel) -> Mark:
    size = AREA * layer.size**2
    mark = {"type": "point", "size": size, "opacity": 1 if layer.seen else 0}
    if layer.look is not None:
        mark |= {"marker": layer.marker, "hollow": layer.hollow}
    elif layer.marker:
        mark["shape"] = SHAPES[layer.marker]
    encoding = {
        name: {"field": getattr(layer, name) or getattr(panel, name).column} for name in "xy"
    }
    needed = [encoding[name]["field"] for name in "xy"]
    return mark, encoding | _opacity(layer), needed


def _whisker(layer: Whisker, panel: Panel) -> Mark:
    encoding = {layer.side: {"field": layer.low}, f"{layer.side}2": {"field": layer.high}}
    mark = {"type": "rule", "strokeWidth": STRETCH * layer.width, "clip": True}
    return mark, encoding | _opacity(layer), [layer.low, layer.high]


def _opacity(layer: Points | Whisker) -> dict:
    if not layer.faint:
        return {}
    faint = {"test": f"datum[{json.dumps(layer.faint)}]", "value": 0.45}
    return {"opacity": {"condition": faint, "value": 1}}


def _tick(layer: Tick, panel: Panel) -> Mark:
    mark = {"type": "tick", "orient": "horizontal", "thickness": STRETCH * layer.width}
    mark |= {"bandSize": 400} if layer.share == 1 else {"size": 8}
    return mark, {"y": {"field": layer.y}}, [layer.y]


def _bar(layer: Bar, panel: Panel) -> Mark:
    if layer.low:
        sides = {"y": {"field": layer.low}, "y2": {"field": layer.high}}
        return {"type": "bar", "minBandSize": 3}, sides, [layer.low, layer.high]
    if layer.colors:
        fill = {"field": layer.colors, "type": "nominal", "scale": None}
        return {"type": "rect"}, {"color": fill}, []
    return {"type": "rect", "fill": "url(#kv-nothing) #8c8c8c", "fillOpacity": 0.5}, {}, []


def _label(layer: Label, panel: Panel) -> Mark:
    mark = {"type": "text", "dx": STRETCH * layer.dx, "dy": -STRETCH * layer.dy}
    mark["align"] = layer.align
    encoding = {"y": {"field": layer.y or panel.y.column}} if isinstance(panel.y, Axis) else {}
    if isinstance(panel.x, Axis):
        encoding["x"] = {"field": layer.x or panel.x.column}
    members = max(len(panel.x.members), 1) if isinstance(panel.x, Bands) else 1
    if layer.turned:
        mark |= {"angle": 270, "align": "left", "baseline": "middle", "dx": 4, "dy": 0}
    elif layer.middle:
        mark |= {"opacity": {"expr": f"width / {len(panel.x.texts)} < {NARROW} ? 0 : 1"}}
    elif layer.fit:
        step = f"width / {len(panel.x.texts) * members}"
        turned = {"angle": (270, 0), "align": ("'left'", "'center'"), "dx": (4, 0), "dy": (0, -4)}
        turned |= {"baseline": ("'middle'", "'bottom'")}
        for name, (narrow, wide) in turned.items():
            mark[name] = {"expr": f"{step} < {UPRIGHT} ? {narrow} : {wide}"}
        mark["opacity"] = {"expr": f"{step} < {LEAST} ? 0 : 1"}
    encoding["text"] = {"field": layer.text, "type": "nominal"}
    if layer.inks:
        encoding["color"] = {"field": layer.inks, "type": "nominal", "scale": None}
    return mark, encoding, []


def _band(layer: Band, panel: Panel) -> Mark:
    side = _side(getattr(panel, layer.side), layer.side)
    side.pop("field")
    ends = {layer.side: side | {"datum": layer.low}, f"{layer.side}2": {"datum": layer.high}}
    return {"type": "rect", "clip": True}, ends, []


def _rule(layer: Rule, panel: Panel) -> Mark:
    side = _side(getattr(panel, layer.side), layer.side)
    side.pop("field")
    return {"type": "rule", "clip": True}, {layer.side: side | {"datum": layer.at}}, []


MARKS = {Line: _line, Area: _area, Points: _points, Whisker: _whisker, Tick: _tick}
MARKS |= {Bar: _bar, Label: _label, Band: _band, Rule: _rule}


def dash(line: tuple[float, ...]) -> list[float]:
    """Dashes and gaps in pixels."""
    return [STRETCH * length for length in line]


def color(look: Style) -> str:
    """The colour of a style; greys of print are readable on light and on dark pages."""
    return look.color if look.color.startswith("#") else "#808080"


def _entry(look: Style) -> dict:
    """Return the legend entry of a style on a page."""
    entry = {"label": look.title, "store": look.store, "color": color(look)}
    if look.hatch is not None:
        entry["hatch"] = HATCHES[look.hatch]
    else:
        entry |= {"dash": None if look.line is None else dash(look.line)}
        entry |= {"shape": look.marker and SHAPES[look.marker], "hollow": look.hollow or None}
    return {key: value for key, value in entry.items() if value is not None}
