"""Faults of a server: it does not start, dies, freezes, lies, loses records, or stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from kvstudy.errors import InvalidMeasurement
from kvstudy.measure import phase as phases
from kvstudy.stores import process

from tests.faults.cells import (
    CELL,
    OTHER,
    check_failed,
    check_next,
    check_numbers,
    path_without,
    with_fault,
)

PROGRAM = Path(__file__).parents[1] / "pretend" / "pretend-server"

AT_START: list[tuple[str, dict, str]] = [
    ("cannot open its data", {"PRETEND_SERVER": "dies-at-start"}, "exit status 1 before it was re"),
    ("ends at once", {"PRETEND_SERVER": "exits-0"}, "exit status 0 before it was ready"),
    ("a missing library", {"PRETEND_SERVER": "exits-127"}, "exit status 127 before it was ready"),
    ("killed", {"PRETEND_SERVER": "gets-KILL"}, "SIGKILL before it was ready"),
    ("a crash", {"PRETEND_SERVER": "gets-SEGV"}, "SIGSEGV before it was ready"),
    ("aborted", {"PRETEND_SERVER": "gets-ABRT"}, "SIGABRT before it was ready"),
    ("never ready", {"PRETEND_SERVER": "never-ready"}, "did not get ready in 4 s"),
    ("stopped", {"PRETEND_SERVER": "gets-STOP"}, "did not get ready in 4 s"),
    ("a line of 100 MB", {"PRETEND_SERVER": "long-line"}, "exit status 1 before it was .*the end"),
    ("upgraded", {"PRETEND_VERSION": "1.2.4"}, r"1\.2\.4.*1\.2\.3|1\.2\.3.*1\.2\.4"),
    ("in the background", {"PRETEND_SERVER": "serves-in-the-background"}, "status 0|background"),
    ("daemonises", {"PRETEND_SERVER": "daemonises"}, "exit status 0|daemon|background"),
]
# What the server does in the middle of a phase.
IN_A_PHASE: list[tuple[str, list, str]] = [
    ("killed", [["server", "KILL"], ["sleep", 60]], "killed by SIGKILL during {}"),
    ("a crash", [["server", "SEGV"], ["sleep", 60]], "killed by SIGSEGV during {}"),
    ("ended by somebody", [["server", "TERM"], ["sleep", 60]], "SIGTERM during {}"),
    ("dies with its client", [["server", "KILL"]], "SIGKILL|counters|stopped|gone"),
    ("frozen", [["server", "STOP"], ["status", *[5] * 60]], "no operation went well for 3 s"),
    ("frozen unnoticed", [["server", "STOP"]], "(?i)no .*answer|stopped|frozen"),
    ("silent at the end", [["answer", "none"]], "(?i)no .*answer|timed out|stopped"),
    ("no words", [["answer", ""]], "(?i)no .*answer|closed"),
    ("an error", [["answer", "-ERR out of memory\r\n"]], "(?i)no .*answer|ERR"),
    ("nonsense", [["answer", "VERSION x y z\r\n"]], "(?i)no .*answer|counters|records"),
    ("half an answer", [["answer", "VERSION 1.2.3"]], "(?i)no .*answer|closed"),
    ("its counters begin again", [["answer", "VERSION 1.2.3 1000 load 5\r\n"]], "counter|records"),
]
RECORDS = ["0", "999", "1001"]
PHASES = ["load", "run"]


@pytest.mark.parametrize(
    ("name", "environment", "message"), AT_START, ids=[row[0] for row in AT_START]
)
def test_at_start(small, name, environment, message):
    check_failed(small, with_fault(small, environment), f"(?s){message}")


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    ("name", "steps", "message"), IN_A_PHASE, ids=[row[0] for row in IN_A_PHASE]
)
def test_in_a_phase(small, phase, name, steps, message):
    small.monkeypatch.setattr(phases, "STALL_SECONDS", 3)
    small.monkeypatch.setattr(process.stop, "__defaults__", (2,))
    place = "after" if name in ("dies with its client", "frozen unnoticed") else "before"
    if name.startswith("its counters") and phase == "load":
        # In the first phase nothing was counted yet that could fall.
        steps, message = [["answer", "VERSION 1.2.3 1000 get_misses -5\r\n"]], "counter"
    answer = with_fault(small, {"PRETEND_FAULT": {"phase": phase, place: steps}})
    check_failed(small, answer, message.format(phase))


@pytest.mark.parametrize("records", RECORDS)
def test_records_that_it_does_not_hold(small, records):
    fault = {"phase": "load", "after": [["records", records]]}
    answer = with_fault(small, {"PRETEND_FAULT": fault})
    message = f"stored 1000 records, the Pretend server holds {records}"
    check_failed(small, answer, message, InvalidMeasurement)


@pytest.mark.parametrize("records", RECORDS[:2])
def test_records_that_it_does_not_hold_after_the_run(small, records):
    """The values are kept and do not count."""
    fault = {"phase": "run", "after": [["records", records]]}
    answer = with_fault(small, {"PRETEND_FAULT": fault})
    assert answer.code == 0, answer.text
    row = small.results().loc["pretend/a/1"]
    assert records in row.invalid
    assert "1000" in row.invalid
    check_next(small)


@pytest.mark.parametrize("behaviour", ["ignores-sigterm", "leaves-a-child", "late-2"])
def test_a_cell_in_spite_of_it(small, behaviour):
    small.monkeypatch.setattr(process.stop, "__defaults__", (2,))
    answer = with_fault(small, {"PRETEND_SERVER": behaviour})
    assert answer.code == 0, answer.text
    assert small.left() == []
    check_numbers(small, CELL, OTHER)


@pytest.mark.parametrize("behaviour", ["ignores-sigterm", "leaves-a-child"])
@pytest.mark.parametrize("phase", PHASES)
def test_a_failure_in_spite_of_it(small, behaviour, phase):
    small.monkeypatch.setattr(process.stop, "__defaults__", (2,))
    fault = {"phase": phase, "before": [["exit", 1]]}
    answer = with_fault(small, {"PRETEND_SERVER": behaviour, "PRETEND_FAULT": fault})
    check_failed(small, answer, f"{phase}: the YCSB client ended with exit status 1")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"\x7fELF no program"),
        lambda path: path.write_text("#!/nowhere/python\n"),
        lambda path: path.chmod(0o644),
    ],
    ids=["empty", "for another machine", "without interpreter", "not executable"],
)
def test_its_program(small, spoil):
    path = path_without(Path("bin"), "pretend-server")
    program = Path("bin/pretend-server")
    program.write_bytes(PROGRAM.read_bytes())
    program.chmod(0o755)
    spoil(program)
    answer = with_fault(small, {"PATH": path})
    check_failed(small, answer, "pretend-server|Pretend")
