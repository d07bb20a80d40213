"""The Docker provider against a real daemon: life cycle, failures, and what is left behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest
import yaml
from docker_support import images
from docker_support.daemon import docker
from docker_support.fixtures import cannot
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.logs.ycsb.log import parse
from kvstudy.stores import docker as provider
from kvstudy.stores import process
from kvstudy.stores.ask import ask
from kvstudy.stores.definition import load_store
from kvstudy.stores.server import free_port, running_server

from tests.e2e.pipeline import snakemake
from tests.formats_support import text_of
from tests.project import edit, wait_for

STORES = Path(__file__).parents[2] / "envs" / "stores"

SMALL = {
    "name": "small",
    "title": "A small cell",
    "question": "Does the store run in a container?",
    "workloads": ["a"],
    "parameters": {"records": 500, "operations": 1000, "threads": 4},
    "repetitions": 1,
}

# The process of a cell: it starts the server, says so, and waits to be killed.
CONTROLLER = """
import sys, time
from pathlib import Path
from kvstudy.stores.definition import load_store
from kvstudy.stores.docker import DockerServer

folder, image, port, log = sys.argv[1:]
store = load_store(Path(folder))
store = store.model_copy(update={"docker": store.docker.model_copy(update={"image": image})})
server = DockerServer(store, int(port), Path(log).with_name("data"), Path(log))
server.start()
print(server.name, flush=True)
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def own_daemon_and_state(docker_daemon, tmp_path, monkeypatch):
    """Talk to the private daemon only; afterwards no container of ours may exist."""
    monkeypatch.setenv("DOCKER_HOST", docker_daemon)
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "state"))
    yield
    left = docker(docker_daemon, "ps", "--all", "--quiet", "--filter", "label=kvstudy.store")
    assert left == "", "a container was left behind"


def a_store(name: str, image: str, **changes):
    """The project's store, with a local image (and other changes)."""
    store = load_store(STORES / name)
    section = store.docker.model_copy(update={"image": image})
    return store.model_copy(update={"docker": section, **changes})


def containers(daemon: str) -> list[str]:
    listed = docker(daemon, "ps", "--all", "--format", "{{.Names}}")
    return sorted(listed.split())


def volumes(daemon: str) -> str:
    return docker(daemon, "volume", "ls", "--quiet")


def listening(port: int) -> set[str]:
    """The addresses on which somebody listens to the port."""
    sockets = psutil.net_connections("tcp")
    return {s.laddr.ip for s in sockets if s.laddr.port == port and s.status == "LISTEN"}


@pytest.mark.parametrize("name", ["redis", "memcached", "mariadb", "mongodb"])
def test_life_cycle(name, docker_daemon, local_images, tmp_path):
    if reason := images.missing(name):
        cannot(reason)
    store = a_store(name, getattr(local_images, name))
    assert provider.missing_requirement(store) is None
    log = tmp_path / "server.log"
    before = volumes(docker_daemon)
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
    with running_server(store, server, log) as version:
        assert version == images.version(name)
        if hasattr(store.verbs, "create"):
            store.verbs.create(server.host, server.port)
        assert store.verbs.records(server.host, server.port) == 0
        assert listening(server.port) == {"127.0.0.1"}
        assert server.died() is None
        assert containers(docker_daemon) == [server.name]
        data = json.loads(docker(docker_daemon, "inspect", server.name))[0]
        assert data["Config"]["Labels"]["kvstudy.store"] == name
        limits = ("Memory", "NanoCpus", "CpuQuota", "CpuShares", "CpusetCpus")
        assert not any(data["HostConfig"][limit] for limit in limits)
        facts = server.describe()
    assert containers(docker_daemon) == []
    assert volumes(docker_daemon) == before
    assert listening(server.port) == set()
    assert server.died() is not None
    assert not list((process.state_directory() / "servers").iterdir())
    image_id = docker(docker_daemon, "image", "inspect", "--format", "{{.Id}}", facts["image"])
    assert facts["digest"] == facts["image_id"] == image_id.strip()
    assert facts["provider"] == "docker"
    assert facts["docker_version"]


def test_a_container_runs_on_its_cores_only(docker_daemon, local_images, tmp_path):
    core = max(os.sched_getaffinity(0))
    store, log = a_store("redis", local_images.redis), tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log, str(core))
    with running_server(store, server, log):
        (pid,) = server.process_ids()
        assert psutil.Process(pid).cpu_affinity() == [core]
        assert server.describe()["command"].count("--cpuset-cpus") == 1


@pytest.mark.parametrize("name", ["memcached", "mariadb", "mongodb"])
def test_a_small_cell(name, docker_daemon, local_images, project):
    """YCSB loads and runs against the container as against any other server."""
    if reason := images.missing(name):
        cannot(reason)
    image = getattr(local_images, name)
    file = project / "envs/stores" / name / "store.yaml"
    data = yaml.safe_load(file.read_text())
    data["docker"]["image"] = image
    file.write_text(yaml.safe_dump(data))
    (project / "workflow").symlink_to(STORES.parents[1] / "workflow")
    study = project / "config/studies/small/study.yaml"
    study.parent.mkdir()
    study.write_text(yaml.safe_dump(SMALL | {"stores": [name]}))
    cell = f"{name}/a/r500_o1000_t4/rep1"
    command = ["kvstudy", "measure", cell, "--study", str(study), "--provider", "docker"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    raw = project / "results/small/raw" / cell
    server = json.loads((raw / "manifest.json").read_text())["server"]
    assert (server["provider"], server["image"]) == ("docker", image)
    assert server["records"] == {"load": 500, "run": 500}
    run = parse((raw / "run.out").read_text(), "run.out")
    assert (run.attempted, run.failed) == (1000, 0)
    assert containers(docker_daemon) == []


def test_redis_to_the_pdf(clone, docker_daemon, local_images):
    edit(
        clone / "envs/stores/redis/store.yaml",
        lambda store: store["docker"].update(image=local_images.redis),
    )
    study = clone / "config/studies/small/study.yaml"
    study.parent.mkdir()
    changes = {"stores": ["redis"], "noise_floor": False, "client_ceiling": False}
    changes["parameters"] = {"records": 1000, "operations": 10_000, "threads": 4}
    study.write_text(yaml.safe_dump(SMALL | changes))
    snakemake(clone, "study=small", "provider=docker", target="report/small.pdf")
    manifest = json.loads(next(clone.glob("results/small/raw/**/manifest.json")).read_text())
    assert manifest["server"]["provider"] == "docker"
    assert re.search(r"sha256:[0-9a-f]{64}$", manifest["server"]["digest"])
    # A container's processes are seen like those of any other server.
    samples = pd.read_csv(next(clone.glob("results/small/raw/**/processes.csv")))
    assert (samples.loc[samples["side"] == "server", "rss"] > 1_000_000).all()
    used = pd.read_csv(clone / "results/small/resources.csv")
    assert used.loc[used["side"] == "server", "cores_user"].max() > 0
    assert containers(docker_daemon) == []
    text = text_of(clone / "report/small.pdf")
    assert local_images.redis in "".join(text.split())


def test_the_image_gets_the_variables_of_the_store(docker_daemon, local_images, tmp_path):
    if reason := images.missing("mariadb"):
        cannot(reason)
    store, log = a_store("mariadb", local_images.mariadb), tmp_path / "server.log"
    section = store.docker.model_copy(update={"environment": {}})
    without = store.model_copy(update={"docker": section})
    with (
        pytest.raises(KvstudyError, match=r"ended with exit status 1 .*password option is not"),
        running_server(without, _server(without, log), log),
    ):
        pass
    assert containers(docker_daemon) == []


def test_the_log_is_the_servers(local_images, tmp_path):
    store, log = a_store("redis", local_images.redis), tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
    with running_server(store, server, log):
        pass
    assert f"port={server.port}" in log.read_text()


def test_commands_run_in_the_container_until_they_succeed(docker_daemon, local_images, tmp_path):
    # Twice it fails; what it leaves is in the container.
    line = "echo >> ran; while read x; do n=x$n; done < ran; [ $n = xxx ] && : > done-{port}"
    commands = [["sh", "-c", line], ["sh", "-c", ": > last"]]
    store = a_store("redis", local_images.redis)
    section = store.docker.model_copy(update={"after_start": commands})
    store, log = store.model_copy(update={"docker": section}), tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
    with running_server(store, server, log):
        present = "[ -e done-$0 ] && [ -e last ] && echo yes"
        said = docker(docker_daemon, "exec", server.name, "sh", "-c", present, str(server.port))
    assert said.strip() == "yes"


def test_a_command_that_never_succeeds_is_told(local_images, tmp_path):
    store = a_store("redis", local_images.redis, ready_seconds=2)
    commands = [["sh", "-c", "echo no such type >&2; exit 3"]]
    section = store.docker.model_copy(update={"after_start": commands})
    store, log = store.model_copy(update={"docker": section}), tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
    message = r"did not get ready in 2 s \(docker exec .* ended with exit status 3: no such type\)"
    with pytest.raises(KvstudyError, match=message), running_server(store, server, log):
        pass


def test_every_cell_gets_an_empty_server(local_images, tmp_path):
    store, log = a_store("redis", local_images.redis, stop_signal="TERM"), tmp_path / "server.log"
    for _ in range(2):
        server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
        with running_server(store, server, log):
            assert store.verbs.records(server.host, server.port) == 0
            for reply in ("HSET user1 field0 value", "ZADD _indices 1 user1"):
                ask(server.host, server.port, f"{reply}\r\n", until="\r\n")
            assert store.verbs.records(server.host, server.port) == 1
    # TERM lets Redis save its data, which is what the second server must not find.
    assert "DB saved on disk" in log.read_text()


@pytest.fixture
def configured_by_file(local_images, tmp_path):
    """Redis that learns its address and port from a file of the store's folder."""
    folder = tmp_path / "stores" / "redis"
    shutil.copytree(STORES / "redis", folder)
    text = "bind $host\nport $port\ndir $data\nrename-command DEBUG port$port_other\n"
    (folder / "redis.conf").write_text(text)
    store = load_store(folder)
    changes = {
        "image": local_images.redis,
        "command": ["redis-server", "/etc/redis/redis.conf"],
        "files": {"/etc/redis/redis.conf": "redis.conf"},
        "ports": ["other"],
        "data": "/data",
    }
    section = store.docker.model_copy(update=changes)
    return store.model_copy(update={"docker": section})


def test_a_configuration_file_is_filled_in_and_mounted(configured_by_file, tmp_path):
    store, log = configured_by_file, tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "with space", log)
    with running_server(store, server, log) as version:
        assert version
        assert listening(server.port) == {"127.0.0.1"}
    (text,) = server.files.values()
    assert f"bind 127.0.0.1\nport {server.port}\ndir /data\n" in text
    assert re.search(r"DEBUG port\d+\n", text)


def test_a_file_without_the_address_is_refused(configured_by_file):
    template = configured_by_file.folder / "redis.conf"
    template.write_text("port $port\n")
    assert "would listen to other machines" in provider.missing_requirement(configured_by_file)


def test_a_file_that_cannot_be_filled_in_is_named(configured_by_file, tmp_path):
    template = configured_by_file.folder / "redis.conf"
    template.write_text("bind $adress\n")
    with pytest.raises(KvstudyError, match=r"redis\.conf: cannot be filled in: .*adress"):
        _server(configured_by_file, tmp_path / "server.log")


@pytest.mark.parametrize("by_file", [False, True])
def test_the_shown_commands_work_when_pasted(
    by_file, docker_daemon, local_images, configured_by_file, tmp_path
):
    store = configured_by_file if by_file else a_store("redis", local_images.redis)
    server = provider.DockerServer(store, free_port(), tmp_path / "data", tmp_path / "server.log")
    lines = server.commands()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run("\n".join(lines["start"]), shell=True, **quiet)
    wait_for(lambda: listening(server.port) == {"127.0.0.1"})
    subprocess.run("\n".join(lines["stop"]), shell=True, **quiet)
    wait_for(lambda: containers(docker_daemon) == [])


def test_image_of_a_registry_is_pulled_and_its_digest_recorded(
    docker_daemon, local_images, local_registry, tmp_path, capfd
):
    image = f"{local_registry}/redis:{local_images.redis_version}"
    docker(docker_daemon, "tag", local_images.redis, image)
    docker(docker_daemon, "push", "--quiet", image)
    docker(docker_daemon, "rmi", image)
    store, log = a_store("redis", image), tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
    with running_server(store, server, log) as version:
        assert version == local_images.redis_version
    assert f"docker pull --quiet {image}" in capfd.readouterr().err
    name, digest = server.describe()["digest"].split("@sha256:")
    assert name == f"{local_registry}/redis"
    assert len(digest) == 64
    pinned = a_store("redis", f"{name}@sha256:{digest}")
    docker(docker_daemon, "rmi", image)
    server = provider.DockerServer(pinned, free_port(), tmp_path / "data", log)
    with running_server(pinned, server, log):
        assert server.describe()["digest"] == f"{name}@sha256:{digest}"


def test_image_of_a_dockerfile_is_built_from_the_stores_server(
    docker_daemon, local_images, tmp_path, monkeypatch, capfd
):
    base, image = local_images.redis, "kvstudy-test/built:1.0.0"
    monkeypatch.chdir(tmp_path)
    folder = shutil.copytree(STORES / "redis", tmp_path / "envs/stores/redis")
    (folder / "Dockerfile").write_text(f"FROM {base}\nCOPY release /release\n")
    store = a_store(str(folder), image)
    problem = provider.missing_requirement(store)
    assert "is built from servers/redis, which is not here: run 'make servers STORES=redis'" in (
        problem
    )
    (tmp_path / "servers/redis").mkdir(parents=True)
    (tmp_path / "servers/redis/release").write_text("one\n")
    assert provider.missing_requirement(store) is None
    log = tmp_path / "server.log"
    server = provider.DockerServer(store, free_port(), tmp_path / "data", log)
    with running_server(store, server, log) as version:
        assert version == local_images.redis_version
        output = docker(
            docker_daemon, "exec", server.name, "sh", "-c", 'read x < /release; echo "$x"'
        )
        assert output == "one\n"
    assert f"docker build --quiet --tag {image}" in capfd.readouterr().err


def test_image_that_cannot_be_pulled(tmp_path):
    # Nobody listens on port 1, so this fails without a network and at once.
    store, log = a_store("redis", "127.0.0.1:1/redis:1.2.3"), tmp_path / "server.log"
    with pytest.raises(KvstudyError) as error, running_server(store, _server(store, log), log):
        pass
    message = str(error.value)
    assert "envs/stores/redis/store.yaml: docker.image: cannot pull 127.0.0.1:1/redis:1.2.3" in (
        message
    )
    assert "connection refused" in message
    assert "docker load" in message


def test_image_that_the_registry_does_not_have(local_registry, tmp_path):
    store, log = a_store("redis", f"{local_registry}/none:1.2.3"), tmp_path / "server.log"
    with (
        pytest.raises(KvstudyError, match=r"cannot pull .*/none:1\.2\.3 \(.*unknown"),
        running_server(store, _server(store, log), log),
    ):
        pass


def test_server_that_dies_at_start(docker_daemon, local_images, tmp_path):
    store, log = a_store("redis", local_images.dies), tmp_path / "server.log"
    with (
        pytest.raises(KvstudyError, match=r"Redis server ended with exit status 1 .*FATAL CONFIG"),
        running_server(store, _server(store, log), log),
    ):
        pass
    assert containers(docker_daemon) == []


def test_port_that_is_taken(docker_daemon, local_images, tmp_path):
    store, log = a_store("redis", local_images.redis), tmp_path / "server.log"
    first = _server(store, log)
    with running_server(store, first, log):
        other = tmp_path / "second.log"
        second = provider.DockerServer(store, first.port, tmp_path / "data", other)
        second.start()
        wait_for(lambda: second.died() is not None)
        second.stop()
        assert "Address already in use" in other.read_text()
        assert containers(docker_daemon) == [first.name]


def test_server_that_never_gets_ready(docker_daemon, local_images, tmp_path):
    changes = {"ready_seconds": 1.5}
    store, log = a_store("redis", local_images.never_ready, **changes), tmp_path / "server.log"
    with (
        pytest.raises(KvstudyError, match=r"did not get ready in 1\.5 s .*still starting"),
        running_server(store, _server(store, log), log),
    ):
        pass
    assert containers(docker_daemon) == []


def test_server_that_dies_later_is_noticed(docker_daemon, local_images, tmp_path):
    store, log = a_store("redis", local_images.redis), tmp_path / "server.log"
    server = _server(store, log)
    with running_server(store, server, log):
        docker(docker_daemon, "kill", server.name)
        wait_for(lambda: server.died() is not None)
        assert server.died() == "was killed by SIGKILL"


def test_stop_right_after_start_leaves_nothing(docker_daemon, local_images, tmp_path):
    store = a_store("redis", local_images.redis)
    server = _server(store, tmp_path / "server.log")
    server.start()
    server.stop()
    assert containers(docker_daemon) == []


def test_daemon_that_is_down(local_images, tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")
    store, log = a_store("redis", local_images.redis), tmp_path / "server.log"
    problem = provider.missing_requirement(store)
    assert "the Docker daemon does not answer" in problem
    assert "nobody.sock" in problem
    assert "systemctl start docker" in problem
    with (
        pytest.raises(KvstudyError, match="the Docker daemon does not answer"),
        running_server(store, _server(store, log), log),
    ):
        pass


def test_daemon_of_another_machine(local_images, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert "is not on this machine" in sentence(
        provider.missing_requirement(a_store("redis", local_images.redis))
    )


def test_no_docker_program(local_images, monkeypatch):
    with monkeypatch.context() as bare:
        bare.setenv("PATH", "")
        assert "no program docker" in sentence(
            provider.missing_requirement(a_store("redis", local_images.redis))
        )


@pytest.mark.parametrize("image", ["redis", "redis:latest", "redis:7", "localhost:5000/redis"])
def test_image_without_an_exact_version_is_refused(image):
    assert "docker.image: " in provider.missing_requirement(a_store("redis", image))


def test_server_that_would_listen_to_everybody_is_refused(local_images):
    store = a_store("redis", local_images.redis)
    section = store.docker.model_copy(update={"command": ["--port", "{port}"]})
    problem = provider.missing_requirement(store.model_copy(update={"docker": section}))
    assert "docker.command" in problem


def test_sigkill_of_the_controller_ends_a_server(docker_daemon, local_images, tmp_path):
    name = _killed_controller(local_images.redis, "Ready to accept connections", tmp_path)
    wait_for(lambda: name not in containers(docker_daemon))
    assert provider.sweep() == []
    assert not list((process.state_directory() / "servers").iterdir())


def test_sigkill_of_the_controller_then_sweep(docker_daemon, local_images, tmp_path):
    # This server ignores SIGTERM, so only the next cell can end it.
    name = _killed_controller(local_images.never_ready, "still starting", tmp_path)
    time.sleep(1)
    assert containers(docker_daemon) == [name]
    assert provider.sweep() == [f"redis (container {name})"]
    assert containers(docker_daemon) == []
    assert provider.sweep() == []


def test_sweep_while_the_daemon_is_down_tries_again_later(
    docker_daemon, local_images, tmp_path, monkeypatch
):
    name = _killed_controller(local_images.never_ready, "still starting", tmp_path)
    (record,) = (process.state_directory() / "servers").iterdir()
    entry = json.loads(record.read_text())
    record.write_text(json.dumps(entry | {"daemon": f"unix://{tmp_path}/nobody.sock"}))
    assert provider.sweep() == []
    record.write_text(json.dumps(entry))
    assert provider.sweep() == [f"redis (container {name})"]


def test_containers_of_others_are_not_touched(docker_daemon, local_images, tmp_path):
    store, log = a_store("redis", local_images.redis), tmp_path / "server.log"
    names = ["redis", f"kvstudy-redis-{os.getpid()}", "x-kvstudy-redis-1"]
    run = ("run", "--detach", "--network", "host", "--name")
    try:
        for name in names:
            arguments = ("--bind", "127.0.0.1", "--port", str(free_port()))
            docker(docker_daemon, *run, name, local_images.redis, *arguments)
        began = _since(docker_daemon, names)
        with running_server(store, _server(store, log), log):
            pass
        _killed_controller(local_images.never_ready, "still starting", tmp_path)
        assert len(provider.sweep()) == 1
        assert containers(docker_daemon) == sorted(names)
        assert _since(docker_daemon, names) == began
    finally:
        docker(docker_daemon, "rm", "--force", "--volumes", *names)


def _server(store, log) -> provider.DockerServer:
    return provider.DockerServer(store, free_port(), log.with_name("data"), log)


def _since(daemon: str, names: list[str]) -> str:
    return docker(daemon, "inspect", "--format", "{{.State.Running}} {{.State.StartedAt}}", *names)


def _killed_controller(image: str, said: str, tmp_path: Path) -> str:
    """Kill the process that started a Redis once its log holds ``said``; the container's name."""
    log = tmp_path / "killed.log"
    arguments = [str(STORES / "redis"), image, str(free_port()), str(log)]
    controller = subprocess.Popen(
        [sys.executable, "-c", CONTROLLER, *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        container = controller.stdout.readline().strip()
        # Running is too early: a process 1 ignores SIGTERM until it has a handler for it.
        wait_for(lambda: said in log.read_text(), lambda: f"{said}: not in {log.read_text()}")
    finally:
        controller.send_signal(signal.SIGKILL)
        controller.wait()
    return container
