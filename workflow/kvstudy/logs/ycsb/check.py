"""Broken measurements, told from valid ones with failed operations.

YCSB 0.17 exits with 0 on almost every error and counts failed operations into its throughput,
so only its own counts tell. ``check_log`` asks whether a log is whole by its own account; what it
should have done, it cannot know.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import (
    COUNTS,
    GOOD,
    OF_HISTOGRAM,
    Entry,
    Section,
    YcsbLog,
    metric_of,
    number,
)
from kvstudy.study.cells import Cell
from kvstudy.study.controls import CEILING
from kvstudy.study.workload import hits_of

# The coarser half of a combined measurementtype.
_DOUBLE = re.compile("^(Raw|Bucket)")
ROUNDS_COLUMNS = ["round", "operation", "operations", "ok", "ns"]


def check_load(log: YcsbLog, records: int, name: str) -> None:
    """KvstudyError unless the load phase stored all ``records``."""
    _check_counts(log, name)
    insert = log.sections.get("INSERT")
    good = insert.operations if insert else 0
    if good != records:
        kinds = _kinds(log)
        raise KvstudyError(f"{name}: {good} of {records} records were loaded{kinds}")


def check_run(log: YcsbLog, operations: int, seconds: int | None, name: str) -> None:
    """KvstudyError unless the run phase did what it should, and some of it well."""
    check_executed(log, operations, seconds, name)
    if log.failed >= log.attempted:
        raise KvstudyError(f"{name}: no operation went well{_kinds(log)}")


def check_executed(log: YcsbLog, operations: int, seconds: int | None, name: str) -> None:
    """KvstudyError unless all ``operations`` were tried, or the phase lasted its ``seconds``."""
    _check_counts(log, name)
    if seconds is None and log.attempted != operations:
        raise KvstudyError(
            f"{name}: {log.attempted} of {operations} operations were executed{_kinds(log)}"
        )
    # The limit is tested between two operations; a whole second less is a broken run.
    if seconds is not None and log.runtime < (seconds - 1) * 1000:
        raise KvstudyError(f"{name}: ran {log.runtime / 1000:.1f} of {seconds} s{_kinds(log)}")


def check_raw(rows: Mapping[str, int], log: YcsbLog, name: str) -> None:
    """KvstudyError unless the ``rows`` of each section are all operations of ``log``.

    Failed ones too, and intended latencies where the log has them.
    """
    for operation, section in log.sections.items():
        good, failed = section.operations, section.failed
        if operation == "VERIFY":
            # Its failures are among its operations.
            good, failed = good + failed, 0
        expected = {operation: (rows.get(operation, 0), good)}
        # READ-FAILED, or READ-ERROR and others, but not READ-MODIFY-WRITE.
        of_failures = re.compile(f"{operation}-[A-Z_]+")
        there = sum(count for label, count in rows.items() if of_failures.fullmatch(label))
        expected[f"failed {operation}"] = (there, failed)
        if section.intended and section.latencies:
            intended = f"Intended-{operation}"
            expected[intended] = (rows.get(intended, 0), good)
        for what, (there, counted) in expected.items():
            if there != counted:
                raise KvstudyError(
                    f"{name}: {there} latencies of {what}, the log counts {counted}; the file is "
                    "cut off, measure again"
                )


def check_histogram(histogram: pd.Series, operations: int, name: str) -> None:
    """KvstudyError unless ``histogram`` (see ``read_histogram``) has all ``operations``."""
    if histogram.sum() != operations:
        raise KvstudyError(
            f"{name}: latencies of {histogram.sum()} operations, the log counts {operations}; "
            "the file is cut off or holds several runs, measure again"
        )


def _check_counts(log: YcsbLog, name: str) -> None:
    for operation, section in log.sections.items():
        if operation == "READ-MODIFY-WRITE":
            # The only operation that YCSB lists without return codes.
            continue
        good = sum(count for code, count in section.returns.items() if code in GOOD)
        if good != section.operations:
            raise KvstudyError(
                f"{name}: [{operation}] counts {section.operations} operations but "
                f"{good} returned OK; the log contradicts itself"
            )
        bad = sum(section.returns.values()) - good
        if bad != section.failed:
            raise KvstudyError(
                f"{name}: [{operation}-FAILED] counts {section.failed} operations but "
                f"{bad} returned an error; the log contradicts itself"
            )


def _kinds(log: YcsbLog) -> str:
    kinds: dict[str, int] = {}
    for section in log.sections.values():
        for code, count in section.returns.items():
            if code not in GOOD:
                kinds[code] = kinds.get(code, 0) + count
    listed = ", ".join(f"{count} {code}" for code, count in kinds.items())
    return f" ({listed})" if listed else ""


def check_entries(entries: list[Entry], name: str) -> None:
    """KvstudyError when the last sections are missing or lack latencies that others have.

    CLEANUP stands among the operations wherever one was done. Sections without
    operations have no latencies in raw; a histogram leaves out percentiles beyond
    its buckets.
    """
    metrics: dict[str, set[str]] = {}
    for entry in entries:
        if entry.label in COUNTS and number(entry, name) and not _DOUBLE.match(entry.section):
            metrics[entry.section] = set()
        elif entry.section in metrics and (metric := metric_of(entry.label)):
            metrics[entry.section].add(metric)
    if metrics and not any(section.endswith("CLEANUP") for section in metrics):
        raise KvstudyError(
            f"{name}: no [CLEANUP] after the operations; the log is cut off, measure again"
        )
    if any(entry.label == OF_HISTOGRAM for entry in entries):
        return
    for section, found in metrics.items():
        if missing := set().union(*metrics.values()) - found:
            raise KvstudyError(
                f"{name}: [{section}] has no {', '.join(sorted(missing))}, other sections have; "
                "the log is cut off, measure again"
            )


def check_latencies(latencies: dict[str, float], runtime: float, coarse: bool, name: str) -> None:
    """KvstudyError for ``latencies`` (us, by metric) that no run of ``runtime`` ms can have.

    They are finite, 0 <= minimum <= mean <= maximum <= run time; percentiles rise, from the
    minimum to the maximum. In a ``coarse`` histogram these are rounded down to milliseconds.
    """
    percentiles = sorted(
        (float(metric.removeprefix("latency_p")), metric)
        for metric in latencies
        if metric.startswith("latency_p")
    )
    # RunTime is in whole milliseconds, of another clock than latencies.
    whole = runtime * 1010 + 1000
    low, high = latencies.get("latency_min", 0.0), latencies.get("latency_max", whole)
    middle = [0.0, low, latencies.get("latency_mean", low), high, whole]
    lowest = max(0.0, low - 1000) if coarse else low
    rising = [lowest, *(latencies[metric] for _, metric in percentiles), high]
    # What is no number is in no order.
    if all(a <= b for values in (rising, middle) for a, b in pairwise(values)):
        return
    values = ", ".join(
        f"{metric.removeprefix('latency_')} {value:g}" for metric, value in latencies.items()
    )
    raise KvstudyError(
        f"{name}: latencies that cannot be in a run of {runtime:g} ms: {values} (us); "
        "the log is damaged, measure again"
    )


def check_log(log: YcsbLog, name: str, interval: str) -> None:
    """KvstudyError unless the sections list all operations that [OVERALL] counts.

    A load ends a thread at an insert that fails: the section has it, [OVERALL]
    does not. With measurement.interval=both every operation has intended latencies.
    """
    done = log.throughput * log.runtime / 1000
    # Finite each, but not their product.
    done = round(done) if math.isfinite(done) else done
    lost = log.sections.get("INSERT", Section()).failed
    if not done <= log.attempted <= done + lost:
        raise KvstudyError(
            f"{name}: [OVERALL] tells of {done} operations, the sections of {log.attempted}; the "
            "log is cut off, or the client failed while it exported. Look at its standard "
            "error, measure again"
        )
    used = [section for section in log.sections.values() if section.operations]
    intended = [section for section in used if section.intended]
    if (intended or interval == "both") and len(intended) < len(used):
        raise KvstudyError(
            f"{name}: not all operations have intended latencies; the log is cut off, measure again"
        )


def read_rounds(path: Path, cell: Cell, log: YcsbLog) -> pd.DataFrame:
    """One row per round and operation: how many there were, how many OK, sum of latencies (ns).

    The first round has no inserts, they are the load phase. KvstudyError unless the
    rounds did what the cell asks: all operations, and exactly those reads found
    their record whose key was stored; and unless ``log`` counts the same.
    """
    try:
        rows = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error}); measure the cell again") from None
    numbers = [name for name in ROUNDS_COLUMNS if name != "operation"]
    if list(rows) != ROUNDS_COLUMNS or not all(
        pd.api.types.is_integer_dtype(rows[name]) and (rows[name] >= 0).all() for name in numbers
    ):
        raise KvstudyError(f"{path}: not the file of a workload with rounds; measure again")
    done = rows.set_index(["round", "operation"])
    expected = _expected_rounds(cell)
    if not done.index.is_unique or set(done.index) != set(expected):
        raise KvstudyError(
            f"{path}: its {len(rows)} lines are not one for each of the {len(expected)} rounds and "
            "operations of the cell; the client ended early, measure again"
        )
    for key, (operations, good) in expected.items():
        row = done.loc[key]
        if (row["operations"], row["ok"]) != (operations, good):
            raise KvstudyError(
                f"{path}: round {key[0]}: {row['ok']} of {row['operations']} operations "
                f"{key[1]} were OK, it should be {good} of {operations}; the store lost or kept "
                "records, measure again"
            )
    for operation, of in rows.groupby("operation"):
        section = log.sections.get(operation.upper(), Section())
        counted = (section.operations + section.failed, section.operations)
        if counted != (of["operations"].sum(), of["ok"].sum()):
            raise KvstudyError(
                f"{path}: the log counts {counted[1]} of {counted[0]} operations {operation} as "
                f"OK, the rounds {of['ok'].sum()} of {of['operations'].sum()}; measure again"
            )
    return rows


def _expected_rounds(cell: Cell) -> dict[tuple[int, str], tuple[int, int]]:
    """Operations, and those that are OK, of each round and operation."""
    # YCSB without a store finds whatever it is asked for.
    nothing = cell.folder == CEILING.store
    hits = cell.operations if nothing else hits_of(cell.records, cell.operations)
    counts = cell.rounds.counts(cell.records, cell.operations)
    return {
        (number, operation): (count, hits if operation == "read" else count)
        for number in range(1, cell.rounds.number + 1)
        for operation, count in counts.items()
        if (number, operation) != (1, "insert")
    }
