"""The study of the shop: its sizes and figures are those of the report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from kvstudy.study.cells import plan, sizes
from kvstudy.study.load import load_study, study_path
from kvstudy.study.model import Study
from kvstudy.study.workload import properties_of

ROOT = Path(__file__).parents[2]
OPERATIONS = {
    "product-read": [200_000, 400_000, 600_000],
    "product-update": [20_000, 40_000, 60_000],
    "product-insert": [10_000, 25_000, 50_000],
}


@pytest.fixture
def study(monkeypatch) -> Study:
    monkeypatch.chdir(ROOT)
    return load_study(study_path("ascani2023"))


def test_sizes_are_those_of_the_report(study):
    table = sizes(study)
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
    of_a_store = Counter(cell.store for cell in plan(study) if cell.store in study.store_names)
    assert of_a_store == dict.fromkeys(["redis", "mongodb", "cassandra"], 3 * (36 + 6))


def test_every_figure_of_the_report_with_results_is_there(study):
    named = {figure.source: figure.kind for figure in study.figures if figure.source}
    kinds = {2: "averages"}
    for first in (3, 8, 13):
        kinds |= {first: "heatmap", first + 1: "heatmap", first + 2: "box"}
        kinds |= {first + 3: "curves", first + 4: "curves"}
    assert named == {f"Figure {number}": kind for number, kind in kinds.items()}


def test_distributions_are_those_of_the_report(study):
    found = {use.name: properties_of(study, use)["requestdistribution"] for use in study.workloads}
    assert (found["product-read"], found["product-update"]) == ("zipfian", "uniform")
