"""A study of thousands of cells."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator

import psutil
import pytest

CELLS = 5000


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_within_seconds(workflow, sign):
    """With the solver, Snakemake hung for good when SIGTERM came while it chose the next cell."""
    with _measuring(workflow, CELLS, enough=3) as running:
        running.send_signal(sign)
        # The present cell may end first.
        assert running.wait(30) != 0
    assert not list((workflow.folder / "results/small").glob("measuring/*"))


def test_a_finished_cell_leaves_nothing_behind_in_snakemake(workflow):
    """Each left a thread that woke the scheduler once a second, next to all further cells."""
    with _measuring(workflow, 40, enough=15) as running:
        assert psutil.Process(running.pid).num_threads() < 10


@contextlib.contextmanager
def _measuring(workflow, cells: int, enough: int) -> Iterator[subprocess.Popen]:
    """Snakemake, from when it has measured ``enough`` of its cells; killed in the end."""
    workflow.edit(
        "config/studies/small/study.yaml",
        lambda study: study.update(
            stores=["pretend"], workloads=["a", "c"], tables=[], figures=[], repetitions=cells // 2
        ),
    )
    running = workflow.started("results/small/cells.csv")
    try:
        measured = workflow.folder / "results/small/raw"
        limit = time.monotonic() + 200
        while len(list(measured.glob("*/*/*/*/SHA256SUMS"))) < enough:
            assert running.poll() is None
            assert time.monotonic() < limit, "no cells were measured"
            time.sleep(0.05)
        yield running
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
