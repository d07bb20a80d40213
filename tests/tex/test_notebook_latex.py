"""An executed notebook as LaTeX: text, code, tables and figures, each in its own way."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest
from kvstudy.documents.report.notebook import ROWS, _without_chance, notebook_latex
from kvstudy.errors import KvstudyError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def converted(*cells) -> tuple[str, dict[str, bytes]]:
    return notebook_latex(new_notebook(cells=list(cells)))


def shows(**data: str) -> tuple[str, dict[str, bytes]]:
    kinds = {"pdf": "application/pdf", "latex": "text/latex", "plain": "text/plain"}
    kinds |= {"html": "text/html", "svg": "image/svg+xml", "markdown": "text/markdown"}
    named = {kinds[name]: content for name, content in data.items()}
    return converted(new_code_cell("1", outputs=[new_output("display_data", data=named)]))


def table(rows: list[str], columns: str = "lr") -> str:
    head = rf"\begin{{tabular}}{{{columns}}}" + "\n\\toprule\n & a \\\\\n\\midrule\n"
    return head + "".join(f"{row} \\\\\n" for row in rows) + "\\bottomrule\n\\end{tabular}\n"


def test_text_has_sections_and_no_preamble():
    body, _ = converted(new_markdown_cell("# One\n\nAll *of* it.\n\n## Two & three_four"))
    assert re.search(r"\\section\{One\}", body)
    assert r"\subsection{Two \& three\_four}" in body
    assert "documentclass" not in body
    # The report has labels of its own.
    assert "label" not in body


def test_code_is_printed_letter_by_letter():
    body, _ = converted(new_code_cell("x = {'a_b': 50 % 3}  # ~^\\n & so on\nif x:\n    y"))
    assert r"x~=~\{\textquotesingle{}a\_b\textquotesingle{}:~50~\%~3\}" in body
    assert r"\textasciitilde{}\textasciicircum{}\textbackslash{}n~\&~so~on" in body
    assert r"\mbox{~~~~y}" in body


def test_defaults_of_parameters_are_left_out():
    cell = new_code_cell("study = None", metadata={"tags": ["parameters"]})
    body, _ = converted(cell, new_code_cell("one = 1"))
    assert "None" not in body
    assert "one" in body


def test_a_table_comes_as_a_table_and_not_as_html():
    body, _ = shows(html="<table>", latex=table(["0 & 1"]), plain="0 1")
    assert r"\begin{tabular}{lr}" in body
    assert "<table>" not in body
    assert "textless" not in body


def test_a_table_that_is_longer_than_a_page_is_cut_and_keeps_its_head():
    body, _ = shows(latex=table([f"{row} & value{row}x" for row in range(2 * ROWS + 1)]))
    assert body.count(r"\begin{tabular}") == body.count(r"\bottomrule") == 3
    assert body.count(" & a ") == 3
    assert all(f"value{row}x" in body for row in range(2 * ROWS + 1))


def test_long_text_gets_lines_of_its_own():
    body, _ = shows(latex=table(["0 & " + "word \\& word " * 9], "ll"))
    assert r"\begin{tabular}{lp{0.5\linewidth}}" in body


def test_figures_are_files_beside_it():
    pdf = base64.b64encode(b"%PDF-1.4 figure").decode()
    body, figures = shows(pdf=pdf, svg="<svg/>", plain="Figure")
    (name,) = figures
    assert figures[name] == b"%PDF-1.4 figure"
    assert rf"\includegraphics[width=\linewidth]{{notebook/{name}}}" in body
    assert "svg" not in body


def test_a_caption_keeps_special_characters():
    body, _ = shows(markdown=r"**50\% \& \_more\_ \# \<that\>**")
    assert r"\textbf{50\% \& \_more\_ \# \textless that\textgreater{}}" in body


def test_outside_of_the_project_the_template_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KvstudyError, match=r"report/templates/notebook: no template"):
        converted()


def test_what_libraries_say_beside_the_results_is_left_out():
    said = [new_output("stream", name=name, text=name) for name in ("stderr", "stdout")]
    book = new_notebook(cells=[new_code_cell("1", outputs=said), new_markdown_cell("text")])
    _without_chance(book)
    assert [output["name"] for output in book.cells[0].outputs] == ["stdout"]
