"""Records with named fields on real servers: every value comes back as it was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from kvstudy.logs.ycsb.log import parse
from kvstudy.stores.definition import load_store
from kvstudy.stores.native import missing_requirement
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study

from tests.e2e.pipeline import reported_tiny
from tests.e2e.shop import shrink
from tests.project import measure

WORKLOADS = ["product-read", "product-update", "product-insert"]
# Not in the study as it is tested. Three of them can read a range of keys.
OTHERS = ["memcached", "mysql", "mariadb", "aerospike", "riak", "cassandra"]
SCANS = ["mysql", "mariadb", "cassandra"]


def check(raw: Path) -> None:
    """The cell was measured, and all values that YCSB read were those that it wrote."""
    log = parse((raw / "run.out").read_text(), "run.out")
    verified = log.sections["VERIFY"]
    assert verified.failed == 0, raw
    assert verified.operations > 100, raw
    assert log.failed == 0, raw
    assert json.loads((raw / "manifest.json").read_text())["server"]["records"]["load"] >= 500


def test_the_study_of_a_shop(clone):
    def change(study: dict) -> None:
        shrink(study)
        study["parameters"].update(properties={"dataintegrity": True})

    results = reported_tiny(clone, "ascani2023", change)
    cells = [path.parent for path in results.glob("raw/*/*/*/*/run.out")]
    stores = {path.parents[2].name for path in cells}
    assert stores == {"redis", "mongodb"}
    # Three workloads, one with two thread counts.
    assert len(cells) == 2 * (2 + 1 + 1)
    for raw in cells:
        check(raw)


@pytest.mark.parametrize("name", OTHERS)
def test_products_survive_in_the_other_stores(folder, name):
    if problem := missing_requirement(load_store(Path("envs/stores") / name)):
        pytest.skip(problem)
    study = {"name": "products", "title": "Products", "question": "Do they survive?"}
    study |= {"stores": [name], "workloads": WORKLOADS[name not in SCANS :], "repetitions": 1}
    study |= {"noise_floor": False, "client_ceiling": False}
    study["parameters"] = {"records": 500, "operations": 2000, "threads": 2}
    study["parameters"]["properties"] = {"dataintegrity": True}
    file = Path("config/studies/products/study.yaml")
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(study))
    for cell in plan(load_study(file)):
        measure(cell.path, study=file)
        check(Path("results/products/raw", cell.path))
