"""What must fail a build, tried with TeX itself, and what its log looks like."""

from __future__ import annotations

from pathlib import Path

import pytest
from kvstudy.documents.report.build import build_pdf, faults, remarks, tex_errors
from kvstudy.errors import KvstudyError


@pytest.fixture
def build(tmp_path: Path):
    def run(body: str, preamble: str = "") -> Path:
        return reply(body, preamble)[0]

    def reply(body: str, preamble: str = "") -> tuple[Path, list[str]]:
        main = tmp_path / "report" / "doc.tex"
        main.parent.mkdir(exist_ok=True)
        main.write_text(
            "\\documentclass{article}\\tracinglostchars=1\n"
            f"{preamble}\\begin{{document}}\n{body}\n\\end{{document}}\n",
            encoding="utf-8",
        )
        pdf = tmp_path / "out" / "doc.pdf"
        return pdf, build_pdf(main, tmp_path / "build", pdf)

    run.told = reply
    return run


def test_a_good_document_is_built_twice_the_same(build) -> None:
    plain = "\\pdfinfoomitdate=1 \\pdftrailerid{} "
    first = build("Good.\\label{a} See page~\\pageref{a}.", plain).read_bytes()
    assert first.startswith(b"%PDF")
    assert build("Good.\\label{a} See page~\\pageref{a}. ", plain).read_bytes() == first


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (r"See \ref{nowhere}.", "the reference 'nowhere' is undefined"),
        (r"As \cite{nobody}.", "the citation 'nobody' is undefined"),
        (r"Text\label{a}\label{a}", "label 'a' is defined twice"),
        ("漢", r"doc\.tex:3: .*Unicode character 漢"),
        (r"\nosuchthing", r"doc\.tex:3: Undefined control sequence"),
    ],
)
def test_a_fault_fails_the_build_and_leaves_the_old_pdf(build, body: str, message: str) -> None:
    pdf = build("An old one.")
    before = pdf.read_bytes()
    with pytest.raises(KvstudyError, match=message) as caught:
        build(body)
    assert len(str(caught.value).splitlines()) <= 8
    assert pdf.read_bytes() == before
    assert [path.name for path in pdf.parent.iterdir()] == ["doc.pdf"]
    # The same source again is refused again, although TeX has nothing to do.
    with pytest.raises(KvstudyError, match=message):
        build(body)
    assert build("Mended.").read_bytes() != before


@pytest.mark.parametrize(
    ("body", "warning"),
    [
        (
            r"\begin{tabular}{l}A table\rule{30cm}{1pt}\\\end{tabular}",
            r"pt over the right margin",
        ),
        (r"Too long \rule{30cm}{1pt}", "'Too long"),
        (r"\begin{figure}\rule{1cm}{40cm}\end{figure}", "too high for a page"),
        (r"\char200", "has no character"),
    ],
)
def test_what_does_not_fit_is_told_and_built(build, body: str, warning: str) -> None:
    pdf, reply = build.told(body)
    assert pdf.read_bytes().startswith(b"%PDF")
    assert [warning in line for line in reply] == [True]


def test_no_shell_escape(build, tmp_path: Path) -> None:
    build(rf"\immediate\write18{{touch {tmp_path}/escaped}}Text")
    assert not (tmp_path / "escaped").exists()


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"none\.tex: no such file"):
        build_pdf(tmp_path / "none.tex", tmp_path / "build", tmp_path / "x.pdf")


def test_a_point_over_the_margin_is_not_told() -> None:
    box = "Overfull \\hbox ({}pt too wide) in paragraph at lines 12--14\n"
    line = box + "\\T1/qpl/m/n/10.95 Some []text"
    assert faults(line.format("9.99")) == []
    assert remarks(line.format("0.99")) == []
    assert remarks(line.format("1.01")) == [
        "1.01 pt over the right margin, in paragraph at lines 12--14: 'Some text'; shorten it"
    ]


def test_an_error_is_shown_with_its_line() -> None:
    log = (
        "Package x\n./a.tex:7: LaTeX Error: Something.\n\nSee the manual\n ...\nl.7 \\foo\n  more\n"
    )
    assert tex_errors(log) == ["./a.tex:7: LaTeX Error: Something.", "l.7 \\foo"]
