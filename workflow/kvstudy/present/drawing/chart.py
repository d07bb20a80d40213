"""A chart: rows of data, panels that show them, and a legend, as one Vega-Lite specification.

Panels stand beside each other in a ``concat``; a page may take it apart and give each panel
the width that there is (``mount.js``). The parameters ``kv_stores`` and ``kv_workloads`` hold
what a reader has hidden.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kvstudy.language.current import _
from kvstudy.libraries import alt, pd
from kvstudy.present.drawing.texts import is_number
from kvstudy.present.drawing.theme import themes

# Where nothing tells how wide a panel may be.
WIDTH = 320
HIDDEN = (
    "indexof(kv_stores, datum.store) < 0 && indexof(kv_stores, datum.other) < 0"
    " && indexof(kv_workloads, datum.workload) < 0"
)


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
        meta = {"kvstudy": {"title": title, "legend": self.legend, "note": self.note}}
        meta["kvstudy"]["empty"] = not self.panels
        meta["kvstudy"] |= {
            name: list(dict.fromkeys(row[name] for row in self.rows if row.get(name)))
            for name in ("store", "workload")
        }
        panels = self.panels or [Panel([_words(self.note)], height=60)]
        return {
            "$schema": alt.SCHEMA_URL,
            "columns": self.columns,
            "concat": [_part(panel, place, title) for place, panel in enumerate(panels)],
            "config": themes()["light"],
            "data": {"values": self.rows or [{"panel": 0}]},
            "description": title,
            "params": [{"name": name, "value": []} for name in ("kv_stores", "kv_workloads")],
            "transform": [{"filter": HIDDEN}],
            "usermeta": meta,
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


def as_json(spec: dict) -> str:
    """The specification as text: the same for the same values, and valid JSON."""
    return json.dumps(spec, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def plain(row: Mapping, names: Iterable[str]) -> dict:
    """The fields ``names`` of ``row`` as JSON has them; what has no value or no end is null."""
    found = {}
    for name in names:
        value = row[name]
        if isinstance(value, str):
            found[name] = value
        elif not is_number(value):
            found[name] = None
        else:
            found[name] = int(value) if float(value).is_integer() else float(value)
    return found


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


def bare() -> alt.Chart:
    """A layer over the rows of its panel."""
    return alt.Chart()


def scale_of(legend: list[dict], value: str) -> alt.Scale:
    """A scale from labels of a legend to ``value`` of their entries."""
    return alt.Scale(
        domain=[entry["label"] for entry in legend], range=[entry[value] for entry in legend]
    )


def palette(domain: Iterable[str], values: Iterable) -> alt.Scale:
    return alt.Scale(domain=list(domain), range=list(values))


def log_axis(low: float, high: float, **options: object) -> alt.Axis:
    """An axis of a logarithmic scale with few numbers: 1, 2, 5, 10, or powers of ten alone."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 1000 else (1,)
    ticks = [step * 10**power for power in decades for step in steps]
    # Negative powers of ten as they are written, 0.02 and not 0.020000000000000004.
    ticks = [float(f"{tick:.6g}") for tick in ticks if low <= tick <= high]
    return alt.Axis(values=ticks, format=",~g" if low < 1 else ",", **options)


def top_legend() -> alt.Legend:
    """For viewers that show the specification alone; a page draws a legend of its own."""
    return alt.Legend(title=None, orient="top", columns=3)


def records(table: pd.DataFrame) -> list[dict]:
    """The rows of ``table`` as mappings from column to value."""
    return table.to_dict("records")


def _words(text: str) -> alt.Chart:
    return (
        bare()
        .mark_text(style="kv-note")
        .encode(text=alt.value(text), x=alt.value(WIDTH / 2), y=alt.value(30))
    )
