"""Logs that others measured, to a PDF whose text is read."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from statistics import geometric_mean

import pandas as pd
import pytest

from tests.e2e.pipeline import run
from tests.formats_support import text_of
from tests.project import ROOT, copy_project


@pytest.fixture(scope="module")
def imported(tmp_path_factory) -> Path:
    """A copy of the project, without bindings or servers, that has imported the logs."""
    folder = tmp_path_factory.mktemp("imported")
    copy_project(folder, "target")
    logs = folder / "logs of Jan"
    shutil.copytree(ROOT / "tests/data/imports", logs)
    # A later run with another distribution: a workload under a name that no file has.
    log = (logs / "redis/run_a_2.txt").read_text().replace("/a_2.", "/a_3.")
    log = log.replace("2026-11-21 ", "2026-11-22 ")
    log = log.replace("-threads 4", "-p requestdistribution=uniform -threads 4")
    # No two runs have the same results.
    log = re.sub(r"(?<=95thPercentileLatency\(us\), )\d+", lambda it: f"{int(it[0]) + 1}", log)
    (logs / "redis/run_a_3.txt").write_text(log)
    for command in (
        ["kvstudy", "import", "logs of Jan", "--study", "jan", "--measured-by", "Jan & Co"],
        ["snakemake", "--cores", "2", "--config", "study=jan"],
    ):
        run(folder, *command, seconds=1200)
    return folder


@pytest.fixture(scope="module")
def text(imported: Path) -> str:
    return " ".join(text_of(imported / "report/jan.pdf").split())


def test_the_first_page_says_where_the_logs_are_from(imported, text):
    assert "warning" not in (imported / "results/jan/logs/build-pdf.log").read_text()
    first = text[: text.index("Contents")]
    assert "These measurements were imported, not made by kvstudy." in first
    assert "in the folder logs of Jan" in first
    assert "Measured by: Jan & Co. Machine: not recorded." in first
    assert "Imported logs; time of measurement not recorded" in first


def test_the_first_page_lists_the_checks_that_are_missing(text):
    first = text[: text.index("Contents")]
    for words in (
        "the server: its version, its settings",
        "the server\N{RIGHT SINGLE QUOTATION MARK}s own counters",
        "the CPU time of client and server",
        "the time of measurement",
        "the operations in each second",
        "latency histograms",
        "the log of the load phase",
    ):
        assert words in first


def test_the_text_claims_nothing_that_was_not_done(text):
    for words in ("in random order", "Each cell has its own server", "as shipped", "make study"):
        assert words not in text
    plain = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    assert "unpaired, by Welch's method" in plain
    assert "kvstudy import 'logs of Jan' --study jan" in plain


def test_tables_have_the_values_of_the_logs(imported):
    log = (imported / "logs of Jan/memcached/c-all.log").read_text()
    rates = [float(line.split(", ")[2]) for line in log.splitlines() if "Throughput" in line]
    table = pd.read_csv(imported / "results/jan/tables/workload-c.csv")
    row = table[(table.store == "memcached") & (table.metric == "throughput")].iloc[0]
    assert row["mean"] == pytest.approx(geometric_mean(rates), rel=1e-12)
    bars = pd.read_csv(imported / "figures/jan/throughput.csv")
    assert set(bars.panel) == {"imported"}


def test_all_steps_know_a_workload_that_is_no_file_of_its_own(imported, text):
    study = (imported / "config/studies/jan/study.yaml").read_text()
    assert "name: a-uniform, file: a" in study
    assert "Workload A, uniform" in text


def test_histograms_give_percentiles_of_all_runs(imported):
    table = pd.read_csv(imported / "results/jan/tables/percentiles.csv").query("workload == 'a'")
    assert set(table.store) == {"redis"}
    assert set(table.n) == {2}
