"""Data of any size and with any letters, through the report's LaTeX."""

from __future__ import annotations

import re
from itertools import combinations
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.documents.report.build import build_pdf
from kvstudy.documents.report.document import Front, write_latex
from kvstudy.documents.report.markdown import Floats, for_markdown
from kvstudy.layout.grid import Grid, Head, Paper, TableRow, TableSection
from kvstudy.layout.rich_text import DASH, raised, rich
from kvstudy.render.html import html
from kvstudy.render.latex import latex, printable
from kvstudy.stats.ratios import Decision
from kvstudy.study.kinds import TABLES

from tests.cell_texts import check_structure, html_cells, latex_cells
from tests.formats_support import text_of
from tests.unit import small_results as small

WORKLOADS = ["a", "b", "c", "d", "e", "f", "insert"]
KINDS = "update: 90 ERROR"
SLUG = "r1000000_o1000000_t4"
WORD = "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft"
PLAIN = r"\input{/etc/passwd} $%&#_{}~^ <b> é Dvořák"
ODD = "🚀 שלום مرحبا 漢字 Привет q\u0301 a\u200bb \u200f x\x07y 👩\u200d👧"


@pytest.fixture
def built(tmp_path):
    """Typesets tables, by name, with captions; returns the pages' texts and the warnings."""

    def build(
        tables: dict[str, str], title: str = "Made up", caption: str = "", text: str = ""
    ) -> tuple[list[str], list[str]]:
        of = SimpleNamespace(
            tables=tmp_path / "tables", figures=tmp_path / "figures", study=small.study(source=None)
        )
        of.tables.mkdir()
        floats = Floats(of)
        for name, table in tables.items():
            (of.tables / f"{name}.tex").write_text(table, encoding="utf-8")
            shown = TABLES["machine"](name=name, kind="machine", caption=caption or name)
            text += f"\n\n{floats.ref(shown)}.\n\n{floats.table(shown)}\n"
        study = tmp_path / "study.yaml"
        study.write_text(f"name: x\ntitle: {title}\n", encoding="utf-8")
        front = Front("made-up", title, title, "Today", "Subject")
        main = write_latex(text, front, of, tmp_path / "report")
        pdf = tmp_path / "made-up.pdf"
        warnings = build_pdf(main, tmp_path / "build", pdf, study)
        return text_of(pdf).removesuffix("\f").split("\f"), warnings

    return build


def made_up(stores: int, workloads: list[str]):
    """Tables of a study of so many stores; every pair has values."""
    names = [f"store{number}" for number in range(stores)]
    titles = {name: f"Riak eventual {name[5:]}" for name in names}
    uses = [{"name": name, "file": name[0]} if name[1:].isdigit() else name for name in workloads]
    study = small.study(stores=names, workloads=uses, source=None, tables=[], figures=[])
    of_workloads, apart = workloads + ["mean"] * (len(workloads) > 1), Decision.UNDECIDED
    keys = [(store, workload, SLUG) for workload in workloads for store in names]
    pairs = pd.DataFrame(
        [
            # It takes 9 runs to tell the two apart.
            [workload, SLUG, one, other, 3, 12.34, 10.12, 13.46, 0.01, 0.02, 9, apart, "yes"]
            for workload in of_workloads
            for one, other in combinations(names, 2)
        ],
        columns=small.analysis().pairs.columns,
    )
    floor = pd.DataFrame(
        [
            [workload, SLUG, names[0], 3, 1.21, 1.05, 1.3, 0.01, 0.01, 1.21]
            for workload in of_workloads
        ],
        columns=small.analysis().floor.columns,
    )
    columns = small.analysis().bottleneck.columns
    limits = pd.DataFrame(keys, columns=columns[:3]).reindex(columns=columns, fill_value=0.1234)
    limits = limits.assign(machine_cores=2.0, limit="client", reason="x")
    valid = pd.DataFrame(
        [
            [*key, 3, 1, 3e9, 3e9 - 90, 90, 0.0, 3e-5, 2e-5, 4e-5, 12345.6, 12345.1, 3, 0.0, KINDS]
            for key in keys
        ],
        columns=small.analysis().validity.columns,
    )
    analysis = small.analysis(pairs=pairs, floor=floor, bottleneck=limits)
    run = small.run(study=study, titles=titles, analysis=analysis)
    texts = {}
    for name, rows in (("validity", valid), ("ratios", pairs), ("bottleneck", limits)):
        (grid,) = small.table(name).grids(rows, run)
        texts[name], page = latex([grid]), html([grid], name)
        check_structure(page)
        # Columns that do not fit next to the others on paper repeat their labels there.
        cells = (set if len(grid.parts()) > 1 else list)(latex_cells(texts[name]))
        assert type(cells)(html_cells(page)) == cells
        assert page.count("<table") == 1
    return texts


@pytest.mark.parametrize(
    ("stores", "workloads"),
    [(2, ["a"]), (2, [f"a{n}" for n in range(18)]), (10, [f"a{n}" for n in range(26)])],
)
def test_tables_of_many_stores_and_workloads_go_on_over_pages(built, stores, workloads):
    pages, warnings = built(made_up(stores, workloads))
    assert warnings == []
    text = "\n".join(pages)
    assert text.count(KINDS) == stores * len(workloads)
    assert text.count("10.1 to 13.5") == stores * (stores - 1) / 2 * (
        len(workloads) + (len(workloads) > 1)
    )
    assert ("(continued)" in text) == (len(workloads) > 1)
    # Each page of a table has its head, and a note stays below the line that it is of.
    for page in pages:
        lines = [line.strip() for line in page.splitlines()]
        if "(continued)" in page:
            assert re.search("(?m)^ *(all|Operations|Client|A0|a) ", page) or "Riak" in page
        assert KINDS not in lines[:7]


def wide(stores: int, title: str) -> dict[str, str]:
    """Tables with a column for each of so many stores, and huge and tiny numbers."""
    titles = [f"{title} {number}" for number in range(stores)]
    numbers = ["1\u202f234\u202f567\u202f890.1", "0.0001234", "86\u202f399.9", DASH]
    cells = [numbers[n % 4] for n in range(stores)]
    sweep = Grid(titles, [TableSection(title, [TableRow(title, cells)] * 5)], [title])
    pair = [Head(rich("here")), Head(rich("published"), published=True)]
    heads = [Head(rich("here"), gap="not measured"), pair[1], *pair * (stores - 1)]
    both = [cell for cell in cells for _ in range(2)]
    results = Grid(
        heads,
        [TableSection(title, [TableRow("Run time (ms)", both)] * 9)] * 4,
        [title] * 90,
        groups=[(each + raised("a"), 2) for each in titles],
        paper=Paper(hang=True),
    )
    number = 4 * stores
    paper = Paper("small", ".4em", label=0.21, widths=(0.167,) * number, most=4)
    places = [f"{place}." for place in range(1, number + 1)]
    ranking = Grid(
        places, [TableSection("", [TableRow(title, [title] * number)])], [title], paper=paper
    )
    grids = {"sweep": sweep, "results": results, "ranking": ranking}
    return {name: latex([grid]) for name, grid in grids.items()}


def test_many_stores_with_long_names_fit_and_nothing_is_cut(built):
    title = f"Redis with a name of many words and {WORD}"
    notice = "::: notice\n" + "\n".join(f"- Gap {n}: {title}" for n in range(90)) + "\n:::\n"
    pages, warnings = built(wide(12, title), title * 3, title * 9, notice)
    # What got small is told. Nothing runs over the margin, which would be another warning.
    assert {line.split(":")[1] for line in warnings} <= {"sweep", "results"}, warnings
    assert all(re.search(r"printed at \d\d % of its size", line) for line in warnings)
    text = "\n".join(pages)
    assert text.count("Gap ") == 90
    assert text.count("0.0001234") == 5 * 3 + 2 * 9 * 4 * 3
    # All notes of a table that is higher than a page.
    assert re.sub(r"\s", "", text).count("unterbeamtengesellschaft".replace(" ", "")) > 90


def test_letters_that_no_font_has_are_boxes_and_told_with_their_line(built):
    both = f"{PLAIN} {ODD} αβΔ ώρα e\u0301"
    text = f"# {for_markdown(both)}\n\n{for_markdown(both)}"
    pages, (warning,) = built(wide(2, both), both, both, text)
    assert re.match(r".*/study\.yaml:2 \(title\): the PDF's fonts do not have U\+", warning)
    assert "U+1F680 ROCKET" in warning
    words = " ".join("\n".join(pages).split())
    for shown in (r"\input{/etc/passwd}", "$%&#_{}~^", "<b>", "é", "Dvořák", "αβ∆"):
        assert shown in words
    assert "root:" not in words


def test_what_latex_gets_is_composed_and_visible():
    assert printable("e\u0301\u200d\ufe0f a\u2003b\x07\n") == "é a b\N{REPLACEMENT CHARACTER}\n"
