"""Studies with several sizes: which cells there are, and which of them a report shows."""

import re
from collections import Counter

import pandas as pd
import pytest
from kvstudy.analyse.findings.files import shown_of
from kvstudy.analyse.tidy.results import only, published_only, read_published
from kvstudy.analyse.tidy.swept import sizes
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import own_sizes, plan, shown
from kvstudy.study.combinations import combinations_of, shown_combination
from kvstudy.study.load import load_study, study_path
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.workload import properties_of

from . import small_results as small


def swept(project, **parameters):
    """Two stores and two workloads; c has further sizes of its own."""
    return small.study(
        stores=["redis", "memcached"],
        workloads=[
            "a",
            {"name": "c", "threads": 2, "also": [{"threads": [8, 16], "records": 5000}]},
            {"name": "insert"},
        ],
        parameters={"records": [2000, 5000], "operations": 20000, "threads": [1, 4], **parameters},
        tables=[],
        figures=[],
    )


def sizes_of(study, workload):
    use = study.workload(workload)
    return [(one.records, one.threads) for one in combinations_of(study, use)]


def test_lists_are_combined_and_further_sizes_come_after_them(project):
    study = swept(project)
    assert sizes_of(study, "a") == [(2000, 1), (2000, 4), (5000, 1), (5000, 4)]
    assert sizes_of(study, "c") == [(2000, 2), (5000, 2), (5000, 8), (5000, 16)]
    # What appears twice is measured once.
    workloads = [{"name": "a", "also": [{"threads": [1, 2]}]}]
    study = small.study(workloads=workloads, tables=[], figures=[])
    assert sizes_of(study, "a") == [(10, 1), (10, 2)]


def test_the_last_of_each_list_is_shown_unless_the_study_names_another(project):
    study = swept(project)
    assert shown(study)["a"] == "r5000_o20000_t4"
    assert shown(study)["c"] == "r5000_o20000_t2"
    study = swept(project, shown={"threads": 1, "records": 2000})
    assert shown(study)["a"] == "r2000_o20000_t1"
    # c has no cell with one thread: the last of what it has.
    assert shown_combination(study, study.workload("c")).threads == 2


def test_controls_have_the_shown_sizes_only(project):
    cells = [cell for cell in plan(swept(project)) if cell.repetition == 1]
    selected = [cell for cell in cells if cell.store == "redis"]
    again = [cell for cell in cells if cell.store == "redis-again"]
    assert len(selected) == 4 + 4 + 4
    assert {(cell.workload, cell.parameters) for cell in again} == set(
        shown(swept(project)).items()
    )


def test_the_numbers_of_each_set(project):
    table = sizes(swept(project), scale=0.5)
    mine = table[table["workload"] == "c"]
    assert mine[["records", "threads"]].to_numpy().tolist() == [
        [1000, 2],
        [2500, 2],
        [2500, 8],
        [2500, 16],
    ]
    assert mine["parameters"].iloc[0] == "r1000_o10000_t2"
    assert (table.loc[table["workload"] == "insert", "operations"] == 0).all()


def slow_riak(**sizes):
    """Riak has these sizes of its own; insert is measured with more records, too."""
    return small.study(
        stores=["redis", {"store": "riak", **sizes}],
        workloads=["a", {"name": "insert", "also": [{"records": 50000}]}],
        parameters={"records": 20000, "operations": 50000},
        tables=[],
        figures=[],
    )


def test_a_slow_store_has_sizes_of_its_own_beside_those_of_the_others(project):
    cells = plan(slow_riak(records=5000, operations=20000))
    by_path = {cell.path: (cell.records, cell.operations) for cell in cells}
    assert by_path["redis/a/r20000_o50000_t1/rep1"] == (20000, 50000)
    assert by_path["riak/a/r20000_o50000_t1/rep1"] == (5000, 20000)
    # Every size of insert would be the same cell: it is next to the one that is shown.
    assert by_path["riak/insert/r20000_o0_t1/rep1"] == (5000, 0)
    assert "redis/insert/r50000_o0_t1/rep1" in by_path
    assert "riak/insert/r50000_o0_t1/rep1" not in by_path
    assert len(set(by_path)) == len(cells)


def test_a_trial_run_may_be_as_small_for_all_stores():
    study = slow_riak(operations=20000)
    assert [(one.workload, one.number, one.planned) for one in own_sizes(study)] == [
        ("a", 20000, 50000)
    ]
    assert own_sizes(study, scale=0.1) == []


def test_run_times_of_another_size_are_not_drawn_and_the_table_says_why(project):
    study = slow_riak(operations=20000).model_copy(update={"source": None})
    bars = small.figure("bars", workloads=["a"], operation="overall", metrics=["runtime"], unit="s")
    faults = {("riak", "a", number): ("measured", "", "") for number in (1, 2)}
    results = small.results(faults, source=False)
    run = small.run(study=study, results=results, other_sizes={("riak", "a")})
    drawn = bars.rows(run).set_index("store")
    assert drawn.loc["redis", "value"] == pytest.approx(9.535, abs=0.001)
    assert pd.isna(drawn.loc["riak", "value"])
    assert drawn.loc["riak", "note"] == "other size"
    # Rates are drawn, with a mark.
    keys = {"workloads": ["a"], "operation": "overall", "unit": "kops/s"}
    rates = small.figure("bars", metrics=["throughput"], **keys).rows(run).set_index("store")
    assert rates.loc[["redis", "riak"], "other_size"].tolist() == ["no", "yes"]
    assert pd.notna(rates.loc["riak", "value"])
    notes = small.grid_of(small.table("results", workload="a"), run).notes
    assert any(re.search(r"20.000 operations instead of 50.000", str(text)) for text in notes)


def test_only_the_shown_values_remain_and_the_mean(project):
    frame = pd.DataFrame(
        [["a", "r1", 1.0], ["a", "r2", 2.0], [MEAN, "all", 3.0], ["b", "r1", 4.0]],
        columns=["workload", "parameters", "value"],
    )
    assert only(frame, {"a": "r2", "b": "r9"})["value"].tolist() == [2.0, 3.0]


def test_published_values_of_other_sizes_are_not_shown(project):
    study = swept(project)
    path = project / "published.csv"
    path.write_text(
        "study,table,store,workload,operation,metric,unit,value,records,threads\n"
        "s,1,redis,a,overall,throughput,ops/s,1,2000,4\n"
        "s,1,redis,a,overall,throughput,ops/s,2,5000,4\n"
        "s,1,redis,a,overall,throughput,ops/s,3,5000,1\n"
        "s,1,memcached,a,overall,throughput,ops/s,4,,\n"
    )
    assert published_only(read_published(path), study)["value"].tolist() == [2.0, 4.0]
    path.write_text(path.read_text() + "s,1,redis,a,overall,throughput,ops/s,9,5000,4\n")
    with pytest.raises(KvstudyError, match=r"line 6: a second throughput .*the same sizes"):
        read_published(path)


def test_the_shown_part_of_an_analysis_keeps_the_order_of_all_runs():
    analysis = small.analysis()
    part = shown_of(analysis, {"a": "nothing"})
    assert part.intervals.empty
    assert not analysis.intervals.empty
    assert len(part.order) == len(analysis.order)


OPERATIONS = {
    "product-read": [200_000, 400_000, 600_000],
    "product-update": [20_000, 40_000, 60_000],
    "product-insert": [10_000, 25_000, 50_000],
}


@pytest.fixture
def shop(project) -> Study:
    return load_study(study_path("ascani2023"))


def test_sizes_of_the_shop_are_those_of_the_report(shop):
    table = sizes(shop)
    for workload, operations in OPERATIONS.items():
        mine = table[table["workload"] == workload]
        grid = mine[mine["threads"] <= 6]
        assert sorted(grid["records"].unique()) == [100_000, 200_000, 300_000]
        assert sorted(grid["operations"].unique()) == operations
        assert sorted(grid["threads"].unique()) == [1, 2, 4, 6]
        assert len(grid) == 3 * 3 * 4
        scaling = mine[mine["threads"] > 6]
        assert sorted(scaling["threads"]) == [10, 12, 14, 16, 18, 20]
        assert scaling[["records", "operations"]].drop_duplicates().to_numpy().tolist() == [
            [300_000, operations[-1]]
        ]
    of_a_store = Counter(cell.store for cell in plan(shop) if cell.store in shop.store_names)
    assert of_a_store == dict.fromkeys(["redis", "mongodb", "cassandra"], 3 * (36 + 6))


def test_every_figure_of_the_report_of_the_shop_with_results_is_there(shop):
    named = {figure.source: figure.kind for figure in shop.figures if figure.source}
    kinds = {2: "averages"}
    for first in (3, 8, 13):
        kinds |= {first: "heatmap", first + 1: "heatmap", first + 2: "box"}
        kinds |= {first + 3: "curves", first + 4: "curves"}
    assert named == {f"Figure {number}": kind for number, kind in kinds.items()}


def test_distributions_of_the_shop_are_those_of_the_report(shop):
    result = {use.name: properties_of(shop, use)["requestdistribution"] for use in shop.workloads}
    assert (result["product-read"], result["product-update"]) == ("zipfian", "uniform")
