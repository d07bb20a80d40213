"""A wrong study or config file is refused with file, key and remedy."""

from pathlib import Path

import pytest
from kvstudy.analyse.tidy.probes import updating
from kvstudy.commands.schema import files
from kvstudy.errors import KvstudyError
from kvstudy.study.cells import plan
from kvstudy.study.config import check_config
from kvstudy.study.load import load_study, study_path
from kvstudy.study.workload import SIZES, operations_of, properties_of

from tests.project import edit

PATH = Path("config/studies/jedlicka2024/study.yaml")


def test_the_thesis_study_is_valid(project):
    study = load_study(PATH)
    assert study.store_names == ["redis", "riak", "aerospike", "memcached"]
    assert [use.short for use in study.workloads] == ["A", "B", "C", "Insert"]


def test_an_unknown_study_in_the_config(project):
    with pytest.raises(KvstudyError, match="did you mean 'jedlicka2024'"):
        study_path("jedlicka2023")


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

    study = load_study(edit(PATH, change))
    a, b = (properties_of(study, use) for use in study.workloads)
    assert operations_of(a) == ["update", "insert"]
    assert operations_of(b) == ["update"]
    # Everything that asks goes by the same: the cells, ...
    cells = {cell.workload: dict(cell.properties) for cell in plan(study)}
    assert cells["b"] == {name: value for name, value in b.items() if name not in SIZES}
    # ... which of them several clients can run, and what an update is predicted to do.
    assert {cell.workload for cell in plan(study) if cell.clients == 2} == {"b"}
    assert updating(study) == {"b"}
