"""Drawings and values within the report's page."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.language.current import using
from kvstudy.present.report.html import MOST_ROWS, MadeOf, as_data, values_table

# A dot as Matplotlib draws it, of radius 0.5.
DOT = (
    "M 10 2.5 C 10.13 2.5 10.25 2.44 10.35 2.35 C 10.44 2.25 10.5 2.13 10.5 2 "
    "C 10.5 1.86 10.44 1.73 10.35 1.64 C 10.25 1.55 10.13 1.5 10 1.5 "
    "C 9.86 1.5 9.73 1.55 9.64 1.64 C 9.55 1.73 9.5 1.86 9.5 2 "
    "C 9.5 2.13 9.55 2.25 9.64 2.35 C 9.73 2.44 9.86 2.5 10 2.5 z"
)


def shown(tmp_path: Path, content: str) -> str:
    path = tmp_path / "x.svg"
    path.write_text(f'<?xml version="1.0"?>\n<!-- by -->\n<svg>{content}</svg>\n', encoding="utf-8")
    return unquote(as_data(path).removeprefix("data:image/svg+xml,"))


def test_a_drawing_keeps_its_shape_and_its_words(tmp_path: Path) -> None:
    rest = 'transform="scale(0.015625)"/><text>0.12345 &amp; #</text>'
    content = f'<path d="M 1.23456 -7.999999\nL 2 3" {rest}'
    assert shown(tmp_path, content) == f'<svg><path d="M 1.23 -8 L 2 3" {rest}</svg>'


def test_a_dot_becomes_two_arcs(tmp_path: Path) -> None:
    arcs = "M 10 2.5 A 0.5 0.5 0 1 0 10 1.5 A 0.5 0.5 0 1 0 10 2.5 z"
    assert shown(tmp_path, f'<path d="{DOT} {DOT}"/>') == f'<svg><path d="{arcs} {arcs}"/></svg>'


def test_an_address_ends_no_attribute(tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    path.write_text("<svg><text x='1'>\"&lt;#%</text></svg>", encoding="utf-8")
    assert not set(as_data(path)) & set("\"'<>#&")


def test_values_are_escaped_and_say_when_there_are_more(tmp_path: Path) -> None:
    rows = "".join(f"<b> & {number}\n" for number in range(MOST_ROWS + 5))
    (tmp_path / "x.csv").write_text("a\n" + rows, encoding="utf-8")
    table = values_table(tmp_path, "x")
    assert table.count("<td>") == MOST_ROWS
    assert "<td>&lt;b&gt; &amp; 0</td>" in table
    assert f"the first {MOST_ROWS} of {MOST_ROWS + 5} rows" in table


def test_values_are_in_the_language_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("store,value,note\nr1.5,1.25,\nriak,,not measured\n")
    cells = {"<td>r1.5</td>", "<td>1.25</td>", "<td>not measured</td>"}
    assert {cell for cell in cells if cell in values_table(tmp_path, "x")} == cells
    with using("cs"):
        table = values_table(tmp_path, "x")
    assert "<td>r1.5</td><td>1,25</td>" in table
    assert "<td>nezměřeno</td>" in table


@pytest.mark.parametrize("make", [as_data, lambda path: values_table(path.parent, path.stem)])
def test_a_missing_file_is_named(tmp_path: Path, make) -> None:
    with pytest.raises(KvstudyError, match=r"x\.\w+: No such file.*kvstudy draw"):
        make(tmp_path / "x.svg")


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("", encoding="utf-8")
    with pytest.raises(KvstudyError, match=r"x\.csv: not a CSV file"):
        values_table(tmp_path, "x")


def test_cells_have_the_checksums_of_their_logs(tmp_path: Path) -> None:
    cells = {
        "a/rep1": {"counts": True, "why": "", "sums": "12ab"},
        "a/<rep2>": {"counts": False, "why": "failed: & why", "sums": "34cd"},
        "a/rep3": {"counts": False, "why": "not measured", "sums": ""},
    }
    part = {"one": {"cells": [*cells]}, "none": {"cells": ["a/rep3"]}}
    path = tmp_path / "provenance.json"
    path.write_text(json.dumps({"cells": cells, "tables": part, "figures": {}}), encoding="utf-8")
    made_of = MadeOf(path)
    listed = made_of.listed("table", "one")
    assert "<summary>From 1 cell</summary>" in listed
    assert "<code>a/rep1</code> <code>12ab</code></li>" in listed
    assert "<code>a/&lt;rep2&gt;</code> <code>34cd</code>" in listed
    assert "failed: &amp; why" in listed
    assert "rep3" not in listed
    assert made_of.listed("table", "none") == made_of.listed("figure", "one") == ""


def test_provenance_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "provenance.json"
    with pytest.raises(KvstudyError, match=r"No such file.*kvstudy provenance"):
        MadeOf(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(KvstudyError, match="write it again with 'kvstudy provenance'"):
        MadeOf(path)
