"""The outcomes of operations in a cell's measured phase, by YCSB and by the server.

``outcomes.csv`` has one row per value: the cell, ``kind``, ``operation``, ``name``,
``count``. Kinds: ``status`` (operations that ended with the status ``name``),
``counter`` (by how much the server's counter ``name`` moved; no operation) and
``client`` (``name`` is the kind of YCSB client; one row per cell, without count). A
cell whose server's counters are not known has one row of kind ``none`` with the reason
as ``name``.

A *miss* is a read that found nothing. A client may call it a failure (NOT_FOUND),
then it is one, or OK: only the server's counter shows that, and such reads are
*missed*.
"""

from __future__ import annotations

from kvstudy.language.reasons import reason
from kvstudy.logs.ycsb.log import GOOD, LogSection, YcsbLog
from kvstudy.study.cells import Cell
from kvstudy.study.controls import original
from kvstudy.study.model import Study
from kvstudy.study.workload import class_of
from kvstudy.study.ycsb_properties import OF_CLASS

# A larger share of failed or missed operations that the study does not declare makes a cell
# invalid.
TOLERATED_FAILURES = 0.001

# The operations that look up records; a scan may look up many.
READS = ("READ", "SCAN")


def outcomes(manifest: dict, phase: str, log: YcsbLog) -> list[dict]:
    """The rows of one cell, without the cell; ``log`` is that of ``phase``."""
    counted = _counters(manifest, phase)
    rows: list[tuple] = [("client", "", manifest["client"]["kind"], None)]
    for name, section in log.sections.items():
        statuses = section.returns.items()
        rows += [("status", name.lower(), status, float(count)) for status, count in statuses]
    if counted is None:
        has_counters = "counters" in manifest["server"]
        rows.append(("none", "", "no-counters" if has_counters else "counters-not-recorded", None))
    rises = sorted((counted or {}).items())
    rows += [("counter", "", name, float(rise)) for name, rise in rises]
    return [dict(zip(("kind", "operation", "name", "count"), row, strict=True)) for row in rows]


def missed(manifest: dict, phase: str, log: YcsbLog) -> int | None:
    """Reads of ``phase`` that YCSB calls OK and the server counted as misses.

    Each read that failed is taken to be one of the server's misses, so that none
    counts twice. None without reads, and where the server's misses are not known.
    """
    reads = _reads(log)
    counted = _counters(manifest, phase)
    name = manifest["server"].get("misses")
    if not reads or counted is None or not name:
        return None
    return max(0, counted.get(name, 0) - sum(section.failed for section in reads))


def good(log: YcsbLog, missed: int | None) -> int:
    """Operations that did what was asked: OK, and not missed."""
    return max(0, log.attempted - log.failed - min(missed or 0, _good_reads(log)))


def invalid(study: Study, cell: Cell, log: YcsbLog, missed: int | None) -> list[str]:
    """Return why the cell is invalid: failures or misses that the study does not expect."""
    reasons = []
    for name, section in log.sections.items():
        total = section.operations + section.failed
        operation = name.lower()
        allowed = _allowed(study, cell, "failures", [operation])
        if total and section.failed / total > allowed:
            # ``12 ERROR, 3 NOT_FOUND``: how they ended.
            counts = section.returns.items()
            kinds = ", ".join(f"{n} {status}" for status, n in counts if status not in GOOD)
            share, most = f"{section.failed / total:.2%}", f"{allowed:.2%}"
            words = {"share": share, "operation": operation, "statuses": kinds, "allowed": most}
            reasons.append(reason("failures", **words))
    reads = _good_reads(log)
    allowed = _allowed(study, cell, "misses", [name.lower() for name in READS])
    if missed and missed > allowed * reads:
        reasons.append(reason("misses", missed=missed, reads=reads, allowed=f"{allowed:.2%}"))
    return reasons


def lost(cell: Cell, manifest: dict, log: YcsbLog) -> list[str]:
    """Return why the cell is invalid: its server lost records in the run phase.

    YCSB takes no notice: an insert or an update of a record goes well without all others.
    ``log`` is that of the run phase.
    """
    server = manifest["server"]
    if cell.measured_phase != "run":
        # What was loaded is counted when it is measured.
        return []
    rounds, held = cell.rounds, (server.get("records") or {}).get("run")
    inserted, deleted = (
        log.sections.get(name, LogSection()).operations for name in ("INSERT", "DELETE")
    )
    if rounds:
        # Each round begins with an empty table.
        inserted, deleted = 0, rounds.counts(cell.records, cell.operations)["delete"]
    due = cell.records + inserted - deleted
    reasons = []
    # A class that is not ours may insert what already exists.
    known = not inserted or class_of(dict(cell.properties)) in OF_CLASS
    if known and held is not None and held < due:
        reasons.append(reason("records-lost", held=held, stored=due, lost=due - held))
    counted = {} if rounds else _counters(manifest, "run") or {}
    reasons += [
        reason("records-dropped", counter=name, rise=counted[name])
        for name in server.get("losses", [])
        if name in counted
    ]
    return reasons


def _counters(manifest: dict, phase: str) -> dict[str, int] | None:
    return (manifest["server"].get("counters") or {}).get(phase)


def _reads(log: YcsbLog) -> list[LogSection]:
    return [log.sections[name] for name in READS if name in log.sections]


def _good_reads(log: YcsbLog) -> int:
    return sum(section.operations for section in _reads(log))


def _allowed(study: Study, cell: Cell, kind: str, operations: list[str]) -> float:
    """The share of operations that may fail or be missed."""
    declared = (
        expected.up_to
        for expected in study.expected_failures
        if expected.kind == kind
        and expected.store == original(study, cell.store)
        and expected.workload in (None, cell.workload)
        and (expected.records is None or cell.records in expected.records)
        and expected.operation in operations
    )
    return max([TOLERATED_FAILURES, *declared])
