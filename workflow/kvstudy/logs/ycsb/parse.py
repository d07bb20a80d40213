"""The results that YCSB 0.17 printed or exported, of every measurementtype.

- hdrhistogram (the default), timeseries: ``[READ], AverageLatency(us), 68.4``
- histogram: the same labels, but buckets of a millisecond
- raw: labels of its own, ``[READ], p95, 119``
- hdrhistogram+histogram, hdrhistogram+raw: each section twice, HdrREAD beside
  BucketREAD or RawREAD; Hdr has all that counts

Drivers print their own lines before and between. ``Return=X`` lines can repeat
for one X and are summed.
"""

import math
import re

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.check import check_entries, check_latencies, check_log
from kvstudy.logs.ycsb.log import (
    COUNTS,
    GOOD,
    OF_HISTOGRAM,
    OPERATIONS,
    Entry,
    Section,
    YcsbLog,
    metric_of,
    number,
    read_entries,
)

# Failures have sections READ-FAILED, or READ-<code> with reportlatencyforeacherror.
SECTION = re.compile(
    rf"^(?:Hdr)?(?P<intended>Intended-)?(?P<operation>{'|'.join(OPERATIONS)})(?P<failed>-.+)?$"
)


def parse(text: str, name: str, interval: str = "op") -> YcsbLog:
    """The results in ``text``, which ``name`` names in messages.

    ``interval`` is the property measurement.interval of the run: op, intended or
    both. With "intended" the plain sections hold intended latencies, and nothing
    in the log says so.

    KvstudyError when it is no log of YCSB, holds two runs, or is cut off.
    """
    entries = read_entries(text, name)
    overall = _overall(entries, name)
    parts: dict[str, list[tuple[re.Match, Entry]]] = {}
    for entry in entries:
        place = SECTION.match(entry.section)
        if place:
            parts.setdefault(place["operation"], []).append((place, entry))
    log = YcsbLog(
        overall["RunTime(ms)"],
        overall["Throughput(ops/sec)"],
        {
            operation: _section(found, overall["RunTime(ms)"], name)
            for operation, found in parts.items()
        },
    )
    if verify := log.sections.get("VERIFY"):
        # dataintegrity: records that were not as expected are among its operations.
        verify.operations -= verify.failed
        verify.latencies = verify.latencies if verify.operations else {}
    if interval == "intended":
        for section in log.sections.values():
            section.latencies, section.intended = {}, section.latencies
    check_entries(entries, name)
    check_log(log, name, interval)
    return log


def _overall(entries: list[Entry], name: str) -> dict[str, float]:
    overall: dict[str, float] = {}
    for entry in entries:
        if entry.section != "OVERALL":
            continue
        if entry.label in overall:
            raise KvstudyError(
                f"{name}: line {entry.line}: a second [OVERALL] {entry.label}; the log holds "
                "several runs, give each a file of its own"
            )
        overall[entry.label] = number(entry, name)
        if not math.isfinite(overall[entry.label]):
            raise KvstudyError(
                f"{name}: line {entry.line}: [OVERALL] {entry.label} is {entry.value}; the run "
                "took no time, measure with more operations"
            )
    if not {"RunTime(ms)", "Throughput(ops/sec)"} <= overall.keys():
        raise KvstudyError(
            f"{name}: no [OVERALL] results of YCSB in it, only a part of them; the log is cut "
            "off, measure again"
        )
    if overall["RunTime(ms)"] <= 0 or overall["Throughput(ops/sec)"] < 0:
        raise KvstudyError(
            f"{name}: [OVERALL] tells of {overall['Throughput(ops/sec)']:g} operations/s in "
            f"{overall['RunTime(ms)']:g} ms, which cannot be; measure again"
        )
    return overall


def _section(parts: list[tuple[re.Match, Entry]], runtime: float, name: str) -> Section:
    section = Section()
    counted = set()
    for place, entry in parts:
        if entry.label.startswith("Return="):
            code = entry.label.removeprefix("Return=")
            section.returns[code] = section.returns.get(code, 0) + number(entry, name, int)
        elif entry.label in COUNTS:
            counted.add(entry.section)
            operations = number(entry, name, int)
            if place["failed"] and not place["intended"]:
                section.failed += operations
            elif not place["intended"]:
                section.operations = operations
        elif entry.section not in counted:
            raise KvstudyError(
                f"{name}: line {entry.line}: [{entry.section}] does not begin with its number of "
                "operations; no measurementtype of YCSB 0.17 writes that. Use hdrhistogram"
            )
        elif not place["failed"] and (metric := metric_of(entry.label)):
            latencies = section.intended if place["intended"] else section.latencies
            latencies[metric] = number(entry, name)
    bad = sum(count for code, count in section.returns.items() if code not in GOOD)
    # Without a -FAILED section the return codes tell of failures.
    section.failed = max(section.failed, bad)
    if section.operations == 0:
        # YCSB prints average NaN and minimum 2^63 - 1 then.
        section.latencies, section.intended = {}, {}
    coarse = any(entry.label == OF_HISTOGRAM for _, entry in parts)
    for latencies in (section.latencies, section.intended):
        check_latencies(latencies, runtime, coarse, f"{name}: [{parts[0][1].section}]")
    if coarse:
        # Its percentiles are rounded down to milliseconds: 0 says "less than one".
        for metric in [key for key, value in section.latencies.items() if not value]:
            if metric.startswith("latency_p"):
                del section.latencies[metric]
    return section
