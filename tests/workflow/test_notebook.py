"""The analysis notebook, executed by a real kernel on small tidy data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from kvstudy.commands.notebook import command
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.tidy.files import read_cells, read_measurements
from kvstudy.tidy.summary import summarise

NOTEBOOK = Path(__file__).parents[2] / "workflow/notebooks/analysis.ipynb"
STUDY = Path("config/studies/jedlicka2024")
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


@pytest.fixture
def options(project: Path) -> list[str]:
    """Workload A of Redis was measured, everything else was not."""
    study = load_study(STUDY / "study.yaml")
    cells, values = [], []
    for cell in plan(study):
        key = {name: getattr(cell, name) for name in ("store", "workload", "parameters")}
        key["repetition"] = cell.repetition
        measured = (cell.store, cell.workload) == ("redis", "a")
        status, reason = ("measured", "") if measured else ("not measured", "no server")
        cells.append(
            key | {"status": status, "reason": reason, "void": "", "position": 1, "started": ""}
        )
        if not measured:
            continue
        seconds = 20 + cell.repetition
        overall = {"runtime": seconds * 1000, "throughput": 1e6 / seconds, "operations": 1e6}
        for metric, value in overall.items():
            values.append(key | {"operation": "overall", "metric": metric, "value": value})
        for operation in ("read", "update"):
            for metric, value in (LATENCIES | {"latency_p99": 99, "operations": 5e5}).items():
                values.append(key | {"operation": operation, "metric": metric, "value": value})
    units = {"runtime": "ms", "throughput": "ops/s", "operations": "count"}
    for value in values:
        value |= {"phase": "run", "unit": units.get(value["metric"], "us")}
    pd.DataFrame(cells).to_csv("cells.csv", index=False)
    pd.DataFrame(values).to_csv("measurements.csv", index=False)
    summary = summarise(
        read_measurements(Path("measurements.csv")),
        read_cells(Path("cells.csv")),
        study.store_names,
        study.workload_names,
    )
    summary.to_csv("summary.csv", index=False)
    inputs = [f"--{name}={name}.csv" for name in ("cells", "measurements", "summary")]
    published = f"--published={STUDY}/published.csv"
    Path("probes.csv").write_text(PROBES)
    inputs.append("--probes=probes.csv")
    return [*inputs, published, f"--study={STUDY}/study.yaml", f"--notebook={NOTEBOOK}"]


def test_the_page_shows_the_analysis_and_needs_no_network(options: list[str]) -> None:
    done = CliRunner().invoke(command, [*options, "--output=out/page.html"])
    assert done.exit_code == 0, done.output or done.exception
    assert done.output == "out/page.html\n"
    page = Path("out/page.html").read_text(encoding="utf-8")
    assert "means computed again and found equal" in page
    assert page.count("<img ") == page.count('alt="Figure; its caption') == 11
    assert "Throughput of all workloads" in page
    assert "HSET 1.0000" in page
    assert "Warning" not in page
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=\"http", page) == []


def test_a_summary_that_contradicts_the_measurements_gives_no_page(options: list[str]) -> None:
    summary = pd.read_csv("summary.csv")
    summary.loc[0, "mean"] *= 1.001
    summary.to_csv("summary.csv", index=False)
    done = CliRunner().invoke(command, [*options, "--output=out/page.html"])
    assert isinstance(done.exception, KvstudyError)
    assert re.search(r"analysis\.ipynb: cell \d+: AssertionError", str(done.exception))
    assert not Path("out/page.html").exists()


def test_the_notebook_is_stored_without_outputs() -> None:
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in code if cell["outputs"] or cell["execution_count"]] == []
