"""Drawings and values within the report's page."""

from __future__ import annotations

import gzip
import json
from base64 import b64decode
from pathlib import Path
from urllib.parse import unquote

import pytest
from kvstudy.documents.report.html import MOST_ROWS, Provenance, as_data, pack, values_table
from kvstudy.errors import KvstudyError

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
    address = as_data(path)
    # It will are in an attribute.
    assert not set(address) & set('"#&')
    drawing = unquote(address.removeprefix("data:image/svg+xml,"))
    return drawing.replace(" font-family='DejaVu Sans,Verdana,sans-serif'", "", 1)


def test_a_drawing_keeps_its_shape_and_its_words(tmp_path: Path) -> None:
    content = (
        '<g clip-path="none"><g id="axes_1">'
        '<path id="m1" d="M 1.23456 -7.999999\nL 2 3 L 2 4.01 L 5.1 4 z" '
        'transform="scale(0.015625)"/>'
        '<use href="#m1"/><text style="font-size: 8px; font-family: \'DejaVu Sans\', sans-serif; '
        'fill: #262626" transform="rotate(-0 1.5 2)">0.12345 &amp; "#"</text></g><g/>'
        '<g clip-path="none"/></g>'
    )
    assert shown(tmp_path, content) == (
        "<svg><g clip-path='none'>"
        "<path id='m1' d='M1.2 -8L2 3V4H5.1z' transform='scale(0.015625)'/>"
        "<use href='#m1'/>"
        "<text style='font-size:8px;fill:#262626'>0.12345 &amp; \"#\"</text>"
        "<g clip-path='none'/></g></svg>"
    )


def test_a_dot_becomes_two_arcs(tmp_path: Path) -> None:
    arcs = "M10 2.5A0.5 0.5 0 1 0 10 1.5A0.5 0.5 0 1 0 10 2.5z"
    assert shown(tmp_path, f'<path d="{DOT} {DOT}"/>') == f"<svg><path d='{arcs}{arcs}'/></svg>"


def chart(*rows: dict) -> dict:
    meta = {"kvstudy": {"labels": [["exact", "Value"], ["note", "Note"]]}}
    return {"data": {"values": list(rows)}, "concat": [{"title": ["Here"]}], "usermeta": meta}


def test_values_are_what_marks_say_and_the_csv_has_them_when_there_are_many() -> None:
    row = {"panel": 0, "title": "<b> & Redis", "store": "redis", "exact": "1.5 ms", "note": ""}
    table = values_table(Path("x.csv"), chart(*[row] * MOST_ROWS))
    line = '<tr data-store="redis"><th scope="row">&lt;b&gt; &amp; Redis</th><td>1.5 ms</td></tr>'
    assert table.count(line) == MOST_ROWS
    assert "Note" not in table
    assert table.count(">Here</th>") == 1
    many = values_table(Path("x.csv"), chart(*[row] * (MOST_ROWS + 5)))
    assert f"All {MOST_ROWS + 5} rows: <code>x.csv</code>." in many
    assert "<table" not in many
    assert values_table(Path("x.csv"), chart({"panel": 0})) == ""


def test_a_missing_drawing_is_named(tmp_path: Path) -> None:
    with pytest.raises(KvstudyError, match=r"x\.svg: No such file.*kvstudy draw"):
        as_data(tmp_path / "x.svg")


def test_what_is_packed_is_the_same_each_time_and_ends_no_element() -> None:
    content = {"b": "</script>" * 9, "a": [1, "é"]}
    assert json.loads(gzip.decompress(b64decode(pack(content)))) == content
    assert pack(content) == pack(dict(reversed(content.items())))
    assert "<" not in pack(content)


def test_cells_are_named_by_their_places_with_the_checksums_of_their_logs(tmp_path: Path) -> None:
    cells = {
        "a/rep3": {"counts": False, "why": "not measured", "sums": ""},
        "a/rep1": {"counts": True, "why": "", "sums": "12ab"},
        "a/<rep2>": {"counts": False, "why": "failed: & why", "sums": "34cd"},
        "b": {"counts": True, "why": "", "sums": "5"},
        "c": {"counts": True, "why": "", "sums": "6"},
    }
    part = {"one": {"cells": ["c", "a/rep3", "a/<rep2>", "a/rep1"]}, "none": {"cells": ["a/rep3"]}}
    path = tmp_path / "provenance.json"
    path.write_text(json.dumps({"cells": cells, "tables": part, "figures": {}}), encoding="utf-8")
    made_of = Provenance(path)
    listed = made_of.listed("table", "one")
    assert "<summary>From 2 cells</summary>" in listed
    assert 'data-cells="0-1 3"' in listed
    assert made_of.cells()[:2] == [
        ["a/<rep2>", "34cd", "excluded: failed: & why"],
        ["a/rep1", "12ab", ""],
    ]
    assert made_of.listed("table", "none") == made_of.listed("figure", "one") == ""


def test_provenance_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "provenance.json"
    with pytest.raises(KvstudyError, match=r"No such file.*kvstudy provenance"):
        Provenance(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(KvstudyError, match="write it again with 'kvstudy provenance'"):
        Provenance(path)
