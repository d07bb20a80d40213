"""Broken measurements, told from valid ones with failed operations.

YCSB 0.17 exits with 0 on almost every error and counts failed operations into its throughput,
so only its own counts tell. What a phase should have done, its cell knows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from kvstudy.errors import DataError, InvalidMeasurement
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import LogSection, YcsbLog
from kvstudy.study.cells import Cell
from kvstudy.study.controls import CEILING
from kvstudy.study.workload import hits_of

ROUNDS_COLUMNS = ["round", "operation", "operations", "ok", "ns"]


def check_load(log: YcsbLog, records: int, name: str) -> None:
    """Raise InvalidMeasurement unless the load phase stored all ``records``."""
    _check_counts(log, name)
    good = log.sections.get("INSERT", LogSection()).operations
    if good != records:
        raise InvalidMeasurement(f"{name}: {good} of {records} records were loaded{_kinds(log)}")


def check_run(log: YcsbLog, operations: int, seconds: int | None, name: str) -> None:
    """Raise InvalidMeasurement unless the run phase did what it should, and some of it well."""
    check_executed(log, operations, seconds, name)
    if log.failed >= log.attempted:
        raise InvalidMeasurement(f"{name}: no operation went well{_kinds(log)}")


def check_executed(log: YcsbLog, operations: int, seconds: int | None, name: str) -> None:
    """Raise InvalidMeasurement unless all ``operations``, or all ``seconds``, were executed."""
    _check_counts(log, name)
    if seconds is None and log.attempted != operations:
        raise InvalidMeasurement(
            f"{name}: {log.attempted} of {operations} operations were executed{_kinds(log)}"
        )
    # The limit is tested between two operations; a whole second less is a broken run.
    if seconds is not None and log.runtime < (seconds - 1) * 1000:
        raise InvalidMeasurement(
            f"{name}: ran {log.runtime / 1000:.1f} of {seconds} s{_kinds(log)}"
        )


def check_raw(rows: Mapping[str, int], log: YcsbLog, name: str) -> None:
    """Raise InvalidMeasurement unless the ``rows`` of each section are all operations of ``log``.

    Failed ones too, and intended latencies where the log has them.
    """
    for operation, section in log.sections.items():
        good, failed = section.operations, section.failed
        if operation == "VERIFY":
            # Its failures are among its operations.
            good, failed = good + failed, 0
        # READ-FAILED, or READ-ERROR and others, but not READ-MODIFY-WRITE.
        of_failures = re.compile(f"{operation}-[A-Z_]+")
        failures = sum(count for label, count in rows.items() if of_failures.fullmatch(label))
        counts = [
            (operation, rows.get(operation, 0), good),
            (f"failed {operation}", failures, failed),
        ]
        if section.intended and section.latencies:
            intended = f"Intended-{operation}"
            counts.append((intended, rows.get(intended, 0), good))
        for what, written, counted in counts:
            if written != counted:
                raise DataError(
                    f"{name}: {written} latencies of {what}, the log counts {counted}; the file is "
                    "cut off, measure again"
                )


def check_histogram(histogram: Mapping[int, int], operations: int, name: str) -> None:
    """Raise DataError unless ``histogram`` (see ``read_histogram``) has all ``operations``."""
    if (counted := sum(histogram.values())) != operations:
        raise DataError(
            f"{name}: latencies of {counted} operations, the log counts {operations}; "
            "the file is cut off or holds several runs, measure again"
        )


def _check_counts(log: YcsbLog, name: str) -> None:
    for operation, section in log.sections.items():
        if operation == "READ-MODIFY-WRITE":
            # The only operation that YCSB lists without return codes.
            continue
        bad = sum(section.errors.values())
        good = sum(section.returns.values()) - bad
        if good != section.operations:
            raise DataError(
                f"{name}: [{operation}] counts {section.operations} operations but "
                f"{good} returned OK; the log contradicts itself"
            )
        if bad != section.failed:
            raise DataError(
                f"{name}: [{operation}-FAILED] counts {section.failed} operations but "
                f"{bad} returned an error; the log contradicts itself"
            )


def _kinds(log: YcsbLog) -> str:
    kinds = sum((Counter(section.errors) for section in log.sections.values()), Counter())
    listed = ", ".join(f"{count} {code}" for code, count in kinds.items())
    return f" ({listed})" if listed else ""


def read_rounds(path: Path, cell: Cell, log: YcsbLog) -> pd.DataFrame:
    """One row per round and operation: how many there were, how many OK, sum of latencies (ns).

    The first round has no inserts, they are the load phase. InvalidMeasurement unless the
    rounds did what the cell asks: all operations, and exactly those reads found
    their record whose key was stored; and unless ``log`` counts the same.
    """
    try:
        rows = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read ({error}); measure the cell again") from None
    numbers = [name for name in ROUNDS_COLUMNS if name != "operation"]
    if list(rows) != ROUNDS_COLUMNS or not all(
        pd.api.types.is_integer_dtype(rows[name]) and (rows[name] >= 0).all() for name in numbers
    ):
        raise DataError(f"{path}: not the file of a workload with rounds; measure again")
    done = {(row.round, row.operation): (row.operations, row.ok) for row in rows.itertuples()}
    expected = _expected_rounds(cell)
    if len(done) < len(rows) or done.keys() != expected.keys():
        raise DataError(
            f"{path}: its {len(rows)} lines are not one for each of the {len(expected)} rounds and "
            "operations of the cell; the client ended early, measure again"
        )
    for (number, operation), (operations, good) in expected.items():
        executed, ok = done[number, operation]
        if (executed, ok) != (operations, good):
            raise InvalidMeasurement(
                f"{path}: round {number}: {ok} of {executed} operations {operation} were OK, it "
                f"should be {good} of {operations}; the store lost or kept records, measure again"
            )
    for operation, of in rows.groupby("operation"):
        section = log.sections.get(operation.upper(), LogSection())
        counted = (section.operations + section.failed, section.operations)
        if counted != (of["operations"].sum(), of["ok"].sum()):
            raise DataError(
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
