"""Figures of several sizes and of single operations, by their data and what is drawn."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.findings.repetitions import boxes, pool
from kvstudy.analyse.tidy.files import SUMMARY_KEYS, SUMMARY_NUMBERS
from kvstudy.analyse.tidy.histograms import read_histograms
from kvstudy.analyse.tidy.results import Results, only
from kvstudy.analyse.tidy.swept import Swept, sizes
from kvstudy.errors import KvstudyError
from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.layout.looks import StyleSheet, styles
from kvstudy.render.paper import save, use_style
from kvstudy.study.cells import shown
from kvstudy.study.load import load_study
from kvstudy.study.model import Study
from matplotlib.patches import Rectangle
from pydantic import ValidationError

from tests.histogram_rows import histograms
from tests.project import ROOT

from . import small_results as small

LOOKS = styles(
    {"redis": "Redis", "mongodb": "MongoDB", "cassandra": "Cassandra"},
    {"redis": "#d55e00", "mongodb": "#009e73", "cassandra": "#56b4e9"},
)
LOOKED = small.looked(LOOKS)
BOX = small.figure("box", workload="product-read")
AVERAGES = small.figure("averages", workloads=["product-read", "product-update"], unit="s")


@pytest.fixture(autouse=True)
def _style(monkeypatch):
    monkeypatch.chdir(ROOT)
    use_style()


def study(**changes: object) -> Study:
    workloads = [
        {"name": "product-read", "also": [{"threads": [8, 10]}]},
        {"name": "product-update", "operations": [5000], "threads": 2},
    ]
    parameters = {"records": [1000, 2000], "operations": [10_000, 20_000], "threads": [1, 2, 4]}
    keys = {"stores": list(LOOKS), "workloads": workloads, "parameters": parameters}
    keys |= {"repetitions": 1, "tables": [], "figures": []}
    return small.study(**keys | changes)


def made_up(of: Study, faults: dict[tuple[str, str, str], tuple[str, str, str]] | None = None):
    """Values of every size; ``faults``: (status, reason, invalid) by store, workload, parameters.

    A key "*" stands for all parameters. Redis is twice as fast as MongoDB, that as Cassandra; all
    rise with their threads.
    """
    single = {"redis": 4000, "mongodb": 2000, "cassandra": 1000}
    values, cells = [], []
    for store, size in product(of.store_names, sizes(of).itertuples()):
        key = (store, size.workload, size.parameters)
        fault = (faults or {}).get(key) or (faults or {}).get((*key[:2], "*"))
        cells.append([*key, "1", *(fault or ("measured", "", "")), "1", ""])
        if fault:
            continue
        x = single[store] * math.sqrt(size.threads)
        rows = [("overall", "throughput", "ops/s", x)]
        rows.append(("overall", "runtime", "ms", 1000 * size.operations / x))
        for operation, share, mean in [("read", 0.75, 100), ("scan", 0.25, 900)]:
            rows.append((operation, "operations", "count", share * size.operations))
            rows.append((operation, "latency_mean", "us", mean))
        rows.append(("read+scan", "operations", "count", size.operations))
        rows.append(("read+scan", "latency_mean", "us", 500))
        rows.append(("read-modify-write", "operations", "count", size.operations))
        rows.append(("read-modify-write", "latency_mean", "us", 9000))
        values += [[*key, *row[:3], 1, row[3], math.nan, math.nan, row[3], row[3]] for row in rows]
    summary = pd.DataFrame(
        values, columns=[*SUMMARY_KEYS, *["n", "mean", "sd", "cv", "min", "max"]]
    )
    summary["geometric"] = summary["mean"].where(summary["unit"] == "ops/s")
    cells = pd.DataFrame(cells, columns=small.CELL_COLUMNS)
    return Swept(of, 1.0, summary[SUMMARY_KEYS + SUMMARY_NUMBERS], cells, None)


def heatmap(**changes: object) -> DrawnFigure:
    keys = {"name": "map", "workload": "product-read", "unit": "kops/s"}
    return small.figure("heatmap", **keys | changes)


def mapped(of: Study, faults=None, **changes: object) -> pd.DataFrame:
    return heatmap(**changes).rows(small.run(study=of, swept=made_up(of, faults)))


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


def test_a_map_has_every_size_of_the_workloads_lists():
    table = mapped(study())
    assert len(table) == 3 * 2 * 2 * 3
    # Those under `also` are a series of their own.
    assert sorted(table["threads"].unique()) == [1, 2, 4]
    row = table.query("store == 'mongodb' and records == 2000 and threads == 4").iloc[0]
    assert row["value"] == pytest.approx(4.0)
    assert row["unit"] == "kops/s"
    assert (row["low"], row["high"], row["n"]) == pytest.approx((4.0, 4.0, 1))


def test_several_runs_are_told_with_their_range():
    every = made_up(study())
    every.summary["n"] = 3
    every.summary["min"] *= 0.9
    table = heatmap().rows(small.run(study=study(), swept=every))
    assert (table["low"] / table["value"]).tolist() == pytest.approx([0.9] * 36)
    label = small.painted(heatmap(), table, LOOKED).axes[-1].get_ylabel()
    assert label == "Throughput (kops/s)\nmeans of 3 runs"


def test_mean_latency_is_weighted_by_the_operations():
    table = mapped(study(), metric="latency_mean", unit="us")
    # Not the plain mean of reads and scans (500), nor with the read-modify-writes.
    assert table["value"].tolist() == pytest.approx([0.75 * 100 + 0.25 * 900] * 36)
    of_scans = mapped(study(), metric="latency_mean", unit="ms", operation="scan")
    assert of_scans["value"].tolist() == pytest.approx([0.9] * 36)


def test_a_map_is_drawn_with_its_values_in_one_scale():
    drawing = small.painted(heatmap(), mapped(study()), LOOKED)
    *panels, bar = drawing.axes
    assert [ax.get_title(loc="left") for ax in panels] == ["Redis", "MongoDB", "Cassandra"]
    cells = [patch for patch in panels[0].patches if isinstance(patch, Rectangle)]
    assert len(cells) == 12
    assert texts(panels[0])[:3] == ["4.00", "5.66", "8.00"]
    # The same value has the same colour in each panel: 4 kops/s.
    one = panels[0].patches[0].get_facecolor()
    other = panels[1].patches[2].get_facecolor()
    assert one == other
    assert bar.get_ylabel() == "Throughput (kops/s)\nsingle runs"
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["1", "2", "4"]


def test_sizes_that_a_scale_makes_equal_are_one_row():
    of = study()
    every = made_up(of)
    table = heatmap().rows(small.run(study=of, swept=replace(every, scale=0.01)))
    # 10 000 and 20 000 operations would be fewer than the least that are measured.
    assert table["operations"].unique().tolist() == [10_000]
    assert not table.duplicated(["store", "records", "operations", "threads"]).any()


def test_missing_sizes_are_hatched_and_explained():
    name = sizes(study())["parameters"].iloc[0]
    faults = {
        ("redis", "product-read", name): ("failed", "the server died", ""),
        ("cassandra", "product-read", "*"): ("not measured", "no server here", ""),
    }
    table = mapped(study(), faults)
    gaps = table[table["value"].isna()]
    assert len(gaps) == 1 + 12
    assert gaps.iloc[0]["note"] == "the server died"
    assert set(gaps[gaps["store"] == "cassandra"]["note"]) == {"no server here"}
    drawing = small.painted(heatmap(), table, LOOKED)
    hatched = [patch for patch in drawing.axes[2].patches if patch.get_hatch()]
    assert len(hatched) == 12
    assert drawing.legends[0].get_texts()[0].get_text() == "no value"


def test_a_map_without_any_value_is_drawn(tmp_path):
    faults = {(store, "product-read", "*"): ("failed", "broken", "") for store in LOOKS}
    table = mapped(study(), faults)
    save(small.painted(heatmap(), table, LOOKED), tmp_path / "map")
    assert table["value"].isna().all()


def test_one_store_with_twelve_thread_counts_fits(tmp_path):
    of = study(
        stores=["redis", "mongodb"],
        workloads=["product-read"],
        parameters={"records": 1000, "operations": [10, 20], "threads": list(range(1, 13))},
    )
    table = mapped(of)
    looks = {name: LOOKS[name] for name in of.store_names}
    drawing = small.painted(heatmap(), table, StyleSheet(of, looks))
    first, second, _ = drawing.axes
    drawing.draw_without_rendering()
    # Below each other, where there is room for the values.
    assert second.get_position().y1 < first.get_position().y0
    renderer = drawing.canvas.get_renderer()
    room = first.get_window_extent().width / 12
    assert max(text.get_window_extent(renderer).width for text in first.texts[:24]) < room
    assert (drawing.get_size_inches()[0]) == pytest.approx(16 / 2.54)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": "ms"}, "throughput has no unit 'ms'; give ops/s or kops/s"),
        ({"metric": "latency_p99", "unit": "us"}, "name an operation, or take latency_mean"),
        ({"operation": "read"}, "leave out the operation"),
        ({"metric": "operations"}, "operations has no unit 'kops/s'; show another metric"),
    ],
)
def test_what_cannot_be_shown_is_refused(change, message):
    with pytest.raises(ValidationError, match=message):
        heatmap(**change)


def over_sizes(of: Study, faults=None) -> pd.DataFrame:
    return AVERAGES.rows(small.run(study=of, swept=made_up(of, faults)))


def test_mean_and_median_are_over_all_sizes():
    table = over_sizes(study())
    row = table.query("panel == 'product-read' and group == 'Mean' and store == 'redis'").iloc[0]
    runtimes = [n / 4000 / math.sqrt(t) for n in (10_000, 20_000) for t in (1, 2, 4)]
    assert row["value"] == pytest.approx(sum(runtimes) / 6)
    assert (row["min"], row["max"]) == pytest.approx((min(runtimes), max(runtimes)))
    assert row["n"] == 12
    median = table.query("panel == 'product-read' and group == 'Median' and store == 'redis'")
    assert median["value"].item() == pytest.approx(pd.Series(runtimes).median())
    titles = AVERAGES.titles(table, small.looked(LOOKS, study()))
    assert titles["product-update"] == "Product update: 2 sizes"


def test_means_are_of_the_sizes_that_every_store_has():
    first = sizes(study())["parameters"].iloc[0]
    faults = {
        ("redis", "product-read", first): ("measured", "", "too many failures"),
        ("cassandra", "product-read", "*"): ("not measured", "no server here", ""),
    }
    table = over_sizes(study(), faults).query("panel == 'product-read'")
    assert set(table.query("store != 'cassandra'")["n"]) == {11}
    some = "without-sizes left_out=1 sizes=12"
    assert set(table.query("store == 'mongodb'")["note"]) == {some}
    none = table.query("store == 'cassandra'")
    assert none["value"].isna().all()
    assert set(none["note"]) == {"not measured"}


def test_averages_have_a_panel_for_each_workload(tmp_path):
    table = over_sizes(study())
    drawing = small.painted(AVERAGES, table, small.looked(LOOKS, study()))
    assert [ax.get_title(loc="left") for ax in drawing.axes] == [
        "Product read: 12 sizes",
        "Product update: 2 sizes",
    ]
    save(drawing, tmp_path / "x")


def boxed(of: Study, stores: list[str], faults=None, **changes: object) -> pd.DataFrame:
    """Two runs; reads take 1 to 100 us, scans ten times that, each latency once in each run."""
    figure = small.figure("box", **{"workload": "product-read"} | changes)
    every = made_up(of, faults)
    one = shown(of)
    rows = []
    for store, run, (name, unit) in product(stores, "12", [("read", 1), ("scan", 10)]):
        key = [store, "product-read", one["product-read"], run, "run", name]
        rows += [[*key, unit * latency, 1] for latency in range(1, 101)]
    results = Results(only(every.summary, one), only(every.cells, one), None)
    analysis = SimpleNamespace(boxes=boxes(pool(read_histograms(histograms(rows)))))
    return figure.rows(small.run(study=of, results=results, analysis=analysis))


def test_boxes_are_of_the_merged_histograms():
    table = boxed(study(), ["redis", "mongodb"], unit="us")
    assert table["operation"].unique().tolist() == ["read", "update", "scan"]
    read = table.query("operation == 'read' and store == 'redis'").iloc[0]
    assert read[["p1", "p5", "p25", "p50", "p75", "p95", "p99", "largest"]].tolist() == [
        *[1, 5, 25, 50, 75, 95, 99, 100]
    ]
    assert (read["operations"], read["n"]) == (200, 2)
    in_ms = boxed(study(), ["redis"], unit="ms", operations=["scan"]).iloc[0]
    assert in_ms["p50"] == pytest.approx(0.5)
    assert table.query("operation == 'update'")["note"].unique().tolist() == [
        "not-timed operation=update"
    ]


def test_a_store_without_logs_has_no_box():
    faults = {("cassandra", "product-read", "*"): ("failed", "broken", "")}
    table = boxed(study(), ["redis", "mongodb"], faults)
    assert table.query("store == 'cassandra' and operation == 'read'")["note"].item() == "failed"
    (ax,) = small.painted(BOX, table, LOOKED).axes
    assert "failed" in texts(ax)
    assert ax.get_yscale() == "log"
    # Below each box how many operations it is of.
    assert texts(ax).count("200") == 4


def test_boxes_of_one_store_and_of_zero_latencies_are_drawn(tmp_path):
    of = study(stores=["redis"])
    table = boxed(of, ["redis"], operations=["read"])
    table[["p1", "p5", "p25"]] = 0.0
    drawing = small.painted(BOX, table, StyleSheet(of, {"redis": LOOKS["redis"]}))
    save(drawing, tmp_path / "x")
    assert drawing.axes[0].get_ylim()[0] > 0


def test_a_figures_workload_must_be_the_studys(tmp_path):
    folder = tmp_path / "config" / "studies" / "small"
    folder.mkdir(parents=True)
    for name in ("envs", "workloads"):
        (tmp_path / name).symlink_to(ROOT / name)
    figures = [heatmap().model_dump() | {"workload": "product-insert"}]
    data = study().model_dump(include={"name", "title", "question", "planned_repetitions"})
    data |= {"stores": ["redis"], "workloads": ["product-read"], "figures": figures}
    data |= {"parameters": {"records": 10, "operations": 10}}
    (folder / "study.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(KvstudyError, match=r"figures\[0\].workload: unknown workload"):
        load_study(folder / "study.yaml")
