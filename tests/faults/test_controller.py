"""Faults of what controls a measurement: signals at every stage, kills, a second controller."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from kvstudy.stores.process import state_directory

from tests.faults.cells import CELL, OTHER, RAW, check_next
from tests.faults.finished import contents
from tests.faults.scene import MARK, Scene, processes_of
from tests.project import wait_for
from tests.workflow.conftest import Workflow, measured, workflow

__all__ = ["workflow"]

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
BUSY = Path("results/small/measuring", CELL)
CELLS = "results/small/cells.csv"
STUDY = "config/studies/small/study.yaml"


# --- one cell


def waiting_for(phase: str) -> dict[str, str]:
    steps = {"phase": phase, "before": [["sleep", 100]]}
    return {"PRETEND_FAULT": json.dumps(steps)}


STAGES = {
    "the start of the server": ({"PRETEND_SERVER": "never-ready"}, BUSY / "server.log"),
    "the load": (waiting_for("load"), BUSY / "load.err"),
    "the run": (waiting_for("run"), BUSY / "run.err"),
}


@contextlib.contextmanager
def measuring(scene: Scene, environment: dict[str, str]) -> Iterator[subprocess.Popen]:
    command = [sys.executable, "-m", "kvstudy", "measure", CELL, "--study", str(scene.study)]
    with subprocess.Popen(
        [*command, "--provider", "native"],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def check_stopped(scene: Scene, running: subprocess.Popen, sign: signal.Signals) -> None:
    """All of it is gone, no half cell counts, and the next call measures the cell."""
    said, _ = running.communicate(timeout=30)
    assert running.returncode != 0
    assert "Traceback" not in said
    if sign != signal.SIGKILL:
        assert f"stopped by {sign.name}" in said
        assert not BUSY.exists()
        assert not Path("results/small/failed").exists()
    wait_for(lambda: not scene.left(), "still running", 30)
    assert not (RAW / CELL).exists()
    check_next(scene)
    assert not BUSY.exists()


@pytest.mark.parametrize("sign", SIGNALS, ids=lambda sign: sign.name)
@pytest.mark.parametrize("stage", STAGES)
def test_a_signal_to_the_cell(small, stage, sign):
    environment, mark = STAGES[stage]
    with measuring(small, environment) as running:
        wait_for(mark.exists, f"{stage} did not come")
        running.send_signal(sign)
        check_stopped(small, running, sign)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("stage", ["the load", "the run"])
def test_a_signal_to_its_whole_group(small, stage, sign):
    environment, mark = STAGES[stage]
    with measuring(small, environment) as running:
        wait_for(mark.exists, f"{stage} did not come")
        os.killpg(running.pid, sign)
        check_stopped(small, running, sign)


@pytest.mark.parametrize("sign", SIGNALS, ids=lambda sign: sign.name)
def test_a_signal_while_it_waits_for_another_cell(small, sign):
    with (state_directory() / "measure.lock").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with measuring(small, {}) as running:
            assert "waiting" in running.stdout.readline()
            running.send_signal(sign)
            said, _ = running.communicate(timeout=10)
            assert "Traceback" not in said
            assert running.returncode != 0
    assert small.left() == []
    check_next(small)


def test_a_second_signal_while_it_cleans_up(small):
    """The server takes its time to end; whoever is impatient breaks nothing."""
    environment = waiting_for("run") | {"PRETEND_SERVER": "ignores-sigterm"}
    with measuring(small, environment) as running:
        wait_for((BUSY / "run.err").exists, "the run did not come")
        for _ in range(3):
            running.send_signal(signal.SIGINT)
            time.sleep(0.3)
        server = int(Path("pretended-pid").read_text())
        os.kill(server, signal.SIGKILL)
        check_stopped(small, running, signal.SIGINT)


@pytest.mark.parametrize("stage", ["the load", "the run"])
def test_a_controller_that_dies(small, stage):
    environment, mark = STAGES[stage]
    controller = subprocess.Popen(["sleep", "100"])
    with measuring(small, environment | {"KVSTUDY_CONTROLLER": str(controller.pid)}) as running:
        wait_for(mark.exists, f"{stage} did not come")
        controller.kill()
        controller.wait()
        said, _ = running.communicate(timeout=20)
        assert "has died" in said
        assert "Traceback" not in said
    assert small.left() == []
    assert not (RAW / CELL).exists()
    check_next(small)


# --- a whole study


@pytest.fixture
def study(workflow, record_property) -> Workflow:
    """The study with two cells, of which the first one is measured, and a probed store."""
    workflow.environment[MARK] = str(workflow.folder)
    workflow.edit(
        STUDY,
        lambda data: data.update(stores=["pretend"], workloads=["a"], tables=[], figures=[]),
    )
    # A fault in the client is one of the other cell then, not of the probe.
    done = ("raw/" + OTHER, "probes/pretend")
    first = workflow.snakemake(*(f"results/small/{name}/SHA256SUMS" for name in done))
    assert first.returncode == 0, first.stderr
    before = contents(workflow.folder, f"results/small/raw/{OTHER}/*")
    yield workflow
    left = processes_of(workflow.folder)
    after = contents(workflow.folder, f"results/small/raw/{OTHER}/*")
    record_property("left", len(left))
    record_property("lost", int(after != before))
    Scene.end(left)
    assert left == []
    assert after == before


def kill_the_cell(workflow: Workflow, running: subprocess.Popen) -> None:
    """What only measures is killed; Snakemake lives on."""
    for process in processes_of(workflow.folder):
        with contextlib.suppress(psutil.Error):
            if "measure" in process.cmdline() and "kvstudy" in "".join(process.cmdline()):
                process.kill()


HOW = {
    "Ctrl-C": lambda workflow, running: os.killpg(running.pid, signal.SIGINT),
    "Ctrl-C twice": lambda workflow, running: (
        os.killpg(running.pid, signal.SIGINT),
        time.sleep(0.5),
        os.killpg(running.pid, signal.SIGINT),
    ),
    "a closed terminal": lambda workflow, running: os.killpg(running.pid, signal.SIGHUP),
    "its group is asked to end": lambda workflow, running: os.killpg(running.pid, signal.SIGTERM),
    "its group is killed": lambda workflow, running: os.killpg(running.pid, signal.SIGKILL),
    "it is killed": lambda workflow, running: running.send_signal(signal.SIGKILL),
    "the cell is killed": kill_the_cell,
}


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("phase", ["load", "run"])
def test_a_study_that_is_stopped(study, how, phase):
    running = study.started(CELLS, **waiting_for(phase))
    busy = study.folder / BUSY
    wait_for((busy / f"{phase}.err").exists, "the cell did not start")
    HOW[how](study, running)
    assert running.wait(120) != 0
    wait_for(lambda: not processes_of(study.folder), "still running", 30)
    assert not (study.folder / RAW / CELL / "SHA256SUMS").exists()
    goes_on(study)


def goes_on(study: Workflow, cells: int = 1) -> None:
    """No lock, nothing to unlock: what is left is measured, and the numbers are there."""
    done = study.snakemake(CELLS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(measured(done)) == cells
    text = (study.folder / "results/small/measurements.csv").read_text()
    for repetition in (1, 2):
        assert f"pretend,a,r1000_o2000_t2,{repetition},run,overall,throughput,ops/s,4000.0" in text


def test_a_study_that_is_asked_to_end_finishes_its_cell(study):
    steps = {"phase": "run", "before": [["sleep", 3]]}
    running = study.started(CELLS, PRETEND_FAULT=json.dumps(steps))
    wait_for((study.folder / BUSY / "run.err").exists, "the cell did not start")
    running.send_signal(signal.SIGTERM)
    running.wait(120)
    assert (study.folder / RAW / CELL / "SHA256SUMS").exists()
    goes_on(study, cells=0)


@pytest.mark.parametrize("dry", [[], ["-n"]], ids=["a second one", "a dry run"])
def test_a_second_snakemake_in_the_clone(study, dry):
    steps = {"phase": "run", "before": [["sleep", 15]]}
    running = study.started(CELLS, PRETEND_FAULT=json.dumps(steps))
    wait_for((study.folder / BUSY / "run.err").exists, "the cell did not start")
    second = study.snakemake(CELLS, *dry)
    said = second.stdout + second.stderr
    assert "Traceback" not in said
    if not dry:
        assert second.returncode != 0
        assert "another process works in this clone" in said
    assert "--unlock" not in said
    # The first one is not disturbed.
    assert running.wait(120) == 0
    goes_on(study, cells=0)


@pytest.mark.parametrize(
    "fault",
    [
        {"PRETEND_CLIENT": "failed-once-run"},
        {"PRETEND_FAULT": json.dumps({"phase": "run", "before": [["server", "KILL"]]})},
        {"PRETEND_FAULT": json.dumps({"phase": "load", "before": [["signal", "KILL"]]})},
    ],
    ids=["a failed cell", "a killed server", "a killed client"],
)
def test_a_cell_that_fails_in_a_study(study, fault):
    done = study.snakemake(CELLS, **fault)
    assert done.returncode != 0
    assert f"Failed, with reasons in results/small/failed/:\n  {CELL}" in done.stderr
    assert "Traceback" not in done.stderr
    goes_on(study)


def test_a_server_that_dies_after_a_look(study):
    """That look holds; the next call measures the rest of the repetition, and looks again."""
    stores, looks = ["pretend", {"store": "pretend", "name": "other"}], "results/small/looks"
    study.edit(STUDY, lambda data: data.update(stores=stores))
    done = study.snakemake(CELLS, PRETEND_CLIENT="restless")
    assert done.returncode == 0, done.stdout + done.stderr
    study.edit(STUDY, lambda data: data.update(repetitions={"from": 2, "to": 3}))
    killed = json.dumps({"phase": "run", "before": [["server", "KILL"]]})
    done = study.snakemake(CELLS, PRETEND_FAULT=killed)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert [path.name for path in (study.folder / looks).iterdir()] == ["2.json"]
    done = study.snakemake(CELLS, PRETEND_CLIENT="restless")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(measured(done)) == ["other_a_rep3", "pretend_a_rep3"]
    assert json.loads((study.folder / looks / "3.json").read_text())["stop"]


@pytest.mark.parametrize(
    "how", ["Ctrl-C", "a closed terminal", "its group is killed", "it is killed"]
)
def test_a_report_that_is_stopped(copy, how, record_property):
    """LaTeX ends too, and the next call builds the report of the same numbers."""
    copy.environment[MARK] = str(copy.folder)
    before = contents(copy.folder, "results/small/*.csv", "results/small/raw/**/*")
    (copy.folder / "report/small.pdf").unlink()
    running = copy.started("report/small.pdf")
    wait_for(
        lambda: [each for each in processes_of(copy.folder) if "latexmk" in " ".join(line(each))],
        "LaTeX did not start",
    )
    HOW[how](copy, running)
    assert running.wait(120) != 0
    with contextlib.suppress(AssertionError):
        wait_for(lambda: not processes_of(copy.folder), "still running", 30)
    left = processes_of(copy.folder)
    record_property("left", len(left))
    Scene.end(left)
    assert left == []
    done = copy.snakemake("report/small.pdf")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (copy.folder / "report/small.pdf").read_bytes()[:4] == b"%PDF"
    after = contents(copy.folder, "results/small/*.csv", "results/small/raw/**/*")
    record_property("lost", int(after != before))
    assert after == before


def line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
