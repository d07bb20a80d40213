"""Charts: what is in their specifications, of every kind of figure."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import altair as alt
import pandas as pd
import pytest
from kvstudy.documents.figures import write_figure
from kvstudy.exhibits.bar_chart import pieces_of, with_heights
from kvstudy.exhibits.figure import read_figure
from kvstudy.exhibits.texts import exact, exact_range, runs
from kvstudy.render.page import inline, styles
from kvstudy.render.paper import use_style
from kvstudy.render.screen import as_json, plain
from kvstudy.study.kinds import FIGURES

from . import small_results as small
from .every_chart import LONG, every_chart

KINDS = [
    *["speed", "percentiles", "run-order", "ratios", "time-a", "spectrum", "tradeoff"],
    *["open", "separation", "delay", "scatter", "lines", "map", "box", "means"],
    *["relative", "break-even"],
]
# Where a value has another name than in the CSV.
NAMES = {
    "break-even": {"cost": ["without", "cached"]},
    "tradeoff": {"throughput": ["throughput"], "latency": ["latency"]},
}
# Kinds that show no value of the CSV itself: colours, and ratios in place of their logarithms.
CHANGED = {"map", "run-order"}
NOTHING = {
    "ratios": "no pair of stores has a common repetition",
    "run-order": "the order of the runs is unknown",
    "spectrum": "no histograms of latency",
    "tradeoff": "nothing was measured",
    "open": "not measured",
    "separation": "the source has fewer than 6 mean latencies with a known number of round trips",
    "delay": "nothing was measured",
    "lines": "nothing was measured",
    "relative": "nothing was measured",
    "break-even": "the necessary times were not measured",
}


@pytest.fixture(scope="module")
def drawn():
    return every_chart()


def specs(drawn, name: str) -> dict:
    return json.loads(drawn[name].text)


def test_there_is_one_of_every_kind(drawn):
    assert list(drawn) == KINDS
    kinds = {FIGURES[name] for name in FIGURES.names if FIGURES[name].drawn}
    assert {type(each.figure) for each in drawn.values()} == kinds


@pytest.mark.parametrize("name", KINDS)
def test_the_values_are_those_of_the_csv(drawn, name):
    rows, table = specs(drawn, name)["data"]["values"], drawn[name].table
    renamed = NAMES.get(name, {})
    numbers = [column for column in table.select_dtypes("number") if column in rows[0]]
    pairs = {column: [column] for column in numbers} | renamed
    known = ["value", "ratio", "p50", "high", "published", "value_x"]
    assert name in CHANGED or set(pairs) & {*known, *renamed}
    for shown, columns in pairs.items():
        present = pd.concat([table[column] for column in columns])
        present = {value for value in present.dropna() if math.isfinite(value)}
        if name == "spectrum":
            # A latency of 0 µs has no place on a logarithmic axis.
            present = {max(value, 1) for value in present}
        assert {row[shown] for row in rows} - {None} == present, shown


@pytest.mark.parametrize("name", KINDS)
def test_rows_say_which_store_and_workload_they_are_of(drawn, name):
    spec, each = specs(drawn, name), drawn[name]
    stores = set(each.styles) | {"redis-again"}
    assert {row["store"] for row in spec["data"]["values"]} <= stores
    workloads = {"w"} if name in ("relative", "break-even") else {*each.study.workload_names}
    assert {row["workload"] for row in spec["data"]["values"]} <= workloads
    assert "kv_stores" in spec["transform"][0]["filter"]
    assert {row["panel"] for row in spec["data"]["values"]} == set(range(len(spec["concat"])))


def test_values_that_the_audit_rejects_have_a_mark_and_say_why(drawn):
    """Of the published curve, those at one thread."""
    table, spec = drawn["lines"].table, specs(drawn, "lines")
    known = table.dropna(subset="value").reset_index(drop=True)
    inconsistent = set(known.loc[known["inconsistent"] == "yes", "value"])
    assert inconsistent
    marked = [row for row in spec["data"]["values"] if row["mark"]]
    assert {row["value"] for row in marked} == inconsistent
    assert {row["note"] for row in marked} == {"inconsistent with the source's other values"}
    assert "inconsistent with the source's other values." in drawn["lines"].text


@pytest.mark.parametrize("name", ["time-a", "map"])
def test_specifications_are_valid_and_the_same_every_time(drawn, name):
    text = drawn[name].text
    assert text == drawn[name].text
    # Raises where the specification is not what Vega-Lite's schema says. It takes seconds,
    # so the end-to-end test has the other kinds.
    alt.Chart.from_dict(json.loads(text))


def test_exact_values_are_written_as_in_tables(drawn):
    row = specs(drawn, "speed")["data"]["values"][0]
    assert row["title"] == "Redis, A"
    assert row["exact"] == "2\N{NARROW NO-BREAK SPACE}097.6 ops/s"
    assert row["range"] == (
        "2\N{NARROW NO-BREAK SPACE}000.0 ops/s to 2\N{NARROW NO-BREAK SPACE}200.0 ops/s"
    )
    assert row["runs"] == "2 runs"
    published = specs(drawn, "percentiles")["data"]["values"][-2]
    assert published["exact"] == "11\N{NARROW NO-BREAK SPACE}865.7 µs"
    assert published["cut"] == "broken bar, higher than drawn"


def test_converting_to_the_axis_and_back_changes_no_digit():
    # 1000.25 is halfway between two decimals; tables round it to the even one.
    assert exact("throughput", 1000.25 * 1e-3, "kops/s").endswith("000.2 ops/s")
    assert exact("runtime", 3.5, "s") == "3\N{NARROW NO-BREAK SPACE}500 ms"
    assert exact("latency_p99", 0.1, "ms") == "100.0 µs"
    assert exact("latency_p99", math.nan, "ms") == exact_range("runtime", 1, math.nan, "s") == ""
    assert (runs(1.0), runs(3.0), runs(math.nan)) == ("1 run", "3 runs", "")


def test_names_are_data_and_no_code(drawn):
    title = small.TITLES["riak"]
    names = {row["name"] for row in specs(drawn, "speed")["data"]["values"]}
    assert names == set(small.TITLES.values())
    assert {row["title"] for row in specs(drawn, "map")["data"]["values"]} >= {LONG}
    text = drawn["speed"].text
    assert "<K>" in text
    # In a page neither a store's name nor a caption ends the script that it is in.
    assert "<" not in inline(text)
    assert json.loads(inline(text)) == json.loads(text)
    assert title in [entry["label"] for entry in json.loads(text)["usermeta"]["kvstudy"]["legend"]]


def test_missing_places_say_why_and_have_no_value(drawn):
    gaps = [row for row in specs(drawn, "speed")["data"]["values"] if row["value"] is None]
    assert {row["note"] for row in gaps} == {"not measured", "not published"}
    assert {row["exact"] for row in gaps} == {""}
    gaps = [row for row in specs(drawn, "map")["data"]["values"] if not row["exact"]]
    assert {row["note"] for row in gaps} == {"the server died"}
    notes = specs(drawn, "time-a")["usermeta"]["kvstudy"]["note"]
    assert f"{small.TITLES['riak']}: not measured." in notes


def test_torn_bars_are_those_of_the_static_figure(drawn):
    spec, table = specs(drawn, "percentiles"), drawn["percentiles"].table
    static = [with_heights(rows) for _panel, rows in table.groupby("panel", sort=False)]
    for panel, bars in zip(spec["concat"], static, strict=True):
        pieces = panel["layer"][0]["data"]["values"]
        ends = [(piece["bottom"], piece["top"]) for piece in pieces]
        shown = pieces_of(bars)
        assert ends == [*zip(shown["bottom"], shown["top"], strict=True)]
    cut = [row["value"] for row in spec["data"]["values"] if row["cut"]]
    assert cut == table.query("broken == 'yes'")["value"].tolist()


def test_every_thread_count_is_on_the_axis(drawn):
    panel = specs(drawn, "lines")["concat"][0]
    assert panel["layer"][1]["encoding"]["x"]["axis"]["values"] == list(range(1, 13))
    saturated = [row for row in specs(drawn, "lines")["data"]["values"] if row["saturation"]]
    assert {row["threads"] for row in saturated} == {4}


def test_one_store_and_no_value_at_all(drawn):
    each = drawn["speed"]
    one = each.table[each.table["store"] == "redis"]
    spec = json.loads(small.chart_text(each.figure, one, small.looked(each.styles)))
    assert [entry["label"] for entry in spec["usermeta"]["kvstudy"]["legend"]] == ["Redis"]
    nothing = one.assign(value=math.nan, min=math.nan, max=math.nan, note="failed")
    rows = json.loads(small.chart_text(each.figure, nothing, small.looked(each.styles)))["data"][
        "values"
    ]
    assert {row["note"] for row in rows} == {"failed"}
    for name, words in NOTHING.items():
        empty = replace(drawn[name], table=drawn[name].table.head(0))
        spec = json.loads(empty.text)
        meta = spec["usermeta"]["kvstudy"]
        assert meta["empty"]
        assert spec["concat"][0]["layer"][0]["encoding"]["text"] == {"value": meta["note"]}
        (ax,) = small.painted(empty.figure, empty.table, small.looked(empty.styles)).axes
        assert [text.get_text() for text in ax.texts] == [meta["note"]] == [words]


def test_no_end_and_no_number_are_null():
    values = [math.inf, math.nan, 2.0, 0.1, "x"]
    assert [plain(value) for value in values] == [None, None, 2, 0.1, "x"]
    with pytest.raises(ValueError, match="JSON"):
        as_json({"value": math.nan})


def test_a_chart_is_written_beside_its_csv(drawn, tmp_path):
    each = drawn["speed"]
    use_style()
    path = write_figure(each.figure, each.table, small.looked(of=each.study), tmp_path)
    written = (tmp_path / "speed.vl.json").read_text(encoding="utf-8")
    assert json.loads(written) == json.loads(each.text)
    assert read_figure(path)["note"].tolist() == each.table["note"].tolist()


def test_styles_load_nothing():
    assert "url(" not in styles()
    assert "@import" not in styles()
