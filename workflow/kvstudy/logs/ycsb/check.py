"""Broken measurements, told from valid ones with failed operations.

YCSB 0.17 exits with 0 on almost every error and counts failed operations into
its throughput, so only its own counts tell.
"""

from __future__ import annotations

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import GOOD, YcsbLog


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


def check_raw(latencies: pd.DataFrame, log: YcsbLog, name: str) -> None:
    """KvstudyError unless ``latencies`` (see ``read_raw``) has every operation of ``log``.

    Failed ones too, and intended latencies where the log has them.
    """
    rows = latencies["section"].value_counts()
    for operation, section in log.sections.items():
        good, failed = section.operations, section.failed
        if operation == "VERIFY":
            # Its failures are among its operations.
            good, failed = good + failed, 0
        expected = {operation: (rows.get(operation, 0), good)}
        # READ-FAILED, or READ-ERROR and others, but not READ-MODIFY-WRITE.
        of_failures = rows.index.str.fullmatch(f"{operation}-[A-Z_]+")
        expected[f"failed {operation}"] = (rows[of_failures].sum(), failed)
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
