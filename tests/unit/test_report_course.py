"""What the report says of the course of the runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kvstudy.analyse.findings.over_time import STEADINESS
from kvstudy.analyse.tidy.files import SUMMARY
from kvstudy.documents.report.cells import DisplayNames
from kvstudy.documents.report.course import course_facts

from . import small_results as small


def row(metric: str, mean: float, largest: float | None = None, **values: object) -> dict:
    key = {"store": "redis", "workload": "a", "parameters": "p", "operation": "overall"}
    numbers = {"n": 2, "mean": mean, "max": largest or mean}
    return key | {"metric": metric} | numbers | values


def facts(
    summary: list[dict],
    verdicts: dict[tuple[str, str], str] | None = None,
    threads: dict[str, int] | None = None,
):
    seconds = STEADINESS.frame(
        [
            [store, "a", "p", repetition, 60, 5, verdict, 0.1, 1.0, 1.0]
            for (store, repetition), verdict in (verdicts or {}).items()
        ]
    )
    analysis = small.analysis(steadiness=seconds)
    cells = {
        ("a", parameters): SimpleNamespace(records=1, operations=1, threads=threads)
        for parameters, threads in (threads or {}).items()
    }
    names = DisplayNames(small.study(), small.TITLES, cells)
    return course_facts(names, analysis, analysis, SUMMARY.frame(summary))


def test_what_watching_cost_is_the_mean_over_all_runs():
    result = facts([row("monitor_cpu", 0.2, 0.3), row("monitor_cpu", 0.5, 0.9, n=4)]).watching
    assert result.mean == pytest.approx(0.4)
    assert result.largest == 0.9
    assert not result.too_much
    assert facts([row("monitor_cpu", 0.2, 1.01)]).watching.too_much
    assert facts([]).watching is None


def test_pauses_are_those_of_the_largest_share():
    cells = [row("runtime", 1000), row("gc_count", 3), row("gc_pause", 10)]
    slower = [row("runtime", 4000), row("gc_count", 9), row("gc_pause", 20)]
    result = facts([*cells, *(each | {"store": "memcached"} for each in slower)]).pauses
    assert result.where == "Redis, Workload A"
    assert (result.count, result.milliseconds, result.share) == (3, 10, 0.01)
    assert facts(cells, threads={"p": 4, "q": 1}).pauses.where == (
        "Redis, Workload A (4 client threads)"
    )
    # Cells that were measured before there was such a log.
    assert facts([row("runtime", 1000)]).pauses is None


def test_runs_are_counted_by_their_verdict():
    result = facts(
        [],
        {
            ("redis", "1"): "steady",
            ("redis", "2"): "no steady state",
            ("memcached", "1"): "too short to judge",
            ("memcached", "2"): "no steady state",
            # Not of the study itself.
            ("redis-again", "1"): "steady",
        },
    )
    assert (result.steady, result.unsteady, result.short, result.runs) == (1, 2, 1, 4)


def test_nothing_is_drawn_of_what_has_no_values():
    result = facts([])
    assert result.drawn == []
    assert result.spectra == []


def test_runs_that_stalled_are_named():
    cells = [row("stalled", 30, 49.6), row("stalled", 7, store="memcached", n=1)]
    assert facts(cells).stalled == [
        "Redis under Workload A (2 runs, up to 50 s)",
        "Memcached under Workload A (1 run, up to 7 s)",
    ]
    assert facts([row("throughput", 30)]).stalled == []
