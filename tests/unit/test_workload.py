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
    ("content", "message"),
    [
        (b"readproportion=0.5\nreadproportion=0.6\n", ":2: 'readproportion' stands there twice, f"),
        (b"table=a\\\n", ":1: has a backslash, which YCSB drops; remove it"),
        (b"readproportion=nan\n", "readproportion: 'nan' is not a number; give one"),
        (b"recordcount=inf\n", "recordcount: 'inf' is not a number; give one"),
        (b"fieldcount=" + b"9" * 5000, "is no number of fields; give 1 to 9999"),
        (b"a\0b=1\n", "line 1: has the control character '\\x00'; remove it"),
        (b"\xff=1\n", "cannot be read"),
        (b"#\nreadpropotion=0.5\n", ":2: unknown property 'readpropotion'; did you mean 'readpro"),
        (b"#\nreadproportion 0.5\n", ":2: 'readproportion 0.5' is not a line 'name=value'"),
        (b"readproportion=half\n", "readproportion: 'half' is not a number"),
        (b"updateproportion=-0.5\n", "updateproportion: -0.5 is negative"),
        (b"recordcount=-1\n", "recordcount: -1 is negative"),
        (b"x" * 10**6 + b"=1\n", "unknown property 'xxx"),
    ],
    ids=lambda value: None if len(value) < 100 else "",
)
def test_a_file_that_ycsb_would_read_otherwise(tmp_path, content, message):
    path = tmp_path / "w"
    path.write_bytes(content)
    with pytest.raises(KvstudyError) as error:
        load_workload(path)
    assert str(error.value).startswith(f"{path}:")
    assert message in str(error.value)
    assert len(str(error.value)) < 2500
