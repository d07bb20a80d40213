"""Status lines as series, from real standard errors of YCSB 0.17.0."""

from pathlib import Path

import numpy as np
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import parse
from kvstudy.logs.ycsb.status import (
    GoodOperations,
    check_interval,
    last_status,
    longest_stall,
    operations_per_second,
    read_status,
    run_start,
)
from kvstudy.stats.over_time import Steadiness, warm_up

DATA = Path(__file__).parents[1] / "data" / "ycsb"


def text(name: str) -> str:
    return (DATA / f"{name}.err").read_text()


def status(name: str):
    return read_status(text(name), f"{name}.err")


def lines(*times: str, most: int = 100) -> str:
    """A line for each time, with one operation more; ``most`` in all."""
    return "".join(
        f"{time} sec: {min(count, most)} operations; 1 current ops/sec; \n"
        for count, time in enumerate(times)
    )


def test_lines_of_a_run_with_a_target():
    """500 ops/s; the first line was late by 75 ms, the last one is the end of the run."""
    result = status("basic-edge-target500")
    assert result.times.tolist() == pytest.approx([0.075, 1, 2, 3.001, 3.014])
    assert result.operations == [35, 497, 997, 1497, 1500]


def test_seconds_of_a_run_with_a_target():
    result = operations_per_second(status("basic-edge-target500"), "run.err")
    assert result == pytest.approx([497, 500, 499.5], abs=0.01)


@pytest.mark.parametrize(
    "name", [path.stem for path in sorted(DATA.glob("*.err")) if path.stem != "redis-raw"]
)
def test_totals_rise_and_seconds_add_up(name):
    result = status(name)
    assert (np.diff(result.times) > 0).all()
    assert (np.diff(result.operations) >= 0).all()
    seconds = operations_per_second(result, name)
    assert min(seconds, default=0) >= 0
    until = np.interp(len(seconds), [0, *result.times], [0, *result.operations])
    assert sum(seconds) == pytest.approx(until)


def test_a_client_whose_lines_come_late():
    """Its rates jump (84, 272, 1065, 1268 ops/s) although the target was 800."""
    assert "; 1268.72 current ops/sec" in text("redis-timeseries")
    assert max(operations_per_second(status("redis-timeseries"), "run.err")) < 1100


def test_a_question_mark_for_infinity():
    first, sign, _ = text("basic-ascii").partition("; ? current ops/sec; ")
    assert last_status(f"{first}{sign}\n").rate is None


def test_a_first_line_that_is_later_than_a_second():
    """13 097 operations after 1.284 s."""
    assert status("basic-ascii").times[0] == pytest.approx(1.284)
    seconds = operations_per_second(status("basic-ascii"), "run.err")
    assert seconds[0] == pytest.approx(13097 / 1.284)


def test_decimal_commas():
    """A Czech machine: 108,34 current ops/sec [READ: ... Avg=1081,96, 90=1832."""
    first, sign, _ = text("redis-czech").partition("; 108,34 current ops/sec; ")
    assert last_status(f"{first}{sign}\n").rate == 108.34


def test_seconds_before_the_first_operation():
    """Three seconds to connect, on a Czech machine (108,34 current ops/sec)."""
    result = operations_per_second(status("redis-czech"), "run.err")
    assert result[:3] == pytest.approx([0] * 3)


def test_a_server_that_was_killed_and_came_back():
    result = status("mongodb-workloada-killrestart")
    assert result.operations[6:10] == [4668] * 4
    seconds = operations_per_second(result, "run.err")
    assert seconds[6:9] == pytest.approx([0, 0, 0])
    assert seconds[9] > 2000
    assert warm_up(seconds).verdict == Steadiness.TOO_SHORT


def test_seconds_of_closing_connections_are_no_part_of_the_run():
    text = lines(*(f"2026-01-01 10:00:{s:02}:000 {s}" for s in range(30)), most=5)
    result = operations_per_second(read_status(text, "run.err"), "run.err")
    # The clients finished in the fifth second, nobody knows when.
    assert result == pytest.approx([1] * 4)


def test_the_clock_changes_in_the_middle():
    clocks = ("02:59:58", "02:59:59", "02:00:00", "02:00:01")
    text = lines(*(f"2026-10-25 {clock}:000 {second}" for second, clock in enumerate(clocks)))
    assert read_status(text, "run.err").times.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (["2026-02-31 10:00:00:000 0"], "line 1: there is no time '2026-02-31 10:00:00:000'"),
        (["2026-01-01 10:00:00:000 0", "2026-13-01 10:00:01:000 1"], "line 2: there is no time"),
        (["0000-01-01 10:00:00:000 0"], "line 1: there is no time"),
        # A minute of the clock, and years by the count.
        (
            ["2026-01-01 10:00:00:000 0", "2026-01-01 10:01:00:000 999999999"],
            "line 2: '2026-01-01 10:01:00:000 999999999 sec' does not fit",
        ),
        (["2026-01-01 10:00:09:000 9", "2026-01-01 10:00:01:000 1"], "line 2: .* does not fit"),
    ],
)
def test_times_that_cannot_be(times, message):
    with pytest.raises(KvstudyError, match=rf"^run\.err: {message}"):
        read_status(lines(*times), "run.err")
    assert run_start(lines(*times)) is None


def test_a_day_between_two_lines_is_no_run():
    times = [f"2026-01-0{1 + 4 * (second > 5)} 10:00:0{second}:000" for second in range(9)]
    elapsed = [second + 4 * 86400 * (second > 5) for second in range(9)]
    text = lines(*(f"{time} {second}" for time, second in zip(times, elapsed, strict=True)))
    with pytest.raises(KvstudyError, match=r"run\.err: two status lines are 345601 s apart"):
        operations_per_second(read_status(text, "run.err"), "run.err")


def test_a_clock_that_is_set_back_a_little_still_rises():
    text = lines("2026-01-01 10:00:01:900 1", "2026-01-01 10:00:01:400 1")
    assert (np.diff(read_status(text, "run.err").times) >= 0).all()


def test_a_torn_last_line_is_left_out():
    whole = text("basic-edge-target500")
    end = whole.index("1497 operations")
    for cut in range(end, end + 60):
        assert read_status(whole[:cut], "run.err").operations == [35, 497, 997]


@pytest.mark.parametrize("name", ["", "YCSB Client 0.17.0\n\nLoading workload...\n"])
def test_no_status_lines(name):
    with pytest.raises(KvstudyError, match=r"^run\.err: no status lines of YCSB.*measure with -s"):
        read_status(name, "run.err")


def test_two_runs_in_one_file():
    whole = text("basic-edge-target500")
    with pytest.raises(KvstudyError, match=r"run\.err: line 24: 35 operations after 1500"):
        read_status(whole + whole, "run.err")


def test_lines_that_are_too_far_apart():
    text = lines(*(f"2026-01-01 10:00:{s:02}:000 {s}" for s in range(0, 50, 10)))
    with pytest.raises(KvstudyError, match=r"run\.err: status lines are 10 s apart.*interval=1"):
        check_interval(read_status(text, "run.err"), "run.err")


@pytest.mark.parametrize("name", ["redis-hdr-rep1", "redis-both", "redis-hdrraw", "redis-raw"])
def test_good_operations_are_those_of_the_results(name, tmp_path):
    """The status lines as they come, in pieces that end anywhere."""
    log = parse((DATA / f"{name}.out").read_text(), name)
    good = log.attempted - log.failed
    assert sum(status(name).good) == good
    assert status(name).operations[-1] == log.attempted
    growing = tmp_path / "run.err"
    result, seen = GoodOperations(growing), []
    whole = (DATA / f"{name}.err").read_bytes()
    for end in range(0, len(whole) + 700, 700):
        growing.write_bytes(whole[:end])
        seen.append(result.look())
    assert seen == sorted(seen)
    assert seen[-1] == good


def test_failed_operations_are_no_good_ones():
    """MongoDB was killed in second 6, and started again."""
    result = status("mongodb-workloada-killrestart")
    log = parse((DATA / "mongodb-workloada-killrestart.out").read_text(), "killrestart")
    assert sum(result.good) == log.attempted - log.failed < log.attempted
    idle = [time for time, good in zip(result.times, result.good, strict=True) if not good]
    assert idle == pytest.approx([0.143, 1.002, 7.001, 8.001, 9.0])
    assert longest_stall(result) == pytest.approx(3, abs=0.01)


def test_operations_that_are_not_counted_apart_count_as_good():
    result = status("redis-histogram")
    assert sum(result.good) == result.operations[-1]
