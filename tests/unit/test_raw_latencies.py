"""Single latencies, kept with the raw logs when a study asks for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure.cell import keep_latencies
from kvstudy.measure.client import Client, phase_command
from kvstudy.stores.definition import load_store
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import load_study

DATA = Path(__file__).parents[1] / "data" / "ycsb"


def planned(study: Path, on: bool = True) -> list[Cell]:
    text = study.read_text()
    study.write_text(text.replace("threads: 2", "threads: 2, raw_latencies: true") if on else text)
    return [cell for cell in plan(load_study(study)) if cell.store == "pretend"]


def command(cell: Cell, phase: str) -> str:
    store = load_store(Path("envs/stores/pretend"))
    client = Client("kvstudy", "x", "db", ())
    return " ".join(phase_command(client, store, cell, phase, "host", 1, Path("work")))


def test_only_the_measured_phase_keeps_them(pretend_study):
    cells = {cell.workload: cell for cell in planned(pretend_study)}
    run = command(cells["a"], "run")
    assert "measurementtype=hdrhistogram+raw" in run
    assert "measurement.raw.output_file=work/run.latencies" in run
    assert "measurementtype=hdrhistogram " in command(cells["a"], "load")
    assert "output_file=work/load.latencies" in command(cells["insert"], "load")


def test_by_default_none_are_kept(pretend_study):
    for cell in planned(pretend_study, on=False):
        assert not cell.raw_latencies
        assert "raw" not in command(cell, cell.measured_phase)


def test_it_is_a_parameter_of_the_cell(pretend_study):
    """So that cells with and without it never mix."""
    without = planned(pretend_study, on=False)[0].as_json()
    assert planned(pretend_study)[0].as_json() != without


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A run of YCSB on a real Redis with measurementtype hdrhistogram+raw, not yet packed."""
    shutil.copy(DATA / "redis-hdrraw.out", tmp_path / "run.out")
    shutil.copy(DATA / "redis-hdrraw.rawdata", tmp_path / "run.latencies")
    (tmp_path / "run.HdrREAD.hdr").write_text("reads")
    (tmp_path / "run.HdrIntended-READ.hdr").write_text("intended")
    (tmp_path / "load.INSERT.hdr").write_text("load")
    return tmp_path


def test_they_are_packed_and_histograms_have_their_usual_names(work):
    keep_latencies(work, "run")
    names = {path.name for path in work.iterdir()}
    assert names == {
        *("run.out", "run.latencies.parquet"),
        *("run.READ.hdr", "run.Intended-READ.hdr", "load.INSERT.hdr"),
    }


def test_latencies_that_are_cut_off_fail_the_cell(work):
    """As on a full disk, of which YCSB says nothing."""
    path = work / "run.latencies"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-50]))
    with pytest.raises(KvstudyError, match=r"run\.latencies: \d+ latencies of .* the log counts"):
        keep_latencies(work, "run")


def test_latencies_that_were_never_written_fail_the_cell(work):
    (work / "run.latencies").unlink()
    with pytest.raises(KvstudyError, match=r"run\.latencies: YCSB did not write it"):
        keep_latencies(work, "run")
