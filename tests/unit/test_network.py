"""The key ``network`` of a store in a study."""

from __future__ import annotations

import pytest
from kvstudy.analyse.findings.paths import direct_stores
from kvstudy.analyse.run import Run
from kvstudy.errors import InputError
from kvstudy.language.reasons import sentence
from kvstudy.stores.definition import load_stores
from kvstudy.stores.providers import missing_requirement, provider_of
from kvstudy.study.cells import plan
from kvstudy.study.consistency import differences
from kvstudy.study.load import load_study

from tests.project import edit

BRIDGE = {"store": "pretend", "name": "bridged", "network": "bridge"}
LOOPBACK = {"store": "pretend", "network": "loopback"}


def test_it_is_a_parameter_of_the_cells_and_in_the_title(pretend_study):
    edit(pretend_study, stores=["pretend", BRIDGE])
    study = load_study(pretend_study)
    cells = {cell.store: cell for cell in plan(study)}
    assert (cells["pretend"].network, cells["bridged"].network) == (None, "bridge")
    # The cells of runs that were measured before there were networks have no such key.
    assert "network" not in cells["pretend"].as_json()
    titles = [store.title for store in load_stores(study).values()]
    assert titles == ["Pretend", "Pretend (bridge)"]


def test_it_chooses_the_provider_whatever_the_configuration_says(pretend_study):
    edit(pretend_study, stores=["pretend", LOOPBACK | {"name": "near"}, BRIDGE])
    stores = load_stores(load_study(pretend_study))
    wanted = [provider_of(store, "other") for store in stores.values()]
    assert wanted == ["other", "native", "docker"]


def test_a_server_that_already_runs_cannot_be_moved(pretend_study):
    edit(pretend_study, stores=[BRIDGE])
    store = load_stores(load_study(pretend_study))["bridged"]
    said = sentence(missing_requirement(store, "external", "127.0.0.1:1"))
    assert said == (
        "a server that is already running cannot be moved to the network bridge, which the study "
        "names"
    )


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ({"store": "pretend", "network": "macvlan"}, "network"),
        ({"store": "rocksdb", "network": "bridge"}, "RocksDB runs in the client's process"),
    ],
)
def test_a_network_that_cannot_be_is_refused_with_its_place(pretend_study, use, said):
    edit(pretend_study, stores=[use])
    with pytest.raises(InputError, match=r"study\.yaml: stores") as refused:
        load_stores(load_study(pretend_study))
    assert said in str(refused.value)


def manifest(provider: str, **cell: str) -> dict:
    return {
        "cell": {"folder": "pretend", "store": "pretend", **cell},
        "server": {"provider": provider, "version": "1"},
    }


def test_providers_differ_only_where_the_study_says_so():
    named = manifest("docker", network="bridge")
    assert not differences({"a": manifest("native"), "b": named})
    assert differences({"a": manifest("native"), "b": manifest("docker")}).keys() == {"provider"}
    # It is the same server on both paths.
    named["server"]["version"] = "2"
    assert differences({"a": manifest("native"), "b": named}).keys() == {"server of pretend"}


def compared(file, stores: list) -> list[list[str]]:
    edit(file, stores=stores)
    return Run("small", load_study(file)).compared


def test_stores_on_the_same_path_are_compared_unless_one_would_be_alone(pretend_study):
    other = {"store": "redis"}
    slow = [use | {"name": f"slow-{use['store']}", "delay": 100} for use in (LOOPBACK, other)]
    both = ["pretend", "redis"]
    assert compared(pretend_study, both) == [both]
    slower = [use["name"] for use in slow]
    slow[0].pop("network")
    assert compared(pretend_study, [*both, *slow]) == [both, slower]
    assert compared(pretend_study, [*both, slow[0]]) == [[*both, slower[0]]]


def test_the_direct_store_is_the_same_without_a_path(pretend_study):
    slow = {"store": "pretend", "name": "slow", "network": "loopback", "delay": 0}
    edit(pretend_study, stores=["redis", LOOPBACK, BRIDGE, slow])
    assert direct_stores(load_study(pretend_study)) == {
        "redis": "redis",
        "pretend": "pretend",
        "bridged": "pretend",
        "slow": "pretend",
    }
    edit(pretend_study, stores=["redis", BRIDGE])
    assert direct_stores(load_study(pretend_study)) == {"redis": "redis"}
