"""The labels of a section's entries, which differ with the measurementtype."""

from __future__ import annotations

import re

COUNTS = ("Operations", "Total Operations")
# Only the measurementtype histogram prints it.
OF_HISTOGRAM = "LatencyVariance(us)"
_LATENCIES = {
    **{"AverageLatency(us)": "latency_mean", "Average": "latency_mean"},
    **{"MinLatency(us)": "latency_min", "Min": "latency_min"},
    **{"MaxLatency(us)": "latency_max", "Max": "latency_max"},
}
_PERCENTILE = re.compile(
    r"^(?:(\d+(?:\.\d+)?)(?:st|nd|rd|th)?PercentileLatency\(us\)|p(\d+(?:\.\d+)?))$", re.ASCII
)


def metric_of(label: str) -> str | None:
    """The metric of a latency's label; None for what is not kept (variance, buckets, intervals)."""
    percentile = _PERCENTILE.match(label)
    if percentile:
        return f"latency_p{percentile[1] or percentile[2]}"
    return _LATENCIES.get(label)
