"""Drawings within a page."""

from __future__ import annotations

import math
import re
from pathlib import Path
from urllib.parse import quote

from kvstudy.errors import KvstudyError

# Before the first element, and what says who made the file.
HEADER = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->", re.S)
# Not of transforms, which may make letters from numbers in the thousands.
GEOMETRY = re.compile(r' (?:d|points)="[^"]*"')
# As Matplotlib draws a circle; the patterns of bars have hundreds.
CIRCLE = re.compile(r"M (\S+ \S+)\s+(?:C [^A-Zz]*){3}C [^A-Zz]*?(\S+ \S+)\s+(?:C [^A-Zz]*){4}z")
LONG = re.compile(r"-?\d+\.\d{3,}")


def as_data(path: Path) -> str:
    """The SVG file as a data address for an attribute in double quotes.

    Coordinates keep two decimals of a point: a third of the size. KvstudyError when the file
    cannot be read.
    """
    try:
        drawing = path.read_text(encoding="utf-8")
    except OSError as error:
        raise KvstudyError(f"{path}: {error.strerror}; write it with 'kvstudy draw'") from None
    drawing = GEOMETRY.sub(_shorter, HEADER.sub("", drawing))
    drawing = re.sub(r">\s+<", "><", drawing.strip())
    return "data:image/svg+xml," + quote(drawing, safe=" !$()*+,-./:;=?@_|~")


def _shorter(found: re.Match[str]) -> str:
    arcs = CIRCLE.sub(_arcs, found[0])
    numbers = LONG.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), arcs)
    return re.sub(r"\s+", " ", numbers)


def _arcs(circle: re.Match[str]) -> str:
    """Two arcs, from a point to the one across and back."""
    here, across = circle.groups()
    diameter = math.dist([float(n) for n in here.split()], [float(n) for n in across.split()])
    radius = f"A {diameter / 2:.6f} {diameter / 2:.6f} 0 1 0"
    return f"M {here} {radius} {across} {radius} {here} z"
