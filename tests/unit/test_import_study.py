"""Answers in import.csv, and the study that follows from them."""

from __future__ import annotations

import csv
import json
import re
import shutil
from itertools import product
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.study.load import load_study

from tests import project as tested
from tests.ycsb_logs import RunLog, write_logs

HOME = Path("config/studies/jan")
LOGS = Path("logs")


def take() -> str:
    return tested.kvstudy("import", LOGS, "--study", "jan").output


def answer(**values: str) -> None:
    """Give all rows of import.csv these values."""
    with (HOME / "import.csv").open(encoding="utf-8", newline="") as file:
        rows = [row | values for row in csv.DictReader(file)]
    with (HOME / "import.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def test_a_question_stays_until_it_is_answered(project):
    write_logs(LOGS, {"redis-1.log": RunLog(threads=4, command_threads=8)})
    question = "8 threads by its command, 4 by [CLEANUP]"
    for _ in range(2):
        with pytest.raises(KvstudyError, match=re.escape(question)) as raised:
            take()
        assert "import.csv: line 2 (redis-1.log)" in str(raised.value)
        assert "empty the column question" in str(raised.value)
        assert not Path("results/jan").exists()
    # Whoever was asked may say what the command does not.
    answer(threads="4", question="")
    assert "1 cell imported, 0 failed" in take()
    assert Path("results/jan/raw/redis/a/r20000_o40000_t4/rep1/run.out").is_file()


def test_threads_that_cannot_be_are_refused(project):
    write_logs(LOGS, {"redis-workloada-1.log": RunLog(threads=4, closed=9, has_command=False)})
    with pytest.raises(KvstudyError, match=r"3\.4 operations ran at a time"):
        take()
    answer(threads="2", records="20000", question="")
    with pytest.raises(KvstudyError, match="2 threads cannot be, its latencies say that 3"):
        take()
    answer(threads="4")
    assert "1 cell imported, 0 failed" in take()


def test_a_question_of_many_logs_is_asked_once(project):
    write_logs(LOGS, {f"redis-{v}/run{n}.log": RunLog() for v, n in product((6.2, 7.2), (1, 2))})
    with pytest.raises(KvstudyError) as raised:
        take()
    assert str(raised.value).count("two systems, or repetitions?") == 1
    assert "lines 2, 3, 4, 5 (redis-6.2/run1.log and others)" in str(raised.value)
    answer(question="")
    assert "4 cells imported, 0 failed" in take()
    assert load_study(HOME / "study.yaml").store_names == ["redis-6-2", "redis-7-2"]


def test_a_sweep_of_threads_is_one_workload_with_curves(project):
    logs = {
        f"{store}/t{threads}/{phase}{n}.txt": RunLog(store=store, threads=threads, phase=phase)
        for store, threads, phase, n in product(
            ("redis", "mongodb"), (16, 4, 1), ("load", "run"), (1, 2)
        )
    }
    # The most complete of the sizes are those that are shown.
    del logs["mongodb/t16/run2.txt"], logs["mongodb/t16/load2.txt"]
    write_logs(LOGS, logs)
    assert "11 cells imported, 0 failed" in take()
    study = load_study(HOME / "study.yaml")
    assert study.workload_names == ["a"]
    assert study.parameters.threads == [1, 4, 16]
    assert study.workloads[0].shown.threads == 4
    (curves,) = study.figures_of("curves")
    assert (curves.over, curves.workloads) == ("threads", ["a"])
    assert [table.over for table in study.tables_of("sweep")] == ["threads"]
    cells, values = tested.parse(HOME / "study.yaml")
    assert (cells["status"] == "measured").sum() == 11
    # Each has the load of its threads.
    manifest = Path("results/jan/raw/redis/a/r20000_o40000_t16/rep2/manifest.json")
    origins = json.loads(manifest.read_text())["imported"]["from"]
    assert [origin["file"] for origin in origins] == [
        *("redis/t16/load2.txt", "redis/t16/run2.txt")
    ]
    slugs = {f"r20000_o40000_t{threads}" for threads in (1, 4, 16)}
    assert set(values["parameters"]) == slugs


def test_workloads_are_in_the_order_of_their_numbers(project):
    targets = (200, 1000, 9000)
    write_logs(LOGS, {f"{n}.log": RunLog(properties=(f"target={n}",)) for n in targets})
    take()
    names = load_study(HOME / "study.yaml").workload_names
    assert names == [f"a-target-{n}" for n in targets]


def test_cells_that_are_planned_without_logs_are_named(project):
    logs = {f"{store}-run.log": RunLog(store=store) for store in ("redis", "mongodb")}
    tests = {f"redis-test{n}.log": RunLog(records=1, operations=1, threads=1) for n in (1, 2)}
    write_logs(LOGS, logs | tests)
    assert "plans" not in take()
    path = HOME / "import.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "test" not in line))
    out = take()
    assert "study.yaml plans 6 cells that no log is of (workload a-r1-o1-t1" in out
    assert "repetition 2); remove it to have it written again from import.csv" in out
    (HOME / "study.yaml").unlink()
    assert "plans" not in take()
    assert load_study(HOME / "study.yaml").repetitions == 1


def test_a_store_that_is_not_there_is_made_and_taken(project):
    db = "site.ycsb.db.couchbase2.Couchbase2Client"
    write_logs(LOGS, {f"couchbase-{n}.log": RunLog(store=db) for n in (1, 2)})
    with pytest.raises(KvstudyError) as raised:
        take()
    assert "'couchbase' is no folder of envs/stores" in str(raised.value)
    assert "'kvstudy new store couchbase' makes one" in str(raised.value)
    assert "did you mean" not in str(raised.value)
    tested.kvstudy("new", "store", "couchbase")
    assert "2 cells imported, 0 failed" in take()
    cells, _ = tested.parse(HOME / "study.yaml")
    assert set(cells.loc[cells["status"] == "measured", "store"]) == {"couchbase"}


def test_histograms_follow_their_prefix_without_a_mark_between(project):
    shutil.copytree(tested.ROOT / "tests/data/imports/redis", LOGS)
    for path in LOGS.iterdir():
        if path.suffix == ".hdr":
            path.rename(LOGS / path.name.replace("a_1.", "test").replace("a_2.", "other"))
        else:
            text = path.read_text().replace("/a_1.", "/test").replace("/a_2.", "/other")
            path.write_text(text)
    out = take()
    cell = Path("results/jan/raw/redis/a/r2000_o100000_t4")
    for n in (1, 2):
        names = {path.name for path in (cell / f"rep{n}").glob("*.hdr")}
        assert names == {"run.READ.hdr", "run.UPDATE.hdr"}, out


def test_of_runs_with_one_prefix_the_last_has_the_histograms(project):
    """YCSB writes over the files of the run before."""
    shutil.copytree(tested.ROOT / "tests/data/imports/redis", LOGS)
    for path in LOGS.iterdir():
        if path.name.startswith("a_1."):
            path.unlink()
        elif path.suffix == ".hdr":
            path.rename(LOGS / path.name.replace("a_2.", "test"))
        else:
            path.write_text(re.sub(r"/a_[12]\.", "/test", path.read_text()))
    assert "2 cells imported, 0 failed" in take()
    cell = Path("results/jan/raw/redis/a/r2000_o100000_t4")
    assert not list((cell / "rep1").glob("*.hdr"))
    assert len(list((cell / "rep2").glob("*.hdr"))) == 2
