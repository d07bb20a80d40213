"""Another language is made of the same measured data, next to the English report."""

from __future__ import annotations

from pathlib import Path

from tests.workflow.conftest import Workflow, jobs, measure_all, measured

TABLES = "results/small/tables/ratios.tex"
CZECH = "results/small/cs/tables/ratios.tex"


def times(folder: Path) -> dict[Path, int]:
    # The log of the progress gets a line in every run.
    return {
        path: path.stat().st_mtime_ns
        for path in folder.rglob("*")
        if path.is_file() and path.name != "progress.log"
    }


def test_another_language_measures_nothing_and_leaves_the_english_files_alone(workflow: Workflow):
    measure_all(workflow)
    done = workflow.snakemake(TABLES)
    assert done.returncode == 0, done.stderr
    before = times(workflow.folder / "results" / "small")
    czech = workflow.snakemake(CZECH, "--config", "language=cs")
    assert czech.returncode == 0, czech.stderr
    assert jobs(czech) == {"make_tables": 1}
    after = times(workflow.folder / "results" / "small")
    assert {path: after[path] for path in before} == before
    again = workflow.snakemake(TABLES, "-n")
    assert "Nothing to be done" in again.stderr + again.stdout
    report = workflow.snakemake("-n", "--config", "language=cs")
    assert measured(report) == []
    assert "report/small-cs.pdf" in report.stdout
    assert "report/small.pdf" not in report.stdout


def test_an_unknown_language_stops_before_anything_is_measured(workflow: Workflow):
    done = workflow.snakemake("-n", "--config", "language=xx")
    assert done.returncode != 0
    assert "config/config.yaml: language: unknown language 'xx'" in done.stderr + done.stdout
