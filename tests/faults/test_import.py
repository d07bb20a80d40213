"""Faults in logs that others measured, and in the table that says which cell each is."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.faults.scene import digest, edited, says

DATA = Path(__file__).parents[1] / "data" / "imports"
LOGS = Path("logs")
STUDY = Path("config/studies/jan")
RAW = Path("results/jan/raw")
ONE = LOGS / "windows/redis-c-run2.log"
CELL = "redis/c/2"
OTHERS = {
    *("memcached/a/1", "memcached/a/2", "redis/a/1", "redis/a/2"),
    *("redis/c/1", "redis/insert/1"),
}

Edit = Callable[[bytes], bytes]


def to(old: str, new: str, count: int = 0) -> Edit:
    """Put ``new`` in place of what the pattern finds, in PowerShell's encoding."""

    def change(content: bytes) -> bytes:
        after, result = re.subn(old, new, content.decode("utf-16"), count=count)
        assert result, f"{old!r} is not there"
        return after.encode("utf-16")

    return change


def cut(share: float) -> Edit:
    return lambda content: content[: int(len(content) * share) // 2 * 2]


# What is wrong with one log, and why its cell fails; all others are imported.
FAILED_CELLS: list[tuple[str, Edit, str]] = [
    ("cut off late", cut(0.95), "cut off|not whole"),
    ("cut off early", cut(0.6), r"OVERALL|cut off"),
    ("a rate without end", to(r"(Throughput\S+) .*", r"\1 Infinity"), "Throughput"),
    ("another rate", to(r"(Throughput\S+) .*", r"\1 9"), "OVERALL"),
    ("a rate below 0", to(r"(Throughput\S+) .*", r"\1 -9"), "OVERALL"),
    ("a run time of words", to(r"(RunTime\S+) .*", r"\1 long"), "long"),
    ("a latency below 0", to(r"(MinLatency\S+) .*", r"\1 -5"), "-5"),
    ("no latency", to(r"(AverageLatency\S+) .*", r"\1 NaN"), "NaN|nan"),
    ("an endless latency", to(r"(MaxLatency\S+) .*", r"\1 Infinity"), "Inf|inf"),
    ("a giant latency", to(r"(AverageLatency\S+) .*", r"\1 1e23"), "1e.?23"),
    ("the most below the least", to(r"(MaxLatency\S+) .*", r"\1 0"), "[Mm]ax"),
    ("p95 above p99", to(r"(95thPercentile\S+) .*", r"\1 99999999"), "95|[Mm]ax"),
    ("a contradiction", to(r"(Return=OK), \d+", r"\1, 7"), "contradicts itself"),
    ("a word for a count", to(r"(Return=OK), \d+", r"\1, many"), "many"),
    ("a count below 0", to(r"(Return=OK), \d+", r"\1, -1"), "-1|contradicts"),
    ("all failed", to(r"Return=OK", "Return=ERROR"), "contradicts|no operation went well|OVERALL"),
]
# What is wrong with one log so that it cannot be told what it is, or that it is none.
IGNORED = r"ignored: windows/redis-c-run2\.log"
OTHER_FILES: list[tuple[str, Edit, str]] = [
    ("nothing in it", lambda content: b"", IGNORED),
    (
        "bytes of no text",
        lambda content: bytes([0, 255, 1] * 999),
        f"{IGNORED}: no text",
    ),
    ("a letter", lambda content: b"Dear Jan,\n", f"{IGNORED}: no log of YCSB"),
    (
        "a picture",
        lambda content: b"\x89PNG\r\n\x1a\n\x00",
        IGNORED,
    ),
]
# What is wrong in a row of import.csv.
ROWS: list[tuple[str, dict[str, str], str]] = [
    (
        "an unknown store",
        {"store": "redos"},
        "column store.*'redos' is no folder of envs/stores.*did you mean 'redis'",
    ),
    ("an unknown workload", {"workload": "z"}, "column workload.*'z' is no file of workloads"),
    ("a word for a number", {"records": "many"}, "records: 'many' is no whole number"),
    ("half a record", {"records": "1.5"}, r"records: '1\.5' is no whole number"),
    ("records below 0", {"records": "-5"}, "records: '-5' is no whole number"),
    ("no records", {"records": "0"}, "records"),
    ("endless records", {"records": "9" * 30}, "records"),
    (
        "more digits than Python reads",
        {"records": "9" * 5000},
        "records: '9.*9' is no whole number",
    ),
    ("digits of another script", {"records": "١٢"}, "records|imported"),
    ("an unknown phase", {"phase": "both"}, "phase: 'both'; give load or run"),
    ("an empty field", {"records": ""}, "complete records"),
    ("a cell twice", {"repetition": "1"}, "are the same store, workload, phase and repetition"),
    ("other threads", {"threads": "8"}, "threads is 8, but the log says 4"),
    ("other seconds", {"seconds": "9"}, "with different records, operations, threads or seconds"),
    ("an open question", {"question": "4 or 8?"}, r"4 or 8\?; correct the row where it is wrong"),
    ("a load without a run", {"workload": "c-2", "phase": "load"}, "has no run. Give the load"),
    ("a file that is not there", {"file": "windows/nothing.log"}, "no log of YCSB of that name"),
    ("a file elsewhere", {"file": "../../etc/passwd"}, "no log of YCSB of that name"),
    ("a repetition too many", {"repetition": "9"}, r"study\.yaml: has no cell|repetition"),
    ("a giant repetition", {"repetition": "9" * 12}, r"study\.yaml: has no cell|repetition"),
]
TABLES: list[tuple[str, Edit, str]] = [
    ("nothing", lambda content: b"", r"import\.csv: no CSV"),
    ("only a header", lambda content: content.splitlines(True)[0], r"import\.csv: no rows"),
    ("not UTF-8", lambda content: content + b"\xff\xfe", r"import\.csv: cannot be read"),
    ("UTF-16", lambda content: content.decode().encode("utf-16"), r"import\.csv: cannot be read"),
    ("a column less", lambda content: content.replace(b"threads", b"treads"), "no column threads"),
    ("a zero byte", lambda content: content.replace(b"redis,c", b"re\x00dis,c"), r"import\.csv"),
    ("an open quotation mark", lambda content: content + b'"a,b\n' * 3, r"import\.csv"),
    ("a field too long", lambda content: content + b"x" * 200_000 + b"\n", r"import\.csv"),
]


@pytest.fixture
def imported(scene):
    """Seven cells of real logs are imported."""
    shutil.copytree(DATA, LOGS)
    answer = take(scene)
    assert answer.code == 0, answer.text
    return scene


def take(scene, *more: str):
    return scene.kvstudy("import", LOGS, "--study", "jan", *more)


def results(scene) -> pd.DataFrame:
    answer = scene.kvstudy("parse", STUDY.name)
    assert answer.code == 0, answer.text
    table = pd.read_csv("results/jan/cells.csv", keep_default_na=False, dtype=str)
    keys = table.store + "/" + table.workload + "/" + table.repetition
    return table.set_index(keys)


def check_next(scene, before: pd.DataFrame) -> None:
    """Without the fault all cells are imported, with the numbers that they had."""
    answer = take(scene)
    assert answer.code == 0, answer.text
    assert "0 failed" in answer.text
    after = results(scene)
    assert (after.status == before.status).all()
    assert (after.invalid == before.invalid).all()


def ids(rows) -> list[str]:
    return [row[0] for row in rows]


@pytest.mark.parametrize(("name", "change", "message"), FAILED_CELLS, ids=ids(FAILED_CELLS))
def test_a_log(imported, name, change, message):
    before = results(imported)
    others = {cell: digest(RAW / "/".join(cell.split("/")[:2])) for cell in OTHERS - {"redis/c/1"}}
    with edited(ONE, change):
        answer = take(imported)
        says(answer, rf"failed cell redis/c/\S+/rep2: .*({message})")
        table = results(imported)
    assert answer.code == 0, answer.text
    assert table.loc[CELL, "status"] == "failed"
    assert (table.loc[sorted(OTHERS), "status"] == "measured").all()
    for cell, content in others.items():
        assert digest(RAW / "/".join(cell.split("/")[:2])) == content
    check_next(imported, before)


@pytest.mark.parametrize(("name", "change", "message"), OTHER_FILES, ids=ids(OTHER_FILES))
def test_what_is_no_log(scene, name, change, message):
    shutil.copytree(DATA, LOGS)
    with edited(ONE, change):
        answer = take(scene)
    says(answer, message)
    assert answer.code == 0, answer.text
    assert (results(scene).loc[sorted(OTHERS), "status"] == "measured").all()
    # Once the right file is there, it is a cell.
    shutil.rmtree(STUDY)
    shutil.rmtree("results/jan")
    answer = take(scene)
    assert answer.code == 0, answer.text
    assert results(scene).loc[CELL, "status"] == "measured"


@pytest.mark.parametrize(("name", "values", "message"), ROWS, ids=ids(ROWS))
def test_a_row(imported, name, values, message):
    def change(content: bytes) -> bytes:
        rows = list(csv.DictReader(content.decode().splitlines()))
        next(row for row in rows if row["file"] == "windows/redis-c-run2.log").update(values)
        with Path("changed.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return Path("changed.csv").read_bytes()

    refused(imported, change, message)


@pytest.mark.parametrize(("name", "change", "message"), TABLES, ids=ids(TABLES))
def test_the_table(imported, name, change, message):
    refused(imported, change, message)


def refused(scene, change: Edit, message: str) -> None:
    before = results(scene)
    scene.guard(RAW)
    with edited(STUDY / "import.csv", change):
        answer = take(scene)
    says(answer, message)
    assert answer.code == 2, answer.text
    assert len(answer.text) < 10_000
    check_next(scene, before)


def test_a_folder_that_is_not_there(imported):
    answer = imported.kvstudy("import", "nowhere", "--study", "jan")
    says(answer, "nowhere: no such folder")
    assert answer.code == 2


def test_a_folder_without_logs(imported):
    Path("empty").mkdir()
    answer = imported.kvstudy("import", "empty", "--study", "jan")
    says(answer, "empty: holds no log of YCSB")
    assert answer.code == 2


@pytest.mark.parametrize("name", ["../outside", "My Study", "", "smoke", "-x", "a/b"])
def test_a_name_that_is_none(imported, name):
    imported.guard(RAW, Path("config/studies/smoke"))
    answer = imported.kvstudy("import", LOGS, f"--study={name}")
    says(answer, "is no name of a study|is a study that is measured")
    assert answer.code == 2
    assert not Path("config/outside").exists()
