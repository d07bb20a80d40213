"""Repetitions until every comparison is decided: measured, continued, archived, forged."""

from __future__ import annotations

import json

import pandas as pd
import pytest
import yaml

from tests.project import STUDY
from tests.unit.packed_run import Files, as_new, repacked
from tests.workflow.conftest import (
    CELLS,
    Workflow,
    finish_and_pack,
    kvstudy,
    make_workflow,
    measured,
)

CLAIMS = "config/studies/small/claims.yaml"
LOOKS = "results/small/analysis/looks.csv"
STORES = ["pretend", {"store": "pretend", "name": "other"}]


def request_repetitions(workflow: Workflow, first: int, last: int, **more: object) -> None:
    keys = {"stores": STORES, "workloads": ["a"], "tables": [], "figures": []}
    keys["repetitions"] = {"from": first, "to": last}
    keys |= more
    workflow.edit(STUDY, lambda study: study.update(keys))


@pytest.fixture(scope="module")
def undecided(tmp_path_factory) -> Workflow:
    """Two stores that vary, in all of two to four repetitions; packed as small.zip."""
    workflow = make_workflow(tmp_path_factory.mktemp("until"))
    request_repetitions(workflow, 2, 4)
    finish_and_pack(workflow, PRETEND_CLIENT="restless")
    return workflow


def test_what_is_decided_stops_at_the_first_look(workflow):
    request_repetitions(workflow, 2, 6)
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert len(measured(done)) == 4
    look = json.loads((workflow.folder / "results/small/looks/2.json").read_text())
    assert (look["comparisons"], look["undecided"], look["stop"]) == (1, 0, "decided")
    assert measured(workflow.snakemake(CELLS)) == []


def test_a_failed_cell_ends_it_and_the_next_call_goes_on(workflow):
    request_repetitions(workflow, 2, 3)
    done = workflow.snakemake(CELLS, "--keep-going", PRETEND_CLIENT="exception-run")
    assert done.returncode != 0
    assert not (workflow.folder / "results/small/looks").exists()
    done = workflow.snakemake(CELLS, PRETEND_CLIENT="restless")
    assert done.returncode == 0, done.stderr
    assert len(measured(done)) == 6


def test_what_is_undecided_is_measured_to_the_most_and_a_larger_one_goes_on(undecided):
    looks = pd.read_csv(undecided.folder / LOOKS, keep_default_na=False)
    assert looks["repetitions"].tolist() == [2, 3, 4]
    assert looks["undecided"].tolist() == [1, 1, 1]
    assert looks["stop"].tolist() == ["", "", "most"]
    text = (undecided.folder / "results/small/report/small.md").read_text()
    assert "After 4, the maximum, 1 of 1 comparisons are undecided" in text
    report = kvstudy(undecided, "verify", "small.zip")
    assert report.returncode == 0, report.stdout
    assert "looked at after 2, 3, 4 repetitions" in report.stdout
    assert "no step of the workflow makes it" not in report.stdout


def test_claims_keep_it_going_though_the_stores_are_equal(tmp_path):
    workflow = make_workflow(tmp_path / "claims")
    timed = {"records": 1000, "operations": 24_000, "seconds": 6, "threads": 2}
    request_repetitions(workflow, 2, 3, workloads=["a", "c"], parameters=timed, repetitions=2)
    claim = {"id": "X1", "claim": "It is faster.", "place": "p. 1", "said": "quoted"}
    order = {"kind": "order", "workload": "a", "stores": ["pretend", "other"]}
    claims = {"claims": [claim | {"statements": [order]}]}
    (workflow.folder / CLAIMS).write_text(yaml.safe_dump(claims))
    done = workflow.snakemake(PRETEND_CLIENT="restless")
    assert done.returncode == 0, done.stderr
    assert "1 of 2 comparisons undecided after 2 repetitions." in done.stderr
    assert "'repetitions: {from: 2, to: 8}' in config/studies/small/study.yaml" in done.stderr
    assert "by wider intervals: at most 24 more cells, about" in done.stderr
    workflow.edit(STUDY, lambda study: study.update(repetitions={"from": 2, "to": 3}))
    finish_and_pack(workflow, PRETEND_CLIENT="restless")
    looks = pd.read_csv(workflow.folder / LOOKS, keep_default_na=False)
    # A pair under c, and in place of the one under a the claim.
    assert looks["comparisons"].tolist() == [2, 2]
    assert looks["open"].tolist() == ["X1", "X1"]
    pairs = pd.read_csv(workflow.folder / LOOKS.replace("looks", "pairs"))
    assert (pairs["decision"] == "equal").all()
    text = (workflow.folder / "results/small/report/small.md").read_text()
    assert "no claim is *undecided* for parts that repetitions can decide" in text
    assert "in 3 of at most 3 repetitions" in text
    report = kvstudy(workflow, "verify", "small.zip")
    assert report.returncode == 0, report.stdout
    forged = repacked(workflow.folder / "small.zip", as_new(lambda files: files.pop(CLAIMS)))
    report = kvstudy(workflow, "verify", str(forged))
    assert report.returncode != 0
    assert f"{CLAIMS}: was changed after 12 cells" in report.stdout, report.stdout


@pytest.mark.parametrize("fault", ["look", "bound", "margin", "repetition"])
def test_a_forged_stop_is_refused(undecided, fault):
    def forge(files: Files) -> None:
        study = f"{STUDY}"
        lines = files[LOOKS].decode().splitlines(keepends=True)
        if fault == "look":
            # One look less, so that it seems to have been the first that decided.
            files[LOOKS] = "".join([*lines[:2], *lines[3:]]).encode()
        elif fault == "bound":
            files[study] = files[study].replace(b"from: 2", b"from: 3")
        elif fault == "margin":
            files[study] = files[study].replace(b"from: 2", b"from: 2\n  margin: 0.5")
        else:
            files[LOOKS] = "".join(lines[:-1]).encode()
            for name in [name for name in files if "/rep4/" in name]:
                del files[name]

    forged = repacked(undecided.folder / "small.zip", as_new(forge))
    report = kvstudy(undecided, "verify", str(forged))
    assert report.returncode != 0
    words = {
        "look": "has not one row for each look",
        "bound": "were measured when it said {from: 2, to: 4}",
        "margin": "the margin is 50.0% where the plan asks for",
        "repetition": "though up to 4 are planned",
    }
    assert words[fault] in report.stdout, report.stdout


def test_a_larger_number_goes_on_where_it_was(undecided):
    request_repetitions(undecided, 2, 5)
    done = undecided.snakemake(CELLS, PRETEND_CLIENT="restless")
    assert done.returncode == 0, done.stderr
    assert measured(done) == ["other_a_rep5", "pretend_a_rep5"]
