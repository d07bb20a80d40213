"""Whether a log is whole by its own account. What it should have done, it cannot know."""

from __future__ import annotations

import math
import re
from itertools import pairwise

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.entries import Entry, number
from kvstudy.logs.ycsb.labels import COUNTS, OF_HISTOGRAM, metric_of
from kvstudy.logs.ycsb.log import Section, YcsbLog

# The coarser half of a combined measurementtype.
_DOUBLE = re.compile("^(Raw|Bucket)")


def check_entries(entries: list[Entry], name: str) -> None:
    """KvstudyError when the last sections are missing or lack latencies that others have.

    CLEANUP stands among the operations wherever one was done. Sections without
    operations have no latencies in raw; a histogram leaves out percentiles beyond
    its buckets.
    """
    metrics: dict[str, set[str]] = {}
    for entry in entries:
        if entry.label in COUNTS and number(entry, name) and not _DOUBLE.match(entry.section):
            metrics[entry.section] = set()
        elif entry.section in metrics and (metric := metric_of(entry.label)):
            metrics[entry.section].add(metric)
    if metrics and not any(section.endswith("CLEANUP") for section in metrics):
        raise KvstudyError(
            f"{name}: no [CLEANUP] after the operations; the log is cut off, measure again"
        )
    if any(entry.label == OF_HISTOGRAM for entry in entries):
        return
    for section, found in metrics.items():
        if missing := set().union(*metrics.values()) - found:
            raise KvstudyError(
                f"{name}: [{section}] has no {', '.join(sorted(missing))}, other sections have; "
                "the log is cut off, measure again"
            )


def check_latencies(latencies: dict[str, float], runtime: float, coarse: bool, name: str) -> None:
    """KvstudyError for ``latencies`` (us, by metric) that no run of ``runtime`` ms can have.

    They are finite, 0 <= minimum <= mean <= maximum <= run time; percentiles rise, from the
    minimum to the maximum. In a ``coarse`` histogram these are rounded down to milliseconds.
    """
    percentiles = sorted(
        (float(metric.removeprefix("latency_p")), metric)
        for metric in latencies
        if metric.startswith("latency_p")
    )
    # RunTime is in whole milliseconds, of another clock than latencies.
    whole = runtime * 1010 + 1000
    low, high = latencies.get("latency_min", 0.0), latencies.get("latency_max", whole)
    middle = [0.0, low, latencies.get("latency_mean", low), high, whole]
    lowest = max(0.0, low - 1000) if coarse else low
    rising = [lowest, *(latencies[metric] for _, metric in percentiles), high]
    # What is no number is in no order.
    if all(a <= b for values in (rising, middle) for a, b in pairwise(values)):
        return
    values = ", ".join(
        f"{metric.removeprefix('latency_')} {value:g}" for metric, value in latencies.items()
    )
    raise KvstudyError(
        f"{name}: latencies that cannot be in a run of {runtime:g} ms: {values} (us); "
        "the log is damaged, measure again"
    )


def check_log(log: YcsbLog, name: str, interval: str) -> None:
    """KvstudyError unless the sections list all operations that [OVERALL] counts.

    A load ends a thread at an insert that fails: the section has it, [OVERALL]
    does not. With measurement.interval=both every operation has intended latencies.
    """
    done = log.throughput * log.runtime / 1000
    # Finite each, but not their product.
    done = round(done) if math.isfinite(done) else done
    lost = log.sections.get("INSERT", Section()).failed
    if not done <= log.attempted <= done + lost:
        raise KvstudyError(
            f"{name}: [OVERALL] tells of {done} operations, the sections of {log.attempted}; the "
            "log is cut off, or the client failed while it exported. Look at its standard "
            "error, measure again"
        )
    used = [section for section in log.sections.values() if section.operations]
    intended = [section for section in used if section.intended]
    if (intended or interval == "both") and len(intended) < len(used):
        raise KvstudyError(
            f"{name}: not all operations have intended latencies; the log is cut off, measure again"
        )
