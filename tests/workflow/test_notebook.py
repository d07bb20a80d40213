"""The analysis notebook, executed by a real kernel on small tidy data."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import nbformat
import pandas as pd
import papermill
import pytest
import yaml
from click.testing import CliRunner, Result
from kvstudy.analyse.findings.files import analyse, write_analysis
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import (
    CELLS,
    HISTOGRAMS,
    MEASUREMENTS,
    OUTCOMES,
    RESOURCES,
    ROUNDS,
    SERIES,
)
from kvstudy.analyse.tidy.open_loop import TABLES, OpenLoopTables
from kvstudy.analyse.tidy.summary import summarise
from kvstudy.commands.documents import notebook as command
from kvstudy.documents.report.build import build_pdf
from kvstudy.errors import KvstudyError
from kvstudy.render.latex import fill
from kvstudy.study.cells import closed_loop, plan, shown
from kvstudy.study.load import load_study

from tests.project import kvstudy

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "workflow/notebooks/analysis.ipynb"
STUDY = Path("config/studies/jedlicka2024/study.yaml")
RUN = Path("results/jedlicka2024")
PAGE = Path("report/jedlicka2024-analysis.html")
PROBES = """\
store,step,kind,name,value,reason
redis,update,operations,,10,
redis,update,status,OK,1.0,
redis,update,command,HSET,1.0,
riak,,none,,,no server of it
aerospike,,none,,,no server of it
memcached,,none,,,no server of it
"""
LATENCIES = {"latency_mean": 50, "latency_min": 10, "latency_max": 900, "latency_p95": 80}
UNITS = {"runtime": "ms", "throughput": "ops/s", "operations": "count"}
TITLE = r"Riak_%&#\<K>"


def edited(change) -> None:
    study = yaml.safe_load(STUDY.read_text())
    change(study)
    STUDY.write_text(yaml.safe_dump(study, sort_keys=False))


def several_sizes_and_odd_names(study: dict) -> None:
    study["title"] = f"A study of {TITLE}"
    study["stores"][1]["title"] = TITLE
    # After the transcripts; the others are drawn alike.
    study["figures"] = study["figures"][3:5]
    study["figures"][0]["caption"] = f"50 % & more_of {TITLE}"
    study["workloads"][0] = {"name": "a", "threads": [1, 2, 4]}


def few_figures(study: dict) -> None:
    study["figures"] = study["figures"][3:4]
    study["workloads"] = ["a"]
    study["figures"][0]["workloads"] = ["a"]
    study["tables"] = study["tables"][:2]
    Path(STUDY).with_name("claims.yaml").unlink()


def write_run(measured: set[tuple[str, str]]) -> None:
    """A run in which these stores were measured under these workloads."""
    RUN.mkdir(parents=True, exist_ok=True)
    study = load_study(STUDY)
    cells, values = [], []
    for cell in closed_loop(plan(study)):
        key = {name: getattr(cell, name) for name in ("store", "workload", "parameters")}
        key["repetition"] = cell.repetition
        present = (cell.store, cell.workload) in measured
        status, reason = ("measured", "") if present else ("not measured", f"no server of {TITLE}")
        cells.append(
            key | {"status": status, "reason": reason, "invalid": "", "position": 1, "started": ""}
        )
        if not present:
            continue
        # Riak's runs differ more, so that ratios of plain and of geometric means do too.
        seconds = 20 + cell.repetition * (4 if cell.store == "riak" else 1)
        overall = {"runtime": seconds * 1000, "throughput": 1e6 / seconds, "operations": 1e6}
        result = [("overall", metric, value) for metric, value in overall.items()]
        latencies = LATENCIES | {"latency_p99": 99, "operations": 2e5}
        result += [("read", metric, value) for metric, value in latencies.items()]
        result += [("update", metric, value) for metric, value in latencies.items()]
        for operation, metric, value in result:
            names = {"operation": operation, "metric": metric, "unit": UNITS.get(metric, "us")}
            values.append(key | {"phase": "run"} | names | {"value": value})
    columns = ["store", "workload", "parameters", "repetition", "phase"]
    columns += ["operation", "metric", "unit", "value"]
    pd.DataFrame(cells).to_csv(RUN / "cells.csv", index=False)
    pd.DataFrame(values, columns=columns).to_csv(RUN / "measurements.csv", index=False)
    for name, empty in {
        **{"series": SERIES.columns, "histograms": HISTOGRAMS.columns},
        **{"resources": RESOURCES.columns},
    }.items():
        pd.DataFrame(columns=empty).to_csv(RUN / f"{name}.csv", index=False)
    (RUN / "probes.csv").write_text(PROBES)
    (RUN / "environment.json").write_text('{"stores": {}, "components": []}')
    kvstudy("audit", "--study", str(STUDY), "--output", str(RUN / "audit.csv"))
    tables = MEASUREMENTS.read(RUN), CELLS.read(RUN)
    names, one = study.workload_names, shown(study)
    summarise(*tables, study.store_names, names, one).to_csv(RUN / "summary.csv", index=False)
    of = Run(RUN.name, study)
    # What this run has no files of.
    open_loop = OpenLoopTables(*(table.frame() for table in TABLES))
    vars(of).update(outcomes=OUTCOMES.frame(), rounds=ROUNDS.frame(), open_loop=open_loop)
    write_analysis(analyse(of), of.analysis_folder)


def run() -> Result:
    shutil.copytree(ROOT / "report" / "templates", "report/templates", dirs_exist_ok=True)
    return CliRunner().invoke(command, [RUN.name, f"--notebook={NOTEBOOK}", "--latex"])


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> Path:
    """A project in which the notebook ran; workload A was measured on two stores, at one size."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("config", "envs/stores", "workloads", "report"):
        shutil.copytree(ROOT / name, folder / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        edited(several_sizes_and_odd_names)
        write_run({("redis", "a"), ("riak", "a")})
        done = run()
        assert done.exit_code == 0, done.output or done.exception
        assert done.output == f"{PAGE}\n"
    return folder


@pytest.fixture
def inside(executed, monkeypatch) -> Path:
    monkeypatch.chdir(executed)
    return executed


def test_the_page_shows_the_analysis_and_needs_no_network(inside):
    page = (inside / PAGE).read_text(encoding="utf-8")
    assert "means computed again and found equal" in page
    assert "18 runs: throughput, operations and run time agree" in page
    # Two of the study, the ratios, the runs as dots; the run has neither seconds nor histograms.
    assert page.count("<img ") == page.count('alt="Figure; its caption') == 4
    assert "<strong>Latency percentiles</strong>, " in page
    assert "NaN" not in page
    title = "A study of Riak_%&amp;#\\&lt;K&gt;: analysis of the run jedlicka2024"
    assert f"<title>{title}</title>" in page
    assert re.search(rf"<h1[^>]*>{re.escape(title)}", page)
    assert "Trial run" not in page
    assert "Run time of all workloads" in page
    assert "HSET 1.0000" in page
    assert "Warning" not in page
    assert r"50 % &amp; more_of Riak_%&amp;#\&lt;K&gt;" in page
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"http", page) == []


def test_the_written_notebook_has_no_times_and_runs_again_from_its_folder(inside, monkeypatch):
    path = inside / RUN / "analysis.ipynb"
    text = path.read_text(encoding="utf-8")
    assert "start_time" not in text
    assert str(inside) not in text
    monkeypatch.chdir(path.parent)
    again = papermill.execute_notebook(
        path.name, None, progress_bar=False, kernel_name="python3", cwd=str(path.parent)
    )
    before = nbformat.reads(text, as_version=4)
    assert len(again.cells) == len(before.cells)
    for old, new in zip(before.cells, again.cells, strict=True):
        texts = [
            [output.get("data", {}).get("text/plain") for output in cell.get("outputs", [])]
            for cell in (old, new)
        ]
        assert texts[0] == texts[1]


def test_it_ends_the_report_as_an_appendix(inside, monkeypatch):
    folder = inside / RUN / "report"
    monkeypatch.chdir(folder)
    Path("body.tex").write_text("The report.\n\\appendix\n")
    names = dict.fromkeys(["title", "subtitle", "dateline", "subject", "run"], "x")
    front = names | {"body": "body.tex", "appendix": "notebook.tex", "columns": 100}
    text = fill(ROOT / "report/templates/report.tex.j2", **front)
    Path("main.tex").write_text(text, encoding="utf-8")
    build_pdf(Path("main.tex"), Path("build"), Path("main.pdf"))
    output = subprocess.run(["pdftotext", "main.pdf", "-"], capture_output=True, text=True).stdout
    words = " ".join(output.split())
    assert f"A A study of {TITLE}: analysis of the run jedlicka2024" in words
    assert "means computed again and found equal" in words
    assert 'assert ((both["mean"] - both["again"]).abs()' in words
    assert f"50 % & more_of {TITLE}" in words


def test_a_run_without_any_measured_cell_has_a_notebook_too(project, tmp_path, monkeypatch):
    edited(few_figures)
    write_run(set())
    temporary = tmp_path / "temporary"
    temporary.mkdir(mode=0o700)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    done = run()
    assert done.exit_code == 0, done.output or done.exception
    # The user's folder is as it was: Jupyter sets the sticky bit where its sockets are.
    assert (temporary.stat().st_mode & 0o7777, list(temporary.iterdir())) == (0o700, [])
    page = PAGE.read_text(encoding="utf-8")
    assert "nothing was measured" in page
    assert "0 means computed again" in page


def test_a_summary_that_contradicts_the_measurements_gives_no_page(project):
    write_run({("redis", "a")})
    summary = pd.read_csv(RUN / "summary.csv")
    summary.loc[0, "mean"] *= 1.001
    summary.to_csv(RUN / "summary.csv", index=False)
    done = run()
    assert isinstance(done.exception, KvstudyError)
    assert re.search(r"analysis\.ipynb: cell \d+: AssertionError", str(done.exception))
    assert not PAGE.exists()
    assert not (RUN / "analysis.ipynb").exists()


def test_ratios_are_those_of_the_report(inside):
    """24, 28 and 32 s by 21, 22 and 23 s: of geometric means 0.791, of plain ones 0.796."""
    book = nbformat.read(inside / RUN / "analysis.ipynb", as_version=4)
    (shown,) = [cell for cell in book.cells if cell["source"].startswith("sides = ")]
    table = shown.outputs[0]["data"]["text/plain"]
    assert "0.791" in table
    assert "0.796" not in table


def test_a_ratio_that_is_not_the_reports_gives_no_page(project):
    edited(few_figures)
    # With two workloads there are pairs of their mean too.
    edited(lambda study: study.update(workloads=["a", "c"]))
    write_run({(store, workload) for store in ("redis", "riak") for workload in ("a", "c")})
    pairs = pd.read_csv(RUN / "analysis/pairs.csv")
    assert set(pairs["workload"]) == {"a", "c", "mean"}
    done = run()
    assert done.exit_code == 0, done.output or done.exception
    PAGE.unlink()
    # Less than what plain means make of the same runs.
    columns = ["ratio", "low", "high"]
    pairs.assign(**pairs[columns] * 1.005).to_csv(RUN / "analysis/pairs.csv", index=False)
    done = run()
    assert isinstance(done.exception, KvstudyError)
    says = r"AssertionError: a: redis / riak is 1\.265 in the runs, 1\.271 in analysis/pairs\.csv"
    assert re.search(rf"analysis\.ipynb: cell \d+: {says}", str(done.exception))
    assert not PAGE.exists()


def test_the_notebook_is_stored_without_outputs() -> None:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []
