"""A study of imported logs: Snakemake builds from them and measures nothing."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflow.conftest import Workflow, jobs, measured

LOGS = Path(__file__).parents[1] / "data" / "imports"


@pytest.fixture
def imported(workflow: Workflow) -> Workflow:
    shutil.copytree(LOGS, workflow.folder / "logs")
    subprocess.run(
        ["kvstudy", "import", "logs", "--study", "jan"],
        cwd=workflow.folder,
        env=workflow.environment,
        check=True,
        capture_output=True,
    )
    workflow.edit("config/config.yaml", lambda c: c.update(study="jan"))
    return workflow


def test_nothing_is_measured_or_probed(imported):
    done = imported.snakemake("-n")
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    assert set(jobs(done)) == {
        *("all", "parse_cells", "analyse", "make_tables", "draw_figures"),
        *("render_report", "build_pdf", "build_html", "build_docx", "run_notebook"),
        *("export_for_thesis", "write_workbook", "record_provenance"),
    }


def test_imported_again_with_more_the_tables_are_made_again(imported):
    assert imported.snakemake("results/jan/summary.csv").returncode == 0
    path = imported.folder / "config/studies/jan/import.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if "redis-c-run2" not in line))
    subprocess.run(["kvstudy", "import", "logs", "--study", "jan"], cwd=imported.folder, check=True)
    done = imported.snakemake("-n", "results/jan/summary.csv")
    assert "parse_cells" in jobs(done)


def test_without_its_logs_the_study_says_what_to_run(imported):
    shutil.rmtree(imported.folder / "results")
    done = imported.snakemake("-n")
    assert done.returncode != 0
    assert "kvstudy import FOLDER --study jan" in done.stdout + done.stderr


def test_a_scale_makes_no_sense(imported):
    done = imported.snakemake("-n", "--config", "scale=0.1")
    assert done.returncode != 0
    assert "with scale 1" in done.stdout + done.stderr
