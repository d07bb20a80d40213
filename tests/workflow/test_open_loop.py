"""Open-loop cells in the workflow: after the others, and never measured again because of them."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.language.reasons import sentence

from tests.project import STUDY
from tests.workflow.conftest import CELLS, Workflow, jobs, measure_all, measured

SLUG = "r1000_o2000_t2"
OPEN = f"pretend/a/{SLUG}_load50"


@pytest.fixture
def rates(workflow: Workflow) -> Workflow:
    """Four closed-loop cells and two at half load."""

    def change(study: dict) -> None:
        study.update(workloads=["a", "c"], open_loop={"loads": [0.5], "workloads": ["a"]})
        study["figures"][0]["workloads"] = ["a", "c"]

    workflow.edit(STUDY, change)
    return workflow


def raw(workflow: Workflow, cell: str) -> Path:
    return workflow.folder / "results/small/raw" / cell


def opened(workflow: Workflow, run: str = "small") -> pd.DataFrame:
    path = workflow.folder / "results" / run / "open-loop/cells.csv"
    return pd.read_csv(path, keep_default_na=False).query("store == 'pretend'")


def test_they_are_measured_once_and_after_all_others(rates):
    done = measure_all(rates)
    order = [
        "load50" in line for line in done.stderr.splitlines() if re.match(r"Job \d+: measure", line)
    ]
    assert order == [False] * 4 + [True] * 2
    assert set(opened(rates).status) == {"measured"}
    assert len(pd.read_csv(rates.folder / CELLS).query("store == 'pretend'")) == 4
    again = rates.snakemake(CELLS)
    assert "Nothing to be done" in again.stderr + again.stdout


def test_a_closed_cell_that_is_measured_again_leaves_them_alone(rates):
    measure_all(rates)
    before = (raw(rates, f"{OPEN}/rep1") / "SHA256SUMS").stat().st_mtime_ns
    shutil.rmtree(raw(rates, f"pretend/a/{SLUG}/rep1"))
    assert measured(rates.snakemake("-n")) == ["pretend_a_rep1"]
    done = rates.snakemake(CELLS, f"results/small/raw/pretend/a/{SLUG}/rep1/SHA256SUMS")
    assert done.returncode == 0, done.stderr
    assert measured(done) == ["pretend_a_rep1"]
    assert (raw(rates, f"{OPEN}/rep1") / "SHA256SUMS").stat().st_mtime_ns == before
    targets = pd.read_csv(rates.folder / "results/small/open-loop/targets.csv")
    assert targets.note.eq(f"origins-gone cells=pretend/a/{SLUG}/rep1").all()
    # Newer closed cells, as a copy without times makes them, change nothing either.
    for path in (rates.folder / "results/small/raw").glob(f"pretend/a/{SLUG}/rep*/SHA256SUMS"):
        os.utime(path)
    assert measured(rates.snakemake("-n")) == []


def test_a_removed_open_loop_cell_is_measured_alone(rates):
    measure_all(rates)
    shutil.rmtree(raw(rates, f"{OPEN}/rep2"))
    done = rates.snakemake("-n")
    assert measured(done) == ["pretend_a_load50_rep2"]


def test_adding_the_key_measures_only_them(workflow):
    measure_all(workflow)
    rate = {"loads": [0.5], "workloads": ["a"]}
    workflow.edit(STUDY, lambda study: study.update(open_loop=rate))
    done = workflow.snakemake("-n", CELLS)
    assert measured(done) == [*("pretend_a_load50_rep1", "pretend_a_load50_rep2")]


def test_carried_without_their_closed_cells_they_keep_their_values(rates, tmp_path):
    measure_all(rates)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(
        rates.folder, elsewhere, ignore=shutil.ignore_patterns(".snakemake", "target", SLUG)
    )
    there = Workflow(elsewhere, rates.environment | {"PATH": os.environ["PATH"]})
    shutil.rmtree(elsewhere / "results/small/open-loop")
    for old in elsewhere.glob("results/small/*.csv"):
        old.unlink()
    done = there.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    assert set(opened(there).status) == {"measured"}
    targets = pd.read_csv(elsewhere / "results/small/open-loop/targets.csv")
    assert targets.note.str.startswith("origins-gone ").all()


def test_a_partial_run_measures_nothing(rates):
    measure_all(rates)
    shutil.rmtree(raw(rates, f"pretend/a/{SLUG}"))
    done = rates.snakemake("results/small-partial/summary.csv")
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    assert set(opened(rates, "small-partial").status) == {"measured"}


def test_void_closed_cells_make_gaps_and_no_failed_jobs(rates):
    done = rates.snakemake(CELLS, PRETEND_CLIENT="failed-run")
    # The probe's client fails too; every cell is there.
    assert len(measured(done)) == 6
    assert not re.search(r"Error in rule measure", done.stderr)
    partial = rates.snakemake("results/small-partial/cells.csv")
    assert partial.returncode == 0, partial.stderr
    found = opened(rates, "small-partial")
    assert set(found.status) == {"not measured"}
    assert found.reason.map(sentence).str.contains("no target rate.*20.00% of update").all()
    assert measured(rates.snakemake("-n", CELLS)) == []


def test_after_failed_closed_cells_they_wait_for_the_next_time(rates):
    failed = rates.snakemake("--keep-going", CELLS, PRETEND_CLIENT="exception-run")
    assert failed.returncode != 0
    assert "no target rate" in failed.stderr
    again = rates.snakemake(CELLS)
    assert again.returncode == 0, again.stderr
    assert len(measured(again)) == 6
    assert set(opened(rates).status) == {"measured"}
    assert "probe_store" in jobs(failed)


def test_the_report_has_a_table_and_a_figure_of_them(rates):
    measure_all(rates)
    done = rates.snakemake("results/small/tables/open-loop-a.tex", "figures/small/open-loop-a.pdf")
    assert done.returncode == 0, done.stderr
    table = (rates.folder / "results/small/tables/open-loop-a.tex").read_text()
    assert "Intended time (ms)" in table
    assert "Unbound" in table
