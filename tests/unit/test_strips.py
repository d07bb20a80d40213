"""Lines of a forest plot inside tables: the axis, the marks, and what has no drawing."""

from __future__ import annotations

import re

import pytest
from kvstudy.layout.grid import Grid, TableRow, TableSection, strip_cell
from kvstudy.layout.strip import MOST_SPAN, Strip, axis_of
from kvstudy.render.html import html
from kvstudy.render.latex import latex
from kvstudy.render.strips import html_strip, latex_strip


def test_the_axis_has_all_ratios_and_one():
    axis = axis_of([1.2, 1.5, float("nan")])
    assert axis.has(1)
    assert axis.has(1.5)
    assert axis.place(axis.first) == 0
    assert axis.place(axis.last) == 1
    assert 1 in axis.ticks
    assert len(axis.ticks) >= 3


@pytest.mark.parametrize("ratios", [[0.03, 1.1, 2], [1, 40], [0.01, 100]])
def test_a_ratio_far_from_the_others_does_not_rule_the_axis(ratios):
    axis = axis_of(ratios)
    assert axis.has(1)
    assert axis.last / axis.first < 1.3 * MOST_SPAN
    far = max(ratios, key=lambda ratio: max(ratio, 1 / ratio))
    assert not axis.has(far)
    assert axis.place(far) in (0, 1)


def test_no_ratio_is_an_axis_around_one():
    axis = axis_of([])
    assert axis.first < 1 < axis.last


def test_marks_are_where_their_ratios_are():
    axis = axis_of([0.5, 2])
    strip = Strip(axis, 1.0, 0.9, 1.1, published=2.0, floor=1.05)
    text = html_strip(strip)
    assert [*re.findall(r'class="(band|one|interval|published|value)"', text)] == [
        *("band", "one", "interval", "published", "value")
    ]
    assert 'class="value" style="left:50%"' in text
    drawn = latex_strip(strip)
    assert drawn.count(r"\circle*") == 1
    assert drawn.count(r"\circle{") == 1


def test_what_is_beyond_the_axis_is_an_arrow():
    axis = axis_of([0.02, 1.1, 2])
    assert "value below" in html_strip(Strip(axis, 0.02))
    assert r"\leftarrow" in latex_strip(Strip(axis, 0.02))
    assert "value above" in html_strip(Strip(axis_of([1, 90]), 90))


def grid() -> Grid:
    axis = axis_of([0.5, 2])
    lines = [
        TableRow("\N{NO-BREAK SPACE}", [strip_cell(Strip(axis, labelled=True)), ""]),
        TableRow("Redis", [strip_cell(Strip(axis, 2.0)), "2.00"]),
    ]
    return Grid(["", "Ratio"], [TableSection("", lines)])


def test_formats_without_drawings_leave_the_column_out():
    plain = grid().without_strips()
    assert [str(head) for head in plain.columns] == ["Ratio"]
    assert [line.texts for line in plain.lines] == [["2.00"]]
    untouched = Grid(["A"], [TableSection("", [TableRow("x", ["1"])])])
    assert untouched.without_strips() is untouched


def test_the_page_and_the_paper_draw_them():
    assert 'class="strip"' in html([grid()], "grid")
    assert "aria-hidden" in html([grid()], "grid")
    assert r"\begin{picture}" in latex([grid()])
