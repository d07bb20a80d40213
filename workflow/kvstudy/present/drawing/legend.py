"""What tells stores and lines apart: colours, patterns, dashes and shapes, as in print."""

from __future__ import annotations

from collections.abc import Mapping

from kvstudy.libraries import colors
from kvstudy.present.drawing.draw import HATCHES, Look

# Shapes of points and styles of lines in their order; told apart in grey print too.
MARKERS = "osD^vP*X"
LINES = ["-", (0, (5, 1.5)), (0, (1.5, 1)), (0, (5, 1.5, 1, 1.5))]
# Points in print are pixels here, a little larger.
STRETCH = 1.4
DASHES = {"-": [], "--": [5, 3], ":": [1.5, 2.5]}
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


def fill(store: str, look: Look) -> str:
    """The store's colour, with its hatch where the page has a pattern of that name."""
    return f"url(#kv-{store}) {look.color}" if look.hatch else look.color


def dash(style: object) -> list[float]:
    """A line style of the static figures as dashes and gaps in pixels."""
    if isinstance(style, str):
        return DASHES[style]
    return [STRETCH * length for length in style[1]]


def shape(marker: str) -> str:
    return SHAPES[marker]


def color(name: str) -> str:
    """A colour of the static figures; greys are made readable on light and on dark pages."""
    code = colors.to_hex(name)
    red, green, blue = code[1:3], code[3:5], code[5:7]
    return "#808080" if red == green == blue else code


def bar_legend(stores: Mapping[str, Look]) -> list[dict]:
    """Entries of filled areas, one per store."""
    return [
        {
            "label": look.title,
            "store": store,
            "mark": "bar",
            "color": look.color,
            "hatch": HATCHES.index(look.hatch),
        }
        for store, look in stores.items()
    ]


def point_legend(stores: Mapping[str, Look], markers: str | list[str] = MARKERS) -> list[dict]:
    """Entries of points, one per store, with the shapes of ``markers`` in order."""
    return [
        line_entry(look.title, look.color, None, markers[index % len(markers)], store)
        for index, (store, look) in enumerate(stores.items())
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
    entry: dict = {"label": label, "mark": "line", "color": of_color}
    if style is not None:
        entry["dash"] = dash(style)
    if marker:
        entry["shape"] = shape(marker)
    if store:
        entry["store"] = store
    if hollow:
        entry["hollow"] = True
    return entry
