"""Results of other benchmarks: ranks, ratios, refusals; files are as those programs write them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.documents.others import compare_systems
from kvstudy.errors import KvstudyError
from kvstudy.logs.others import clickbench, go_ycsb, memtier, redis_benchmark
from kvstudy.logs.others.read import find_results, guess_files

from tests import project as tested

HEADER = (
    '"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms",'
    '"p99_latency_ms","max_latency_ms"\n'
)


def redis_csv(**rates: float) -> str:
    return HEADER + "".join(
        f'"{test}","{rate:.2f}","0.272","0.080","0.239","0.463","0.575","1.079"\n'
        for test, rate in rates.items()
    )


def memtier_stats(rate: float) -> dict:
    operation = {"Count": 1000, "Ops/sec": rate / 2, "Latency": 0.3, "Average Latency": 0.3}
    totals = operation | {"Ops/sec": rate, "Percentile Latencies": {"p50.00": 0.2}}
    return {"Sets": operation, "Gets": operation, "Totals": totals}


def memtier_json(*rates: float, **configuration: object) -> str:
    """One run as ALL STATS, several as with --print-all-runs."""
    sections = {f"RUN #{number} RESULTS": rate for number, rate in enumerate(rates, start=1)}
    if len(rates) == 1:
        sections = {"ALL STATS": rates[0]}
    content = {
        "configuration": {"server": "localhost", "port": 6379, "threads": 4, "pipeline": 1}
        | configuration,
        "run information": {"Threads": 4, "Connections per thread": 50},
    }
    content |= {name: memtier_stats(rate) for name, rate in sections.items()}
    return json.dumps(content, indent=1)


PROPERTIES = (
    "***************** properties *****************\n"
    '"readproportion"="0.5"\n"updateproportion"="0.5"\n"threadcount"="4"\n'
    '"dotransactions"="true"\n'
    "**********************************************\n"
)


def go_line(operation: str, rate: float) -> str:
    return (
        f"{operation:6} - Takes(s): 9.9, Count: 1000, OPS: {rate:.1f}, Avg(us): 191, Min(us): 47, "
        "Max(us): 3531, 99th(us): 460\n"
    )


def go_log(read: float, update: float) -> str:
    interim = go_line("READ", read / 3) + go_line("UPDATE", update / 3)
    final = go_line("READ", read) + go_line("UPDATE", update)
    return f"{PROPERTIES}{interim}Run finished, takes 9.9s\n{final}"


def clickbench_json(system: str, *times: list, machine: str = "c6a.4xlarge") -> str:
    content = {"system": system, "date": "2026-05-11", "machine": machine, "cluster_size": 1}
    return json.dumps(content | {"load_time": 58, "data_size": 1, "result": list(times)})


def take(logs: dict[str, str]) -> str:
    for name, text in logs.items():
        path = Path("logs", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tested.kvstudy("import", "logs", "--study", "other").output


REDIS = {
    **{
        f"redis/{n}.csv": redis_csv(SET=rate, GET=100.0)
        for n, rate in ((1, 100), (2, 102), (3, 101))
    },
    **{
        f"valkey/{n}.csv": redis_csv(SET=rate, GET=100.1)
        for n, rate in ((1, 150), (2, 151), (3, 149))
    },
}


def test_repetitions_of_two_systems_are_ranked_and_compared(project):
    out = take(REDIS)
    assert "6 result files of redis-benchmark" in out
    assert "redis/2.csv: redis, repetition 2" in out
    assert "valkey / redis: 1.49 times as fast, 95 % interval 1.4" in out
    assert "valkey is faster" in out
    assert "equal within ±10 %" in out
    assert "noise floor is unknown" in out
    pairs = pd.read_csv("results/imported/other/pairs.csv").set_index("test")
    assert pairs.loc["SET", "ratio"] == pytest.approx(
        (150 * 151 * 149 / 100 / 102 / 101) ** (1 / 3)
    )
    assert pairs.loc["SET", "decision"] == "faster"
    assert pairs.loc["GET", "decision"] == "equal"
    assert len(pd.read_csv("results/imported/other/values.csv")) == 12


def test_ranks_have_ties(project):
    slow = {f"slow/{n}.csv": redis_csv(SET=50 + n, GET=20 + n / 10) for n in (1, 2, 3)}
    out = take(REDIS | slow)
    get = out[out.index("GET (ops/s") :]
    assert "  1 to 2  " in get
    assert "  3       slow" in get


def test_one_run_tells_nothing(project):
    out = take({"a.csv": redis_csv(SET=10), "b.csv": redis_csv(SET=20)})
    assert "One run shows nothing about its spread, so nothing can be told from it" in " ".join(
        out.split()
    )
    assert out.index("One run shows") < out.index("SET (ops/s")
    assert "b / a: 2.00 times as fast: one run does not decide" in out
    assert "faster\n" not in out


def test_one_system_is_nothing_to_compare(project):
    out = take({f"run{n}.csv": redis_csv(SET=10 + n) for n in (1, 2)})
    assert "there is nothing to compare" in out


def test_the_file_of_systems_can_be_corrected(project):
    take({"x.csv": redis_csv(SET=10), "y.csv": redis_csv(SET=11)})
    files = Path("results/imported/other/files.csv")
    files.write_text("file,system,repetition\nx.csv,redis,1\ny.csv,redis,2\n")
    assert "2 runs, standard deviation" in take({})
    for text, message in (
        ("file,system,repetition\nx.csv,redis,1\n", "has no row for y.csv"),
        ("file,system,repetition\nx.csv,redis,0\ny.csv,redis,2\n", "line 2: needs a system"),
        ("file,system,repetition\nx.csv,a,1\ny.csv,a,1\n", "are both repetition 1 of a"),
        ("file,system\nx.csv,a\n", "must be file,system,repetition"),
        ("file,system,repetition\nz.csv,a,1\n", "z.csv: no such result"),
    ):
        files.write_text(text)
        with pytest.raises(KvstudyError, match=message):
            take({})


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["redis/1.csv", "redis/2.csv"], [("redis", 1), ("redis", 2)]),
        (["redis-0.csv", "redis-1.csv"], [("redis", 1), ("redis", 2)]),
        (["redis-7.csv", "redis-8.csv"], [("7", 1), ("8", 1)]),
        (["redis-7_run3.csv", "valkey-8_run3.csv"], [("redis-7", 3), ("valkey-8", 3)]),
        (["out/a-rep-2.csv", "out/b-rep-2.csv"], [("a", 2), ("b", 2)]),
        (["memtier-redis.csv", "memtier-keydb.csv"], [("redis", 1), ("keydb", 1)]),
    ],
)
def test_systems_and_repetitions_are_guessed_from_paths(tmp_path, names, expected):
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(redis_csv(SET=10))
    guessed = guess_files(find_results(tmp_path))
    assert [guessed[name] for name in names] == expected


def test_phase_and_workload_are_no_part_of_a_system_of_go_ycsb(tmp_path):
    for name in ("redis-workloada-run-1.log", "redis-workloada-load-1.log", "mongo-run-1.log"):
        (tmp_path / name).write_text(go_log(10, 10))
    guessed = guess_files(find_results(tmp_path))
    assert {system for system, _number in guessed.values()} == {"redis", "mongo"}


def test_memtier_has_each_run_of_a_call():
    of = memtier.read(memtier_json(100, 101, 102))
    assert [run[memtier.TEST] for run in of.runs] == [100, 101, 102]
    assert "on the same server" in of.notes[0]
    assert memtier.read(memtier_json(100)).notes == ()


def test_memtier_s_mean_of_runs_is_not_taken_for_runs():
    content = json.loads(memtier_json(1, run_count=3))
    stats = content.pop("ALL STATS")
    content |= {"BEST RUN RESULTS": stats, "WORST RUN RESULTS": stats}
    with pytest.raises(KvstudyError, match=r"best, the worst and the mean of 3 runs.*--print-all"):
        memtier.read(json.dumps(content))
    content["configuration"]["run_count"] = 2
    assert len(memtier.read(json.dumps(content)).runs) == 2


def test_different_conditions_are_refused(project):
    with pytest.raises(KvstudyError, match=r"different values of pipeline \(1 and 16\)"):
        take({"a.json": memtier_json(100), "b.json": memtier_json(100, pipeline=16)})
    one, other = (clickbench_json(name, [3, 1, 1], machine=name) for name in "ab")
    Path("logs/a.json").unlink()
    with pytest.raises(KvstudyError, match="different values of machine"):
        take({"c.json": one, "b.json": other})


def test_go_ycsb_s_last_results_count():
    of = go_ycsb.read(go_log(100, 90))
    assert of.runs == [{"50 % read, 50 % update": pytest.approx(190)}]
    assert "rates of its operations were added" in of.notes[0]
    total = go_ycsb.read(go_log(100, 90) + go_line("TOTAL", 185))
    assert total.runs == [{"50 % read, 50 % update": 185}]
    loaded = "Run finished, takes 1s\n" + go_line("INSERT", 50)
    assert go_ycsb.read(loaded).runs == [{"load": 50}]


@pytest.mark.parametrize("form", ["table", "JSON"])
def test_go_ycsb_s_other_styles_have_the_same_values(form):
    rows = [("READ", "9.9", "1000", "100.0"), ("UPDATE", "9.9", "1000", "90.0")]
    heads = ["Operation", "Takes(s)", "Count", "OPS"]
    if form == "table":
        lines = [heads, *rows]
        text = "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("Takes", "TAKES")
    else:
        text = json.dumps([dict(zip(heads, row, strict=True)) for row in rows])
    of = go_ycsb.read(f"{PROPERTIES}Run finished, takes 9.9s\n{text}")
    assert of.runs == [{"50 % read, 50 % update": pytest.approx(190)}]


def test_clickbench_s_first_try_is_cold_and_left_out():
    of = clickbench.read(clickbench_json("A", [9, 1, 2], [9, None, 3]))
    assert of.runs == [{"Q1": 1}, {"Q1": 2, "Q2": 3}]
    assert "empty caches" in of.notes[0]


def test_of_times_the_smaller_is_faster():
    rows = [
        ("Q1", name, str(n), time + n / 100) for name, time in (("a", 1), ("b", 2)) for n in (1, 2)
    ]
    pair = compare_systems(rows, "s").pairs.iloc[0]
    assert (pair["faster"], pair["slower"]) == ("a", "b")
    assert pair["ratio"] == pytest.approx(((2.01 * 2.02) / (1.01 * 1.02)) ** 0.5)


def test_many_tests_are_counted_and_their_mean_is_shown(project):
    times = {"a": 1.0, "b": 2.0}
    out = take(
        {
            f"{name}.json": clickbench_json(name, *([9, time, time * 1.01] for _ in range(8)))
            for name, time in times.items()
        }
    )
    assert "Of 8 tests: a is faster in 8, b in 0, equal in 0, undecided in 0." in out
    assert "geometric mean of all tests (s, smaller is faster)" in out
    assert "a / b: 2.00 times as fast" in out
    assert "Q1 (s" not in out


def test_two_benchmarks_in_a_folder_are_refused(project):
    with pytest.raises(KvstudyError, match="import each from its own folder"):
        take({"a.csv": redis_csv(SET=10), "b.json": memtier_json(100)})


CUT = memtier_json(100)
INTERRUPTED = memtier_json(100).replace(
    '"Threads": 4,', '"Benchmark completion status": "INTERRUPTED (stopped before full run)",'
)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", CUT[: CUT.index("Totals")], r"line \d+, column \d+: is no JSON .* cut"),
        ("a.json", INTERRUPTED, "was interrupted"),
        ("a.json", memtier_json(0), '"Ops/sec": is 0'),
        ("a.json", CUT.replace("Totals", "Other"), '"ALL STATS": has no "Totals"'),
        ("a.csv", redis_csv(SET=10, GET=10)[:-30], "line 3: has 5 of 8 columns; the file is cut"),
        ("a.csv", HEADER, "has a header and no test below it"),
        ("a.csv", redis_csv(SET=0), "line 2: SET: is 0"),
        ("a.txt", PROPERTIES + go_line("READ", 10), "has no line 'Run finished'"),
        (
            "a.txt",
            f"{PROPERTIES}{go_line('READ', 10)}Run finished, takes 1s\n",
            "nothing is below",
        ),
        ("a.json", clickbench_json("A", [1], [2]), "one time for each query"),
        ("a.json", clickbench_json("", [1, 2, 3]), '"system": is no name'),
        ("a.json", clickbench_json("A", [1, "x", 3]), "query 1: 'x' is no number"),
        ("a.json", clickbench_json("A", [1, 2, 3])[:-9], "is no JSON"),
    ],
)
def test_wrong_and_cut_files_are_refused_by_name(project, name, text, message):
    with pytest.raises(KvstudyError, match=f"(?s)logs/{name}: .*{message}"):
        take({name: text})
    Path("logs", name).unlink()
    # A good one beside it is compared.
    good = {"x.csv": redis_csv(SET=10)} if name == "a.csv" else None
    if good:
        assert f"not read: logs/{name}: redis-benchmark" in take(good | {name: text})


def test_old_csv_has_no_header():
    assert redis_benchmark.recognises('"SET","101010.10"\n"GET","99009.90"\n')
    assert redis_benchmark.read('"SET","101010.10"\n"GET","99009.90"\n').runs == [
        {"SET": 101010.10, "GET": 99009.90}
    ]
    assert not redis_benchmark.recognises('name,"A","1.0"\n')
