"""The noise floor and the client ceiling: planned beside the study's own cells."""

import math

import pandas as pd
import pytest
from kvstudy.analyse.findings.bottleneck import NUMBERS, bottleneck, client_bound
from kvstudy.analyse.findings.pairs import floors, pairs
from kvstudy.analyse.tidy.files import MEASUREMENTS
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.present.typeset.latex import DASH
from kvstudy.stores.definition import load_stores, stores_to_measure
from kvstudy.study.cells import Share, plan
from kvstudy.study.controls import ceiling_store, controls, noise_store, original
from kvstudy.study.load import load_study, study_path

from tests.project import edit

from . import small_results as small

AGAIN = "redis-again"


def edited(**changes: object):
    path = edit(study_path("jedlicka2024"), **changes)
    return load_study(path), path


def values(**speeds: tuple[float, ...]) -> pd.DataFrame:
    rows = [
        [store.replace("_", "-"), "a", "p", str(run), "run", "overall", "throughput", "ops/s", each]
        for store, runs in speeds.items()
        for run, each in enumerate(runs, start=1)
    ]
    return pd.DataFrame(rows, columns=MEASUREMENTS.columns)


def test_the_first_store_is_measured_twice_and_the_client_alone(project):
    study, path = edited()
    assert [(use.name, use.store) for use in controls(study)] == [
        ("redis-again", "redis"),
        ("client-ceiling", "basic"),
    ]
    assert AGAIN not in study.store_names
    assert AGAIN not in load_stores(study)
    assert stores_to_measure(study, path)[AGAIN].title == "Redis"
    assert original(study, AGAIN) == original(study, "redis") == "redis"


def test_another_store_can_be_chosen_with_its_options(project):
    study, _ = edited(noise_floor="riak")
    twin = controls(study)[0]
    assert (twin.name, twin.options) == ("riak-again", {"consistency": "strong"})


def test_both_can_be_left_out(project):
    study, _ = edited(noise_floor=False, client_ceiling=False)
    assert controls(study) == []
    assert {cell.store for cell in plan(study)} == set(study.store_names)


def test_the_floor_is_the_farther_end_of_the_interval():
    found = floors(values(redis=(100, 110, 105), redis_again=(104, 108, 107)), small.study())
    (row,) = found.itertuples()
    assert row.low < row.ratio < 1 < row.high
    assert row.floor == max(row.high, 1 / row.low) == 1 / row.low


def test_one_repetition_has_no_floor():
    (row,) = floors(values(redis=(100,), redis_again=(104,)), small.study()).itertuples()
    assert (row.n, row.floor) == (1, None)
    assert floors(values(redis=(100, 101)), small.study()).empty


def test_a_ratio_below_the_floor_is_told():
    runs = values(
        redis=(100, 110, 105),
        redis_again=(104, 108, 107),
        memcached=(102, 112, 107),
        riak=(9, 9, 9),
    )
    floor = floors(runs, small.study())
    found = pairs(runs[runs["store"] != AGAIN], floor).set_index(["faster", "slower"])
    # It is real (each run is faster by 2 %), but no more than the machine makes of nothing.
    assert found.loc[("memcached", "redis"), ["decision", "in_floor"]].tolist() == ["equal", "yes"]
    assert found.loc[("redis", "riak"), "in_floor"] == "no"


NOTHING = dict.fromkeys(NUMBERS, math.nan)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ({}, ""),
        ({"ceiling": 0.79, "in_call": 0.71}, ""),
        ({"ceiling": 0.85}, "85 % of what the client reaches without a store"),
        (
            {"in_call": 0.5},
            "start-up or client time dominates: its threads are inside calls only 50 % of the time",
        ),
        (
            {"client_cores": 1.2, "server_cores": 0.7, "machine_cores": 2},
            "client and server use 1.9 of 2 cores, and the client 1.2 of them",
        ),
        (
            {"client_cores": 1.9, "client_allowed": 2, "machine_cores": 8},
            "the client uses 1.9 of the 2 cores that it may use",
        ),
        ({"client_cores": 0.7, "server_cores": 1.2, "machine_cores": 2}, ""),
        ({"client_cores": 1.2, "server_cores": 0.7, "machine_cores": 8}, ""),
    ],
)
def test_client_bound(found, reason):
    assert sentence(client_bound(NOTHING | found)) == reason


def test_bottleneck_by_store():
    runs = values(redis=(100, 100), memcached=(950, 950), client_ceiling=(1000, 1000))
    found = bottleneck(runs, small.study()).set_index("store")
    assert found.index.tolist() == ["redis", "memcached"]
    assert found.loc["redis", ["ceiling", "client_bound"]].tolist() == [pytest.approx(0.1), "no"]
    assert found.loc["memcached", "client_bound"] == "yes"
    (grid,) = small.table("bottleneck").grids(found.reset_index(), small.run())
    lines = {line.label: line.cells for line in grid.lines}
    assert lines["Memcached"][-2:] == ["95 %", "yes"]
    assert lines["Redis"][0] == DASH


def test_control_cells_are_in_no_table_of_the_analysis_but_the_order():
    plan = small.cells()
    again = plan[plan["store"] == "redis"].assign(store=AGAIN, started="2026-01-01T00:00:00+00:00")
    plan = pd.concat([plan, again], ignore_index=True)
    analysis = small.analysis_of(plan, small.measurements(plan))
    assert AGAIN in set(analysis.order["store"])
    assert len(analysis.floor)
    for part in (analysis.intervals, analysis.bottleneck, analysis.trimmed):
        assert AGAIN not in set(part["store"])
    assert AGAIN not in {*analysis.pairs["faster"], *analysis.pairs["slower"]}


def test_without_anything_to_tell_nothing_is_told():
    (row,) = bottleneck(values(redis=(100, 100)), small.study()).itertuples()
    assert (row.client_bound, row.reason) == ("", "")


def test_clients_share_threads_operations_and_keys(project):
    parameters = {"records": 1000, "operations": 10001, "threads": 7, "clients": 3}
    study, _ = edited(parameters=parameters)
    cells = {cell.workload: cell for cell in plan(study) if cell.store == "redis"}
    run = cells["a"].shares("run")
    assert [share.label for share in run] == ["run", "run-2", "run-3"]
    assert [share.threads for share in run] == [2, 2, 3]
    assert [(share.first, share.count) for share in run] == [(0, 3333), (3333, 3334), (6667, 3334)]
    assert cells["a"].parameters.endswith("_t7_c3")
    # One client loads; where the load is measured, all do.
    assert cells["a"].shares("load") == [Share("load", 7, 0, 1000)]
    load = cells["insert"].shares("load")
    assert [share.first for share in load] == [0, 333_333, 666_666]
    assert [share.count for share in load] == [333_333, 333_333, 333_334]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workloads": ["a", "d"]}, "'d' inserts records and asks for them"),
        ({"threads": [2, 4]}, "3 clients cannot share the 2 threads of workload 'a'"),
        ({"stores": ["redis", "rocksdb"]}, "the records of 'rocksdb' are inside one client"),
        ({"clients": 0}, "clients: must be 1 or more, or one of auto, but is 0"),
        ({"clients": "all"}, "must be one of auto, but is 'all'"),
    ],
)
def test_what_several_clients_cannot_share_is_refused(project, changes, message):
    sizes = {"records": 1000, "operations": 10000, "threads": 4, "clients": 3}
    parameters = sizes | {name: changes[name] for name in sizes.keys() & changes.keys()}
    keys = {name: value for name, value in changes.items() if name not in sizes}
    keys |= {"tables": [], "figures": [], "expected_failures": []}

    with pytest.raises(KvstudyError, match=message):
        stores_to_measure(*edited(parameters=parameters, **keys))


def test_a_study_of_ycsb_without_a_store_is_its_own_ceiling(project):
    stores = ["redis", {"store": "basic", "name": "nothing"}]
    study, _ = edited(stores=stores, tables=[], figures=[], expected_failures=[])
    assert [use.name for use in controls(study)] == [AGAIN]
    assert ceiling_store(study) == "nothing"
    found = bottleneck(values(redis=(900, 900), nothing=(1000, 1000)), study).set_index("store")
    assert found.loc["redis", "ceiling"] == pytest.approx(0.9)
    assert math.isnan(found.loc["nothing", "ceiling"])


def test_imported_logs_have_no_controls():
    study = small.study(imported={})
    assert (controls(study), ceiling_store(study), noise_store(study)) == ([], None, None)
