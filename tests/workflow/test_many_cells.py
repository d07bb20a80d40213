"""A study of thousands of cells."""

from __future__ import annotations

import os
import signal
import time

import pytest

CELLS = 5000
ENOUGH = 3


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_within_seconds(workflow, sign):
    """With the solver, Snakemake hung for good when SIGTERM came while it chose the next cell."""
    workflow.edit(
        "config/studies/small/study.yaml",
        lambda study: study.update(
            stores=["pretend"], workloads=["a", "c"], tables=[], figures=[], repetitions=CELLS // 2
        ),
    )
    running = workflow.started("results/small/cells.csv")
    try:
        measured = workflow.folder / "results/small/raw"
        limit = time.monotonic() + 200
        while len(list(measured.glob("*/*/*/*/SHA256SUMS"))) < ENOUGH:
            assert running.poll() is None
            assert time.monotonic() < limit, "no cells were measured"
            time.sleep(0.05)
        running.send_signal(sign)
        # The present cell may end first.
        assert running.wait(30) != 0
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    assert not list((workflow.folder / "results/small").glob("measuring/*"))
