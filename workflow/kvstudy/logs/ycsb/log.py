"""What a log of YCSB says, once it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

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
