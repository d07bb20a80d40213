"""One tiny cell of each store on its real server, to raw logs."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import psutil
import pytest
import yaml
from kvstudy.errors import KvstudyError
from kvstudy.stores import native
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer
from kvstudy.stores.server import free_port, serving
from kvstudy.stores.sql import connected

ROOT = Path(__file__).parents[2]
# What the version of each store looks like.
STORES = {"mysql": r"5\.[67]\.\d+|[89]\.\d+\.\d+", "mariadb": r"1\d\.\d+\.\d+"}


@pytest.fixture
def folder(project: Path) -> Path:
    """A project folder with the real bindings and the installed servers."""
    (project / "workflow").mkdir()
    (project / "workflow" / "bindings").symlink_to(ROOT / "workflow" / "bindings")
    (project / "servers").symlink_to(ROOT / "servers")
    return project


def there(name: str) -> None:
    """Skip the test when the store's program is not installed; in CI it has to be."""
    problem = native.missing(load_store(Path("envs/stores") / name))
    if problem and os.environ.get("CI"):
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)


def a_study(name: str) -> Path:
    path = Path("config/studies/smoke/study.yaml")
    study = yaml.safe_load(path.read_text())
    study.update(stores=[name], parameters={"records": 200, "operations": 1000, "threads": 4})
    path.write_text(yaml.safe_dump(study))
    return path


def servers_of(folder: Path) -> list[str]:
    """Command lines of the processes that were started with data in ``folder``."""
    lines = (process.info["cmdline"] for process in psutil.process_iter(["cmdline"]))
    return [" ".join(line) for line in lines if any(str(folder) in part for part in line or [])]


@pytest.mark.parametrize("name", STORES)
def test_a_cell(folder, name):
    there(name)
    path = f"{name}/a/r200_o1000_t4/rep1"
    command = ["kvstudy", "measure", path, "--study", str(a_study(name)), "--provider", "native"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    raw = folder / "results" / "smoke" / "raw" / path
    manifest = json.loads((raw / "manifest.json").read_text())
    assert re.fullmatch(STORES[name], manifest["server"]["version"])
    assert manifest["server"]["records"] == {"load": 200, "run": 200}
    log = (raw / "run.out").read_text()
    done_operations = re.findall(r"^\[(?:READ|UPDATE)\], Operations, (\d+)", log, re.M)
    assert sum(map(int, done_operations)) == 1000
    assert set(re.findall(r"Return=(\w+)", log)) == {"OK"}
    assert servers_of(folder) == []


def test_a_mariadb_server_never_passes_for_mysql(folder):
    there("mariadb")
    mariadb, mysql = (load_store(Path("envs/stores") / name) for name in ("mariadb", "mysql"))
    server = NativeServer(mariadb, free_port(), folder / "data", folder / "server.log")
    with (
        serving(mariadb, server, folder / "server.log"),
        pytest.raises(KvstudyError, match=r"is MariaDB .*not MySQL"),
    ):
        mysql.verbs.version(server.host, server.port)


@pytest.mark.parametrize("name", ["mysql", "mariadb"])
def test_empty_keeps_the_table(folder, name):
    there(name)
    store = load_store(Path("envs/stores") / name)
    server = NativeServer(store, free_port(), folder / "data", folder / "server.log")
    with serving(store, server, folder / "server.log"):
        address = (server.host, server.port)
        store.verbs.empty(*address)
        with connected(*address) as cursor:
            cursor.execute("ALTER TABLE ycsb.usertable ADD FIELD10 TEXT")
            cursor.execute("INSERT INTO ycsb.usertable (YCSB_KEY, FIELD10) VALUES ('user1', 'x')")
            cursor.execute("COMMIT")
        store.verbs.create(*address)
        assert store.verbs.records(*address) == 1
        store.verbs.empty(*address)
        assert store.verbs.records(*address) == 0
        with connected(*address) as cursor:
            cursor.execute("SELECT FIELD10 FROM ycsb.usertable")
