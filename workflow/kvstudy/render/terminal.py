"""Tables of texts on a terminal."""

from __future__ import annotations

import textwrap

from kvstudy.layout.grid import Grid

WIDTH, INDENT = 96, "     "


def as_text(grid: Grid) -> str:
    """A table of texts for a terminal: below each label its cells, a line for each of theirs."""
    paragraphs = []
    for line in grid.lines:
        first, *rest = "\n".join([str(line.label), *line.texts]).split("\n")
        paragraphs.append(textwrap.fill(first, WIDTH, subsequent_indent=INDENT))
        indents = {"initial_indent": f"{INDENT}- ", "subsequent_indent": f"{INDENT}  "}
        paragraphs += [textwrap.fill(text, WIDTH, **indents) for text in rest if text]
    return "\n".join(paragraphs)
