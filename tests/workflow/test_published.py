"""source=published: a report from published values, and not one server."""

from __future__ import annotations

from tests.workflow.conftest import Workflow, jobs, measured

SOURCE = {"key": "cooper2010", "author": "A", "title": "T", "year": 2010, "published_as": "paper"}
VALUES = """\
study,table,store,workload,operation,metric,unit,value
small,T 1,pretend,a,overall,throughput,ops/s,10
"""


def publish(workflow: Workflow) -> None:
    workflow.edit("config/studies/small/study.yaml", lambda study: study.update(source=SOURCE))
    (workflow.folder / "config/studies/small/published.csv").write_text(VALUES)


def test_nothing_is_measured_for_published_values(workflow):
    publish(workflow)
    done = workflow.snakemake("-n", "--config", "study=small", "source=published")
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    build = {f"build_{form}" for form in ("pdf", "html", "docx")}
    assert set(jobs(done)) == {"all", "draw_published"} | build
    assert "report/small-published.pdf" in done.stdout


def test_a_report_comes_without_results(workflow):
    publish(workflow)
    target = "report/small-published.pdf"
    done = workflow.snakemake(target, "--config", "study=small", "source=published")
    assert done.returncode == 0, done.stderr
    assert not (workflow.folder / "results/small").exists()
    assert (workflow.folder / target).is_file()


def test_a_study_without_anything_published_says_what_is_missing(workflow):
    done = workflow.snakemake("-n", "--config", "study=small", "source=published")
    assert done.returncode != 0
    assert "none of published.csv, quotes.yaml and claims.yaml" in done.stderr + done.stdout
    assert "use source=measured" in done.stderr + done.stdout
