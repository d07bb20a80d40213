"""The contract tests of our YCSB bindings (Java), each against its real server."""

import contextlib
import subprocess
from pathlib import Path

from kvstudy.stores.definition import load_store
from kvstudy.stores.native import NativeServer, missing
from kvstudy.stores.server import free_port, serving

ROOT = Path(__file__).parents[2]
STORES = (
    *("redis", "memcached", "mongodb", "cassandra", "mysql", "mariadb", "postgresql", "valkey"),
    *("etcd", "dynamodb"),
)
# No package registry has their servers: tested where somebody installed them.
BY_HAND = {"aerospike": "AerospikeContractTest", "riak": "Riak*ContractTest"}


def test_every_binding_keeps_the_contract(tmp_path, monkeypatch):
    monkeypatch.setenv("KVSTUDY_STATE", str(tmp_path / "state"))
    command = ["mvn", "--quiet", "--batch-mode", "-Pcontract", "test"]
    stores = [load_store(ROOT / "envs" / "stores" / name) for name in (*STORES, *BY_HAND)]
    absent = [store.name for store in stores if store.name in BY_HAND and missing(store)]
    command += ["-Dtest=" + ",".join(f"!{BY_HAND[name]}" for name in absent)] if absent else []
    with contextlib.ExitStack() as running:
        for store in stores:
            name = store.name
            if name in absent:
                continue
            data, log = tmp_path / name, tmp_path / f"{name}.log"
            server = NativeServer(store, free_port(0, store.side_ports.values()), data, log)
            running.enter_context(serving(store, server, log))
            if hasattr(store.verbs, "create"):
                store.verbs.create(server.host, server.port)
            command.append(f"-D{name}={server.host}:{server.port}")
        done = subprocess.run(
            command, cwd=ROOT / "workflow" / "bindings", capture_output=True, text=True
        )
    assert done.returncode == 0, done.stdout[-6000:]
