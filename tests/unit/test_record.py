"""Records with named fields: what a workload may say, and what of it reaches a store."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure.client import Client, check_class
from kvstudy.stores import sql
from kvstudy.study.model import Study
from kvstudy.study.probe import planned
from kvstudy.study.workload import (
    CORE,
    RECORD,
    NamedField,
    field_names,
    load_workload,
    named_record,
    operations_of,
)

ROOT = Path(__file__).parents[2]
PRODUCT = ["name", "price", "availability", "description", "category"]


@pytest.fixture(autouse=True)
def _in_project(monkeypatch):
    monkeypatch.chdir(ROOT)


def workload(tmp_path: Path, *lines: str) -> dict[str, str]:
    file = tmp_path / "mine"
    file.write_text("\n".join(lines) + "\n")
    return load_workload(file)


@pytest.mark.parametrize(
    ("name", "operations"),
    [
        ("product-read", ["read", "update", "scan"]),
        ("product-update", ["read", "update", "read-modify-write"]),
        ("product-insert", ["read", "update", "insert"]),
    ],
)
def test_the_product_workloads(name, operations):
    properties = load_workload(ROOT / "workloads" / name)
    assert field_names(properties) == PRODUCT
    assert operations_of(properties) == operations


def test_a_record_is_described():
    record = named_record(load_workload(ROOT / "workloads" / "product-read"))
    assert record.fields[1] == NamedField("price", "number", 1, 4)
    assert (record.lengths, record.key_prefix) == ("uniform", "prod")
    assert named_record(load_workload(ROOT / "workloads" / "a")) is None


def test_fields_of_ycsbs_own_records(tmp_path):
    assert field_names(load_workload(ROOT / "workloads" / "a")) == [f"field{i}" for i in range(10)]
    assert field_names(workload(tmp_path, "fieldcount=2", "fieldnameprefix=f")) == ["f0", "f1"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([f"workload={RECORD}"], "record.fields: is missing"),
        ([f"workload={RECORD}", "record.fields=a:text:2-1"], "'a:text:2-1': give each field as"),
        ([f"workload={RECORD}", "record.fields=A:text:1-2"], "names in lower case"),
        ([f"workload={RECORD}", "record.fields=a:blob:1-2"], "'a:blob:1-2': give each field as"),
        ([f"workload={RECORD}", "record.fields=a:text:1-2 a:text:1-2"], "'a' stands there twice"),
        ([f"workload={RECORD}", "record.felds=a:text:1-2"], ":2: unknown property 'record.felds'"),
        # CoreWorkload would ignore it, wherever the class stands in the file.
        (["record.fields=a:text:1-2", f"workload={CORE}"], ":1: unknown property 'record.fields'"),
        (["fieldcount=none"], "fieldcount: 'none' is no number of fields"),
    ],
)
def test_a_wrong_record_is_named(tmp_path, lines, message):
    with pytest.raises(KvstudyError) as error:
        workload(tmp_path, *lines)
    assert str(tmp_path / "mine") in str(error.value)
    assert message in str(error.value)


def test_what_another_class_reads_is_its_own_matter(tmp_path):
    found = workload(tmp_path, "workload=site.ycsb.workloads.RestWorkload", "url.prefix=http://x")
    assert found["url.prefix"] == "http://x"


def client(tmp_path: Path) -> Client:
    jar = tmp_path / "some.jar"
    with zipfile.ZipFile(jar, "w") as content:
        content.writestr("my/Workload.class", "")
    return Client("kvstudy", f"{tmp_path}/*", "db", (jar,))


def test_a_workload_class_has_to_be_on_the_class_path(tmp_path):
    check_class(client(tmp_path), "my.Workload")
    with pytest.raises(KvstudyError) as error:
        check_class(client(tmp_path), "my.Worklaod")
    assert "workload=my.Worklaod: no jar of the class path" in str(error.value)
    assert str(tmp_path) in str(error.value)
    with pytest.raises(KvstudyError, match=r"leave ycsb\.home empty"):
        check_class(client(tmp_path), RECORD)


def study(workloads: list[str]) -> Study:
    return Study.model_validate(
        {
            "name": "x",
            "title": "x",
            "question": "x",
            "stores": ["redis"],
            "workloads": workloads,
            "parameters": {"records": 10, "operations": 10},
            "repetitions": 1,
        }
    )


def test_probes_have_the_records_of_the_study():
    shape = planned(study(["product-read", "product-update"]))["redis"]["shape"]
    assert field_names(shape) == PRODUCT
    assert shape["record.keyprefix"] == "prod"
    assert planned(study(["product-read", "a"]))["redis"]["shape"] == {}
    assert planned(study(["a"]))["redis"]["shape"] == {}


def test_a_table_has_the_workloads_columns(monkeypatch):
    told = []

    class Cursor:
        def __enter__(self):
            return self

        def __exit__(self, *error):
            return None

        def execute(self, text):
            told.append(text)

        def fetchall(self):
            return [(name.upper(),) for name in [*PRODUCT, *sql.FIELDS]]

    monkeypatch.setattr(sql, "connected", lambda *_, **__: Cursor())
    sql.create("h", 1, PRODUCT)
    sql.create("h", 1)
    own, core = (text for text in told if text.startswith("CREATE TABLE"))
    assert "`NAME` TEXT, `PRICE` TEXT, `AVAILABILITY` TEXT, `DESCRIPTION` TEXT" in own
    assert "`FIELD0` TEXT" in core
    assert "FIELD" not in own
