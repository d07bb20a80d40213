"""Real servers at fixed rates: the rates are held, and a stall shows where it should."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml

from tests.e2e.pipeline import snakemake
from tests.formats_support import text_of
from tests.histogram_rows import long

ROOT = Path(__file__).parents[2]
STUDY = {
    "name": "rates",
    "title": "Rates",
    "question": "Are the rates held?",
    "stores": ["redis"],
    "workloads": ["a"],
    "repetitions": 1,
    "noise_floor": False,
    "client_ceiling": False,
}
HELD = STUDY | {
    "parameters": {"records": 1000, "operations": 10_000, "threads": 4, "seconds": 15},
    "open_loop": {"loads": [0.1]},
}


@pytest.fixture(scope="module")
def clone(clone: Path) -> Path:
    """The copy of the project, with the study ``rates``."""
    study = clone / "config/studies/rates/study.yaml"
    study.parent.mkdir()
    study.write_text(yaml.safe_dump(HELD))
    return clone


def environment(clone: Path) -> dict[str, str]:
    return os.environ | {"KVSTUDY_STATE": str(clone / "state")}


@pytest.fixture(scope="module")
def results(clone: Path) -> Path:
    """The study with its report."""
    snakemake(clone, "study=rates", "provider=native", target="report/rates.pdf")
    return clone / "results/rates"


def test_the_rate_follows_from_the_trial_cell_and_is_held(results):
    (closed,) = pd.read_csv(results / "summary.csv").query("metric == 'throughput'").itertuples()
    assert closed.parameters == "r1000_o10000_t4_s15"
    of_trial = "metric == 'throughput' and phase == 'run' and parameters.str.endswith('_trial')"
    (trial,) = pd.read_csv(results / "open-loop/measurements.csv").query(of_trial).itertuples()
    (rate,) = pd.read_csv(results / "analysis/open_rates.csv").itertuples()
    assert rate.target == round(0.1 * trial.value)
    assert rate.parameters == closed.parameters
    # They are two measurements of one thing.
    assert trial.value != closed.mean
    assert trial.value == pytest.approx(closed.mean, rel=0.5)
    assert rate.short == 0
    # Without a rate it would be ten times as much, with that of one thread a quarter. Beside
    # other tests, a machine of two cores once sent four fifths of what was due; after a slow
    # start it sends more than the rate.
    assert 0.5 * rate.target < rate.achieved < 2 * rate.target
    assert rate.reached == (rate.achieved >= 0.99 * rate.target)
    (target,) = pd.read_csv(results / "open-loop/targets.csv").itertuples()
    assert (target.target, target.throughput) == (rate.target, trial.value)
    assert target.trial == "redis/a/r1000_o10000_t4_s15_trial/rep0"


def test_every_operation_has_a_service_and_an_intended_time(results):
    values = pd.read_csv(results / "open-loop/measurements.csv")
    values = values.query("phase == 'run' and not parameters.str.endswith('_trial')")
    counts = values.query("metric == 'operations'").set_index("operation")["value"]
    table = long(pd.read_csv(results / "open-loop/histograms.csv"))
    table = table.query("not parameters.str.endswith('_trial')")
    table = table.groupby("operation")["count"].sum()
    for operation in ("read", "update"):
        assert table[operation] == table[f"intended {operation}"] == counts[operation] > 1000
    latencies = pd.read_csv(results / "analysis/open_percentiles.csv")
    both = latencies.query("operation == 'all'").pivot(
        index="percent", columns="time", values="value"
    )
    # What is due is sent afterwards, never before.
    assert (both["intended"] >= both["service"]).all()
    closed = pd.read_csv(results / "histograms.csv")
    assert set(closed["operation"]) == {"read", "update"}


def test_the_report_explains_and_shows_both_times(results):
    text = " ".join(text_of(results.parents[1] / "report/rates.pdf").split())
    assert "Latency at fixed rates" in text
    assert "coordinated omission" in text
    assert "Latency at fixed rates, Workload A" in text
    (rate,) = pd.read_csv(results / "analysis/open_rates.csv").itertuples()
    assert f"{rate.target:.0f}" in text.replace("\N{NARROW NO-BREAK SPACE}", "").replace(" ", "")
    assert "1 of 1 planned cells were measured" in text
    assert "That throughput comes from a trial cell" in text
    assert "times the geometric mean of the closed-loop repetitions, so the true loads" in text


def test_a_stall_of_the_server_shows_in_the_intended_time_only(clone, results):
    """Coordinated omission: four operations see the stall, thousands were due in it."""
    cell = "redis/a/r1000_o10000_t4_s15_load10/rep1"
    shutil.rmtree(results / "raw" / cell)
    command = ["kvstudy", "measure", cell, "--study", "config/studies/rates/study.yaml"]
    client = subprocess.Popen([*command, "--provider", "native"], cwd=clone, env=environment(clone))
    try:
        status = results / "measuring" / cell / "run.err"
        wait_for(lambda: status.is_file() and status.read_text().count(" sec: ") >= 4, client)
        children = psutil.Process(client.pid).children(recursive=True)
        (server,) = [child for child in children if "redis-server" in child.name()]
        server.send_signal(signal.SIGSTOP)
        # The client gives an operation up after two seconds.
        time.sleep(1.5)
        server.send_signal(signal.SIGCONT)
        assert client.wait(timeout=120) == 0
    finally:
        if client.poll() is None:
            client.terminate()
            client.wait(timeout=60)
    parse = ["kvstudy", "parse", "rates"]
    subprocess.run(parse, cwd=clone, env=environment(clone), check=True)
    values = pd.read_csv(results / "open-loop/measurements.csv")
    values = values.query("phase == 'run' and not parameters.str.endswith('_trial')")
    for operation in ("read", "update"):
        of = values[values["operation"] == operation].set_index("metric")["value"]
        # A tenth of the time: so many of the operations were due in the stall.
        assert of["intended_latency_p99"] > 1_000_000
        assert of["intended_latency_p95"] > 300_000
        assert of["latency_p99"] < 100_000
        assert of["intended_latency_p99"] > 20 * of["latency_p99"]
    manifest = json.loads((results / "raw" / cell / "manifest.json").read_text())
    assert values.query("metric == 'latency_max'")["value"].max() > 1_400_000
    assert manifest["target"]["load"] == 10


def wait_for(condition, client: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert client.poll() is None, "the measurement ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.05)
