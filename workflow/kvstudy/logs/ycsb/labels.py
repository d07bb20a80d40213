"""The labels of a section's entries, which differ with the measurementtype."""

from __future__ import annotations

import re

from kvstudy.study.metrics import LATENCIES, METRICS

COUNTS = METRICS["operations"].labels
# Only the measurementtype histogram prints it.
OF_HISTOGRAM = "LatencyVariance(us)"
_LATENCIES = {label: name for name in LATENCIES for label in METRICS[name].labels}
_PERCENTILE = re.compile(
    r"^(?:(\d+(?:\.\d+)?)(?:st|nd|rd|th)?PercentileLatency\(us\)|p(\d+(?:\.\d+)?))$", re.ASCII
)


def metric_of(label: str) -> str | None:
    """The metric of a latency's label; None for what is not kept (variance, buckets, intervals)."""
    percentile = _PERCENTILE.match(label)
    if percentile:
        return f"latency_p{percentile[1] or percentile[2]}"
    return _LATENCIES.get(label)
