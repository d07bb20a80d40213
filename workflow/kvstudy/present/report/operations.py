"""What the text says about the probes: whose records change their size, what a missing key does."""

from __future__ import annotations

from dataclasses import dataclass

from kvstudy.analyse.findings.updates import HEAVIER, KEPT, LIGHTER, SAME, becomes
from kvstudy.analyse.tidy.probes import OK, Probes
from kvstudy.study.model import Study
from kvstudy.study.probe import RECORDS


@dataclass(frozen=True)
class Size:
    """Bytes of a mean record of the store before and after ``updates`` updates of one field."""

    title: str
    updates: int
    before: float
    after: float


@dataclass(frozen=True)
class OperationFacts:
    """Titles of stores, in the study's order.

    ``lighter`` and ``heavier`` are those whose records change with updates of one
    field, by more than ``tolerance``; ``uneven`` those whose records change with
    updates of all fields too.
    """

    records: int
    tolerance: float
    probed: list[str]
    reasons: list[tuple[str, str]]
    lighter: list[Size]
    heavier: list[Size]
    same: list[str]
    uneven: list[str]
    silent: list[str]
    creating: list[str]
    clients: list[tuple[str, str]]


def operation_facts(
    probes: Probes, study: Study, titles: dict[str, str], clients: dict[str, list[str]]
) -> OperationFacts:
    """``clients`` are the YCSB clients of each store's cells; other ones of probes are told."""
    probed = [store for store in study.store_names if not probes.reason(store)]
    sizes = [
        (Size(titles[store], probes.operations(store, "update"), *found), becomes(found))
        for store in probed
        if (found := probes.sizes(store, "update"))
    ]
    even = {store: probes.sizes(store, "update-all") for store in probed}
    return OperationFacts(
        records=RECORDS,
        tolerance=SAME,
        probed=[titles[store] for store in probed],
        reasons=[
            (titles[store], probes.reason(store))
            for store in study.store_names
            if store not in probed
        ],
        lighter=[size for size, change in sizes if change == LIGHTER],
        heavier=[size for size, change in sizes if change == HEAVIER],
        same=[size.title for size, change in sizes if change == KEPT],
        uneven=[titles[s] for s, found in even.items() if found and becomes(found) != KEPT],
        silent=[titles[s] for s in probed if OK in probes.statuses(s, "read-missing")],
        creating=[titles[s] for s in probed if probes.creates(s)],
        clients=[
            (titles[s], probes.client(s))
            for s in probed
            if clients[s] and probes.client(s) not in clients[s]
        ],
    )
