"""The files of a table: its values as CSV, and what people see, as LaTeX and as HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from kvstudy.present.tables.html import fill_html
from kvstudy.present.tables.latex import fill


def write_table(
    name: str,
    kind: str,
    frame: pd.DataFrame,
    values: dict[str, Any],
    templates: Path,
    output: Path,
) -> Path:
    """Write ``<name>.csv``, ``.tex`` and ``.html`` into ``output``, made if missing; the .tex."""
    output.mkdir(parents=True, exist_ok=True)
    path = write_texts(name, kind, values, templates, output)
    frame.to_csv(output / f"{name}.csv", index=False, lineterminator="\n")
    return path


def write_texts(
    name: str, kind: str, values: dict[str, Any], templates: Path, output: Path
) -> Path:
    """``values`` in the templates ``<kind>.tex.j2`` and ``<kind>.html.j2``; returns the .tex."""
    texts = {
        output / f"{name}.tex": fill(templates / f"{kind}.tex.j2", **values),
        output / f"{name}.html": fill_html(templates / f"{kind}.html.j2", **values),
    }
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return next(iter(texts))
