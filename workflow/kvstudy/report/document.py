"""A report as files: its Markdown, what stands on its front, and its LaTeX source.

The Markdown is the one text of all formats.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.report.pandoc import convert
from kvstudy.report.transcript import COLUMNS
from kvstudy.tables.latex import fill


@dataclass(frozen=True)
class Front:
    """What stands before the text; ``run`` names the files."""

    run: str
    title: str
    subtitle: str
    dateline: str
    author: str
    subject: str


@dataclass(frozen=True)
class Parts:
    """The folders of a report's tables and figures, and of its templates and references."""

    tables: Path
    figures: Path
    report: Path

    @property
    def templates(self) -> Path:
        return self.report / "templates"

    @property
    def references(self) -> Path:
        return self.report / "references.bib"


def write_document(text: str, front: Front, parts: Parts, output: Path) -> Path:
    """Write <run>.md, front.json and the LaTeX source into ``output``; returns the <run>.tex."""
    output.mkdir(parents=True, exist_ok=True)
    markdown = output / f"{front.run}.md"
    markdown.write_text(text, encoding="utf-8")
    told = json.dumps(asdict(front), indent=2, ensure_ascii=False)
    (output / "front.json").write_text(told + "\n", encoding="utf-8")
    shutil.copyfile(parts.references, output / "references.bib")
    body = output / "body.tex"
    folders = {
        # TeX reads the parts from the folder that it runs in.
        name: Path(os.path.relpath(path, output)).as_posix()
        for name, path in (("tables", parts.tables), ("figures", parts.figures))
    }
    latex = convert(
        text, ["--to=latex", "--natbib"], markdown, [parts.templates / "latex.lua"], folders
    )
    body.write_text(latex, encoding="utf-8")
    main = output / f"{front.run}.tex"
    values = asdict(front) | {"body": body.name, "columns": COLUMNS}
    main.write_text(fill(parts.templates / "report.tex.j2", **values), encoding="utf-8")
    return main


def read_document(markdown: Path) -> tuple[str, Front]:
    """The text and the front that ``write_document`` wrote."""
    told = markdown.with_name("front.json")
    try:
        text = markdown.read_text(encoding="utf-8")
        values = json.loads(told.read_text(encoding="utf-8"))
        return text, Front(**{field.name: values[field.name] for field in fields(Front)})
    except OSError as error:
        raise KvstudyError(
            f"{error.filename}: {error.strerror}; write it with 'kvstudy render'"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise KvstudyError(
            f"{told}: not the front of a report ({error}); write it again with 'kvstudy render'"
        ) from None


def put(content: bytes, output: Path) -> None:
    """Write beside the goal, then rename: a reader never sees half a file."""
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = output.with_name(f".{output.name}.new")
    try:
        beside.write_bytes(content)
        beside.replace(output)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise KvstudyError(f"{output}: cannot be written: {error.strerror}") from None
