"""Claims of a study: judged when there are some, again when they are edited."""

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import yaml
from kvstudy.study.raw import file_digest

from tests.project import CELL, STUDY, measure, parse
from tests.workflow.conftest import jobs, measure_all, measured

CLAIMS = {
    "claims": [
        {
            "id": "X1",
            "claim": "What only reads is as fast as what updates too.",
            "place": "p. 1",
            "said": "quoted",
            "statements": [
                {
                    "kind": "equal",
                    "store": "pretend",
                    "of": {"workload": "c"},
                    "to": {"workload": "a"},
                    "margin": 50,
                }
            ],
        }
    ]
}
JUDGED = "results/small/claims.csv"
REPORT = "results/small/report/small.tex"


def test_claims_are_judged_and_judged_again_after_an_edit(workflow):
    plan = workflow.snakemake("-n", REPORT)
    assert plan.returncode == 0, plan.stderr
    assert "judge_claims" not in jobs(plan)
    path = workflow.folder / "config/studies/small/claims.yaml"
    path.write_text(yaml.safe_dump(CLAIMS))
    assert "judge_claims" in jobs(workflow.snakemake("-n", REPORT))
    measure_all(workflow)
    done = workflow.snakemake(JUDGED)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(workflow.folder / JUDGED)
    assert list(table.verdict) == ["undecided"]
    # Its cells take no five seconds.
    assert table.marks[0].startswith("short-cells")
    assert list(table.n) == [2]
    assert list(table.what) == ["in store=pretend; of workload=c; by workload=a"]

    workflow.edit(
        "config/studies/small/claims.yaml",
        lambda c: c["claims"][0]["statements"][0].update(store="unbound"),
    )
    again = workflow.snakemake(JUDGED)
    assert again.returncode == 0, again.stderr
    assert set(jobs(again)) == {"judge_claims"}
    assert measured(again) == []
    assert list(pd.read_csv(workflow.folder / JUDGED).verdict) == ["not measured"]

    workflow.edit(
        "config/studies/small/claims.yaml",
        lambda c: c["claims"][0]["statements"][0].update(store="pretendd"),
    )
    wrong = workflow.snakemake(JUDGED)
    assert wrong.returncode != 0
    reply = wrong.stdout + wrong.stderr
    assert "statements[0].store: unknown store 'pretendd'; did you mean 'pretend'?" in reply


def test_a_cell_records_which_claims_there_were_when_it_was_measured(pretend_study: Path) -> None:
    measure()
    claims = STUDY.with_name("claims.yaml")
    claims.write_text(yaml.safe_dump(CLAIMS))
    measure(CELL.replace("rep1", "rep2"))
    parse()
    recorded = json.loads(Path("results/small/environment.json").read_text())["claims"]
    cells = Counter({each["sha256"]: each["cells"] for each in recorded})
    assert cells == {"": 1, file_digest(claims): 1}
