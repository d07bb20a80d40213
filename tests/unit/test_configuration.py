"""What is known of a server's set-up: arguments, settings, and what differs between cells."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from kvstudy.analyse.tidy.configuration import configurations
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.stores.configuration import added_arguments, changes, record_settings
from kvstudy.stores.definition import Store, load_store
from kvstudy.stores.docker import DockerServer
from kvstudy.stores.native import NativeServer
from kvstudy.stores.providers import missing_requirement
from kvstudy.stores.server import LocalServer
from kvstudy.study.consistency import differences
from kvstudy.study.parts import StoreUse

from tests.project import edit

ALWAYS = ["--appendonly", "yes", "--appendfsync", "always"]
RAW = Path("raw")


def redis(choice: str = "", arguments: list[str] = ALWAYS, name: str = "redis") -> Store:
    """Redis with an option of persistence; without a ``choice`` the default, which adds nothing."""
    option = {"description": "When?", "default": "shipped"}
    option["choices"] = {
        "shipped": {"title": "as shipped"},
        "always": {
            "title": "each write flushed",
            "arguments": arguments,
            "properties": {"redis.flush": "{host}"},
        },
    }
    path = edit(
        Path("envs/stores/redis/store.yaml"), lambda d: d["options"].update(persistence=option)
    )
    chosen = {"persistence": choice} if choice else {}
    return load_store(path.parent, StoreUse(store="redis", name=name, options=chosen))


def manifest(server: LocalServer, settings: str = "") -> dict:
    reply = {"version": "7", "settings": settings}
    cell = {"folder": "redis", "store": server.store.name}
    return {"cell": cell, "server": server.describe() | reply, "phases": {}}


def native(store: Store, cores: str = "", data: str = "data") -> NativeServer:
    return NativeServer(store, 7001, Path(data), Path("log"), cores)


@pytest.mark.parametrize(
    "start",
    [
        native,
        lambda store: native(store, cores="0-1"),
        lambda store: DockerServer(store, 7001, Path("data"), Path("log"), "0"),
    ],
)
def test_arguments_of_options_are_found_in_the_recorded_command(project, start):
    shipped, always = redis(), redis("always")
    assert added_arguments(start(shipped).describe(), shipped) == []
    assert added_arguments(start(always).describe(), always) == ALWAYS
    assert added_arguments(start(always).describe(), shipped) == ALWAYS
    assert "arguments was --appendonly yes --appendfsync always, is now none" in changes(
        manifest(start(always)), shipped
    )
    assert not changes(manifest(start(always)), always)


def test_of_another_command_and_of_a_server_that_ran_already_nothing_is_known(project):
    always = redis("always")
    recorded = native(always).describe()
    recorded["command"].insert(1, "--io-threads")
    assert added_arguments(recorded, always) is None
    assert added_arguments({"provider": "external", "address": "db:1"}, always) is None


def test_a_property_that_an_option_gives_the_client_is_compared_too(project):
    always = redis("always")
    measured = manifest(native(always))
    measured["phases"]["run"] = {"command": ["java", "-p", "redis.flush=10.0.0.1"]}
    assert not changes(measured, always)
    measured["phases"]["run"] = {"command": ["java", "-p", "redis.port=1"]}
    assert changes(measured, always) == "redis.flush was none, is now {host}"


def test_cells_of_other_arguments_files_or_settings_are_unlike(project):
    always, everysec = redis("always"), redis("always", [*ALWAYS[:3], "everysec"])
    first = manifest(native(always), "a" * 64)
    # Another folder and another port are no difference.
    assert not differences({"1": first, "2": manifest(native(always, data="other"), "a" * 64)})
    ((what, sides),) = differences({"1": first, "2": manifest(native(everysec), "a" * 64)}).items()
    assert what == "settings of redis"
    assert [value for value, _ in sides] == ["--appendfsync always", "--appendfsync everysec"]
    (sides,) = differences({"1": first, "2": manifest(native(always), "b" * 64)}).values()
    assert [value for value, _ in sides] == [f"settings.json ({c * 12})" for c in "ab"]
    # Of a cell that was measured earlier nothing is known.
    earlier = manifest(native(everysec))
    del earlier["server"]["template"], earlier["server"]["settings"]
    assert not differences({"1": first, "2": earlier})


def test_another_configuration_file_is_a_difference(project):
    aerospike = load_store(Path("envs/stores/aerospike"))
    before = manifest(native(aerospike))
    config = Path("envs/stores/aerospike/aerospike.conf")
    config.write_text(config.read_text() + "# more\n")
    (what,) = differences({"1": before, "2": manifest(native(aerospike))})
    assert what == "settings of aerospike"


def test_what_every_server_says_otherwise_is_not_recorded(project, monkeypatch):
    store = redis()
    reply = {"port": "7001", "dir": str(Path("data").absolute()), "masterauth": "secret"}
    reply |= {"server_uuid": "1f", "appendfsync": "always", "maxmemory": "7001"}
    reply["seeds"] = "127.0.0.1:7001"
    verbs = SimpleNamespace(settings=lambda host, port: reply)
    monkeypatch.setattr(Store, "verbs", verbs)
    assert record_settings(store, native(store), Path())
    recorded = json.loads(Path("settings.json").read_text())
    assert recorded == {"appendfsync": "always", "maxmemory": "7001"}


def test_a_server_that_tells_no_settings_is_measured_all_the_same(project, monkeypatch):
    def refuse(host: str, port: int) -> dict:
        raise ValueError("-ERR unknown command 'CONFIG'")

    monkeypatch.setattr(Store, "verbs", SimpleNamespace(settings=refuse))
    store = redis()
    server = native(store)
    monkeypatch.setattr(server, "died", lambda: None)
    monkeypatch.setattr(server, "process_ids", list)
    assert record_settings(store, server, Path()) == ""
    assert not Path("settings.json").exists()


def written(cell: str, server: LocalServer, **settings: str) -> dict:
    """The manifest of a cell whose server said these settings."""
    (RAW / cell).mkdir(parents=True)
    (RAW / cell / "settings.json").write_text(json.dumps(settings))
    return manifest(server, "a" * 64)


def test_the_report_gets_what_was_added_and_what_the_server_said_of_it(project):
    stores = {"redis": redis(), "always": redis("always", name="always")}
    manifests = {
        "1": written("1", native(stores["redis"]), appendonly="no", hz="10", save="60"),
        "2": written("2", native(stores["always"]), appendonly="yes", hz="10", save="60"),
    }
    result = configurations(manifests, stores, RAW)
    assert "arguments" not in result["redis"]
    # No argument names it, and the other server said something else.
    assert result["redis"]["settings"] == {"appendonly": "no"}
    assert result["always"]["arguments"] == ALWAYS
    assert result["always"]["command"][-4:] == ALWAYS
    assert result["always"]["settings"] == {"appendonly": "yes"}
    manifests["1"] = written("3", native(redis("always")), appendonly="yes")
    with pytest.raises(KvstudyError, match="raw/1: measured with other options than"):
        configurations(manifests, stores, RAW)


def test_a_server_that_already_runs_gets_no_arguments(project):
    reply = sentence(missing_requirement(redis("always"), "external", "db:6379"))
    assert reply == (
        "a server that is already running cannot get --appendonly yes --appendfsync always, which "
        "its option adds"
    )
    assert missing_requirement(redis(), "external", "db:6379") is None
