"""The report as one HTML page that needs no other file."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from kvstudy.language.current import using
from kvstudy.present import templates
from kvstudy.present.drawing.page import inline, scripts, styles
from kvstudy.present.report.document import (
    Front,
    Parts,
    citations,
    convert,
    filters,
    read_document,
    words_of,
)
from kvstudy.present.report.page_parts import MadeOf, as_data, page_words, values_table
from kvstudy.whole_file import put

DRAWING = re.compile(r'<div class="drawing" data-figure="([^"]*)" data-caption="([^"]*)"></div>')
CELLS = re.compile(r'<div class="cells" data-kind="(table|figure)" data-name="([^"]*)"></div>')
VALUES = re.compile(r'<div class="values" data-figure="([^"]*)"></div>')
BETWEEN = "<!-- contents above, text below -->"
# In the order in which they run; the first one's functions serve the others.
BEHAVIOUR = ["page.js", "tables.js", "filter.js", "charts.js"]


def build_html(markdown: Path, parts: Parts, output: Path, provenance: Path | None = None) -> None:
    """Write the report ``markdown`` (of ``kvstudy render``) as a page to ``output``.

    A figure with a specification beside it (<name>.vl.json) is interactive where scripts run.
    With ``provenance`` (of ``kvstudy provenance``), tables and figures name their cells.
    KvstudyError when pandoc refuses the text or a part is missing; ``output`` is then left
    as it was.
    """
    text, front = read_document(markdown)
    folder = parts.templates
    converted = convert(
        text,
        [
            *citations(folder, parts.references),
            *["--to=html5", "--section-divs", "--standalone", "--toc", "--toc-depth=3"],
            f"--template={folder / 'html' / 'body.template'}",
        ],
        markdown,
        filters(folder, front.language, "numbers.lua", "html.lua"),
        words_of(front.language) | {"tables": parts.tables.as_posix(), "pagetitle": front.run},
    )
    contents, body = converted.split(BETWEEN)
    made_of = MadeOf(provenance) if provenance else None
    specs = _specs(parts.figures, body)
    body = DRAWING.sub(lambda found: _drawing(parts.figures, *found.groups()), body)
    with using(front.language):
        body = CELLS.sub(lambda found: _cells(made_of, *found.groups()), body)
        body = VALUES.sub(lambda found: values_table(parts.figures, html.unescape(found[1])), body)
        page = _page(folder / "html", front, contents, body, specs)
    put(page.encode(), output)


def _page(folder: Path, front: Front, contents: str, body: str, specs: dict[str, str]) -> str:
    words = page_words()
    own = [(folder / name).read_text(encoding="utf-8") for name in BEHAVIOUR]
    # The last one shows the charts.
    charts = [scripts()] if specs else []
    values = {
        "front": front,
        "words": words,
        "words_json": inline(json.dumps(words, ensure_ascii=False, sort_keys=True)),
        "stores": _used("store", front.stores, body),
        "workloads": _used("workload", front.workloads, body),
        "styles": (folder / "style.css").read_text(encoding="utf-8") + (styles() if specs else ""),
        "early": (folder / "theme.js").read_text(encoding="utf-8"),
        "contents": contents,
        "body": body,
        "specs": specs,
        "scripts": [*own[:-1], *charts, own[-1]],
    }
    environment = templates.environment(folder, autoescape=True, keep_trailing_newline=False)
    return templates.fill(environment, "page.html.j2", values)


def _used(kind: str, titles: dict[str, str], body: str) -> dict[str, str]:
    """Those that some part of the page belongs to; a filter of one would leave nothing."""
    named = re.findall(rf'data-{kind}="([^"]*)"', body)
    there = {name for names in named for name in names.split()}
    found = {name: title for name, title in titles.items() if name in there}
    return found if len(found) > 1 else {}


def _specs(figures: Path, body: str) -> dict[str, str]:
    """The charts of the page by the names of their figures, each once."""
    names = dict.fromkeys(html.unescape(found[1]) for found in DRAWING.finditer(body))
    paths = {name: figures / f"{name}.vl.json" for name in names}
    return {
        name: inline(path.read_text(encoding="utf-8").strip())
        for name, path in paths.items()
        if path.is_file()
    }


def _cells(made_of: MadeOf | None, kind: str, name: str) -> str:
    """``name`` is HTML."""
    return made_of.listed(kind, html.unescape(name)) if made_of else ""


def _drawing(figures: Path, name: str, caption: str) -> str:
    """The static figure, which needs no script. ``name`` and ``caption`` are HTML."""
    source = as_data(figures / f"{html.unescape(name)}.svg")
    return (
        f'<div class="drawing" data-figure="{name}">'
        f'<img src="{source}" alt="{caption}" loading="lazy"></div>'
    )
