"""The contract tests of our YCSB bindings (Java), each against its real server."""

import contextlib
import os
import subprocess
from pathlib import Path

from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer, missing_requirement
from kvstudy.stores.server import free_port, running_server

from .pipeline import BY_HAND

ROOT = Path(__file__).parents[2]
STORES = (
    *("redis", "memcached", "mongodb", "cassandra", "mysql", "mariadb", "postgresql", "valkey"),
    *("etcd", "dynamodb"),
)
TESTS = ROOT / "workflow/bindings/src/test/java/kvstudy/db"


def test_every_binding_keeps_the_contract(tmp_path, monkeypatch):
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "state"))
    command = ["mvn", "--quiet", "--batch-mode", "-Pcontract", "test"]
    stores = [load_store(ROOT / "envs" / "stores" / name) for name in sorted({*STORES, *BY_HAND})]
    absent = [store.name for store in stores if missing_requirement(store)]
    assert BY_HAND.issuperset(absent) or not os.environ.get("CI"), absent
    tests = [path.stem for path in TESTS.glob("*ContractTest.java")]
    left_out = [f"!{test}" for test in tests if any(name in test.lower() for name in absent)]
    command += [f"-Dtest={','.join(left_out)}"] if left_out else []
    with contextlib.ExitStack() as running:
        for store in stores:
            name = store.name
            if name in absent:
                continue
            data, log = tmp_path / name, tmp_path / f"{name}.log"
            server = NativeServer(store, free_port(0, store.side_ports.values()), data, log)
            running.enter_context(running_server(store, server, log))
            if hasattr(store.verbs, "create"):
                store.verbs.create(server.host, server.port)
            command.append(f"-D{name}={server.host}:{server.port}")
        done = subprocess.run(
            command, cwd=ROOT / "workflow" / "bindings", capture_output=True, text=True
        )
    assert done.returncode == 0, done.stdout[-6000:]
