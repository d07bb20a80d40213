"""Tables that are higher than a page, through LaTeX."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.report.build import build_pdf
from kvstudy.tables import bottleneck, checks, validity
from kvstudy.tables.checks import Line, Section
from kvstudy.tables.html import fill_html
from kvstudy.tables.latex import fill
from kvstudy.tables.pages import SMALL_PAGE, is_small, pages

from tests.cell_texts import check_structure, html_cells, latex_cells, same_cells

from . import small_results as small

TEMPLATES = Path(__file__).parents[2] / "report" / "templates"
WORKLOADS = ["a", "b", "c", "d", "e", "f", "insert"]
KINDS = "update: 90 ERROR"
SLUG = "r1000000_o1000000_t4"


def lines(count: int, name: str = "line") -> list[Line]:
    return [Line(f"{name} {number}", ["1"]) for number in range(count)]


def labels(found) -> list[str]:
    sections = [section for parts in found for part in parts for section in part.sections]
    return [line.label for section in sections for line in section.lines]


def test_a_table_that_fits_is_one_page():
    found = pages(["x"], [Section("one", lines(10)), Section("two", lines(10))])
    assert [[part.columns for part in parts] for parts in found] == [[["x"]]]
    assert not is_small(found)
    assert is_small(pages(["x"], [Section("one", lines(50))]))


def test_a_section_that_does_not_fit_begins_a_page():
    found = pages(["x"], [Section("one", lines(30)), Section("two", lines(40))])
    titles = [[section.title for part in parts for section in part.sections] for parts in found]
    assert titles == [["one"], ["two"]]


def test_a_section_higher_than_a_page_goes_on_and_nothing_is_lost():
    pairs = [Line("", ["2"]) if number % 2 else line for number, line in enumerate(lines(150))]
    found = pages(["x"], [Section("first", lines(20, "first")), Section("long", pairs)])
    titles = [section.title for parts in found for part in parts for section in part.sections]
    assert titles == ["first", "long", *["long (continued)"] * 3]
    assert labels(found) == [line.label for line in lines(20, "first") + pairs]
    for parts in found:
        # The second line of a pair stays below the first.
        assert parts[0].sections[0].lines[0].label
        height = sum(2 + sum(1 + len(each.lines) for each in part.sections) for part in parts)
        assert height <= SMALL_PAGE


def test_columns_of_a_sections_own_begin_a_part():
    sections = [Section("one", lines(3), ["a"]), Section("two", lines(3), ["b"])]
    ((first, second),) = pages(["a"], sections)
    assert (first.columns, second.columns) == (["a"], ["b"])


def test_a_line_higher_than_a_page_is_not_waited_for_forever():
    assert len(pages(["x"], [Section("", lines(3))], lambda line: 200)) == 3


def test_no_sections_are_a_page_with_a_head():
    ((part,),) = pages(["x"], [Section("", [])])
    assert part.columns == ["x"]


def made_up(stores: int, workloads: list[str]):
    """Tables of a study of so many stores; every pair has values."""
    names = [f"store{number}" for number in range(stores)]
    titles = {name: f"Riak eventual {name[5:]}" for name in names}
    uses = [{"name": name, "file": name[0]} if name[1:].isdigit() else name for name in workloads]
    study = small.study(stores=names, workloads=uses, source=None, tables=[], figures=[])
    of_workloads = [*workloads, "mean"]
    keys = [(store, workload, SLUG) for workload in workloads for store in names]
    pairs = pd.DataFrame(
        [
            [workload, SLUG, one, other, 3, 12.34, 10.12, 13.46, 0.01, 0.02, "yes", "no", "yes"]
            for workload in of_workloads
            for one, other in combinations(names, 2)
        ],
        columns=small.analysis().pairs.columns,
    )
    floor = pd.DataFrame(
        [[workload, SLUG, names[0], 3, 1.05, 0.951, 1.21, 1.21] for workload in of_workloads],
        columns=small.analysis().floor.columns,
    )
    columns = small.analysis().bottleneck.columns
    limits = pd.DataFrame(keys, columns=columns[:3]).reindex(columns=columns, fill_value=0.1234)
    limits = limits.assign(machine_cores=2.0, client_bound="yes", reason="x")
    valid = pd.DataFrame(
        [
            [*key, 3, 1, 3e6, 3e6 - 90, 90, 0.0, 3e-5, 2e-5, 4e-5, 12345.6, 12345.1, 3, 0.0, KINDS]
            for key in keys
        ],
        columns=small.analysis().validity.columns,
    )
    analysis = replace(small.analysis(), pairs=pairs, floor=floor, bottleneck=limits)
    grids = {
        "ratios": checks.ratios(analysis, study, titles),
        "bottleneck": bottleneck.content(limits, study, titles),
    }
    values = validity.content(valid, study, titles)
    texts = {"validity": fill(TEMPLATES / "tables/validity.tex.j2", **values)}
    same_cells(texts["validity"], fill_html(TEMPLATES / "tables/validity.html.j2", **values))
    for name, grid in grids.items():
        found = pages(grid["columns"], grid.get("blocks", grid["sections"]))
        values = grid | {"pages": found, "small": is_small(found)}
        texts[name] = fill(TEMPLATES / "tables/checks.tex.j2", **values)
        html = fill_html(TEMPLATES / "tables/checks.html.j2", **values)
        check_structure(html)
        # Columns that do not fit beside the others on paper repeat their labels there.
        there = (set if "blocks" in values else list)(latex_cells(texts[name]))
        assert type(there)(html_cells(html)) == there
        assert html.count("<table") == 1
    return texts


@pytest.mark.parametrize(
    ("stores", "workloads"), [(2, ["a"]), (8, WORKLOADS), (10, [f"a{n}" for n in range(26)])]
)
def test_tables_of_many_stores_and_workloads_fit_their_pages(tmp_path, stores, workloads):
    texts = made_up(stores, workloads)
    floats = "\n".join(
        rf"\begin{{table}}\centering\caption{{{name}}}{text}\end{{table}}"
        for name, text in texts.items()
    )
    report = tmp_path / "report"
    report.mkdir()
    (report / "body.tex").write_text(floats, encoding="utf-8")
    front = dict.fromkeys(["title", "subtitle", "dateline", "author", "subject", "run"], "Made up")
    main = fill(TEMPLATES / "report.tex.j2", body="body.tex", columns=80, **front)
    (report / "made-up.tex").write_text(main, encoding="utf-8")
    # The build refuses floats that are higher than a page and lines over the margin.
    pdf = tmp_path / "made-up.pdf"
    build_pdf(report / "made-up.tex", tmp_path / "build", pdf)
    text = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], capture_output=True, text=True)
    assert text.stdout.count(KINDS) == stores * len(workloads)
    assert text.stdout.count("10.1 to 13.5") == stores * (stores - 1) / 2 * (
        len(workloads) + (len(workloads) > 1)
    )
    assert ("(continued)" in text.stdout) == (stores > 2)
