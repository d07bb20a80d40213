"""The LaTeX source of a report."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from pathlib import Path

from kvstudy.language.current import using
from kvstudy.language.locale import babel_language
from kvstudy.present.report.document import Front, Parts, write_document
from kvstudy.present.report.pandoc import convert, filters
from kvstudy.present.report.transcript import COLUMNS
from kvstudy.present.tables.latex import fill, printable


def write_latex(text: str, front: Front, parts: Parts, output: Path, appendix: str = "") -> Path:
    """Write the text and its LaTeX source into ``output``; returns the <run>.tex.

    ``appendix`` is a LaTeX file in ``output`` that ends the document.
    """
    markdown = write_document(text, front, output)
    shutil.copyfile(parts.references, output / "references.bib")
    folders = {
        # TeX reads the parts from the folder that it runs in.
        name: Path(os.path.relpath(path, output)).as_posix()
        for name, path in (("tables", parts.tables), ("figures", parts.figures))
    }
    used = filters(parts.templates, front.language, "latex.lua")
    latex = convert(text, ["--to=latex", "--natbib"], markdown, used, folders)
    body = output / "body.tex"
    body.write_text(printable(latex), encoding="utf-8")
    main = output / f"{front.run}.tex"
    values = asdict(front) | {"body": body.name, "columns": COLUMNS, "appendix": appendix}
    with using(front.language):
        values["language"] = babel_language()
    main.write_text(fill(parts.templates / "report.tex.j2", **values), encoding="utf-8")
    return main
