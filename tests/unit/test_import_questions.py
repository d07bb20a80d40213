"""Values that a log gives twice must agree; what two readings fit is asked, never guessed."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from itertools import count, product
from pathlib import Path

import pytest
from kvstudy.logs.imports.guess import guess_rows
from kvstudy.logs.imports.mapping import Row
from kvstudy.logs.imports.sources import find_sources

from tests.foreign_logs import interleaved, prefixed
from tests.project import ROOT
from tests.ycsb_logs import RunLog, write_logs

LOAD = RunLog(phase="load")
RUN = RunLog()


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Write logs and return their rows by name, before anybody has looked at them."""
    monkeypatch.chdir(ROOT)
    folders = count()

    def read(logs: dict[str, RunLog]) -> dict[str, Row]:
        folder = tmp_path / str(next(folders))
        write_logs(folder, logs)
        sources = find_sources(folder)[0]
        guess_rows(sources, folder, "jan")
        return {source.name: source.row for source in sources}

    return read


def questions_text(rows: dict[str, Row]) -> str:
    """All questions, and what is missing."""
    return "\n".join(" ".join([row.question, *row.missing]) for row in rows.values()).strip()


# --- threads


@pytest.mark.parametrize(
    ("log", "question"),
    [
        (RUN, ""),
        # A binding that measures its own cleanup closes each connection twice.
        (replace(RUN, closed=16), ""),
        (replace(RUN, closed=4, share=0.4), "8 threads by its command, 4 by [CLEANUP]"),
        (replace(RUN, closed=16, share=0.45), "8 threads by its command, 16 by [CLEANUP]"),
        (replace(RUN, threads=16, command_threads=8), "8 threads by its command, 16 by [CLEANUP]"),
        (replace(RUN, share=1.3), "8 threads by its command, over 10.4 by its latencies"),
        # Whoever waits for a target rate is seldom in a call.
        (replace(RUN, share=0.1, properties=("target=100",)), ""),
        (replace(RUN, share=0.1), ""),
        # The latencies of a target rate are longer than the calls were.
        (replace(RUN, share=3, properties=("measurement.interval=intended",)), ""),
        # YCSB starts no more threads than there are operations.
        (replace(RUN, operations=4, threads=4, command_threads=8), ""),
    ],
)
def test_threads_agree(read, log, question):
    rows = read({"redis-1.log": log})
    assert questions_text(rows) == question
    assert question or rows["redis-1.log"].threads == min(log.threads, log.operations)


@pytest.mark.parametrize(
    ("log", "threads"),
    [
        (RUN, 8),
        # 8 connections by 4 threads, closed twice; or 8 threads that were idle half of the time.
        (replace(RUN, threads=4, closed=8, share=0.97), None),
        (replace(RUN, threads=4, closed=2), None),
    ],
)
def test_threads_that_no_command_says(read, log, threads):
    """There is no command, or they are in a workload file that is not here."""
    for other in (replace(log, has_command=False), replace(log, command_threads=0)):
        rows = read({"redis-workloada-1.log": other})
        assert rows["redis-workloada-1.log"].threads == threads
        assert ("[CLEANUP] counts" in questions_text(rows)) == (threads is None)


# --- names


@pytest.mark.parametrize(
    ("name", "log", "question"),
    [
        ("t8/redis-1.log", RUN, ""),
        ("8threads/redis-1.log", RUN, ""),
        ("threads-8/redis-1.log", RUN, ""),
        ("t16/redis-1.log", RUN, "8 threads by the log, 16 by its name"),
        ("redis_4_threads.log", RUN, "8 threads by the log, 4 by its name"),
        ("mongodb/1.log", RUN, "store redis by its binding, mongodb by its name"),
        ("mongo/1.log", RUN, "store redis by its binding, mongodb by its name"),
        ("redis-or-mongodb/1.log", RUN, ""),
        (
            "keydb/1.log",
            RUN,
            "store redis by its binding, keydb (which needs 'kvstudy new store keydb') by its name",
        ),
        ("redis/workloadb.log", RUN, "workload a by its command, b by its name"),
        ("redis/a1.log", RUN, ""),
        ("redis-load.log", RUN, "a run by its command, a load by its name"),
        ("load-test/redis.log", RUN, ""),
        ("run1/redis-insert.log", LOAD, ""),
        ("redis-run.log", LOAD, "a load by its command, a run by its name"),
    ],
)
def test_a_name_is_compared_with_its_log(read, name, log, question):
    assert questions_text(read({name: log})) == question


def test_a_folder_says_which_of_two_stores_with_one_binding(read):
    rows = read({f"{store}/run{n}.log": RUN for store in ("redis", "valkey") for n in (1, 2)})
    assert [(row.store, row.repetition) for row in rows.values()] == [
        *[("redis", 1), ("redis", 2), ("valkey", 1), ("valkey", 2)]
    ]
    assert not questions_text(rows)


@pytest.mark.parametrize(
    ("binding", "store"),
    [
        ("site.ycsb.db.couchbase2.Couchbase2Client", "couchbase"),
        ("site.ycsb.db.scylla.ScyllaCQLClient", "scylla"),
        ("site.ycsb.db.hbase2.HBaseClient2", "hbase"),
        ("com.yahoo.ycsb.db.JanusGraphClient", "janusgraph"),
        ("hbase20", "hbase"),
    ],
)
def test_an_unknown_binding_names_its_store(read, binding, store):
    assert read({"1.log": replace(RUN, store=binding)})["1.log"].store == store


# --- repetitions


@pytest.mark.parametrize(
    "names",
    [
        ("redis-1.log", "redis-2.log", "redis-3.log"),
        ("rep1/redis.log", "rep2/redis.log"),
        ("rep1/redis-1.log", "rep2/redis-2.log"),
        ("redis/run-1.txt", "redis/run-2.txt", "redis/run-10.txt"),
        ("r0/redis.log", "r1/redis.log"),
        ("2024-03-01/redis.log", "2024-03-02/redis.log"),
        ("redis_20240301_1015.log", "redis_20240301_1142.log"),
        ("1-mar/redis.log", "2-mar/redis.log"),
        ("redis-1709280000.log", "redis-1709290000.log"),
        ("redis.o123456789", "redis.o123456790"),
        ("redis.log", "redis-2.log"),
        ("1st/redis.log", "2nd/redis.log"),
        ("redis trial 4.log", "redis trial 7.log"),
    ],
)
def test_repetitions(read, names):
    rows = read(dict.fromkeys(names, RUN))
    assert questions_text(rows) == ""
    assert {row.store for row in rows.values()} == {"redis"}
    assert sorted(row.repetition for row in rows.values()) == [*range(1, len(names) + 1)]


@pytest.mark.parametrize(
    "names",
    [
        ("redis-6.2/1.log", "redis-7.2/1.log"),
        ("r5/redis-1.log", "r6g/redis-1.log"),
        ("r5/redis.log", "r7/redis.log"),
        ("aof-on/redis-1.log", "aof-off/redis-1.log"),
        ("host1/redis.log", "host2/redis.log"),
        ("redis-v1.log", "redis-v2.log"),
        ("before/redis-1.log", "after/redis-1.log"),
        ("redis5/1.log", "redis7/1.log"),
        ("redis/1.log", "keydb/1.log"),
        ("nodes3/redis-1.log", "nodes6/redis-1.log"),
        ("n1/redis.log", "n2/redis.log"),
        ("db1/redis.log", "db2/redis.log"),
        ("2023/redis.log", "2024/redis.log"),
        ("redis-1/run1.log", "redis-1/run2.log", "redis-2/run1.log"),
        ("redis/1.log", "redis-cluster/1.log"),
    ],
)
def test_what_may_be_two_systems_is_asked(read, names):
    rows = read(dict.fromkeys(names, RUN))
    assert all(row.question for row in rows.values()), questions_text(rows)


def test_two_systems_are_two_stores_until_somebody_says_otherwise(read):
    names = [f"redis-{v}/{what}" for v in ("6.2", "7.2") for what in ("load", "run-1", "run-2")]
    rows = read({name: LOAD if "load" in name else RUN for name in names})
    assert [(row.store, row.workload, row.repetition) for row in rows.values()] == [
        *[("redis-6-2", "a", 1), ("redis-6-2", "a", 1), ("redis-6-2", "a", 2)],
        *[("redis-7-2", "a", 1), ("redis-7-2", "a", 1), ("redis-7-2", "a", 2)],
    ]
    assert "two systems, or repetitions?" in questions_text(rows)


@pytest.mark.parametrize(
    "names",
    [
        ("node-1/redis.log", "node-2/redis.log"),
        ("eu-west-1/redis.log", "eu-west-2/redis.log"),
        ("redis_fsync_0.log", "redis_fsync_1.log"),
        ("redis-replicas-1-rep1.log", "redis-replicas-2-rep1.log"),
        ("redis-1-node.log", "redis-2-nodes.log"),
        ("redis 1 vcpu.log", "redis 2 vcpu.log"),
        ("shards/1/redis.log", "shards/2/redis.log"),
        ("redis-client-1.log", "redis-client-2.log"),
    ],
)
def test_numbers_of_hosts_sizes_and_settings_count_no_repetitions(read, names):
    rows = read({name: replace(RUN, minutes=5 * i) for i, name in enumerate(names)})
    assert "two systems, or repetitions?" in questions_text(rows)
    assert len({row.store for row in rows.values()}) == 2


def test_round_numbers_are_no_dates(read):
    rows = read({f"redis-{n}000000.log": replace(RUN, minutes=n * 5) for n in (1, 2)})
    assert "do not count from 1: repetitions, or sizes" in questions_text(rows)
    dates = {f"redis-1772{n}42017.log": replace(RUN, minutes=n) for n in (1, 2)}
    assert questions_text(read(dates)) == ""


def test_numbers_behind_those_of_a_host_count_repetitions(read):
    names = ("node-3-redis-1.log", "node-3-redis-2.log")
    assert questions_text(read(dict.fromkeys(names, RUN))) == ""


def test_a_copy_is_no_repetition(read):
    for names in (("redis-1.log", "redis-2.log"), ("redis/1.log", "valkey/1.log")):
        rows = read(dict.fromkeys(names, replace(RUN, seed=5)))
        assert (
            questions_text(rows)
            == f"has the same results as {names[0]}: take out the row of a copy"
        )


def test_the_same_results_at_another_time_are_no_second_measurement(read):
    """As of a client that died, next to the file of the run before."""
    logs = {"redis.log": replace(RUN, seed=5, minutes=1)}
    logs |= {"memcached.log": replace(RUN, store="memcached", seed=5, minutes=9)}
    for row in read(logs).values():
        assert row.question.startswith("memcached.log, redis.log have the same results, but other")
    # Of one operation the latencies can be the same.
    few = {name: replace(log, records=1, operations=1, threads=1) for name, log in logs.items()}
    assert "same results" not in questions_text(read(few))


def test_clients_of_one_run_are_no_repetitions(read):
    logs = {
        f"redis/client{n}/{phase}.log": RunLog(
            phase=phase,
            minutes=n / 1000 + (5 if phase == "run" else 0),
            properties=(f"insertstart={5000 * n}", "insertcount=5000") if phase == "load" else (),
        )
        for n, phase in product(range(4), ("load", "run"))
    }
    rows = read(logs)
    assert all("ran at the same time: clients of one run" in row.question for row in rows.values())
    # One after the other they are.
    apart = {name: replace(log, minutes=log.minutes * 1000) for name, log in logs.items()}
    assert "at the same time" not in questions_text(read(apart))
    # A part of a load is no load, whenever it was.
    assert "loads 5000 of 20000 records, from number 5000 on: a part" in questions_text(read(apart))


def test_runs_in_turn_do_not_overlap(read):
    logs = {f"redis-{n}.log": replace(RUN, minutes=n / 10) for n in (1, 2, 3)}
    assert questions_text(read(logs)) == ""


def test_a_clock_against_the_numbers_in_the_names_is_asked(read):
    logs = {f"redis-{n}.log": replace(RUN, minutes=10 - n) for n in (1, 2, 3)}
    assert "another order than the numbers in their names" in questions_text(read(logs))


def test_two_versions_of_ycsb_are_asked(read):
    logs = {f"redis-{n}.log": replace(RUN, version=f"0.1{4 + n}.0") for n in (1, 2, 2, 3)}
    logs["redis-4.log"] = replace(RUN, version="0.17.0")
    rows = read(logs)
    assert [bool(row.question) for row in rows.values()] == [True, True, False, False]
    assert "results of two versions do not compare" in questions_text(rows)


def test_two_bindings_of_one_store_are_two_stores(read):
    ours = replace(RUN, store="kvstudy.db.RedisClient")
    rows = read({"redis-1.log": RUN, "redis-2.log": RUN, "redis-3.log": ours})
    assert [row.store for row in rows.values()] == ["redis", "redis", "redis-2"]
    # The launcher's name of a binding is its class.
    rows = read({"redis-1.log": RUN, "redis-2.log": replace(RUN, store="redis")})
    assert [row.store for row in rows.values()] == ["redis", "redis"]


# --- loads and runs


def test_a_load_of_other_records_than_its_runs_is_asked(read):
    rows = read({"load.log": replace(LOAD, records=10000), "run.log": RUN})
    assert questions_text(rows) == "loads 10000 records, but run.log ran with 20000 records"
    rows = read({"load.log": replace(LOAD, properties=("fieldlength=1000",)), "run.log": RUN})
    assert "loads 20000 records (fieldlength-1000), but run.log ran with" in questions_text(rows)
    # Loads over sizes next to runs that have theirs are measurements.
    logs = {f"load-{size}.log": replace(LOAD, records=size) for size in (10000, 20000)}
    assert questions_text(read(logs | {"run.log": RUN})) == ""


def test_a_load_belongs_to_the_run_with_its_number(read):
    """The second run left no log."""
    logs = {f"load-{n}.log": LOAD for n in (1, 2, 3)} | {f"run-{n}.log": RUN for n in (1, 3)}
    rows = read(logs)
    assert [(row.workload, row.repetition) for row in rows.values()] == [
        *[("a", 1), ("insert", 1), ("a", 2)],
        *[("a", 1), ("a", 2)],
    ]
    assert questions_text(rows) == ""


def test_a_load_belongs_to_the_run_after_it(read):
    logs = {f"20260302_09{at:02}_load.log": replace(LOAD, minutes=at) for at in (0, 9)}
    logs["20260302_0910_run.log"] = replace(RUN, minutes=10)
    assert [row.workload for row in read(logs).values()] == ["insert", "a", "a"]


def test_a_run_before_its_load_is_asked(read):
    logs = {"load-1.log": replace(LOAD, minutes=9), "run-1.log": replace(RUN, minutes=1)}
    assert "run-1.log began before load-1.log, which has its number" in questions_text(read(logs))


def test_more_operations_than_the_command_asked_for_are_another_command(read):
    text = "operationcount=30000"
    rows = read({"redis-1.log": replace(RUN, properties=(text,))})
    assert questions_text(rows) == "30000 operations by its command, 40000 by its counts"


@pytest.mark.parametrize("phase", ["load", "run"])
def test_records_of_two_shapes_are_two_cells(read, phase):
    log = RunLog(phase=phase)
    large = replace(log, properties=("fieldlength=4000",))
    rows = read({"small/redis.log": log, "large/redis.log": large})
    assert {row.workload for row in rows.values()} == {
        *(("insert", "insert-fieldlength-4000") if phase == "load" else ("a", "a-fieldlength-4000"))
    }
    assert questions_text(rows) == ""
    assert {row.repetition for row in rows.values()} == {1}


@pytest.mark.parametrize("workload", "abcdef")
def test_operations_are_those_of_the_workload(read, workload):
    """Its file may have been edited, and the log does not say so."""
    log = replace(RUN, workload=workload)
    assert questions_text(read({"redis-1.log": log})) == ""
    properties = ("readproportion=0.1", "updateproportion=0.9")
    if workload in "abc":
        rows = read({"redis-1.log": replace(log, properties=properties)})
        said = "10 % read operations by workload "
        assert said in questions_text(rows)
        assert "by its counts: was its file another?" in questions_text(rows)


# --- several programs in one file


@pytest.fixture
def read_page(tmp_path, monkeypatch):
    """Return the rows of one file, whose lines are of two programs with these prefixes."""
    monkeypatch.chdir(ROOT)

    def read_page(*prefixes: str) -> dict[str, Row]:
        texts = [
            prefixed(before, replace(RUN, seed=i).text()) for i, before in enumerate(prefixes, 1)
        ]
        (tmp_path / "all.log").write_text(interleaved(texts, random.Random(3)))
        sources = find_sources(tmp_path)[0]
        guess_rows(sources, tmp_path, "jan")
        return {source.name: source.row for source in sources}

    return read_page


def test_programs_in_one_file_are_no_repetitions(read_page):
    rows = read_page("ycsb-1  | ", "ycsb-2  | ")
    assert all("are of several programs in one file" in row.question for row in rows.values())


def test_the_name_of_a_service_says_which_of_two_stores_with_one_binding(read_page):
    rows = read_page("ycsb-redis-1  | ", "ycsb-valkey-1  | ")
    assert [(row.store, row.repetition, row.question) for row in rows.values()] == [
        *[("redis", 1, ""), ("valkey", 1, "")]
    ]


# --- sizes


def test_a_sweep_is_one_workload(read):
    logs = {
        f"{store}/t{threads}/run{n}.txt": RunLog(store=store, threads=threads)
        for store, threads, n in product(("redis", "mongodb"), (1, 4, 16), (1, 2))
    }
    rows = read(logs)
    assert {row.workload for row in rows.values()} == {"a"}
    assert {(row.threads, row.repetition) for row in rows.values()} == {
        *product((1, 4, 16), (1, 2))
    }
    assert questions_text(rows) == ""


def test_one_run_of_other_sizes_is_no_sweep(read):
    logs = {f"{store}-1.log": RunLog(store=store) for store in ("redis", "mongodb")}
    logs["test.log"] = RunLog(threads=1, records=1, operations=1)
    rows = read(logs)
    names = ["a", "a", "a-r1-o1-t1"]
    assert sorted(row.workload for row in rows.values()) == names


def test_each_run_of_a_sweep_has_its_load(read):
    logs = {
        f"t{threads}/{phase}.log": RunLog(phase=phase, threads=threads)
        for threads, phase in product((1, 8), ("load", "run"))
    }
    rows = read(logs)
    assert [(row.workload, row.threads) for row in rows.values()] == [("a", 1)] * 2 + [("a", 8)] * 2


# --- any of it at once

SCHEMES = (
    "{store}/t{threads}/{phase}-{n}.log",
    "{store}_workload{workload}_{phase}_{threads}threads_{n}.txt",
    "rep{n}/{store}-{workload}-{phase}-t{threads}.out",
    "2024-03-{n:02}/{threads}t/{store}-{phase}-{workload}.log",
    "{phase}/{store}.{workload}.t{threads}.run{n}.log",
    "{store} threads={threads}/{phase} {workload} ({n}).log",
    "results/{n}/{store}/{workload}/{threads}_threads_{phase}.dat",
)


def study_of(chance: random.Random) -> dict[str, tuple[RunLog, int]]:
    """Return logs of two stores by name, each with its repetition, as they were measured."""
    stores = chance.sample(["redis", "memcached", "mongodb", "cassandra"], 2)
    workload, scheme = chance.choice("abc"), chance.choice(SCHEMES)
    sizes = chance.sample([1, 4, 8, 16], chance.choice((1, 2)))
    begin = count(step=2) if chance.random() < 0.7 else None
    logs = {}
    for n, threads, store, phase in product((1, 2), sizes, stores, ("load", "run")):
        cell = {"store": store, "phase": phase, "workload": workload, "threads": threads}
        minutes = next(begin) if begin else None
        logs[scheme.format(n=n, **cell)] = RunLog(**cell, minutes=minutes, share=0.9), n
    return logs


def moved(logs: dict[str, RunLog], chance: random.Random) -> dict[str, RunLog]:
    """Return ``logs`` with one that is not what its name or its command or the others let seem."""
    name = chance.choice([*logs])
    log = logs[name]
    # Other than what any name says.
    more = 32 * log.threads
    kinds = [
        {name: replace(log, command_threads=more)},
        {name: replace(log, closed=log.threads * 3)},
        {name: replace(log, threads=more)},
        {name: replace(log, store="aerospike")},
        {name: replace(log, phase="load" if log.phase == "run" else "run")},
        {name: replace(log, share=1.5)},
        {f"copy/{name}": replace(log, seed=1 + [*logs].index(name))},
        {f"aof-on/{name}": log},
        {f"host-7/{name}": log},
    ]
    if log.phase == "run":
        if re.search(rf"(workload|[ .-]){log.workload}[_ .-]", name):
            kinds.append({name: replace(log, workload="f")})
        kinds.append({name: replace(log, operations=50000, properties=("operationcount=40000",))})
    if log.minutes is not None:
        kinds.append({f"again/{name}": replace(log, minutes=log.minutes + 0.01)})
    return logs | chance.choice(kinds)


@pytest.mark.parametrize("seed", range(40))
def test_no_reading_is_wrong_in_silence(read, seed):
    """Of each study of known cells all is right; of one with a log that does not fit, asked."""
    chance = random.Random(seed)
    truth = study_of(chance)
    rows = read({name: log for name, (log, _) in truth.items()})
    assert questions_text(rows) == ""
    for name, (log, repetition) in truth.items():
        row = rows[name]
        assert (row.store, row.phase, row.workload) == (log.store, log.phase, log.workload)
        assert (row.threads, row.records, row.repetition) == (log.threads, log.records, repetition)
    wrong = moved({name: log for name, (log, _) in truth.items()}, chance)
    assert questions_text(read(wrong)) != "", wrong.items() - {
        (n, log) for n, (log, _) in truth.items()
    }


def test_names_of_other_peoples_folders(read):
    """Nothing in a path stops an import by itself."""
    for folder in ("Jan's logs", "C++ (final)", "données", "bench.2.1", "a/b/c/d"):
        rows = read({str(Path(folder, "redis-1.log")): RUN})
        assert set(rows) == {str(Path(folder, "redis-1.log"))}
