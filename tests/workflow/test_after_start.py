"""The commands that a server needs next to it before it is ready, and its further ports."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from kvstudy.errors import KvstudyError
from kvstudy.stores import docker, native
from kvstudy.stores.definition import Docker, Store, load_store
from kvstudy.stores.native import NativeServer, find_program
from kvstudy.stores.server import HOST, free_port, running_server


def a_store(provider: str = "native", **changes) -> Store:
    store = load_store(Path("envs/stores/pretend"))
    selected = store.native
    if provider == "docker":
        selected = Docker(image="pretend:1.0.0", command=["{host}", "{port}"])
    return store.model_copy(update={provider: selected.model_copy(update=changes)})


def a_server(project: Path, *lines: str) -> NativeServer:
    """The pretended server and shell lines that it needs next to it; $1 is its folder."""
    store = a_store(after_start=[["sh", "-c", line, "sh", "{data}", "{port}"] for line in lines])
    return NativeServer(store, free_port(), project / "data", project / "server.log")


def test_each_runs_until_it_succeeds_and_only_then_the_next(pretend_study, project):
    third = 'echo one >> "$1/ran"; [ "$(wc -l < "$1/ran")" -eq 3 ]'
    server = a_server(project, third, 'echo two >> "$1/ran"')
    with running_server(server.store, server, server.log):
        assert (project / "data/ran").read_text().split() == ["one", "one", "one", "two"]


def test_they_wait_for_the_servers_port(pretend_study, project):
    connects = f"{sys.executable} -c 'import socket, sys; socket.create_connection(sys.argv[1:])'"
    server = a_server(project, f'{connects} {HOST} "$2" || echo early >> "$1/ran"')
    with running_server(server.store, server, server.log):
        assert not (project / "data/ran").exists()


def test_one_that_never_succeeds_is_told_with_its_last_words(pretend_study, project):
    server = a_server(project, "echo no such bucket type >&2; exit 3", 'touch "$1/made"')
    message = (
        r"Pretend server did not get ready in 4 s \(sh -c .* ended with exit status 3: "
        r"no such bucket type\); .*store\.yaml: ready_seconds sets the limit"
    )
    with (
        pytest.raises(KvstudyError, match=message),
        running_server(server.store, server, server.log),
    ):
        pass
    assert not (project / "data/made").exists()


def test_one_that_hangs_is_ended_and_tried_again(pretend_study, project, monkeypatch):
    monkeypatch.setattr(native, "COMMAND_SECONDS", 0.3)
    hangs = '[ -e "$1/pid" ] && exit 0; echo $$ > "$1/pid"; exec sleep 300'
    server = a_server(project, hangs)
    began = time.monotonic()
    with running_server(server.store, server, server.log):
        assert not psutil.pid_exists(int((project / "data/pid").read_text()))
    assert time.monotonic() - began < 60


def test_the_servers_death_ends_the_waiting(pretend_study, project, monkeypatch):
    monkeypatch.setenv("PRETEND_SERVER", "dies-after-0.5")
    server = a_server(project, "exit 1")
    with (
        pytest.raises(KvstudyError, match=r"ended with exit status 3 before it was ready"),
        running_server(server.store, server, server.log),
    ):
        pass


def test_they_are_in_the_manifest_and_in_the_commands(pretend_study, project):
    server = a_server(project, "exit 0")
    (command,) = server.describe()["after_start"]
    assert command[:3] == ["sh", "-c", "exit 0"]
    lines = server.commands()["start"]
    assert lines[-1].startswith("sh -c 'exit 0' sh /")
    assert lines[-2].startswith("# once its port is open")


def test_in_a_container_they_run_in_the_container(project, pretend_study, monkeypatch):
    requests = []

    def run(command, **options):
        requests.append((command, options["timeout"]))
        if len(requests) == 2:
            raise subprocess.TimeoutExpired(command, 10)
        return subprocess.CompletedProcess(command, int(len(requests) == 1), "not yet\n", "")

    store = a_store(
        "docker", after_start=[["admin", '{{"n": 1}}', "{ports[side]}"]], ports=["side"]
    )
    server = docker.DockerServer(store, 1000, project / "data", project / "log")
    monkeypatch.setattr(docker.subprocess, "run", run)
    (command,) = server.after_start
    assert command[:5] == ["docker", "exec", server.name, "admin", '{"n": 1}']
    assert int(command[5]) > 1024
    with pytest.raises(OSError, match=r"docker exec .* ended with exit status 1: not yet"):
        server.run_beside(command)
    with pytest.raises(OSError, match=r"docker exec .*: no end after 10 s"):
        server.run_beside(command)
    server.run_beside(command)
    assert [entry[0] for entry in requests] == [command] * 3
    assert server.commands()["start"][-1].startswith("docker exec ")


def test_ports_at_a_distance_are_free_too(pretend_study, project):
    with socket.create_server((HOST, 0)) as taken:
        wanted = taken.getsockname()[1] - 11
        with pytest.raises(KvstudyError, match=rf"port {wanted + 11} is taken by"):
            free_port(wanted, [11])
    with pytest.raises(KvstudyError, match="port 65540 does not exist"):
        free_port(65530, [10])


def test_no_connection_gets_a_port_that_a_server_may_have(monkeypatch):
    lowest = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    assert len({port for _ in range(50) if 1024 < (port := free_port(0, [11])) < lowest - 11}) > 40
    # What is taken is passed over, also above.
    monkeypatch.setattr(random.SystemRandom, "sample", lambda self, ports, k: list(ports)[:k])
    with socket.create_server((HOST, free_port())) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr("kvstudy.stores.server.OWN_PORTS", range(port, port + 100))
        assert free_port() > port
        monkeypatch.setattr("kvstudy.stores.server.OWN_PORTS", range(port - 11, port + 100))
        assert free_port(0, [11]) > port - 11


def test_ports_at_a_distance_are_filled_in(pretend_study, project):
    store = a_store(command=["server", "{port}", "{ports[http]}"])
    store = store.model_copy(update={"side_ports": {"http": 11}})
    server = NativeServer(store, 2000, project / "data", project / "log")
    assert server.command == ["server", "2000", "2011"]


def test_a_release_below_servers(pretend_study, project, monkeypatch):
    store = a_store(program="riak")
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_program(store) is None
    program = project / "servers/pretend/bin/riak"
    program.parent.mkdir(parents=True)
    program.touch()
    assert find_program(store) == str(program)
