"""Several clients as one: sums of counts, and a throughput of the time that they share."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import LogSection, YcsbLog
from kvstudy.logs.ycsb.status import operations_so_far
from kvstudy.logs.ycsb.together import ClientLog, together
from kvstudy.stats.percentiles import quantiles


def client(
    samples: list[int], began: float = 0.0, ended: float = 10.0, failed: int = 0
) -> ClientLog:
    counts = {"read": Counter(samples)} if samples else {}
    latencies = {}
    if samples:
        mean = sum(samples) / len(samples)
        latencies = {"latency_mean": mean, "latency_min": min(samples), "latency_max": max(samples)}
        latencies["latency_p95"] = quantiles(pd.Series(counts["read"]), [95])[0]
    returns = {"OK": len(samples)} | ({"ERROR": failed} if failed else {})
    section = LogSection(len(samples), failed, returns, latencies)
    total = len(samples) + failed
    # A line each second.
    at = np.arange(began, ended + 0.5)
    so_far = pd.Series(np.interp(at, [began, ended], [0.0, total]), index=at)
    return ClientLog(YcsbLog(1000 * (ended - began), 1.0, {"READ": section}), counts, so_far)


@given(st.lists(st.lists(st.integers(1, 5000), max_size=40), min_size=1, max_size=16))
def test_percentiles_are_those_of_all_samples_and_no_count_is_lost(clients):
    every = [sample for samples in clients for sample in samples]
    result = together([client(samples) for samples in clients], "cell")
    section = result.log.sections["READ"]
    assert section.operations == len(every)
    if not every:
        assert section.latencies == {}
        return
    assert result.counts["read"] == Counter(every)
    assert section.latencies["latency_p95"] == quantiles(pd.Series(Counter(every)), [95])[0]
    assert section.latencies["latency_mean"] == pytest.approx(sum(every) / len(every))
    assert section.latencies["latency_min"] == min(every)
    assert section.latencies["latency_max"] == max(every)


def test_failures_add_up():
    result = together([client([1, 2], failed=3), client([4], failed=1)], "cell").log
    assert (result.attempted, result.failed) == (7, 4)
    assert result.sections["READ"].returns == {"OK": 3, "ERROR": 4}


def test_throughput_is_that_of_the_time_that_all_share():
    # 100 operations a second in 10 s, and from 2 s on 300 in 5 s.
    result = together([client([1] * 1000), client([1] * 1500, 2.0, 7.0)], "cell")
    assert result.log.throughput == pytest.approx(400)
    assert result.throughput_sum == pytest.approx(400)
    assert result.log.runtime == pytest.approx(10_000)
    assert result.skew == pytest.approx(2000)
    assert result.shared_time == pytest.approx(0.5)
    assert list(result.per_second) == pytest.approx([100] * 2 + [400] * 5 + [100] * 3)


def test_a_client_that_slows_down_counts_as_it_was_while_the_other_ran():
    fast = client([1] * 1000, 0.0, 4.0)
    slow = client([1] * 500, 0.0, 10.0)
    # 400 of its 500 operations in the first four seconds.
    slow = ClientLog(slow.log, slow.counts, pd.Series([0, 400, 500], index=[0.0, 4.0, 10.0]))
    result = together([fast, slow], "cell")
    assert result.log.throughput == pytest.approx(350)
    assert result.throughput_sum == pytest.approx(300)


def test_clients_that_never_ran_together_are_no_measurement():
    with pytest.raises(KvstudyError, match="cell: one client began when another had ended"):
        together([client([1]), client([1], 10.0, 20.0)], "cell")


LINE = "2026-01-01 00:00:{:06.3f} {} sec: {} operations; 1 current ops/sec; \n"


def line(second: float, operations: int) -> str:
    return LINE.format(second, int(second), operations).replace(".", ":", 1)


def mark(second: float, what: str) -> str:
    return f"2026-01-01 00:00:{second:06.3f} together: {what}\n".replace(".", ":", 1)


def test_operations_so_far_are_those_between_the_first_and_the_last():
    text = line(1, 0) + mark(1.5, "began") + line(2, 30) + line(3, 80) + mark(3.25, "ended")
    text += line(4, 100)
    result = operations_so_far(text, 100, "run.err")
    assert list(result) == [0, 30, 80, 100]
    assert list(result.index - result.index[0]) == pytest.approx([0, 0.5, 1.5, 1.75])


@pytest.mark.parametrize(
    "text",
    [line(1, 5), mark(1, "began") + line(2, 5), mark(2, "began") + mark(1, "ended")],
)
def test_a_client_that_does_not_say_when_it_ran(text):
    with pytest.raises(KvstudyError, match=r"run\.err: does not say when the client's operations"):
        operations_so_far(text, 5, "run.err")
