"""One Markdown text as LaTeX, HTML and Word: the same words, numbers and links in each."""

from __future__ import annotations

import base64
import re
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from kvstudy.documents.report.document import Front, build_docx, write_latex
from kvstudy.documents.report.html import build_html
from kvstudy.documents.report.markdown import Floats, for_markdown
from kvstudy.documents.report.transcript import TranscriptLine
from kvstudy.errors import KvstudyError
from kvstudy.study.kinds import TABLES

ODD = r"Store_1 50% & #1 \ <b> -- 'p'"
# A PNG of one pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABc3UBGAAAAABJRU5ErkJggg=="
)
ROWS = (
    "<table><thead><tr><th scope='col'>Store</th><th scope='col'>ops/s</th></tr></thead>"
    "<tbody><tr><td>Redis</td><td class='num'>12\u202f345.6<sup>*</sup></td></tr>"
    "<tr class='published'><td>Redis</td><td class='num'>98.7</td></tr></tbody></table>"
    "<div class='notes'><p>*\u2009Noisy.</p></div>"
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> Path:
    """A folder with text.md, text.tex, text.html and text.docx of a small report."""
    folder = tmp_path_factory.mktemp("formats")
    study = SimpleNamespace(source=SimpleNamespace(key="jedlicka2024"))
    parts = SimpleNamespace(tables=folder / "tables", figures=folder / "figures", study=study)
    for part in (parts.tables, parts.figures):
        part.mkdir()
    for name in ("one", "two"):
        (parts.tables / f"{name}.tex").write_text("Redis & 12\\,345.6\\\\", encoding="utf-8")
        (parts.tables / f"{name}.html").write_text(ROWS, encoding="utf-8")
    for form in ("pdf", "svg"):
        (parts.figures / f"bars.{form}").write_text("<svg/>", encoding="utf-8")
    (parts.figures / "bars.png").write_bytes(PIXEL)
    (parts.figures / "bars.csv").write_text("store,value\nredis,1\n", encoding="utf-8")

    floats = Floats(parts)
    one = TABLES["machine"](name="one", kind="machine", caption=ODD, source="table 4.2")
    two = TABLES["machine"](name="two", kind="machine", caption="All claims")
    bars = SimpleNamespace(name="bars", caption="Bars", source="figure 4.4")
    listing = SimpleNamespace(name="listing", caption="One cell", source="")
    lines = [
        TranscriptLine("command", "redis-server --port 1"),
        TranscriptLine("output", ODD),
        TranscriptLine("output", ""),
    ]
    text = "\n\n".join(
        [
            f"# Summary {{.unnumbered}}\n\n{for_markdown(ODD)}, see {floats.ref(one)}.",
            floats.mark("contents"),
            "# First {#first}\n\n## Below\n\n" + floats.table(one),
            f"# Second\n\n{floats.section('detail')} and {floats.ref(two)}.",
            floats.table(two),
            floats.mark("barrier"),
            # As from a template that leaves no blank line between.
            f"A sentence before it.\n{floats.figure(bars)}",
            floats.ref(listing) + " shows it.",
            floats.references("References"),
            floats.mark("appendix"),
            "# Cells\n\n## Detail {#detail}\n\n::: notice\nCareful.\n:::",
            floats.transcript(listing, lines),
            floats.mark("page-break"),
        ]
    )
    front = Front("text", ODD, "A subtitle", "Measured today", "Subject")
    write_latex(text + "\n", front, parts, folder)
    build_html(folder / "text.md", parts, folder / "text.html")
    build_docx(folder / "text.md", parts, folder / "text.docx")
    return folder


def read(path: Path, *options: str) -> str:
    """What a reader sees of a page or of a Word file."""
    command = ["pandoc", str(path), "--to=plain", "--wrap=none", *options]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{EN SPACE}", " ")


@pytest.mark.parametrize("form", ["html", "docx"])
def test_sections_and_floats_have_latex_numbers(outputs: Path, form: str) -> None:
    text = read(outputs / f"text.{form}")
    assert "see Table 1." in text
    assert "Section A.1 and Table 2." in text
    assert "Figure 2 shows it." in text
    for heading in ("1 First", "1.1 Below", "2 Second", "A Cells", "A.1 Detail"):
        assert re.search(rf"^{heading}$", text, re.M), heading
    assert re.search(r"^Summary$", text, re.M)
    assert "Table 2: All claims." in text
    assert "Figure 1: Bars (modelled on figure 4.4 of [1])." in text


def test_latex_numbers_them_itself(outputs: Path) -> None:
    body = (outputs / "body.tex").read_text(encoding="utf-8")
    assert r"see Table~\ref{table:one}." in body
    assert r"Section~\ref{detail} and Table~\ref{table:two}." in body
    assert r"/one.tex}{table:one}{" in body
    assert r"/two.tex}{table:two}{All claims.}" in body


@pytest.mark.parametrize("form", ["html", "docx"])
def test_strings_mean_only_themselves(outputs: Path, form: str) -> None:
    text = read(outputs / f"text.{form}")
    # Where a line may break inside a long word, there is a mark without width.
    seen = text.replace("\u200b", "")
    assert seen.count(ODD) >= 3  # the text, the caption, the listing


@pytest.mark.parametrize("form", ["html", "docx"])
def test_tables_are_tables_and_numbers_keep_their_digits(outputs: Path, form: str) -> None:
    command = ["pandoc", str(outputs / f"text.{form}"), "--to=json"]
    tree = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert tree.count('"t":"Table"') == 2
    assert read(outputs / f"text.{form}").count("12\u202f345.6") == 2


@pytest.mark.parametrize("form", ["html", "docx"])
def test_the_source_is_cited_by_number(outputs: Path, form: str) -> None:
    text = read(outputs / f"text.{form}")
    assert "(modelled on table 4.2 of [1])." in text
    assert re.search(r"^\[1\]\s+Jan Jedlička", text, re.M)


def test_every_link_of_the_page_has_a_goal(outputs: Path) -> None:
    page = (outputs / "text.html").read_text(encoding="utf-8")
    goals = set(re.findall(r'\bid="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links
    assert links <= goals


def test_the_page_needs_no_other_file(outputs: Path) -> None:
    page = (outputs / "text.html").read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', page)


def test_word_has_our_styles_and_no_time(outputs: Path, tmp_path: Path) -> None:
    parts = SimpleNamespace(tables=outputs / "tables", figures=outputs / "figures")
    build_docx(outputs / "text.md", parts, tmp_path / "again.docx")
    assert (tmp_path / "again.docx").read_bytes() == (outputs / "text.docx").read_bytes()
    styles = read(outputs / "text.docx", "--from=docx+styles", "--to=native")
    for name in ("Table Caption", "Image Caption", "Notice"):
        assert f'"custom-style" , "{name}"' in styles, name


def test_word_prints_what_a_report_has_on_paper(outputs: Path) -> None:
    with zipfile.ZipFile(outputs / "text.docx") as word:
        parts = {name: word.read(name).decode() for name in word.namelist() if "media" not in name}
    text = parts["word/document.xml"]
    header, footer = (
        parts[re.search(kind + r"\d\.xml", "".join(parts))[0]]
        for kind in ("word/header", "word/footer")
    )
    assert "Store_1 50% &amp; #1 \\ &lt;b&gt;" in header
    assert " PAGE " in footer
    assert {"default", "first"} == set(re.findall('<w:footerReference .*?w:type="(.*?)"', text))
    # Each section has an entry in the contents, with the page of the heading that it leads to.
    pages = re.findall(r'<w:hyperlink w:anchor="(toc\d)">(?:(?!</w:hyperlink>).)*PAGEREF \1 ', text)
    assert len(pages) == text.count('w:pStyle w:val="Heading1"') == 5
    for name in pages:
        heading = re.search(rf'<w:p>(?:(?!</w:p>).)*w:name="{name}"', text)[0]
        assert 'w:pStyle w:val="Heading' in heading
    assert re.search(r'descr="Figure\s1: Bars \(modelled on figure 4.4 of \[1\]\)\."', text)
    grey = re.findall(r'<w:rStyle w:val="Grey" /></w:rPr><w:t[^>]*>(.*?)</w:t>', text)
    assert grey == ["Redis", "98.7"] * 2
    assert "<dc:creator>kvstudy</dc:creator>" in parts["docProps/core.xml"]
    assert str(outputs) not in parts["docProps/custom.xml"]


def test_a_reference_to_nothing_is_refused(outputs: Path, tmp_path: Path) -> None:
    text = (outputs / "text.md").read_text(encoding="utf-8")
    (tmp_path / "text.md").write_text(text + "\n[Table](#table:none){.ref}\n", encoding="utf-8")
    (tmp_path / "front.json").write_bytes((outputs / "front.json").read_bytes())
    parts = SimpleNamespace(tables=outputs / "tables", figures=outputs / "figures")
    with pytest.raises(KvstudyError, match=r"a reference to #table:none"):
        build_html(tmp_path / "text.md", parts, tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_a_missing_part_is_named(outputs: Path, tmp_path: Path) -> None:
    parts = SimpleNamespace(tables=tmp_path, figures=outputs / "figures")
    with pytest.raises(KvstudyError, match=r"one\.html: no such file; write it with 'kvstudy"):
        build_docx(outputs / "text.md", parts, tmp_path / "x.docx")


def test_a_front_that_is_none_is_refused(outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_text("x", encoding="utf-8")
    (tmp_path / "front.json").write_text("{}", encoding="utf-8")
    parts = SimpleNamespace(tables=outputs / "tables", figures=outputs / "figures")
    with pytest.raises(KvstudyError, match=r"front\.json: not the front of a report"):
        build_html(tmp_path / "text.md", parts, tmp_path / "x.html")
