"""Whether a client stood still, as on a suspended machine, by its lines, our samples and clocks."""

from __future__ import annotations

import math
import time
from pathlib import Path

import numpy as np
import pytest
from kvstudy.analyse.tidy.cell import standstill
from kvstudy.analyse.tidy.resources import Samples
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.logs.ycsb.status import StatusLines, operations_per_second, silence
from kvstudy.measure.clients import PROCESS_COLUMNS
from kvstudy.measure.phase import LEAST_SHARE, STALL_SECONDS, OperationMonitor

from .test_resources import server, write

# A line each second at 100 operations/s, but for 15 s.
PAUSED = StatusLines(
    times=np.array([0.0, 1, 2, 17.5, 17.6, 17.6, 18, 19]),
    operations=[0, 100, 200, 250, 260, 260, 300, 400],
    good=[0, 100, 100, 50, 10, 0, 40, 100],
)


def samples(folder: Path, seconds: list[float], moving: bool = True) -> Samples:
    rows = [server(at, at if moving else 1.0) | {"side": "client"} for at in seconds]
    write(folder / "processes.csv", PROCESS_COLUMNS, rows)
    return Samples(folder, "run")


def pause(seen: Samples, runtime: float, seconds: float | None) -> float:
    """``runtime`` (s) is YCSB's, ``seconds`` ours."""
    log = YcsbLog(runtime=1000 * runtime, throughput=20.0, sections={})
    return standstill([PAUSED], seen, log, {"seconds": seconds})


def test_all_programs_were_stopped(tmp_path):
    """Or the virtual machine was paused, and its clocks went on."""
    assert pause(samples(tmp_path, [0, 1, 2, 3, 18.5, 19, 20]), 19, 20) == 15.5


def test_the_client_caught_up_and_ended_before_the_next_sample(tmp_path):
    rows = [server(at, at) | {"side": "client"} for at in (0, 1, 2)]
    rows.append(server(18.5, 3))
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, rows)
    assert pause(Samples(tmp_path, "run"), 19, 20) == 15.5


def test_the_client_alone_was_stopped(tmp_path):
    assert pause(samples(tmp_path, [*range(21)], moving=False), 19, 20) == 15.5


def test_the_machine_was_suspended(tmp_path):
    """Our clock stood still with it, the time of day jumped; so when a virtual machine's is set."""
    assert pause(samples(tmp_path, [*range(6)]), 19, 5) == 15.5


def test_the_client_ran_and_could_not_write(tmp_path):
    """As when the disk of the store and of the logs is busy."""
    assert pause(samples(tmp_path, [*range(21)]), 19, 20) == 0


def test_logs_that_others_made(tmp_path):
    assert pause(Samples(tmp_path, "run"), 19, None) == 15.5


@pytest.mark.parametrize(
    ("times", "operations"),
    [
        # Lines that were lost; late ones; a store that does nothing, or nothing any more.
        ([0, 1, 2, 17.5, 18, 19], [0, 100, 200, 1750, 1800, 1900]),
        ([0, 1, 3.9, 4.1, 5], [0, 100, 100, 110, 200]),
        ([*range(20)], [0, 100, *[100] * 17, 200]),
        ([*range(20)], [0, 100, *[100] * 18]),
        ([0.0], [0]),
    ],
)
def test_no_silence(times, operations):
    assert silence(StatusLines(np.array(times, float), operations, operations)) == 0


def test_the_series_shows_the_gap():
    result = operations_per_second(PAUSED, "run.err")
    assert result[:2] == [100, 100]
    assert np.isnan(result[2:18]).all()
    assert result[18:] == [100]


def test_a_client_is_not_blamed_for_the_time_in_which_all_stood_still(tmp_path):
    errors = tmp_path / "run.err"
    errors.write_text("2026-01-01 10:00:01:000 1 sec: 500 operations; 500 current ops/sec; \n")
    # Whole seconds: the sum of others and the limit can fall short of it by a rounding.
    progress, now = OperationMonitor(errors, LEAST_SHARE), math.ceil(time.monotonic())
    assert progress.problem(now + 1) is None
    later = now + 2 * STALL_SECONDS
    assert progress.problem(later) is None
    seconds = range(1, STALL_SECONDS + 1)
    (*none, problem) = [progress.problem(later + second) for second in seconds]
    assert set(none) == {None}
    assert problem.startswith("no operation went well for 120 s")
