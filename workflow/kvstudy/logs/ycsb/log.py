"""What a log of YCSB says: the entries of its result block, and the sections that they make.

An entry says: section READ, label Operations, value 50187. There is one adapter per form of
YCSB's exporters; a new form is one more adapter. Labels differ with the measurementtype.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from kvstudy.errors import KvstudyError
from kvstudy.study.metrics import LATENCIES, METRICS

# YCSB's BATCHED_OK is an operation that went well as part of a batch.
GOOD = ("OK", "BATCHED_OK")
# READ-MODIFY-WRITE before READ: a section's name is tried in this order.
OPERATIONS = ("READ-MODIFY-WRITE", "READ", "UPDATE", "INSERT", "SCAN", "DELETE", "VERIFY")


@dataclass
class Section:
    """One operation: how many went well, how many failed and why, latencies of the good.

    ``latencies`` in us by metric (latency_mean, latency_p95, ...) are service
    times; ``intended`` are those from the time that a target rate asked for, with
    measurement.interval=both or intended.
    """

    operations: int = 0
    failed: int = 0
    returns: dict[str, int] = field(default_factory=dict)
    latencies: dict[str, float] = field(default_factory=dict)
    intended: dict[str, float] = field(default_factory=dict)


@dataclass
class YcsbLog:
    """Run time in ms, throughput in operations/s (failed ones too), a section per operation."""

    runtime: float
    throughput: float
    sections: dict[str, Section]

    @property
    def attempted(self) -> int:
        """Operations that the client asked for.

        A read-modify-write counts once: YCSB lists its read and its update too.
        """
        total = sum(
            section.operations + section.failed
            for name, section in self.sections.items()
            if name not in ("READ-MODIFY-WRITE", "VERIFY")
        )
        combined = self.sections.get("READ-MODIFY-WRITE", Section())
        return total - combined.operations - combined.failed

    @property
    def failed(self) -> int:
        return sum(section.failed for section in self.sections.values())


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


@dataclass(frozen=True)
class Entry:
    """One result as it stands in the log; ``line`` counts from 1."""

    line: int
    section: str
    label: str
    value: str


_TEXT_ENTRY = re.compile(r"^\[([^\]]+)\],\s*([^,]+),\s*(\S+)\s*$")
_JSON_START = re.compile(r'\{\s*"metric"\s*:')
_JSON_ARRAY = re.compile(r"\[\s*" + _JSON_START.pattern)


def read_entries(text: str, name: str) -> list[Entry]:
    """All entries of ``text``, which ``name`` names in messages.

    KvstudyError when no exporter of YCSB wrote it or an entry is cut off.
    """
    for pattern, read in ADAPTERS.items():
        if pattern.search(text):
            return read(text, name)
    raise KvstudyError(
        f"{name}: no [OVERALL] results of YCSB in it; the client ended early, or this is "
        "not a log of YCSB. Look at its standard error; with exportfile, the results are there"
    )


def number(entry: Entry, name: str, kind: type[float] | type[int] = float) -> float:
    """The value of ``entry``; NaN where YCSB divided by 0. KvstudyError when it is no number.

    With ``kind`` int also when it is no count: whole (YCSB before 0.13 has 492.0), and not
    below 0.
    """
    try:
        value = float(entry.value)
        count = value.is_integer() and 0 <= value < 1 << 53
        # Python takes 1_0 for a number.
        if "_" in entry.value or (kind is int and not count):
            raise ValueError
        return kind(value)
    except ValueError:
        raise KvstudyError(
            f"{name}: line {entry.line}: {entry.value!r} is not a number, it should be "
            f"[{entry.section}] {entry.label}; is the log cut off? Measure again"
        ) from None


def _read_text(text: str, name: str) -> list[Entry]:
    """TextMeasurementsExporter: ``[READ], Operations, 50187``, among lines of the drivers."""
    lines = text.splitlines()
    if lines[-1].startswith("[") and not text.endswith("\n"):
        # A number that lost its last digits is a number too.
        raise _cut_off(name, len(lines), lines[-1])
    entries = []
    for count, line in enumerate(lines, start=1):
        found = _TEXT_ENTRY.match(line)
        if found:
            entries.append(Entry(count, *found.groups()))
    return entries


def _read_json(text: str, name: str) -> list[Entry]:
    """JSONArrayMeasurementsExporter, and JSONMeasurementsExporter, which leaves out the commas."""
    if _JSON_ARRAY.search(text) and not text.rstrip().endswith("]"):
        raise _cut_off(name, text.rstrip().count("\n") + 1, text.rstrip().splitlines()[-1])
    entries = []
    for start in _JSON_START.finditer(text):
        line = text.count("\n", 0, start.start()) + 1
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start.start())
            values = found["metric"], found["measurement"], str(found["value"])
        except (ValueError, KeyError):
            raise _cut_off(name, line, text[start.start() :].splitlines()[0]) from None
        entries.append(Entry(line, *values))
    return entries


def _cut_off(name: str, line: int, text: str) -> KvstudyError:
    return KvstudyError(f"{name}: line {line}: the log is cut off in '{text}'; measure again")


# What finds a form in a text, and what takes its entries (text, name) out.
ADAPTERS: dict[re.Pattern, Callable[[str, str], list[Entry]]] = {
    re.compile(r"^\[OVERALL\],", re.MULTILINE): _read_text,
    _JSON_START: _read_json,
}
