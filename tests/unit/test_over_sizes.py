"""Curves and tables over client threads, and where throughput saturates."""

import math
from dataclasses import replace

import pandas as pd
import pytest
from kvstudy.analyse.findings.bottleneck import scaling
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED, Swept, sizes
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import Grid, notes_of
from kvstudy.layout.looks import StyleSheet, styles
from kvstudy.layout.numbers import MARK
from kvstudy.render.paper import use_style
from kvstudy.study.cells import by_combination
from kvstudy.study.load import load_study
from kvstudy.study.model import Study
from pydantic import ValidationError

from tests.project import edit

from . import small_results as small

THREADS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
STORES = ["redis", "riak"]
# Rises to four threads, then stays.
SPEED = {"redis": 1000.0, "riak": 500.0}


def swept_study(**changes):
    table = {"name": "over", "kind": "sweep", "caption": "Over threads", "workload": "a"}
    table |= {"over": "threads", "where": {"records": [100, 900]}}
    figure = {"name": "lines", "kind": "curves", "caption": "Lines", "workloads": ["a"]}
    figure |= {"over": "threads", "where": {"records": 100}, "saturation": True}
    figure |= {"metrics": ["throughput", "latency_p99"]} | changes
    keys = {"stores": STORES, "workloads": ["a", "c"], "repetitions": 1}
    keys["parameters"] = {"records": [100, 900], "operations": 20, "threads": THREADS}
    return small.study(**keys, tables=[table], figures=[figure])


def swept(study, missing=()):
    rows, cells = [], []
    for use in study.workloads:
        for point, cell in by_combination(study, use).items():
            for store in STORES:
                failed = (store, use.name, point.threads) in missing
                status = "failed" if failed else "measured"
                cells.append([store, use.name, cell.parameters, "1", status, "", "", "1", ""])
                if failed:
                    continue
                speed = SPEED[store] * min(point.threads, 4) * (2 if point.records == 100 else 1)
                start = [store, use.name, cell.parameters]
                rows.append([*start, "overall", "throughput", "ops/s", 1, speed, speed, speed])
                rows.append([*start, "read", "latency_p99", "us", 1, 2000.0, 2000.0, 2000.0])
    columns = ["store", "workload", "parameters", "operation", "metric", "unit"]
    summary = pd.DataFrame(rows, columns=[*columns, "n", "mean", "min", "max"])
    summary["geometric"] = summary["mean"].where(summary["unit"] == "ops/s")
    names = ["store", "workload", "parameters", "repetition", "status", "reason", "invalid"]
    table = pd.DataFrame(cells, columns=[*names, "position", "started"])
    published = pd.DataFrame({"threads": THREADS}).assign(
        **{"store": "riak", "workload": "a", "operation": "overall", "metric": "throughput"},
        **{"unit": "ops/s", "records": 100.0, "operations": math.nan},
        inconsistent=[threads == 1 for threads in THREADS],
        value=[70.0 * threads for threads in THREADS],
    )
    return Swept(study, 1.0, summary, table, published)


def lines_of(study, missing=()) -> pd.DataFrame:
    return rows(study, swept(study, missing))


def rows(study, values: Swept) -> pd.DataFrame:
    return study.figures[0].rows(small.run(study=study, swept=values))


def swept_grid(study: Study, values: Swept) -> Grid:
    return small.grid_of(study.tables[0], small.run(study=study, swept=values))


def test_lines_have_a_value_for_each_point_measured_and_published(project):
    table = lines_of(swept_study())
    speeds = table[(table["metric"] == "throughput") & (table["side"] == MEASURED)]
    redis = speeds[speeds["store"] == "redis"]
    assert redis["threads"].tolist() == THREADS
    assert redis["value"].tolist() == [2.0, 4.0, 6.0] + [8.0] * 9
    assert set(redis["unit"]) == {"kops/s"}
    theirs = table[table["side"] == PUBLISHED]
    assert theirs["store"].unique().tolist() == ["riak"]
    assert theirs["value"].tolist() == pytest.approx([0.07 * threads for threads in THREADS])
    tail = table[table["metric"] == "latency_p99"]
    assert set(tail["value"]) == {2.0}
    assert "Latency of read, 99th percentile" in set(tail["panel"])


def test_saturation_is_marked_where_throughput_stops_rising(project):
    table = lines_of(swept_study())
    marked = table[table["saturated"] == "yes"]
    assert {(row.side, row.store, row.threads) for row in marked.itertuples()} == {
        (MEASURED, "redis", 4),
        (MEASURED, "riak", 4),
    }


def test_a_point_that_failed_is_a_gap_with_its_reason(project):
    study = swept_study()
    values = swept(study, missing={("riak", "a", 3)})
    table = rows(study, values)
    gap = table[(table["store"] == "riak") & (table["threads"] == 3) & (table["side"] == MEASURED)]
    assert gap["value"].isna().all()
    assert set(gap["note"]) == {"failed"}
    third = swept_grid(study, values).lines[2]
    assert str(third.label) == "3"
    assert "failed" in third.texts


def test_a_figure_has_a_panel_for_each_metric_and_one_for_published_values(project):
    study = swept_study()
    use_style()
    stores = styles(small.TITLES, small.COLORS)
    table = lines_of(study)
    figure = small.painted(study.figures[0], table, StyleSheet(study, stores))
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles[:3] == [
        "Throughput, measured",
        "Throughput, published",
        "Latency of read, 99th percentile",
    ]
    assert len(figure.axes[0].lines) >= 2
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "saturated from here" in labels
    # The published value at one thread, which no other fits to.
    assert "inconsistent with the source's other values" in labels
    marks = [[text.get_text() for text in ax.texts] for ax in figure.axes[:2]]
    assert marks == [[], [MARK]]


def test_the_lines_of_one_store_are_told_apart_by_workload_and_size(project):
    study = swept_study(workloads=["a", "c"], stores=["redis"], where={"records": [100, 900]})
    use_style()
    table = lines_of(study)
    figure = small.painted(study.figures[0], table, small.looked(of=study))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels[0] == "A, 100 records"
    assert len(set(labels[:4])) == 4
    lines = [line for line in figure.axes[0].lines if line.get_linestyle() != "None"]
    assert len({line.get_color() for line in lines}) == 2
    assert len({str(line._dash_pattern) for line in lines}) == 2


def test_the_mean_of_all_operations_is_weighted_by_their_numbers(project):
    study = swept_study(metrics=["latency_mean"], operations="together", saturation=False)
    values = swept(study)
    more = []
    for key in values.cells[["store", "workload", "parameters"]].itertuples(index=False):
        for operation, share, mean in (("read", 90, 100.0), ("scan", 10, 2100.0)):
            more.append([*key, operation, "operations", "count", 1, share, share, share])
            more.append([*key, operation, "latency_mean", "us", 1, mean, mean, mean])
        # The plain mean is another value, and so is that with the reads of these.
        more.append([*key, "read+scan", "latency_mean", "us", 1, 1100.0, 1100.0, 1100.0])
        more.append([*key, "read-modify-write", "operations", "count", 1, 100, 100, 100])
        more.append([*key, "read-modify-write", "latency_mean", "us", 1, 9.0, 9.0, 9.0])
    summary = pd.DataFrame(more, columns=values.summary.columns.drop("geometric"))
    summary["geometric"] = math.nan
    table = rows(study, replace(values, summary=summary))
    assert table["value"].tolist() == pytest.approx([0.3] * 24)
    assert set(table["unit"]) == {"ms"}
    assert set(table["panel"]) == {"Latency of all operations, average"}


@pytest.mark.parametrize("metrics", [["throughput"], ["latency_mean", "latency_p99"]])
def test_only_the_mean_of_all_operations_is_known(metrics):
    with pytest.raises(ValidationError, match="operations: together needs latency_mean"):
        swept_study(metrics=metrics, operations="together")


def test_nothing_measured_is_said_in_the_figure(project):
    study = swept_study()
    values = swept(study)
    empty = Swept(study, 1.0, values.summary.head(0), values.cells, None)
    table = rows(study, empty)
    assert study.figures[0].nothing(table) == "nothing was measured"


def test_a_table_over_threads_has_published_values_beside_the_measured_ones(project):
    study = swept_study()
    grid = swept_grid(study, swept(study))
    assert len(grid.columns) == 2 * 4
    first = grid.sections[0].lines[0]
    assert str(first.label) == "1"
    assert first.texts[0] == "2\N{NARROW NO-BREAK SPACE}000"
    assert any(f"70{MARK}" in text for text in first.texts)
    assert not any(MARK in text for text in grid.sections[0].lines[1].texts)
    assert "Inconsistent with the source's other values." in str(notes_of([grid])[-1])
    assert any("One run each" in str(note) for note in grid.notes)


def runs(study: Study) -> pd.DataFrame:
    summary = swept(study).summary.rename(columns={"mean": "value"})
    return summary.assign(repetition="1", phase="run")


def test_saturation_and_the_scalability_law_per_store_and_workload(project):
    study = swept_study()
    table = scaling(runs(study), sizes(study))
    assert len(table) == 2 * 2 * 2
    assert set(table["saturation"]) == {4.0}
    assert set(table["most"]) == {12}
    (grid,) = small.table("scaling").grids(table, small.run(study=study))
    assert len(grid.sections) == 4
    assert grid.lines[0].texts[0] == "4"
    small.both(grid)


def test_a_throughput_that_still_rises_has_no_saturation(project):
    study = swept_study()
    threads = sizes(study)[["workload", "parameters", "threads"]]
    values = runs(study).drop(columns="value").merge(threads)
    table = scaling(values.rename(columns={"threads": "value"}), sizes(study))
    assert table["saturation"].isna().all()
    (grid,) = small.table("scaling").grids(table, small.run(study=study))
    assert grid.lines[0].texts[0] == "above 12"


def test_five_thread_counts_have_no_table_of_scaling(project):
    few = small.study(parameters={"records": 10, "operations": 20, "threads": [1, 2, 3, 4, 5]})
    assert "scaling" not in [table.kind for table in few.tables]
    assert "scaling" in [table.kind for table in swept_study().tables]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"where": {"threads": 2}}, "where.threads: is what the lines go over; remove the key"),
        ({"where": {"records": 7}}, "has 0 cells over threads with 7 records"),
        ({"workloads": ["z"]}, "unknown workload 'z'"),
        ({"stores": ["nix"]}, "unknown store 'nix'"),
    ],
)
def test_lines_without_cells_are_refused(pretend_study, change, message):
    figure = {"name": "f", "kind": "curves", "caption": "F", "over": "threads", "workloads": ["a"]}
    parameters = {"records": 1000, "operations": 2000, "threads": [1, 2]}
    path = edit(pretend_study, parameters=parameters, figures=[{**figure, **change}])
    with pytest.raises(KvstudyError, match=message.replace("(", r"\(")):
        load_study(path)
