"""The result block that YCSB 0.17 prints (TextMeasurementsExporter).

One line is ``[SECTION], label, value``. Drivers print their own lines before
and between; whatever is not of that form is skipped. ``Return=X`` lines can
repeat for one X and are summed.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from kvstudy.errors import KvstudyError

_LINE = re.compile(r"^\[([^\]]+)\],\s*([^,]+),\s*(\S+)\s*$")
_FAILED = "-FAILED"
# YCSB's BATCHED_OK is an operation that went well as part of a batch.
GOOD = ("OK", "BATCHED_OK")
OPERATIONS = ("READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "DELETE", "VERIFY")
LATENCIES = {
    "AverageLatency(us)": "latency_mean",
    "MinLatency(us)": "latency_min",
    "MaxLatency(us)": "latency_max",
    "95thPercentileLatency(us)": "latency_p95",
    "99thPercentileLatency(us)": "latency_p99",
}


@dataclass
class Section:
    """One operation: how many went well, how many failed and why, latencies in us of the good."""

    operations: int = 0
    failed: int = 0
    returns: dict[str, int] = field(default_factory=dict)
    latencies: dict[str, float] = field(default_factory=dict)


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


def parse(text: str, name: str) -> YcsbLog:
    """The results in ``text``; KvstudyError (naming ``name``) when it holds none or is cut off."""
    overall: dict[str, float] = {}
    sections: dict[str, Section] = {}
    for line in text.splitlines():
        found = _LINE.match(line)
        if not found:
            continue
        section_name, label, value = found.groups()
        if section_name == "OVERALL":
            overall[label] = _number(value, name, line)
        operation = section_name.removesuffix(_FAILED)
        if operation in OPERATIONS:
            section = sections.setdefault(operation, Section())
            _add(section, section_name.endswith(_FAILED), label, value, name, line)
    if not {"RunTime(ms)", "Throughput(ops/sec)"} <= overall.keys():
        raise KvstudyError(
            f"{name}: no [OVERALL] results of YCSB in it; the client ended early, or this is "
            "not a log of YCSB"
        )
    for section in sections.values():
        _complete(section)
    return YcsbLog(overall["RunTime(ms)"], overall["Throughput(ops/sec)"], sections)


def _add(section: Section, failed: bool, label: str, value: str, name: str, line: str) -> None:
    if label.startswith("Return="):
        code = label.removeprefix("Return=")
        section.returns[code] = section.returns.get(code, 0) + int(_number(value, name, line))
    elif label == "Operations":
        if failed:
            section.failed = int(_number(value, name, line))
        else:
            section.operations = int(_number(value, name, line))
    elif label in LATENCIES and not failed:
        section.latencies[LATENCIES[label]] = _number(value, name, line)


def _complete(section: Section) -> None:
    """Failures from the return codes when YCSB lists no -FAILED section; no latency of nothing."""
    bad = sum(count for code, count in section.returns.items() if code not in GOOD)
    section.failed = max(section.failed, bad)
    if section.operations == 0:
        # YCSB prints average NaN and minimum 2^63 - 1 then.
        section.latencies = {}


def _number(value: str, name: str, line: str) -> float:
    try:
        number = float(value)
    except ValueError:
        raise KvstudyError(f"{name}: not a number in the line '{line}'; is it cut off?") from None
    return number if math.isfinite(number) else 0.0
