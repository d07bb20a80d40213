"""Filling HTML templates: a fragment with tables and their notes, no page."""

from __future__ import annotations

from pathlib import Path

from kvstudy.present import templates
from kvstudy.present.tables.latex import continued


def fill_html(template: Path, **values: object) -> str:
    """The filled ``template``; strings are escaped, Rich passes. Errors as ``templates.fill``'s.

    Tables have no style, id or script. What a page may use: ``class`` (``num`` for a
    number, ``section``, ``published``, ``sortable`` of a table), ``data-value`` (the
    unrounded number), ``data-store`` and ``data-workload`` of a body, row, column or cell.
    """
    environment = templates.environment(template.parent, autoescape=True)
    text = templates.fill(environment, template.name, values | {"said": continued()})
    # A blank line ends the HTML within Markdown, for pandoc.
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())
