"""The first page warns of what can change most."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kvstudy.documents.report.caveats import caveats


def store(kind: str) -> SimpleNamespace:
    return SimpleNamespace(definition=SimpleNamespace(kind=kind))


def facts(**changes: object) -> SimpleNamespace:
    """Of a run without a flaw, but for one machine that both share."""
    calm = {
        "course": SimpleNamespace(unsteady=0, short=0, runs=20, stalled=[]),
        "machine": {"background": {"above": 0, "cells": 20}, "mixed": []},
        "busy": SimpleNamespace(number=0, of=10, cores=8),
        "client_bound": {},
        "workloads": [SimpleNamespace(short=[])],
        "one_machine": True,
        "measured_stores": [store("memory"), store("memory")],
        "operations": SimpleNamespace(lighter=[], heavier=[]),
        "cells": range(20),
        "answers": SimpleNamespace(answers=[]),
        "data": SimpleNamespace(study=SimpleNamespace(repetitions=3), scale=1),
        "floor": 1.02,
        "imports": None,
        "validity": SimpleNamespace(invalid=0),
        "without_value": 0,
        "absent_stores": [],
    }
    return SimpleNamespace(**(calm | changes))


UNSTEADY = SimpleNamespace(unsteady=3, short=17, runs=20, stalled=["Redis"])
SHORT = SimpleNamespace(short=["Redis"], use=SimpleNamespace(short="A"))
ANSWERED = SimpleNamespace(answers=[SimpleNamespace(of=[SimpleNamespace(workload="A")])])
BUSY = SimpleNamespace(number=9, of=10, cores=2)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["chance", "together"]),
        # As on a small machine, with runs of seconds.
        (
            {"course": UNSTEADY, "busy": BUSY, "without_value": 19},
            ["unsteady", "together", "stalls", "chance", "missing"],
        ),
        # Of two that can reverse an order, the one that concerns more.
        (
            {"busy": BUSY, "measured_stores": [store("memory"), store("memory"), store("disk")]},
            ["together", "storage", "chance"],
        ),
        # A store without any value has no place.
        (
            {"without_value": 5, "absent_stores": [store("disk")]},
            ["missing", "chance", "together"],
        ),
        # Nothing is said of a machine that only one of them used.
        ({"busy": BUSY, "one_machine": False}, ["chance", "together"]),
        (
            {"data": SimpleNamespace(study=SimpleNamespace(repetitions=1), scale=1), "floor": None},
            ["chance", "together"],
        ),
        ({"floor": None, "client_bound": {"Redis": ["A"]}}, ["chance", "client", "together"]),
        ({"workloads": [SHORT]}, ["brief", "chance", "together"]),
        # The answer says so itself, unless another workload is short too.
        ({"workloads": [SHORT], "answers": ANSWERED}, ["chance", "together"]),
        ({"measured_stores": [store("embedded")]}, ["chance", "together"]),
        (
            {"measured_stores": [store("embedded"), store("memory")]},
            ["embedded", "chance", "together"],
        ),
    ],
)
def test_what_can_change_most_comes_first(changes, expected):
    assert caveats(facts(**changes)) == expected
