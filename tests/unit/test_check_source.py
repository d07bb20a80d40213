"""Claims, quotes and properties of a source are read before anything is measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from kvstudy.analyse.claims.file import check_source
from kvstudy.errors import KvstudyError
from kvstudy.study.load import STUDIES, load_study

from tests.project import edit

FOLDER = STUDIES / "jedlicka2024"


def expecting(operand: object) -> Callable[[dict], None]:
    return lambda data: data["quotes"][0].update(expected=operand)


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*/study.yaml")), ids=lambda p: p.parent.name)
def test_every_study_here_is_good(project: Path, path: Path):
    check_source(path, load_study(path))


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (
            "claims.yaml",
            lambda data: data["claims"][0]["statements"][0].update(stores=["redis", "riack"]),
            "claims[0].statements[0].stores: unknown store 'riack'; did you mean 'riak'?",
        ),
        (
            "quotes.yaml",
            expecting("rediss/a/read/operations"),
            "quotes[0].expected: rediss/a/read/operations: unknown store of published.csv "
            "'rediss'; did you mean 'redis'?",
        ),
        (
            "quotes.yaml",
            expecting({"ratio": ["redis/inzert/overall/throughput", 2]}),
            "unknown workload of published.csv 'inzert'; did you mean 'insert'?",
        ),
        (
            "quotes.yaml",
            expecting({"mean": ["redis/a/*/latency_men"]}),
            "unknown metric of published.csv 'latency_men'; did you mean 'latency_mean'?",
        ),
        (
            "quotes.yaml",
            lambda data: data["failures"][0].update(store="riack"),
            "failures[0].store: unknown store 'riack'; did you mean 'riak'?",
        ),
        (
            "quotes.yaml",
            lambda data: data["failures"][0].update(operation="updaet"),
            "failures[0].operation: must be one of read, update, insert, scan, read-modify-write, "
            "but is 'updaet'; did you mean 'update'?",
        ),
        (
            "quotes.yaml",
            lambda data: data["setting"]["operations"].update(inzert=5),
            "setting.operations: unknown workload or operation 'inzert'; did you mean 'insert'?",
        ),
        (
            "properties.yaml",
            lambda data: data["stores"].update(reddis={}),
            "stores: unknown store 'reddis'; did you mean 'redis'?",
        ),
        (
            "properties.yaml",
            lambda data: data["stores"]["redis"].update(licens="x"),
            "redis: unknown property 'licens'; did you mean 'licence'?",
        ),
    ],
)
def test_unknown_names_are_refused(project: Path, file: str, change: Callable, message: str):
    path = edit(FOLDER / file, change)
    study = FOLDER / "study.yaml"
    with pytest.raises(KvstudyError) as error:
        check_source(study, load_study(study))
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)
