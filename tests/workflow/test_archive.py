"""What was changed in an archive, or in a run, is found without a server."""

from __future__ import annotations

import shutil

import pytest
from kvstudy.analyse.tidy.reviews import ReviewRecord, write_record

from tests.project import PRETEND, STUDY
from tests.unit.packed_run import Files, as_new, repacked, sums_of
from tests.workflow.conftest import (
    Workflow,
    finish_and_pack,
    kvstudy,
    make_workflow,
    measured,
)

SUMMARY = "results/small/summary.csv"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Workflow:
    """The study ``small``, finished and packed as small.zip; its servers are taken away then.

    It has open-loop cells.
    """
    workflow = make_workflow(tmp_path_factory.mktemp("archive"))
    rates = {"loads": [0.5], "workloads": ["a"]}
    workflow.edit(STUDY, lambda study: study.update(open_loop=rates))
    finish_and_pack(workflow)
    workflow.environment["PATH"] = workflow.environment["PATH"].split(":", 1)[1]
    return workflow


def test_numbers_that_do_not_follow_from_the_logs(finished):
    """Also where whoever changed them made all checksums again, and asks for measurements."""
    trap = finished.folder / "trap"

    def forge(files: Files) -> None:
        lines = files[SUMMARY].decode().splitlines(keepends=True)
        column = lines[0].strip().split(",").index("mean")
        cells = lines[1].split(",")
        cells[column] = str(float(cells[column]) * 1.01)
        files[SUMMARY] = "".join([lines[0], ",".join(cells), *lines[2:]]).encode()
        config = files["config/config.yaml"].replace(b"measure: false", b"measure: true")
        files["config/config.yaml"] = config
        evil = f"from pathlib import Path\nPath({str(trap)!r}).touch()\n".encode()
        for name in (
            "envs/stores/pretend/verbs.py",
            "workflow/Snakefile",
            "workflow/kvstudy/cli.py",
        ):
            files[name] = evil + files[name]

    repacked(finished.folder / "small.zip", as_new(forge))
    done = kvstudy(finished, "verify", "changed.zip")
    assert done.returncode == 1
    assert f"FAULT: {SUMMARY}: line 2, mean: is " in done.stdout
    assert "**1 fault: it does not hold.**" in done.stdout
    assert "files of the workflow differ from those here" in done.stdout
    assert not trap.exists()


def test_what_was_packed_holds(finished):
    done = kvstudy(finished, "verify", "small.zip")
    assert done.returncode == 0, done.stdout
    assert "**All holds.**" in done.stdout


def test_what_was_rebuilt_with_this_workflow_is_packed_again(finished):
    for where, *command in (
        (finished, "rebuild", "--own-code", "--output", "again", "small.zip"),
        (Workflow(finished.folder / "again", finished.environment), "archive", "small"),
        (finished, "verify", "again/small.zip"),
    ):
        done = kvstudy(where, *command)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "**All holds.**" in done.stdout


def test_another_version_of_the_workflow_may_show_the_same_data_otherwise(finished):
    table, lines = "results/small/tables/grid.tex", "results/small/log_lines.json"

    def age(files: Files) -> None:
        files[table] += b"more\n"
        files[lines] = files[lines].replace(b'"cells"', b'"cell"', 1)

    def edit(files: Files) -> None:
        age(files)
        files["report/text/glance.md.j2"] += b"\n"

    # By the same workflow they must be the same.
    repacked(finished.folder / "small.zip", as_new(age))
    done = kvstudy(finished, "verify", "changed.zip")
    assert done.returncode == 1
    assert f"FAULT: {table}: has" in done.stdout
    assert f"FAULT: {lines}: line 1" in done.stdout
    repacked(finished.folder / "small.zip", as_new(edit))
    done = kvstudy(finished, "verify", "changed.zip")
    assert done.returncode == 0, done.stdout
    assert "2 files of tables and text" in done.stdout
    assert "were not compared; --archived-code compares them" in done.stdout


def test_a_report_that_mentions_a_review_holds(finished):
    """The record of the review is packed, and the report is made again with it."""
    who = ("0" * 64, "small", "Ann Reviewer", "2026-11-29", "1.0", 5.0, [{"name": "Some CPU"}])
    reviews = finished.folder / "results/small/reviews"
    write_record(ReviewRecord(*who, [{"outcome": "confirmed here"}]), reviews / "small.json")
    other = ReviewRecord("0" * 64, "another", *who[2:], [])
    write_record(other, reviews / "another.json")
    try:
        finish_and_pack(finished)
        done = kvstudy(finished, "verify", "small.zip")
    finally:
        shutil.rmtree(reviews)
    assert done.returncode == 0, done.stdout
    text = (finished.folder / "results/small/report/small.md").read_text(encoding="utf-8")
    assert text.count("**Reviewed** by Ann Reviewer") == 1
    assert "comparisons confirmed: 1, not confirmed: 0" in text


def test_rates_that_do_not_follow_from_the_trial_cell(finished):
    """Also where all checksums were made again: the cells at its rate recorded another one."""
    folder = "results/small/raw/pretend/a/r1000_o2000_t2_trial/rep0/"

    def forge(files: Files) -> None:
        log = files[f"{folder}run.out"]
        files[f"{folder}run.out"] = log.replace(b"4000.0", b"4100.0")
        assert log != files[f"{folder}run.out"]
        files[f"{folder}SHA256SUMS"] = sums_of(files, folder)

    repacked(finished.folder / "small.zip", as_new(forge))
    done = kvstudy(finished, "verify", "changed.zip")
    assert done.returncode == 1
    assert f"FAULT: {folder[:-1]}: is not the trial cell that set the rate of" in done.stdout
    assert "FAULT: results/small/open-loop/targets.csv: line 2, note: is " in done.stdout


def test_servers_with_other_arguments_than_the_stores_now_add(finished):
    option = (
        b"options: {x: {description: X, default: y, choices: {y: {title: y, arguments: [-y]}}}}"
    )
    store = "envs/stores/pretend/store.yaml"
    add = as_new(lambda files: files.update({store: files[store] + option}))
    repacked(finished.folder / "small.zip", add)
    done = kvstudy(finished, "verify", "changed.zip")
    assert done.returncode == 1
    assert f"measured with other options than {store} has now" in done.stdout
    assert "arguments was none, is now -y" in done.stdout


def test_a_run_is_verified_in_its_folder(finished):
    path = finished.folder / "results/small/raw/pretend/a/r1000_o2000_t2/rep1/run.out"
    good = path.read_bytes()
    path.write_bytes(good + b"\n")
    try:
        done = kvstudy(finished, "verify", "results/small")
    finally:
        path.write_bytes(good)
    assert done.returncode == 1
    assert "Run: results/small" in done.stdout
    assert "rep1/run.out: was edited or cut off after it was measured" in done.stdout


def test_a_tampered_log_is_named_and_nothing_is_computed_from_it(finished):
    name = "results/small/raw/pretend/a/r1000_o2000_t2/rep1/run.out"
    tamper = as_new(lambda files: files.update({name: files[name] + b"\n"}))
    repacked(finished.folder / "small.zip", tamper)
    done = kvstudy(finished, "verify", "changed.zip")
    assert done.returncode == 1
    assert f"FAULT: {name}: was edited or cut off after it was measured" in done.stdout
    assert "not made again: the raw logs are not those that were measured" in done.stdout


@pytest.mark.slow
def test_a_cell_that_is_measured_again_as_the_guide_says_is_no_fault(finished):
    """The other cells are from before; the earlier logs stay next to those that count now."""
    cell = "pretend/a/r1000_o2000_t2/rep1"
    (finished.folder / "results/small/raw" / cell / "SHA256SUMS").unlink()
    done = finished.snakemake(PATH=f"{PRETEND}:{finished.environment['PATH']}")
    assert done.returncode == 0, done.stderr
    assert measured(done) == ["pretend_a_rep1"]
    (kept,) = (finished.folder / "results/small/replaced" / cell).iterdir()
    assert (kept / "run.out").is_file()
    done = kvstudy(finished, "verify", "results/small")
    assert done.returncode == 0, done.stdout
    assert f"results/small/replaced: 1 attempt measured again, logs kept: {cell}" in done.stdout
