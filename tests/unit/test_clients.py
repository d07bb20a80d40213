"""As many clients as a store needs: the trial cells, what they tell, and where it is shown."""

import pandas as pd
import pytest
from kvstudy.analyse.findings.bottleneck import bottleneck
from kvstudy.analyse.tidy.clients import needed
from kvstudy.present.report.cells import Names
from kvstudy.study.cells import TRIALS, plan
from kvstudy.study.controls import ceiling_store, clients_of_trial, is_control, original

from . import small_results as small
from .test_controls import edited, values

SIZES = {"records": 1000, "operations": 10000, "threads": 5, "clients": "auto"}


@pytest.fixture
def study(project):
    changes = {"tables": [], "figures": [], "expected_failures": [], "client_ceiling": True}
    return edited(parameters=SIZES, workloads=["a", "d", "insert"], **changes)[0]


def test_pairs_of_n_and_twice_n_clients_come_first(study):
    cells = plan(study)
    own = [cell.clients for cell in cells].index("auto")
    trials = cells[:own]
    assert {clients_of_trial(cell.store) for cell in cells[own:]} == {None}
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
    assert {cell.parameters for cell in cells[own:] if cell.workload == "a"} == {
        "r1000_o10000_t5_cauto"
    }
    assert len({cell.path for cell in cells}) == len(cells)


def test_they_are_controls_with_a_title_of_their_own(study):
    (name,) = {cell.store for cell in plan(study) if cell.store.startswith("redis-4")}
    assert is_control(name)
    names = Names(study, {"redis": "Redis"}, {})
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
    ],
)
def test_so_many_are_enough_that_twice_as_many_are_surely_not_faster(rows, clients, ratio):
    number, more = needed(rows)
    assert number == clients
    assert (more and more.value) == (ratio and pytest.approx(ratio, abs=0.01))


def test_without_trials_nothing_is_known():
    assert needed(trials()) == (None, None)


def test_the_table_of_what_limits_has_the_number_and_the_ratio():
    study = small.study(parameters=SIZES | {"threads": 4})
    runs = values(redis=(150, 150), memcached=(90, 90))
    number = runs.assign(metric="clients", unit="count", value=[2, 2, 1, 1])
    pair = trials((100, 150), (150, 151))
    of_trials = values(x=[0] * len(pair)).assign(**{name: list(pair[name]) for name in pair})
    found = bottleneck(pd.concat([runs, number, of_trials]), study)
    by = found.set_index("store")
    assert by["clients"].to_dict() == {"redis": 2, "memcached": 1}
    assert by.loc["redis", "twice"] == pytest.approx(1.007, abs=0.002)
    (grid,) = small.table("bottleneck").grids(found, small.run())
    assert grid.columns[-3:] == ["Clients", "Twice as many", "Client-bound"]
    lines = {line.label: line.cells[-3:-1] for line in grid.lines}
    assert lines["Redis"][0] == "2"
    assert lines["Redis"][1].startswith("1.01 (")
