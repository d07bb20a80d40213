"""Workloads that run one short test in rounds inside a cell (``kvstudy.workload.RoundsWorkload``).

A *round* inserts all records into an empty table, reads in a fixed pattern and deletes
some of the records. The first rounds warm up and do not count. The load phase is the
inserting of the first round, the run phase everything else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

# The class that a workload file names.
WORKLOAD = "kvstudy.workload.RoundsWorkload"
PROPERTIES = {"rounds.warmup": "3", "rounds.measured": "5", "rounds.deletes": "10000"}
OPERATIONS = ("insert", "read", "delete")
# Where the client writes the sums of latencies of each round, beside its log.
FILE = "rounds.csv"


@dataclass(frozen=True)
class Rounds:
    """How many rounds warm up, how many are measured, and how many records each deletes."""

    warmup: int
    measured: int
    deletes: int

    @property
    def number(self) -> int:
        """All rounds."""
        return self.warmup + self.measured

    def counts(self, records: int, reads: int) -> dict[str, int]:
        """How many of each operation one round has."""
        return {"insert": records, "read": reads, "delete": min(records, self.deletes)}

    def executed(self, records: int, reads: int) -> int:
        """All operations of the run phase."""
        return self.number * sum(self.counts(records, reads).values()) - records


def rounds_of(properties: Mapping[str, str]) -> Rounds | None:
    """The rounds of a workload with these YCSB properties; None for one without rounds."""
    if properties.get("workload") != WORKLOAD:
        return None
    values = PROPERTIES | dict(properties)
    return Rounds(*(int(values[name]) for name in PROPERTIES))


def key_of_read(number: int) -> int:
    """The key of the read with this number (from 0 on), as in the Java class."""
    return 1 + number % 200 * number % 200


def found(records: int, reads: int) -> int:
    """How many reads of a round ask for one of the keys 1 to ``records``."""
    keys = Counter(key_of_read(number) for number in range(reads))
    return sum(count for key, count in keys.items() if key <= records)


def problems(properties: Mapping[str, str], threads: list[int]) -> list[str]:
    """What keeps a workload with rounds from being measured, with the remedy of each."""
    lines = []
    for name in PROPERTIES:
        value = properties.get(name, PROPERTIES[name])
        fewest = 0 if name == "rounds.warmup" else 1
        if not re.fullmatch(r"\d{1,9}", value) or int(value) < fewest:
            lines.append(f"{name}: '{value}' is no whole number from {fewest} on; give one")
    if properties.get("fieldcount") != "1":
        lines.append("fieldcount: a record of the rounds is one field; give 1")
    if any(number != 1 for number in threads):
        lines.append("threads: the rounds have one thread; give 1")
    return lines
