"""Whether throughput, latency and threads of one table can be true together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from kvstudy.stats.intervals import finite, positive

IMPOSSIBLE_ABOVE = 1.02
CLIENT_BELOW = 0.7


class Audit(StrEnum):
    """What the share of time in calls tells of the numbers."""

    PLAUSIBLE = "plausible"
    IMPOSSIBLE = "impossible"
    CLIENT_TIME = "start-up or client time dominates"


@dataclass(frozen=True)
class InCall:
    """``share`` U of the threads' time inside calls to the store, and what it tells."""

    share: float
    audit: Audit


def weighted_latency(latencies: Mapping[str, float], operations: Mapping[str, float]) -> float:
    """Mean latency of all operations, in the unit of ``latencies``: Σ R_i·n_i / Σ n_i.

    ``latencies`` are mean latencies by kind of operation, ``operations`` how many
    there were of each; where a source gives no counts, the workload's shares do.

    ValueError: a latency without a count or the reverse, a negative or missing
    number, no operations at all.
    """
    if latencies.keys() != operations.keys():
        raise ValueError(
            f"latencies of {sorted(latencies)}, counts of {sorted(operations)}: not the same kinds"
        )
    kinds = list(latencies)
    times = finite((latencies[kind] for kind in kinds), "latencies")
    counts = finite((operations[kind] for kind in kinds), "operations")
    if (times < 0).any() or (counts < 0).any() or not counts.any():
        raise ValueError("latencies and operations cannot be below 0, nor all operations 0")
    return float(times @ counts / counts.sum())


def in_call(throughput: float, latency: float, threads: float) -> InCall:
    """U = X·R/N, Little's law for N client threads with one call at a time.

    ``throughput`` X in ops/s, ``latency`` R in µs, the mean weighted by
    operations (see ``weighted_latency``). Above 1.02 the numbers contradict each
    other: threads cannot be in calls for more than all of the time. Below 0.7
    they were elsewhere: starting, in the client's own code, or held back by a target.

    Source: Little 1961. ValueError: one that is not a number above 0.
    """
    positive([throughput, latency, threads], "throughput, latency and threads")
    share = float(throughput * latency * 1e-6 / threads)
    if share > IMPOSSIBLE_ABOVE:
        return InCall(share, Audit.IMPOSSIBLE)
    return InCall(share, Audit.CLIENT_TIME if share < CLIENT_BELOW else Audit.PLAUSIBLE)
