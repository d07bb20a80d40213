"""A wrong study or config file is refused with file, key and remedy."""

from pathlib import Path

import pytest
import yaml
from kvstudy.analyse.findings.agreement import writing_all_fields
from kvstudy.commands.schema import files
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import plan
from kvstudy.study.config import check_config
from kvstudy.study.load import load_study, study_path
from kvstudy.study.workload import SIZES, operations_of, properties_of

PATH = Path("config/studies/jedlicka2024/study.yaml")


def edit(change) -> None:
    data = yaml.safe_load(PATH.read_text())
    change(data)
    PATH.write_text(yaml.safe_dump(data))


def test_the_thesis_study_is_valid(project):
    study = load_study(PATH)
    assert study.store_names == ["redis", "riak", "aerospike", "memcached"]
    assert [use.short for use in study.workloads] == ["A", "B", "C", "Insert"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda s: s.update(stores=["redis", "memcache"]),
            f"{PATH}: stores[1]: unknown store 'memcache'; did you mean 'memcached'?",
        ),
        (
            lambda s: s.update(workloads=["a", "inserts"]),
            f"{PATH}: workloads[1]: unknown workload 'inserts'; did you mean 'insert'?",
        ),
        (
            lambda s: s["parameters"].update(threads=[1, 4], shown={"threads": 2}),
            f"{PATH}: parameters.shown.threads: no cell has 2 threads; "
            "name one of the values of a list",
        ),
        (
            lambda s: s.update(workloads=[{"name": "a", "shown": {"records": 7}}]),
            f"{PATH}: workloads[0].shown: no cell of workload 'a' has 7 records, 1000000 "
            "operations and 4 threads; name sizes of its lists",
        ),
        (lambda s: s["parameters"].update(threads=[]), "parameters.threads"),
        (
            lambda s: s["parameters"].update(properties={"readproportion": "half"}),
            f"{PATH}: parameters.properties: readproportion: 'half' is not a number",
        ),
        (
            lambda s: s["tables"][0].update(name="runs"),
            f"{PATH}: tables: 'runs' is the name of one of the tables that the report has by "
            "itself; give yours another name",
        ),
        (
            lambda s: s["figures"][1].update(name=s["figures"][0]["name"]),
            "stands there twice; name each once",
        ),
        (
            lambda s: s["figures"][0].update(name="ratios"),
            f"{PATH}: figures: 'ratios' is the name of one of the figures that the report has by",
        ),
        (
            lambda s: s.update(stores=["redis", "redis"]),
            f"{PATH}: stores: 'redis' stands there twice",
        ),
        (
            lambda s: s.update(repetitions=-3),
            f"{PATH}: repetitions: must be greater than 0, but is -3",
        ),
        (
            lambda s: s["parameters"].update(records=-1),
            "parameters.records",
        ),
        (
            lambda s: s.update(repetition=3),
            f"{PATH}: repetition: unknown key; did you mean 'repetitions'?",
        ),
        (lambda s: s.pop("title"), f"{PATH}: title: is missing; add it"),
        (lambda s: s.update(name="other"), "the folder is 'jedlicka2024'"),
        (
            lambda s: s["tables"][2].update(workload="f"),
            f"{PATH}: tables[2].workload: unknown workload 'f'",
        ),
        (
            lambda s: s["figures"][0].update(store="mysql"),
            f"{PATH}: figures[0].store: unknown store 'mysql'",
        ),
        (
            lambda s: s["parameters"].update(properties={"fieldcuont": 5}),
            "parameters.properties: unknown property 'fieldcuont'; did you mean 'fieldcount'",
        ),
    ],
)
def test_a_wrong_study_names_file_key_and_remedy(project, change, message):
    edit(change)
    with pytest.raises(KvstudyError) as error:
        load_study(PATH)
    assert message in str(error.value)


def test_a_study_that_is_not_yaml(project):
    PATH.write_text("title: [")
    with pytest.raises(KvstudyError, match=r"study\.yaml: not valid YAML"):
        load_study(PATH)


def test_an_unknown_study_in_the_config(project):
    with pytest.raises(KvstudyError, match="did you mean 'jedlicka2024'"):
        study_path("jedlicka2023")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"study": "jedlicka2024", "scale": 0},
            "config/config.yaml: scale: must be greater than 0, but is 0",
        ),
        ({"study": "jedlicka2024", "provider": "podman"}, "provider: must be one of auto, native"),
        ({"study": "jedlicka2024", "provder": "native"}, "did you mean 'provider'"),
        ({}, "config/config.yaml: study: is missing"),
        (
            {"study": "jedlicka2024", "mixed_providers": True},
            "config/config.yaml: mixed_providers: unknown key",
        ),
        (
            {"study": "jedlicka2024", "pin_cpus": "0/1"},
            "config/config.yaml: pin_cpus: must be true, false, or keys server and client with "
            "their cores, but is '0/1'",
        ),
        (
            {"study": "jedlicka2024", "pin_cpus": {"server": 0}},
            "config/config.yaml: pin_cpus.client: is missing",
        ),
        (
            {"study": "jedlicka2024", "pin_cpus": {"server": "0-", "client": "1"}},
            "config/config.yaml: pin_cpus.server: must be text of the form",
        ),
        (
            {"study": "jedlicka2024", "pin_cpus": {"server": "0", "client": "1", "cleint": "1"}},
            "config/config.yaml: pin_cpus.cleint: unknown key",
        ),
    ],
)
def test_a_wrong_config_names_the_key(config, message):
    with pytest.raises(KvstudyError) as error:
        check_config(config)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("value", "option"),
    [
        (True, "true"),
        (False, "false"),
        # As `snakemake --config pin_cpus=true` hands it in.
        ("true", "true"),
        ({"server": "0-1", "client": "2,3"}, "0-1/2,3"),
        # A single number needs no quotes in YAML.
        ({"server": 0, "client": 1}, "0/1"),
    ],
)
def test_cores_of_the_config_as_an_option(value, option):
    assert check_config({"study": "s", "pin_cpus": value}).setting_of("x")["pin_cpus"] == option


def test_schemas_and_the_page_of_keys_are_those_of_the_models():
    root = Path(__file__).parents[2]
    for name, text in files().items():
        assert (root / name).read_text() == text, f"{name}: run 'kvstudy schema'"


def test_properties_of_the_workload_win_over_the_studys_and_these_over_the_files(project):
    shares = {"insertproportion": 0.5, "readproportion": 0, "updateproportion": 0.5}
    own = {"name": "b", "properties": {"insertproportion": 0, "writeallfields": False}}

    def change(data):
        data["parameters"]["properties"] = shares | {"writeallfields": True}
        data["parameters"]["clients"] = "auto"
        data |= {"workloads": ["a", own], "tables": [], "figures": []}

    edit(change)
    study = load_study(PATH)
    a, b = (properties_of(study, use) for use in study.workloads)
    assert operations_of(a) == ["update", "insert"]
    assert operations_of(b) == ["update"]
    # Everything that asks goes by the same: the cells, ...
    cells = {cell.workload: dict(cell.properties) for cell in plan(study)}
    assert cells["b"] == {name: value for name, value in b.items() if name not in SIZES}
    # ... which of them several clients can run, and what an update is predicted to do.
    assert {cell.workload for cell in plan(study) if cell.clients == 2} == {"b"}
    assert writing_all_fields(study) == {"a"}
