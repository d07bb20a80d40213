"""What a comparison of two runs shows: figure, text and files."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from kvstudy.documents.comparison.compare import RELATIVE, compare
from kvstudy.documents.comparison.forest import MOST_LINES, forest_plot, marks, pages
from kvstudy.documents.comparison.runs import sizes
from kvstudy.documents.comparison.text import as_text, write_comparison
from kvstudy.errors import KvstudyError
from kvstudy.layout.looks import Style
from kvstudy.render.paper import paint

from tests.project import kvstudy
from tests.unit.two_runs import two_runs, write_run

NARROW = "\N{NARROW NO-BREAK SPACE}"


def changes(*rows: tuple[str, str, float, float | None, float | None]) -> pd.DataFrame:
    """Rows of workload, store, change, low, high."""
    table = pd.DataFrame(rows, columns=["workload", "store", "change", "low", "high"])
    table = table.assign(parameters="p", different="no", equal="no")
    return table.reindex(columns=RELATIVE).astype({"low": float, "high": float})


def draw(table: pd.DataFrame):
    stores = dict.fromkeys(table["store"])
    looks = {store: Style(store.title(), "#123456", marker="o") for store in stores}
    labels = {
        place: f"Workload {place[0]}"
        for place in zip(table["workload"], table["parameters"], strict=True)
    }
    return paint(forest_plot(table, table, labels, looks))


def drawn_values(figure) -> tuple[dict[float, float], dict[float, tuple[float, float]]]:
    """The points and the intervals by their line."""
    ax = figure.axes[0]
    points = {
        y: x
        for line in ax.lines
        for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)
        if line.get_markersize() == 5 and line.get_marker() not in "<>|"
    }
    bars = {}
    for collection in ax.collections:
        for (start, y), (end, _) in collection.get_segments():
            bars[y] = (start, end)
    return points, bars


def test_the_figure_shows_the_values():
    figure = draw(
        changes(("a", "x", 1.5, 1.2, 1.9), ("a", "y", 0.9, 0.8, 1.0), ("c", "x", 1, 1, 1))
    )
    points, bars = drawn_values(figure)
    # Lines 0 and 3 name the workloads.
    assert points == {1: 1.5, 2: 0.9, 4: 1}
    assert bars == {1: (1.2, 1.9), 2: (0.8, 1.0), 4: (1, 1)}
    ax = figure.axes[0]
    assert ax.get_xscale() == "log"
    low, high = ax.get_xlim()
    assert low < 0.8
    assert high > 1.9
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((1 / 1.1, 1.1))
    texts = [text.get_text() for text in ax.texts]
    assert {"Workload a", "Workload c", "X", "Y", "1.50  (1.20 to 1.90)"} <= set(texts)


def test_a_long_interval_is_cut_with_an_arrow_and_one_run_has_none():
    figure = draw(changes(("a", "x", 1.1, 1e-9, 1e9), ("a", "y", 1.2, None, None)))
    ax = figure.axes[0]
    low, high = ax.get_xlim()
    assert high / low < 20
    points, bars = drawn_values(figure)
    assert points == {1: 1.1, 2: 1.2}
    assert bars == {1: pytest.approx((low, high))}
    arrows = {line.get_marker() for line in ax.lines} & {"<", ">"}
    assert arrows == {"<", ">"}
    texts = [text.get_text() for text in ax.texts]
    assert "1.10  (<0.001 to >1\u202f000)" in texts
    assert "1.20  (one run)" in texts


@pytest.mark.parametrize(("rows", "stores"), [(1, 1), (30, 8), (31, 1), (100, 5), (0, 1)])
def test_pages_have_all_rows_in_order_and_none_too_many(rows, stores):
    table = changes(*((f"w{n // stores}", f"s{n % stores}", 1, 1, 1) for n in range(rows)))
    parts = pages(table)
    joined = pd.concat(parts) if parts else table
    pd.testing.assert_frame_equal(joined, table)
    for part in parts:
        assert len(part) + part["workload"].nunique() <= MOST_LINES
    assert len(parts) <= -(-2 * rows // (MOST_LINES - 1))
    if (rows, stores) == (30, 8):
        assert len(parts) == 1


def test_words_of_numbers_and_verdicts():
    shown = {
        ("no", "no"): "~ 12",
        ("no", "yes"): "=",
        ("yes", "yes"): "=",
        ("yes", "no"): "",
        ("", ""): "?",
    }
    for (different, equal), expected in shown.items():
        row = {"different": different, "equal": equal, "would_decide": 12.0}
        assert marks(pd.Series(row)) == expected
    assert marks(pd.Series(row | {"different": "no", "would_decide": float("nan")})) == "~"
    assert sizes("r1000_o20_t4_s5") == f"1{NARROW}000 records, 20 operations, 4 threads, 5 seconds"
    assert sizes("r5_o0_t1") == "5 records, 1 thread"
    assert sizes("all") == "all"


def test_the_text_says_all_parts_in_order(project):
    gaps = {("redis", "a", 1): ("failed", "it died", "")}
    text = as_text(two_runs(project, ["redis", "memcached"], after_gaps=gaps, after_seed=4))
    heads = [line for line in text.splitlines() if re.match(r"[A-Z]", line)]
    assert heads == [
        "Run A  results/before: measured 1 January 2026, 10:00 to 5 January 2026, 10:00 (UTC), "
        "50 of 50 cells count",
        "Run B  results/after: measured 1 January 2026, 10:00 to 5 January 2026, 10:00 (UTC), "
        "49 of 50 cells count",
        "What differs",
        "What is not compared",
        "Throughput relative to Redis, and its change from A to B",
        "Order of the stores by throughput",
        "Throughput itself, and its change from A to B (one machine)",
    ]
    assert "  seed of the order: 1  ->  4\n" in text
    plain = " ".join(text.split())
    assert f"run B, redis, workload a, 1{NARROW}000 records, " in text
    assert "threads, repetition 1: failed: it died" in plain
    assert re.search(r"Workload A  Memcached +[12]\.\d+ +[23]\.\d+ +5, 4 +1\.[45]\d+ ", text)
    assert "Workload B: run A: Memcached > Redis; run B: Memcached > Redis; of 1 pair, 1" in plain


def test_what_an_earlier_comparison_left_is_replaced(project):
    result = two_runs(project, ["redis", "memcached"])
    output = project / "out"
    output.mkdir()
    for stale in ("forest-7.pdf", "forest-7.svg", "changes.csv"):
        (output / stale).write_text("old")
    (output / "mine.txt").write_text("kept")
    drawn = write_comparison(result, output)
    assert drawn == [output / "forest-1.pdf"]
    assert not list(output.glob("forest-7.*"))
    assert (output / "mine.txt").read_text() == "kept"
    read = pd.read_csv(output / "changes.csv")
    assert read["change"].tolist() == pytest.approx(result.changes["change"].tolist())
    assert len(pd.read_csv(output / "throughputs.csv")) == 10


def test_runs_of_one_repetition_have_changes_without_intervals(project):
    for name, speed in (("before", 1000.0), ("after", 1500.0)):
        speeds = {("redis", "a"): [1000.0], ("memcached", "a"): [speed]}
        write_run(project / "results" / name, speeds)
    result = compare("before", "after")
    write_comparison(result, project / "out")
    (row,) = pd.read_csv(project / "out/changes.csv").itertuples()
    assert (row.change, row.n_a, row.n_b) == (1.5, 1, 1)
    assert re.search(r"Memcached +1.00 +1.50 +1 +1.50 +one run +\?\n", as_text(result))


def test_the_command_says_what_is_wrong(project):
    two_runs(project, ["redis", "memcached"])
    message = "^befor: no run of that name and no such folder; did you mean 'before'[?]$"
    with pytest.raises(KvstudyError, match=message):
        kvstudy("compare", "before", "befor")
    assert not (project / "results/comparisons").exists()
    shown = kvstudy("compare", "--help").output
    for word in ("--baseline", "--output", "same machine", "kvstudy compare before after"):
        assert word in shown
