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
    # One run with other threads: a workload under a name that no file has.
    log = workflow.folder / "logs/redis/run_a_2.txt"
    log.write_text(log.read_text().replace("-threads 4", "-threads 8"))
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
        *("all", "parse_cells", "summarise", "analyse", "make_tables", "draw_figures"),
        *("render_report", "build_pdf", "run_notebook", "export_for_thesis"),
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


def test_all_steps_know_a_workload_that_is_no_file_of_its_own(imported):
    assert "name: a-t8, file: a" in (
        (imported.folder / "config/studies/jan/study.yaml").read_text()
    )
    done = imported.snakemake("results/jan/report/jan.tex", "report/jan-analysis.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Workload A, 8 threads" in (
        (imported.folder / "results/jan/report/jan.md").read_text().replace("\\", "")
    )
