"""Workload files, read strictly since YCSB would ignore a typing error, and their records."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure.client import Client, check_class
from kvstudy.study.probe import other_records, planned
from kvstudy.study.workload import (
    NamedField,
    field_names,
    load_workload,
    named_record,
    operations_of,
)
from kvstudy.study.ycsb_properties import CORE, RECORD

from . import small_results as small

WORKLOADS = Path(__file__).parents[2] / "workloads"
PRODUCT = ["name", "price", "availability", "description", "category"]
NAMED = f"workload={RECORD}\n".encode()
YCSBS = f"workload={CORE}\n".encode()


def workload(folder: Path, content: bytes) -> dict[str, str]:
    path = folder / "mine"
    path.write_bytes(content)
    return load_workload(path)


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
        ("product-read", ["read", "update", "scan"]),
        ("product-update", ["read", "update", "read-modify-write"]),
        ("product-insert", ["read", "update", "insert"]),
    ],
)
def test_operations_of_the_shipped_workloads(name, operations):
    assert operations_of(load_workload(WORKLOADS / name)) == operations


def test_fields_of_records(tmp_path):
    for name in ("product-read", "product-update", "product-insert"):
        assert field_names(load_workload(WORKLOADS / name)) == PRODUCT
    assert field_names(load_workload(WORKLOADS / "a")) == [f"field{i}" for i in range(10)]
    assert field_names(workload(tmp_path, b"fieldcount=2\nfieldnameprefix=f\n")) == ["f0", "f1"]


def test_a_record_is_described():
    record = named_record(load_workload(WORKLOADS / "product-read"))
    assert record.fields[1] == NamedField("price", "number", 1, 4)
    assert (record.lengths, record.key_prefix) == ("uniform", "prod")
    assert named_record(load_workload(WORKLOADS / "a")) is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"readproportion=0.5\nreadproportion=0.6\n", ":2: 'readproportion' appears twice, f"),
        (b"table=a\\\n", ":1: has a backslash, which YCSB drops; remove it"),
        (b"readproportion=nan\n", "readproportion: 'nan' is not a number; give one"),
        (b"recordcount=inf\n", "recordcount: 'inf' is not a number; give one"),
        (b"fieldcount=" + b"9" * 5000, "9...' is not a number; give one"),
        (b"fieldcount=none\n", "fieldcount: 'none' is not a number; give one"),
        (b"a\0b=1\n", "line 1: has the control character '\\x00'; remove it"),
        (b"\xff=1\n", "cannot be read"),
        (b"#\nreadpropotion=0.5\n", ":2: readpropotion: unknown property; did you mean 'readpro"),
        (b"#\nreadproportion 0.5\n", ":2: 'readproportion 0.5' is not a line 'name=value'"),
        (b"readproportion=half\n", "readproportion: 'half' is not a number"),
        (b"updateproportion=-0.5\n", "updateproportion: -0.5 is negative"),
        (b"recordcount=-1\n", "recordcount: -1 is negative"),
        (b"x" * 10**6 + b"=1\n", ":1: xxx"),
        (NAMED, "record.fields: is missing"),
        (NAMED + b"record.fields=a:text:2-1\n", "'a:text:2-1': give each field as"),
        (NAMED + b"record.fields=A:text:1-2\n", "names in lower case"),
        (NAMED + b"record.fields=a:blob:1-2\n", "'a:blob:1-2': give each field as"),
        (NAMED + b"record.fields=a:text:1-2 a:text:1-2\n", "'a' appears twice"),
        (NAMED + b"record.felds=a:text:1-2\n", ":2: record.felds: unknown property"),
        # CoreWorkload would ignore it, wherever the class is in the file.
        (b"record.fields=a:text:1-2\n" + YCSBS, ":1: record.fields: unknown property"),
    ],
    ids=lambda value: None if len(value) < 100 else "",
)
def test_a_file_that_ycsb_would_read_otherwise(tmp_path, content, message):
    with pytest.raises(KvstudyError) as error:
        workload(tmp_path, content)
    assert str(error.value).startswith(f"{tmp_path / 'mine'}:")
    assert message in str(error.value)
    assert len(str(error.value)) < 2500


def test_what_another_class_reads_is_its_own_matter(tmp_path):
    content = b"workload=site.ycsb.workloads.RestWorkload\nurl.prefix=http://x\n"
    assert workload(tmp_path, content)["url.prefix"] == "http://x"


def test_a_workload_class_has_to_be_on_the_class_path(tmp_path):
    jar = tmp_path / "some.jar"
    with zipfile.ZipFile(jar, "w") as content:
        content.writestr("my/Workload.class", "")
    client = Client("kvstudy", f"{tmp_path}/*", "db", (jar,))
    check_class(client, "my.Workload")
    with pytest.raises(KvstudyError) as error:
        check_class(client, "my.Worklaod")
    assert "workload=my.Worklaod: no jar of the class path" in str(error.value)
    assert str(tmp_path) in str(error.value)
    with pytest.raises(KvstudyError, match=r"leave ycsb\.home empty"):
        check_class(client, RECORD)


def test_probes_have_the_records_of_the_study():
    def shape(*workloads: str) -> dict[str, str]:
        study = small.study(workloads=list(workloads), tables=[], figures=[])
        return planned(study)["redis"]["shape"]

    products = shape("product-read", "product-update")
    assert field_names(products) == PRODUCT
    assert products["record.keyprefix"] == "prod"
    assert shape("a") == {}


def test_probes_have_the_records_of_workload_files(tmp_path, monkeypatch):
    """They once had those of YCSB's defaults, whatever the files said."""
    monkeypatch.setattr("kvstudy.study.workload.WORKLOADS", tmp_path)
    text = "workload=site.ycsb.workloads.CoreWorkload\nfieldlength=200\nfieldcount=10\n"
    for name in ("wide", "wider", "a"):
        (tmp_path / name).write_text(text)
    uses = ["wide", "wider", {"name": "a", "properties": {"fieldlength": 100}}]
    study = small.study(workloads=uses, tables=[], figures=[])
    assert planned(study)["redis"]["shape"] == {"fieldlength": "200"}
    assert other_records(study) == {(store, "a") for store in study.store_names}
    # A store has the records of its own workloads.
    uses[0], uses[1] = ({"name": name, "stores": ["riak"]} for name in uses[:2])
    study = small.study(workloads=uses, tables=[], figures=[])
    shapes = {name: plan["shape"] for name, plan in planned(study).items()}
    assert shapes == {"redis": {}, "riak": {"fieldlength": "200"}, "memcached": {}}
    assert other_records(study) == {("riak", "a")}
