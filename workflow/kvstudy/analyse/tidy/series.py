"""Throughput over time and histograms of latency, from the raw logs of one cell."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.histograms import read_histogram
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.logs.ycsb.status import operations_per_second, read_status

# Before the name of an operation: its latencies from the time that a target rate asked for.
INTENDED = "intended "
# A longer time without a good operation is reported.
STALL_SECONDS = 5


def status_of(raw: Path, phase: str) -> pd.DataFrame | None:
    """The status lines of ``phase`` (see ``read_status``); None where the client printed none."""
    path = raw / f"{phase}.err"
    if not path.is_file():
        # Imported, with both outputs in one file.
        path = raw / f"{phase}.out"
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise KvstudyError(f"{path}: cannot be read: {error.strerror}") from None
    return read_status(text, str(path)) if " operations; " in text else None


def series(status: pd.DataFrame, phase: str, name: str) -> list[dict]:
    """Operations in each whole second of ``phase``: rows of second (from 1) and throughput.

    Empty for a phase of less than a second. ``name`` is what messages call the cell.
    """
    seconds = operations_per_second(status, f"{name}: {phase}")
    return [
        {"phase": phase, "second": second, "throughput": value} for second, value in seconds.items()
    ]


def histograms(raw: Path, phase: str, log: YcsbLog) -> list[dict]:
    """Counts of successful operations by latency (us) in ``phase``, for each operation.

    An operation without a histogram file has none. Intended latencies (from the
    time that a target rate asked for) are those of an operation ``intended read``.
    KvstudyError when a file's counts are not those of ``log``.
    """
    rows = []
    for name, section in log.sections.items():
        operation = name.lower()
        # With measurement.interval=intended the plain files hold intended latencies.
        only = bool(section.intended) and not section.latencies
        plain = f"{INTENDED}{operation}" if only else operation
        for file, label in ((name, plain), (f"Intended-{name}", f"{INTENDED}{operation}")):
            path = raw / f"{phase}.{file}.hdr"
            if not section.operations or not path.is_file():
                continue
            counts = read_histogram(path)
            if counts.sum() != section.operations:
                raise KvstudyError(
                    f"{path}: has {counts.sum()} operations, the log {section.operations}; it is "
                    "cut off or of another run. Measure the cell again"
                )
            rows += [
                {"phase": phase, "operation": label, "latency": latency, "count": count}
                for latency, count in counts.items()
            ]
    return rows
