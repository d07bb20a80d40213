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
from kvstudy.study.raw import file_digest, write_sums

from tests.project import CELL, ROOT, SLUG, edit, kvstudy
from tests.project import measure as measure_cell

RAW = Path("results/small/raw/pretend/a")
TRIAL = f"pretend/a/{SLUG}_trial/rep0"
TRIAL_RAW = RAW / f"{SLUG}_trial/rep0"
LOAD50 = f"pretend/a/{SLUG}_load50/rep1"


@pytest.fixture
def study(pretend_study: Path) -> Path:
    return edit(pretend_study, open_loop=True)


def measure(parameters: str = SLUG, repetition: int = 1) -> str:
    return measure_cell(f"pretend/a/{parameters}/rep{repetition}")


def measure_trial() -> str:
    return measure_cell(TRIAL)


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


def of_pretend(table: dict[str, pd.DataFrame]) -> pd.Series:
    """What became of the first cell at half load."""
    cells = table["cells"]
    mine = (cells["store"] == "pretend") & (cells["workload"] == "a")
    return cells[mine & (cells["parameters"] == f"{SLUG}_load50")].iloc[0]


def as_fast(folder: Path, throughput: int) -> None:
    """The cell of 2000 operations has another throughput (ops/s), with its checksums."""
    log = folder / "run.out"
    text = log.read_text().replace("4000.0", f"{throughput}.0")
    log.write_text(text.replace("RunTime(ms), 500", f"RunTime(ms), {2_000_000 / throughput:.0f}"))
    reseal(folder)


def test_the_target_is_the_load_of_the_trial_cell_and_of_no_other(study, have):
    have(CELL, TRIAL)
    as_fast(RAW / SLUG / "rep1", 1000)
    as_fast(TRIAL_RAW, 2500)
    measure(f"{SLUG}_load80")
    raw = RAW / f"{SLUG}_load80/rep1"
    target = json.loads((raw / "manifest.json").read_text())["target"]
    assert target == {
        **{"rate": 2000, "load": 80, "trial": TRIAL, "throughput": 2500.0},
        "sums": file_digest(TRIAL_RAW / "SHA256SUMS"),
    }
    commands = (raw / "commands.sh").read_text()
    load, run_phase = commands.split("# run")
    assert "-target 2000" in run_phase
    assert "-target" not in load
    assert "measurement.interval=both" in run_phase
    # The trial cell is measured as a closed-loop cell is.
    commands = (TRIAL_RAW / "commands.sh").read_text()
    assert "-target" not in commands
    assert "measurement.interval" not in commands


def reseal(folder: Path) -> None:
    (folder / "SHA256SUMS").unlink()
    write_sums(folder)


def test_values_of_open_loop_cells_stand_apart(study, have):
    have(CELL, TRIAL, LOAD50)
    table = parse(study)
    row = table["targets"].iloc[0]
    assert row[["parameters", "closed", "load", "target", "trial", "note"]].tolist() == [
        *(f"{SLUG}_load50", SLUG, "50", "2000", TRIAL, ""),
    ]
    metrics = set(table["measurements"].query("operation == 'read'")["metric"])
    assert {"latency_p99", "intended_latency_p99"} <= metrics
    slugs = {f"{SLUG}_trial", f"{SLUG}_load50", f"{SLUG}_load80"}
    assert set(table["cells"]["parameters"]) == slugs
    assert set(table["measurements"]["parameters"]) == {f"{SLUG}_trial", f"{SLUG}_load50"}
    # Nothing of them, and nothing of the trial cell, is in a table of the run that is judged.
    kvstudy("analyse", "small")
    judged = [*Path("results/small").glob("*.csv"), *Path("results/small/analysis").glob("*.csv")]
    assert len(judged) > 20
    for path in judged:
        assert not re.search(r"_trial\b", path.read_text())
        if not path.stem.startswith("open_"):
            assert "_load" not in path.read_text().partition("\n")[2]


def test_a_trial_cell_changes_no_value_of_the_run(study, have):
    def values() -> dict[str, str]:
        parse(study)
        kvstudy("analyse", "small")
        paths = [*Path("results/small").glob("*.csv"), *Path("results/small/analysis").glob("*")]
        # Those have the positions of cells in the plan, and how far a trial is from the others.
        return {path.name: path.read_text() for path in paths if path.stem != "cells"}

    have(CELL, f"pretend/a/{SLUG}/rep2")
    before = values()
    have(TRIAL)
    as_fast(TRIAL_RAW, 17)
    assert values() == before


def test_a_cell_without_its_trial_cell_is_not_measured(study, have):
    # However many closed-loop cells are there.
    have(CELL)
    with pytest.raises(KvstudyError, match=r"load50/rep1: no target rate, .* measure those first"):
        measure(f"{SLUG}_load50")
    reason = of_pretend(parse(study))["reason"]
    assert sentence(reason) == (
        f"no target rate, because its trial cell {TRIAL} is not valid "
        "(not measured: no raw logs yet)"
    )


def test_a_failed_trial_cell_leaves_its_cells_waiting_with_its_reason(study, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "exception-run")
    with pytest.raises(KvstudyError):
        measure_trial()
    monkeypatch.delenv("PRETEND_CLIENT")
    with pytest.raises(KvstudyError, match="not measured: run: the YCSB client ended with exit"):
        measure(f"{SLUG}_load50")
    table = parse(study)
    row = of_pretend(table)
    assert row["status"] == "not measured"
    assert "the YCSB client ended with exit status 1" in sentence(row["reason"])
    cells = table["cells"].query("store == 'pretend' and workload == 'a'")
    assert cells[cells["parameters"] == f"{SLUG}_trial"]["status"].tolist() == ["failed"]
    # When it is measured, they follow.
    measure_trial()
    measure(f"{SLUG}_load50")
    assert of_pretend(parse(study))["status"] == "measured"


def test_a_void_trial_cell_leaves_a_reason_in_place_of_logs(study, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    measure_trial()
    monkeypatch.delenv("PRETEND_CLIENT")
    # No error: the trial cell is a valid measurement, and measuring it again would not help.
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
        "a rate now exists: remove SHA256SUMS in "
        "results/small/raw/pretend/a/r1000_o2000_t2_load50/rep1 to measure the cell"
    )


def test_a_trial_cell_that_cannot_be_read_is_named_with_what_to_do(study, have):
    have(TRIAL)
    (TRIAL_RAW / "run.out").write_text("")
    with pytest.raises(KvstudyError, match=r"_trial/rep0: .*differs from its checksum.*remove"):
        measure(f"{SLUG}_load50")
    # It is a failed cell then, and its cells wait.
    row = of_pretend(parse(study))
    assert "differs from its checksum" in sentence(row["reason"])
    assert not TRIAL_RAW.exists()


def test_a_trial_cell_of_other_parameters_sets_no_rate(study, have):
    have(TRIAL)
    manifest = TRIAL_RAW / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"threads": 2', '"threads": 3'))
    reseal(TRIAL_RAW)
    with pytest.raises(KvstudyError, match="threads was 3, is now 2"):
        measure(f"{SLUG}_load50")


def test_all_repetitions_have_one_rate_whatever_became_of_the_trial_cell(study, have):
    have(TRIAL, LOAD50)
    shutil.rmtree(TRIAL_RAW)
    measure_trial()
    as_fast(TRIAL_RAW, 100)
    for parameters in (f"{SLUG}_load50", f"{SLUG}_load80"):
        measure(parameters, repetition=2)
    table = parse(study)["targets"].set_index(["parameters", "repetition"])
    assert table["target"].to_dict() == {
        (f"{SLUG}_load50", "1"): "2000",
        (f"{SLUG}_load50", "2"): "2000",
        (f"{SLUG}_load80", "2"): "3200",
    }
    assert table["note"].str.startswith("trial-gone ").all()
    # Cells that are to be measured again themselves pass no rate on.
    shutil.rmtree(RAW / f"{SLUG}_load80")
    for path in RAW.glob(f"{SLUG}_load50/rep*/manifest.json"):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"protocol": 0}))
        reseal(path.parent)
    measure(f"{SLUG}_load80")
    manifest = json.loads((RAW / f"{SLUG}_load80/rep1/manifest.json").read_text())
    assert manifest["target"]["rate"] == 80


def test_a_rate_that_is_not_that_of_its_trial_cell_is_noted(study, have):
    have(TRIAL, LOAD50)
    manifest = RAW / f"{SLUG}_load50/rep1/manifest.json"
    content = json.loads(manifest.read_text())
    content["target"]["rate"] += 100
    manifest.write_text(json.dumps(content))
    reseal(manifest.parent)
    (note,) = parse(study)["targets"]["note"]
    assert sentence(note) == f"its rate is not 50 % of the throughput of its trial cell {TRIAL}"


def test_a_trial_cell_is_read_once_for_all_that_miss_their_rate(study, monkeypatch):
    requests = []

    def counted(study, stores, cells, cell, run):
        requests.append((cell.store, cell.workload, cell.closed))
        return find_target(study, stores, cells, cell, run)

    monkeypatch.setattr("kvstudy.analyse.tidy.open_loop.find_target", counted)
    table = parse(study)["cells"]
    assert len(table) > len(requests) == len(set(requests)) > 0
    waiting = table[table["parameters"] != f"{SLUG}_trial"]
    assert waiting["reason"].str.startswith("no-target ").all()


def test_only_declared_files_are_written(study):
    parse(study)
    rules = (ROOT / "workflow/rules/common.smk").read_text()
    declared = re.search(r"open-loop/\{name\}\" for name in \((.*)\)\)$", rules, re.M)[1]
    written = {path.stem for path in Path("results/small/open-loop").iterdir()}
    assert written == set(re.findall(r'"(\w+)"', declared))


@pytest.mark.parametrize("change", ["removed", "measured again"])
def test_a_trial_cell_that_is_not_there_any_more_is_noted(study, change, have):
    """As where only some of the results were carried to another machine."""
    have(TRIAL, LOAD50)
    shutil.rmtree(TRIAL_RAW)
    if change == "measured again":
        measure_trial()
    table = parse(study)
    assert of_pretend(table)["status"] == "measured"
    (note,) = table["targets"]["note"]
    assert sentence(note) == (
        f"its rate was set by {TRIAL}, which has been removed or measured again since"
    )


def test_a_cell_of_another_load_is_refused(study, have):
    have(TRIAL, LOAD50)
    manifest = RAW / f"{SLUG}_load50/rep1/manifest.json"
    manifest.write_text(manifest.read_text().replace('"load": 50', '"load": 60'))
    reseal(manifest.parent)
    with pytest.raises(KvstudyError, match="load was 60, is now 50"):
        parse(study)


@pytest.mark.parametrize("target", [None, {}, {"rate": 1, "trial": TRIAL}, {"trial": []}])
def test_a_cell_without_its_target_is_a_failed_cell_and_no_other(study, target, have):
    have(TRIAL, LOAD50)
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
