"""Benchmarks that are no YCSB for Java, and what their output looks like."""

from __future__ import annotations

import re

_PROGRAMS = {
    # As lines, as a table, as JSON.
    "go-ycsb": r"^(?:READ|UPDATE|INSERT|SCAN|DELETE|TOTAL|READ_MODIFY_WRITE)\w*\s+- Takes\(s\): "
    r"|\|\s*(?i:takes\(s\))\s*\||\"Takes\(s\)\"\s*:",
    "YCSB-cpp": r"^(?:Run|Load) (?:throughput\(ops/sec\)|runtime\(sec\)): ",
    "YCSB-C": r"^# (?:Transaction throughput \(KTPS\)|Loading records:)",
    "memtier_benchmark": r"^Type\s+Ops/sec\s+Hits/sec",
    "redis-benchmark": r"^\s*[\d.]+ requests per second|^={3,} \w+ ={3,}$",
    "cassandra-stress": r"^Op rate\s*:\s*[\d,]+ op/s",
}
_NUMBERS = re.compile(
    r"^(?!.* sec: \d).*(?:RunTime\(ms\)|Throughput\(ops/sec\)"
    r"|(?:Average|Min|Max|Percentile)Latency\(us\)(?!=))\W{0,12}\d.*$",
    re.MULTILINE,
)


def program_of(text: str) -> str | None:
    """Return the benchmark that printed ``text``; None when it is none of those known."""
    return next((name for name, of in _PROGRAMS.items() if re.search(of, text, re.M)), None)


def numbers_of_ycsb(text: str) -> str | None:
    """Return the first line that has numbers under YCSB's labels, with its number."""
    match = _NUMBERS.search(text)
    if match is None:
        return None
    return f"line {text.count(chr(10), 0, match.start()) + 1}: '{match[0].strip()[:100]}'"
