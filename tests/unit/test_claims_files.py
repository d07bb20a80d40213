"""The claims of the studies that are here, and what is said of a wrong file."""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.claims.file import Claims, load_claims
from kvstudy.analyse.claims.selection import grid_of
from kvstudy.analyse.claims.table import judge_claims
from kvstudy.analyse.claims.values import Values, published_values
from kvstudy.analyse.claims.words import Names
from kvstudy.analyse.tidy.results import read_published
from kvstudy.errors import KvstudyError
from kvstudy.study.load import load_study
from kvstudy.study.reading import read_yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "config" / "studies").glob("*/claims.yaml"))
PATH = Path("config/studies/jedlicka2024/claims.yaml")


def source(study_path: Path) -> dict[str, str]:
    """What the source's own values say of each claim."""
    study = load_study(study_path)
    claims = load_claims(study_path.with_name("claims.yaml"), study)
    grid = grid_of(study, 1.0)
    frame = read_published(study_path.with_name("published.csv"))
    own = published_values(frame, grid, study.workload_names)
    found = judge_claims(claims, Names({}, {}, grid), study.store_names, Values({}), own)
    return dict(zip(found["id"], found["source"], strict=True))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_claims_of_each_study_are_valid(project, path):
    assert read_yaml(path, Claims).claims
    study = Path("config/studies") / path.parent.name / "study.yaml"
    if study.is_file():
        load_claims(path, load_study(study))


def test_every_claim_of_the_sources_is_there():
    found = [each.id for path in FILES for each in read_yaml(path, Claims).claims]
    expected = [f"J{n}" for n in range(1, 12)] + ["P1", "P2", "P3"]
    expected += [f"A{n}" for n in range(1, 7)] + [f"H{n}" for n in range(1, 6)]
    assert sorted(found) == sorted(expected)


def test_what_the_thesis_supports_with_its_own_tables(project):
    # By hand, from tables 4.2 to 4.5: all but J11, of which it prints no values.
    expected = {f"J{n}": "supported" for n in (1, 2, 3, 4, 5, 6, 7, 8, 10)}
    assert source(PATH.with_name("study.yaml")) == expected | {"J11": "no data"}


def test_what_the_comparison_over_threads_supports_with_its_own_tables(project):
    # By hand, from tables 5 to 8: an update share of 5 % leaves MySQL down to 11 % of its
    # read-only throughput (claimed: a quarter), ten times the records down to 12 % (claimed:
    # half), and with them it reads 25 times as fast as it updates (claimed: 5.9 times).
    expected = dict.fromkeys(("H2", "H3", "H4"), "not supported")
    found = source(Path("config/studies/haverinen2018/study.yaml"))
    assert found == expected | {"H1": "supported", "H5": "no data"}


def test_what_the_slides_support(project):
    # They give no rate of Memcached.
    study = Path("config/studies/riak-consistency/study.yaml")
    assert source(study) == {"J9": "supported in part"}


def test_sizes_of_claims_are_found_in_a_scaled_run(project):
    study = load_study(Path("config/studies/haverinen2018/study.yaml"))
    grid = grid_of(study, 0.1)
    assert grid.values("c", "records") == [10000, 100000]
    found = grid.find("c", {"records": 100000, "operations": 100000000, "threads": 4})
    assert [each.slug for each in found] == ["r10000_o10000000_t4_s12"]
    assert found == [grid.shown["c"]]
    # At this scale the floor under the records makes one cell of both sizes.
    tiny = grid_of(study, 0.01)
    assert len({each.slug for each in tiny.sets["c"]}) == 12


@pytest.mark.parametrize(
    ("rows", "changed", "claim"),
    [
        # (store, workload, operation, metric): another value, and the claim it breaks.
        (("redis", "a", "overall", "throughput"), 5100.0, "J1"),
        (("memcached", "b", "overall", "throughput"), 3800.0, "J2"),
        (("riak", "a", "update", "latency_mean"), 4300.0, "J3"),
        (("riak", "b", "overall", "throughput"), 1820.0, "J4"),
        (("riak", "a", "read+update", "latency_min"), 1380.0, "J5"),
        (("aerospike", "insert", "overall", "throughput"), 5150.0, "J6"),
        (("memcached", "c", "read", "latency_max"), 33000.0, "J7"),
        (("riak", "mean", "overall", "throughput"), 1600.0, "J8"),
        (("memcached", "a", "read+update", "latency_p99"), 1910.0, "J10"),
    ],
)
def test_a_changed_value_of_the_thesis_breaks_the_claim(project, rows, changed, claim):
    path = PATH.with_name("published.csv")
    frame = pd.read_csv(path)
    keys = ["store", "workload", "operation", "metric"]
    chosen = (frame[keys] == list(rows)).all(axis=1)
    assert chosen.sum() == 1
    frame.loc[chosen, "value"] = changed
    frame.to_csv(path, index=False)
    assert source(PATH.with_name("study.yaml"))[claim] == "not supported"


def edit(change) -> None:
    data = yaml.safe_load(PATH.read_text())
    change(data["claims"])
    PATH.write_text(yaml.safe_dump(data))


def statement(**keys: object):
    """Puts these keys in place of the first statement."""
    return lambda claims: claims[0].update(statements=[keys])


RATIO = {"kind": "ratio", "workload": "a", "times": 2}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            statement(kind="order", workload="a", stores=["redis", "memcache"]),
            "claims[0].statements[0].stores: unknown store 'memcache'; did you mean 'memcached'?",
        ),
        (
            statement(**RATIO, of={"store": "redis"}, to={"store": "riack"}),
            "claims[0].statements[0].to.store: unknown store 'riack'; did you mean 'riak'?",
        ),
        (
            statement(kind="best", workload="inserts", store="redis"),
            "claims[0].statements[0].workload: unknown workload 'inserts'; did you mean 'insert'?",
        ),
        (
            statement(kind="best", workload="a", store="redis", metric="latency"),
            "claims[0].statements[0].metric: unknown metric 'latency'; did you mean 'latency_",
        ),
        (
            statement(kind="best", workload="a", store="redis", operation="reed"),
            "claims[0].statements[0].operation: unknown operation 'reed'; did you mean 'read'",
        ),
        (
            statement(kind="better", workload="a"),
            "claims[0].statements[0]: kind: unknown kind 'better'; did you mean 'best'?",
        ),
        (
            statement(kind="best", workload="a", store="redis", threads="some"),
            "threads: give a number above 0, several in a list, all or best, but is 'some'",
        ),
        (
            statement(kind="order", stores=["redis", "riak"]),
            "claims[0].statements[0].workload: is missing; add it there or beside 'kind'",
        ),
        (
            statement(kind="order", workload="a", stores=["redis", "redis"]),
            "claims[0].statements[0].stores: 'redis' stands there twice; name each once",
        ),
        (
            statement(**RATIO, of={"store": "redis"}, to={"store": "redis"}),
            "claims[0].statements[0]: of and to are the same; let them differ in something",
        ),
        (
            statement(**(RATIO | {"times": 1}), of={"store": "redis"}, to={"store": "riak"}),
            "times 1 is a claim of equality; use kind: equal, with a margin",
        ),
        (
            statement(kind="bound", workload="a", store="redis"),
            "has no limit; give at_least, at_most or both",
        ),
        (
            statement(kind="bound", workload="a", store="redis", at_least=3, at_most=2),
            "at_least 3 is above at_most 2",
        ),
        (
            statement(kind="trend", workload="a", store="redis", over="threads", goes="up"),
            "threads: give all or several, over which the trend is",
        ),
        (
            statement(kind="best", workload="a", store="redis", metric="failed_share"),
            "claims[0].statements[0].metric: failed_share may be 0 and has no ratio",
        ),
        (
            lambda claims: claims[1].update(id="J1"),
            "claims[1].id: 'J1' stands there twice; give each its own",
        ),
        (lambda claims: claims[0].pop("place"), "claims[0].place: is missing; add it"),
        (lambda claims: claims[0].update(said="hinted"), "claims[0].said: "),
        (lambda claims: claims[0].update(plase="x"), "claims[0].plase: unknown key"),
    ],
)
def test_a_wrong_file_is_refused(project, change, message):
    edit(change)
    study = load_study(PATH.with_name("study.yaml"))
    with pytest.raises(KvstudyError) as error:
        load_claims(PATH, study)
    assert str(error.value).startswith(f"{PATH}: ")
    assert message in str(error.value)


def test_the_best_of_one_store_is_no_claim(project):
    path = PATH.with_name("study.yaml")
    data = yaml.safe_load(path.read_text())
    data.update(stores=["aerospike"], tables=[], figures=[], expected_failures=[])
    path.write_text(yaml.safe_dump(data))
    with pytest.raises(KvstudyError, match=r"store: 'aerospike' is the study's only store"):
        load_claims(PATH, load_study(path))
