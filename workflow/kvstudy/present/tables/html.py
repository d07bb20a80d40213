"""Filling HTML templates: a fragment with tables and their notes, no page."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import jinja2

from kvstudy.present.tables.templates import environment, filled


def fill_html(template: Path, **values: object) -> str:
    """The filled ``template``; strings are escaped, Rich passes. Errors as ``latex.fill``'s.

    Tables have no style, id or script. What a page may use: ``class`` (``num`` for a
    number, ``section``, ``published``, ``sortable`` of a table), ``data-value`` (the
    unrounded number), ``data-store`` and ``data-workload`` of a body, row, column or cell.
    """
    text = filled(_environment(template.parent), template, values)
    # A blank line ends the HTML within Markdown, for pandoc.
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


@cache
def _environment(folder: Path) -> jinja2.Environment:
    return environment(folder, autoescape=True)
