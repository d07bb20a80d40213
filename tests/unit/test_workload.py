"""Workload files are read strictly: YCSB would ignore a typing error."""

from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.study.workload import load_workload, operations_of

WORKLOADS = Path(__file__).parents[2] / "workloads"


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("a", ["read", "update"]),
        ("b", ["read", "update"]),
        ("c", ["read"]),
        ("d", ["read", "insert"]),
        ("e", ["insert", "scan"]),
        ("f", ["read", "read-modify-write"]),
        ("insert", ["insert"]),
    ],
)
def test_operations_of_the_shipped_workloads(name, operations):
    assert operations_of(load_workload(WORKLOADS / name)) == operations


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "readpropotion=0.5",
            ":2: unknown property 'readpropotion'; did you mean 'readproportion'",
        ),
        ("readproportion 0.5", ":2: 'readproportion 0.5' is not a line 'name=value'"),
        ("readproportion=half", "readproportion: 'half' is not a number"),
        ("updateproportion=-0.5", "updateproportion: -0.5 is negative"),
        ("recordcount=-1", "recordcount: -1 is negative"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    file = tmp_path / "mine"
    file.write_text(f"# my workload\n{line}\n")
    with pytest.raises(KvstudyError) as error:
        load_workload(file)
    assert f"{file}" in str(error.value)
    assert message in str(error.value)
