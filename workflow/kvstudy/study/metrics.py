"""The metrics: names, units, titles, decimals, and YCSB's labels.

A new metric is a line of ``METRICS``, and its words in the catalogues.
"""

import re
from dataclasses import dataclass

from kvstudy.language.current import N_

_MANIFEST = "manifest.json"
RATE_UNIT = "ops/s"
_PERCENTILE = re.compile(r"latency_p(\d{1,3}(?:\.\d{1,4})?)")


@dataclass(frozen=True)
class Metric:
    """A metric of summary.csv or of a source.

    ``unit`` is that of its values in CSV files. ``labels`` are the entries of YCSB's results
    that hold it; ``files`` the raw files that show it, where those are others ("{}" is the phase).
    ``decimals`` are those of tables; None: three significant digits. ``whole``: YCSB prints this
    time as a whole number of its unit. ``of_source``: sources print it, nothing here measures it.
    """

    name: str
    unit: str
    title: str = ""
    decimals: int | None = None
    # Its title below the heading of an operation, and below that of its latencies.
    row: str = ""
    short: str = ""
    # In a sentence.
    phrase: str = ""
    labels: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    whole: bool = False
    larger_is_better: bool = False
    of_source: bool = False

    def __post_init__(self) -> None:
        plain = self.name.replace("_", " ")
        object.__setattr__(self, "title", self.title or plain.capitalize())
        object.__setattr__(self, "row", self.row or self.title)
        object.__setattr__(self, "short", self.short or self.row)
        object.__setattr__(self, "phrase", self.phrase or plain)

    @property
    def percent(self) -> float | None:
        """Return the percentile of latency, None for other metrics."""
        match = _PERCENTILE.fullmatch(self.name)
        return float(match[1]) if match else None


def _printed(name: str, unit: str, title: str, decimals: int, *labels: str, **more) -> Metric:
    return Metric(name, unit, title, decimals, labels=labels, **more)


def _latency(end: str, label: str, title: str, short: str, phrase: str) -> Metric:
    words = {"short": short, "phrase": phrase, "whole": end != "mean"}
    return _printed(f"latency_{end}", "us", title, 1, f"{label}Latency(us)", label, **words)


def _percentile(percent: str, title: str, short: str) -> Metric:
    labels = (f"{percent}thPercentileLatency(us)", f"p{percent}")
    words = {"row": short, "short": short, "phrase": short, "whole": True}
    return _printed(f"latency_p{percent}", "us", title, 1, *labels, **words)


def _cores(name: str, title: str, *files: str) -> Metric:
    return Metric(name, "cores", title, files=files)


_ALL = (
    # In the order of lines and columns.
    _printed("runtime", "ms", N_("Run time"), 0, "RunTime(ms)", phrase=N_("run time"), whole=True),
    _printed(
        "throughput", RATE_UNIT, N_("Throughput"), 1, "Throughput(ops/sec)", larger_is_better=True
    ),
    Metric("goodput", RATE_UNIT, "Goodput", 1, files=("{}.out", _MANIFEST)),
    _printed("operations", "count", N_("Operations"), 0, "Operations", "Total Operations"),
    _printed("failed", "count", "Failed operations", 0, "Return="),
    Metric("missed", "count", "Missed reads", files=("{}.out", _MANIFEST)),
    _latency("mean", "Average", N_("Average latency"), N_("Average"), N_("mean latency")),
    _latency("min", "Min", N_("Minimum latency"), N_("Minimum"), N_("minimum latency")),
    _latency("max", "Max", N_("Maximum latency"), N_("Maximum"), N_("maximum latency")),
    _percentile("95", N_("95th percentile latency"), N_("95th percentile")),
    _percentile("99", N_("99th percentile of latency"), N_("99th percentile")),
    Metric("client_cpu", "us", "Client CPU time per operation", files=(_MANIFEST,)),
    Metric("server_cpu", "us", "Server CPU time per operation", files=("processes.csv",)),
    _cores("client_cores", "Cores that the client used", _MANIFEST),
    _cores("client_allowed", "Cores that the client could use", _MANIFEST),
    _cores("server_cores", "Cores that the server used", "processes.csv"),
    _cores("machine_cores", "Cores of the machine in use", _MANIFEST),
    Metric("in_call", "share", "Thread time in calls (share)"),
    Metric("gc_count", "count", "Garbage collections", files=("{}.gc.log",)),
    Metric("gc_pause", "ms", "Garbage collector pauses", files=("{}.gc.log",)),
    Metric("stalled", "s", "Longest time without a good operation", files=("{}.err",)),
    Metric("monitor_cpu", "%", "Watching, of one core", files=(_MANIFEST,)),
    Metric("background_cpu", "%", "Other programs, of all cores"),
    Metric("steal_cpu", "%", "Stolen by the host, of all cores"),
    Metric("clients", "count", files=(_MANIFEST,)),
    # Of several clients: of their beginnings, and of the time from the first to the last operation
    # that in which all ran.
    Metric("skew", "ms", files=("{}.err",)),
    Metric("shared_time", "share", files=("{}.err",)),
    Metric("throughput_sum", RATE_UNIT, "Sum of the clients' throughputs", files=("{}.out",)),
    # What sources print next to.
    Metric("throughput_change", "%", N_("Change of throughput"), of_source=True),
    Metric("failed_share", "%", N_("Failed"), phrase=N_("failed share"), of_source=True),
    Metric("throughput_rank", "place", of_source=True),
    Metric("relative_performance", "ratio", N_("Relative performance"), of_source=True),
    Metric("break_even", "reads/write", of_source=True),
    Metric("hit_probability", "%", of_source=True),
)
METRICS = {metric.name: metric for metric in _ALL}
# What YCSB prints; a combined row has these too.
PRINTED = [metric.name for metric in _ALL if metric.labels]
# What tables and figures of a study can show.
SHOWN = [name for name in PRINTED if name != "failed"]
LATENCIES = [name for name in SHOWN if name.startswith("latency")]
# Of latency, by their percentage.
PERCENTILES = dict(sorted((METRICS[name].percent, name) for name in SHOWN if METRICS[name].percent))
# What values of a source can be.
OF_SOURCES = [*SHOWN, *(metric.name for metric in _ALL if metric.of_source)]


def metric_of(name: str) -> Metric:
    """The metric called ``name``; further percentiles and unknown metrics have a title from it."""
    decimals = 1 if name.startswith("latency") else None
    return METRICS.get(name) or Metric(name, "us", decimals=decimals)


def is_percentile(name: str) -> bool:
    """Return whether it is a percentile of latency, such as ``latency_p99.9``."""
    return metric_of(name).percent is not None
