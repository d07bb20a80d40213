"""Both forms of each kind of figure have the same axes, numbers on them, and marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from kvstudy.exhibits.figure import plot_of
from kvstudy.layout.plot import Axis, Plot
from kvstudy.render.paper import paint, use_style
from kvstudy.render.screen import as_json, spec
from matplotlib.figure import Figure

from . import small_results as small
from .every_chart import Drawn, every_chart
from .test_charts import KINDS

FILTER = re.compile(r'(isValid\()?datum\["(\w+)"\]')


@pytest.fixture(scope="module")
def charts() -> dict[str, Drawn]:
    use_style()
    return every_chart()


def both(chart: Drawn) -> tuple[Plot, Figure, dict]:
    """A chart as data, in print and on a page."""
    styles = small.looked(chart.styles, chart.study)
    plot = plot_of(chart.figure, chart.table, styles)
    return plot, paint(plot), json.loads(as_json(spec(plot)))


def rounded(numbers) -> tuple[float, ...]:
    return tuple(float(f"{number:.9g}") for number in numbers)


def axes(plot: Plot, figure: Figure) -> Iterator[tuple]:
    """Texts, places and ends of the axes of each panel in print; bands have texts alone."""
    for ax in figure.axes:
        if not ax.axison or ax.get_label() == "<colorbar>":
            continue
        sides = []
        for name in "xy":
            axis = getattr(ax, f"{name}axis")
            places, ends = axis.get_majorticklocs(), getattr(ax, f"get_{name}lim")()
            numbers = isinstance(getattr(plot.panels[0], name), Axis)
            texts = tuple(axis.get_major_formatter().seq)
            sides.append((texts, *((rounded(places), rounded(ends)) if numbers else ())))
        yield tuple(sides)


def page_axes(spec: dict) -> Iterator[tuple]:
    """The same on a page."""
    for panel in spec["concat"]:
        encodings = [layer["encoding"] for layer in panel["layer"]]
        encoding = next(each for each in encodings if {"x", "y"} <= {*each})
        sides = []
        for side in (encoding["x"], encoding["y"]):
            if "sort" in side:
                sides.append((tuple(side["sort"]),))
                continue
            # A list, and the place of the number in it.
            texts, _end = json.JSONDecoder().raw_decode(side["axis"]["labelExpr"])
            values, ends = side["axis"]["values"], side["scale"]["domain"]
            sides.append((tuple(texts), rounded(values), rounded(ends)))
        yield tuple(sides)


def places(figure: Figure, place: int) -> set[float]:
    """All places along x or y (0, 1) in print."""
    numbers: list[float] = []
    for ax in figure.axes:
        numbers += [n for line in ax.lines for n in line.get_xydata()[:, place]]
        numbers += [n for c in ax.collections for p in c.get_paths() for n in p.vertices[:, place]]
        numbers += [text.xy[place] for text in ax.texts if hasattr(text, "xy")]
        for bar in ax.patches:
            numbers += [corner[place] for corner in bar.get_bbox().get_points()]
    return {*rounded(numbers)}


def page_places(spec: dict, name: str) -> Iterator[float]:
    """The same of the marks of a page that are seen."""
    for number, panel in enumerate(spec["concat"]):
        shared = [row for row in spec["data"]["values"] if row["panel"] == number]
        for layer in panel["layer"]:
            if layer["mark"]["type"] == "text" or layer["mark"].get("opacity") == 0:
                continue
            rows = layer.get("data", {"values": shared})["values"]
            for step in layer.get("transform", []):
                for is_valid, column in FILTER.findall(step["filter"]):
                    rows = [r for r in rows if (r[column] is not None if is_valid else r[column])]
            for channel in (name, f"{name}2"):
                side = layer["encoding"].get(channel, {})
                if "field" in side and side.get("type") != "nominal":
                    yield from (row[side["field"]] for row in rows)


@pytest.mark.parametrize("name", KINDS)
def test_both_forms_have_the_same_axes(charts, name):
    plot, figure, spec = both(charts[name])
    assert sorted(axes(plot, figure)) == sorted(page_axes(spec))


@pytest.mark.parametrize("name", KINDS)
def test_both_forms_have_the_same_marks(charts, name):
    plot, figure, spec = both(charts[name])
    for place, side in enumerate("xy"):
        if isinstance(getattr(plot.panels[0], side), Axis):
            shown = {*rounded(n for n in page_places(spec, side) if n is not None)}
            # A step has its middle on a page, and its ends in print.
            if name != "time-a" or side == "y":
                assert shown
                assert shown <= places(figure, place)
