"""The report as one HTML page that needs no other file."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path

import jinja2

from kvstudy.errors import KvstudyError
from kvstudy.report.document import Parts, put, read_document
from kvstudy.report.pandoc import citations, convert

DRAWING = re.compile(r'<div class="drawing" data-figure="([^"]*)" data-caption="([^"]*)"></div>')


def build_html(markdown: Path, parts: Parts, output: Path) -> None:
    """Write the report ``markdown`` (of ``kvstudy render``) as a page to ``output``.

    KvstudyError when pandoc refuses the text or a part is missing; ``output`` is then left
    as it was.
    """
    text, front = read_document(markdown)
    templates = parts.templates
    body = convert(
        text,
        [*citations(templates, parts.references), "--to=html5", "--section-divs"],
        markdown,
        [templates / "numbers.lua", templates / "html.lua"],
        {"tables": parts.tables.as_posix()},
    )
    body = DRAWING.sub(lambda found: _drawing(parts.figures, *found.groups()), body)
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates / "html"),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("page.html.j2").render(front=front, body=body)
    put(page.encode(), output)


def _drawing(figures: Path, name: str, caption: str) -> str:
    """The static figure, which needs no script. ``name`` and ``caption`` are HTML."""
    path = figures / f"{html.unescape(name)}.svg"
    try:
        image = base64.b64encode(path.read_bytes()).decode()
    except OSError as error:
        raise KvstudyError(f"{path}: {error.strerror}; write it with 'kvstudy draw'") from None
    return (
        f'<div class="drawing" data-figure="{name}">'
        f'<img src="data:image/svg+xml;base64,{image}" alt="{caption}"></div>'
    )
