"""commands.txt: what a person pastes to repeat a cell, for each provider and kind of cell."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from kvstudy.documents.export.by_hand import commands_of_run
from kvstudy.errors import KvstudyError
from kvstudy.stores.server import free_port
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.study.raw import write_sums

from tests.project import kvstudy

STUDY = Path("config/studies/tiny/study.yaml")
RAW = Path("results/tiny/raw")


@pytest.fixture
def study(project: Path):
    """Writes a study with these keys, and returns it."""

    def write(**keys: object):
        STUDY.parent.mkdir(exist_ok=True)
        content = {
            "name": "tiny",
            "title": "Tiny",
            "question": "Which?",
            "stores": ["redis"],
            "workloads": ["a"],
            "parameters": {"records": 6379, "operations": 2000, "threads": 2},
            "repetitions": 1,
            "noise_floor": False,
            "client_ceiling": False,
        }
        STUDY.write_text(yaml.safe_dump(content | keys))
        return load_study(STUDY)

    return write


def measured(
    cell,
    server: dict,
    started: str = "2026-01-01T00:00:00+00:00",
    start: tuple[str, ...] = ("redis-server --port 6379 --dir /there/{folder}/data &",),
    stop: str = "kill -KILL %1",
    address: str = "redis.host=127.0.0.1 -p redis.port=6379",
) -> None:
    """Leave the cell's manifest and commands as ``kvstudy measure`` does."""
    folder = f"results/tiny/measuring/{cell.path}"
    commands = {
        phase: f"java site.ycsb.Client -p recordcount=6379 -p {address} "
        f"-p hdrhistogram.output.path={folder}/{phase}."
        for phase in cell.phases
    }
    lines = ["export CLASSPATH='workflow/bindings/target/lib/*'", "", "# server"]
    lines += [line.format(folder=folder) for line in start]
    for phase, command in commands.items():
        if cell.clients and phase == cell.measured_phase:
            lines += ["# run-2: next to the next command", f"{command} &"]
        lines += ["", f"# {phase}", command]
    lines += ["", "# stop", stop]
    raw = RAW / cell.path
    raw.mkdir(parents=True)
    (raw / "commands.sh").write_text("\n".join(lines) + "\n")
    manifest = {
        "kvstudy": "0.1.0",
        "run": "tiny",
        "cell": cell.as_json(),
        "position": 1,
        "started": started,
        "server": {"version": "7.0.15", **server},
        "phases": {phase: {"command": text.split()} for phase, text in commands.items()},
        "client": {
            "kind": "kvstudy",
            "classpath": "workflow/bindings/target/lib/*",
            "jars": {"core-0.17.0.jar": ""},
        },
        "java": {"version": "openjdk 17", "runtime": "OpenJDK", "variables": ["JAVA_OPTS"]},
    }
    (raw / "manifest.json").write_text(json.dumps(manifest))
    write_sums(raw)


NATIVE = {"provider": "native", "program": "/usr/bin/redis-server", "command": []}


def text_of(study) -> str:
    text = commands_of_run(study, 1.0, "tiny", RAW)
    assert subprocess.run(["bash", "-n"], input=text, text=True).returncode == 0
    return text


def test_a_native_cell_names_no_place_of_its_machine_but_once(study):
    tiny = study()
    (cell,) = plan(tiny)
    measured(cell, NATIVE)
    head, block = text_of(tiny).split("# ----", 1)
    assert "KVSTUDY=${KVSTUDY:-/there}" in head
    assert "PORT=${PORT:-6379}" in head
    for version in ("Redis 7.0.15 (native", "Java: openjdk 17", "core-0.17.0.jar", "JAVA_OPTS"):
        assert version in head
    assert "/there" not in block
    assert 'redis-server --port "$PORT" --dir "$CELL/data" < /dev/null' in block
    assert 'kvstudy ready redis --address "127.0.0.1:$PORT"' in block
    assert '-p "redis.port=$PORT" -p "hdrhistogram.output.path=$CELL/run."' in block
    # As many records as the port's number: only what names the server is a port.
    assert "-p recordcount=6379" in block
    assert block.index("# server") < block.index("# ready") < block.index("# load")
    assert block.index("# load") < block.index("# run") < block.index("kill -KILL")


def test_cells_stand_in_the_order_of_measurement_and_missing_ones_at_the_end(study):
    tiny = study(repetitions=3)
    first, second, third = plan(tiny)
    measured(first, NATIVE, "2026-01-01T02:00:00+00:00")
    measured(third, NATIVE, "2026-01-01T01:00:00+00:00")
    text = text_of(tiny)
    assert re.findall(r"^# (\d)\. (\S+)", text, re.M) == [("1", third.path), ("2", first.path)]
    assert text.split("Not measured")[1].split("#   ")[1].strip() == second.path


def test_a_container_has_a_name_that_everybody_can_use(study):
    tiny = study()
    (cell,) = plan(tiny)
    name = "kvstudy-redis-77-abcd"
    command = f"docker run --rm --name {name} --network host redis:7.0.15 --port 6379"
    server = {"provider": "docker", "image": "redis:7.0.15", "digest": "redis@sha256:1"}
    server["command"] = command.split()
    measured(cell, server, start=(f"{command} &",), stop=f"docker rm --force --volumes {name}")
    text = text_of(tiny)
    assert name not in text
    assert "redis:7.0.15, redis@sha256:1" in text
    assert 'docker run --rm --name "kvstudy-by-hand" ' in text
    assert 'docker rm --force --volumes "kvstudy-by-hand"\nwait "$SERVER"' in text


def test_a_server_of_others_is_neither_started_nor_stopped(study):
    tiny = study()
    (cell,) = plan(tiny)
    running = "# the server runs at 10.0.0.5:6379"
    server = {"provider": "external", "address": "10.0.0.5:6379"}
    address = "redis.host=10.0.0.5 -p redis.port=6379"
    measured(cell, server, start=(running,), stop=running, address=address)
    text = text_of(tiny)
    assert text.count(running) == 2
    assert "kvstudy ready redis --address 10.0.0.5:6379" in text
    assert "-p redis.host=10.0.0.5 -p redis.port=6379" in text
    assert "kill" not in text


def test_commands_beside_the_server_are_repeated_until_they_succeed(study):
    tiny = study()
    (cell,) = plan(tiny)
    known = NATIVE | {"ports": {"handoff": 4001}}
    comment = "# once its port is open, each until it succeeds:"
    measured(cell, known, start=("serve --handoff 4001 &", comment, "make-types 6379"))
    text = text_of(tiny)
    assert "PORT_HANDOFF=${PORT_HANDOFF:-4001}" in text
    assert 'serve --handoff "$PORT_HANDOFF" <' in text
    assert 'until make-types "$PORT"; do sleep 1; done' in text


def test_controls_are_there(study):
    sizes = {"records": 6379, "operations": 2000, "threads": 2, "clients": 2}
    tiny = study(client_ceiling=True, parameters=sizes)
    for cell in plan(tiny):
        if cell.store == "client-ceiling":
            none = ("# no server",)
            here = {"provider": "none", "command": []}
            measured(cell, here, start=none, stop=none[0], address="basicdb.verbose=false")
        else:
            measured(cell, NATIVE)
    text = text_of(tiny)
    blocks = {re.search(r"\. ([^/]+)", block)[1]: block for block in text.split("# ----")[1:]}
    assert "kvstudy ready" not in blocks["client-ceiling"]
    assert "java" in blocks["client-ceiling"]
    assert re.search(
        r"&\nCLIENTS=\"\$CLIENTS \$!\"\n# run\njava.*\nwait \$CLIENTS; CLIENTS=\n",
        blocks["redis"],
    )


def test_a_server_that_refuses_root_becomes_another_user(study):
    tiny = study(stores=["memcached"])
    (cell,) = plan(tiny)
    start = ("memcached -p 6379 &",)
    measured(cell, NATIVE, start=start, address="memcached.hosts=127.0.0.1:6379")
    assert '$AS memcached -p "$PORT" <' in text_of(tiny)


def test_a_broken_manifest_is_named(study):
    tiny = study()
    (cell,) = plan(tiny)
    measured(cell, NATIVE)
    (RAW / cell.path / "manifest.json").write_text("{")
    with pytest.raises(KvstudyError, match=f"{cell.path}: its commands cannot be read"):
        commands_of_run(tiny, 1.0, "tiny", RAW)


def test_waiting_for_a_server_ends_with_a_reason(pretend_study):
    file = Path("envs/stores/pretend/store.yaml")
    file.write_text(re.sub(r"ready_seconds: \d+", "ready_seconds: 0.1", file.read_text()))
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(KvstudyError, match=f"^no Pretend server got ready at {address} in 0.1 s"):
        kvstudy("ready", "pretend", "--address", address)
