"""Tables as HTML."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup, escape

from kvstudy.layout.grid import Grid, notes_of
from kvstudy.layout.rich_text import BREAK, RichText, written
from kvstudy.render import templates
from kvstudy.render.strips import html_strip
from kvstudy.study.run_names import REPORT

ELEMENTS = {
    "bold": "<b>{}</b>",
    "italic": "<i>{}</i>",
    "small": "<small>{}</small>",
    "raised": "<sup>{}</sup>",
    "grey": '<span class="grey">{}</span>',
    "hanging": '<span class="hang">{}</span>',
    # Not as text: what it shows as nothing must not be read or copied.
    "phantom": '<span class="phantom" data-as="{}"></span>',
}


def html(grids: list[Grid], kind: str) -> str:
    """The ``grids`` below each other; their class is ``kind``.

    Tables have no style, id or script. What a page may use: ``class`` (``num`` for a
    number, ``section``, ``published``, ``sortable`` of a table), ``data-value`` (the
    unrounded number), ``data-runs`` (``Statistic.text``), ``data-store`` and ``data-workload`` of a
    body, row, column or cell.
    """
    template = REPORT / "templates/tables/table.html.j2"
    return fill_html(template, grids=grids, kind=kind, notes=notes_of(grids))


def fill_html(template: Path, **values: object) -> str:
    """The filled ``template``; strings are escaped. Errors as ``templates.fill``'s."""
    options = {"autoescape": True, "finalize": markup}
    filters = {"stacked": stacked, "strip": html_strip}
    text = templates.fill(template, values, filters, **options)
    # A blank line ends the HTML within Markdown, for pandoc.
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


def markup(value: object) -> object:
    """A rich text with its elements; all else is escaped where it is printed."""
    if not isinstance(value, RichText):
        return value
    text = written(value.spans, escape, lambda mark, inner: ELEMENTS[mark].format(inner))
    return Markup(text.replace(BREAK, "<br>"))


def stacked(text: RichText) -> Markup:
    """A head of numbers: lines below each other, aligned with them."""
    shown = markup(text)
    return Markup('<span class="stack">{}</span>').format(shown) if "<br>" in shown else shown
