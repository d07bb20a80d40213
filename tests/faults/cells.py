"""One cell with a fault in it, next to one that was measured before and must stay as it is."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.errors import EnvironmentFault, KvstudyError

from tests.faults.scene import CELL, OTHER, Answer, Scene, says

RAW = Path("results/small/raw")
# What the pretended client says of a whole run: operations/s, and latencies in us.
NUMBERS = {("overall", "throughput"): 4000.0, ("read", "latency_mean"): 107.0}
# A message is for people: no program's noise, and no more than a screen of it.
NOISE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
LONGEST = 3000


@pytest.fixture
def small(scene: Scene) -> Scene:
    """One cell of the study is there, which no fault may touch."""
    answer = scene.measure(OTHER)
    assert answer.code == 0, answer.text
    scene.guard(RAW / OTHER)
    return scene


def with_fault(scene: Scene, environment: dict[str, object], *options: object) -> Answer:
    """Measure the cell with these variables; what is no text becomes JSON."""
    with scene.monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value if isinstance(value, str) else json.dumps(value))
        return scene.measure(CELL, *options)


def check_failed(
    scene: Scene,
    answer: Answer,
    message: str,
    kind: type[KvstudyError] = EnvironmentFault,
    logs: bool = True,
) -> None:
    """The cell failed for the right reason and left nothing; the next one is measured.

    ``logs``: they are kept with the reason.
    """
    says(answer, message)
    assert answer.code == kind.status, answer.text
    assert not NOISE.search(answer.text), repr(answer.text)
    assert len(answer.text) < LONGEST, len(answer.text)
    assert not (RAW / CELL).exists()
    assert not Path("results/small/measuring").exists()
    if logs:
        (kept,) = Path("results/small/failed", CELL).glob("*/failure.json")
        assert re.search(message, json.loads(kept.read_text())["reason"])
    assert scene.left() == []
    check_next(scene)


def check_next(scene: Scene) -> None:
    """Without the fault the cell is measured, and the numbers of both are right."""
    answer = scene.measure(CELL)
    assert answer.code == 0, answer.text
    check_numbers(scene, CELL, OTHER)


def check_numbers(scene: Scene, *cells: str) -> None:
    table = scene.results()
    measurements = pd.read_csv("results/small/measurements.csv")
    measurements = (
        measurements[measurements.phase == "run"]
        .set_index(["repetition", "operation", "metric"])
        .value
    )
    for cell in cells:
        repetition = cell[-1]
        row = table.loc[f"pretend/a/{repetition}"]
        assert (row.status, row.invalid) == ("measured", "")
        numbers = {key: measurements[int(repetition), *key] for key in NUMBERS}
        assert numbers == NUMBERS


def path_without(folder: Path, *programs: str) -> str:
    """A PATH of all that is on the present one, without these programs."""
    folder.mkdir()
    for place in os.environ["PATH"].split(":"):
        for program in Path(place).iterdir() if Path(place).is_dir() else []:
            link = folder / program.name
            if program.name not in programs and not link.exists() and shutil.which(str(program)):
                link.symlink_to(program)
    return str(folder)
