"""Records with named fields on real servers: every value comes back as it was written."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import pytest
import yaml
from kvstudy.analyse.tidy.cell import read_cell
from kvstudy.logs.ycsb.parse import parse
from kvstudy.measure.cell import Request, measure_cell
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import missing
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study, study_path

ROOT = Path(__file__).parents[2]
STORES = ["redis", "memcached", "mongodb", "cassandra", "mysql", "mariadb", "aerospike", "riak"]
BY_HAND = ["aerospike", "riak"]
WORKLOADS = ["product-read", "product-update", "product-insert"]
# Those that cannot read a range of keys.
NO_SCANS = ["memcached", "aerospike", "riak"]


@pytest.mark.parametrize("name", STORES)
def test_products_survive_in_every_store(folder, name):
    store = load_store(Path("envs/stores") / name)
    problem = missing(store)
    if problem and os.environ.get("CI") and name not in BY_HAND:
        pytest.fail(problem)
    if problem:
        pytest.skip(problem)
    workloads = WORKLOADS[1:] if name in NO_SCANS else WORKLOADS
    study = {"name": "products", "title": "Products", "question": "Do they survive?"}
    study |= {"stores": [name], "workloads": workloads, "repetitions": 1}
    study |= {"noise_floor": False, "client_ceiling": False}
    study["parameters"] = {"records": 500, "operations": 2000, "threads": 2}
    study["parameters"]["properties"] = {"dataintegrity": True}
    Path("config/studies/products").mkdir(parents=True)
    Path("config/studies/products/study.yaml").write_text(yaml.safe_dump(study))
    loaded = load_study(study_path("products"))
    cells = plan(loaded)
    for position, cell in enumerate(cells, start=1):
        request = Request(
            cell=cell,
            run="products",
            planned=frozenset(each.path for each in cells),
            position=position,
            provider="native",
            protocol=1,
        )
        raw = measure_cell(request, store, partial(read_cell, loaded, cell))
        log = parse((raw / "run.out").read_text(), "run.out")
        verified = log.sections["VERIFY"]
        assert verified.failed == 0, cell.workload
        assert verified.operations > 100, cell.workload
        assert log.failed == 0, cell.workload
        assert json.loads((raw / "manifest.json").read_text())["server"]["records"]["load"] == 500
