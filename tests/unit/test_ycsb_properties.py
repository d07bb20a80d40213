"""Values and names of YCSB's properties, refused before a server starts where YCSB would not."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from kvstudy import cli
from kvstudy.errors import KvstudyError
from kvstudy.stores.definition import load_store, stores_to_measure
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.workload import load_workload
from kvstudy.study.ycsb_properties import OF_CLASS, PROPERTIES, ROUNDS, property_problems

from tests.project import edit

STORE = Path("envs/stores/pretend/store.yaml")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("readproportion=90", "readproportion: 90 is more than 1; write 0.9 for 90 %"),
        ("readproportion=80%", "readproportion: '80%' is not a number; write 0.8"),
        ("readproportion=0,5", "readproportion: '0,5' is not a number; write 0.5"),
        ("readallfields=yes", "'yes' is neither true nor false, and YCSB reads false; write true"),
        ("writeallfields=no", "'no' is neither true nor false, and YCSB reads false; write false"),
        ("readallfields=TRUE", "'TRUE' is neither true nor false, and YCSB reads true; write true"),
        ("readallfields=", "readallfields: '' is neither true nor false"),
        ("requestdistribution=hotsopt", "unknown value 'hotsopt'; did you mean 'hotspot'?"),
        ("requestdistribution=Zipfian", "unknown value 'Zipfian'; did you mean 'zipfian'?"),
        ("insertorder=random", "unknown value 'random'; known are: hashed, ordered"),
        ("fieldlength=2kB", "fieldlength: '2kB' is not a number; write 2000"),
        ("fieldlength=4 KiB", "fieldlength: '4 KiB' is not a number; write 4096"),
        ("fieldlength=-5", "fieldlength: -5 is negative; give a whole number from 1"),
        ("fieldlength=0", "fieldlength: 0 is too small; give a whole number from 1"),
        ("fieldlength=1e3", "fieldlength: 1e3 is not a whole number in digits; write 1000"),
        ("fieldlength=99.5", "99.5 is not a whole number in digits; give a whole number from 1"),
        ("fieldlength=1 000", "fieldlength: '1 000' is not a number; write 1000"),
        ("maxexecutiontime=1m", "maxexecutiontime: '1m' is not a number; write 60"),
        ("maxexecutiontime=1.5 h", "maxexecutiontime: '1.5 h' is not a number; write 5400"),
        ("maxexecutiontime=2k", "maxexecutiontime: '2k' is not a number; give one"),
        ("timeseries.granularity=5s", "timeseries.granularity: '5s' is not a number; write 5000"),
        ("target=1k", "target: '1k' is not a number; write 1000"),
        ("fieldlength=5m", "fieldlength: '5m' is not a number; write 5000000"),
        ("fieldlength=100 # bytes", "YCSB takes '# bytes' for a part of the value; write the com"),
        ("requestdistribution=zipfian #x", "YCSB takes '#x' for a part of the value; write the co"),
        ("workload=CoreWorkload", "did you mean 'site.ycsb.workloads.CoreWorkload'?"),
        ("workload=com.yahoo.ycsb.workloads.CoreWorkload", "unknown class 'com.yahoo.ycsb.workl"),
        ("workload=core workload", "'core workload' is no Java class; give one, such as site.ycsb"),
        ("READPROPORTION=0.5", "unknown property; did you mean 'readproportion'?"),
        ("insertorder=ORDERED", "unknown value 'ORDERED'; did you mean 'ordered'?"),
        ("zipfian.constant=0.9", "zipfian.constant: unknown property; YCSB would ignore it"),
        ("hotspot.datafraction=0.1", "unknown property; did you mean 'hotspotdatafraction'?"),
        ("threads=-1", "threads: is set by kvstudy itself; give the study's key threads"),
        ("exponential.percentile=100", "100 is more than 99.99; give a number from 0.01 to 99.99"),
        ("exponential.frac=0", "exponential.frac: 0 is too small; give a number from 0.0001 to 1"),
        ("hotspotdatafraction=0\nrequestdistribution=hotspot", "0 leaves no hot records, and hot"),
        ("fieldcount=10000", "fieldcount: 10000 is more than 9999; give less"),
        ("hotspotdatafraction=10", "hotspotdatafraction: 10 is more than 1; write 0.1 for 10 %"),
        ("hotspotopnfraction=80%", "hotspotopnfraction: '80%' is not a number; write 0.8"),
        ("exponential.percentile=950", "950 is more than 99.99; give a number from 0.01"),
        ("hdrhistogram.percentiles=50;99", "'50;99' is no list of percentiles"),
        ("table=", "table: is empty; give a value, or remove the line"),
        ("minscanlength=2000", "minscanlength 2000 is more than maxscanlength 1000"),
        ("threadcount=8", "threadcount: is set by kvstudy itself; give the study's key threads"),
        ("readallfeilds=true", "unknown property; did you mean 'readallfields'?"),
        ("exponential.percentil=95", "unknown property; did you mean 'exponential.percentile'?"),
        ("colour=red", "colour: unknown property; YCSB would ignore it"),
        ("requestdistribution=zipfian ", "YCSB takes the blank at the end of the line for a part"),
        ("dataintegrity=true\nfieldlengthdistribution=uniform", "needs fields of one length"),
        ("minfieldlength=200\nfieldlengthdistribution=uniform", "200 is more than fieldlength 100"),
    ],
)
def test_a_line_that_means_something_else_is_refused(tmp_path, line, message):
    path = tmp_path / "mine"
    path.write_text(f"# Mine.\n{line}\n")
    with pytest.raises(KvstudyError) as error:
        load_workload(path)
    assert str(error.value).startswith(f"{path}:2: {line.partition('=')[0]}: ")
    assert message in str(error.value)


def test_a_line_without_a_name_is_none(tmp_path):
    path = tmp_path / "mine"
    path.write_text("=5\n")
    with pytest.raises(KvstudyError, match=re.escape(f"{path}:1: '=5' is not a line 'name=value'")):
        load_workload(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("insertcount=10", "insertcount in {file}: a cell loads all of the study's records; rem"),
        ("insertstart=5", "insertstart in {file}: a cell loads the study's records from the first"),
        ("table=user table", "table in {file}: the stores' table is usertable; remove it"),
        ("fieldlengthdistribution=histogram", "{file}: histogram needs the file hist.txt, which"),
    ],
)
def test_what_ycsb_could_do_and_a_cell_cannot_is_refused(pretend_study, line, message):
    file = Path("workloads/own")
    file.write_text(f"{line}\n")
    path = edit(pretend_study, workloads=["own"], tables=[], figures=[])
    with pytest.raises(KvstudyError) as error:
        load_study(path)
    assert str(error.value).startswith(f"{path}: workloads[0]: ")
    assert message.format(file=file) in str(error.value)
    # In study.yaml it has its key; what is as YCSB has it is no fault.
    name, _, value = line.partition("=")
    file.write_text("insertstart=0\ntable=usertable\n")
    load_study(path)
    use = {"name": "own", "properties": {name: value}}
    with pytest.raises(KvstudyError, match=rf"workloads\[0\]\.properties\.{name}: "):
        load_study(edit(path, workloads=[use]))


@pytest.mark.parametrize(("name", "key"), [("recordcount", "records"), ("operationcount", "opera")])
def test_a_study_gives_its_sizes_by_its_own_keys(pretend_study, name, key):
    Path("workloads/own").write_text(f"{name}=50\n")
    edit(pretend_study, workloads=["own"], tables=[], figures=[])
    load_study(pretend_study)
    message = rf"properties\.{name}: would not be used; give the study's key {key}"
    uses = [{"name": "own", "properties": {name: 50}}]
    with pytest.raises(KvstudyError, match=rf"workloads\[0\]\.{message}"):
        load_study(edit(pretend_study, workloads=uses))
    sizes = {"records": 10, "operations": 10, "threads": 1, "properties": {name: 50}}
    with pytest.raises(KvstudyError, match=rf"parameters\.{message}"):
        load_study(edit(pretend_study, workloads=["own"], parameters=sizes))


def test_a_load_alone_is_a_property_of_a_study_too(pretend_study):
    uses = [{"name": "a", "properties": {"operationcount": 0}}]
    load_study(edit(pretend_study, workloads=uses, tables=[], figures=[]))


def test_the_shares_add_up_to_1_with_those_that_ycsb_adds(tmp_path):
    path = tmp_path / "mine"
    path.write_text("insertproportion=0.5\nreadproportion=0.5\n")
    with pytest.raises(KvstudyError) as error:
        load_workload(path)
    assert "the proportions add up to 1.05, not to 1: readproportion 0.5, " in str(error.value)
    assert "updateproportion 0.05 (YCSB's default), insertproportion 0.5" in str(error.value)
    path.write_text("readproportion=0.33\nupdateproportion=0.33\nscanproportion=0.33\n")
    assert load_workload(path)["scanproportion"] == "0.33"
    # No operation is drawn.
    path.write_text("operationcount=0\nreadproportion=0.5\n")
    assert load_workload(path)["readproportion"] == "0.5"


def test_what_ycsb_takes_by_itself_is_no_fault():
    properties = PROPERTIES | OF_CLASS[ROUNDS]
    defaults = {name: each.default for name, each in properties.items() if each.default}
    assert list(property_problems(defaults, [ROUNDS])) == []


def test_properties_of_bindings_pass(tmp_path):
    path = tmp_path / "mine"
    names = ["redis.timeout", "cassandra.readconsistencylevel", "as.timeout", "db.batchsize"]
    path.write_text("".join(f"{name}=1\n" for name in names))
    assert list(load_workload(path)) == names


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"workloads": ["a", {"name": "c", "properties": {"readallfields": "yes"}}]},
            r"workloads\[1\]\.properties\.readallfields: 'yes' is neither .* \(line (\d+)\)",
        ),
        (
            {"workloads": ["a", {"name": "c", "properties": {"insertproportion": 0.5}}]},
            r"\[1\]\.properties: the proportions add up to 1\.5, not to 1: .* \(line (\d+)\)",
        ),
        (
            {"parameters": {"records": 1, "operations": 1, "properties": {"fieldlength": "2kB"}}},
            r"parameters\.properties\.fieldlength: '2kB' .* write 2000 \(line (\d+)\)",
        ),
    ],
    ids=["value", "sum", "of the study"],
)
def test_a_study_names_key_line_and_remedy(pretend_study, change, message):
    path = edit(pretend_study, tables=[], figures=[], **change)
    with pytest.raises(KvstudyError) as error:
        load_study(path)
    match = re.search(message, str(error.value))
    assert match, error.value
    lines = path.read_text().splitlines()
    keys = ("properties", "readallfields", "fieldlength")
    assert lines[int(match[1]) - 1].strip().startswith(keys)


def test_a_store_has_any_property_but_a_misspelt_one(pretend_study):
    edit(STORE, ycsb={"db": "x.Y", "properties": {"pretend.port": "{port}", "hosts": "{host}"}})
    assert load_store(STORE.parent).ycsb.properties["hosts"] == "{host}"
    for properties, message in (
        ({"readallfeilds": "true"}, "did you mean 'readallfields'?"),
        ({"fieldlength": "2000"}, "fieldlength: belongs to the workload"),
    ):
        edit(STORE, ycsb={"db": "x.Y", "properties": properties})
        with pytest.raises(KvstudyError, match=re.escape(message)) as error:
            load_store(STORE.parent)
        assert str(error.value).startswith(f"{STORE}: ycsb.properties: ")


def test_what_the_store_sets_is_not_set_by_the_study_too(pretend_study):
    parameters = {"records": 1000, "operations": 2000, "properties": {"pretend.port": 5}}
    path = edit(pretend_study, parameters=parameters)
    with pytest.raises(KvstudyError, match=r"'pretend\.port' .* is one that .*store\.yaml sets"):
        stores_to_measure(load_study(path), path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workload", "rounds", "--threads", "4"], "the rounds have one thread; give 1"),
        (["--workload", "a", "--records", "3000000000"], "2147483647"),
        (["--workload", "a", "--threads", "0"], "--threads"),
    ],
)
def test_a_single_cell_is_checked_too(pretend_study, monkeypatch, capsys, options, message):
    sizes = ["--operations", "1000", "--provider", "native"]
    if "--records" not in options:
        sizes += ["--records", "1000"]
    arguments = ["kvstudy", "run", "--store", "pretend", *sizes, *options]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not Path("results/single-cells").exists()


def test_every_shipped_study_has_properties_that_fit():
    for path in sorted(STUDIES.glob("*/study.yaml")):
        load_study(path)
