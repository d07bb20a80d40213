"""The results of several clients that did one phase together, as those of one.

Operations, failures and the counts of latencies are sums, so percentiles are those of all samples
together. Throughputs are not added up: a client that begins late or ends early would count as if it
had run all the time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kvstudy.errors import InvalidMeasurement
from kvstudy.libraries import np, pd
from kvstudy.logs.ycsb.log import LogSection, YcsbLog
from kvstudy.logs.ycsb.status import each_second
from kvstudy.stats.percentiles import quantiles
from kvstudy.study.metrics import metric_of

# By latency (us).
Counts = Mapping[int, int]


@dataclass(frozen=True)
class ClientLog:
    """One client: its results, counts of each operation, operations so far.

    These are over the time on its machine's clock (s), from its first operation to the end of
    its last one (see ``operations_so_far``).
    """

    log: YcsbLog
    counts: Mapping[str, Counts]
    so_far: pd.Series


@dataclass(frozen=True)
class Together:
    """``log``: run time from the first operation to the last, throughput while all clients ran.

    ``skew`` is the time between the first beginning of a client and the last (ms), ``shared_time``
    the share of the run time in which all ran, ``throughput_sum`` that of the clients' own
    throughputs (ops/s), ``per_second`` the operations of each whole second
    (NaN: not known).
    """

    log: YcsbLog
    skew: float
    shared_time: float
    throughput_sum: float
    per_second: list[float]
    counts: dict[str, dict[int, int]]


def together(clients: Sequence[ClientLog], name: str) -> Together:
    """All ``clients`` as one; InvalidMeasurement, naming ``name``, when they never ran all."""
    began, ended = ([client.so_far.index[at] for client in clients] for at in (0, -1))
    first, last = min(began), max(ended)
    since, until = max(began), min(ended)
    if until <= since:
        raise InvalidMeasurement(
            f"{name}: one client began when another had ended; give them more operations, or take "
            "fewer clients"
        )
    sums: dict[str, Counter[int]] = defaultdict(Counter)
    for client in clients:
        for label, of_client in client.counts.items():
            sums[label].update(of_client)
    counts = {label: dict(sorted(of.items())) for label, of in sums.items()}
    operations = dict.fromkeys(name for client in clients for name in client.log.sections)
    log = YcsbLog(
        runtime=1000 * (last - first),
        throughput=float(np.diff(_at([since, until], clients))[0] / (until - since)),
        sections={operation: _section(operation, clients, counts) for operation in operations},
    )
    seconds = first + np.arange(int(last - first) + 1)
    return Together(
        log=log,
        skew=1000 * (since - first),
        shared_time=(until - since) / (last - first),
        throughput_sum=sum(
            client.so_far.iloc[-1] / (end - start)
            for client, start, end in zip(clients, began, ended, strict=True)
        ),
        per_second=sum(
            each_second(client.so_far.index, client.so_far, seconds) for client in clients
        ).tolist(),
        counts=counts,
    )


def _at(times: Sequence[float], clients: Sequence[ClientLog]) -> np.ndarray:
    """Operations of all clients so far at each of the times."""
    return sum(np.interp(times, client.so_far.index, client.so_far) for client in clients)


def _section(
    operation: str, clients: Sequence[ClientLog], counts: Mapping[str, Counts]
) -> LogSection:
    parts = [client.log.sections.get(operation, LogSection()) for client in clients]
    label = operation.lower()
    return LogSection(
        operations=sum(part.operations for part in parts),
        failed=sum(part.failed for part in parts),
        returns=dict(sum((Counter(part.returns) for part in parts), Counter())),
        latencies=_latencies(parts, "latencies", counts.get(label)),
        intended=_latencies(parts, "intended", counts.get(f"intended {label}")),
    )


def _latencies(parts: Sequence[LogSection], kind: str, counts: Counts | None) -> dict[str, float]:
    """By metric; no percentile without the ``counts``, of which alone it is known."""
    parts = [part for part in parts if part.operations and getattr(part, kind)]
    weights = [part.operations for part in parts]
    latencies = {}
    for metric, values in pd.DataFrame([getattr(part, kind) for part in parts]).items():
        percent = metric_of(metric).percent
        if percent is not None and counts is not None:
            latencies[metric] = quantiles(pd.Series(counts), [percent])[0]
        elif metric == "latency_mean":
            latencies[metric] = float(np.average(values, weights=weights))
        elif metric in ("latency_min", "latency_max"):
            latencies[metric] = float(values.agg(metric.removeprefix("latency_")))
    return latencies
