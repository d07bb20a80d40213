"""A chart: rows of data, panels that show them, and a legend, as one Vega-Lite specification.

Panels stand beside each other in a ``concat``; a page may take it apart and give each panel
the width that there is (``mount.js``). The parameters ``kv_stores`` and ``kv_workloads`` hold
what a reader has hidden.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kvstudy.analyse.tidy.numbers import (
    MARK,
    UNIT_FACTORS,
    between,
    fixed,
    grouped,
    marked_values,
    sign,
    sized,
)
from kvstudy.language.current import _, ngettext
from kvstudy.libraries import alt, colors, pd
from kvstudy.present.drawing.draw import HATCHES, Look, any_rejected
from kvstudy.present.drawing.page import themes

# Where nothing tells how wide a panel may be.
WIDTH = 320
HIDDEN = (
    "indexof(kv_stores, datum.store) < 0 && indexof(kv_stores, datum.other) < 0"
    " && indexof(kv_workloads, datum.workload) < 0"
)
# Points in print are pixels here, a little larger.
STRETCH = 1.4
DASHES = {"-": [], "--": [5, 3], ":": [1.5, 2.5]}
# For viewers that show the specification alone; a page draws a legend of its own.
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


@dataclass
class Panel:
    """One coordinate system: ``layers`` over the rows whose ``panel`` is its place."""

    layers: list[alt.Chart]
    title: str = ""
    description: str = ""
    height: int = 220


@dataclass
class Chart:
    """What is written: ``rows`` have ``panel``, ``store``, ``workload`` and what layers need.

    ``columns`` panels stand side by side where there is room. ``note`` is said below the
    chart; without panels it is all there is.
    """

    rows: list[dict]
    panels: list[Panel]
    legend: list[dict] = field(default_factory=list)
    columns: int = 1
    note: str = ""

    def spec(self, title: str) -> dict:
        """The specification, valid by Vega-Lite's schema; ``title`` describes it to all."""
        panels = self.panels or [Panel([_words(self.note)], height=60)]
        parts = [_part(panel, place, title) for place, panel in enumerate(panels)]
        meta = {"title": title, "legend": self.legend, "note": self.note, "empty": not self.panels}
        for name in ("store", "workload"):
            meta[name] = list(dict.fromkeys(row[name] for row in self.rows if row.get(name)))
        # Pairs keep their order where keys are sorted.
        meta["labels"] = list(dict.fromkeys(pair for part in parts for pair in _labels(part)))
        return {
            "$schema": alt.SCHEMA_URL,
            "columns": self.columns,
            "concat": parts,
            "config": themes()["light"],
            "data": {"values": self.rows or [{"panel": 0}]},
            "description": title,
            "params": [{"name": name, "value": []} for name in ("kv_stores", "kv_workloads")],
            "transform": [{"filter": HIDDEN}],
            "usermeta": {"kvstudy": meta},
        }


def _part(panel: Panel, place: int, title: str) -> dict:
    # Altair's own layer() and concat() copy and check all of it again, which takes seconds.
    return {
        "description": panel.description or panel.title or title,
        "height": panel.height,
        "layer": [_layer(each) for each in panel.layers],
        "transform": [{"filter": f"datum.panel === {place}"}],
        "width": WIDTH,
    } | ({"title": panel.title.split("\n")} if panel.title else {})


def _layer(chart: alt.Chart) -> dict:
    """What is of the layer itself; data and configuration are of the whole chart."""
    whole = chart.to_dict(validate=False)
    return {name: whole[name] for name in ("mark", "encoding", "transform") if name in whole}


def _labels(part: dict) -> Iterator[tuple[str, str]]:
    """Fields that its marks tell on hover, and what they are called: those of ``texts``."""
    for layer in part["layer"]:
        said = layer.get("encoding", {}).get("tooltip", {}).get("value", {})
        if "expr" in said:
            pairs = re.findall(r'\(datum\[("\w+")\] \? \{("(?:[^"\\]|\\.)*")', said["expr"])
            yield from (tuple(map(json.loads, pair)) for pair in pairs)


def as_json(spec: dict) -> str:
    """The specification as text: the same for the same values, and valid JSON."""
    return json.dumps(spec, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def plain(row: Mapping, names: Iterable[str]) -> dict:
    """The fields ``names`` of ``row`` as JSON has them; what has no value or no end is null."""
    return {name: _plain(row[name]) for name in names}


def _plain(value: object) -> str | float | None:
    if isinstance(value, str):
        return value
    if not is_number(value):
        return None
    return int(value) if float(value).is_integer() else float(value)


def texts(fields: Mapping[str, str]) -> dict:
    """Encodings of what a mark says on hover and to a screen reader.

    ``fields`` are the labels of rows' text fields by their names, in English; those that are
    empty are left out. A row's ``title`` stands above.
    """
    objects, words = ["{title: datum.title}"], ["datum.title"]
    for name, label in fields.items():
        place, text = f"datum[{json.dumps(name)}]", json.dumps(_(label), ensure_ascii=False)
        objects.append(f"({place} ? {{{text}: {place}}} : {{}})")
        words.append(f"({place} ? '; ' + {text} + ' ' + {place} : '')")
    return {
        "tooltip": alt.value(alt.ExprRef(f"merge({', '.join(objects)})")),
        "description": alt.value(alt.ExprRef(" + ".join(words))),
    }


def log_side(title: str, low: float, high: float, **options: object) -> dict:
    """Title, axis and scale (with ``options``) of a logarithmic side from ``low`` to ``high``.

    The axis has few numbers: 1, 2, 5, 10, or powers of ten alone.
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    ticks = [step * 10**power for power in decades for step in steps]
    # Negative powers of ten as they are written, 0.02 and not 0.020000000000000004.
    ticks = [float(f"{tick:.6g}") for tick in ticks if low <= tick <= high]
    return {
        "title": title,
        "axis": alt.Axis(values=ticks, format=",~g" if low < 1 else ","),
        "scale": alt.Scale(type="log", domain=[float(low), float(high)], nice=False, **options),
    }


def by_legend(legend: list[dict], *channels: str) -> dict:
    """The ``channels`` (color, dash, shape) of a row's ``name``, a label of the legend."""
    labels = [entry["label"] for entry in legend]
    kinds = {"color": alt.Color, "dash": alt.StrokeDash, "shape": alt.Shape}
    names = {"dash": "strokeDash"}
    return {
        names.get(channel, channel): kinds[channel](
            "name:N",
            scale=alt.Scale(domain=labels, range=[entry[channel] for entry in legend]),
            legend=alt.Legend(**TOP) if channel == "color" else None,
        )
        for channel in channels
    }


def by_store(stores: Mapping[str, Look]) -> alt.Color:
    """The colour of a row's ``name``, the title of a store, with the store's hatch.

    A viewer without the page's patterns takes the colour alone.
    """
    fills = [f"url(#kv-{name}) " * bool(look.hatch) + look.color for name, look in stores.items()]
    scale = alt.Scale(domain=[look.title for look in stores.values()], range=fills)
    return alt.Color("name:N", scale=scale, legend=alt.Legend(**TOP))


def dash(style: object) -> list[float]:
    """A line style of the static figures as dashes and gaps in pixels."""
    return DASHES[style] if isinstance(style, str) else [STRETCH * length for length in style[1]]


def color(name: str) -> str:
    """A colour of the static figures; greys are made readable on light and on dark pages."""
    code = colors.to_hex(name)
    red, green, blue = code[1:3], code[3:5], code[5:7]
    return "#808080" if red == green == blue else code


def bar_legend(stores: Mapping[str, Look]) -> list[dict]:
    """Entries of filled areas, one per store."""
    return [
        {"label": look.title, "store": store, "mark": "bar", "color": look.color}
        | {"hatch": HATCHES.index(look.hatch)}
        for store, look in stores.items()
    ]


def point_legend(stores: Mapping[str, Look]) -> list[dict]:
    """Entries of points, one per store."""
    return [
        line_entry(look.title, look.color, None, look.marker, store)
        for store, look in stores.items()
    ]


def line_entry(
    label: str,
    of_color: str,
    style: object = "-",
    marker: str | None = None,
    store: str | None = None,
    hollow: bool = False,
) -> dict:
    """An entry of a line, a point or both; without ``style`` there is no line."""
    entry = {"label": label, "mark": "line", "color": of_color}
    entry["dash"] = None if style is None else dash(style)
    entry |= {"shape": SHAPES[marker] if marker else None, "store": store, "hollow": hollow or None}
    return {key: value for key, value in entry.items() if value is not None}


def _words(text: str) -> alt.Chart:
    place = {"x": alt.value(WIDTH / 2), "y": alt.value(30)}
    return alt.Chart().mark_text(style="kv-note").encode(text=alt.value(text), **place)


# Decimals that are made by converting to the axis's unit and back, and no others.
ROUNDING = 6


def size_words(size: str, number: float) -> str:
    """A size and how large it is: ``1 000 records``."""
    return sized(size, int(number)).format(grouped(f"{number:.0f}"))


def exact(metric: str, value: float | None, unit: str) -> str:
    """``value``, given in ``unit``, with the unit and the decimals of ``metric`` in tables.

    Nothing for a value that is missing.
    """
    if pd.isna(value):
        return ""
    base = unit
    if unit.endswith("ops/s"):
        base = "ops/s"
    elif metric == "runtime":
        base = "ms"
    elif metric.startswith("latency"):
        base = "us"
    in_base = round(value / UNIT_FACTORS[base, unit], ROUNDING)
    return f"{grouped(fixed(metric, in_base))} {sign(base)}"


def exact_range(metric: str, low: float | None, high: float | None, unit: str) -> str:
    """From ``low`` to ``high`` as ``exact`` has them; nothing where one is missing."""
    if pd.isna(low) or pd.isna(high):
        return ""
    return between(exact(metric, low, unit), exact(metric, high, unit))


def rejected_note(table: pd.DataFrame) -> str:
    """What the mark of a rejected value says, below the figure of ``table``; "" without any."""
    return f"{MARK}: {marked_values()}." if any_rejected(table) else ""


def runs(n: float | None) -> str:
    """How many runs are behind a value."""
    return "" if pd.isna(n) else ngettext("{} run", "{} runs", int(n)).format(int(n))


def value_texts(row: Mapping, metric: str, unit: str) -> dict[str, str]:
    """The texts ``exact``, ``range`` (of several runs) and ``runs`` of a row's value."""
    ends = (row["low"], row["high"]) if row["n"] > 1 else (None, None)
    return {
        "exact": exact(metric, row["value"], unit),
        "range": exact_range(metric, *ends, unit),
        "runs": runs(row["n"]),
    }


def is_number(value: object) -> bool:
    """Neither missing nor without an end."""
    return not pd.isna(value) and math.isfinite(value)
