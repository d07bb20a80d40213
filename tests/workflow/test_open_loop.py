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
TRIAL = f"pretend/a/{SLUG}_trial/rep0"
OPEN = f"pretend/a/{SLUG}_load50"


@pytest.fixture
def rates(workflow: Workflow) -> Workflow:
    """Four closed-loop cells, two at half load, and the trial cell that sets their rate."""

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


def test_they_are_measured_once_after_all_others_and_their_trial_cell(rates):
    done = measure_all(rates)
    order = [
        match[1]
        for line in done.stderr.splitlines()
        if (match := re.match(rf"Job \d+: measure .*{SLUG}(_\w+)?,", line))
    ]
    assert order == [None] * 4 + ["_trial"] + ["_load50"] * 2
    # It counts as the others do.
    assert "7 cells" in done.stderr
    assert set(opened(rates).status) == {"measured"}
    assert len(pd.read_csv(rates.folder / CELLS).query("store == 'pretend'")) == 4
    again = rates.snakemake(CELLS)
    assert "Nothing to be done" in again.stderr + again.stdout


def test_a_trial_cell_that_is_measured_again_leaves_them_alone(rates):
    measure_all(rates)
    before = (raw(rates, f"{OPEN}/rep1") / "SHA256SUMS").stat().st_mtime_ns
    shutil.rmtree(raw(rates, TRIAL))
    assert measured(rates.snakemake("-n")) == ["pretend_a_trial_rep0"]
    done = rates.snakemake(CELLS, f"results/small/raw/{TRIAL}/SHA256SUMS")
    assert done.returncode == 0, done.stderr
    assert measured(done) == ["pretend_a_trial_rep0"]
    assert (raw(rates, f"{OPEN}/rep1") / "SHA256SUMS").stat().st_mtime_ns == before
    targets = pd.read_csv(rates.folder / "results/small/open-loop/targets.csv")
    assert targets.note.eq(f"trial-gone cell={TRIAL}").all()
    # A newer one, as a copy without times makes it, changes nothing either.
    os.utime(raw(rates, TRIAL) / "SHA256SUMS")
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
    assert measured(done) == [
        *("pretend_a_load50_rep1", "pretend_a_load50_rep2", "pretend_a_trial_rep0")
    ]


def test_carried_without_their_trial_cell_they_keep_their_values(rates, tmp_path):
    measure_all(rates)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(
        rates.folder,
        elsewhere,
        ignore=shutil.ignore_patterns(".snakemake", "target", f"{SLUG}_trial"),
    )
    other = Workflow(elsewhere, rates.environment | {"PATH": os.environ["PATH"]})
    shutil.rmtree(elsewhere / "results/small/open-loop")
    for old in elsewhere.glob("results/small/*.csv"):
        old.unlink()
    done = other.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    assert opened(other).query("parameters.str.endswith('_load50')").status.eq("measured").all()
    targets = pd.read_csv(elsewhere / "results/small/open-loop/targets.csv")
    assert targets.note.str.startswith("trial-gone ").all()


def test_a_partial_run_measures_nothing(rates):
    measure_all(rates)
    shutil.rmtree(raw(rates, TRIAL))
    done = rates.snakemake("results/small-partial/summary.csv")
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    states = opened(rates, "small-partial").set_index("parameters").status
    assert states[f"{SLUG}_load50"].eq("measured").all()
    assert states[f"{SLUG}_trial"] == "not measured"


def test_a_void_trial_cell_makes_gaps_and_no_failed_jobs(rates):
    done = rates.snakemake(CELLS, PRETEND_CLIENT="failed-run")
    # The probe's client fails too; every cell is there.
    assert len(measured(done)) == 7
    assert not re.search(r"Error in rule measure", done.stderr)
    partial = rates.snakemake("results/small-partial/cells.csv")
    assert partial.returncode == 0, partial.stderr
    table = opened(rates, "small-partial").query("parameters.str.endswith('_load50')")
    assert set(table.status) == {"not measured"}
    assert table.reason.map(sentence).str.contains("no target rate.*20.00% of update").all()
    assert measured(rates.snakemake("-n", CELLS)) == []


def test_after_a_failed_trial_cell_they_wait_for_the_next_time(rates):
    failed = rates.snakemake("--keep-going", CELLS, PRETEND_CLIENT="exception-run")
    assert failed.returncode != 0
    assert "no target rate" in failed.stderr
    again = rates.snakemake(CELLS)
    assert again.returncode == 0, again.stderr
    assert len(measured(again)) == 7
    assert set(opened(rates).status) == {"measured"}
    assert "probe_store" in jobs(failed)


def test_the_report_has_a_table_and_a_figure_of_them(rates):
    measure_all(rates)
    done = rates.snakemake("results/small/tables/open-loop-a.tex", "figures/small/open-loop-a.pdf")
    assert done.returncode == 0, done.stderr
    table = (rates.folder / "results/small/tables/open-loop-a.tex").read_text()
    assert "Intended time (ms)" in table
    assert "Unbound" in table
