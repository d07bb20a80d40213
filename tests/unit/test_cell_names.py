"""Cells are named with the sizes in which their workload has several."""

from kvstudy.present.report.cells import Names
from kvstudy.study.cells import plan

from . import small_results as small


def names(**parameters) -> Names:
    study = small.study(parameters=parameters)
    return Names.of(study, small.TITLES, plan(study))


def test_one_set_of_sizes_needs_no_name(project):
    found = names(records=100, operations=20, threads=4)
    assert {found.sizes(*key) for key in found.cells} == {""}
    assert found.workload("a", "r100_o20_t4") == "Workload A"


def test_only_what_differs_is_named(project):
    found = names(records=[100, 10_000], operations=20, threads=[1, 4])
    assert found.workload("a", "r10000_o20_t1") == (
        "Workload A (10\N{NARROW NO-BREAK SPACE}000 records, 1 client thread)"
    )
    assert found.sizes("a", "r100_o20_t4") == "100 records, 4 client threads"


def test_cells_that_were_not_planned_have_their_workload_only(project):
    assert names(records=100, operations=20, threads=[1, 4]).workload("a", "other") == "Workload A"
