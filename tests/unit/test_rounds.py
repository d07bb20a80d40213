"""Workloads with rounds: what a cell must have done, on what a real Redis did."""

from pathlib import Path

import pytest
import yaml
from kvstudy.analyse.tidy.cell import rounds
from kvstudy.analyse.tidy.files import ROUNDS
from kvstudy.analyse.tidy.outcomes import invalid
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.logs.ycsb.check import read_rounds
from kvstudy.logs.ycsb.log import parse
from kvstudy.measure.client import Client, phase_command
from kvstudy.stores.definition import load_store
from kvstudy.study.cells import Cell, plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import write_sums
from kvstudy.study.workload import (
    Rounds,
    hits_of,
    key_of_read,
    load_workload,
    operations_of,
    rounds_of,
)
from kvstudy.study.ycsb_properties import ROUNDS_PROPERTIES

DATA = Path(__file__).parents[1] / "data/ycsb"
PROPERTIES_OF_FILE = tuple(sorted(load_workload(Path("workloads/rounds")).items()))


def cell(records: int = 10, reads: int = 10_000) -> Cell:
    """The cell whose logs were recorded."""
    return Cell("redis", "rounds", records, reads, 1, None, 1, PROPERTIES_OF_FILE, "redis")


def log():
    return parse((DATA / "redis-rounds.out").read_text(), "run.out")


def test_the_pattern_has_33_keys_of_which_few_records_hold_few():
    keys = {key_of_read(number) for number in range(10_000)}
    assert len(keys) == 33
    assert min(keys) == 1
    assert max(keys) <= 200
    assert [hits_of(records, 10_000) for records in (1, 10, 100, 200)] == [500, 1500, 5900, 10_000]
    # As the published program computes it, step by step from the left.
    for number in (0, 1, 15, 199, 200, 9_999):
        assert key_of_read(number) == 1 + ((number % 200) * number) % 200


def test_operations_of_a_cell():
    """Three warm-up rounds and five; the first inserts are the load phase."""
    of = rounds_of(dict(PROPERTIES_OF_FILE))
    assert of == Rounds(warmup=3, measured=5, deletes=10_000)
    assert of.counts(100_000, 10_000) == {"insert": 100_000, "read": 10_000, "delete": 10_000}
    assert cell(10).executed == 8 * (10 + 10_000 + 10) - 10
    assert rounds_of({"workload": "site.ycsb.workloads.CoreWorkload"}) is None
    assert operations_of(dict(PROPERTIES_OF_FILE)) == ["read", "insert", "delete"]


def test_the_client_gets_the_sum_of_all_rounds_and_the_reads_of_one(tmp_path):
    store = load_store(Path("envs/stores/redis"))
    command = phase_command(
        Client("kvstudy", "", "db", ()), store, cell(), "run", "127.0.0.1", 1, tmp_path
    )
    for given in (
        "operationcount=80150",
        "rounds.reads=10000",
        f"rounds.file={tmp_path}/rounds.csv",
    ):
        assert given in command


def test_rounds_of_a_recorded_cell():
    rows = read_rounds(DATA / "redis-rounds.csv", cell(), log())
    assert len(rows) == 8 * 3 - 1
    reads = rows[rows["operation"] == "read"]
    assert set(reads["operations"]) == {10_000}
    assert set(reads["ok"]) == {1500}
    assert (rows["ns"] > 0).all()
    # YCSB measures the same operations in whole us, and with a little less around them.
    section = log().sections["READ"]
    assert (section.operations, section.failed) == (8 * 1500, 8 * 8500)


def test_the_tidy_rows_say_which_rounds_count(tmp_path):
    (tmp_path / "rounds.csv").write_bytes((DATA / "redis-rounds.csv").read_bytes())
    write_sums(tmp_path)
    rows = rounds(tmp_path, cell(), log())
    assert set(rows.columns) == set(ROUNDS.columns[4:])
    assert set(rows.loc[rows["counted"] == "no", "round"]) == {1, 2, 3}
    assert set(rows.loc[rows["counted"] == "yes", "round"]) == {4, 5, 6, 7, 8}
    assert set(rows["records"]) == {10}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("3,read,10000,1500", "3,read,10000,1499", "1499 of 10000 operations read were OK, it"),
        ("3,read,10000,1500", "3,read,10000,1501", "should be 1500 of 10000; the store lost or"),
        ("4,insert,10,10", "4,insert,9,9", "should be 10 of 10"),
        ("4,insert,10,10", "9,insert,10,10", "its 23 lines are not one for each of the 23 rounds"),
        ("round,", "runde,", "not the file of a workload with rounds"),
        ("4,insert,10,10,", "4,insert,10,10,x", "not the file of a workload with rounds"),
    ],
)
def test_a_round_that_did_something_else_is_a_broken_measurement(tmp_path, old, new, message):
    path, text = tmp_path / "rounds.csv", (DATA / "redis-rounds.csv").read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(KvstudyError, match=message) as error:
        read_rounds(path, cell(), log())
    assert str(path) in str(error.value)


def test_a_file_that_is_cut_off_or_missing_is_a_broken_measurement(tmp_path):
    lines = (DATA / "redis-rounds.csv").read_text().splitlines(keepends=True)
    path = tmp_path / "rounds.csv"
    path.write_text("".join(lines[:-1]))
    with pytest.raises(KvstudyError, match="its 22 lines are not one for each of the 23"):
        read_rounds(path, cell(), log())
    with pytest.raises(KvstudyError, match=r"none.csv: cannot be read"):
        read_rounds(tmp_path / "none.csv", cell(), log())


def test_ycsbs_own_counts_must_be_the_same():
    other = log()
    other.sections["DELETE"].operations -= 1
    with pytest.raises(KvstudyError, match="log counts 79 of 79 operations delete as OK, the"):
        read_rounds(DATA / "redis-rounds.csv", cell(), other)


def study(tmp_path: Path, **changes) -> Path:
    data = {
        "name": "small",
        "title": "Small",
        "question": "Which?",
        "stores": ["redis", "mysql"],
        "workloads": ["rounds", "a"],
        "parameters": {"records": [1, 1000], "operations": 10, "threads": 1},
        "repetitions": 1,
    }
    path = tmp_path / "small/study.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(data | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"parameters": {"records": 1, "operations": 10, "threads": [1, 2]}},
            r"workloads\[0\]: 'rounds': threads: the rounds have one thread; give 1",
        ),
        (
            {"workloads": [{"name": "rounds", "properties": {"fieldcount": 10}}]},
            "fieldcount: a record of the rounds is one field; give 1",
        ),
        (
            {"workloads": [{"name": "rounds", "properties": {"rounds.measured": 0}}]},
            "rounds.measured: 0 is too small; give a whole number from 1",
        ),
        (
            {"parameters": {"records": 1, "operations": 10, "seconds": 5}},
            "'rounds' has rounds, which end by their counts; remove seconds",
        ),
        ({"open_loop": True}, "open_loop: workload 'rounds' has rounds, which have no rate"),
    ],
)
def test_parameters_that_do_not_fit_rounds(tmp_path, changes, message):
    with pytest.raises(KvstudyError, match=message):
        load_study(study(tmp_path, **changes))


TABLE = {
    "name": "t",
    "kind": "relative",
    "caption": "T",
    "workload": "rounds",
    "operation": "insert",
    "baseline": "mysql",
    "store": "redis",
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workload": "a"}, r"tables\[0\].workload: 'a' has no rounds, so a relative table"),
        ({"workload": "b"}, r"tables\[0\].workload: unknown workload 'b'"),
        ({"baseline": "mysq"}, r"tables\[0\].baseline: unknown store 'mysq'; did you mean 'mysql'"),
        ({"operation": "scan"}, r"tables\[0\].operation: must be one of insert, read, delete, but"),
    ],
)
def test_a_table_of_what_is_not_there(tmp_path, change, message):
    with pytest.raises(KvstudyError, match=message):
        load_study(study(tmp_path, tables=[TABLE | change]))


def test_misses_that_are_expected_of_few_records_only(tmp_path):
    expected = {"store": "redis", "operation": "read", "up_to": 0.85, "reason": "Few."}
    loaded = load_study(study(tmp_path, expected_failures=[expected | {"records": [10]}]))
    assert invalid(loaded, cell(10), log(), 0) == []
    (reason,) = invalid(loaded, cell(20), log(), 0)
    assert sentence(reason).startswith("85.00% of read operations failed (68000 NOT_FOUND)")


def test_small_sizes_stay_as_they_are_at_every_scale(tmp_path):
    path = study(tmp_path, workloads=["rounds"])
    sizes = {(one.records, one.operations) for one in plan(load_study(path), 0.001)}
    assert sizes == {(1, 10), (1000, 10)}


def test_the_workload_file_is_what_the_class_takes_by_itself():
    defaults = {name: each.default for name, each in ROUNDS_PROPERTIES.items()}
    assert {name: dict(PROPERTIES_OF_FILE)[name] for name in ROUNDS_PROPERTIES} == defaults
