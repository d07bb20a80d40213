"""Cells at fixed rates: their targets, their logs, and the gaps where there is no target."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.tidy.open_loop import find_target
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.study.raw import write_sums

from tests.project import CELL, ROOT, SLUG, edit, kvstudy
from tests.project import measure as measure_cell

RAW = Path("results/small/raw/pretend/a")
OTHER = f"pretend/a/{SLUG}/rep2"
LOAD50 = f"pretend/a/{SLUG}_load50/rep1"


@pytest.fixture
def study(pretend_study: Path) -> Path:
    return edit(pretend_study, open_loop=True)


def measure(parameters: str = SLUG, repetition: int = 1) -> str:
    return measure_cell(f"pretend/a/{parameters}/rep{repetition}")


def parse(study: Path) -> dict[str, pd.DataFrame]:
    # Where nothing could be measured, Snakemake has made it for its logs.
    Path("results/small").mkdir(parents=True, exist_ok=True)
    kvstudy("parse", study.parent.name)
    folder = Path("results/small/open-loop")
    return {
        path.stem: pd.read_csv(path, dtype=str, keep_default_na=False)
        for path in folder.glob("*.csv")
        if path.stat().st_size > 1
    }


def of_pretend(found: dict[str, pd.DataFrame]) -> pd.Series:
    """What became of the first cell at half load."""
    cells = found["cells"]
    mine = (cells["store"] == "pretend") & (cells["workload"] == "a")
    return cells[mine & (cells["parameters"] == f"{SLUG}_load50")].iloc[0]


def test_the_target_is_the_load_of_the_mean_of_the_closed_cells(study, have):
    have(CELL, OTHER)
    for repetition, throughput in ((1, 1000), (2, 4000)):
        # Other throughputs, with their checksums.
        folder = RAW / SLUG / f"rep{repetition}"
        log = folder / "run.out"
        seconds = 2000 / throughput
        text = log.read_text().replace("4000.0", f"{throughput}.0")
        log.write_text(text.replace("RunTime(ms), 500", f"RunTime(ms), {seconds * 1000:.0f}"))
        reseal(folder)
    measure(f"{SLUG}_load80")
    raw = RAW / f"{SLUG}_load80/rep1"
    manifest = json.loads((raw / "manifest.json").read_text())
    target = manifest["target"]
    assert (target["rate"], target["load"], target["mean"]) == (1600, 80, pytest.approx(2000))
    assert [(each["cell"], each["throughput"]) for each in target["origins"]] == [
        (f"pretend/a/{SLUG}/rep1", 1000),
        (f"pretend/a/{SLUG}/rep2", 4000),
    ]
    commands = (raw / "commands.sh").read_text()
    load, run_phase = commands.split("# run")
    assert "-target 1600" in run_phase
    assert "-target" not in load
    assert "measurement.interval=both" in run_phase


def reseal(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()
    write_sums(folder)


def test_values_of_open_loop_cells_stand_apart(study, have):
    have(CELL, LOAD50)
    found = parse(study)
    row = found["targets"].iloc[0]
    assert row[["parameters", "closed", "load", "target", "runs", "note"]].tolist() == [
        *(f"{SLUG}_load50", SLUG, "50", "2000", "1", ""),
    ]
    metrics = set(found["measurements"].query("operation == 'read'")["metric"])
    assert {"latency_p99", "intended_latency_p99"} <= metrics
    assert set(found["cells"]["parameters"]) == {f"{SLUG}_load50", f"{SLUG}_load80"}
    for name in ("cells", "measurements"):
        others = pd.read_csv(f"results/small/{name}.csv")
        assert not others["parameters"].str.contains("load").any()


def test_a_cell_without_its_closed_ones_is_not_measured(study):
    with pytest.raises(KvstudyError, match=r"load50/rep1: no target rate, .* measure those first"):
        measure(f"{SLUG}_load50")
    reason = parse(study)["cells"].query("workload == 'a'")["reason"].iloc[0]
    assert sentence(reason) == (
        "no target rate, for no closed-loop cell of it counts "
        "(not measured: there are no raw logs of it yet)"
    )


def test_failed_closed_cells_are_the_reason_of_the_gap(study, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "exception-run")
    for repetition in (1, 2):
        with pytest.raises(KvstudyError):
            measure(repetition=repetition)
    monkeypatch.delenv("PRETEND_CLIENT")
    with pytest.raises(KvstudyError, match="not measured: run: the YCSB client ended with exit"):
        measure(f"{SLUG}_load50")
    row = parse(study)["cells"].query("workload == 'a' and store == 'pretend'").iloc[0]
    assert row["status"] == "not measured"
    assert "the YCSB client ended with exit status 1" in sentence(row["reason"])


def test_one_valid_closed_cell_is_enough(study, monkeypatch, have):
    have()
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    measure(repetition=2)
    monkeypatch.delenv("PRETEND_CLIENT")
    measure(f"{SLUG}_load50")
    manifest = json.loads((RAW / f"{SLUG}_load50/rep1/manifest.json").read_text())
    assert [each["cell"] for each in manifest["target"]["origins"]] == [f"pretend/a/{SLUG}/rep1"]


def test_void_closed_cells_leave_a_reason_in_place_of_logs(study, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    for repetition in (1, 2):
        measure(repetition=repetition)
    monkeypatch.delenv("PRETEND_CLIENT")
    # No error: the closed cells are valid measurements, and measuring again would not help.
    assert "no target rate" in measure(f"{SLUG}_load50")
    assert {path.name for path in (RAW / f"{SLUG}_load50/rep1").iterdir()} == {
        *("gap.json", "SHA256SUMS")
    }
    row = of_pretend(parse(study))
    assert row["status"] == "not measured"
    assert "(invalid: 20.00% of update operations failed" in sentence(row["reason"])
    assert "gap" not in kvstudy("plan", study, "--cells").output
    # The study now declares the failures: the reason says how to go on.
    reason = {"store": "pretend", "operation": "update", "up_to": 0.5, "reason": "Pretended."}
    edit(study, expected_failures=[reason])
    row = of_pretend(parse(study))
    assert sentence(row["reason"]).endswith(
        "now there is one: remove SHA256SUMS in "
        "results/small/raw/pretend/a/r1000_o2000_t2_load50/rep1 to measure the cell"
    )


def test_the_closed_loop_cells_are_read_once_for_all_that_miss_their_rate(study, monkeypatch):
    asked = []

    def counted(study, cells, cell, run):
        asked.append((cell.store, cell.workload, cell.closed))
        return find_target(study, cells, cell, run)

    monkeypatch.setattr("kvstudy.analyse.tidy.open_loop.find_target", counted)
    found = parse(study)["cells"]
    assert len(found) > len(asked) == len(set(asked)) > 0
    assert found["reason"].str.startswith("no-target ").all()


def test_only_declared_files_are_written(study):
    parse(study)
    rules = (ROOT / "workflow/rules/common.smk").read_text()
    declared = re.search(r"open-loop/\{name\}\" for name in \((.*)\)\)$", rules, re.M)[1]
    written = {path.stem for path in Path("results/small/open-loop").iterdir()}
    assert written == set(re.findall(r'"(\w+)"', declared))


@pytest.mark.parametrize("change", ["removed", "measured again"])
def test_a_closed_cell_that_is_not_there_any_more_is_noted(study, change, have):
    """As where only some of the results were carried to another machine."""
    have(CELL, OTHER)
    measure(f"{SLUG}_load50")
    shutil.rmtree(RAW / SLUG / "rep1")
    if change == "measured again":
        measure()
    (note,) = parse(study)["targets"]["note"]
    assert sentence(note) == (
        "its rate comes from cells that are no longer there: pretend/a/r1000_o2000_t2/rep1"
    )


def test_carried_cells_without_any_closed_one_keep_their_values(study, have):
    have(CELL, LOAD50)
    shutil.rmtree(RAW / SLUG)
    found = parse(study)
    assert of_pretend(found)["status"] == "measured"
    assert "no longer there" in sentence(found["targets"]["note"].iloc[0])


def test_a_cell_of_another_load_is_refused(study, have):
    have(CELL, LOAD50)
    manifest = RAW / f"{SLUG}_load50/rep1/manifest.json"
    manifest.write_text(manifest.read_text().replace('"load": 50', '"load": 60'))
    reseal(manifest.parent)
    with pytest.raises(KvstudyError, match="load was 60, is now 50"):
        parse(study)


@pytest.mark.parametrize("target", [None, {}, {"rate": 1, "origins": []}, {"origins": [{}]}])
def test_a_cell_without_its_target_is_a_failed_cell_and_no_other(study, target, have):
    have(CELL, LOAD50)
    manifest = RAW / f"{SLUG}_load50/rep1/manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"target": target}))
    reseal(manifest.parent)
    row = of_pretend(parse(study))
    assert row["status"] == "failed"
    assert "cannot be read" in sentence(row["reason"])
    assert not manifest.exists()


def test_older_cells_without_a_load_are_closed_loop(study, have):
    have()
    manifest = RAW / SLUG / "rep1/manifest.json"
    content = json.loads(manifest.read_text())
    del content["cell"]["load"], content["cell"]["closed"], content["target"]
    manifest.write_text(json.dumps(content))
    reseal(manifest.parent)
    parse(study)
    cells = pd.read_csv("results/small/cells.csv")
    assert (cells["status"] == "measured").sum() == 1
