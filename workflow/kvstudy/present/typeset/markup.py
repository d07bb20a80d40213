"""Text of tables that belongs to no format: a few elements of HTML, and nothing else of it.

``<b>``, ``<i>``, ``<sup>``, ``<br>`` and ``<span class="...">`` with one of ``SPANS``. HTML
templates print it as it is, ``kvstudy.present.typeset.latex.latex_of`` turns it into LaTeX.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from markupsafe import Markup

from kvstudy.analyse.tidy.numbers import MARK, marked_values
from kvstudy.present import templates

DASH = "\N{EN DASH}"
# Two stores that the runs do not tell apart, or show to be equal; one that the client limits.
TIE, EQUAL, BOUND = "~", "=", "\N{DAGGER}"
SPANS = {
    "grey": "does not count as much as its neighbours",
    "hang": "takes no room in its column, so that numbers stay aligned",
    "phantom": "takes the room of the text that its attribute data-as has, and shows nothing",
    "stack": "lines below each other, aligned on the right",
}


class Rich(Markup):
    """Markup of the elements above. Plain strings that are joined to it are escaped.

    What a cell or a heading belongs to goes with it (``marked``), for pages that sort and
    filter; text that is made from it has nothing of that.
    """

    value: float | None = None
    unmarked: str = ""
    store: str = ""
    workload: str = ""
    # Of the head of a column: it has what a source published; why none of its lines has a value.
    published: bool = False
    gap: str = ""


def marked(text: str, value: float | None = None, store: str = "", workload: str = "") -> Rich:
    """``text`` with its unrounded number (none if NaN or infinite) and what it is of.

    ``store`` is the name of one, or names with spaces between.
    """
    rich = Rich(Rich.escape(text))
    rich.value = None if value is None or not math.isfinite(value) else float(value)
    rich.store, rich.workload = store, workload
    return rich


def bold(text: str) -> Rich:
    return Rich("<b>{}</b>").format(text)


def italic(text: str) -> Rich:
    return Rich("<i>{}</i>").format(text)


def grey(text: str) -> Rich:
    """``text`` in the grey of what does not count; it keeps its number."""
    return marked(_span("grey", text), getattr(text, "value", None))


def raised(text: str) -> Rich:
    """As the mark of a footnote."""
    return Rich("<sup>{}</sup>").format(text)


def hanging(text: str) -> Rich:
    return _span("hang", text)


def phantom(text: str) -> Rich:
    # Not as text: where nothing can hide it, "872" would be read as "872.0".
    return Rich('<span class="phantom" data-as="{}"></span>').format(text)


def note(mark: str, text: str) -> Rich:
    """A footnote."""
    return raised(mark) + "\N{NARROW NO-BREAK SPACE}" + text


def lines(*parts: str) -> Rich:
    """``parts`` below each other, in a cell whose text may break."""
    return Rich("<br>").join(parts)


def stacked(*parts: str) -> Rich:
    """``parts`` below each other, in a column of numbers."""
    return _span("stack", lines(*parts))


def _span(name: str, text: str) -> Rich:
    return Rich('<span class="{}">{}</span>').format(name, text)


def number_cell(value: float, text: Callable[[float], str]) -> str:
    """``value`` as ``text`` writes it, with the number; a dash if there is none."""
    return DASH if math.isnan(value) else marked(text(value), value)


def with_mark(text: str, rejected: bool) -> str:
    """``text`` of a published value, marked if the audit of its source rejects it.

    ``unmarked`` is then the text alone.
    """
    if not rejected:
        return text
    rich = marked(Rich.escape(text) + hanging(raised(MARK)), getattr(text, "value", None))
    rich.unmarked = text
    return rich


def together(between: str, cells: list[str]) -> str:
    """``cells`` as one, which may be marked."""
    text = between.join(getattr(cell, "unmarked", "") or cell for cell in cells)
    if not any(getattr(cell, "unmarked", "") for cell in cells):
        return text
    rich = Rich(between).join(cells)
    rich.unmarked = text
    return rich


def rejected_note() -> Rich:
    words = marked_values()
    return note(MARK, words[:1].upper() + words[1:] + ".")


def fill_html(template: Path, **values: object) -> str:
    """The filled ``template``; strings are escaped, Rich passes. Errors as ``templates.fill``'s.

    Tables have no style, id or script. What a page may use: ``class`` (``num`` for a
    number, ``section``, ``published``, ``sortable`` of a table), ``data-value`` (the
    unrounded number), ``data-store`` and ``data-workload`` of a body, row, column or cell.
    """
    environment = templates.environment(template.parent, autoescape=True)
    text = templates.fill(environment, template.name, values)
    # A blank line ends the HTML within Markdown, for pandoc.
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())
