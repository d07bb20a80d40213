"""The report as a Word file, by pandoc."""

from __future__ import annotations

import re
import subprocess
import tempfile
import zipfile
from io import BytesIO
from pathlib import Path

from kvstudy.present.report.document import (
    Parts,
    citations,
    convert,
    filters,
    read_document,
    words_of,
)
from kvstudy.whole_file import put

# A4, with the text width that the figures are drawn for.
PAGE = (
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1417" w:right="1417" '
    'w:bottom="1417" w:left="1417" w:header="709" w:footer="709" w:gutter="0"/></w:sectPr>'
)
# A zip file has no earlier time.
NO_TIME = (1980, 1, 1, 0, 0, 0)
MADE = re.compile(rb"<dcterms:(created|modified) .*?</dcterms:\1>")


def build_docx(markdown: Path, parts: Parts, output: Path) -> None:
    """Write the report ``markdown`` (of ``kvstudy render``) to ``output``.

    KvstudyError when pandoc refuses the text; ``output`` is then left as it was.
    """
    text, front = read_document(markdown)
    templates = parts.templates
    with tempfile.TemporaryDirectory() as folder:
        reference, made = Path(folder, "reference.docx"), Path(folder, "report.docx")
        reference.write_bytes(_reference(templates / "docx-styles.xml", front.language))
        options = [
            *citations(templates, parts.references),
            "--to=docx",
            f"--reference-doc={reference}",
            f"--output={made}",
        ]
        metadata = {
            "title": front.title,
            "subtitle": front.subtitle,
            "date": front.dateline,
            "author-meta": front.author,
            **words_of(front.language),
            "tables": parts.tables.as_posix(),
            "figures": parts.figures.as_posix(),
        }
        used = filters(templates, front.language, "numbers.lua", "docx.lua")
        convert(text, options, markdown, used, metadata)
        put(_without_times(made), output)


def _reference(styles: Path, language: str) -> bytes:
    """Pandoc's own reference document, with our styles, our page and the language of the text."""
    command = ["pandoc", "--print-default-data-file=reference.docx"]
    given = subprocess.run(command, capture_output=True, check=True).stdout
    result = BytesIO()
    with zipfile.ZipFile(BytesIO(given)) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "word/styles.xml":
                content = styles.read_bytes().replace(b"en-GB", language.encode())
            elif name == "word/document.xml":
                content = content.replace(b"<w:sectPr />", PAGE.encode())
            new.writestr(name, content)
    return result.getvalue()


def _without_times(made: Path) -> bytes:
    """The file without the times of its making: the same data gives the same file."""
    result = BytesIO()
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                content = MADE.sub(b"", content)
            new.writestr(zipfile.ZipInfo(name, NO_TIME), content, zipfile.ZIP_DEFLATED)
    return result.getvalue()
