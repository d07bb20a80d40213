"""Places and ratios of the stores, as published and as measured."""

import math
from itertools import pairwise

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from kvstudy.analyse.findings.pairs import TABLE as PAIRS
from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.analyse.tidy.results import Results
from kvstudy.present.drawing.draw import looks
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import Grid
from kvstudy.study.load import load_study

from . import small_results as small

STORES = ["redis", "riak", "memcached"]
LOOKS = looks({name: name.title() for name in STORES}, small.COLORS)


def pair(faster: str, slower: str, ratio: float, decision: str, spread: float | None = 1.1) -> list:
    low, high = (ratio / spread, ratio * spread) if spread else (math.nan, math.nan)
    p = {"undecided": 0.5, "faster": 0.001}[decision] if spread else math.nan
    numbers = [3 if spread else 1, ratio, low, high, p, p, math.nan]
    return ["a", "r1", faster, slower, *numbers, decision, ""]


def pairs(*found: list) -> pd.DataFrame:
    return pd.DataFrame(found, columns=PAIRS.columns)


def results(rejected: str = "", **published: float) -> Results:
    """``rejected`` is the store whose value the audit of the source rejects."""
    there = pd.DataFrame(
        [
            ["small", "T 1", store, "a", "overall", "throughput", "ops/s", value]
            for store, value in published.items()
        ],
        columns=["study", "table", "store", "workload", "operation", "metric", "unit", "value"],
    )
    columns = ["store", "workload", "parameters", "operation", "metric", "unit"]
    columns += ["n", "mean", "sd", "cov", "min", "max"]
    there["rejected"] = there["store"] == rejected
    return Results(pd.DataFrame(columns=columns), small.cells(), there)


SOME = pairs(
    pair("riak", "redis", 1.02, "undecided"),
    pair("redis", "memcached", 2, "faster"),
    pair("riak", "memcached", 2.04, "faster"),
)
# The source: riak before redis before memcached, far apart.
PUBLISHED = {"redis": 500.0, "riak": 1000.0, "memcached": 100.0}


def ratios(found: Results, some: pd.DataFrame, base: str | None = None) -> pd.DataFrame:
    analysis = small.analysis(pairs=some)
    return small.table("against", base=base).rows(small.run(results=found, analysis=analysis))


def slopes(found: Results, some: pd.DataFrame) -> pd.DataFrame:
    analysis = small.analysis(pairs=some)
    return small.figure("slope").rows(small.run(results=found, analysis=analysis))


def grid_of(frame: pd.DataFrame) -> Grid:
    return small.table("against").grids(frame, small.run())[0]


def test_undecided_stores_share_a_place():
    table = slopes(results(**PUBLISHED), SOME).set_index("store")
    assert table["published_place"].to_dict() == {"riak": 1, "redis": 2, "memcached": 3}
    assert table["place"].to_dict() == {"riak": 1, "redis": 1, "memcached": 3}
    assert table["undecided_with"].to_dict() == {"riak": "redis", "redis": "riak", "memcached": ""}
    assert set(table["basis"]) == {"intervals"}
    assert table.loc["redis", ["same", "opposite", "pairs"]].tolist() == [2, 0, 3]


def test_an_opposite_order_is_counted():
    table = slopes(results(redis=1.0, riak=2.0, memcached=3.0), SOME)
    assert table.loc[0, ["same", "opposite", "pairs"]].tolist() == [0, 2, 3]


def test_single_runs_are_placed_by_their_values_and_said_to_be_single():
    single = pairs(
        pair("redis", "riak", 1.5, "undecided", None),
        pair("redis", "memcached", 3, "undecided", None),
        pair("riak", "memcached", 2, "undecided", None),
    )
    table = slopes(results(**PUBLISHED), single)
    assert table.set_index("store")["place"].to_dict() == {"redis": 1, "riak": 2, "memcached": 3}
    assert set(table["basis"]) == {"single runs"}
    figure = small.figure("slope").draw(table, small.looked(LOOKS))
    assert {line.get_linestyle() for line in figure.axes[0].lines} == {"--"}
    plt.close(figure)


def test_a_store_without_values_on_both_sides_has_no_slope():
    table = slopes(results(redis=1.0, memcached=2.0), SOME)
    assert set(table["store"]) == {"redis", "memcached"}
    nothing = slopes(results(redis=1.0), SOME)
    assert len(nothing) == 0
    (ax,) = small.figure("slope").draw(nothing, small.looked(LOOKS)).axes
    assert [text.get_text() for text in ax.texts] == ["no two stores have values on both sides"]


def test_the_slopes_stand_at_the_places_and_names_do_not_overlap():
    figure = small.figure("slope").draw(slopes(results(**PUBLISHED), SOME), small.looked(LOOKS))
    ax = figure.axes[0]
    lines = {line.get_gid(): line.get_ydata() for line in ax.lines}
    assert [lines[f"slope-{store}"][0] for store in ("riak", "redis", "memcached")] == [1, 2, 3]
    heights = sorted(line[1] for line in lines.values())
    assert min(b - a for a, b in pairwise(heights)) > 0.5
    assert ax.get_title() == "Workload A\nsame order: 2/3 pairs, opposite: 0, neither: 1"
    texts = [text.get_text() for text in ax.texts]
    assert "1 Redis ~" in texts
    assert "3 Memcached" in texts
    plt.close(figure)


def test_ratios_to_the_first_store_that_both_have():
    frame = ratios(results(**PUBLISHED), SOME).set_index("store")
    assert set(frame["base"]) == {"redis"}
    assert frame.loc["riak", ["published", "here"]].tolist() == pytest.approx([2, 1.02])
    memcached = frame.loc["memcached"]
    # Redis is twice as fast: the interval turns round with the ratio.
    assert memcached[["here", "low", "high"]].tolist() == pytest.approx([0.5, 0.5 / 1.1, 0.55])
    assert memcached["here_by_published"] == pytest.approx(0.5 / 0.2)
    grid = grid_of(frame.reset_index())
    cells = {line.label: line.cells for line in grid.sections[0].lines}
    assert cells["Memcached / Redis"] == ["0.200", "0.500", "0.455 to 0.550", "2.50"]
    assert cells[f"{small.TITLES['riak']} / Redis"][1] == "1.02 ~"


def test_a_value_that_the_audit_rejects_is_marked_wherever_it_is_compared():
    found = results(rejected="memcached", **PUBLISHED)
    grid = grid_of(ratios(found, SOME))
    by_label = {line.label: [str(cell) for cell in line.cells] for line in grid.sections[0].lines}
    marked = [MARK in cell for cell in by_label["Memcached / Redis"]]
    assert marked == [True, False, False, True]
    assert not any(MARK in cell for cell in by_label[f"{small.TITLES['riak']} / Redis"])
    assert "Rejected by the audit of the source." in grid.notes[-1]
    # All ratios to a store with such a value rest on it.
    grid = grid_of(ratios(results(rejected="redis", **PUBLISHED), SOME))
    assert all(MARK in line.cells[0] for line in grid.sections[0].lines)
    table = slopes(found, SOME)
    figure = small.figure("slope").draw(table, small.looked())
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert f"Memcached 3{MARK}" in texts
    assert "Redis 2" in texts
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "rejected by the audit of the source"
    ]
    plt.close(figure)


def test_a_store_that_was_not_measured_keeps_its_published_ratio():
    some = pairs(pair("redis", "memcached", 2, "faster"))
    frame = ratios(results(**PUBLISHED), some).set_index("store")
    assert frame.loc["riak", "published"] == 2
    assert math.isnan(frame.loc["riak", "here"])
    grid = grid_of(frame.reset_index())
    assert grid.sections[0].lines[0].cells == ["2.00", DASH, DASH, DASH]


def test_another_store_may_be_the_base():
    frame = ratios(results(**PUBLISHED), SOME, "memcached")
    assert frame["store"].tolist() == ["redis", "riak"]
    assert frame["here"].tolist() == pytest.approx([2, 2.04])


def test_what_a_source_brings_to_a_report(project):
    folder = project / "config/studies/jedlicka2024"
    names = {table.name for table in load_study(folder / "study.yaml").tables}
    assert {"audit", "audited-a", "audited-insert", "against"} <= names
    (folder / "published.csv").unlink()
    names = {table.name for table in load_study(folder / "study.yaml").tables}
    assert "audit" in names
    assert not {"audited-a", "against"} & names
    (folder / "quotes.yaml").unlink()
    study = load_study(folder / "study.yaml")
    assert "audit" not in {table.name for table in study.tables}
    assert "places" not in {figure.name for figure in study.figures}
