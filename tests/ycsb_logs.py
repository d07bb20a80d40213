"""Made-up logs of YCSB, which agree with themselves unless a test says otherwise."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

CLASSES = {
    "redis": "site.ycsb.db.RedisClient",
    "memcached": "site.ycsb.db.MemcachedClient",
    "mongodb": "site.ycsb.db.MongoDbClient",
    "cassandra": "site.ycsb.db.CassandraCQLClient",
}
# What a workload's operations are of all of them; YCSB counts the reads and updates of a
# read-modify-write too.
MIXES = {
    "a": {"READ": 0.5, "UPDATE": 0.5},
    "b": {"READ": 0.95, "UPDATE": 0.05},
    "c": {"READ": 1.0},
    "d": {"READ": 0.95, "INSERT": 0.05},
    "e": {"SCAN": 0.95, "INSERT": 0.05},
    "f": {"READ": 1.0, "READ-MODIFY-WRITE": 0.5, "UPDATE": 0.5},
}
START = datetime(2026, 3, 2, 9)


@dataclass(frozen=True)
class RunLog:
    """One log: its command, and what it counted.

    ``command_threads`` and ``closed`` are in the command and in [CLEANUP], both ``threads``
    where they are left out; 0 leaves them out of the command. ``share`` is the part of the run
    time in calls. ``minutes`` is the start, None for a log without status lines. Results of one
    ``seed`` are the same.
    """

    store: str = "redis"
    phase: str = "run"
    workload: str = "a"
    threads: int = 8
    records: int = 20000
    operations: int = 40000
    share: float = 0.85
    command_threads: int | None = None
    closed: int | None = None
    properties: tuple[str, ...] = ()
    minutes: float | None = None
    version: str = "0.17.0"
    has_command: bool = True
    seed: int = 0

    def text(self) -> str:
        """Return what YCSB printed."""
        chance = random.Random(f"{self.seed} {self.phase} {self.threads}")
        mix = {"INSERT": 1.0} if self.phase == "load" else MIXES[self.workload]
        total = self.records if self.phase == "load" else self.operations
        for setting in self.properties:
            if self.phase == "load" and setting.startswith("insertcount="):
                total = int(setting.partition("=")[2])
        runtime = chance.randrange(4000, 5000)
        share = self.share * chance.uniform(0.999, 1.001)
        mean = 1000 * share * self.threads * runtime / total
        counts = {name: int(total * part) for name, part in mix.items()}
        if "READ-MODIFY-WRITE" in counts:
            mean /= 1.5
        else:
            more = chance.randrange(math.isqrt(total) + 1) if counts.get("UPDATE") else 0
            counts["UPDATE"] = counts.get("UPDATE", 0) - min(more, counts.get("UPDATE", 0))
            counts[next(iter(mix))] += total - sum(counts.values())
        sections = "".join(self._section(of, count, mean) for of, count in counts.items() if count)
        closed = self._section("CLEANUP", self.closed or self.threads, 300.0)
        return (
            f"{self._head(runtime, total)}[OVERALL], RunTime(ms), {runtime}\n"
            f"[OVERALL], Throughput(ops/sec), {total / runtime * 1000}\n{sections}{closed}"
        )

    def _head(self, runtime: int, total: int) -> str:
        head = ""
        if self.has_command:
            options = [f"recordcount={self.records}", f"operationcount={self.operations}"]
            given = " ".join(f"-p {option}" for option in [*options, *self.properties])
            head = (
                f"Command line: {'-load' if self.phase == 'load' else '-t'} "
                f"-db {CLASSES.get(self.store, self.store)} -P workloads/workload{self.workload} "
                f"{given}{self._threads()}\n"
                f"YCSB Client {self.version}\n\nLoading workload...\nStarting test.\n"
            )
        if self.minutes is not None:
            start = START + timedelta(minutes=self.minutes)
            for seconds, done in ((0, 0), (runtime // 1000, total)):
                clock = f"{start + timedelta(seconds=seconds):%Y-%m-%d %H:%M:%S}:040"
                head += f"{clock} {seconds} sec: {done} operations; \n"
        return head

    def _threads(self) -> str:
        threads = self.threads if self.command_threads is None else self.command_threads
        return f" -threads {threads}" if threads else ""

    def _section(self, name: str, count: int, mean: float) -> str:
        low, high = int(mean / 5), int(mean) + 1000
        lines = [f"Operations, {count}", f"AverageLatency(us), {mean}"]
        lines += [f"MinLatency(us), {low}", f"MaxLatency(us), {high}"]
        lines += [f"95thPercentileLatency(us), {int(mean) + 500}"]
        lines += [f"99thPercentileLatency(us), {int(mean) + 900}"]
        lines += [] if name == "CLEANUP" else [f"Return=OK, {count}"]
        return "".join(f"[{name}], {line}\n" for line in lines)


def write_logs(folder: Path, logs: dict[str, RunLog]) -> None:
    """Write each log below ``folder``, with results of its own where it has no seed."""
    for number, (name, log) in enumerate(logs.items(), start=1):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(replace(log, seed=log.seed or number).text())
