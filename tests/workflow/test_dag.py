"""What Snakemake runs, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pandas as pd
import psutil
import pytest

from tests.project import STUDY, kvstudy, wait_for
from tests.workflow.conftest import CELLS, Workflow, jobs, measure_all, measured


def cells(workflow: Workflow, run: str = "small") -> pd.DataFrame:
    return pd.read_csv(workflow.folder / "results" / run / "cells.csv", keep_default_na=False)


def raw(workflow: Workflow, cell: str) -> Path:
    return workflow.folder / "results" / "small" / "raw" / cell


def test_every_cell_of_a_store_with_a_server_is_measured_once(workflow):
    done = measure_all(workflow)
    assert len(measured(done)) == 6
    table = cells(workflow).set_index(["store", "workload", "repetition"])
    assert set(table.loc["pretend"].status) == {"measured"}
    assert set(table.loc["unbound"].status) == {"not measured"}
    assert set(table.loc["unbound"].reason) == {"no-binding store=Unbound"}
    order = table.loc["pretend"].sort_values("started").position.tolist()
    assert order == sorted(order)
    # A store is probed once and after its cells.
    assert probes(done) == 1
    started = [
        line for line in done.stderr.splitlines() if re.match(r"Job \d+: (measure|probe)", line)
    ]
    assert [line.split()[2] for line in started] == ["measure"] * 6 + ["probe"]
    outcomes = pd.read_csv(workflow.folder / "results/small/probes.csv").set_index("store")
    (reason,) = outcomes.loc[["unbound"]].reason
    assert reason == "no-binding store=Unbound"
    again = workflow.snakemake(CELLS, "results/small/probes.csv")
    assert "Nothing to be done" in again.stderr + again.stdout


def test_a_partial_run_names_its_holes_and_only_a_failed_cell_runs_again(workflow):
    failed = measure_all(workflow, "failed-once-run")
    assert "run.out: 0 of 2000 operations were executed" in failed.stderr
    before = sorted(workflow.folder.glob("results/small/raw/**/*"))
    assert len([path for path in before if path.name == "SHA256SUMS"]) == 5
    partial = workflow.snakemake("results/small-partial/summary.csv")
    assert partial.returncode == 0, partial.stderr
    assert measured(partial) == []
    assert sorted(workflow.folder.glob("results/small/raw/**/*")) == before
    table = cells(workflow, "small-partial")
    (hole,) = table[table.status == "failed"].reason
    assert "0 of 2000 operations were executed" in hole
    assert (table.status == "measured").sum() == 5
    again = workflow.snakemake(CELLS)
    assert again.returncode == 0, again.stderr
    # A failure of an earlier run is none of this one.
    assert "1 failed" not in again.stderr
    assert len(measured(again)) == 1
    assert set(cells(workflow).query("store == 'pretend'").status) == {"measured"}


def test_a_removed_cell_is_measured_again(workflow):
    measure_all(workflow)
    shutil.rmtree(raw(workflow, "pretend/c/r1000_o2000_t2/rep2"))
    done = workflow.snakemake("-n")
    assert measured(done) == ["pretend_c_rep2"]


def test_a_changed_parameter_touches_only_its_cells(workflow):
    measure_all(workflow)
    workload = workflow.folder / "workloads" / "c"
    workload.write_text(workload.read_text() + "fieldcount=5\n")
    done = workflow.snakemake("-n", CELLS)
    assert measured(done) == [
        "pretend_c_rep1",
        "pretend_c_rep2",
    ]
    # Text that is not a parameter measures nothing.
    workload.write_text(workload.read_text().replace("fieldcount=5\n", "# a comment\n"))
    workflow.edit("config/studies/small/study.yaml", lambda s: s.update(title="Another title"))
    assert measured(workflow.snakemake("-n", CELLS)) == []


def test_more_operations_are_other_cells(workflow):
    measure_all(workflow)
    workflow.edit(
        "config/studies/small/study.yaml", lambda s: s["parameters"].update(operations=4000)
    )
    done = workflow.snakemake("-n", CELLS)
    # Insert only has no operations: its cells stay as they are.
    assert {name.split("_")[1] for name in measured(done)} == {"a", "c"}


def probes(done) -> int:
    return jobs(done).get("probe_store", 0)


def test_a_removed_probe_runs_again_and_no_cell(workflow):
    measure_all(workflow)
    shutil.rmtree(workflow.folder / "results/small/probes/pretend")
    done = workflow.snakemake("-n")
    assert (probes(done), measured(done)) == (1, [])


def test_records_of_another_shape_are_probed_again(workflow):
    measure_all(workflow)
    workflow.edit(
        "config/studies/small/study.yaml",
        lambda s: s["parameters"].update(properties={"fieldcount": 5}),
    )
    assert probes(workflow.snakemake("-n", CELLS)) == 1
    workflow.edit("config/studies/small/study.yaml", lambda s: s["parameters"].pop("properties"))
    workload = workflow.folder / "workloads" / "c"
    workload.write_text(workload.read_text() + "fieldcount=5\n")
    assert probes(workflow.snakemake("-n", CELLS)) == 0


def test_a_failed_probe_leaves_the_cells_and_a_reason(workflow):
    measure_all(workflow)
    shutil.rmtree(workflow.folder / "results/small/probes/pretend")
    (workflow.folder / CELLS).unlink()
    verbs = workflow.folder / "envs/stores/pretend/verbs.py"
    working = verbs.read_text()
    # Only probes ask for the size of a record.
    verbs.write_text(
        working.replace("return 1000.0", 'raise OSError("no sizes today")\n    return 1000.0')
    )
    done = workflow.snakemake(CELLS)
    assert done.returncode != 0
    assert "probes/pretend: the Pretend server" in done.stderr
    assert "no sizes today" in done.stderr
    assert len(list(workflow.folder.glob("results/small/raw/*/*/*/*/SHA256SUMS"))) == 6
    partial = workflow.snakemake("results/small-partial/probes.csv")
    assert partial.returncode == 0, partial.stderr
    assert probes(partial) == 0
    table = pd.read_csv(workflow.folder / "results/small-partial/probes.csv").set_index("store")
    assert table.loc["pretend"].reason.endswith("(no sizes today)")
    verbs.write_text(working)
    again = workflow.snakemake(CELLS)
    assert again.returncode == 0, again.stderr
    assert (probes(again), measured(again)) == (1, [])


def test_an_edited_figure_module_redraws_without_measuring(workflow):
    measure_all(workflow)
    figure = "figures/small/throughput.pdf"
    done = workflow.snakemake_of_folder(figure)
    assert done.returncode == 0, done.stderr
    module = workflow.folder / "workflow" / "kvstudy/exhibits/bar_chart.py"
    module.write_text(module.read_text() + "# edited\n")
    assert set(jobs(workflow.snakemake_of_folder("-n", figure))) == {"draw_figures"}


def test_results_carried_elsewhere_count_without_any_server(workflow, tmp_path):
    measure_all(workflow)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(
        workflow.folder, elsewhere, ignore=shutil.ignore_patterns(".snakemake", "target")
    )
    other = Workflow(elsewhere, workflow.environment | {"PATH": os.environ["PATH"]})
    for old in elsewhere.glob("results/small/*.csv"):
        old.unlink()
    done = other.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert set(jobs(done)) == {"parse_cells"}
    assert cells(other).equals(cells(workflow))


def test_carried_cells_without_their_probe_get_a_gap(workflow, tmp_path):
    measure_all(workflow)
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(
        workflow.folder, elsewhere, ignore=shutil.ignore_patterns(".snakemake", "target")
    )
    shutil.rmtree(elsewhere / "results/small/probes")
    (elsewhere / "results/small/probes.csv").unlink()
    other = Workflow(elsewhere, workflow.environment | {"PATH": os.environ["PATH"]})
    done = other.snakemake("results/small/probes.csv")
    assert done.returncode == 0, done.stderr
    assert set(jobs(done)) == {"record_gap", "parse_cells"}
    table = pd.read_csv(elsewhere / "results/small/probes.csv").set_index("store")
    assert table.loc["pretend"].reason.startswith("no-program program=pretend-server ")
    assert set(cells(other).query("store == 'pretend'").status) == {"measured"}


def planned(workflow: Workflow, monkeypatch) -> tuple[list[str], str]:
    """The cells that 'kvstudy plan' counts as left, and all that it says."""
    monkeypatch.chdir(workflow.folder)
    listed = kvstudy("plan", "small", "--cells").output
    left = re.findall(r"^ *\d+  (?:-|changed) +(pretend/\S+)$", listed, re.M)
    said = " ".join(kvstudy("plan", "small").output.split())
    return sorted("{0}_{1}_{3}".format(*path.split("/")) for path in left), said


def test_plan_progress_and_snakemake_agree_on_what_is_left(workflow, monkeypatch):
    """Of changed workloads, with Snakemake's notes and without, and after a removed cell."""
    measure_all(workflow)
    workload = workflow.folder / "workloads" / "c"
    before = workload.read_text()
    workload.write_text(before + "fieldcount=5\n")
    changed = ["pretend_c_rep1", "pretend_c_rep2"]
    left, said = planned(workflow, monkeypatch)
    assert left == changed
    assert "changed parameters: 2 cells, such as pretend/c/" in said
    assert "fieldcount was not given, is now 5 (workloads/c)." in said
    # Carried elsewhere: without any notes.
    shutil.rmtree(workflow.folder / ".snakemake")
    (workflow.folder / CELLS).unlink()
    dry = workflow.snakemake("-n", CELLS)
    assert measured(dry) == changed
    assert "4 of 6 cells done" in dry.stdout + dry.stderr
    shutil.rmtree(raw(workflow, "pretend/a/r1000_o2000_t2/rep2"))
    assert planned(workflow, monkeypatch)[0] == ["pretend_a_rep2", *changed]
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert measured(done) == ["pretend_a_rep2", *changed]
    assert planned(workflow, monkeypatch)[0] == []
    assert measured(workflow.snakemake("-n", CELLS)) == []
    # Notes of other parameters than those of a cell that was measured by hand count nothing.
    workload.write_text(before)
    cell = "pretend/c/r1000_o2000_t2"
    for number in (1, 2):
        (raw(workflow, f"{cell}/rep{number}") / "SHA256SUMS").unlink()
    monkeypatch.setenv("PATH", workflow.environment["PATH"])
    monkeypatch.setenv("KVSTUDY_STATE", workflow.environment["KVSTUDY_STATE"])
    for number in (1, 2):
        kvstudy("measure", f"{cell}/rep{number}", "--study", STUDY, "--provider", "native")
    assert planned(workflow, monkeypatch)[0] == []
    assert measured(workflow.snakemake("-n", CELLS)) == []


def test_other_cores_and_mixtures_measure_no_finished_cell_again(workflow):
    """How cells are run next is no parameter of those that are there."""
    measure_all(workflow)
    workflow.edit("config/config.yaml", lambda c: c.update(pin_cpus=True, mixed=True))
    again = workflow.snakemake("-n", CELLS)
    assert set(jobs(again)) == {"parse_cells"}


def test_the_next_cell_is_refused_when_it_would_not_be_like_the_others(workflow):
    measure_all(workflow)
    cell = "pretend/c/r1000_o2000_t2/rep2"
    shutil.rmtree(raw(workflow, cell))
    (workflow.folder / CELLS).unlink()
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine lets us use one core only")
    workflow.edit("config/config.yaml", lambda c: c.update(pin_cpus=True))
    done = workflow.snakemake(CELLS)
    assert done.returncode != 0
    assert "its cells were not measured under the same conditions" in done.stderr
    assert f"(1 cell, {cell} is next)" in done.stderr
    # It did not fail: nothing was measured.
    assert not (workflow.folder / "results/small/failed").exists()
    workflow.edit("config/config.yaml", lambda c: c.update(mixed=True))
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    data = json.loads((workflow.folder / "results/small/environment.json").read_text())
    (mixed,) = data["mixed"]
    assert mixed["what"] == "cores of server and client"
    assert [side["cells"] for side in mixed["sides"]] == [5, 1]


def test_a_log_that_cannot_be_read_is_a_gap_and_measured_again(workflow):
    """One file of one cell: the report is built all the same, and says why a value is missing."""
    measure_all(workflow)
    folder = raw(workflow, "pretend/a/r1000_o2000_t2/rep1")
    log = folder / "run.out"
    log.write_text(log.read_text().replace("4000.0", "9000.0"))
    # Parsed again, as after an upgrade.
    (workflow.folder / CELLS).unlink()
    done = workflow.snakemake("report/small.html")
    assert done.returncode == 0, done.stderr
    assert measured(done) == []
    assert "Could not be read, with reasons in results/small/failed/:\n  pretend/a/" in done.stderr
    reason = "run.out: differs from its checksum in SHA256SUMS"
    table = cells(workflow).query("store == 'pretend'")
    (hole,) = table[table.status == "failed"].reason
    assert hole.startswith(reason)
    assert (table.status == "measured").sum() == 5
    assert reason in (workflow.folder / "report/small.html").read_text()
    values = pd.read_csv(workflow.folder / "results/small/measurements.csv")
    assert not values["value"].eq(9000).any()
    again = workflow.snakemake("-n")
    assert measured(again) == ["pretend_a_rep1"]
    assert probes(again) == 0


def test_a_scaled_run_does_not_touch_the_full_one(workflow):
    measure_all(workflow)
    before = {path: path.stat().st_mtime_ns for path in workflow.folder.glob("results/small/**/*")}
    done = workflow.snakemake("--config", "scale=0.5", "--", "results/small-scale0.5/cells.csv")
    assert done.returncode == 0, done.stderr
    after = {path: path.stat().st_mtime_ns for path in workflow.folder.glob("results/small/**/*")}
    assert before == after


def test_killing_snakemake_ends_the_cell_and_its_server(workflow):
    running = workflow.started(CELLS, PRETEND_CLIENT="slow-load")
    started = "results/small/measuring/*/*/*/*/load.err"
    wait_for(lambda: list(workflow.folder.glob(started)), "no cell started", 30)
    running.send_signal(signal.SIGKILL)
    running.wait()
    wait_for(lambda: not mine(workflow), lambda: mine(workflow), 10)
    measure_all(workflow)


def test_a_cell_that_ended_while_snakemake_died_is_not_measured_again(workflow):
    running = workflow.started(CELLS)
    started = "results/small/measuring/*/*/*/*/load.err"
    wait_for(lambda: list(workflow.folder.glob(started)), "no cell started", 30)
    running.send_signal(signal.SIGSTOP)
    finished = "results/small/raw/*/*/*/*/SHA256SUMS"
    wait_for(lambda: list(workflow.folder.glob(finished)), "no cell ended", 60)
    running.send_signal(signal.SIGKILL)
    running.wait()
    done = workflow.snakemake(CELLS)
    assert len(measured(done)) == 5, done.stderr
    assert not (workflow.folder / "results/small/replaced").exists()


def mine(workflow: Workflow) -> list[str]:
    """Command lines of processes that still work in the test's folder."""
    result = []
    for process in psutil.process_iter():
        try:
            if process.cwd() == str(workflow.folder):
                result.append(" ".join(process.cmdline()))
        except psutil.Error:
            continue
    return result


def ask_for_controls(workflow: Workflow) -> None:
    """As a study has them by default; a run before that was finished without."""
    workflow.edit(
        "config/studies/small/study.yaml",
        lambda s: s.update(noise_floor=True, client_ceiling=False),
    )


def test_a_finished_run_wants_no_control_cells(workflow):
    measure_all(workflow)
    ask_for_controls(workflow)
    assert measured(workflow.snakemake("-n", CELLS)) == []
    # One of them was asked for by name: now the others belong to the run too.
    done = workflow.snakemake("results/small/raw/pretend-again/c/r1000_o2000_t2/rep1/SHA256SUMS")
    assert done.returncode == 0, done.stderr
    assert len(measured(workflow.snakemake("-n", CELLS))) == 5


def test_an_unfinished_run_wants_its_control_cells(workflow):
    measure_all(workflow)
    ask_for_controls(workflow)
    shutil.rmtree(raw(workflow, "pretend/c/r1000_o2000_t2/rep2"))
    assert len(measured(workflow.snakemake("-n", CELLS))) == 1 + 6
