"""Tables as HTML: the same cells as in LaTeX, whatever they hold, and what pages may use."""

from __future__ import annotations

import re
import subprocess
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.language.current import using
from kvstudy.layout.grid import Grid, TableRow, TableSection, cell_of, head_of
from kvstudy.layout.rich_text import (
    bold,
    grey,
    hanging,
    italic,
    lines,
    note,
    phantom,
    raised,
    rich,
)
from kvstudy.layout.rich_text import small as small_letters
from kvstudy.render.html import fill_html, html, markup
from kvstudy.render.latex import fill, latex, printed

from tests.cell_texts import (
    check_structure,
    docx_cells,
    html_cells,
    html_rows,
    latex_cells,
    same_cells,
)

from . import small_results as small
from .test_over_sizes import THREADS, swept, swept_grid, swept_study
from .test_tables import tables

TITLE = r"Riak_%&#\<K>{V}$~^"
TAG = re.compile("<[^>]*>")
NNBSP = "\N{NARROW NO-BREAK SPACE}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The tables of the small study."""
    return tables(tmp_path_factory.mktemp("tables"))


def both(folder: Path, name: str) -> tuple[str, str]:
    return tuple((folder / f"{name}.{form}").read_text("utf-8") for form in ("tex", "html"))


@pytest.mark.parametrize(
    ("text", "tex", "page"),
    [
        (bold("a & b"), r"\textbf{a \& b}", "<b>a &amp; b</b>"),
        (italic("<1>"), r"\textit{\textless{}1\textgreater{}}", "<i>&lt;1&gt;</i>"),
        (
            grey("1.0" + hanging(raised("*"))),
            r"\textcolor{black!55}{1.0\rlap{\textsuperscript{*}}}",
            '<span class="grey">1.0<span class="hang"><sup>*</sup></span></span>',
        ),
        (
            "12" + phantom(".0"),
            r"12\phantom{.0}",
            '<span class="phantom" data-as=".0"></span>'.join(["12", ""]),
        ),
        (lines("a", "b_"), r"a\par b\_", "a<br>b_"),
        (
            note("a", "It's 5 %."),
            r"\textsuperscript{a}\,It's 5\,\%.",
            f"<sup>a</sup>{NNBSP}It&#39;s 5 %.",
        ),
        (
            small_letters("a"),
            r"\scriptsize\hangindent=.8em a",
            "<small>a</small>",
        ),
        (rich("a\nb"), "a b", "a\nb"),
    ],
)
def test_a_text_with_marks_is_written_in_each_format(text, tex, page):
    assert printed(text) == tex
    assert markup(text) == page


def test_a_text_is_read_without_what_it_only_takes_room_for():
    assert str(lines("12" + phantom(".0"), grey("b"))) == "12\nb"
    assert ("1.0" + hanging(raised("*"))).without("hanging") == "1.0"


def test_a_number_goes_with_its_text_if_it_is_one():
    assert cell_of("2 100", 2100).value == 2100
    assert [cell_of("-", value).value for value in (None, float("nan"), float("inf"))] == [None] * 3
    assert cell_of("1", 1.25).styled(grey).value == 1.25


def test_all_tables_have_the_same_cells_in_both_formats(folder):
    names = sorted(path.stem for path in folder.glob("*.tex"))
    assert names == sorted(path.stem for path in folder.glob("*.html"))
    for name in names:
        assert same_cells(*both(folder, name), gaps=("not measured",)), name


def test_titles_are_escaped(folder):
    escaped = r"Riak_%&amp;#\&lt;K&gt;{V}$~^"
    assert "<K>" not in "".join(path.read_text("utf-8") for path in folder.glob("*.html"))
    assert f'data-store="riak">{escaped}</th>' in both(folder, "one")[1]
    assert f"{escaped}: not probed</th>" in both(folder, "operations")[1]
    assert f"{TITLE}: not probed" in html_cells(both(folder, "operations")[1])


def test_a_store_without_values_says_so_in_each_section(folder):
    _, html = both(folder, "one")
    for row in html_rows(html):
        # The label, two numbers per store; what was not measured is one cell over its section.
        assert len(row) == 1 or len(row) == 7 - (row[0] not in ("Run time (ms)", "Operations"))
    assert html.count('data-store="riak">not measured</td>') == 4
    assert "\N{EN DASH}" in html_cells(html)


def test_numbers_are_there_unrounded_and_whole_ones_stay_whole(folder):
    _, html = both(folder, "one")
    redis = re.findall(
        r'<td class="num" data-store="redis" data-value="([^"]*)".*?>(.*?)</td>', html
    )
    shown = {text: value for value, text in redis}
    assert shown[f"2{NNBSP}097.6"].startswith("2097.617")
    assert shown[f'9{NNBSP}545<span class="phantom" data-as=".0"></span>'].startswith("9545.45")
    assert "9 545" in html_cells(html)


def test_one_store_one_workload(tmp_path):
    study = small.study(stores=["redis"], source=None)
    folder = tables(tmp_path, small.results(source=False), study)
    for path in folder.glob("*.html"):
        same_cells(*both(folder, path.stem))
    assert all(len(row) <= 2 for row in html_rows(both(folder, "one")[1]))


def test_twelve_thread_counts_are_one_table_that_sorts_by_number():
    study = swept_study()
    _tex, page = small.both(swept_grid(study, swept(study, missing={("riak", "a", 3)})))
    assert "failed" in html_cells(page)
    rows = html_rows(page)[1:]
    assert [row[0] for row in rows] == [str(number) for number in THREADS]
    assert {len(row) for row in rows} == {9}
    assert 'class="checks sortable"' in page
    assert '<th scope="row" data-value="12">12</th>' in page
    assert page.count('<th scope="col" class="num" data-store="redis">') == 4


def test_a_page_of_a_store_has_its_workloads():
    run = small.run(results=small.results(source=False), analysis=small.analysis())
    _tex, page = small.both(small.grid_of(small.table("store", store="redis"), run))
    assert "2 098" in html_cells(page)
    assert '<tr data-workload="a">' in page
    assert "not measured" in html_cells(page)


def test_a_table_over_pages_with_long_names_is_one_table():
    long = "A very long name of a store, " * 6 + TITLE
    some = [TableRow(f"{long} {number}", ["1", "2"], "x") for number in range(150)]
    below = TableRow("", ["0 to 2", ""], "x")
    paired = [each for line in some for each in (line, below)]
    grid = Grid([head_of("One", store="x"), "Two"], [TableSection("All", paired, workload="a")])
    tex, page = small.both(grid)
    assert page.count("<table") == page.count("<tbody") == 1
    present = [cell for cell in latex_cells(tex) if cell != "All"]
    assert [cell for cell in html_cells(page) if cell != "All"] == present
    check_structure(page)
    assert page.count('rowspan="2"') == 150
    assert "notes" not in page


def test_columns_in_blocks_on_paper_stand_side_by_side_on_the_screen():
    names = ["a", "b", "c", "d", "e", "f", "insert"]
    study = small.study(workloads=names, tables=[], figures=[])
    pairs = small.analysis().pairs
    row = pairs.iloc[0].to_dict()
    pairs = pd.DataFrame([{**row, "workload": name} for name in [*names, "mean"]])
    analysis = small.analysis(pairs=pairs)
    (grid,) = small.table("ratios").grids(pairs, small.run(study=study, analysis=analysis))
    tex, page = latex([grid]), html([grid], "ratios")
    assert tex.count(r"\toprule") > 1
    assert page.count("<table") == 1
    check_structure(page)
    assert page.count('scope="col"') == 8
    assert sorted(set(html_cells(page))) == sorted(set(latex_cells(tex)))


def test_they_are_tables_in_word_too(folder, tmp_path):
    names = ("one", "machine", "operations", "ratios", "validity")
    text = "".join(both(folder, name)[1] for name in names)
    path = tmp_path / "tables.docx"
    command = ["pandoc", "--from=html", "--to=docx", f"--output={path}"]
    subprocess.run(command, input=text, text=True, check=True, encoding="utf-8")
    assert docx_cells(path) == html_cells(text)


@pytest.mark.parametrize(
    ("fill", "form", "unknown", "broken"),
    [(fill, "tex", "<< nothing >>", "<% if %>"), (fill_html, "html", "{{ nothing }}", "{% if %}")],
)
def test_templates_must_not_use_unknown_names(tmp_path, fill, form, unknown, broken):
    template = tmp_path / f"t.{form}.j2"
    template.write_text(unknown)
    with pytest.raises(KvstudyError, match=rf"t\.{form}\.j2:1: 'nothing' is undefined"):
        fill(template)
    template.write_text(broken)
    with pytest.raises(KvstudyError, match=rf"t\.{form}\.j2:1: "):
        fill(template)
    with pytest.raises(KvstudyError, match=rf"other\.{form}\.j2: no such template"):
        fill(tmp_path / f"other.{form}.j2")


def test_a_blank_line_would_end_the_table_for_pandoc(tmp_path):
    template = tmp_path / "t.html.j2"
    template.write_text("<p>\n\n{{ text }}\n \n</p>\n")
    assert fill_html(template, text="a & b") == "<p>\na &amp; b\n</p>\n"


def test_tables_show_the_same_numbers_in_each_language(folder, tmp_path):
    """Only words and the decimal mark differ."""
    digits = re.compile(r"\d+(?:[.,]\d+)*")
    with using("cs"):
        theirs = tables(tmp_path)
    for path in sorted(folder.glob("*.html")):
        here, present = path.read_text("utf-8"), (theirs / path.name).read_text("utf-8")
        shown = [
            sorted(each.replace(",", ".") for each in digits.findall(unescape(TAG.sub(" ", text))))
            for text in (here, present)
        ]
        assert shown[0] == shown[1], path.name
        assert here != present, path.name
