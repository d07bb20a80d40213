"""A report's text and what is on its front, as Markdown, as LaTeX, and to pandoc."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import textwrap
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import escape

from kvstudy.documents.report.transcript import COLUMNS
from kvstudy.errors import DataError, EnvironmentFault
from kvstudy.language.current import ORIGINAL, _, pgettext, using
from kvstudy.render.latex import fill, printable
from kvstudy.study.bibliography import REFERENCES
from kvstudy.study.run_names import REPORT, Paths
from kvstudy.whole_file import put

TEMPLATES = REPORT / "templates"
OPTIONS = [
    "--from=markdown-implicit_figures-tex_math_dollars-latex_macros+smart",
    "--wrap=preserve",
    "--no-highlight",
    "--fail-if-warnings",
]


@dataclass(frozen=True)
class Front:
    """The front matter of the report; ``run`` names the files.

    ``stores`` and ``workloads`` are titles by names, for a reader's filters.
    """

    run: str
    title: str
    subtitle: str
    dateline: str
    subject: str
    language: str = ORIGINAL
    stores: dict[str, str] = field(default_factory=dict)
    workloads: dict[str, str] = field(default_factory=dict)


def write_document(text: str, front: Front, output: Path) -> Path:
    """Write <run>.md and front.json into ``output``; returns the <run>.md."""
    output.mkdir(parents=True, exist_ok=True)
    markdown = output / f"{front.run}.md"
    markdown.write_text(text, encoding="utf-8")
    values = json.dumps(asdict(front), indent=2, ensure_ascii=False)
    (output / "front.json").write_text(values + "\n", encoding="utf-8")
    return markdown


def read_document(markdown: Path) -> tuple[str, Front]:
    """The text and the front that ``write_document`` wrote."""
    path = markdown.with_name("front.json")
    with reading(path, "the front of a report", "render"):
        text = markdown.read_text(encoding="utf-8")
        return text, Front(**json.loads(path.read_text(encoding="utf-8")))


@contextlib.contextmanager
def reading(path: Path, what: str, command: str) -> Iterator[None]:
    """Raise DataError if the block cannot read ``path``, or it is not ``what`` it should be."""
    try:
        yield
    except OSError as error:
        raise DataError(
            f"{error.filename}: {error.strerror}; write it with 'kvstudy {command}'"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}: not {what} ({error}); write it again with 'kvstudy {command}'"
        ) from None


def write_latex(text: str, front: Front, parts: Paths, output: Path, appendix: str = "") -> Path:
    """Write the text and its LaTeX source into ``output``; returns the <run>.tex.

    ``parts`` has the folders of tables and figures; ``appendix`` is a LaTeX file in ``output``
    that ends the document.
    """
    markdown = write_document(text, front, output)
    shutil.copyfile(REFERENCES, output / "references.bib")
    # TeX reads the parts from the folder that it runs in.
    folders = {
        name: Path(os.path.relpath(getattr(parts, name), output)).as_posix()
        for name in ("tables", "figures")
    }
    used = filters(TEMPLATES, front.language, "latex.lua")
    latex = convert(text, ["--to=latex", "--natbib"], markdown, used, folders)
    body = output / "body.tex"
    body.write_text(printable(latex), encoding="utf-8")
    main = output / f"{front.run}.tex"
    values = asdict(front) | {"body": body.name, "columns": COLUMNS, "appendix": appendix}
    with using(front.language):
        values["language"] = pgettext("name in LaTeX's babel", "english")
    main.write_text(fill(TEMPLATES / "report.tex.j2", **values), encoding="utf-8")
    return main


def filters(templates: Path, language: str, *names: str) -> list[Path]:
    """The Lua filters ``names``, before them those for the typography of ``language``."""
    typography = [templates / "units.lua", templates / f"{language}.lua"]
    return [*filter(Path.is_file, typography), *(templates / name for name in names)]


def convert(
    text: str, to: Sequence[str], name: Path, filters: Sequence[Path], metadata: Mapping[str, str]
) -> str:
    """The Markdown ``text`` in another format.

    ``to`` are pandoc's options for it, ``filters`` Lua files, ``metadata`` what these ask
    for. ``name`` is for the error message. What pandoc writes to a file is not returned.
    """
    options = [f"--lua-filter={path}" for path in filters]
    options += [f"--metadata={key}={value}" for key, value in metadata.items()]
    try:
        done = subprocess.run(
            ["pandoc", *OPTIONS, *options, *to],
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            # It reads its options in the locale's encoding: in C, an accent was two boxes.
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )
    except FileNotFoundError:
        raise EnvironmentFault("pandoc: no such program; run 'make setup'") from None
    if done.returncode:
        raise EnvironmentFault(
            f"{name}: pandoc refused the text: {done.stderr.strip()}; "
            "mend the text in report/text that it names"
        )
    return done.stdout


def convert_numbered(
    markdown: Path,
    text: str,
    front: Front,
    parts: Paths,
    to: Sequence[str],
    filter_name: str,
    **variables: str,
) -> str:
    """As ``convert``, for formats that do not number tables and references by themselves.

    ``filter_name`` is the format's Lua filter, ``variables`` are its template's. Pandoc is not
    told the language: version 2.17 cannot read its own Czech words.
    """
    options = [
        "--citeproc",
        f"--csl={TEMPLATES / 'numeric.csl'}",
        f"--bibliography={REFERENCES}",
        "--metadata=link-citations",
        *to,
    ]
    with using(front.language):
        words = {"table": _("Table"), "figure": _("Figure"), "contents": _("Contents")}
    metadata = {f"word-{name}": word for name, word in words.items()}
    metadata |= {"tables": parts.tables.as_posix()} | variables
    used = filters(TEMPLATES, front.language, "numbers.lua", filter_name)
    return convert(text, options, markdown, used, metadata)


# A4, with the text width that the figures are drawn for; the title is on the first page.
PAGE = (
    '<w:sectPr><w:headerReference w:type="default" r:id="rId101"/>'
    '<w:footerReference w:type="default" r:id="rId102"/>'
    '<w:footerReference w:type="first" r:id="rId102"/>'
    '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1417" w:right="1417" '
    'w:bottom="1417" w:left="1417" w:header="709" w:footer="709" w:gutter="0"/>'
    "<w:titlePg/></w:sectPr>"
)
WORDS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
# The study's title at the left and its run at the right.
HEADER = (
    f'<w:hdr {WORDS}><w:p><w:pPr><w:pStyle w:val="Header"/></w:pPr><w:r><w:t>{{}}</w:t></w:r>'
    "<w:r><w:tab/></w:r><w:r><w:t>{}</w:t></w:r></w:p></w:hdr>"
)
FOOTER = (
    f'<w:ftr {WORDS}><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr><w:fldSimple w:instr=" PAGE ">'
    "<w:r><w:t>1</w:t></w:r></w:fldSimple></w:p></w:ftr>"
)
SHORT_TITLE = 75
RELATION = (
    '<Relationship Id="{}" Target="{}1.xml" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/{}"/>'
)
RELATIONS = RELATION.format("rId101", *["header"] * 2) + RELATION.format("rId102", *["footer"] * 2)
# A zip file has no earlier time.
NO_TIME = (1980, 1, 1, 0, 0, 0)
# When it was made, and what the filters were told, among it the folders of this machine.
NOT_OF_THE_TEXT = re.compile(
    rb"<dcterms:(created|modified) .*?</dcterms:\1>|<property .*?</property>", re.S
)


def build_docx(markdown: Path, parts: Paths, output: Path) -> None:
    """Write the report ``markdown`` (of ``kvstudy render``) to ``output``.

    KvstudyError when pandoc refuses the text; ``output`` is then left as it was.
    """
    text, front = read_document(markdown)
    with tempfile.TemporaryDirectory() as folder:
        reference, docx = Path(folder, "reference.docx"), Path(folder, "report.docx")
        reference.write_bytes(_reference(front))
        convert_numbered(
            *(markdown, text, front, parts),
            ["--to=docx", f"--reference-doc={reference}", f"--output={docx}"],
            "docx.lua",
            title=front.title,
            subtitle=front.subtitle,
            date=front.dateline,
            figures=parts.figures.as_posix(),
        )
        files = _files_of(docx.read_bytes())
    # The author is the program; the source's author did not write it.
    creator = "<dc:creator>kvstudy</dc:creator>"
    subject = f"{creator}<dc:subject>{escape(front.subject)}</dc:subject>".encode()
    for name in (name for name in files if name.startswith("docProps/")):
        content = NOT_OF_THE_TEXT.sub(b"", files[name])
        files[name] = content.replace(b"<dc:creator></dc:creator>", subject)
    put(_zipped(files), output)


def _reference(front: Front) -> bytes:
    """Pandoc's own reference document, with our styles, page, header and footer, and language."""
    command = ["pandoc", "--print-default-data-file=reference.docx"]
    files = _files_of(subprocess.run(command, capture_output=True, check=True).stdout)
    styles = (TEMPLATES / "docx-styles.xml").read_bytes()
    files["word/styles.xml"] = styles.replace(b"en-GB", front.language.encode())
    for name, old, new in (
        ("word/document.xml", b"<w:sectPr />", PAGE),
        ("word/_rels/document.xml.rels", b"</Relationships>", f"{RELATIONS}</Relationships>"),
    ):
        files[name] = files[name].replace(old, new.encode())
    title = textwrap.shorten(front.title, SHORT_TITLE, placeholder="…")
    files["word/header1.xml"] = HEADER.format(escape(title), escape(front.run)).encode()
    return _zipped(files | {"word/footer1.xml": FOOTER.encode()})


def _files_of(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(archive)) as files:
        return {name: files.read(name) for name in files.namelist()}


def _zipped(files: dict[str, bytes]) -> bytes:
    """The archive without the times of its making: the same data gives the same file."""
    result = BytesIO()
    with zipfile.ZipFile(result, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, NO_TIME), content, zipfile.ZIP_DEFLATED)
    return result.getvalue()
