"""Server and client on cores of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.measure import setting as module
from kvstudy.measure.kernel import Tree
from kvstudy.measure.setting import Pinning, pinning
from kvstudy.stores import process
from kvstudy.stores.definition import load_store
from kvstudy.stores.docker import DockerServer

from .machines import machine, put


def usable(root: Path, cores: str, name: str = "laptop") -> Tree:
    put(machine(name, root), "proc/self/status", f"Cpus_allowed_list:\t{cores}\n")
    return Tree(root)


@pytest.mark.parametrize(
    ("name", "cores", "server", "client"),
    [
        ("virtual", "0-1", "0", "1"),
        ("laptop", "0-3", "0-1", "2-3"),
        # Threads 0 and 4 are one core, 1 and 5, ...
        ("laptop", "0-7", "0-1,4-5", "2-3,6-7"),
        ("laptop", "0-2,4-6", "0,4", "1-2,5-6"),
        ("laptop", "0,4", "0", "4"),
        # The odd core goes to the client.
        ("laptop", "1-3", "1", "2-3"),
    ],
)
def test_halves(tmp_path, name, cores, server, client):
    assert pinning("true", "native", usable(tmp_path, cores, name)) == Pinning(server, client)


def test_lists_and_off(tmp_path):
    tree = usable(tmp_path, "0-7")
    assert pinning("false", "external", tree) is None
    assert pinning("3,1,2/5-6", "docker", tree) == Pinning("1-3", "5-6")


@pytest.mark.parametrize(
    ("wanted", "provider", "cores", "message"),
    [
        ("true", "external", "0-7", "provider external.*set pin_cpus: false"),
        ("true", "native", "5", "only core 5 is usable here"),
        ("5/5", "native", "5", "only core 5 is usable here"),
        ("0/9", "native", "0-7", "client: core 9 is not usable here; usable are 0-7"),
        ("0-3/2-4", "native", "0-7", "both have core 2-3"),
        ("0-x/4", "native", "0-7", "server: '0-x' is no list of cores"),
        ("0/", "native", "0-7", "client: '' is no list of cores"),
        ("maybe", "native", "0-7", "'maybe' is none of true, false"),
        ("true", "native", "", "usable cores are not visible"),
    ],
)
def test_cores_that_cannot_be_had(tmp_path, wanted, provider, cores, message):
    with pytest.raises(KvstudyError, match=message) as error:
        pinning(wanted, provider, usable(tmp_path, cores))
    assert str(error.value).startswith("config/config.yaml: pin_cpus: ")


def test_without_the_program_that_binds(tmp_path, monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda program: None)
    with pytest.raises(KvstudyError, match="no program taskset; install util-linux"):
        pinning("true", "native", usable(tmp_path, "0-7"))


def test_a_container_gets_its_cores(tmp_path):
    store = load_store(Path(__file__).parents[2] / "envs/stores/redis")
    bound = DockerServer(store, 7000, tmp_path, tmp_path / "log", "0,2").command
    assert bound[bound.index("--cpuset-cpus") + 1] == "0,2"
    assert bound.index("--cpuset-cpus") < bound.index(store.docker.image)
    assert "--cpuset-cpus" not in DockerServer(store, 7000, tmp_path, tmp_path / "log").command


def test_no_cores_no_command():
    assert process.pinning_prefix("") == []
