"""The noise floor, the client ceiling and trials of clients, planned next to a study's cells."""

import math

import pandas as pd
import pytest
from kvstudy.analyse.findings.bottleneck import NUMBERS, Limit, bottleneck, limit
from kvstudy.analyse.findings.pairs import floor_of, floors, pairs
from kvstudy.analyse.findings.spread import spread_of
from kvstudy.analyse.tidy.clients import needed
from kvstudy.analyse.tidy.files import MEASUREMENTS
from kvstudy.documents.report.cells import DisplayNames
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.layout.rich_text import DASH
from kvstudy.stores.definition import load_stores, stores_to_measure
from kvstudy.study.cells import TRIALS, Share, plan
from kvstudy.study.controls import (
    ceiling_store,
    clients_of_trial,
    controls,
    is_control,
    noise_store,
    original,
)
from kvstudy.study.load import load_study, study_path

from tests.project import edit

from . import small_results as small

AGAIN = "redis-again"
# Nothing that names a store or a workload.
BARE = {"tables": [], "figures": [], "expected_failures": []}


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


def floors_of(**speeds: tuple[float, ...]) -> pd.DataFrame:
    return floors(spread_of(values(**speeds), paired=True), small.study())


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


def test_a_store_that_does_not_differ_from_itself_lifts_no_floor():
    result = floors_of(redis=(100, 110, 105), redis_again=(104, 108, 107))
    (row,) = result.itertuples()
    assert row.low < row.ratio < 1 < row.high
    assert (floor_of(result), row.p_all > 0.05) == (1, True)


def test_a_store_that_differs_from_itself_each_time_lifts_the_floor_to_that():
    result = floors_of(redis=(100, 110, 105), redis_again=(110, 120.5, 116))
    assert result["p_all"].iloc[0] < 0.05
    # One workload: the root mean square is the ratio itself.
    assert floor_of(result) == pytest.approx(1 / result["ratio"].iloc[0])


def test_one_repetition_has_no_floor():
    (row,) = floors_of(redis=(100,), redis_again=(104,)).itertuples()
    assert (row.n, row.floor) == (1, None)
    assert floors_of(redis=(100, 101)).empty
    assert floor_of(floors_of(redis=(100, 101))) is None


def test_a_ratio_that_is_not_above_the_floor_is_undecided():
    spread = spread_of(
        values(
            redis=(100, 110, 105),
            redis_again=(125, 138, 131),
            memcached=(120, 132.5, 126),
            riak=(9, 9.9, 9.4),
        ),
        paired=True,
    )
    floor = floor_of(floors(spread, small.study()))
    result = pairs(spread, [*small.TITLES], floor).set_index(["faster", "slower"])
    # It is real (each run is faster by 20 %), but no more than the machine makes of nothing.
    row = result.loc[("memcached", "redis")]
    assert (row["decision"], row["in_floor"]) == ("undecided", "yes")
    assert row["low"] > 1
    assert result.loc[("redis", "riak"), ["decision", "in_floor"]].tolist() == ["faster", "no"]
    free = pairs(spread, [*small.TITLES]).set_index(["faster", "slower"])
    assert free.loc[("memcached", "redis"), ["decision", "in_floor"]].tolist() == ["faster", ""]


NOTHING = dict.fromkeys(NUMBERS, math.nan)


@pytest.mark.parametrize(
    ("result", "of", "reason"),
    [
        ({"ceiling": 0.79, "in_call": 0.71}, Limit.NOT_SEEN, ""),
        ({"ceiling": 0.85}, Limit.CLIENT, "85 % of the client ceiling, YCSB without a store"),
        (
            {"in_call": 0.5},
            Limit.CLIENT,
            "start-up or client time dominates: the client's threads wait for the store only 50 % "
            "of the time",
        ),
        (
            {"client_cores": 1.9, "client_allowed": 2, "machine_cores": 8},
            Limit.CLIENT,
            "the client uses 1.9 of its 2 cores",
        ),
        # On a machine without a free core, nothing shows which of the two is slower.
        (
            {"client_cores": 1.2, "server_cores": 0.7, "machine_cores": 2},
            Limit.CPU,
            "the machine's cores are 95 % busy, 63 % of that with the client",
        ),
        (
            {"client_cores": 0.7, "server_cores": 1.2, "machine_cores": 2},
            Limit.CPU,
            "the machine's cores are 95 % busy, 37 % of that with the client",
        ),
        # Other programs take from the same cores.
        (
            {"client_cores": 0.5, "server_cores": 0.4, "other_cores": 1.0, "machine_cores": 2},
            Limit.CPU,
            "the machine's cores are 95 % busy, 26 % of that with the client",
        ),
        ({"client_cores": 1.2, "server_cores": 0.7, "machine_cores": 8}, Limit.NOT_SEEN, ""),
    ],
)
def test_what_limits(result, of, reason):
    seen, why = limit(NOTHING | result)
    assert (seen, sentence(why)) == (of, reason)


def test_bottleneck_by_store():
    runs = values(redis=(100, 100), memcached=(950, 950), client_ceiling=(1000, 1000))
    result = bottleneck(runs, small.study()).set_index("store")
    assert result.index.tolist() == ["redis", "memcached"]
    assert result.loc["redis", ["ceiling", "limit"]].tolist() == [pytest.approx(0.1), "not seen"]
    assert result.loc["memcached", "limit"] == "client"
    (grid,) = small.table("bottleneck").grids(result.reset_index(), small.run())
    lines = {str(line.label): line.texts for line in grid.lines}
    assert lines["Memcached"][-2:] == ["95 %", "client"]
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
    assert (row.limit, row.reason) == ("", "")


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
    (inserts,) = [
        cell
        for cell in plan(study)
        if (cell.store, cell.records) == ("redis", 1_000_000) and cell.repetition == 1
    ]
    load = inserts.shares("load")
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
    with pytest.raises(KvstudyError, match=message):
        stores_to_measure(*edited(parameters=parameters, **BARE, **keys))


def test_a_study_of_ycsb_without_a_store_is_its_own_ceiling(project):
    stores = ["redis", {"store": "basic", "name": "nothing"}]
    study, _ = edited(stores=stores, **BARE)
    assert [use.name for use in controls(study)] == [AGAIN]
    assert ceiling_store(study) == "nothing"
    result = bottleneck(values(redis=(900, 900), nothing=(1000, 1000)), study).set_index("store")
    assert result.loc["redis", "ceiling"] == pytest.approx(0.9)
    assert math.isnan(result.loc["nothing", "ceiling"])


def test_imported_logs_have_no_controls():
    study = small.study(imported={})
    assert (controls(study), ceiling_store(study), noise_store(study)) == ([], None, None)


# --- as many clients as a store needs: the trial cells, and what they tell

SIZES_OF_TRIALS = {"records": 1000, "operations": 10000, "threads": 5, "clients": "auto"}


@pytest.fixture
def study(project):
    changes = BARE | {"client_ceiling": True}
    return edited(parameters=SIZES_OF_TRIALS, workloads=["a", "d", "insert"], **changes)[0]


def test_pairs_of_n_and_twice_n_clients_come_first(study):
    cells = plan(study)
    selected = [cell.clients for cell in cells].index("auto")
    trials = cells[:selected]
    assert {clients_of_trial(cell.store) for cell in cells[selected:]} == {None}
    # A workload that inserts and reads cannot be shared.
    assert {cell.workload for cell in trials} == {"a", "insert"}
    of_redis = [
        cell for cell in trials if (original(study, cell.store), cell.workload) == ("redis", "a")
    ]
    tried = {}
    for cell in of_redis:
        tried.setdefault(cell.repetition, set()).add(cell.clients)
    assert list(tried.values()) == [{1, 2}] * TRIALS + [{2, 4}] * TRIALS
    # The same work, under the same parameters.
    assert {(cell.parameters, cell.threads) for cell in of_redis} == {("r1000_o10000_t5_cauto", 5)}
    assert {cell.parameters for cell in cells[selected:] if cell.workload == "a"} == {
        "r1000_o10000_t5_cauto"
    }
    assert len({cell.path for cell in cells}) == len(cells)


def test_they_are_controls_with_a_title_of_their_own(study):
    (name,) = {cell.store for cell in plan(study) if cell.store.startswith("redis-4")}
    assert is_control(name)
    names = DisplayNames(study, {"redis": "Redis"}, {})
    assert names.store(name) == "Redis (4 clients)"
    assert names.store("redis-1-client") == "Redis (1 client)"
    assert ceiling_store(study) is None


def trials(*steps: tuple[float, float], noise: float = 0.01) -> pd.DataFrame:
    """Throughputs of n and of 2n clients, for n = 1, 2, …, that scatter by ``noise``."""
    rows = []
    for step, pair in enumerate(steps):
        for trial in range(TRIALS):
            for clients, value in zip((2**step, 2 ** (step + 1)), pair, strict=True):
                off = 1 + noise * ((trial * (1 if clients == 2**step else 2)) % 3 - 1)
                name = f"redis-{clients}-client{'s' if clients > 1 else ''}"
                rows.append([name, step * TRIALS + trial + 1, value * off])
    return pd.DataFrame(rows, columns=["store", "repetition", "value"])


@pytest.mark.parametrize(
    ("rows", "clients", "ratio"),
    [
        (trials((100, 100)), 1, 1.0),
        (trials((100, 80)), 1, 0.8),
        (trials((100, 150), (150, 151)), 2, 1.007),
        # Pairs are compared within their repetitions: all is slower later.
        (trials((100, 150), (50, 50)), 2, 1.0),
        (trials((100, 150), (150, 200)), 4, None),
        # What scatters may well be faster by 5 %.
        (trials((100, 100), noise=0.2), 2, None),
        (trials(), None, None),
    ],
)
def test_so_many_are_enough_that_twice_as_many_are_surely_not_faster(rows, clients, ratio):
    number, more = needed(rows)
    assert number == clients
    assert (more and more.value) == (ratio and pytest.approx(ratio, abs=0.01))


def test_the_table_of_what_limits_has_the_number_and_the_ratio():
    study = small.study(parameters=SIZES_OF_TRIALS | {"threads": 4})
    runs = values(redis=(150, 150), memcached=(90, 90))
    number = runs.assign(metric="clients", unit="count", value=[2, 2, 1, 1])
    pair = trials((100, 150), (150, 151))
    of_trials = values(x=[0] * len(pair)).assign(**{name: list(pair[name]) for name in pair})
    result = bottleneck(pd.concat([runs, number, of_trials]), study)
    by = result.set_index("store")
    assert by["clients"].to_dict() == {"redis": 2, "memcached": 1}
    assert by.loc["redis", "twice"] == pytest.approx(1.007, abs=0.002)
    (grid,) = small.table("bottleneck").grids(result, small.run())
    assert list(map(str, grid.columns[-3:])) == ["Clients", "Gain of doubling", "Bottleneck"]
    lines = {str(line.label): line.texts[-3:-1] for line in grid.lines}
    assert lines["Redis"][0] == "2"
    assert lines["Redis"][1].startswith("1.01 (")
