"""What a user sees while cells are measured, and what is left when they are stopped."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.project import STUDY, wait_for
from tests.workflow.conftest import CELLS, Workflow, measure_all, measured
from tests.workflow.test_dag import mine, raw

LOG = "results/small/logs/progress.log"


def finished(workflow: Workflow) -> dict[str, str]:
    """Each complete cell and when it was started."""
    result = {}
    for sums in workflow.folder.glob("results/small/raw/*/*/*/*/SHA256SUMS"):
        manifest = json.loads((sums.parent / "manifest.json").read_text())
        result[str(sums.parent)] = manifest["phases"]["load"]["started"]
    return result


@pytest.fixture
def three_cells(workflow: Workflow) -> None:
    """One that is there, one that is stopped, and one that is left."""

    def change(study: dict) -> None:
        study.update(workloads=["a"], repetitions=3)
        study["figures"][0].update(workloads=["a"])

    workflow.edit(STUDY, change)


def measuring(workflow: Workflow) -> list[Path]:
    return list(workflow.folder.glob("results/small/measuring/*/*/*/*/run.err"))


def test_each_cell_says_how_far_the_study_is(workflow):
    done = measure_all(workflow)
    lines = re.findall(r"^    (\d of 6 cells done, .*)$", done.stderr, re.M)
    # One for each cell when it starts, and one for the probe.
    assert [line[0] for line in lines] == list("0123456")
    assert lines[0] == "0 of 6 cells done, 0 s elapsed, time left not known yet, 0 failed"
    assert all(
        re.search(r"done, \d+ s elapsed, (about|roughly) \d+ s left, 0 failed$", line)
        for line in lines[1:6]
    )
    assert re.search(r"^6 of 6 cells done, \d+ s elapsed, 0 failed$", lines[6])
    logged = (workflow.folder / LOG).read_text().splitlines()
    assert [line.split("  ")[1][0] for line in logged][:7] == list("0123456")


def test_a_dry_run_writes_no_log(workflow):
    done = workflow.snakemake("-n", CELLS)
    assert "0 of 6 cells done, time left not known yet, 0 failed" in done.stdout + done.stderr
    assert not (workflow.folder / LOG).exists()


def test_failed_cells_are_counted_and_named_at_the_end(workflow):
    done = measure_all(workflow, "failed-once-run")
    assert re.search(
        r"^Cells: 5 of 6 cells done, .* left, 1 failed, 0 not measured\.$", done.stderr, re.M
    )
    end = done.stderr[done.stderr.index("Failed, with reasons in results/small/failed/:") :]
    (cell,) = re.findall(r"^  (pretend/\S+/rep\d)$", end, re.M)
    assert list(workflow.folder.glob(f"results/small/failed/{cell}/*/failure.json"))
    assert "measures nothing twice" in end
    assert (workflow.folder / LOG).read_text().rstrip().endswith("1 failed")


@pytest.fixture
def small_disk(workflow: Workflow) -> Iterator[Path]:
    """A file system of 4 MB as the folder of results."""
    results = workflow.folder / "results"
    results.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(results)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a small file system")
    yield results
    subprocess.run(["umount", str(results)], check=True)


def test_a_disk_that_a_cell_fills_ends_the_run(workflow, small_disk):
    """Every other cell was once begun, "0 failed" was said, and the log was an empty file."""
    steps = [["fill", str(small_disk / "filler")], ["exit", 1]]
    fault = json.dumps({"phase": "run", "before": steps})
    done = workflow.snakemake(CELLS, PRETEND_FAULT=fault)
    assert done.returncode != 0
    assert len(measured(done)) == 1
    assert "the disk is full (results/small" in done.stderr
    assert re.search(
        r"^Cells: 0 of 6 cells done, .*, 1 failed, 5 not measured\.$", done.stderr, re.M
    )
    # Still full: no cell begins, and none fails.
    again = workflow.snakemake(CELLS)
    assert again.returncode != 0
    assert len(measured(again)) == 1
    assert re.search(r"^Cells: .*, 0 failed, 6 not measured\.$", again.stderr, re.M)


@pytest.mark.parametrize(
    "how", ["ctrl-c", "killed", "all killed", "terminal closed", "cell killed"]
)
@pytest.mark.usefixtures("three_cells")
def test_a_stopped_study_goes_on_with_what_is_left(workflow, how):
    # One cell is there before it is stopped in the middle of another.
    target = "results/small/raw/pretend/a/r1000_o2000_t2/rep1/SHA256SUMS"
    assert workflow.snakemake(target).returncode == 0
    running = workflow.started(CELLS, PRETEND_CLIENT="slow-run")
    cell = wait_for(lambda: measuring(workflow), "no cell started")[0].parent
    stopped = cell.relative_to(workflow.folder / "results/small/measuring")
    if how == "ctrl-c":
        # The terminal sends it to all of its processes.
        os.killpg(running.pid, signal.SIGINT)
    elif how == "terminal closed":
        os.killpg(running.pid, signal.SIGHUP)
    elif how == "all killed":
        os.killpg(running.pid, signal.SIGKILL)
    elif how == "killed":
        running.send_signal(signal.SIGKILL)
    else:
        for process in psutil.process_iter():
            try:
                line = process.cmdline()
                ours = process.cwd() == str(workflow.folder)
            except psutil.Error:
                continue
            if ours and "measure" in line and "python" in Path(line[0]).name:
                process.kill()
        # The next cell would go on for a minute.
        os.killpg(running.pid, signal.SIGINT)
    running.wait(60)
    wait_for(lambda: not mine(workflow), f"still running: {mine(workflow)}")
    # No half cell counts.
    before = finished(workflow)
    assert not (raw(workflow, str(stopped)) / "SHA256SUMS").exists()
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert len(measured(done)) == 3 - len(before)
    after = finished(workflow)
    assert len(after) == 3
    assert {path: after[path] for path in before} == before
    assert mine(workflow) == []


@pytest.mark.usefixtures("three_cells")
def test_asked_to_end_it_finishes_the_cell_and_starts_no_other(workflow):
    running = workflow.started(CELLS)
    cell = wait_for(
        lambda: list(workflow.folder.glob("results/small/measuring/*/*/*/*")), "no cell started"
    )[0]
    running.send_signal(signal.SIGTERM)
    running.wait(60)
    assert mine(workflow) == []
    (only,) = finished(workflow)
    assert Path(only) == raw(
        workflow, str(cell.relative_to(workflow.folder / "results/small/measuring"))
    )
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0, done.stderr
    assert len(measured(done)) == 2


@pytest.mark.usefixtures("three_cells")
def test_a_second_snakemake_is_told_who_works_and_breaks_nothing(workflow):
    running = workflow.started(CELLS, PRETEND_CLIENT="slow-run")
    wait_for(lambda: measuring(workflow), "no cell started")
    second = workflow.snakemake(CELLS)
    assert second.returncode != 0
    assert re.search(
        rf"another process works in this clone \(process {running.pid}, "
        r"since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: snakemake --cores 2 results/small/cells.csv\)",
        second.stderr,
    )
    assert "kvstudy watch" in second.stderr
    assert "unlock" not in second.stderr
    # What only looks may look.
    assert workflow.snakemake("-n", CELLS).returncode == 0
    assert measuring(workflow)
    os.killpg(running.pid, signal.SIGINT)
    running.wait(60)
    assert workflow.snakemake(CELLS).returncode == 0


def test_where_nothing_is_to_be_done_it_says_where_the_report_is(workflow):
    measure_all(workflow)
    (workflow.folder / "report/small.pdf").touch()
    done = workflow.snakemake(CELLS)
    assert done.returncode == 0
    nothing = done.stderr.index("Nothing to be done")
    assert "Report: report/small.pdf; data" in done.stderr[nothing:]


@pytest.mark.usefixtures("three_cells")
def test_without_a_place_for_locks_no_cell_is_tried(workflow):
    (workflow.folder / "file").touch()
    done = workflow.snakemake(CELLS, KVSTUDY_STATE=str(workflow.folder / "file"))
    assert done.returncode != 0
    assert "set KVSTUDY_STATE to a folder of your own" in done.stderr
    assert measured(done) == []


@pytest.mark.usefixtures("three_cells")
def test_what_each_cell_would_meet_ends_the_run_at_the_first(workflow):
    library = workflow.folder / "workflow/bindings/target/lib"
    (library / "SHA256SUMS").write_text(f"{'0' * 64}  kvstudy-bindings.jar\n")
    done = workflow.snakemake(CELLS)
    assert done.returncode != 0
    assert len(measured(done)) == 1, done.stderr
    assert "run 'make setup', which builds it again" in done.stderr
    assert "Cells: 0 of 3 cells done" in done.stderr


@pytest.mark.usefixtures("three_cells")
def test_a_lock_of_snakemake_itself_stops_nobody(workflow):
    """As another profile leaves it; its usual cure works without more options."""
    locks = workflow.folder / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text(f"{CELLS}\n")
    assert workflow.snakemake(CELLS).returncode == 0
    bare = [shutil.which("snakemake"), "--unlock"]
    done = subprocess.run(
        bare, cwd=workflow.folder, env=workflow.environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("three_cells")
def test_nohup_measures_on_after_the_terminal_was_closed(workflow):
    running = workflow.started(CELLS, before=["nohup"])
    wait_for(
        lambda: list(workflow.folder.glob("results/small/measuring/*/*/*/*")), "no cell started"
    )
    os.killpg(running.pid, signal.SIGHUP)
    assert running.wait(120) == 0
    assert len(finished(workflow)) == 3
