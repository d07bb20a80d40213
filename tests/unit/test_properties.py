"""What the stores are: every statement has a source, and the table fits and is complete."""

from __future__ import annotations

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import Grid
from kvstudy.stores.definition import load_stores
from kvstudy.study.load import STORES, STUDIES, load_study
from kvstudy.study.model import Study
from kvstudy.study.properties import (
    JUDGED,
    STATED,
    TITLES,
    StoreProperties,
    published_properties,
    store_properties,
)
from kvstudy.study.reading import read_yaml

from tests.project import ROOT, edit

from . import small_results as small

FILES = sorted((ROOT / "envs/stores").glob("*/properties.yaml"))


def study(name: str = "jedlicka2024"):
    return load_study(STUDIES / name / "study.yaml")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_every_statement_has_a_complete_source(path):
    result = read_yaml(path, StoreProperties)
    for name in STATED:
        statement = getattr(result, name)
        assert statement.says
        for cited in statement.references:
            reference = result.references[cited]
            assert reference.url.startswith("https://")
            assert reference.title
            assert reference.applies_to


def test_every_store_of_a_study_with_the_table_has_all_properties(project):
    with_table = []
    for path in sorted(STUDIES.glob("*/study.yaml")):
        plan = load_study(path)
        if plan.tables_of("properties"):
            with_table.append(plan.name)
            assert list(store_properties(plan)) == plan.store_names
    assert "jedlicka2024" in with_table


def test_the_sources_table_has_every_line_for_its_stores(project):
    """Table 2.1 of the thesis has no Memcached; the other three are there in full."""
    stores = published_properties(study()).stores
    assert list(stores) == ["redis", "riak", "aerospike"]
    for values in stores.values():
        assert set(values) == set(TITLES)


def test_a_cell_says_its_property_its_sources_and_what_the_source_says(project):
    plan = study()
    result = store_properties(plan)
    frame = small.table("properties").rows(small.run(study=plan))
    frame = frame.set_index(["property", "store"])
    row = frame.loc[("secondary_indexes", "redis")]
    assert row["references"] == result["redis"].references["indexes"].url
    assert row["published"] == "yes"
    assert row["says"].startswith("none of its own")
    assert frame.loc[("triggers", "memcached"), "published"] == ""
    for name in JUDGED:
        assert frame.loc[(name, "redis"), "says"] == ""
        assert frame.loc[(name, "redis"), "published"] != ""


def grid_of(plan: Study, titles: dict[str, str]) -> Grid:
    return small.grid_of(small.table("properties"), small.run(study=plan, titles=titles))


def test_more_stores_than_fit_stand_in_blocks(project):
    plan = study()
    fifth = plan.stores[0].model_copy(update={"name": "fifth"})
    plan = plan.model_copy(update={"stores": [*plan.stores, fifth]})
    blocks = grid_of(plan, {name: name for name in plan.store_names}).parts()
    assert [len(block.columns) for block in blocks] == [3, 2]
    for block in blocks:
        assert {str(line.label) for line in block.lines} >= {TITLES[name] for name in STATED}


def test_a_store_without_properties_is_named(project):
    (STORES / "redis" / "properties.yaml").unlink()
    with pytest.raises(KvstudyError, match=r"redis/properties\.yaml: no such file"):
        store_properties(study())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.pop("licence"), "licence: is missing"),
        (lambda data: data["triggers"].update(references=["nowhere"]), "'nowhere' is cited"),
        (lambda data: data["triggers"].update(references=[]), "triggers.references"),
        (lambda data: data["references"]["cluster"].update(url="redis.io"), "cluster.url"),
        (lambda data: data["references"]["cluster"].pop("applies_to"), "applies_to: is missing"),
        (
            lambda data: [data[key].update(references=["introduction"]) for key in STATED],
            "is cited by no statement",
        ),
    ],
)
def test_a_property_without_a_complete_source_is_refused(project, change, message):
    edit(STORES / "redis" / "properties.yaml", change)
    with pytest.raises(KvstudyError, match=message):
        store_properties(study())


def test_titles_of_the_stores_are_those_of_the_report(project):
    plan = study()
    titles = {name: store.title for name, store in load_stores(plan).items()}
    assert str(grid_of(plan, titles).columns[1]).startswith("Riak KV ")
