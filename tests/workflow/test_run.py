"""``kvstudy run``: one cell outside any study."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from click.testing import Result
from kvstudy.errors import KvstudyError

from tests.conftest import without_servers
from tests.project import edit, kvstudy

RAW = Path("results/single-cells/raw")
STORE = Path("envs/stores/pretend/store.yaml")
GIVEN = ["--workload", "a", "--records", "1000", "--operations", "2000", "--threads", "2"]


def run(*arguments: str, answers: str = "") -> Result:
    return kvstudy("run", "--provider", "native", *arguments, answers=answers)


def test_it_asks_for_what_it_is_not_told(pretend_study):
    done = run("--threads", "2", answers="pretend\nn\na\n1000\n2000\n")
    assert done.exit_code == 0, done.output
    assert "throughput" in done.output
    assert "2000 operations, 0 failed" in done.output
    assert (RAW / "pretend/a/r1000_o2000_t2/rep1/SHA256SUMS").is_file()


def test_insert_only_asks_for_no_operations(pretend_study):
    done = run("--store", "pretend", "--threads", "2", answers="y\n1000\n")
    assert done.exit_code == 0, done.output
    assert (RAW / "pretend/insert/r1000_o0_t2/rep1/load.out").is_file()


def test_the_same_cell_again_keeps_the_first(pretend_study):
    for repetition in (1, 2):
        assert run("--store", "pretend", *GIVEN).exit_code == 0
        assert (RAW / f"pretend/a/r1000_o2000_t2/rep{repetition}/SHA256SUMS").is_file()


def test_an_edited_workload_is_no_repetition(pretend_study):
    """Its runs were once joined with the earlier ones, as the same cell."""
    run("--store", "pretend", *GIVEN)
    workload = Path("workloads/a")
    workload.write_text(workload.read_text() + "fieldlength=200\n")
    with pytest.raises(KvstudyError) as refused:
        run("--store", "pretend", *GIVEN)
    text = str(refused.value)
    assert "rep1: measured with other parameters: fieldlength was not given, is now 200" in text
    assert "(workloads/a). This would be the next repetition of another cell: put that" in text
    assert len(list(Path("results/single-cells/raw").glob("*/*/*/*/SHA256SUMS"))) == 1
    # Under a name of its own it is another cell.
    shutil.copy(workload, "workloads/wide")
    run("--store", "pretend", "--workload", "wide", *GIVEN[2:])
    assert list(Path("results/single-cells/raw/pretend/wide").glob("*/rep1/SHA256SUMS"))


def test_it_asks_for_what_a_store_offers(pretend_study):
    choices = {name: {"title": name, "properties": {"p": name}} for name in ("weak", "strong")}
    offered = {"description": "Which consistency?", "default": "weak", "choices": choices}
    edit(STORE, options={"consistency": offered})
    answer = run("--store", "pretend", *GIVEN, answers="strong\n")
    assert "Which consistency? (strong, weak) [weak]" in answer.output
    manifest = RAW / "pretend-strong/a/r1000_o2000_t2/rep1/manifest.json"
    assert "p=strong" in json.loads(manifest.read_text())["phases"]["run"]["command"]
    output = run("--store", "pretend", "--option", "consistency=weak", *GIVEN)
    assert "Which consistency?" not in output.output
    assert (RAW / "pretend-weak/a/r1000_o2000_t2/rep1").is_dir()
    nobody = run("--store", "pretend", *GIVEN)
    assert nobody.exit_code == 0
    assert (RAW / "pretend-weak/a/r1000_o2000_t2/rep2").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--store", "pretended"], "unknown store 'pretended'; did you mean 'pretend'?"),
        (["--store", "pretend", "--workload", "z"], "unknown workload 'z'"),
        (["--store", "pretend", "--option", "x"], "--option x: give it as NAME=CHOICE"),
        (["--store", "pretend", "--option", "x=y", *GIVEN], "Pretend has no option 'x'"),
        (["--store", "pretend", "--insert-only", *GIVEN], "--insert-only runs no workload"),
        (["--store", "mongodb", *GIVEN], "no program mongod-of-no-machine"),
    ],
)
def test_wrong_arguments(pretend_study, monkeypatch, arguments, message):
    without_servers(Path(), "mongodb")
    with pytest.raises(KvstudyError) as error:
        run(*arguments)
    assert message in str(error.value)


def test_the_result_is_saved_as_text_and_as_a_table(pretend_study):
    for _ in range(2):
        done = run("--store", "pretend", *GIVEN)
    folder = RAW.parent
    text = (folder / "pretend-a-r1000_o2000_t2-rep2.txt").read_text()
    assert "throughput 4000 ops/s" in text
    assert text.splitlines()[1] in done.output
    assert f"saved: {folder}/results.csv" in done.output
    table = pd.read_csv(folder / "results.csv")
    overall = table[table.operation == "overall"]
    assert overall.throughput.tolist() == [4000, 4000]
    assert overall.repetition.tolist() == [1, 2]
    assert overall.operations.tolist() == [2000, 2000]
    read = table[table.operation == "read"].iloc[0]
    assert (read.operations, read.failed) == (1000, 0)
    assert read.latency_mean > 0


def test_failed_operations_are_saved_too(pretend_study, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    run("--store", "pretend", *GIVEN)
    table = pd.read_csv(RAW.parent / "results.csv").set_index("operation")
    assert table.loc["overall", "failed"] == 200


def test_a_cell_that_is_no_measurement_says_so(pretend_study, monkeypatch):
    """As in a study: a run that was suspended had numbers and no word."""
    monkeypatch.setattr("kvstudy.analyse.tidy.cell.standstill", lambda *_: 20.0)
    done = run("--store", "pretend", *GIVEN)
    assert "\ninvalid: nothing ran for 20 s: YCSB should print a line each second" in done.output
    (text,) = Path("results/single-cells").glob("*.txt")
    assert "\ninvalid: nothing ran for 20 s" in text.read_text()
    (reason,) = pd.read_csv(RAW.parent / "results.csv")["invalid"].unique()
    assert reason.startswith("nothing ran for 20 s")


def test_wrong_answers_are_asked_for_again(pretend_study):
    answers = "nosuchstore\npretend\nmaybe\nn\nz\na\n0\n1000\nmany\n2000\n"
    done = run("--threads", "2", answers=answers)
    assert done.exit_code == 0, done.output
    assert "'nosuchstore' is not one of" in done.output
    assert "0 is not in the range 1<=x<=" in done.output
    assert "'many' is not a valid integer range" in done.output
    assert (RAW / "pretend/a/r1000_o2000_t2/rep1/SHA256SUMS").is_file()


def test_what_has_no_default_is_named_where_nobody_answers(pretend_study):
    with pytest.raises(KvstudyError, match="--workload is missing, and nobody answers"):
        run("--threads", "2", answers="pretend\nn\n")
    assert not RAW.exists()
