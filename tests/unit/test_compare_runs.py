"""Two runs compared: what is found in made-up throughputs, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
from math import exp, log
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from kvstudy.documents.comparison.compare import (
    ABSOLUTE,
    LEFT_OUT,
    ORDERS,
    RELATIVE,
    Comparison,
    compare,
)
from kvstudy.documents.comparison.text import as_text
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.stats.ratios import Ratio, adjusted, unpaired_ratio
from scipy import stats

from tests.unit.two_runs import JARS, MACHINE, SIZES, write_run

# The stores' titles come from envs/stores.
pytestmark = pytest.mark.usefixtures("project")

OTHER_MACHINE = {**MACHINE, "CPU": ("Slow 1", "cores cores=2 threads=2")}
NOISE_A = (1.0, 1.03, 0.98)
NOISE_B = (1.01, 0.97, 1.02)


def speeds(scale: float = 1.0, noise=NOISE_A, **factors: float) -> dict:
    """Redis 1000, Memcached 2000, Riak 500 ops/s under A and C, times ``scale`` and a factor.

    ``noise`` is each repetition's and falls on every store alike; on top each store has
    a little of its own.
    """
    middles = {"redis": 1000.0, "memcached": 2000.0, "riak": 500.0}
    return {
        (store, workload): [
            scale * middle * factors.get(store, 1.0) * each * (1 + 0.002 * ((place + n) % 3 - 1))
            for n, each in enumerate(noise)
        ]
        for place, (store, middle) in enumerate(middles.items())
        for workload in ("a", "c")
    }


def pair(tmp_path: Path, a: dict, b: dict, base: str | None = None, **both) -> Comparison:
    """Compare two made runs; ``a_x=`` and ``b_x=`` are options of one, ``x=`` of both."""
    options = {
        side: {key[2:]: value for key, value in both.items() if key.startswith(f"{side}_")}
        | {key: value for key, value in both.items() if key[:2] not in ("a_", "b_")}
        for side in "ab"
    }
    write_run(tmp_path / "one", a, **options["a"])
    write_run(tmp_path / "two", b, **options["b"])
    return compare(str(tmp_path / "one"), str(tmp_path / "two"), base)


def by_place(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index(["workload", "store"])


def reasons(result: Comparison) -> list[tuple[str, ...]]:
    """(run, workload, store, repetitions, reason) of what is left out."""
    names = ["run", "workload", "store", "repetitions", "reason"]
    return list(result.left_out[names].itertuples(index=False, name=None))


def test_a_change_of_half_is_found_on_a_machine_of_another_speed(tmp_path):
    present = speeds(0.4, NOISE_B, memcached=1.5)
    result = pair(tmp_path, speeds(), present, b_machine=OTHER_MACHINE)
    assert result.base == "redis"
    assert list(result.changes) == RELATIVE
    table = by_place(result.changes)
    assert list(table.index) == [(w, s) for w in "ac" for s in ("memcached", "riak")]
    for workload in "ac":
        row = table.loc[workload, "memcached"]
        assert row.change == pytest.approx(1.5, rel=0.005)
        assert row.low < 1.5 < row.high
        assert (row.different, row.equal) == ("yes", "no")
        assert row.ratio_a == pytest.approx(2, rel=0.005)
        assert row.ratio_b == pytest.approx(3, rel=0.005)
        # What is another speed for all stores alike is no change.
        row = table.loc[workload, "riak"]
        assert row.change == pytest.approx(1, abs=0.005)
        assert (row.different, row.equal) == ("no", "yes")


def test_the_other_way_round_every_change_is_inverse(tmp_path):
    result = pair(tmp_path, speeds(), speeds(1.2, NOISE_B, riak=0.7))
    back = compare(str(tmp_path / "two"), str(tmp_path / "one"))
    for name in ("changes", "throughputs"):
        present, inverse = getattr(result, name), getattr(back, name)
        assert inverse["change"].tolist() == pytest.approx((1 / present["change"]).tolist())
        assert inverse["low"].tolist() == pytest.approx((1 / present["high"]).tolist())
        assert inverse["different"].tolist() == present["different"].tolist()


def test_numbers_as_scipy_computes_them_from_the_logs(tmp_path):
    rng = np.random.default_rng(5)
    drawn = [
        {
            (store, workload): (1000 * np.exp(rng.normal(0, 0.1, n))).tolist()
            for store in ("redis", "memcached", "riak")
            for workload in "ac"
        }
        for n in (5, 3)
    ]
    result = pair(tmp_path, *drawn)
    p_values = []
    for row in result.changes.itertuples():
        logs = [
            np.log(of[row.store, row.workload]) - np.log(of["redis", row.workload]) for of in drawn
        ]
        expected = stats.ttest_ind(logs[1], logs[0], equal_var=False)
        bounds = expected.confidence_interval(0.95)
        assert row.change == pytest.approx(exp(logs[1].mean() - logs[0].mean()))
        assert (row.low, row.high) == pytest.approx((exp(bounds.low), exp(bounds.high)))
        assert row.p == pytest.approx(expected.pvalue)
        for n, ratio, low, high, side in (
            (row.n_a, row.ratio_a, row.low_a, row.high_a, logs[0]),
            (row.n_b, row.ratio_b, row.low_b, row.high_b, logs[1]),
        ):
            selected = stats.ttest_1samp(side, 0).confidence_interval(0.95)
            assert n == len(side)
            assert (ratio, low, high) == pytest.approx(
                (exp(side.mean()), exp(selected.low), exp(selected.high))
            )
        margin = log(1.1)
        outside = max(
            stats.ttest_ind(logs[1] + margin, logs[0], equal_var=False, alternative="greater"),
            stats.ttest_ind(logs[1] - margin, logs[0], equal_var=False, alternative="less"),
            key=lambda test: test.pvalue,
        )
        assert row.equivalence_p == pytest.approx(outside.pvalue)
        p_values.append(row.p)
    holm = adjusted({number: Ratio(1.0, 3, p=p) for number, p in enumerate(p_values)})
    assert result.changes["p_adjusted"].tolist() == pytest.approx(
        [of.p_adjusted for of in holm.values()]
    )
    for row in result.throughputs.itertuples():
        logs = [np.log(of[row.store, row.workload]) for of in drawn]
        expected = stats.ttest_ind(logs[1], logs[0], equal_var=False)
        bounds = expected.confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((exp(bounds.low), exp(bounds.high)))
        assert row.p == pytest.approx(expected.pvalue)
        assert row.throughput_a == pytest.approx(stats.gmean(drawn[0][row.store, row.workload]))
        assert row.throughput_b == pytest.approx(stats.gmean(drawn[1][row.store, row.workload]))


def test_repetitions_are_paired_by_their_number(tmp_path):
    """What falls on a whole repetition cancels out, whatever its place in the other run."""
    result = pair(
        tmp_path, speeds(noise=(1, 0.5, 2)), speeds(noise=(4, 1, 0.3)), b_machine=OTHER_MACHINE
    )
    assert result.changes["change"].tolist() == pytest.approx([1] * 4, abs=0.01)
    assert (result.changes["equal"] == "yes").all()


def test_throughputs_compare_on_one_machine_only(tmp_path):
    result = pair(tmp_path, speeds(), speeds(1.3, NOISE_B))
    assert result.two_machines == ""
    assert list(result.throughputs) == ABSOLUTE
    table = by_place(result.throughputs)
    assert len(table) == 6
    assert table.loc["a", "redis"].change == pytest.approx(1.3, rel=0.01)
    assert (table["different"] == "yes").all()
    assert (result.changes["different"] == "no").all()


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"CPU": ("Slow 1", MACHINE["CPU"][1])}, "the machines differ in CPU (Quick 9 and Slow 1)"),
        (
            {"CPU": ("Quick 9", "cores-clock cores=4 threads=4 clock=3000")},
            "the machines differ in cores (4 cores, 8 hardware threads usable and 4 cores, "
            "4 hardware threads usable)",
        ),
        ({"Memory": ("8.0 GiB", "")}, "the machines differ in memory (16.0 GiB and 8.0 GiB)"),
        ({"CPU": ("not visible", "4 cores")}, "run B does not record CPU, cores and memory"),
    ],
)
def test_other_machines_leave_the_throughputs_out(tmp_path, other, reason):
    result = pair(tmp_path, speeds(), speeds(1.3, NOISE_B), b_machine={**MACHINE, **other})
    assert result.two_machines == reason
    assert result.throughputs.empty
    assert len(result.changes) == 4


def test_the_clock_rate_of_the_moment_makes_no_other_machine(tmp_path):
    other = {**MACHINE, "CPU": ("Quick 9", MACHINE["CPU"][1].replace("3000", "1200"))}
    assert pair(tmp_path, speeds(), speeds(1.3), b_machine=other).two_machines == ""


def test_a_run_of_two_machines_or_of_none_has_no_rates_to_compare(tmp_path):
    pair(tmp_path, speeds(), speeds(1.3, NOISE_B))
    path = tmp_path / "two/environment.json"
    environment = json.loads(path.read_text())
    second = [part | {"name": "other"} for part in environment["machines"][0]]
    path.write_text(json.dumps(environment | {"machines": [*environment["machines"], second]}))
    both = [str(tmp_path / "one"), str(tmp_path / "two")]
    assert compare(*both).two_machines == "run B was measured on 2 machines"
    for nothing in ([], [None]):
        path.write_text(json.dumps(environment | {"machines": nothing}))
        assert compare(*both).two_machines == "run B does not record CPU, cores and memory"


def test_what_differs_and_what_is_the_same(tmp_path):
    result = pair(
        tmp_path,
        speeds(),
        {key: runs[:2] for key, runs in speeds(1.3).items()},
        b_machine=OTHER_MACHINE,
        a_versions={"redis": "7.0"},
        b_versions={"redis": "7.4"},
        b_jars={"core-0.18.0.jar": "c", "jedis-8.0.jar": "2" * 64, "new.jar": "3" * 64},
        b_seed=9,
    )
    facts = result.facts.set_index("what")
    assert facts.loc[facts["same"] == "no", ["a", "b"]].T.to_dict("list") == {
        "study": ["one", "two"],
        "CPU": [", ".join(map(sentence, machine["CPU"])) for machine in (MACHINE, OTHER_MACHINE)],
        "YCSB": ["0.17.0", "0.18.0"],
        "version of Redis": ["7.0", "7.4"],
        "repetitions (n)": ["3", "2"],
        "seed of the order": ["1", "9"],
        "client's files": [
            "core-0.17.0.jar, jedis-8.0.jar (11111111)",
            "core-0.18.0.jar, jedis-8.0.jar (22222222), new.jar",
        ],
    }
    same = facts[facts["same"] == "yes"].index
    assert {"Memory", "Java", "YCSB client", "servers run as", "sizes of workload a"} <= set(same)


def test_other_parameters_do_not_match_and_are_listed(tmp_path):
    larger = {"a": SIZES, "c": "r9000_o5000_t2"}
    result = pair(tmp_path, speeds(), speeds(1.3), b_parameters=larger)
    assert set(result.changes["workload"]) == {"a"}
    present = "other parameters: the other run has {} records, 5 000 operations, 2 threads"
    narrow = "\N{NARROW NO-BREAK SPACE}"
    assert reasons(result) == [
        ("A", "c", "", "", present.format("9 000").replace(" 000", f"{narrow}000")),
        ("B", "c", "", "", present.format("1 000").replace(" 000", f"{narrow}000")),
    ]
    assert list(result.left_out) == LEFT_OUT


def test_workloads_of_the_same_name_with_other_properties_do_not_match(tmp_path):
    result = pair(
        tmp_path, speeds(), speeds(1.3), b_properties={"c": {"readproportion": "1", "x": "2"}}
    )
    assert set(result.changes["workload"]) == {"a"}
    assert reasons(result) == [
        ("both", "c", "", "", "is another workload in each: x is not set in A, 2 in B")
    ]


def test_what_one_run_lacks_is_listed(tmp_path):
    present = speeds(1.3)
    del present["riak", "a"], present["riak", "c"]
    present = {key: runs for key, runs in present.items() if key[1] == "a"}
    present |= {("mysql", "a"): [1.0, 2.0, 3.0]}
    result = pair(tmp_path, speeds(), present)
    assert reasons(result) == [
        ("A", "", "riak", "", "the other run has no such store"),
        ("B", "", "mysql", "", "the other run has no such store"),
        ("A", "c", "", "", "the other run has no such workload"),
    ]


def test_cells_without_a_value_are_listed_with_their_reason(tmp_path):
    gaps = {
        ("memcached", "a", 1): ("failed", "it died", ""),
        ("riak", "a", 1): ("measured", "", "5.00% failed"),
        ("riak", "a", 3): ("measured", "", "5.00% failed"),
        ("riak", "c", 1): ("not measured", "", ""),
        ("riak", "c", 2): ("not measured", "", ""),
        ("riak", "c", 3): ("not measured", "", ""),
    }
    result = pair(tmp_path, speeds(), speeds(1.3), b_gaps=gaps)
    assert reasons(result) == [
        ("B", "a", "memcached", "1", "failed: it died"),
        ("B", "a", "riak", "1, 3", "invalid: 5.00% failed"),
        ("B", "c", "riak", "1, 2, 3", "not measured"),
    ]
    table = by_place(result.changes)
    assert ("c", "riak") not in table.index
    assert table.loc["a", "memcached"][["n_a", "n_b"]].tolist() == [3, 2]
    # One repetition that is left shows no interval, and no verdict.
    row = table.loc["a", "riak"]
    assert (row.n_b, row.different, row.equal) == (1, "", "")
    assert np.isnan([row.low, row.high, row.p, row.p_adjusted, row.equivalence_p]).all()
    assert result.changes["p_adjusted"].notna().sum() == 2


def test_stores_without_a_common_repetition_are_listed(tmp_path):
    gaps = {("redis", "a", 1): ("failed", "x", ""), ("redis", "a", 2): ("failed", "x", "")}
    gaps |= {("riak", "a", 3): ("failed", "y", "")}
    result = pair(tmp_path, speeds(), speeds(1.3), b_gaps=gaps)
    assert ("B", "a", "riak", "", "no repetition that has a value of redis too") in reasons(result)
    expected = "no order: two stores have no repetition in common"
    assert ("B", "a", "", "", expected) in reasons(result)
    assert list(result.orders["workload"]) == ["c"]
    assert len(by_place(result.throughputs)) == 6


def test_a_workload_without_the_base_is_listed(tmp_path):
    gaps = {("redis", "a", n): ("failed", "x", "") for n in (1, 2, 3)}
    result = pair(tmp_path, speeds(), speeds(1.3), base="redis", b_gaps=gaps)
    assert set(result.changes["workload"]) == {"c"}
    assert ("both", "a", "", "", "no value of redis in both runs to divide by") in reasons(result)


def test_the_base_is_the_first_store_that_serves_most_workloads(tmp_path):
    gaps = {("redis", "a", n): ("failed", "x", "") for n in (1, 2, 3)}
    result = pair(tmp_path, speeds(), speeds(1.3), a_gaps=gaps)
    assert result.base == "memcached"
    other = compare(str(tmp_path / "one"), str(tmp_path / "two"), "riak")
    assert set(other.changes["base"]) == {"riak"}
    with pytest.raises(KvstudyError, match=r"--baseline rak: not a store .* did you mean 'riak'"):
        compare(str(tmp_path / "one"), str(tmp_path / "two"), "rak")


def test_a_name_for_two_kinds_of_store_is_not_shared(tmp_path):
    result = pair(tmp_path, speeds(), speeds(1.3), b_folders={"riak": "cassandra"})
    reason = "is another store in each: folder is riak in A, cassandra in B"
    assert reasons(result) == [("both", "", "riak", "", reason)]
    assert set(result.changes["store"]) == {"memcached"}


def test_controls_that_are_no_stores_of_the_study_stay_out(tmp_path):
    again = {("redis-again", "a"): [1.0, 1.1, 1.2], ("client-ceiling", "a"): [9.0, 9.1, 9.2]}
    result = pair(tmp_path, speeds(), speeds(1.3), controls=again)
    plain = pair(tmp_path / "plain", speeds(), speeds(1.3))
    pd.testing.assert_frame_equal(result.changes, plain.changes)
    assert result.left_out.empty
    assert len(result.a.speeds) == 18


def test_order_of_the_stores(tmp_path):
    result = pair(tmp_path, speeds(), speeds(0.5, NOISE_B, riak=4.0, redis=2.0))
    assert list(result.orders) == ORDERS
    row = result.orders.iloc[0]
    assert row["order_a"] == "memcached > redis > riak"
    # In B all three have 1000 ops/s, with so little noise that this is shown.
    assert row["order_b"].count("=") == 2
    assert row[["pairs", "same", "opposite", "neither"]].tolist() == [3, 0, 0, 3]
    turned = pair(tmp_path / "turned", speeds(), speeds(0.5, NOISE_B, riak=8.0))
    row = turned.orders.iloc[0]
    assert row["order_b"] == "riak > memcached > redis"
    assert row[["pairs", "same", "opposite", "neither"]].tolist() == [3, 1, 2, 0]
    assert row["tau"] == pytest.approx(-1 / 3)


def test_one_shared_store_compares_on_one_machine_only(tmp_path):
    alone = {key: runs for key, runs in speeds(1.3).items() if key[0] == "redis"}
    result = pair(tmp_path, speeds(), alone)
    assert result.base is None
    assert result.changes.empty
    assert len(result.throughputs) == 2
    with pytest.raises(KvstudyError, match=r"share one store only, redis, and the machines differ"):
        pair(tmp_path / "far", speeds(), alone, b_machine=OTHER_MACHINE)


def test_nothing_in_common_is_an_error(tmp_path):
    other = {("mysql", "a"): [1.0, 2.0]}
    with pytest.raises(KvstudyError, match=r"no shared store: run A has redis, memcached, riak"):
        pair(tmp_path / "1", speeds(), other)
    other = {("redis", "f"): [1.0, 2.0]}
    with pytest.raises(KvstudyError, match=r"no common workload: run A has a, c, run B has f\."):
        pair(tmp_path / "2", speeds(), other)
    with pytest.raises(KvstudyError, match=r"no common workload with the same parameters: other"):
        pair(tmp_path / "3", speeds(), speeds(1.3), b_parameters="r1_o1_t1")
    gaps = {(*key, n): ("failed", "it died", "") for key in speeds() for n in (1, 2, 3)}
    with pytest.raises(KvstudyError, match=r"values on both sides: redis: failed: it died"):
        pair(tmp_path / "4", speeds(), speeds(1.3), b_gaps=gaps)


def test_a_run_compared_with_itself_is_refused(tmp_path):
    write_run(tmp_path / "one", speeds())
    one = str(tmp_path / "one")
    with pytest.raises(KvstudyError, match=r"one: is the same folder as"):
        compare(one, f"{one}/../one")
    shutil.copytree(tmp_path / "one", tmp_path / "copy")
    with pytest.raises(KvstudyError, match=r"copy: has the same measured values as .*one"):
        compare(one, str(tmp_path / "copy"))


def test_runs_are_found_by_name_or_path():
    write_run(Path("results/before"), speeds())
    write_run(Path("elsewhere/before"), speeds(1.3))
    result = compare("before", "elsewhere/before")
    assert (result.a.folder, result.b.folder) == (Path("results/before"), Path("elsewhere/before"))
    Path("results/raw-only/raw").mkdir(parents=True)
    with pytest.raises(KvstudyError, match=r"raw-only: is not a finished run, it has no cells.csv"):
        compare("raw-only", "before")


@pytest.mark.parametrize("name", ["cells.csv", "measurements.csv"])
def test_a_missing_column_names_file_and_remedy(tmp_path, name):
    column = {"cells.csv": "status", "measurements.csv": "unit"}[name]
    with pytest.raises(KvstudyError, match=rf"two/{name}: no column {column}.*kvstudy parse"):
        pair(tmp_path, speeds(), speeds(1.3), b_drop={name: column})


def test_an_environment_of_another_version_is_refused(tmp_path):
    pair(tmp_path, speeds(), speeds(1.3))
    path = tmp_path / "two/environment.json"
    good = json.loads(path.read_text())

    def refused(environment: object, message: str) -> None:
        path.write_text(json.dumps(environment))
        with pytest.raises(KvstudyError, match=rf"environment\.json.*{message}.*kvstudy parse"):
            compare(str(tmp_path / "one"), str(tmp_path / "two"))

    refused({key: good[key] for key in ("machines", "stores")}, "has no key 'study'")
    refused([], "has no key 'stores'")
    study = {key: value for key, value in good["study"].items() if key != "seed"}
    refused(good | {"study": study}, r"study\.seed: Field required")
    refused(good | {"machines": ["PC"]}, r"machines\.0: Input should be a valid list")
    refused(good | {"stores": []}, "another version")
    path.write_text("{")
    with pytest.raises(KvstudyError, match=r"environment\.json: cannot be read"):
        compare(str(tmp_path / "one"), str(tmp_path / "two"))


def test_the_same_files_are_not_named(tmp_path):
    result = pair(tmp_path, speeds(), speeds(1.3), jars=JARS)
    row = result.facts.set_index("what").loc["client's files"]
    assert row[["a", "b", "same"]].tolist() == ["2 files", "2 files", "yes"]


def test_repetitions_of_imported_runs_are_not_paired(tmp_path):
    """What all stores share in a repetition does not cancel out: it only has the same number."""
    noise = (1.0, 1.5, 0.7)
    paired = pair(tmp_path / "own", speeds(1, noise), speeds(1, noise, memcached=1.5))
    assert set(by_place(paired.changes).loc[("a", "memcached"), ["different"]]) == {"yes"}
    runs = [speeds(1, noise), speeds(1, noise, memcached=1.5)]
    result = pair(tmp_path / "theirs", *runs, b_imported=True)
    row = by_place(result.changes).loc["a", "memcached"]
    assert row.different == "no"
    assert row.change == pytest.approx(1.5, rel=0.005)
    expected = unpaired_ratio(runs[1]["memcached", "a"], runs[1]["redis", "a"])
    assert (row.ratio_b, row.low_b, row.high_b) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )
    assert row.high_a - row.low_a < 0.1 < row.high_b - row.low_b
    order = result.orders.set_index("workload").loc["a"]
    assert "redis > riak" in order.order_a
    assert "redis ~ riak" in order.order_b
    assert "Run B has imported logs" in as_text(result)
    assert "has imported logs" not in as_text(paired)


def test_a_time_that_is_added_to_all_latencies_is_told_from_a_factor(tmp_path):
    again = speeds(noise=NOISE_B)
    slower = pair(tmp_path / "time", speeds(), again, a_added=0, b_added=700)
    best, *others = slower.latency_models
    assert best.difference == "operation"
    assert best.constant == pytest.approx(700, rel=0.02)
    assert best.worst_error < 0.02 < min(each.median_error for each in others)
    assert re.search(r"those of run A plus (69\d|70\d|71\d) µs", as_text(slower))
    assert len(slower.latencies) == 6
    half = pair(tmp_path / "factor", speeds(), speeds(0.5), a_added=0, b_added=0)
    assert half.latency_models[0].difference == "factor"
    assert "2.00 times those of run A" in as_text(half)


def test_runs_without_latencies_say_nothing_of_them(tmp_path):
    result = pair(tmp_path, speeds(), speeds(noise=NOISE_B))
    assert result.latency_models == []
    assert "Mean latencies" not in as_text(result)
