"""Every study on real servers, as tiny as it gets, to its PDF.

Slow are those whose stores, tables and figures other tests have too.
"""

from __future__ import annotations

import pytest
from kvstudy.study.load import STUDIES

from tests.e2e.pipeline import ROOT, reported_tiny
from tests.e2e.shop import shrink

# Those with a file of their own: test_study.py, test_stores.py, test_products.py.
ELSEWHERE = {"smoke", "jedlicka2024", "all-stores", "ascani2023"}
# No package of the distribution and no registry has Riak KV; their published report has a test.
ELSEWHERE |= {"riak-consistency", "riak-consistency-short"}


def two_threads(study: dict) -> None:
    study["parameters"].update(threads=[1, 12])
    # Of the shown sizes the last of each list remain.
    study["parameters"].pop("shown")


def short_threads(study: dict) -> None:
    two_threads(study)
    study["workloads"][-1].update(threads=12, seconds=2)


def two_sizes(study: dict) -> None:
    study["parameters"].update(records=[1, 1000])


def two_names(study: dict) -> None:
    study.update(stores=study["stores"][:2], workloads=["a"])


def two_paths(study: dict) -> None:
    # Containers have a test of their own.
    stores = [store for store in study["stores"] if store.get("delay") in (None, 250)]
    study.update(stores=[store for store in stores if store["network"] == "loopback"])


def one_workload(study: dict) -> None:
    study.update(workloads=["a"])
    study["figures"][0].update(workloads=["a"])


def few_threads(study: dict) -> None:
    study.update(workloads=["a"])
    study["parameters"].update(threads=[1, 4])
    for figure in study["figures"]:
        if "workloads" in figure:
            figure.update(workloads=["a"])


def no_further_sizes(study: dict) -> None:
    study["workloads"][0].pop("also")


def no_further_change(study: dict) -> None:
    """It is measured once, of its three to five times."""


SLOW = (
    "aa",
    "ascani2023-short",
    "haverinen2018",
    "haverinen2018-short",
    "jedlicka2024-delayed",
    "jedlicka2024-short",
    "memcached-client",
    "network-path",
)
TINY = {
    "aa": two_names,
    "ascani2023-short": shrink,
    "haverinen2018": two_threads,
    "haverinen2018-short": short_threads,
    "jedlicka2024-delayed": no_further_sizes,
    "jedlicka2024-short": no_further_change,
    "memcached-client": one_workload,
    "network-path": two_paths,
    "petrov2014": two_sizes,
    "redis-valkey": few_threads,
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in TINY]
)
def test_a_study_is_measured_tiny_and_its_report_built(clone, name):
    reported_tiny(clone, name, TINY[name])


def test_every_study_is_tried_somewhere():
    present = {path.parent.name for path in (ROOT / STUDIES).glob("*/study.yaml")}
    assert present == ELSEWHERE | set(TINY)
