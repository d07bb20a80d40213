"""Faults of the YCSB client: it is missing, dies, hangs, says nothing, or says nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest
from kvstudy.errors import DataError, EnvironmentFault
from kvstudy.language.reasons import sentence
from kvstudy.measure import phase as phases
from kvstudy.study.raw import write_sums

from tests.faults.cells import (
    CELL,
    OTHER,
    RAW,
    check_failed,
    check_next,
    check_numbers,
    path_without,
    with_fault,
)

DATA = Path(__file__).parents[1] / "data" / "ycsb"
LIBRARY = Path("workflow/bindings/target/lib")
JAR = LIBRARY / "kvstudy-bindings.jar"
OUT_OF_MEMORY = "Exception in thread main java.lang.OutOfMemoryError: Java heap space\n"
NO_CLASS = "Error: Could not find or load main class site.ycsb.Client\n"
NO_HEAP = "Error occurred during initialization of VM\nToo small maximum heap\n"
AVERAGE = r"\[(READ|INSERT)\], AverageLatency\(us\), .*"
MINIMUM = r"\[(READ|INSERT)\], MinLatency\(us\), .*"
MAXIMUM = r"\[(READ|INSERT)\], MaxLatency\(us\), .*"
P95 = r"\[(READ|INSERT)\], 95thPercentileLatency\(us\), .*"

# What happens in a phase, and what the user reads then.
IN_BOTH: list[tuple[str, dict, str]] = [
    ("no memory", {"before": [["error", OUT_OF_MEMORY], ["exit", 1]]}, "OutOfMemoryError"),
    ("no class", {"before": [["error", NO_CLASS], ["exit", 1]]}, "find or load main class"),
    ("no heap", {"before": [["error", NO_HEAP], ["exit", 1]]}, "Too small maximum heap"),
    ("an exit without words", {"before": [["exit", 2]]}, "exit status 2"),
    ("killed", {"before": [["signal", "KILL"]]}, "killed|SIGKILL"),
    ("a crash", {"before": [["signal", "SEGV"]]}, "SIGSEGV"),
    ("killed at the end", {"after": [["signal", "KILL"]]}, "killed|SIGKILL"),
    ("nothing said", {"before": [["exit", 0]]}, r"\.out"),
    ("words of 100 MB", {"before": [["error", "Exception ", 10_000_000], ["exit", 1]]}, "Excep"),
    (
        "control characters",
        {"before": [["error", "Exception \x1b[2J\x1b[31m\x00\x07 red\n"], ["exit", 1]]},
        "Exception.*red",
    ),
    ("words in Latin-1", {"before": [["error", "Exception \xe9\xff\n"], ["exit", 1]]}, "Exception"),
    ("only the first line", {"replace": [[r"(?s)\n.*", "\n"]]}, r"\.out"),
    ("a cut number", {"replace": [[r"(?s)99thPercentileLatency.*", "99thPer"]]}, r"\.out"),
    ("no run time", {"replace": [[r"\[OVERALL\], RunTime.*\n", ""]]}, r"OVERALL"),
    ("two runs", {"replace": [[r"(?s)(.*)", r"\1"], [r"(?s)^(.+)$", r"\1\1"]]}, "several runs"),
    ("no text", {"replace": [[r"RunTime\(ms\), .*", "RunTime(ms), \xff\xfe"]]}, r"\.out"),
    ("no finite rate", {"replace": [[r"(Throughput\S+) .*", r"\1 Infinity"]]}, "Throughput"),
    ("a rate below 0", {"replace": [[r"(Throughput\S+) .*", r"\1 -4000"]]}, "OVERALL"),
    ("a time below 0", {"replace": [[r"(RunTime\S+) .*", r"\1 -5"]]}, "OVERALL"),
    ("another rate", {"replace": [[r"(Throughput\S+) .*", r"\1 9"]]}, "OVERALL"),
    ("a latency below 0", {"replace": [[MINIMUM, r"[\1], MinLatency(us), -5"]]}, "-5"),
    ("no latency", {"replace": [[AVERAGE, r"[\1], AverageLatency(us), NaN"]]}, "NaN|nan"),
    ("an endless latency", {"replace": [[MAXIMUM, r"[\1], MaxLatency(us), Infinity"]]}, "Inf|inf"),
    ("a giant latency", {"replace": [[AVERAGE, r"[\1], AverageLatency(us), 1e23"]]}, "1e.?23"),
    ("most below least", {"replace": [[MAXIMUM, r"[\1], MaxLatency(us), 1"]]}, "(?i)max"),
    ("p95 above p99", {"replace": [[P95, r"[\1], 95thPercentileLatency(us), 9999"]]}, "(?i)95|max"),
    ("a word for a count", {"replace": [[r"(Return=OK), \d+", r"\1, many"]]}, "many"),
    ("a count below 0", {"replace": [[r"(Return=OK), \d+", r"\1, -1"]]}, "-1|contradicts"),
    ("half a count", {"replace": [[r"(Return=OK), \d+", r"\1, 1.5"]]}, r"1\.5"),
    ("a contradiction", {"replace": [[r"(Return=OK), \d+", r"\1, 7"]]}, "contradicts itself"),
]
ONLY_IN_THE_RUN: list[tuple[str, dict, str]] = [
    ("a broken histogram", {"before": [["write", "READ.hdr", "HISTFAAAA\n"]]}, r"READ\.hdr"),
    ("a histogram of noise", {"before": [["write", "READ.hdr", "\xff\x00\xfe"]]}, r"READ\.hdr"),
    (
        "too few operations",
        {"replace": [[r"\[UPDATE\], .*\n", ""]]},
        "2000 operations, the sections 1000",
    ),
    ("a broken histogram", {"before": [["write", "READ.hdr", "HISTFAAAA\n"]]}, r"READ\.hdr"),
    ("a histogram of noise", {"before": [["write", "READ.hdr", "\xff\x00\xfe"]]}, r"READ\.hdr"),
    (
        "a histogram of another run",
        {"before": [["copy", str(DATA / "redis-hdr-rep1.READ.hdr"), "READ.hdr"]]},
        r"READ\.hdr",
    ),
]
CASES = [
    *(
        (name, {"phase": phase} | fault, text)
        for phase in ("load", "run")
        for name, fault, text in IN_BOTH
    ),
    *((name, {"phase": "run"} | fault, text) for name, fault, text in ONLY_IN_THE_RUN),
]
WITHOUT = [
    ("java", "java.*make setup|make setup.*java"),
    ("pretend-server", "no program pretend-server"),
    ("setpriv", "setpriv.*make setup|make setup.*setpriv"),
]


def steps_of(fault: dict) -> list[list]:
    return [*fault.get("before", []), *fault.get("after", [])]


@pytest.mark.parametrize(
    ("name", "fault", "message"), CASES, ids=[f"{row[1]['phase']}: {row[0]}" for row in CASES]
)
def test_a_phase(small, name, fault, message):
    # A client that ends before its time is a fault of the machine; else its log is broken.
    ended = any(step[0] in ("exit", "signal") and step[1] != 0 for step in steps_of(fault))
    kind = EnvironmentFault if ended else DataError
    check_failed(small, with_fault(small, {"PRETEND_FAULT": fault}), message, kind)


@pytest.mark.parametrize("phase", ["load", "run"])
@pytest.mark.parametrize(
    "steps",
    [[["sleep", 300]], [["status", *[5] * 300]], [["status", 1, 2, 3], ["sleep", 300]]],
    ids=["silent from the start", "no progress", "silent in the middle"],
)
def test_a_client_that_hangs(small, phase, steps):
    small.monkeypatch.setattr(phases, "STALL_SECONDS", 3)
    answer = with_fault(small, {"PRETEND_FAULT": {"phase": phase, "before": steps}})
    check_failed(small, answer, f"{phase}: no operations? .* 3 s")


@pytest.mark.parametrize("phase", ["load", "run"])
@pytest.mark.parametrize("code", [0, 1])
def test_a_client_that_leaves_a_child(small, phase, code):
    fault = {"phase": phase, "before": [["child", 300]], "after": [["exit", code]]}
    answer = with_fault(small, {"PRETEND_FAULT": fault})
    if code:
        check_failed(small, answer, f"{phase}: the YCSB client ended with exit status 1")
        return
    assert answer.code == 0, answer.text
    assert small.left() == []
    check_numbers(small, CELL, OTHER)


def test_a_tenth_of_the_operations_fails(small):
    assert with_fault(small, {"PRETEND_CLIENT": "failed-run"}).code == 0
    row = small.results().loc["pretend/a/1"]
    assert "of update operations failed (200 ERROR)" in sentence(row.invalid)
    # It is measured; who wants another one removes it.
    check_next(small)


@pytest.mark.parametrize(("program", "message"), WITHOUT, ids=[row[0] for row in WITHOUT])
def test_a_missing_program(small, program, message):
    path = path_without(Path("bin"), program)
    answer = with_fault(small, {"PATH": path})
    check_failed(small, answer, message, logs=False)


@pytest.mark.parametrize(
    "break_it",
    [
        lambda: JAR.unlink(),
        lambda: JAR.write_bytes(b""),
        lambda: JAR.write_bytes(JAR.read_bytes()[:-1]),
        lambda: (JAR.unlink(), JAR.mkdir()),
        lambda: (JAR.unlink(), JAR.symlink_to("nowhere.jar")),
    ],
    ids=["missing", "empty", "cut off", "a folder", "a link to nothing"],
)
def test_a_jar(small, break_it):
    # As the set-up leaves them.
    write_sums(LIBRARY)
    before = JAR.read_bytes()
    break_it()
    answer = small.measure(CELL)
    if JAR.is_dir():
        JAR.rmdir()
    JAR.unlink(missing_ok=True)
    JAR.write_bytes(before)
    # Before any server is started.
    assert not list(Path("results/small").glob("failed/**/server.log"))
    check_failed(small, answer, "make setup", logs=False)


def test_a_jar_of_another_build(small):
    """The finished cells were measured with other bindings."""
    before = JAR.read_bytes()
    JAR.write_bytes(before + b" ")
    answer = small.measure(CELL)
    JAR.write_bytes(before)
    assert not (RAW / CELL).exists()
    check_failed(small, answer, "(?s)kvstudy-bindings.jar|client|jars", logs=False)
