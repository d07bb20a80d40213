"""From raw logs to tidy rows, and the reason where there is no number."""

from __future__ import annotations

import json
import os
import pwd
import shutil
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.tidy import collect
from kvstudy.analyse.tidy.cell import reading
from kvstudy.analyse.tidy.files import RESOURCES
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.measure.controller import Interrupted
from kvstudy.study.cells import find_cell, plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import is_measured, write_sums

from tests.project import CELL, kvstudy, measure, parse


def test_values_of_a_measured_cell(have):
    have()
    cells, values = parse()
    assert cells.loc["pretend/a/rep1", "status"] == "measured"
    assert cells.loc["pretend/a/rep1", "invalid"] == ""
    assert cells.loc["pretend/a/rep1", "server_version"] == "1.2.3"
    chosen = values.query("phase == 'run' and operation == 'read'").set_index("metric")
    assert chosen.loc["operations", "value"] == 1000
    assert chosen.loc["latency_p99", ["value", "unit"]].tolist() == [114, "us"]
    overall = values.query("phase == 'run' and operation == 'overall'").set_index("metric").value
    assert overall.pop("client_cpu") > 0
    assert overall.pop("server_cpu") >= 0
    assert overall.pop("client_cores") > 0
    # A phase of less than a second, as on an idle machine, has too few samples of these.
    of_samples = ["server_cores", "machine_cores", "client_allowed", "background_cpu", "steal_cpu"]
    overall = overall.drop(of_samples, errors="ignore")
    # 2000 operations of 107 us by 2 threads in 500 ms.
    assert overall.pop("in_call") == pytest.approx(0.214)
    assert overall.pop("monitor_cpu") > 0
    assert overall.to_dict() == {
        "runtime": 500,
        "throughput": 4000,
        "operations": 2000,
        "failed": 0,
        "goodput": 4000,
        "missed": 0,
    }


def test_what_each_side_used_is_in_a_table_of_its_own(have):
    have()
    parse()
    used = RESOURCES.read(Path("results/small"))
    assert set(used["side"]) == {"server", "machine"} or set(used["side"]) == {
        *("client", "server", "machine")
    }
    assert set(used["phase"]) == {"run"}
    assert (used.loc[used["side"] == "server", "cores_user"] >= 0).all()


def test_intended_latencies_are_not_taken_for_service_times(pretend_study):
    """With measurement.interval=intended, YCSB labels them like the others."""
    sizes = "threads: 2"
    text = pretend_study.read_text()
    interval = f"{sizes}, properties: {{measurement.interval: intended}}"
    pretend_study.write_text(text.replace(sizes, interval))
    measure()
    _, values = parse()
    metrics = values.query("phase == 'run' and operation == 'read'").set_index("metric")
    assert metrics.loc["intended_latency_p99", ["value", "unit"]].tolist() == [114, "us"]
    assert not [name for name in metrics.index if name.startswith("latency_")]


def test_records_that_are_lost_in_the_run_void_the_cell(have):
    have()
    edit_manifest(CELL, lambda m: m["server"]["records"].update(run=993))
    assert sentence(parse()[0].loc["pretend/a/rep1", "invalid"]) == (
        "the server holds 993 records after the run, but 1000 were stored and not deleted: 7 are "
        "lost"
    )
    # Nobody counted them, or some were made again.
    for records in ({"load": 1000, "run": None}, {"load": 1000, "run": 1000}):
        edit_manifest(CELL, lambda m, now=records: m["server"].update(records=now))
        assert parse()[0].loc["pretend/a/rep1", "invalid"] == ""


def test_records_that_the_server_says_to_have_dropped_void_the_cell(pretend_study):
    store = Path("envs/stores/pretend/store.yaml")
    store.write_text(store.read_text() + "losses: [evictions, flushes]\n")
    measure()
    assert parse()[0].loc["pretend/a/rep1", "invalid"] == ""
    edit_manifest(CELL, lambda m: m["server"]["counters"]["run"].update(evictions=5))
    assert sentence(parse()[0].loc["pretend/a/rep1", "invalid"]) == (
        "the server's counter evictions rose by 5: it dropped records during the cell"
    )


def test_a_run_that_stalled_and_went_on_is_flagged(have, monkeypatch):
    have()
    monkeypatch.setenv("PRETEND_CLIENT", "stalled-run")
    have(CELL.replace("rep1", "rep2"))
    cells, values = parse()
    assert set(cells.loc[["pretend/a/rep1", "pretend/a/rep2"], "invalid"]) == {""}
    (row,) = values.query("metric == 'stalled'").itertuples()
    # Good operations up to second 2, then from second 11 on; the last line without is at 10.
    assert (row.repetition, row.unit, row.value) == (2, "s", 8)


def test_failed_operations_void_the_cell_for_rankings(have, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    have()
    cells, values = parse()
    assert sentence(cells.loc["pretend/a/rep1", "invalid"]) == (
        "20.00% of update operations failed (200 ERROR), more than the 0.10% that the study allows"
    )
    failed = values.query("operation == 'update' and metric == 'failed'")
    assert failed.value.tolist() == [200]


def test_declared_failures_do_not_void_the_cell(pretend_study, monkeypatch, have):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    declared = "expected_failures:\n- {store: pretend, operation: update, up_to: 0.25, reason: r}\n"
    pretend_study.write_text(pretend_study.read_text() + declared)
    have()
    assert parse()[0].loc["pretend/a/rep1", "invalid"] == ""


def test_missed_reads_void_the_cell_for_rankings(pretend_study, have):
    """YCSB says OK to 1000 reads; the server counted that 30 of them found nothing."""
    have()
    edit_manifest(CELL, lambda m: m["server"]["counters"]["run"].update(get_misses=30))
    cells, values = parse()
    assert sentence(cells.loc["pretend/a/rep1", "invalid"]) == (
        "the server counted 30 misses among the 1000 reads that YCSB reports as OK, more than the "
        "0.10% that the study allows"
    )
    overall = values.query("phase == 'run' and operation == 'overall'").set_index("metric").value
    assert overall["missed"] == 30
    assert overall["goodput"] == 1970 / 0.5
    declared = (
        "expected_failures:\n"
        "- {store: pretend, kind: misses, operation: read, up_to: 0.05, reason: r}\n"
    )
    pretend_study.write_text(pretend_study.read_text() + declared)
    assert parse()[0].loc["pretend/a/rep1", "invalid"] == ""


def test_outcomes_are_those_of_the_measured_phase(have, monkeypatch):
    monkeypatch.setenv("PRETEND_CLIENT", "failed-run")
    have()
    parse()
    outcomes = pd.read_csv("results/small/outcomes.csv", keep_default_na=False, dtype=str)
    assert outcomes[["kind", "operation", "name", "count"]].values.tolist() == [
        ["client", "", "kvstudy", ""],
        ["status", "read", "OK", "1000.0"],
        ["status", "update", "OK", "800.0"],
        ["status", "update", "ERROR", "200.0"],
        ["counter", "", "run", "2000.0"],
    ]


def test_every_hole_has_a_reason(pretend_study, monkeypatch):
    monkeypatch.setenv("PRETEND_SERVER", "dies-at-start")
    with pytest.raises(KvstudyError):
        measure()
    gap = Path("results/small/gaps/unbound.json")
    kvstudy(
        *("gap", "unbound", "--study", "config/studies/small/study.yaml", "--provider", "native"),
        *("--raw", "results/small/raw", "--output", str(gap)),
    )
    cells, _ = parse()
    failed = cells.loc["pretend/a/rep1"]
    assert failed.status == "failed"
    assert "ended with exit status 1 before it was ready" in failed.reason
    assert "\n" not in failed.reason
    assert cells.loc["pretend/c/rep1", ["status", "reason"]].tolist() == [
        "not measured",
        "no-logs",
    ]
    reason = cells.loc["unbound/a/rep1", "reason"]
    assert sentence(reason) == "kvstudy has no YCSB binding for Unbound"


OTHER = "pretend/c/r1000_o2000_t2/rep1"


def component(name: str, /, **changes: str):
    """A change of one component of the machine."""

    def change(manifest: dict) -> None:
        (part,) = (part for part in manifest["environment"] if part["component"] == name)
        part.update(changes)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m["server"].update(provider="docker"), "provider: native (1 cell, "),
        (lambda m: m["server"].update(version="1.3.0"), "server of pretend: 1.2.3 (1 cell, "),
        (lambda m: m["client"].update(kind="ycsb.home"), "YCSB client: kvstudy (1 cell, "),
        (
            lambda m: m["client"]["jars"].update({"jedis-9.0.jar": "0"}),
            "jars of the client for pretend: without them (1 cell, "
            f"{CELL}); jedis-9.0.jar (1 cell, {OTHER})",
        ),
        (
            lambda m: m["client"]["jars"].update({"kvstudy-bindings.jar": "f" * 64}),
            f"kvstudy-bindings.jar (ffffffffffff) (1 cell, {OTHER})",
        ),
        (component("CPU", name="Z80"), f"Z80 (1 cell, {OTHER})"),
        (
            component("CPU", details="cores cores=8 threads=64"),
            f"64 hardware threads usable (1 cell, {OTHER})",
        ),
        (component("Memory", name="640 kB"), f"640 kB (1 cell, {OTHER})"),
        (component("OS", name="CP/M"), f"CP/M (1 cell, {OTHER})"),
        (component("Kernel", name="Linux 0.1"), f"Linux 0.1 (1 cell, {OTHER})"),
        (component("Java", name="1.0"), f"Java: pretended java (1 cell, {CELL}); 1.0 (1 cell"),
        (
            lambda m: m["java"]["flags"].append("-XX:+UseZGC"),
            f"Java flags: none (1 cell, {CELL}); -XX:+UseZGC (1 cell, {OTHER})",
        ),
        (
            lambda m: m.update(pinning={"server": "0", "client": "1"}),
            f"cores of server and client: not bound (1 cell, {CELL}); server 0, client 1 (1 cell",
        ),
    ],
)
def test_cells_that_were_not_measured_alike_are_refused(pretend_study, change, message, have):
    in_order(pretend_study)
    have(CELL, OTHER)
    edit_manifest(OTHER, change)
    with pytest.raises(KvstudyError) as error:
        parse()
    assert message in str(error.value)
    assert "set mixed: true in config/config.yaml" in str(error.value)
    kvstudy("parse", "small", "--mixed", "true")
    (mixed,) = environment()["mixed"]
    assert [side["cells"] for side in mixed["sides"]] == [1, 1]
    with pytest.raises(KvstudyError, match="were not measured under the same conditions"):
        parse()


def in_order(study: Path) -> None:
    """Gives the study an order in which CELL comes before OTHER."""
    study.write_text(study.read_text() + "seed: 5\n")


def environment() -> dict:
    return json.loads(Path("results/small/environment.json").read_text())


def test_what_changes_by_itself_is_no_difference(have):
    have(CELL, OTHER)

    def later(manifest: dict) -> None:
        manifest["load_average_before"] = [9.0, 9.0, 9.0]
        manifest["findings"] = []
        component("Memory", details="8.0 GiB swap")(manifest)
        component("Disk", details="/dev/sdz")(manifest)
        # The size of the heap follows that of the memory to the byte.
        manifest["java"]["flags"] = ["-XX:MaxHeapSize=1"]

    edit_manifest(OTHER, later)
    parse()
    assert environment()["mixed"] == []


def test_findings_of_all_cells_are_told_together(pretend_study, have):
    in_order(pretend_study)
    cells = [CELL, OTHER, "pretend/a/r1000_o2000_t2/rep2"]
    for number, cell in enumerate(cells):
        have(cell)

        def result(manifest: dict, number: int = number) -> None:
            load = {"key": "load", "title": "Load", "value": f"{number}", "number": number}
            busy = {"good": number == 0, "consequence": "Slow." if number else ""}
            vm = {"key": "vm", "title": "VM", "value": "yes", "good": False, "consequence": "C."}
            manifest["findings"] = [vm, load | busy]

        edit_manifest(cell, result)
    parse()
    reply = environment()
    assert reply["looked_at"] == 3
    assert [(each["key"], each["values"], each["cells"]) for each in reply["findings"]] == [
        ("vm", ["yes"], 3),
        ("load", ["0"], 1),
        ("load", ["1", "2"], 2),
    ]


def edited(raw: Path) -> None:
    log = raw / "run.out"
    log.write_text(log.read_text().replace("4000.0", "9000.0"))


def shortened(raw: Path) -> None:
    sums = raw / "SHA256SUMS"
    kept = [line for line in sums.read_text().splitlines() if not line.endswith("run.out")]
    sums.write_text("".join(f"{line}\n" for line in kept))
    edited(raw)


def emptied(raw: Path) -> None:
    (raw / "SHA256SUMS").write_text("")
    edited(raw)


def replaced(name: str, content: bytes):
    """Another content with a right checksum, as if YCSB had left it so."""

    def change(raw: Path) -> None:
        (raw / name).write_bytes(content)
        (raw / "SHA256SUMS").unlink()
        write_sums(raw)

    return change


STATUS = b"2026-02-31 10:00:00:000 0 sec: 0 operations; 1 current ops/sec; \n"


@pytest.fixture
def two_cells(have) -> None:
    have(CELL, OTHER)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (edited, "run.out: differs from its checksum in SHA256SUMS: it was edited or cut off"),
        (lambda raw: (raw / "run.out").unlink(), "run.out: cannot be read: No such file"),
        (lambda raw: (raw / "manifest.json").write_bytes(b"\xff{"), "manifest.json: differs from"),
        (emptied, "SHA256SUMS: lacks commands.sh"),
        (shortened, "SHA256SUMS: lacks run.out"),
        (lambda raw: (raw / "SHA256SUMS").write_bytes(b"\xff\x00"), "SHA256SUMS: cannot be read"),
        (replaced("run.READ.hdr", b"0.0,1.0,0.1,HISTxx\n"), "run.READ.hdr: line 1: '0.0,1.0,0.1,"),
        # What is quoted of it has no character that a report cannot show.
        (replaced("run.READ.hdr", "\0\u05d0\x1b".encode()), "run.READ.hdr: line 1: '???' is no"),
        (replaced("run.READ.hdr", b"\xff\xfe"), "run.READ.hdr: cannot be read"),
        (replaced("run.err", STATUS), "run.err: line 1: there is no time '2026-02-31"),
        (replaced("run.out", b"\xff\xfe\x00"), "run.out: no [OVERALL] results of YCSB in it"),
        (replaced("manifest.json", b"[]"), "manifest.json: cannot be read (TypeError"),
        (
            replaced("manifest.json", b"[" * 100_000),
            "manifest.json: cannot be read (RecursionError",
        ),
        (replaced("processes.csv", b"\xff"), "processes.csv: cannot be read"),
    ],
)
def test_a_cell_that_cannot_be_read_is_a_failed_one(two_cells, damage, reason):
    """Its files are kept, and the others count."""
    raw = Path("results/small/raw", CELL)
    damage(raw)
    damaged = {path.name: path.read_bytes() for path in raw.iterdir()}
    for _ in range(2):
        cells, values = parse()
        assert cells.loc["pretend/a/rep1", "status"] == "failed"
        assert cells.loc["pretend/a/rep1", "reason"].startswith(reason)
        assert cells.loc["pretend/c/rep1", "status"] == "measured"
        assert set(values["workload"]) == {"c"}
        assert not raw.exists()
        (kept,) = Path("results/small/failed", CELL).iterdir()
        files = {path.name: path.read_bytes() for path in kept.iterdir()}
        data = json.loads(files.pop("failure.json"))
        assert data == {"reason": cells.loc["pretend/a/rep1", "reason"]}
        assert files == damaged


def test_where_nothing_can_be_read_nothing_is_moved_away(two_cells):
    """So would it be for a program that has changed, with all that was measured in weeks."""
    raw = [Path("results/small/raw", cell) for cell in (CELL, OTHER)]
    for folder in raw:
        edited(folder)
    with pytest.raises(KvstudyError, match="none of 2 measured cells can be read"):
        parse()
    assert all((folder / "run.out").is_file() for folder in raw)


def tables() -> dict[str, bytes]:
    parse()
    return {path.name: path.read_bytes() for path in Path("results/small").glob("*.csv")}


def test_a_cell_is_read_again_only_when_it_changed(two_cells, pretend_study, monkeypatch):
    first = tables()
    read = []

    def read_cell(study, cell, raw):
        read.append(cell.path)
        return whole(study, cell, raw)

    whole = collect.read_cell
    monkeypatch.setattr(collect, "read_cell", read_cell)
    assert tables() == first
    text = pretend_study.read_text()
    pretend_study.write_text(text.replace("repetitions: 2", "repetitions: 3"))
    assert len(tables()["cells.csv"].splitlines()) > len(first["cells.csv"].splitlines())
    assert read == []
    edit_manifest(CELL, lambda manifest: manifest["seconds"].update(total=7777.5))
    assert b",7777.5," in tables()["cells.csv"]
    assert read == [CELL]
    # What was kept is cut off, or of another version.
    for kept in Path(".snakemake/cells/small").rglob("rep1"):
        kept.write_bytes(kept.read_bytes()[:-1])
    pretend_study.write_text(text)
    tables()
    assert sorted(read[1:]) == sorted([CELL, OTHER])
    pretend_study.write_text(
        f"{text}\nexpected_failures:\n- {{store: pretend, operation: read, up_to: 1, reason: so}}\n"
    )
    tables()
    assert len(read) == 5


def test_many_cells_are_read_by_several_processes(two_cells, monkeypatch):
    alone = tables()
    shutil.rmtree(".snakemake/cells")
    monkeypatch.setattr(collect, "MANY", 1)
    assert tables() == alone
    shutil.rmtree(".snakemake/cells")
    edited(Path("results/small/raw", CELL))
    table, _ = parse()
    assert table.loc["pretend/a/rep1", "status"] == "failed"
    assert table.loc["pretend/c/rep1", "status"] == "measured"
    edit_manifest(OTHER, lambda manifest: manifest["cell"].update(records=7))
    with pytest.raises(KvstudyError, match=r"measured with other parameters .* records was 7"):
        parse()


def test_an_interruption_is_no_damaged_file(tmp_path):
    for error in (Interrupted("stopped by SIGINT"), MemoryError(), ModuleNotFoundError()):
        with pytest.raises(type(error)), reading(tmp_path, "its files"):
            raise error


def test_a_cell_that_could_not_be_read_can_be_measured_again(two_cells):
    edited(Path("results/small/raw", CELL))
    parse()
    measure()
    cells, _ = parse()
    assert set(cells.loc[["pretend/a/rep1", "pretend/c/rep1"], "status"]) == {"measured"}


def test_a_file_that_nobody_reads_may_lie_beside_the_logs(two_cells):
    """Somebody unpacked a log to look at it."""
    Path("results/small/raw", CELL, "run.latencies").write_text("READ,1,2\n")
    cells, _ = parse()
    assert cells.loc["pretend/a/rep1", "status"] == "measured"


def test_a_manifest_that_lacks_what_is_compared_is_unreadable(two_cells):
    edit_manifest(CELL, lambda m: m.update(server=[]))
    cells, _ = parse()
    assert cells.loc["pretend/a/rep1", "status"] == "failed"


def test_a_cell_that_cannot_be_read_nor_moved_is_named(two_cells):
    edited(Path("results/small/raw", CELL))
    Path("results/small/failed").write_text("a file in the way")
    with pytest.raises(
        KvstudyError, match=r"differs from.*cannot be moved to results/small/failed"
    ):
        parse()


def test_results_that_may_not_be_read_are_named(pretend_study, have):
    have()
    cell = find_cell(plan(load_study(pretend_study)), CELL)
    Path("results/small/raw/pretend").chmod(0)
    # Root may read everything: be somebody else for a moment.
    user = os.geteuid()
    if user == 0:
        os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        with pytest.raises(KvstudyError, match=r"rep1: cannot be read: Permission denied; give"):
            is_measured("small", cell)
    finally:
        os.seteuid(user)
        Path("results/small/raw/pretend").chmod(0o755)


def test_a_cell_of_other_parameters_is_refused(have):
    have()
    edit_manifest(CELL, lambda m: m["cell"]["properties"].update(readproportion="0.9"))
    with pytest.raises(KvstudyError, match=r"readproportion was 0\.9, is now 0\.5"):
        parse()


def edit_manifest(cell: str, change) -> None:
    """Change the manifest and mend its checksum, as a careful forger would."""
    raw = Path("results/small/raw") / cell
    manifest = json.loads((raw / "manifest.json").read_text())
    change(manifest)
    (raw / "manifest.json").write_text(json.dumps(manifest))
    (raw / "SHA256SUMS").unlink()
    write_sums(raw)


def test_the_environment_keeps_what_was_planned(pretend_study, have):
    """A run that is copied to another machine is compared without its study file."""
    have()
    parse()
    environment = json.loads(Path("results/small/environment.json").read_text())
    study = load_study(pretend_study)
    kept = environment["study"]
    assert (kept["name"], kept["seed"]) == ("small", study.seed)
    assert kept["repetitions"] == study.repetitions
    assert [store["name"] for store in kept["stores"]] == study.store_names
    assert kept["stores"][0] | {"title": ""} == {
        "name": "pretend",
        "folder": "pretend",
        "title": "",
        "options": {},
    }
    workload = next(each for each in kept["workloads"] if each["name"] == "a")
    assert workload["title"] == "Workload A"
    assert workload["properties"]["readproportion"] == "0.5"
    assert "recordcount" not in workload["properties"]
