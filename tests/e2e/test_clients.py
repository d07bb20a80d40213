"""Several clients on a real server: they begin together, share the work, and are merged exactly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.stats import percentiles
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import raw_directory

from tests.e2e.pipeline import snakemake
from tests.histogram_rows import long

RECORDS, OPERATIONS, CLIENTS = 5_000, 40_001, 3
STUDY = {
    "name": "several",
    "title": "Several clients",
    "question": "Do they do what one does?",
    "stores": ["redis"],
    "workloads": ["a", "insert"],
    "parameters": {
        "records": RECORDS,
        "operations": OPERATIONS,
        "threads": 4,
        "clients": CLIENTS,
        "raw_latencies": True,
    },
    "repetitions": 1,
    "noise_floor": False,
    "client_ceiling": False,
}


@pytest.fixture(scope="module")
def results(clone: Path) -> Path:
    file = clone / "config/studies/several/study.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(STUDY))
    snakemake(clone, "study=several", "provider=native", target="report/several.html")
    return clone / "results/several"


@pytest.fixture
def values(results: Path) -> pd.DataFrame:
    table = pd.read_csv(results / "measurements.csv")
    measured = {"a": "run", "insert": "load"}
    return table[table["phase"] == table["workload"].map(measured)]


def test_they_begin_together_and_the_cells_are_valid(results, values):
    assert pd.read_csv(results / "cells.csv")["invalid"].isna().all()
    overall = values[values["operation"] == "overall"].pivot(
        index="workload", columns="metric", values="value"
    )
    assert (overall["skew"] < 500).all()
    assert overall["operations"].to_dict() == {"a": OPERATIONS, "insert": RECORDS}
    assert (overall["failed"] == 0).all()
    assert (overall["throughput"] > 0).all()
    # Both are of the time in which all clients ran.
    assert (overall["goodput"] / overall["throughput"]).tolist() == pytest.approx([1, 1])
    good = pd.read_csv(results / "analysis/validity.csv").set_index("workload")["good"]
    assert good.to_dict() == {"a": OPERATIONS, "insert": RECORDS}


def test_each_inserts_keys_of_its_own(results):
    (manifest,) = (results / "raw/redis/insert").glob("*/rep1/manifest.json")
    server = json.loads(manifest.read_text())["server"]
    assert server["records"] == {"load": RECORDS}


def test_the_merged_counts_are_those_of_every_single_latency(clone, results, values, monkeypatch):
    monkeypatch.chdir(clone)
    cells = plan(load_study(Path("config/studies/several/study.yaml")))
    histograms = long(pd.read_csv(results / "histograms.csv"))
    for cell in cells:
        raw = raw_directory("several", cell)
        kept = sorted(raw.glob("*.latencies.parquet"))
        assert len(kept) == CLIENTS
        single = pd.concat(map(pd.read_parquet, kept))
        for operation, of_operation in single.groupby("operation", observed=True):
            key = {"workload": cell.workload, "operation": operation.lower()}
            of_cell = values[(values[list(key)] == pd.Series(key)).all(axis=1)]
            merged = of_cell.set_index("metric")["value"]
            counts = histograms[(histograms[list(key)] == pd.Series(key)).all(axis=1)]["count"]
            assert counts.sum() == merged["operations"] == len(of_operation)
            ordered = of_operation["latency"].sort_values(ignore_index=True)
            files = [
                Path(str(path).replace("latencies.parquet", f"{operation}.hdr")) for path in kept
            ]
            of_files = percentiles.PooledRuns([])
            for counts_of_file in map(read_histogram, files):
                of_files.add(*(np.array([*of]) for of in (counts_of_file, counts_of_file.values())))
            for percent in (95, 99):
                exact = ordered[-(-percent * len(ordered) // 100) - 1]
                assert merged[f"latency_p{percent}"] == exact
                # Without single latencies; of a bucket the upper end is told.
                assert exact <= of_files.quantiles([percent])[0] <= exact * 1.001 + 1
            assert merged["latency_mean"] == pytest.approx(ordered.mean(), rel=1e-3)
            assert merged["latency_max"] == pytest.approx(ordered.max(), rel=1e-3)


def test_the_report_says_how_many_they_were(results):
    text = (results / "report/several.md").read_text()
    words = "In the measured phase, 3 YCSB clients (processes) share the threads and operations."
    assert words in text
    assert "ms apart" in text
    assert "Throughput is taken over the time in which all of them run" in text
