"""What was made and then removed, or edited by hand."""

from __future__ import annotations

import os
import time

import pytest
import yaml

from tests.workflow.conftest import Workflow, jobs, make_workflow
from tests.workflow.test_claims import CLAIMS
from tests.workflow.test_published import publish

RESULTS = "results/small"
# All that a reader may take out of a run, and the rule that makes it.
MADE = {
    f"{RESULTS}/cells.csv": "parse_cells",
    f"{RESULTS}/measurements.csv": "parse_cells",
    f"{RESULTS}/environment.json": "parse_cells",
    f"{RESULTS}/series.csv": "parse_cells",
    f"{RESULTS}/histograms.csv": "parse_cells",
    f"{RESULTS}/resources.csv": "parse_cells",
    f"{RESULTS}/probes.csv": "parse_cells",
    f"{RESULTS}/open-loop/cells.csv": "parse_cells",
    f"{RESULTS}/gaps/unbound.json": "record_gap",
    f"{RESULTS}/summary.csv": "analyse",
    f"{RESULTS}/analysis/intervals.csv": "analyse",
    f"{RESULTS}/analysis/drift.json": "analyse",
    f"{RESULTS}/audit.csv": "audit_source",
    f"{RESULTS}/claims.csv": "judge_claims",
    f"{RESULTS}/tables/claims.tex": "make_tables",
    f"{RESULTS}/tables/workload-a.csv": "make_tables",
    f"{RESULTS}/tables/workload-a.tex": "make_tables",
    f"{RESULTS}/tables/workload-a.html": "make_tables",
    f"{RESULTS}/provenance.json": "record_provenance",
    f"{RESULTS}/commands.txt": "write_commands",
    f"{RESULTS}/small.xlsx": "write_workbook",
    f"{RESULTS}/export/numbers.tex": "export_for_thesis",
    f"{RESULTS}/export/tables/workload-a.csv": "export_for_thesis",
    f"{RESULTS}/export/figures/throughput.pdf": "export_for_thesis",
    f"{RESULTS}/analysis.ipynb": "run_notebook",
    "figures/small/throughput.pdf": "draw_figures",
    "figures/small/throughput.csv": "draw_figures",
    "figures/small/throughput.vl.json": "draw_figures",
    "report/small.pdf": "build_pdf",
    "report/small.html": "build_html",
    "report/small.docx": "build_docx",
    "report/small-analysis.html": "run_notebook",
}


@pytest.fixture(scope="module")
def complete(tmp_path_factory) -> Workflow:
    """A run of which every file is there: measured and parsed, the rest without content."""
    workflow = make_workflow(tmp_path_factory.mktemp("removed"))
    publish(workflow)
    (workflow.folder / "config/studies/small/claims.yaml").write_text(yaml.safe_dump(CLAIMS))
    done = workflow.snakemake(f"{RESULTS}/summary.csv", f"{RESULTS}/claims.csv")
    assert done.returncode == 0, done.stderr
    listed = workflow.snakemake("--summary").stdout.splitlines()
    now = time.time()
    for line in listed[listed.index(next(x for x in listed if x.startswith("output_file"))) + 1 :]:
        path = workflow.folder / line.split("\t")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch()
            # At one time: the list is in no order of making, and what is older is made again.
            os.utime(path, (now, now))
    assert jobs(workflow.snakemake("-n")) == {}
    return workflow


@pytest.mark.parametrize(("name", "rule"), MADE.items())
def test_what_was_removed_is_made_again(complete, name, rule):
    path = complete.folder / name
    kept = path.rename(complete.folder / "removed")
    try:
        planned = jobs(complete.snakemake("-n"))
        assert planned.get(rule) == 1
        assert "measure" not in planned
    finally:
        kept.rename(path)


@pytest.mark.parametrize("name", ["cells.csv", "summary.csv", "analysis/drift.json", "claims.csv"])
def test_an_edited_file_is_refused_until_it_is_removed(complete, name):
    path = complete.folder / RESULTS / name
    example = path.read_text()
    # The same content, as a copy has it, is no edit.
    path.write_text(example)
    assert complete.snakemake("-n").returncode == 0
    path.write_text(f"{example} ")
    done = complete.snakemake("-n")
    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert f"no number of the report is typed by hand:\n  {RESULTS}/{name}\nRemove" in said
    path.unlink()
    assert jobs(complete.snakemake("-n"))[MADE[f"{RESULTS}/{name}"]] == 1
    path.write_text(example)
