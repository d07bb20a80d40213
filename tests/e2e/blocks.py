"""A study of two repetitions, each of them a block of two cells and one job of a cluster."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import yaml

from tests.e2e.pipeline import TWO_STORES
from tests.faults.finished import contents
from tests.project import wait_for

STUDY = TWO_STORES | {
    "name": "nodes",
    "title": "Two nodes",
    "question": "Is a repetition measured on one node?",
}
RESULTS = Path("results/nodes")
CELLS = [f"{store}/c/r1000_o10000_t2" for store in STUDY["stores"]]
SERVERS = ("redis-server", "memcached")


class Blocks:
    """A clone with the study, for a ``profile``; ``environment`` is what its commands need.

    Of each cluster: ``jobs`` (those that run) and ``servers`` (of any job).
    """

    def __init__(self, folder: Path, profile: str, environment: dict[str, str]) -> None:
        self.folder, self.profile = folder, profile
        self.environment = environment | {"KVSTUDY_STATE": str(folder / "state")}
        file = folder / "config/studies/nodes/study.yaml"
        file.parent.mkdir()
        file.write_text(yaml.safe_dump(STUDY))

    def start(self, *targets: str | Path, options: tuple[str, ...] = ()) -> subprocess.Popen:
        """Snakemake, which asks often: the cluster is this machine."""
        command = [sys.executable, "-m", "snakemake", *targets, "--profile", self.profile, *options]
        often = ["--seconds-between-status-checks", "1", "--latency-wait", "10"]
        environment = os.environ | self.environment
        environment.pop("KVSTUDY_CONTROLLER", None)
        with (self.folder / "said").open("w") as said:
            return subprocess.Popen(
                [*command, *often, "--config", "study=nodes", "provider=native"],
                cwd=self.folder,
                env=environment,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        return (self.folder / "said").read_text()

    def cells(self, repetition: int) -> list[Path]:
        return [RESULTS / "raw" / cell / f"rep{repetition}" / "SHA256SUMS" for cell in CELLS]

    def manifest(self, cell: Path) -> dict:
        return json.loads((self.folder / cell).with_name("manifest.json").read_text())

    def measure_with_a_failure(self) -> None:
        """Both repetitions; a cell of the first one fails."""
        failing = self.folder / self.cells(1)[0].parent
        failing.parent.mkdir(parents=True)
        # Its place is taken: nothing can be put there.
        failing.write_text("in the way")
        assert self.start(*self.cells(1), *self.cells(2)).wait(300) != 0
        failing.unlink()

    @contextlib.contextmanager
    def measuring_again(self) -> Iterator[tuple[subprocess.Popen, str | Path]]:
        """Snakemake measures the first repetition again, and its job; no other cell is touched."""
        before = contents(self.folder, f"{RESULTS}/raw/*/*/*/rep2/*")
        assert before
        for cell in self.cells(1):
            shutil.rmtree(self.folder / cell.parent, ignore_errors=True)
        earlier = set(self.jobs())
        running = self.start(*self.cells(1))
        wait_for(
            # The server of an earlier job may be there still.
            lambda: set(self.jobs()) - earlier and self.servers(),
            lambda: f"no server starts: {self.said[-3000:]}",
        )
        (job,) = set(self.jobs()) - earlier
        yield running, job
        assert contents(self.folder, f"{RESULTS}/raw/*/*/*/rep2/*") == before

    def finish(self) -> pd.DataFrame:
        """Measure what is left; the cells are all there, and were measured once."""
        assert self.start(RESULTS / "cells.csv").wait(600) == 0, self.said[-8000:]
        cells = pd.read_csv(self.folder / RESULTS / "cells.csv", keep_default_na=False)
        assert list(cells["status"]) == ["measured"] * 4
        assert list(cells["invalid"]) == [""] * 4
        assert not (self.folder / RESULTS / "replaced").exists()
        return cells
