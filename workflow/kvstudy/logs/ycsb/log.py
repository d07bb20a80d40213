"""The parser of YCSB 0.17's logs, for all measurement types and exporters; refuses broken ones.

Results are entries: section READ, label Operations, value 50187. There is one adapter per form of
YCSB's exporters; a new form is one more adapter. Labels differ with the measurementtype:

- hdrhistogram (the default), timeseries: ``[READ], AverageLatency(us), 68.4``
- histogram: the same labels, but buckets of a millisecond
- raw: labels of its own, ``[READ], p95, 119``
- hdrhistogram+histogram, hdrhistogram+raw: each section twice, HdrREAD next to
  BucketREAD or RawREAD; Hdr has all that counts

Drivers print their own lines before and between. ``Return=X`` lines can repeat for one X and are
summed. YCSB exits with 0 on almost every error, so ``parse`` asks whether a log is whole by its
own account; what it should have done, ``kvstudy.logs.ycsb.check`` is told.
"""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from kvstudy.errors import DataError
from kvstudy.study.metrics import LATENCIES, METRICS

# YCSB's BATCHED_OK is an operation that went well as part of a batch.
GOOD = ("OK", "BATCHED_OK")
# READ-MODIFY-WRITE before READ: a section's name is tried in this order.
OPERATIONS = ("READ-MODIFY-WRITE", "READ", "UPDATE", "INSERT", "SCAN", "DELETE", "VERIFY")
# How often one counts among all operations, where not once: a read-modify-write is among the reads
# and the updates too.
TIMES = {"READ-MODIFY-WRITE": -1, "VERIFY": 0}
# Failures have sections READ-FAILED, or READ-<code> with reportlatencyforeacherror.
_SECTION = re.compile(
    rf"^(?:Hdr)?(?P<intended>Intended-)?(?P<operation>{'|'.join(OPERATIONS)})(?P<failed>-.+)?$"
)
# The coarser half of a combined measurementtype.
_DOUBLE = re.compile("^(Raw|Bucket)")
_COUNTS = METRICS["operations"].labels
# Only the measurementtype histogram prints it.
_OF_HISTOGRAM = "LatencyVariance(us)"
_LATENCIES = {label: name for name in LATENCIES for label in METRICS[name].labels}
_PERCENTILE = re.compile(
    r"^(?:(\d+(?:\.\d+)?)(?:st|nd|rd|th)?PercentileLatency\(us\)|p(\d+(?:\.\d+)?))$", re.ASCII
)
_TEXT_ENTRY = re.compile(r"^\[([^\]]+)\],\s*([^,]+),\s*(\S+)\s*$")
_JSON_START = re.compile(r'\{\s*"metric"\s*:')
_JSON_ARRAY = re.compile(r"\[\s*" + _JSON_START.pattern)


@dataclass(frozen=True)
class Entry:
    """One result as it is in the log; ``line`` counts from 1."""

    line: int
    section: str
    label: str
    value: str


# The entries that a value is the sum of, by the value's metric, each with its sign.
Origins = dict[str, list[tuple[int, Entry]]]


@dataclass
class LogSection:
    """One operation: how many went well, how many failed and why, latencies of the good.

    ``latencies`` in us by metric (latency_mean, latency_p95, ...) are service
    times; ``intended`` are those from the time that a target rate asked for, with
    measurement.interval=both or intended. ``waited`` is the sum of all service times in us, of
    failed operations too; None where the log does not show all of them.
    """

    operations: int = 0
    failed: int = 0
    returns: dict[str, int] = field(default_factory=Counter)
    latencies: dict[str, float] = field(default_factory=dict)
    intended: dict[str, float] = field(default_factory=dict)
    # A log that is cut off before the sections of failures says the same but for this.
    waited: float | None = field(default=None, compare=False)
    origins: Origins = field(default_factory=dict, compare=False, repr=False)

    @property
    def errors(self) -> dict[str, int]:
        """Return the number of operations per error."""
        return {code: count for code, count in self.returns.items() if code not in GOOD}


@dataclass
class YcsbLog:
    """Run time in ms, throughput in operations/s (failed ones too), a section per operation."""

    runtime: float
    throughput: float
    sections: dict[str, LogSection]
    origins: Origins = field(default_factory=dict, compare=False, repr=False)

    @property
    def attempted(self) -> int:
        """Operations that the client asked for."""
        return sum(
            TIMES.get(name, 1) * (section.operations + section.failed)
            for name, section in self.sections.items()
        )

    @property
    def failed(self) -> int:
        return sum(section.failed for section in self.sections.values())


def parse(text: str, name: str, interval: str = "op") -> YcsbLog:
    """The results in ``text``, which ``name`` names in messages.

    ``interval`` is the property measurement.interval of the run: op, intended or
    both. With "intended" the plain sections hold intended latencies, and nothing
    in the log says so.

    DataError when it is no log of YCSB, holds two runs, is cut off or contradicts itself.
    """
    read = next((read for form, read in ADAPTERS.items() if form.search(text)), None)
    if read is None:
        raise DataError(
            f"{name}: no [OVERALL] results of YCSB in it; the client ended early, or this is "
            "not a log of YCSB. Look at its standard error; with exportfile, the results are there"
        )
    entries = read(text, name)
    log = _overall(entries, name)
    parts: dict[str, list[tuple[re.Match, Entry]]] = defaultdict(list)
    for entry in entries:
        if match := _SECTION.match(entry.section):
            parts[match["operation"]].append((match, entry))
    for operation, of in parts.items():
        log.sections[operation] = _section(of, interval, log.runtime, name)
    if verify := log.sections.get("VERIFY"):
        # dataintegrity: records that were not as expected are among its operations.
        verify.operations -= verify.failed
        verify.origins["operations"] += [(-1, entry) for _, entry in verify.origins["failed"]]
        verify.latencies = verify.latencies if verify.operations else {}
    _check_entries(entries, name)
    _check_whole(log, name, interval)
    return log


def _metric(label: str) -> str | None:
    """The metric of a latency's label; None for what is not kept (variance, buckets, intervals)."""
    percentile = _PERCENTILE.match(label)
    if percentile:
        return f"latency_p{percentile[1] or percentile[2]}"
    return _LATENCIES.get(label)


def _number(entry: Entry, name: str, kind: type[float] | type[int] = float) -> float:
    """The value of ``entry``; NaN where YCSB divided by 0. DataError when it is no number.

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
        raise DataError(
            f"{name}: line {entry.line}: {entry.value!r} is not a number, it should be "
            f"[{entry.section}] {entry.label}; is the log cut off? Measure again"
        ) from None


def _read_text(text: str, name: str) -> list[Entry]:
    """TextMeasurementsExporter: ``[READ], Operations, 50187``, among lines of the drivers."""
    lines = text.splitlines()
    if lines[-1].startswith("[") and not text.endswith("\n"):
        # A number that lost its last digits is a number too.
        raise _cut_off(name, len(lines), lines[-1])
    matches = ((count, _TEXT_ENTRY.match(line)) for count, line in enumerate(lines, start=1))
    return [Entry(count, *match.groups()) for count, match in matches if match]


def _read_json(text: str, name: str) -> list[Entry]:
    """JSONArrayMeasurementsExporter, and JSONMeasurementsExporter, which leaves out the commas."""
    entries, end = [], 0
    for start in _JSON_START.finditer(text):
        line = text.count("\n", 0, start.start()) + 1
        try:
            data, end = json.JSONDecoder().raw_decode(text, start.start())
            entries.append(Entry(line, data["metric"], data["measurement"], str(data["value"])))
        except (ValueError, KeyError):
            raise _cut_off(name, line, text[start.start() :].splitlines()[0]) from None
    # A driver or a shell may print more behind the end of the array.
    if _JSON_ARRAY.search(text) and not text[end:].lstrip().startswith("]"):
        whole = text.rstrip()
        raise _cut_off(name, whole.count("\n") + 1, whole.splitlines()[-1])
    return entries


def _cut_off(name: str, line: int, text: str) -> DataError:
    return DataError(
        f"{name}: line {line}: the log is cut off in '{text}', which has no end; measure again"
    )


# What finds a form in a text, and what takes its entries (text, name) out.
ADAPTERS: dict[re.Pattern, Callable[[str, str], list[Entry]]] = {
    re.compile(r"^\[OVERALL\],", re.MULTILINE): _read_text,
    _JSON_START: _read_json,
}


def _overall(entries: list[Entry], name: str) -> YcsbLog:
    """The log with its run time and throughput, without sections."""
    overall: dict[str, Entry] = {}
    for entry in entries:
        if entry.section != "OVERALL":
            continue
        if entry.label in overall:
            raise DataError(
                f"{name}: line {entry.line}: a second [OVERALL] {entry.label}; the log holds "
                "several runs, give each a file of its own"
            )
        overall[entry.label] = entry
        if not math.isfinite(_number(entry, name)):
            raise DataError(
                f"{name}: line {entry.line}: [OVERALL] {entry.label} is {entry.value}; the run "
                "took no time, measure with more operations"
            )
    try:
        origins = {
            metric: [(1, overall[label])]
            for metric in ("runtime", "throughput")
            for label in METRICS[metric].labels
        }
    except KeyError:
        raise DataError(
            f"{name}: no [OVERALL] results of YCSB in it, only a part of them; the log is cut "
            "off, measure again"
        ) from None
    runtime, throughput = (_number(entry, name) for ((_, entry),) in origins.values())
    if runtime <= 0 or throughput < 0:
        raise DataError(
            f"{name}: [OVERALL] reports {throughput:g} operations/s in {runtime:g} ms, which "
            "cannot be; measure again"
        )
    return YcsbLog(runtime, throughput, {}, origins)


def _section(
    parts: list[tuple[re.Match, Entry]], interval: str, runtime: float, name: str
) -> LogSection:
    section = LogSection()
    begun, failures, errors = set(), [], []
    # Of each section with service times: how many operations, and the sum of their times.
    timed: dict[str, tuple[int, float]] = {}
    operations = 0
    for match, entry in parts:
        of_service = not match["intended"] and interval != "intended"
        if of_service and _metric(entry.label) == "latency_mean" and operations:
            timed[entry.section] = operations, operations * _number(entry, name)
        if entry.label.startswith("Return="):
            code = entry.label.removeprefix("Return=")
            section.returns[code] += _number(entry, name, int)
            if code not in GOOD:
                errors.append((1, entry))
        elif entry.label in _COUNTS:
            begun.add(entry.section)
            operations = _number(entry, name, int)
            if match["failed"] and not match["intended"]:
                section.failed += operations
                failures.append((1, entry))
            elif not match["intended"]:
                section.operations = operations
                section.origins["operations"] = [(1, entry)]
        elif entry.section not in begun:
            raise DataError(
                f"{name}: line {entry.line}: [{entry.section}] does not begin with its number of "
                "operations, as in each measurementtype of YCSB 0.17; were lines filtered out or "
                "sorted?"
            )
        elif not match["failed"] and (metric := _metric(entry.label)):
            intended = match["intended"] or interval == "intended"
            latencies = section.intended if intended else section.latencies
            latencies[metric] = _number(entry, name)
            section.origins[f"intended_{metric}" if intended else metric] = [(1, entry)]
    # Without a -FAILED section the return codes report failures.
    of_returns = sum(section.errors.values())
    section.origins["failed"] = failures if section.failed >= of_returns else errors
    section.failed = max(section.failed, of_returns)
    if sum(count for count, _ in timed.values()) == section.operations + section.failed:
        section.waited = sum(time for _, time in timed.values())
    if section.operations == 0:
        # YCSB prints average NaN and minimum 2^63 - 1 then.
        section.latencies, section.intended = {}, {}
    coarse = any(entry.label == _OF_HISTOGRAM for _, entry in parts)
    for latencies in (section.latencies, section.intended):
        _check_latencies(latencies, runtime, coarse, f"{name}: [{parts[0][1].section}]")
        for metric in _percentiles(latencies):
            # Rounded down to milliseconds, 0 says "less than one".
            if coarse and latencies[metric] == 0:
                del latencies[metric]
    return section


def _percentiles(latencies: Iterable[str]) -> list[str]:
    """Return the percentiles among the metrics, ascending."""
    percentiles = [metric for metric in latencies if metric.startswith("latency_p")]
    return sorted(percentiles, key=lambda metric: float(metric.removeprefix("latency_p")))


def _check_latencies(latencies: dict[str, float], runtime: float, coarse: bool, name: str) -> None:
    """Raise DataError for ``latencies`` (us, by metric) that no run of ``runtime`` ms can have.

    They are finite, 0 <= minimum <= mean <= maximum <= run time; percentiles rise, from the
    minimum to the maximum. In a ``coarse`` histogram these are rounded down to milliseconds.
    """
    # RunTime is in whole milliseconds, of another clock than latencies.
    whole = runtime * 1010 + 1000
    low, high = latencies.get("latency_min", 0.0), latencies.get("latency_max", whole)
    middle = [0.0, low, latencies.get("latency_mean", low), high, whole]
    lowest = max(0.0, low - 1000) if coarse else low
    rising = [lowest, *(latencies[metric] for metric in _percentiles(latencies)), high]
    # What is no number is in no order.
    if all(a <= b for values in (rising, middle) for a, b in pairwise(values)):
        return
    values = ", ".join(
        f"{metric.removeprefix('latency_')} {value:g}" for metric, value in latencies.items()
    )
    raise DataError(
        f"{name}: latencies that cannot be in a run of {runtime:g} ms: {values} (us); "
        "the log is damaged, measure again"
    )


def _check_entries(entries: list[Entry], name: str) -> None:
    """Raise DataError when the last sections are missing or lack latencies that others have.

    CLEANUP is among the operations wherever one was done. Sections without
    operations have no latencies in raw; a histogram leaves out percentiles beyond
    its buckets.
    """
    metrics: dict[str, set[str]] = {}
    for entry in entries:
        if entry.label in _COUNTS and _number(entry, name) and not _DOUBLE.match(entry.section):
            metrics[entry.section] = set()
        elif entry.section in metrics and (metric := _metric(entry.label)):
            metrics[entry.section].add(metric)
    if metrics and not any(section.endswith("CLEANUP") for section in metrics):
        # What prints the garbage collector's lines, before all operations, prints CLEANUP too.
        returned = {entry.section for entry in entries if entry.label.startswith("Return=")}
        # YCSB lists it without return codes.
        returned.add("READ-MODIFY-WRITE")
        if any("GC" in entry.section for entry in entries) or not metrics.keys() <= returned:
            raise DataError(
                f"{name}: no [CLEANUP] after the operations; the log is cut off, or lines were "
                "filtered out. Take all that YCSB printed, or measure again"
            )
    if any(entry.label == _OF_HISTOGRAM for entry in entries):
        return
    for section, of_section in metrics.items():
        if missing := set().union(*metrics.values()) - of_section:
            raise DataError(
                f"{name}: [{section}] has no {', '.join(sorted(missing))}, other sections have; "
                "the log is cut off, measure again"
            )


def _check_whole(log: YcsbLog, name: str, interval: str) -> None:
    """Raise DataError unless the sections list all operations that [OVERALL] counts.

    A load ends a thread at an insert that fails: the section has it, [OVERALL]
    does not. With measurement.interval=both every operation has intended latencies.
    """
    done = log.throughput * log.runtime / 1000
    # Finite each, but not their product.
    done = round(done) if math.isfinite(done) else done
    lost = log.sections.get("INSERT", LogSection()).failed
    if not done <= log.attempted <= done + lost:
        raise DataError(
            f"{name}: [OVERALL] reports {done} operations, the sections {log.attempted}; the "
            "log is cut off, lines were filtered out, or the client failed while it exported. Look "
            "at its standard error, measure again"
        )
    used = [section for section in log.sections.values() if section.operations]
    intended = [section for section in used if section.intended]
    if (intended or interval == "both") and len(intended) < len(used):
        raise DataError(
            f"{name}: not all operations have intended latencies; the log is cut off, measure again"
        )
