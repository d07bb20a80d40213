"""Which cells a study has, in which order, and how they are named in texts."""

from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from kvstudy.documents.report.cells import DisplayNames
from kvstudy.errors import KvstudyError
from kvstudy.measure.client import Client, phase_command
from kvstudy.stores.definition import load_store
from kvstudy.study.cells import find_cell, plan, run_name
from kvstudy.study.load import STORES, load_study, study_path
from kvstudy.study.model import Study
from kvstudy.study.parts import WorkloadUse
from kvstudy.study.workload import load_workload

from . import small_results as small


@pytest.fixture
def study(project):
    return load_study(study_path("jedlicka2024"))


def test_every_repetition_is_a_permutation_of_all_cells(study):
    cells = plan(study)
    # Four stores, the first one again, and YCSB without a store; the four have two sizes of insert
    # only.
    each = 6 * 4 + 4
    assert len(cells) == each * 3
    assert len({cell.path for cell in cells}) == each * 3
    blocks = [cells[start : start + each] for start in (0, each, 2 * each)]
    for number, block in enumerate(blocks, start=1):
        assert {cell.repetition for cell in block} == {number}
    orders = [[(cell.store, cell.workload, cell.parameters) for cell in block] for block in blocks]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2])
    assert orders[0] != orders[1] != orders[2]
    for block in blocks:
        # What is compared follows each other: a drift of the machine falls on all stores alike.
        groups = [(cell.workload, cell.parameters) for cell in block]
        assert sum(1 for one, two in pairwise(groups) if one != two) == len(set(groups)) - 1
        stores = [tuple(cell.store for cell in block if cell.workload == w) for w in "abc"]
        assert len(set(stores)) > 1


def test_the_order_follows_from_the_seed(study):
    assert plan(study) == plan(study)
    assert plan(study) != plan(study.model_copy(update={"seed": 2}))


def test_insert_only_has_a_load_phase_only(study):
    cell = find_cell(plan(study), "redis/insert/r100000_o0_t4/rep1")
    assert cell.phases == ("load",)
    assert cell.measured_phase == "load"


def test_scale_shrinks_counts_alike_down_to_floors(study):
    paths = {cell.path for cell in plan(study, 0.1)}
    assert "redis/a/r10000_o100000_t4/rep1" in paths
    smallest = {cell.path for cell in plan(study, 0.0001)}
    assert "redis/a/r1000_o10000_t4/rep1" in smallest


def test_a_scaled_run_has_a_name_of_its_own():
    assert run_name("jedlicka2024", 1) == "jedlicka2024"
    assert run_name("jedlicka2024", 0.01) == "jedlicka2024-scale0.01"


def test_a_timed_cell_shrinks_its_time(study):
    parameters = study.parameters.model_copy(update={"seconds": 120})
    timed = plan(study.model_copy(update={"parameters": parameters}), 0.1)
    assert {cell.seconds for cell in timed if cell.workload == "a"} == {12}
    assert {cell.seconds for cell in timed if cell.workload == "insert"} == {None}


def test_lists_of_parameters_make_one_cell_each(project):
    path = study_path("jedlicka2024")
    data = yaml.safe_load(path.read_text())
    data["workloads"] = ["a", "b", "c", "insert"]
    data["parameters"] = {"records": 1000, "operations": [1000, 2000], "threads": [1, 2, 4]}
    cells = [cell for cell in plan(Study.model_validate(data)) if cell.store == "redis"]
    # Insert only is the same for every operation count.
    assert len(cells) == 3 * (3 * 2 * 3 + 3)


def test_an_unknown_cell_is_named(study):
    with pytest.raises(KvstudyError, match="redis/z/x/rep1: not a cell of this study"):
        find_cell(plan(study), "redis/z/x/rep1")


def test_a_workload_can_have_sizes_properties_and_a_name_of_its_own(study):
    wide = {"name": "a-wide", "file": "a", "threads": 16, "properties": {"fieldcount": 5}}
    uses = [WorkloadUse(name="a"), WorkloadUse(name="b", records=7), WorkloadUse(**wide)]
    cells = {cell.workload: cell for cell in plan(study.model_copy(update={"workloads": uses}))}
    assert cells["a"].parameters == "r100000_o1000000_t4"
    assert cells["b"].parameters == "r7_o1000000_t4"
    assert cells["a-wide"].parameters == "r100000_o1000000_t16"
    assert dict(cells["a-wide"].properties) == dict(cells["a"].properties) | {"fieldcount": "5"}
    # The client gets all properties of a workload under another name.
    store = load_store(STORES / cells["a"].folder)
    client = Client("kvstudy", "lib/*", store.ycsb.db, ())
    plain, other = (
        phase_command(client, store, cells[name], "run", "host", 1, Path("work"))
        for name in ("a", "a-wide")
    )
    assert "workloads/a" in plain
    assert not any(word.startswith("readproportion") for word in plain)
    assert "-P" not in other
    options = dict(word.split("=", 1) for word in other if "=" in word)
    assert options["fieldcount"] == "5"
    for name, value in load_workload(Path("workloads/a")).items():
        if name not in ("recordcount", "operationcount"):
            assert options[name] == value


def names(**parameters: object) -> DisplayNames:
    study = small.study(parameters=parameters)
    return DisplayNames.of(study, small.TITLES, plan(study))


def test_one_set_of_sizes_needs_no_name(project):
    texts = names(records=100, operations=20, threads=4)
    assert {texts.sizes(*key) for key in texts.cells} == {""}
    assert texts.workload("a", "r100_o20_t4") == "Workload A"


def test_only_what_differs_is_named(project):
    texts = names(records=[100, 10_000], operations=20, threads=[1, 4])
    assert texts.workload("a", "r10000_o20_t1") == (
        "Workload A (10\N{NARROW NO-BREAK SPACE}000 records, 1 client thread)"
    )
    assert texts.sizes("a", "r100_o20_t4") == "100 records, 4 client threads"
    # Of a cell that was not planned only the workload is named.
    assert texts.workload("a", "other") == "Workload A"
