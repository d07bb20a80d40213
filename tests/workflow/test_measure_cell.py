"""The life cycle of a cell: what it leaves when it goes well, and when it does not."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil
import pytest
from kvstudy.errors import KvstudyError, RunError
from kvstudy.language.reasons import sentence
from kvstudy.measure.setting import MeasurementContext
from kvstudy.stores import process
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import log_end
from kvstudy.study.cells import find_cell, plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import write_sums

from tests.project import CELL, kvstudy, measure, wait_for

OTHER = CELL.replace("rep1", "rep2")
RAW = Path("results/small/raw") / CELL
FAILED = Path("results/small/failed") / CELL


def servers() -> list[psutil.Process]:
    """Pretended servers of this test (with its folder in their environment)."""
    here = []
    for candidate in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            ours = candidate.environ().get("PWD") == str(Path.cwd())
            if ours and "pretend-server" in " ".join(candidate.cmdline()):
                here.append(candidate)
    return here


def edit(file: str | Path, before: str, after: str) -> None:
    text = Path(file).read_text()
    assert before in text
    Path(file).write_text(text.replace(before, after))


def edit_verbs(more: str) -> None:
    with Path("envs/stores/pretend/verbs.py").open("a") as file:
        file.write(more)


@pytest.fixture(autouse=True)
def _folder_of_its_processes(project, monkeypatch):
    monkeypatch.setenv("PWD", str(project))


def failure(cell: str = CELL, *options: str) -> str:
    """The message of a measurement that must fail and leave nothing but its logs."""
    with pytest.raises(KvstudyError) as error:
        measure(cell, *options)
    assert not RAW.exists()
    assert not Path("results/small/measuring").exists()
    assert servers() == []
    return str(error.value)


def test_a_measured_cell_leaves_its_raw_logs(pretend_study):
    measure()
    names = {path.name for path in RAW.iterdir()}
    assert names >= {"load.out", "load.err", "run.out", "run.err", "server.log", "commands.sh"}
    manifest = json.loads((RAW / "manifest.json").read_text())
    assert manifest["server"]["version"] == "1.2.3"
    assert manifest["server"]["records"] == {"load": 1000, "run": 1000}
    assert manifest["server"]["counters"] == {"load": {"load": 1000}, "run": {"run": 2000}}
    assert manifest["server"]["misses"] == "get_misses"
    assert manifest["cell"]["properties"]["readproportion"] == "0.5"
    assert set(manifest["client"]["jars"]) == {"kvstudy-bindings.jar"}
    assert (
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=RAW).returncode == 0
    )
    assert servers() == []


def test_a_store_without_counters_tells_none(pretend_study):
    file = Path("envs/stores/pretend/verbs.py")
    file.write_text(file.read_text().split("def counters")[0])
    edit("envs/stores/pretend/store.yaml", "misses: get_misses\n", "")
    measure()
    server = json.loads((RAW / "manifest.json").read_text())["server"]
    assert server["counters"] == {"load": None, "run": None}


@pytest.mark.parametrize("after", ["{}", "{name: -count for name, count in told.items()}"])
def test_counters_that_fall_or_vanish_fail_the_cell(pretend_study, after):
    """A server that was started again has lost what it held."""
    edit_verbs(
        "\n\nrising = counters\n\n\n"
        "def counters(host, port):\n"
        "    told = rising(host, port)\n"
        "    del told['get_misses']\n"
        f"    return {after} if 'run' in told else told\n"
    )
    edit("envs/stores/pretend/store.yaml", "misses: get_misses\n", "")
    text = failure()
    assert "its counter load fell by" in text
    assert "was the server started again?" in text


def test_a_workload_that_was_edited_is_no_further_repetition(pretend_study):
    measure()
    workload = Path("workloads/a")
    workload.write_text(workload.read_text() + "fieldlength=200\n")
    with pytest.raises(KvstudyError) as refused:
        measure(CELL.replace("rep1", "rep2"))
    assert f"raw/{CELL}: measured with other parameters: fieldlength was not given, is now 200" in (
        str(refused.value)
    )
    assert "(workloads/a). Put that file back, or remove SHA256SUMS in" in str(refused.value)


def test_a_workload_that_is_edited_while_snakemake_measures_ends_the_run(pretend_study):
    """Cells before and after the edit would have been of one run."""
    cell = find_cell(plan(load_study(pretend_study)), CELL)
    measure(CELL, "--planned", cell.digest)
    workload = Path("workloads/a")
    workload.write_text(workload.read_text() + "fieldlength=200\n")
    with pytest.raises(RunError) as refused:
        measure(CELL.replace("rep1", "rep2"), "--planned", replace(cell, repetition=2).digest)
    text = str(refused.value)
    assert (
        "study.yaml or workloads/a was edited after this run had begun (results/small/raw" in text
    )
    assert "fieldlength was not given, is now 200 (workloads/a)" in text


def test_insert_only_has_no_run(pretend_study):
    measure("pretend/insert/r1000_o0_t2/rep1")
    raw = Path("results/small/raw/pretend/insert/r1000_o0_t2/rep1")
    assert (raw / "load.out").exists()
    assert not (raw / "run.out").exists()


def test_a_scaled_cell_has_results_of_its_own(pretend_study):
    measure(CELL, "--scale", "0.5")
    assert Path("results/small-scale0.5/raw", CELL).is_dir()
    assert not Path("results/small").exists()


@pytest.mark.parametrize(
    ("server", "message"),
    [
        ("dies-at-start", "ended with exit status 1 before it was ready; its log ends: pretended"),
        ("never-ready", "did not get ready in 4 s"),
        ("daemonises", "went into the background (start it in the foreground"),
        ("ends-after-load", "ended with exit status 3: no answer to '"),
        # It accepts connections, and answers none.
        ("stops-after-load", "is stopped by a signal ('kill -CONT "),
    ],
)
def test_a_server_that_fails_is_named(pretend_study, monkeypatch, server, message):
    monkeypatch.setenv("PRETEND_SERVER", server)
    assert failure().startswith(f"{CELL}: Pretend server {message}")


def test_a_long_line_in_a_servers_log_is_cut_and_harmless(pretend_study, monkeypatch):
    monkeypatch.setenv("PRETEND_SERVER", "long-line")
    text = failure()
    assert "its log ends: ... xxx" in text
    assert "xxx  the end" in text
    assert len(text) < 1500
    assert text.replace("\n", "").isprintable()


def test_a_child_that_a_server_leaves_is_ended_with_it(pretend_study, monkeypatch):
    monkeypatch.setenv("PRETEND_SERVER", "leaves-a-child")
    measure()
    assert servers() == []


def test_a_child_of_a_server_whose_cell_was_killed_is_ended_by_the_next(pretend_study, monkeypatch):
    monkeypatch.setenv("PRETEND_SERVER", "leaves-a-child")
    measuring = start_slow(pretend_study, monkeypatch)
    measuring.kill()
    measuring.communicate()
    monkeypatch.delenv("PRETEND_CLIENT")
    monkeypatch.delenv("PRETEND_SERVER")
    # The server has ended with its parent; what it has started is still there.
    wait_for(lambda: len(servers()) == 1, servers, 5)
    (left,) = servers()
    with subprocess.Popen(["pretend-server", "0"], env=os.environ) as other:
        measure()
        assert not left.is_running() or left.status() == psutil.STATUS_ZOMBIE
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize("phase", ["load", "run"])
def test_a_server_that_dies(pretend_study, monkeypatch, phase):
    monkeypatch.setenv("PRETEND_SERVER", "dies-after-1.5")
    monkeypatch.setenv("PRETEND_CLIENT", f"slow-{phase}")
    text = failure()
    assert f"Pretend server ended with exit status 3 during {phase}" in text
    assert "pretended: out of memory" in text
    logs = next(FAILED.iterdir())
    assert str(logs) in text
    assert "exit status 3" in json.loads((logs / "failure.json").read_text())["reason"]
    assert (logs / f"{phase}.err").exists()


RUN = [
    *("run", "--store", "pretend", "--provider", "native"),
    *("--workload", "a", "--records", "1000", "--operations", "2000"),
]


def test_a_failed_cell_promises_what_its_command_keeps(pretend_study, monkeypatch):
    """Snakemake measures none of the cells of 'kvstudy run', nor of a study not configured."""
    monkeypatch.setenv("PRETEND_CLIENT", "exception-run")
    with pytest.raises(KvstudyError) as refused:
        kvstudy(*RUN)
    assert str(refused.value).endswith("; the same command measures it again.")
    monkeypatch.delenv("PRETEND_CLIENT")
    kvstudy(*RUN)
    assert list(Path("results/single-cells/raw").glob("*/*/*/rep1/SHA256SUMS"))


def test_a_client_whose_server_dies_is_not_the_reason(pretend_study, monkeypatch):
    steps = [["server", "KILL"], ["error", "java.net.ConnectException: refused\n"], ["exit", 1]]
    monkeypatch.setenv("PRETEND_FAULT", json.dumps({"phase": "run", "before": steps}))
    text = failure()
    assert "Pretend server was killed by SIGKILL during run" in text
    assert "ConnectException" not in text


STATUS = "2026-11-25 10:00:{0:02}:000 {0} sec: 900 operations; 0 current ops/sec; est completion"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["FATAL: no room", *(f"{n} s: 0 clients connected" for n in range(60))], "FATAL: no room"),
        (["one", "two", *(STATUS.format(n) for n in range(60))], "one | two"),
        (["a", "java.io.IOException: broken", *("\tat a.b.C(D.java:7)",) * 60], "broken"),
        # As Redis reports its settings: what follows explains it.
        (
            ["starts", "*** FATAL CONFIG FILE ERROR ***", "at line 3", ">>> 'x'"],
            "at line 3 | >>> 'x'",
        ),
    ],
)
def test_the_last_words_of_a_log_are_no_idle_lines(lines, words, tmp_path):
    log = tmp_path / "server.log"
    log.write_text("\n".join(lines) + "\n")
    said = log_end(log)
    assert words in said
    assert " operations; " not in said
    assert len(said) < 200


ENDED = "the YCSB client ended with exit status 1"
MEMORY = (
    "OutOfMemoryError: Java heap space: the client's Java ran out; use fewer threads or more memory"
)


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ("exception-load", f"load: {ENDED}: Exception in thread main"),
        ("lost-load", "load.out: 500 of 1000 records were loaded"),
        ("cut-load", "load.out"),
        ("cut-run", "run.out"),
        ("exception-run", f"run: {ENDED}"),
        ("killed-run", "run: the YCSB client was killed by SIGKILL, by somebody, or by the system"),
        # The true cause first.
        (
            "memory-load",
            f'{CELL}: Exception in thread "Thread-2" java.lang.{MEMORY} (load.out: 500 of 1000',
        ),
    ],
)
def test_a_broken_phase(pretend_study, monkeypatch, client, message):
    monkeypatch.setenv("PRETEND_CLIENT", client)
    assert message in failure()


@pytest.mark.parametrize(
    ("client", "message"),
    [
        # A server that is stopped: each operation ends with a timeout.
        ("frozen-load", "load: no operation went well for 2 s, after 3000 in "),
        ("frozen-run", "run: no operation went well for 2 s, after 3000 in "),
        ("silent-load", "load: no operation went well for 2 s, after 0 in 0 s"),
    ],
)
def test_a_phase_in_which_nothing_goes_well_is_given_up(
    pretend_study, monkeypatch, client, message
):
    monkeypatch.setattr("kvstudy.measure.phase.STALL_SECONDS", 2)
    monkeypatch.setenv("PRETEND_CLIENT", client)
    text = failure()
    assert message in text
    assert "client stopped" in text


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (700, "it lost or evicted the others: give it more memory"),
        (1700, "it was not empty, or something else writes to it: stop that"),
    ],
)
def test_a_server_that_holds_other_records(pretend_study, monkeypatch, held, why):
    monkeypatch.setenv("PRETEND_RECORDS", str(held))
    text = failure()
    assert f"YCSB stored 1000 records, the Pretend server holds {held}; {why}" in text


def two_clients(study: Path) -> str:
    edit(study, "threads: 2}", "threads: 2, clients: 2}")
    return "pretend/a/r1000_o2000_t2_c2/rep1"


def test_two_clients_at_a_time(pretend_study):
    cell = two_clients(pretend_study)
    measure(cell)
    raw = Path("results/small/raw") / cell
    assert {"run.out", "run-2.out", "run-2.err"} <= {path.name for path in raw.iterdir()}
    assert not (raw / "load-2.out").exists()
    phases = json.loads((raw / "manifest.json").read_text())["phases"]
    first, (second,) = phases["run"]["command"], phases["run"]["others"]
    # Together they have the threads and the operations of one.
    for command in (first, second):
        assert command[command.index("-threads") + 1] == "1"
        assert {"operationcount=1000", "recordcount=1000"} <= set(command)
        assert any(word.startswith("together.at=127.0.0.1:") for word in command)
    load = phases["load"]["command"]
    assert load[load.index("-threads") + 1] == "2"
    assert phases["load"]["others"] == []
    # By hand, nobody is there who lets them begin.
    commands = (raw / "commands.sh").read_text()
    assert "together.at" not in commands
    assert "# run-2: next to the next command\n" in commands
    kvstudy("parse", "small")
    values = pd.read_csv("results/small/measurements.csv")
    values = values[(values["phase"] == "run") & (values["operation"] == "overall")]
    values = values.set_index("metric")["value"]
    # Each did its 1000 operations in a quarter of a second.
    assert values["operations"] == 2000
    assert values["throughput"] == pytest.approx(8000, rel=0.02)
    assert values["throughput_sum"] == pytest.approx(8000, rel=0.02)
    assert values["skew"] < 100
    assert values["shared_time"] > 0.5


def test_clients_that_begin_far_apart_make_the_cell_invalid(pretend_study, monkeypatch):
    cell = two_clients(pretend_study)
    monkeypatch.setenv("PRETEND_CLIENT", "late-second")
    measure(cell)
    kvstudy("parse", "small")
    (code,) = pd.read_csv("results/small/cells.csv")["invalid"].dropna()
    assert "ms apart, more than the 500 ms that count as simultaneous" in sentence(code)


@pytest.mark.parametrize(
    ("client", "message"),
    [
        ("exception-second", f"run-2: {ENDED}: Exception in thread"),
        ("memory-second", f"{MEMORY} (run-2.out: "),
    ],
)
def test_a_second_client_that_fails(pretend_study, monkeypatch, client, message):
    cell = two_clients(pretend_study)
    monkeypatch.setenv("PRETEND_CLIENT", client)
    assert message in failure(cell)


def test_a_taken_port_is_named(pretend_study):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        text = failure(CELL, "--port", str(port))
    assert f"port {port} is taken by" in text
    assert f"(process {os.getpid()})" in text
    assert "use 0 for any free one" in text


def test_a_program_that_is_missing(pretend_study, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "no program pretend-server on this machine" in failure()


def test_bindings_that_are_not_built(pretend_study):
    Path("workflow/bindings/target/lib/kvstudy-bindings.jar").unlink()
    assert "run 'make setup'" in failure()


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda jar: jar.unlink(), "no such file"),
        (lambda jar: jar.write_bytes(b"ja"), "not as it was built"),
    ],
)
def test_a_jar_that_is_missing_or_broken(pretend_study, spoil, problem):
    """Found before a server starts, so no logs of it are kept."""
    jar = Path("workflow/bindings/target/lib/jedis.jar")
    jar.write_bytes(b"jar")
    write_sums(jar.parent)
    measure()
    shutil.rmtree(RAW)
    spoil(jar)
    text = failure()
    assert f"{jar}: {problem}" in text
    assert "run 'make setup'" in text
    assert not FAILED.exists()


def test_a_machine_without_java(pretend_study, monkeypatch):
    monkeypatch.setenv("PATH", str(Path.cwd()))
    text = failure()
    assert text == "no program java on the path, which YCSB needs; run 'make setup'"
    assert not FAILED.exists()


@pytest.fixture
def small_disk(pretend_study, tmp_path):
    """A function that makes ``results`` a file system of some kB; needs the right to mount one."""
    disk = tmp_path / "results"

    def mount(size: int) -> Path:
        disk.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)]
        if os.getuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
            if os.environ.get("CI"):
                pytest.fail("cannot mount a small file system")
            pytest.skip("cannot mount a small file system")
        return disk

    yield mount
    if disk.is_mount():
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(pretend_study, small_disk):
    (small_disk(32) / "filler").write_bytes(b"x" * 20_000)
    with pytest.raises(KvstudyError, match="disk is full"):
        measure()
    assert not RAW.exists()
    assert servers() == []


def test_a_disk_that_the_client_fills(pretend_study, small_disk, monkeypatch):
    """What follows from it comes second: here, results that are cut off."""
    small_disk(1200)
    monkeypatch.setenv("PRETEND_CLIENT", "chatty-run")
    with pytest.raises(KvstudyError) as error:
        measure()
    disk = Path("results/small/measuring", CELL).parent
    start = f"{CELL}: the disk is full ({disk}: "
    assert str(error.value).startswith(start)
    assert "free some space (run: the YCSB client ended with" in str(error.value)
    assert not RAW.exists()
    assert servers() == []


def test_results_that_are_read_only(pretend_study, small_disk):
    disk = small_disk(160)
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    with pytest.raises(KvstudyError, match=r"^results: you cannot write there; give yourself"):
        measure()
    assert servers() == []


@pytest.mark.parametrize("theirs", ["", "small", "small/raw/pretend", "small/failed"])
def test_results_of_somebody_else_are_told_before_measuring(project, theirs):
    folder = Path("results", theirs)
    folder.mkdir(parents=True)
    for path in (Path(), Path("results"), *Path("results").rglob("*")):
        path.chmod(0o777)
    folder.chmod(0o555)
    store = load_store(Path("envs/stores/redis"))
    setting = MeasurementContext(
        run="small", store=store, planned=[], provider="native", protocol=1
    )
    # Root may write everything: be somebody else for a moment.
    user = os.geteuid()
    if user == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    owner = ", it belongs to root" if user == 0 else ""
    words = f"^{folder}: you cannot write there{owner}; give yourself"
    try:
        with (
            pytest.raises(KvstudyError, match=words),
            setting.working(RAW, CELL),
        ):
            pytest.fail("it began")
    finally:
        os.seteuid(user)


def test_measuring_again_keeps_the_earlier_logs(pretend_study):
    measure()
    before = (RAW / "manifest.json").read_text()
    measure()
    (kept,) = Path("results/small/replaced", CELL).iterdir()
    assert (kept / "manifest.json").read_text() == before


def test_another_provider_than_the_finished_cells(pretend_study):
    measure()
    manifest = RAW / "manifest.json"
    edit(manifest, '"native"', '"docker"')
    with pytest.raises(KvstudyError) as error:
        measure(OTHER)
    sides = f"provider: docker (1 cell, {CELL}); native (1 cell, {OTHER} is next)"
    assert sides in str(error.value)
    assert not Path("results/small/failed").exists()
    # The cell itself may be measured again in another way; nothing else is there.
    measure()
    edit(manifest, '"native"', '"docker"')
    measure(OTHER, "--mixed", "true")
    shutil.rmtree(RAW.with_name("rep2"))
    # auto keeps to what is there.
    edit(manifest, '"docker"', '"native"')
    measure(OTHER, "--provider", "auto")


def test_another_version_of_the_server_than_in_the_finished_cells(pretend_study):
    """Upgraded while the study was measured: found before anything is loaded."""
    measure()
    edit(RAW / "manifest.json", '"version": "1.2.3"', '"version": "1.2.2"')
    with pytest.raises(KvstudyError) as error:
        measure(OTHER)
    assert "server of pretend: 1.2.2 (1 cell, " in str(error.value)
    assert f"1.2.3 (1 cell, {OTHER} is next)" in str(error.value)
    assert servers() == []
    (logs,) = Path("results/small/failed", OTHER).iterdir()
    assert not list(logs.glob("load.*"))
    measure(OTHER, "--mixed", "true")


def test_cells_that_are_no_longer_planned_may_be_of_another_kind(pretend_study):
    """`kvstudy parse` leaves them out too."""
    measure()
    edit(RAW / "manifest.json", '"native"', '"docker"')
    edit(pretend_study, "operations: 2000", "operations: 3000")
    measure("pretend/a/r1000_o3000_t2/rep1")


# What a signal does, in a process of its own.


def start(study: Path, cell: str = CELL) -> subprocess.Popen:
    command = [sys.executable, "-m", "kvstudy", "measure", cell, "--study", str(study)]
    return subprocess.Popen([*command, "--provider", "native"], stderr=subprocess.PIPE, text=True)


def start_slow(study: Path, monkeypatch) -> subprocess.Popen:
    monkeypatch.setenv("PRETEND_CLIENT", "slow-load")
    measuring = start(study)
    wait_for(Path("results/small/measuring", CELL, "load.err").exists, seconds=10)
    return measuring


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_cell_leaves_nothing(pretend_study, monkeypatch, sign):
    measuring = start_slow(pretend_study, monkeypatch)
    measuring.send_signal(sign)
    _, errors = measuring.communicate(timeout=10)
    assert measuring.returncode != 0
    assert f"{CELL}: stopped by {sign.name}" in errors
    assert servers() == []
    assert not Path("results/small/measuring").exists()
    assert not RAW.exists()
    assert not FAILED.exists()


def test_a_killed_cell_takes_its_server_with_it(pretend_study, monkeypatch):
    measuring = start_slow(pretend_study, monkeypatch)
    measuring.kill()
    measuring.wait()
    wait_for(lambda: not servers(), servers, 5)
    # The next measurement cleans up what the killed one could not.
    monkeypatch.delenv("PRETEND_CLIENT")
    measure()
    assert RAW.exists()
    assert not Path("results/small/measuring").exists()


def test_a_cell_stops_when_its_controller_dies(pretend_study, monkeypatch):
    controller = subprocess.Popen(["sleep", "60"])
    monkeypatch.setenv("KVSTUDY_CONTROLLER", str(controller.pid))
    measuring = start_slow(pretend_study, monkeypatch)
    controller.kill()
    controller.wait()
    _, errors = measuring.communicate(timeout=10)
    assert "the process that started this has died; stopped" in errors
    assert servers() == []


def test_the_next_cell_ends_a_server_that_was_left_behind(pretend_study):
    # No parent-death signal: as after a crash of everything that could have cared.
    left = subprocess.Popen(["pretend-server", "0"], start_new_session=True)
    other = subprocess.Popen(["pretend-server", "0"], start_new_session=True)
    try:
        created = psutil.Process(left.pid).create_time()
        entry = {"kind": "process", "what": "pretend", "pid": left.pid, "created": created}
        process.record("left", entry)
        # A record whose process id belongs to another program by now.
        process.record("stranger", entry | {"pid": other.pid, "created": 1.0})
        measure()
        left.wait(5)
        assert other.poll() is None
    finally:
        for server in (left, other):
            server.kill()
            server.wait()


def test_two_cells_never_run_at_once(pretend_study, monkeypatch):
    first = start_slow(pretend_study, monkeypatch)
    monkeypatch.delenv("PRETEND_CLIENT")
    second = start(pretend_study, OTHER)
    assert f"waiting: process {first.pid} in {Path.cwd()} is measuring" in second.stderr.readline()
    first.terminate()
    first.communicate(timeout=10)
    assert second.wait(20) == 0
    second.stderr.close()


def test_what_cannot_be_read_is_a_failure_right_away(pretend_study, monkeypatch):
    """Not only when all cells are measured and the report is made."""
    monkeypatch.setenv("PRETEND_CLIENT", "broken-histogram")
    text = failure()
    assert "run.READ.hdr: line 1: 'broken' is no histogram" in text
    (logs,) = Path("results/small/failed", CELL).iterdir()
    assert (logs / "run.READ.hdr").read_text() == "broken\n"


def test_an_answer_that_cannot_be_read_is_a_failure_with_a_reason(pretend_study):
    edit_verbs("\n\ndef records(host, port):\n    raise ValueError('no namespace called ycsb')\n")
    text = failure()
    assert "gave no good answer to 'records'" in text
    assert "no namespace called ycsb" in text
