"""What client, server and machine used second by second, from the sampled counters."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.tidy.resources import Samples, client_start, gc_pauses, resources, usage
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import parse
from kvstudy.measure.clients import MACHINE_COLUMNS, PROCESS_COLUMNS
from kvstudy.study.consistency import client_cores

STARTED = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC).timestamp()


def write(path: Path, columns: list[str], rows: list[dict]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows({"phase": "run"} | row for row in rows)


def server(seconds: float, cpu: float, **values: object) -> dict:
    counters = {"side": "server", "processes": 1, "cpu_user": cpu, "cpu_system": cpu / 2}
    counters |= {"rss": 1000, "switches_voluntary": 10 * cpu, "switches_involuntary": cpu}
    counters |= {"cpu_from": "proc"}
    return counters | {"seconds": seconds} | values


def rows(raw: Path, started: float | None = None) -> pd.DataFrame:
    return pd.DataFrame(resources(Samples(raw, "run"), client_start(raw, "run", started)))


def test_counters_become_rates(tmp_path):
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, [server(0, 1.0), server(2, 2.0)])
    (row,) = rows(tmp_path).to_dict("records")
    assert row == {
        "side": "server",
        "second": 2,
        "seconds": 2,
        "cores_user": 0.5,
        "cores_system": 0.25,
    }


def test_the_cores_of_the_machine(tmp_path):
    machine = {"cpu_idle": 0, "cpu_steal": 1.0, "cpu_interrupts": 0}
    samples = [
        machine | {"seconds": second, "cpu_busy": busy} for second, busy in enumerate([10, 11.5])
    ]
    write(tmp_path / "machine.csv", MACHINE_COLUMNS, samples)
    (row,) = rows(tmp_path).to_dict("records")
    assert row == {"side": "machine", "second": 1, "seconds": 1, "cores_busy": 1.5}


def test_seconds_count_from_ycsbs_start_in_whatever_time_zone(tmp_path):
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, [server(0, 1), server(1, 2), server(2, 3)])
    for hour in ("12:00", "17:30", "03:45"):
        # Java took 0.7 s to start.
        lines = [f"2026-01-01 {hour}:0{n}:700 {n} sec: {n * 5} operations; " for n in (1, 2)]
        (tmp_path / "run.err").write_text("\n".join(lines) + "\n")
        assert rows(tmp_path, STARTED)["second"].tolist() == pytest.approx([0.3, 1.3])
    (tmp_path / "run.err").write_text("no status\n")
    assert rows(tmp_path, STARTED)["second"].tolist() == [1, 2]


def test_samples_close_together_are_one(tmp_path):
    times = [0, 1.0, 1.1, 2.0, 3.0, 3.2]
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, [server(t, t) for t in times])
    result = rows(tmp_path)
    assert result["second"].tolist() == [1, 2, 3.2]
    assert result["cores_user"].tolist() == pytest.approx([1, 1, 1])
    # A phase of less than half a second still has its one row.
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, [server(0, 0), server(0.25, 0.5)])
    assert rows(tmp_path)["cores_user"].tolist() == [2]
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, [server(0, 0)])
    assert rows(tmp_path).empty


def test_processes_that_come_and_go_leave_no_rate(tmp_path):
    samples = [server(0, 5), server(1, 6), server(2, 2, processes=2), server(3, 3, processes=2)]
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, samples)
    result = rows(tmp_path)
    assert result["cores_user"].isna().tolist() == [False, True, False]
    # A control group counts those that ended too.
    samples = [server(0, 5, cpu_from="cgroup"), server(1, 6, cpu_from="cgroup", processes=7)]
    write(tmp_path / "processes.csv", PROCESS_COLUMNS, samples)
    (row,) = rows(tmp_path).to_dict("records")
    assert row["cores_user"] == 1


def test_without_files_there_are_no_rows(tmp_path):
    assert rows(tmp_path).empty
    assert Samples(tmp_path, "run").server() is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("machine.csv", "phase,seconds\nrun,x\n"),
        ("machine.csv", ""),
        ("processes.csv", "phase,seconds,side,cpu_user,cpu_system\nrun,0,server,1,x\n"),
    ],
)
def test_a_broken_file_is_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(KvstudyError, match=rf"{name}: cannot be read.*measure the cell again"):
        Samples(tmp_path, "run")


# As a client with 4 threads left it, JDK 17.
GC = """\
[0.003s] Using G1
[0.254s] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 19M->9M(388M) 6.962ms
[0.411s] GC(1) Pause Young (Concurrent Start) (Metadata GC Threshold) 21M->8M(388M) 8.231ms
[0.412s] GC(2) Concurrent Mark Cycle
[0.414s] GC(2) Pause Remark 9M->9M(388M) 1.000ms
[0.416s] GC(2) Concurrent Mark Cycle 4.041ms
"""


def test_pauses_of_the_collector(tmp_path):
    path = tmp_path / "run.gc.log"
    path.write_text(GC)
    assert gc_pauses(tmp_path, "run") == (3, pytest.approx(16.193))
    path.write_text(GC.replace(".962ms", ",962ms"))
    assert gc_pauses(tmp_path, "run") == (3, pytest.approx(16.193))
    path.write_text("[0.003s] Using Serial\n")
    assert gc_pauses(tmp_path, "run") == (0, 0)
    # Its pauses are not in such lines, so nothing is known.
    path.write_text("[0.003s] Using The Z Garbage Collector\n")
    assert gc_pauses(tmp_path, "run") is None
    assert gc_pauses(tmp_path, "load") is None


@pytest.mark.parametrize(
    ("environment", "number"),
    [
        ([{"component": "CPU", "details": "cores-clock cores=1 threads=12 clock=2"}], 12),
        ([{"component": "CPU", "details": ""}], None),
        (None, None),
    ],
)
def test_usable_cores_of_a_manifest(environment, number):
    assert client_cores({"environment": environment}, 1) == number


def test_time_in_calls_is_that_of_failed_operations_too():
    """Of 80 000 reads of a table with ten records, 68 000 found nothing, and took as long."""
    counts = {"READ": (12_000, 39.79), "CLEANUP": (1, 5.0), "READ-FAILED": (68_000, 39.62)}
    lines = ["[OVERALL], RunTime(ms), 4000", "[OVERALL], Throughput(ops/sec), 20000"]
    for section, (count, mean) in counts.items():
        lines += [f"[{section}], Operations, {count}", f"[{section}], AverageLatency(us), {mean}"]
        lines += [f"[{section}], {which}Latency(us), {mean}" for which in ("Min", "Max")]
    lines += ["[READ], Return=OK, 12000", "[READ], Return=NOT_FOUND, 68000"]
    samples = Samples(Path("nowhere"), "run")
    log = parse("\n".join([*lines, ""]), "run.out")
    result = usage(samples, log, 1, (None, None), 2)["in_call"]
    assert result == pytest.approx((12_000 * 39.79 + 68_000 * 39.62) / 4e6)
    # How long those took that only their return codes report is not known.
    lines = [line for line in lines if "-FAILED" not in line]
    few = parse("\n".join([*lines, ""]), "run.out")
    assert usage(samples, few, 1, (None, None), 2)["in_call"] is None
