"""What a study can choose about a store, and a store that is in a study twice."""

from pathlib import Path

import pandas as pd
import pytest
from kvstudy.documents.report.cells import store_facts
from kvstudy.errors import KvstudyError
from kvstudy.measure.client import Client, phase_command
from kvstudy.stores.definition import load_store, load_stores, stores_to_measure
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study

from tests.project import ROOT, edit

STORE = Path("envs/stores/pretend/store.yaml")
CONSISTENCY = {
    "description": "Which consistency?",
    "default": "eventual",
    "choices": {
        "eventual": {"title": "eventual consistency", "properties": {"pretend.type": "e"}},
        "strong": {
            "title": "strong consistency",
            "properties": {"pretend.type": "s"},
            "operations": {"update": "fetch and put"},
        },
    },
}


def study_with(path: Path, stores: list):
    edit(STORE, options={"consistency": CONSISTENCY})
    return load_study(edit(path, stores=stores))


def test_one_store_under_two_names(pretend_study):
    strong = {"store": "pretend", "name": "pretend-strong", "options": {"consistency": "strong"}}
    study = study_with(pretend_study, ["pretend", strong])
    plain, strong = load_stores(study).values()
    assert (plain.title, strong.title) == ("Pretend", "Pretend (strong consistency)")
    assert plain.operations == {}
    assert strong.operations == {"update": "fetch and put"}
    assert (plain.color, strong.color) == ("#000000", "#808080")
    cell = next(cell for cell in plan(study) if cell.store == "pretend-strong")
    assert cell.path.startswith("pretend-strong/")
    assert (cell.folder, cell.options) == ("pretend", (("consistency", "strong"),))
    client = Client("kvstudy", "", "pretend.Client", ())
    commands = [
        phase_command(client, store, cell, "run", "127.0.0.1", 1, Path())
        for store in (plain, strong)
    ]
    assert "pretend.type=e" in commands[0]
    assert "pretend.type=s" in commands[1]


def test_the_study_gives_the_title(pretend_study):
    stores = [{"store": "pretend", "title": "Mine", "options": {"consistency": "strong"}}]
    assert load_stores(study_with(pretend_study, stores))["pretend"].title == "Mine"


@pytest.mark.parametrize(
    ("stores", "message"),
    [
        (
            [{"store": "pretend", "options": {"consistency": "stong"}}],
            f"{Path('config/studies/small/study.yaml')}: stores[0].options.consistency: "
            "unknown choice 'stong'; did you mean 'strong'?",
        ),
        (
            ["redis", {"store": "pretend", "options": {"consistancy": "strong"}}],
            "stores[1].options: Pretend has no option 'consistancy'; it has: consistency",
        ),
        (
            [{"store": "mongodb", "options": {"consistency": "strong"}}],
            "stores[0].options: MongoDB has no option 'consistency'; it has none",
        ),
        (
            ["pretend", {"store": "pretend", "options": {"consistency": "strong"}}],
            "stores: 'pretend' appears twice; name each once, or give one another "
            "name: {store: pretend, name: ...}",
        ),
        ([{"store": "pretend", "option": {}}], "stores[0].option: unknown key"),
    ],
)
def test_a_wrong_choice_is_refused(pretend_study, stores, message):
    with pytest.raises(KvstudyError) as error:
        load_stores(study_with(pretend_study, stores))
    assert message in str(error.value)


def test_a_default_that_is_no_choice_is_refused(pretend_study):
    edit(STORE, options={"consistency": CONSISTENCY | {"default": "none"}})
    with pytest.raises(KvstudyError, match="the default 'none' is none of the choices"):
        load_store(STORE.parent)


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        (("native", "command"), ["{program}", "{prot}"], "'{prot}': {prot} cannot be filled in; "),
        (("native", "command"), ["{ports[x]}"], "'{ports[x]}': {ports[x]} cannot be filled in; "),
        (("native", "command"), ["{port:99999999999}"], "cannot be filled in; there are {data}"),
        (("native", "command"), ["{"], "'{': Single '{' encountered in format string; write a"),
        (("docker", "environment"), {"A": "{program}"}, "'{program}': {program} cannot be filled"),
        (("ycsb", "properties"), {"a": "{data}"}, "{data} cannot be filled in; there are {host}"),
        (
            ("ycsb", "properties"),
            {"fieldlength": "9"},
            "fieldlength: belongs to the workload, whose",
        ),
    ],
)
def test_what_a_store_cannot_be_told_is_refused(project, place, text, message):
    path = Path("envs/stores/redis/store.yaml")
    edit(path, lambda data: data[place[0]].update({place[1]: text}))
    with pytest.raises(KvstudyError) as error:
        load_store(path.parent)
    assert f"{path}: " in str(error.value)
    assert message in str(error.value)


def test_a_choice_cannot_give_one_store_other_work(project):
    path = Path("envs/stores/redis/store.yaml")
    choice = {"title": "mostly read", "properties": {"readproportion": "0.9"}}
    edit(path, lambda data: data["options"]["layout"]["choices"].update(read=choice))
    with pytest.raises(KvstudyError, match="readproportion: belongs to the workload, whose work"):
        load_store(path.parent)


def test_an_embedded_store_has_a_folder_and_no_address(pretend_study):
    edit(STORE, kind="embedded", ycsb={"db": "x.Y", "properties": {"a": "{port}"}})
    with pytest.raises(KvstudyError, match=r"\{port\} cannot be filled in; there are \{data\}"):
        load_store(STORE.parent)
    edit(STORE, ycsb={"db": "x.Y", "properties": {"a": "{data}"}})
    command = phase_command(
        *(Client("kvstudy", "", "x.Y", ()), load_store(STORE.parent)),
        *(plan(load_study(pretend_study))[0], "run", "127.0.0.1", 1, Path("work")),
    )
    assert f"a={Path('work/data')}" in command


def test_a_choice_may_make_it_another_kind_by_the_servers_command(pretend_study):
    kept = {"default": "no", "description": "Kept?", "choices": {"no": {"title": "no"}}}
    kept["choices"]["yes"] = {"title": "yes", "kind": "disk", "arguments": ["-d", "{data}"]}
    edit(STORE, options={"kept": kept})
    yes = {"store": "pretend", "name": "kept", "options": {"kept": "yes"}}
    stores = load_stores(load_study(edit(pretend_study, stores=["pretend", yes])))
    assert [store.kind for store in stores.values()] == ["memory", "disk"]
    commands = [store.native.command for store in stores.values()]
    assert commands[1] == [*commands[0], "-d", "{data}"]


def test_options_of_a_store_without_a_binding(project):
    path = edit(Path("envs/stores/riak/store.yaml"), lambda data: data.pop("ycsb"))
    with pytest.raises(KvstudyError, match="options: are choices of a binding, and the key ycsb"):
        load_store(path.parent)


def test_the_first_page_names_choices_that_are_no_default_and_in_no_title(monkeypatch):
    monkeypatch.chdir(ROOT)
    file = Path("config/studies/jedlicka2024/study.yaml")
    no_cells = pd.DataFrame(columns=["status", "reason", "provider", "client", "server_version"])
    riak = stores_to_measure(load_study(file), file)["riak"]
    assert store_facts(riak, no_cells, {"stores": {}}).unusual == {"consistency"}
    for other in (
        riak.model_copy(update={"title": "Riak KV, strong"}),
        riak.model_copy(update={"chosen": {"consistency": "eventual"}}),
    ):
        assert not store_facts(other, no_cells, {"stores": {}}).unusual
