"""Costs of the path between clients and a server: one store, reached in several ways."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kvstudy.analyse.findings.separation import round_trips
from kvstudy.analyse.tidy.results import only
from kvstudy.libraries import pd
from kvstudy.stats.intervals import plain_mean

if TYPE_CHECKING:
    from kvstudy.study.model import Study
    from kvstudy.study.parts import StoreUse

COLUMNS = ["store", "direct", "n", "latency", "added", "low", "high", "round_trips", "delay"]


def direct_stores(study: Study) -> dict[str, str]:
    """Each store with its like that is reached directly, by loopback and without a delay.

    Stores without such a like are left out.
    """
    direct = {
        _what(use): use.name
        for use in reversed(study.stores)
        if use.delay is None and use.network in (None, "loopback")
    }
    return {use.name: direct[_what(use)] for use in study.stores if _what(use) in direct}


def added_latency(run, workload: str, operation: str) -> pd.DataFrame:
    """The mean ``latency`` of an operation (us) over ``n`` runs, and what its path has ``added``.

    That is the mean difference to the ``direct`` store, by repetitions of both, with its 95 %
    interval, NaN of a single one. ``round_trips`` are those of one operation, ``delay`` the median
    (us) that the program between client and server measured; NaN where unknown.
    """
    values = only(run.own_values, run.headline)
    values = values.query(
        "workload == @workload and operation == @operation and metric == 'latency_mean'"
    )
    of_store = {
        store: rows.set_index("repetition")["value"] for store, rows in values.groupby("store")
    }
    trips = round_trips(run)
    rows = []
    for store, direct in direct_stores(run.study).items():
        if store not in of_store:
            continue
        latencies = of_store[store]
        known = [trips.get((store, workload, operation), math.nan), measured_delay(run, store)]
        added = [math.nan] * 3
        if store != direct and direct in of_store:
            differences = (latencies - of_store[direct]).dropna()
            if len(differences):
                mean = plain_mean(differences)
                ends = [mean.low, mean.high] if len(differences) > 1 else [math.nan] * 2
                added = [mean.value, *ends]
        rows.append([store, direct, len(latencies), latencies.mean(), *added, *known])
    return pd.DataFrame(rows, columns=COLUMNS)


def measured_delay(run, store: str) -> float:
    """The median delay (us) of the store's requests; NaN where nothing delayed them."""
    facts = run.environment["stores"].get(store, {})
    return facts.get("delay", {}).get("median", math.nan)


def _what(use: StoreUse) -> tuple:
    """Return what is the same in all ways to reach it."""
    return use.store, *sorted(use.options.items())
