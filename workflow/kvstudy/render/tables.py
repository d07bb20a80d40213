"""The files of a table: .tex, .html and .csv."""

from __future__ import annotations

import json
from pathlib import Path

from kvstudy.layout.grid import Grid
from kvstudy.libraries import pd
from kvstudy.render.html import html
from kvstudy.render.latex import latex


def write_grids(
    name: str,
    kind: str,
    rows: pd.DataFrame,
    grids: list[Grid],
    output: Path,
    choices: dict[tuple[str, ...], list[Grid]] | None = None,
) -> Path:
    """Write ``grids`` as .tex and .html, and their ``rows`` as .csv; returns the .tex.

    The page has the ``choices``, alternatives by name, too.
    """
    output.mkdir(parents=True, exist_ok=True)
    path = output / f"{name}.tex"
    path.write_text(latex(grids), encoding="utf-8")
    text = html(grids, kind)
    if choices:
        text += as_comment([(words, html(of, kind)) for words, of in choices.items()])
    path.with_suffix(".html").write_text(text, encoding="utf-8")
    rows.to_csv(path.with_suffix(".csv"), index=False, lineterminator="\n")
    return path


def as_comment(choices: list[tuple[tuple[str, ...], str]]) -> str:
    """The choices as JSON that only the page reads, for Word takes all elements of a table."""
    text = json.dumps(choices, ensure_ascii=False)
    text = text.replace("<", "\\u003c").replace("-", "\\u002d")
    return f"\n<!--choices {text}-->\n"
