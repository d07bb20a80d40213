"""A store that is reached by a slower way, on a real server."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import load_study

from tests.e2e.pipeline import TWO_STORES, programs_in, run, snakemake
from tests.formats_support import text_of
from tests.project import measure, wait_for

DELAY = 2000
SLOWER = {"store": "redis", "name": "slower", "title": "Slower Redis", "delay": DELAY}
STUDY = TWO_STORES | {
    **{"name": "ways", "title": "Two ways", "question": "Which is slower?"},
    **{"stores": ["redis", SLOWER], "repetitions": 1},
    **{"parameters": {"records": 1000, "operations": 2000, "threads": 2}},
}


def write_study(folder: Path, **keys: object) -> Path:
    file = folder / "config/studies/ways/study.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(STUDY | keys))
    return file


def slower(file: Path) -> Cell:
    """The cell with the delay."""
    return next(cell for cell in plan(load_study(file)) if cell.store == "slower")


@pytest.fixture(scope="module")
def results(clone: Path) -> Path:
    write_study(clone)
    targets = "report/ways.pdf results/ways/commands.txt"
    snakemake(clone, "study=ways", "provider=native", target=targets)
    assert programs_in(clone) == []
    return clone / "results/ways"


def manifest_of(results: Path, store: str) -> dict:
    (path,) = results.glob(f"raw/{store}/*/*/rep1/manifest.json")
    return json.loads(path.read_text())


def test_each_request_waits_and_the_cell_shows_how_long(results):
    delay = manifest_of(results, "slower")["delay"]
    assert delay["micros"] == DELAY
    assert DELAY <= delay["p1"] <= delay["p50"] <= delay["p99"]
    # Those of the load phase do not wait.
    assert 2000 <= delay["pieces"] < 2100
    assert "delay" not in manifest_of(results, "redis")
    values = pd.read_csv(results / "measurements.csv").query("operation == 'read'")
    read = values.query("store == 'slower'").set_index("metric").value
    # Not against the other store: what else runs here may slow down either cell by a third.
    assert read["latency_min"] >= DELAY
    assert read["latency_mean"] >= 0.95 * delay["mean"]
    # What delays is no other program that disturbs.
    (samples,) = results.glob("raw/slower/*/*/rep1/processes.csv")
    assert set(pd.read_csv(samples).side) == {"client", "server", "path"}


def test_the_report_says_what_was_added(results):
    words = " ".join(text_of(results.parents[1] / "report/ways.pdf").split())
    assert "A program between client and server delayed each request." in words
    median = manifest_of(results, "slower")["delay"]["p50"]
    said = re.search(
        r"Slower Redis 2 000 µs, median ([\d ]+) µs",
        words.replace("\N{NARROW NO-BREAK SPACE}", " "),
    )
    assert said
    assert int(said[1].replace(" ", "")) == round(median)


def test_its_own_commands_end_what_delays(results):
    (commands,) = results.glob("raw/slower/*/*/rep1/commands.sh")
    assert commands.read_text().splitlines()[-2:] == ["kill %?DelayProxy", "kill -KILL %1"]
    # Job specifications work without a terminal, too.
    script = "exec -a DelayProxy sleep 60 & kill %?DelayProxy; wait $!; exit $?"
    assert subprocess.run(["bash", "-c", script], check=False).returncode == 128 + signal.SIGTERM


def test_a_cell_is_repeated_by_hand_with_its_delay(results, clone):
    head, *blocks = (results / "commands.txt").read_text().split("# " + "-" * 70 + "\n")
    (block,) = (block for block in blocks if "DELAY=" in block)
    output = run(clone, "bash", "-c", head + block, KVSTUDY=str(clone))
    assert "[READ], AverageLatency(us), 2" in output
    assert programs_in(clone) == []


def test_a_program_that_delays_no_more_fails_the_cell(folder):
    # Most of a minute, if it were left alone.
    file = write_study(folder, parameters={"records": 1000, "operations": 20_000, "threads": 1})
    cell = slower(file)

    def kill() -> None:
        process = wait_for(proxy, "nothing delays")
        wait_for(runs, "no operation")
        process.kill()

    def runs() -> bool:
        return any(" operations; " in path.read_text() for path in folder.rglob("run.err"))

    def proxy() -> psutil.Process | None:
        for child in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if "kvstudy.net.DelayProxy" in child.cmdline():
                    return child
        return None

    killing = threading.Thread(target=kill)
    killing.start()
    with pytest.raises(KvstudyError, match="program that delays requests was killed by SIGKILL"):
        measure(cell.path, study=file.relative_to(folder))
    killing.join()
    assert programs_in(folder) == []


def test_it_ends_with_whoever_measures(clone, monkeypatch):
    monkeypatch.chdir(clone)
    sizes = {"records": 1000, "operations": 20_000, "threads": 1}
    cell = slower(write_study(clone, parameters=sizes))
    command = ["kvstudy", "measure", cell.path, "--study", "config/studies/ways/study.yaml"]
    environment = os.environ | {"KVSTUDY_STATE": str(clone / "state")}
    measuring = subprocess.Popen([*command, "--provider", "native"], cwd=clone, env=environment)
    wait_for(lambda: any("DelayProxy" in line for line in programs_in(clone)), "nothing delays")
    measuring.send_signal(signal.SIGKILL)
    measuring.wait()
    wait_for(lambda: not programs_in(clone), lambda: programs_in(clone), 30)
