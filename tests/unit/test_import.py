"""Logs that others measured: which is which, into which cells, and what is refused."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.logs.imports.guess import store_of
from kvstudy.logs.imports.workloads import CommandLine, decoded, find_command, read_command
from kvstudy.logs.ycsb.log import parse
from kvstudy.stores.definition import StoreFile
from kvstudy.study.raw import check_sums
from kvstudy.study.reading import read_yaml

from tests import project as tested
from tests.histogram_rows import long

DATA = tested.ROOT / "tests/data"
OF_YCSB = DATA / "ycsb"
STUDY = Path("config/studies/jan")
RAW = Path("results/jan/raw")


@pytest.fixture
def logs(project: Path) -> Path:
    """A copy of real logs as a student has them; see the folders' names."""
    shutil.copytree(DATA / "imports", "logs")
    return Path("logs")


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture
def taken(logs: Path, kept: Path) -> Path:
    """The logs, after they were imported; they are read once for all tests."""
    if not (kept / "results").exists():
        take(logs)
        for folder in (STUDY, Path("results")):
            shutil.copytree(folder, kept / folder)
    else:
        shutil.copytree(kept, Path(), dirs_exist_ok=True)
    return logs


def run(*arguments: object) -> str:
    return tested.kvstudy(*arguments).output


def take(folder: Path = Path("logs"), *more: str) -> str:
    return run("import", folder, "--study", "jan", *more)


def rows() -> dict[str, dict[str, str]]:
    with (STUDY / "import.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def change(file: str, **values: str) -> None:
    """Edit the row of ``file``; without values it is taken out."""
    result = rows()
    result[file] |= values
    if not values:
        del result[file]
    with (STUDY / "import.csv").open("w", encoding="utf-8", newline="") as output:
        writer = csv.DictWriter(output, next(iter(result.values())))
        writer.writeheader()
        writer.writerows(result.values())


def parsed() -> tuple[pd.DataFrame, pd.DataFrame]:
    return tested.parse(STUDY / "study.yaml")


# --- the command line


@pytest.mark.parametrize(
    ("text", "phase", "db", "files", "properties"),
    [
        (
            "Command line: -load -db site.ycsb.BasicDB -P workloads/workloada -threads 8\n"
            "YCSB Client 0.17.0\n",
            *("load", "site.ycsb.BasicDB", ["workloads/workloada"], {"threadcount": "8"}),
        ),
        (
            # A blank in a path of Windows; YCSB prints no quotes.
            "Command line: -t -P C:\\Users\\Jan N\\workloadb -p db.url=jdbc:a b -target 500 -s\n",
            *("run", "", ["C:\\Users\\Jan N\\workloadb"]),
            {"db.url": "jdbc:a b", "target": "500"},
        ),
        (
            # PowerShell's error record, broken at the width of its window.
            "java.exe : Command line: -db site.ycsb.db.RedisClient -P work\nloads\\workloada "
            "-p recordcount=10\nAt line:1 char:1\n+ java -cp lib\\* site.ycsb.Client\n",
            *("run", "site.ycsb.db.RedisClient", ["workloads\\workloada"]),
            {"recordcount": "10"},
        ),
        (
            # Only the launcher's line is there.
            "java -cp /y/lib/* site.ycsb.Client -db site.ycsb.BasicDB -p threadcount=3 -load\n",
            *("load", "site.ycsb.BasicDB", [], {"threadcount": "3"}),
        ),
    ],
)
def test_what_a_command_line_says(text, phase, db, files, properties):
    assert read_command(find_command(text)) == CommandLine(phase, db, files, properties)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_any_encoding_and_line_end_is_read(encoding):
    text = (OF_YCSB / "redis-workloada-run-r3.out").read_text()
    assert decoded(text.replace("\n", "\r\n").encode(encoding)) == text


def test_what_is_no_text_is_not_read():
    assert decoded(b"%PDF-1.4\x00\x01\x02\x03 a b c") is None


# --- which log is which cell


def test_the_logs_themselves_tell_which_cell_they_are(logs):
    out = take(logs)
    assert "10 cells imported, 0 failed" in out
    result = rows()
    keys = ("store", "workload", "phase", "records", "repetition")
    assert {name: tuple(row[key] for key in keys) for name, row in result.items()} == {
        "memcached/c-all.log#1": ("memcached", "c", "run", "2000", "1"),
        "memcached/c-all.log#2": ("memcached", "c", "run", "2000", "2"),
        "memcached/c-all.log#3": ("memcached", "c", "run", "2000", "3"),
        "memcached/stdout/mc-a-1.txt": ("memcached", "a", "run", "2000", "1"),
        "memcached/stdout/mc-a-2.txt": ("memcached", "a", "run", "2000", "2"),
        "memcached/stdout/mc-load-1.txt": ("memcached", "a", "load", "2000", "1"),
        "redis/load_a_1.txt": ("redis", "a", "load", "2000", "1"),
        "redis/load_a_2.txt": ("redis", "a", "load", "2000", "2"),
        "redis/run_a_1.txt": ("redis", "a", "run", "2000", "1"),
        "redis/run_a_2.txt": ("redis", "a", "run", "2000", "2"),
        "windows/redis-c-run1.log": ("redis", "c", "run", "2000", "1"),
        "windows/redis-c-run2.log": ("redis", "c", "run", "2000", "2"),
        "windows/redis-insert-1.log": ("redis", "insert", "load", "50000", "1"),
    }
    assert {row["threads"] for row in result.values()} == {"4"}
    assert "ignored: notes.txt: no log of YCSB" in out
    assert "ignored: redis/a_1.CLEANUP.hdr" in out


def test_original_bytes_are_kept_and_nothing_is_invented(taken):
    cell = RAW / "redis/c/r2000_o100000_t4/rep1"
    check_sums(cell)
    original = (taken / "windows/redis-c-run1.log").read_bytes()
    assert original.startswith(b"\xff\xfe")
    assert (cell / "run.out.original").read_bytes() == original
    manifest = json.loads((cell / "manifest.json").read_text())
    (origin,) = manifest["imported"]["from"]
    assert origin == {
        "file": "windows/redis-c-run1.log",
        "sha256": hashlib.sha256(original).hexdigest(),
        "kept_as": "run.out.original",
        "read_as": "run.out",
    }
    assert (manifest["server"]["provider"], manifest["server"]["version"]) == ("imported", None)
    assert manifest["environment"] is manifest["started"] is manifest["position"] is None
    assert set(manifest["phases"]) == {"run"}
    # Windows's line ends need no copy.
    insert = RAW / "redis/insert/r50000_o0_t4/rep1"
    assert (insert / "load.out").read_bytes() == (taken / "windows/redis-insert-1.log").read_bytes()
    assert not list(insert.glob("*.original"))


def test_values_are_those_of_the_logs(logs):
    take(logs, "--machine", "a laptop")
    cells, values = parsed()
    assert set(cells.loc[cells.status == "measured", "provider"]) == {"imported"}
    for name, cell, phase in (
        ("windows/redis-c-run2.log", ("redis", "c", 2), "run"),
        ("memcached/stdout/mc-a-1.txt", ("memcached", "a", 1), "run"),
        ("windows/redis-insert-1.log", ("redis", "insert", 1), "load"),
        ("redis/load_a_2.txt", ("redis", "a", 2), "load"),
    ):
        log = parse(decoded((logs / name).read_bytes()), name)
        mine = values[(values.store == cell[0]) & (values.workload == cell[1])]
        mine = mine[(mine.repetition == cell[2]) & (mine.phase == phase)]
        result = mine.set_index(["operation", "metric"])["value"]
        assert result["overall", "throughput"] == log.throughput
        for operation, section in log.sections.items():
            for metric, value in section.latencies.items():
                assert result[operation.lower(), metric] == value
        assert "client_cpu" not in mine.metric.tolist()


def test_status_lines_and_histograms_count_where_they_are(taken):
    cells, _ = parsed()
    series = pd.read_csv("results/jan/series.csv")
    assert set(zip(series.store, series.workload, strict=True)) == {("redis", "a")}
    counts = long(pd.read_csv("results/jan/histograms.csv")).groupby(
        ["store", "workload", "repetition"]
    )
    assert counts["count"].sum().to_dict() == {("redis", "a", 1): 100000, ("redis", "a", 2): 100000}
    # Status lines every ten seconds have a clock, but no throughput of each second.
    started = cells[cells.started != ""].index.tolist()
    assert sorted(started) == [
        f"{store}/a/rep{n}" for store in ("memcached", "redis") for n in (1, 2)
    ]
    facts = json.loads(Path("results/jan/environment.json").read_text())
    assert facts["machines"] == []
    assert facts["imported"]["ycsb"] == ["0.17.0"]
    lacks = facts["imported"]["without"]
    total = facts["imported"]["cells"]
    assert lacks["seconds"] == lacks["histograms"] == total - 2
    assert lacks["start"] == total - 4
    probes = pd.read_csv("results/jan/probes.csv")
    assert set(probes.reason) == {"imported-not-probed"}


def test_what_has_no_log_is_a_gap(taken):
    cells, _ = parsed()
    gap = cells.loc["redis/c/rep3"]
    assert (gap.status, gap.reason) == ("not measured", "not-imported")


def test_the_same_import_again_changes_nothing(taken):
    before = {path: path.stat().st_mtime_ns for path in RAW.rglob("*")}
    take(taken)
    assert {path: path.stat().st_mtime_ns for path in RAW.rglob("*")} == before


def test_a_row_taken_out_is_no_cell_any_more(taken):
    change("windows/redis-c-run2.log")
    assert "ignored: windows/redis-c-run2.log: not in import.csv" in take(taken)
    assert not (RAW / "redis/c/r2000_o100000_t4/rep2").exists()
    assert (RAW / "redis/c/r2000_o100000_t4/rep1").exists()


def test_every_variant_of_ycsb_is_found(project):
    """Logs of this project's tests: exporters, measurement types, failures."""
    folder = project / "all"
    folder.mkdir()
    for name in ("redis-hdr-rep1", "redis-hdrraw", "redis-timeseries", "redis-raw", "redis-both"):
        for path in OF_YCSB.glob(f"{name}.*"):
            shutil.copy(path, folder)
    out = take(folder)
    assert "5 cells imported, 0 failed" in out, out
    result = rows()
    assert {name: row["workload"] for name, row in result.items()} == {
        "redis-both.out": "a-both-target-300",
        "redis-hdr-rep1.out": "a-o2147483647-s3",
        "redis-hdrraw.out": "a-both-target-200",
        "redis-raw.out": "a-o200",
        "redis-timeseries.out": "a-target-800",
    }
    _, values = parsed()
    both = values[values.workload == "a-both-target-300"]
    assert "intended_latency_mean" in both.metric.tolist()


# --- what is not told


def test_what_no_log_tells_is_asked_for(logs):
    """Of two logs that nobody sent the standard error of."""
    shutil.rmtree(logs)
    (logs / "redis").mkdir(parents=True)
    shutil.copy(OF_YCSB / "redis-workloada-run-r3.out", logs / "redis/workloada_1.txt")
    shutil.copy(OF_YCSB / "redis-insert-100k-r3.out", logs / "redis/load_1.txt")
    with pytest.raises(KvstudyError) as raised:
        take(logs)
    message = str(raised.value)
    assert "import.csv: line 3 (redis/workloada_1.txt): " in message
    assert "the log does not say how YCSB was called" in message
    row = rows()["redis/workloada_1.txt"]
    # Each client thread closes its connection once; the run counts its operations itself.
    assert (row["threads"], row["operations"], row["store"]) == ("4", "100000", "redis")
    assert not (STUDY / "study.yaml").exists()
    assert not Path("results/jan").exists()
    change("redis/workloada_1.txt", records="20000")
    change("redis/load_1.txt", workload="insert")
    take(logs)
    facts = json.loads((RAW / "redis/a/r20000_o100000_t4/rep1/manifest.json").read_text())
    assert facts["phases"]["run"]["command"] is None
    cells, _ = parsed()
    assert cells.loc[["redis/a/rep1", "redis/insert/rep1"], "status"].tolist() == ["measured"] * 2


def test_a_spreadsheets_file_is_read(taken):
    path = STUDY / "import.csv"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b",", b";"))
    assert "0 failed" in take(taken)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"store": "redos"},
            "line 13, column store (windows/redis-c-run2.log): 'redos' is no folder of envs/stores"
            ", alone or with -something behind it; did you mean 'redis'?",
        ),
        (
            {"workload": "inset-t8"},
            "line 13, column workload (windows/redis-c-run2.log): 'inset-t8' is no file of "
            "workloads, nor is next to the logs, alone or with -something behind it; did you",
        ),
        ({"store": "redis-../x"}, "column store: 'redis-../x' is no name; use small letters"),
        ({"records": "3000000000"}, "column records: '3000000000' is no whole number up to 214"),
        ({"records": "many"}, "records: 'many' is no whole number"),
        ({"phase": "both"}, "phase: 'both'; give load or run"),
        ({"records": ""}, "complete records"),
        ({"repetition": "1"}, "are the same store, workload, phase and repetition"),
        ({"threads": "8"}, "threads is 8, but the log says 4; put that back"),
        ({"seconds": "9"}, "with different records, operations, threads or seconds"),
        ({"workload": "c-2", "phase": "load"}, "has no run. Give the load the workload insert"),
    ],
)
def test_a_wrong_row_is_refused_by_name(taken, values, message):
    change("windows/redis-c-run2.log", **values)
    with pytest.raises(KvstudyError) as raised:
        take(taken)
    assert message in str(raised.value)
    assert "config/studies/jan/import.csv" in str(raised.value)
    assert "line" in str(raised.value) or "windows/redis-c-run2.log" in str(raised.value)


def test_a_row_without_its_file_is_refused(taken):
    (taken / "windows/redis-c-run2.log").unlink()
    with pytest.raises(KvstudyError, match=r"redis-c-run2\.log: no log of YCSB of that name"):
        take(taken)


def test_a_row_that_the_study_has_not_is_refused(taken):
    change("windows/redis-c-run2.log", repetition="9")
    with pytest.raises(
        KvstudyError, match=r"study\.yaml: has no cell store redis, workload c, rep"
    ):
        take(taken)
    (STUDY / "study.yaml").unlink()
    take(taken)
    assert (RAW / "redis/c/r2000_o100000_t4/rep9").is_dir()


def test_a_folder_without_logs_is_refused(project):
    (project / "empty").mkdir()
    (project / "empty/a.txt").write_text("nothing")
    with pytest.raises(KvstudyError, match="holds no log of YCSB"):
        take(project / "empty")
    with pytest.raises(KvstudyError, match="no such folder"):
        take(project / "nowhere")


# --- other workloads, stores and sizes than the project's own


def edited(logs: Path, old: str, new: str, *names: str) -> None:
    for name in names:
        path = logs / name
        path.write_bytes(path.read_bytes().replace(old.encode(), new.encode()))


def test_a_workload_file_beside_the_logs_is_taken(logs):
    edited(logs, "workloads/workloada", "my/Mix_95", "redis/run_a_1.txt", "redis/load_a_1.txt")
    (logs / "Mix_95").write_bytes(
        b"workload=site.ycsb.workloads.CoreWorkload\r\nrecordcount=5\r\nredis.host=here\r\n"
        b"readproportion=0.5\r\nupdateproportion=0.5\r\nfieldcount=5\r\n"
    )
    take(logs)
    row = rows()["redis/run_a_1.txt"]
    assert (row["workload"], row["records"]) == ("mix-95", "2000")
    text = Path("workloads/mix-95").read_text()
    assert "fieldcount=5\n" in text
    assert "redis.host" not in text
    parsed()


def test_values_are_those_that_ycsb_made_of_them(logs):
    """It takes proportions for weights, and any word but true for false."""
    edited(logs, "workloads/workloada", "my/weights", "redis/run_a_1.txt", "redis/load_a_1.txt")
    edited(logs, "-p recordcount", "-p readallfields=yes -p recordcount", "redis/run_a_1.txt")
    (logs / "weights").write_text(
        "recordcount=5\nreadproportion=7\nupdateproportion=7\nhotspotdatafraction=10\n"
    )
    take(logs)
    assert rows()["redis/run_a_1.txt"]["workload"] == "weights-readallfields-false"
    text = Path("workloads/weights").read_text()
    assert "readproportion=0.5\nupdateproportion=0.5\nhotspotdatafraction=0\n" in text
    assert "properties: {readallfields: 'false'}" in (STUDY / "study.yaml").read_text()
    parsed()


def test_other_properties_are_another_workload(logs):
    distribution = "-p requestdistribution=uniform -p recordcount"
    edited(logs, "-p recordcount", distribution, "redis/run_a_1.txt")
    take(logs)
    assert rows()["redis/run_a_1.txt"]["workload"] == "a-uniform"
    text = (STUDY / "study.yaml").read_text()
    assert "properties: {requestdistribution: uniform}" in text
    manifest = next((RAW / "redis/a-uniform").rglob("manifest.json")).read_text()
    assert json.loads(manifest)["cell"]["properties"]["requestdistribution"] == "uniform"
    # Put together again by hand, they are refused.
    change("redis/load_a_1.txt")
    change("redis/run_a_1.txt", workload="a", repetition="5")
    (STUDY / "study.yaml").unlink()
    with pytest.raises(KvstudyError, match="made with other values of requestdistribution"):
        take(logs)


def test_other_sizes_and_bindings_get_names_of_their_own(logs):
    edited(logs, "-threads 4", "-threads 8", "redis/run_a_1.txt")
    edited(logs, "[CLEANUP], Operations, 4", "[CLEANUP], Operations, 8", "redis/run_a_1.txt")
    edited(logs, "-p redis.port", "-p redis.cluster=true -p redis.port", "redis/run_a_2.txt")
    take(logs)
    result = rows()
    assert result["redis/run_a_1.txt"]["workload"] == "a-t8"
    assert result["redis/run_a_2.txt"]["store"] == "redis-2"
    text = (STUDY / "study.yaml").read_text()
    assert "{store: redis, name: redis-2, title: Redis (2)}  # redis.cluster=true" in text
    parsed()


# --- broken logs


def test_a_log_cut_off_in_the_middle_is_a_failed_cell(logs):
    path = logs / "windows/redis-c-run2.log"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 9 // 10 // 2 * 2])
    out = take(logs)
    assert "failed cell redis/c/r2000_o100000_t4/rep2: windows/redis-c-run2.log: " in out
    cells, _ = parsed()
    failed = cells.loc["redis/c/rep2"]
    assert failed.status == "failed"
    assert "cut off" in failed.reason
    kept = Path("results/jan/failed/redis/c/r2000_o100000_t4/rep2/imported/run.out.original")
    assert kept.read_bytes() == path.read_bytes()


def test_an_imported_cell_that_was_edited_is_a_gap_until_it_is_imported_again(taken):
    cells, _ = parsed()
    measured = (cells["status"] == "measured").sum()
    log = sorted(RAW.glob("redis/*/*/rep1/run.out"))[0]
    whole = log.read_text()
    log.write_text(whole + " ")
    output = run("parse", STUDY.name)
    assert "differs from its checksum" in output
    assert "import it again" in output
    cells, _ = parsed()
    assert (cells["status"] == "measured").sum() == measured - 1
    (reason,) = cells.loc[cells["status"] == "failed", "reason"]
    assert reason.startswith("run.out: differs from its checksum")
    take(taken)
    cells, _ = parsed()
    assert (cells["status"] == "measured").sum() == measured
    assert log.read_text() == whole


def test_a_client_that_left_no_results_is_a_failed_cell(project):
    folder = project / "killed"
    folder.mkdir()
    for ending in ("out", "err"):
        shutil.copy(OF_YCSB / f"redis-workloada-killed.{ending}", folder)
    with pytest.raises(KvstudyError, match="0 cells imported, 1 failed") as raised:
        take(folder)
    assert "no [OVERALL] results of YCSB in it" in str(raised.value)


def test_failed_operations_void_an_imported_cell(project):
    Path("logs").mkdir()
    called = command("run").replace("=100000", "=10000").replace("RedisClient", "riak.RiakKVClient")
    write("run.txt", called, (OF_YCSB / "riak-strong-run.out").read_text())
    taken_cells(1)
    cells, _ = parsed()
    (reason,) = cells.loc[cells["status"] == "measured", "invalid"]
    assert "of update operations failed (6 ERROR)" in sentence(reason)


def test_a_histogram_of_another_run_fails_its_cell(logs):
    shutil.copy(logs / "redis/a_1.READ.hdr", logs / "redis/a_2.READ.hdr")
    assert "failed cell redis/a/r2000_o100000_t4/rep2: a_2.READ.hdr: latencies of" in take(logs)


def test_a_failed_load_says_what_can_be_done(logs):
    files = ("redis/load_a_1.txt", "redis/run_a_1.txt")
    edited(logs, "-p recordcount=2000", "-p recordcount=2001", *files)
    out = take(logs)
    assert "2000 of 2001 records were loaded; if the records were there all the same, take" in out


# --- measured and imported do not mix


def test_a_study_that_is_measured_takes_no_imports(logs):
    with pytest.raises(KvstudyError, match="is a study that is measured; give another --study"):
        run("import", logs, "--study", "smoke")
    with pytest.raises(KvstudyError, match="is no name of a study"):
        run("import", logs, "--study", "My Study")


def test_the_study_file_is_the_users(logs):
    take(logs, "--machine", "a laptop")
    with pytest.raises(KvstudyError, match=r"imported\.machine: is 'a laptop', but the command"):
        take(logs, "--machine", "a server")


def test_nothing_is_measured_for_imported_logs(taken):
    for command in (("measure", "redis/c/r2000_o100000_t4/rep3"), ("probe", "redis")):
        with pytest.raises(KvstudyError, match="nothing is measured for it"):
            run(*command, "--study", STUDY / "study.yaml", "--provider", "native")


def test_imported_cells_are_refused_among_measured_ones(taken):
    study = STUDY / "study.yaml"
    text = study.read_text()
    start, end = text.index("imported:"), text.index("stores:")
    study.write_text(text[:start] + text[end:])
    with pytest.raises(KvstudyError, match="has no key imported; imported and measured cells"):
        run("parse", study.parent.name, "--mixed", "true")


def test_measured_cells_are_refused_among_imported_ones(taken):
    path = RAW / "redis/c/r2000_o100000_t4/rep1/manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["imported"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(KvstudyError, match="was measured here; imported and measured cells"):
        take(taken)


# --- every phase has its own way to measure


@pytest.fixture
def results(project: Path) -> dict[str, str]:
    """The bare results of a load and a run of ``tests/data/imports``, by phase."""
    Path("logs").mkdir()
    texts = {}
    for phase in ("load", "run"):
        text = (DATA / f"imports/redis/{phase}_a_1.txt").read_text()
        texts[phase] = text[text.index("[OVERALL]") :]
    return texts


def write(name: str, *texts: str) -> None:
    Path("logs", name).write_text("".join(texts))


def rerun(text: str, number: int) -> str:
    """The results of another run: the same to the last digit are a copy."""
    return re.sub(
        r"(MaxLatency\(us\), )(\d+)", lambda match: f"{match[1]}{int(match[2]) + number}", text
    )


def command(phase: str, *more: str) -> str:
    options = " -p ".join(["", "recordcount=2000", "operationcount=100000", *more])
    return (
        f"Command line: {'-load' if phase == 'load' else '-t'} -db site.ycsb.db.RedisClient "
        f"-P workloads/workloada{options} -threads 4\n"
    )


def taken_cells(number: int) -> None:
    cells = "1 cell" if number == 1 else f"{number} cells"
    assert f": {cells} imported, 0 failed\n" in take()


@pytest.mark.parametrize("interval", ["both", "intended"])
def test_the_interval_is_that_of_each_phases_own_command(results, interval):
    if interval == "both":
        # Each section once more, with the latencies from the intended start.
        again = [line for line in results["run"].splitlines() if line[1:7] in ("READ],", "UPDATE")]
        results["run"] += "".join(
            line.replace("[", "[Intended-", 1) + "\n" for line in again if "Return" not in line
        )
    write("load.txt", command("load"), results["load"])
    write("run.txt", command("run", f"measurement.interval={interval}"), results["run"])
    taken_cells(1)
    _, values = parsed()
    metrics = {
        phase: set(values[(values.phase == phase) & (values.operation != "overall")].metric)
        for phase in ("load", "run")
    }
    assert "latency_mean" in metrics["load"]
    assert "intended_latency_mean" not in metrics["load"]
    assert "intended_latency_mean" in metrics["run"]
    assert ("latency_mean" in metrics["run"]) == (interval == "both")


def test_a_phase_without_a_command_has_the_interval_of_the_study(results):
    write("redis-workloada-1.txt", results["run"])
    with pytest.raises(KvstudyError, match=r"look at it|complete"):
        take()
    change("redis-workloada-1.txt", records="2000")
    take()
    study = STUDY / "study.yaml"
    added = "parameters:\n  properties: {measurement.interval: both}\n"
    study.write_text(study.read_text().replace("parameters:\n", added))
    # What parse would refuse, the import says first, and the other cells stay.
    with pytest.raises(KvstudyError, match="not all operations have intended latencies"):
        take()
    parsed()


# --- other properties are another cell


@pytest.mark.parametrize(
    ("one", "other", "named"),
    [
        ("mongodb.url=mongodb://a:1/y?w=0", "mongodb.url=mongodb://a:1/y?w=1", "mongodb.url"),
        ("mongodb.url=mongodb://a:1/y", "mongodb.url=mongodb://b:2/z?w=0&j=true", "mongodb.url"),
        ("batchsize=1", "batchsize=100", "batchsize"),
    ],
)
def test_other_properties_of_the_binding_are_another_store(results, one, other, named):
    for number, property_ in enumerate((one, one, other)):
        text = command("run", property_).replace("db.Redis", "db.MongoDb")
        write(f"run{number}.txt", text + rerun(results["run"], number))
    taken_cells(3)
    stores = {name: (row["store"], row["repetition"]) for name, row in rows().items()}
    assert stores == {
        "run0.txt": ("mongodb", "1"),
        "run1.txt": ("mongodb", "2"),
        "run2.txt": ("mongodb-2", "1"),
    }
    # Put together again by hand, they are refused, whether the study is written or not.
    change("run2.txt", store="mongodb", repetition="3")
    with pytest.raises(KvstudyError, match=rf"both store 'mongodb', but .* values of {named}"):
        take()


def test_an_address_and_a_password_are_no_property(results):
    for number, url in enumerate(("u:secret@a:1/y?w=1", "v:other@b:2/z?w=1&password=secret")):
        text = command("run", f"mongodb.url=mongodb://{url}").replace("db.Redis", "db.MongoDb")
        write(f"run{number}.txt", text + rerun(results["run"], number))
    take()
    assert {row["store"] for row in rows().values()} == {"mongodb"}
    text = (STUDY / "study.yaml").read_text()
    assert "mongodb.url=...?w=1" in text
    assert "secret" not in text


# --- what is right is taken


def test_a_limit_of_time_that_no_run_came_to_is_none(results):
    write("run.txt", command("run", "maxexecutiontime=600"), results["run"])
    taken_cells(1)
    (row,) = rows().values()
    assert (row["operations"], row["seconds"]) == ("100000", "")


def test_a_run_that_was_done_before_the_limit_of_others(results):
    """The same study: one run did all operations, the other had its time."""
    short = results["run"].replace("49959", "9959").replace("50041", "10041")
    seconds = float(re.search(r"RunTime\(ms\), (\d+)", short)[1]) / 1000
    rate = f"Throughput(ops/sec), {20000 / seconds}"
    short = re.sub(r"Throughput\(ops/sec\), .*", rate, short)
    for number, text in enumerate((results["run"], short)):
        limit = command("run", f"maxexecutiontime={round(seconds) if number else 600}")
        write(f"run{number}.txt", limit + text)
    take()
    result = rows()
    assert (result["run0.txt"]["seconds"], result["run1.txt"]["seconds"]) == (
        "",
        str(round(seconds)),
    )
    # One limit for both: long enough for the first to be done.
    short = short.replace(f"RunTime(ms), {seconds * 1000:.0f}", "RunTime(ms), 9000")
    rate = f"Throughput(ops/sec), {20000 / 9}"
    short = re.sub(r"Throughput\(ops/sec\), .*", rate, short)
    for number, text in enumerate((results["run"], short)):
        write(f"run{number}.txt", command("run", "maxexecutiontime=9") + text)
    (STUDY / "import.csv").unlink()
    (STUDY / "study.yaml").unlink()
    taken_cells(2)
    assert len({(row["workload"], row["seconds"]) for row in rows().values()}) == 1


def test_a_run_of_time_only_has_no_number_of_operations(results):
    for number in (1, 2):
        text = command("run", "maxexecutiontime=7").replace("=100000", "=0") + results["run"]
        text = text.replace("49959", f"{49959 - number}")
        text = re.sub(r"(Throughput\(ops/sec\), ).*", rf"\g<1>{(100000 - number) / 7.394}", text)
        text = re.sub(r"RunTime\(ms\), .*", "RunTime(ms), 7394", text)
        write(f"run{number}.txt", text)
    taken_cells(2)
    assert {row["workload"] for row in rows().values()} == {"a"}
    # As a person says it.
    for number in (1, 2):
        change(f"run{number}.txt", operations="0")
    taken_cells(2)
    parsed()


def test_a_load_of_a_part_of_the_records(results):
    for phase in ("load", "run"):
        text = command(phase, "insertcount=2000").replace("recordcount=2000", "recordcount=9000")
        write(f"{phase}.txt", text + results[phase])
    taken_cells(1)
    assert {row["records"] for row in rows().values()} == {"2000"}
    parsed()


def test_counts_of_ycsb_0_12_have_a_point(results):
    old = re.sub(r"(Operations|M..Latency\(us\)), (\d+)$", r"\1, \2.0", results["run"], flags=re.M)
    old = old.replace("Operations, 50041.0", "Operations, 5.0041E4")
    called = command("run").replace("site.ycsb", "com.yahoo.ycsb")
    write("run.txt", called, "YCSB Client 0.12.0\n", old)
    # One that nobody knows the command of: its connections are counted so too.
    write("redis-workloada-2.txt", rerun(old, 1))
    with pytest.raises(KvstudyError, match=r"look at it|complete"):
        take()
    assert rows()["redis-workloada-2.txt"]["threads"] == "4"
    change("redis-workloada-2.txt")
    taken_cells(1)
    _, values = parsed()
    counts = values[values.metric == "operations"].set_index("operation")["value"]
    assert (counts["read"], counts["update"]) == (49959, 50041)


@pytest.mark.parametrize(
    "call",
    [
        "./bin/ycsb {} redis -s -P workloads/workloada {} -threads 4",
        "student@kv:~/ycsb-0.17.0$ bin/ycsb.sh {} redis -P workloads/workloada {} -threads 4 2>err",
        "root@kv:~/y# python2 ./bin/ycsb {} redis -jvm-args=-Xmx1g -P workloads/workloada {} "
        "-threads 4 | tee out.txt",
        "C:\\y> bin\\ycsb.bat {} redis -P workloads\\workloada {} -threads 4 > out.txt",
        "./bin/ycsb {} redis -P workloads/workloada \\\n  {} \\\n  -threads '4' &",
    ],
)
def test_a_log_that_holds_only_the_call_of_the_launcher(results, call):
    sizes = "-p recordcount=2000 -p operationcount=100000"
    write("all.txt", *(f"{call.format(phase, sizes)}\n{text}\n" for phase, text in results.items()))
    taken_cells(1)
    result = [list(row.values())[1:8] for row in rows().values()]
    assert result == [
        ["redis", "a", "load", "2000", "", "4", "1"],
        ["redis", "a", "run", "2000", "100000", "4", "1"],
    ]
    parsed()


def test_a_shared_binding_means_the_store_it_is_named_after():
    files = {name: tested.ROOT / f"envs/stores/{name}/store.yaml" for name in ("redis", "valkey")}
    stores = {name: read_yaml(path, StoreFile) for name, path in files.items()}
    # Such as `kvstudy new store` makes: our binding, and none of YCSB's distribution.
    ycsb = stores["redis"].ycsb.model_copy(update={"official": None})
    stores["mine"] = stores["redis"].model_copy(update={"ycsb": ycsb})
    assert store_of(CommandLine(db="kvstudy.db.RedisClient"), stores) == "redis"
    assert store_of(CommandLine(db="site.ycsb.db.RedisClient"), stores) == "redis"
    del stores["redis"]
    assert store_of(CommandLine(db="kvstudy.db.RedisClient"), stores) == ""
