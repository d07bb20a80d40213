"""What the columns of values are called, and how their numbers look."""

from __future__ import annotations

from kvstudy.analyse.tidy.numbers import sign

# In the order of columns and lines. What is not named here comes after them.
TITLES = {
    "runtime": "Run time",
    "throughput": "Throughput",
    "goodput": "Goodput",
    "operations": "Operations",
    "failed": "Failed operations",
    "missed": "Missed reads",
    "latency_mean": "Average latency",
    "latency_min": "Minimum latency",
    "latency_max": "Maximum latency",
    "latency_p95": "95th percentile of latency",
    "latency_p99": "99th percentile of latency",
    "client_cpu": "Client CPU time per operation",
    "server_cpu": "Server CPU time per operation",
    "client_cores": "Cores that the client used",
    "client_allowed": "Cores that the client could use",
    "server_cores": "Cores that the server used",
    "machine_cores": "Cores of the machine in use",
    "in_call": "Thread time in calls (share)",
    "gc_count": "Garbage collections",
    "gc_pause": "Garbage collector pauses",
    "stalled": "Longest time without a good operation",
    "monitor_cpu": "Watching, of one core",
    "foreign_cpu": "Other programs, of all cores",
    "steal_cpu": "Stolen by the host, of all cores",
}
# The lines of the sheet that compares stores; the others are on the sheet after it.
MAIN = list(TITLES)[:11]
FORMATS = {
    "ms": "#,##0",
    "ops/s": "#,##0.0",
    "us": "#,##0.0",
    "count": "#,##0",
    "%": "0.00",
}
OTHER_FORMAT = "0.000"


def title(metric: str) -> str:
    """What people call it; a metric that is not known by its own name."""
    known = TITLES.get(metric)
    return known or metric.replace("_", " ").capitalize()


def header(metric: str, unit: str) -> str:
    """``Run time (ms)``; counts and shares have no unit."""
    return title(metric) if unit in ("count", "share") else f"{title(metric)} ({sign(unit)})"


def unit_text(unit: str) -> str:
    """The unit for a column of units; counts have none."""
    return "" if unit in ("count", "share") else sign(unit)


def number_format(unit: str) -> str:
    """The number format of values in ``unit``."""
    return FORMATS.get(unit, OTHER_FORMAT)


def rank(metric: str) -> tuple[int, str]:
    """For sorting metrics."""
    order = list(TITLES)
    return (order.index(metric) if metric in order else len(order), metric)
