"""A real Java that gets too little memory: what a user reads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

CELL = ["--store=redis", "--option=layout=hash", "--workload=a", "--provider=native"]


@pytest.mark.parametrize(
    ("heap", "message"),
    [
        # Before a server starts.
        (
            "-Xmx1k",
            "kvstudy: java does not start: Error occurred during initialization of VM | "
            "Too small maximum heap; change or unset JAVA_TOOL_OPTIONS=-Xmx1k",
        ),
        (
            "-Xmx8m",
            "java.lang.OutOfMemoryError: Java heap space: the client's Java ran out; "
            "raise -Xmx in JAVA_TOOL_OPTIONS=-Xmx8m",
        ),
    ],
)
def test_too_small_a_heap(folder, heap, message):
    done = subprocess.run(
        ["kvstudy", "run", *CELL, "--records=20000", "--operations=20000"],
        env=os.environ | {"JAVA_TOOL_OPTIONS": heap},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 3
    assert message in done.stderr
    assert not list(Path("results/single-cells").glob("raw/*/*/*/*"))
