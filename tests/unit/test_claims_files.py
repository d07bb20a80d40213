"""Claims, quotes and properties of the studies that are here, and what is said of wrong ones."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.claims.file import Claims, check_source, load_claims
from kvstudy.analyse.claims.selection import grid_of
from kvstudy.analyse.claims.table import judge_claims
from kvstudy.analyse.claims.values import Values, published_values
from kvstudy.analyse.tidy.results import read_published
from kvstudy.errors import KvstudyError
from kvstudy.study.load import STUDIES, load_study
from kvstudy.study.reading import read_yaml

from tests.project import ROOT, edit

# Studies of one source share a file.
FILES = sorted({path.resolve() for path in (ROOT / STUDIES).glob("*/claims.yaml")})
STUDY = STUDIES / "jedlicka2024/study.yaml"


def source(study_path: Path) -> dict[str, str]:
    """What the source's own values say of each claim."""
    study = load_study(study_path)
    claims = load_claims(study_path.with_name("claims.yaml"), study)
    grid = grid_of(study, 1.0)
    frame = read_published(study_path.with_name("published.csv"))
    selected = published_values(frame, grid, study.workload_names)
    result = judge_claims(claims, grid, study.store_names, Values({}), selected)
    return dict(zip(result["id"], result["source"], strict=True))


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*/study.yaml")), ids=lambda p: p.parent.name)
def test_every_study_here_is_good(project: Path, path: Path):
    check_source(path, load_study(path))


def test_every_claim_of_the_sources_is_there():
    result = [each.id for path in FILES for each in read_yaml(path, Claims).claims]
    expected = [f"J{n}" for n in range(1, 12)] + ["P1", "P2", "P3"]
    expected += [f"A{n}" for n in range(1, 9)] + [f"H{n}" for n in range(1, 6)]
    assert sorted(result) == sorted(expected)


def test_what_the_thesis_supports_with_its_own_tables(project):
    # By hand, from tables 4.2 to 4.5: all but J11, of which it prints no values.
    expected = {f"J{n}": "supported" for n in (1, 2, 3, 4, 5, 6, 7, 8, 10)}
    assert source(STUDY) == expected | {"J11": "no data"}


def test_what_the_comparison_over_threads_supports_with_its_own_tables(project):
    # By hand, from tables 5 to 8: an update share of 5 % leaves MySQL down to 11 % of its
    # read-only throughput (claimed: a quarter), ten times the records down to 12 % (claimed:
    # half), and with them it reads 25 times as fast as it updates (claimed: 5.9 times).
    expected = dict.fromkeys(("H2", "H3", "H4"), "not supported")
    result = source(STUDIES / "haverinen2018/study.yaml")
    assert result == expected | {"H1": "supported", "H5": "no data"}


def test_what_the_slides_support(project):
    # They give no rate of Memcached.
    assert source(STUDIES / "riak-consistency/study.yaml") == {"J9": "supported in part"}


def test_sizes_of_claims_are_found_in_a_scaled_run(project):
    study = load_study(STUDIES / "haverinen2018/study.yaml")
    grid = grid_of(study, 0.1)
    assert grid.values("c", "records") == [10000, 100000]
    result = grid.find("c", {"records": 100000, "operations": 100000000, "threads": 4})
    assert [each.slug for each in result] == ["r10000_o10000000_t4_s12"]
    assert result == [grid.shown["c"]]
    # At this scale the floor under the records makes one cell of both sizes.
    tiny = grid_of(study, 0.01)
    assert len({each.slug for each in tiny.sets["c"]}) == 12


def test_a_scaled_run_is_asked_for_the_sizes_of_the_source_where_it_has_them(project):
    grid = grid_of(load_study(STUDIES / "petrov2014/study.yaml"), 0.1)
    measured = {each.records: dict(each.measured)["records"] for each in grid.sets["rounds"]}
    assert measured == {**{10**n: 10**n for n in range(6)}, 10**6: 10**5}


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
    path = STUDY.with_name("published.csv")
    frame = pd.read_csv(path)
    keys = ["store", "workload", "operation", "metric"]
    chosen = (frame[keys] == list(rows)).all(axis=1)
    assert chosen.sum() == 1
    frame.loc[chosen, "value"] = changed
    frame.to_csv(path, index=False)
    assert source(STUDY)[claim] == "not supported"


def statement(**keys: object) -> Callable[[dict], None]:
    """Puts these keys in place of the first statement."""
    return lambda data: data["claims"][0].update(statements=[keys])


def expecting(operand: object) -> Callable[[dict], None]:
    return lambda data: data["quotes"][0].update(expected=operand)


def check_refusal(file: str, change: Callable[[dict], object], message: str) -> None:
    path = edit(STUDY.with_name(file), change)
    with pytest.raises(KvstudyError) as error:
        check_source(STUDY, load_study(STUDY))
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


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
            "threads: give a number above 0, several in a list, or one of all, smallest, largest, "
            "best, but is 'some'",
        ),
        (
            statement(kind="order", stores=["redis", "riak"]),
            "claims[0].statements[0].workload: is missing; add it there or next to 'kind'",
        ),
        (
            statement(kind="order", workload="a", stores=["redis", "redis"]),
            "claims[0].statements[0].stores: 'redis' appears twice; name each once",
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
            "at_least is above at_most",
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
            lambda data: data["claims"][1].update(id="J1"),
            "claims[1].id: 'J1' appears twice; give each its own",
        ),
        (lambda data: data["claims"][0].pop("place"), "claims[0].place: is missing; add it"),
        (lambda data: data["claims"][0].update(said="hinted"), "claims[0].said: "),
        (lambda data: data["claims"][0].update(plase="x"), "claims[0].plase: unknown key"),
    ],
)
def test_wrong_claims_are_refused(project, change, message):
    check_refusal("claims.yaml", change, message)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (
            "quotes.yaml",
            expecting("rediss/a/read/operations"),
            "quotes[0].expected: rediss/a/read/operations: unknown store of published.csv "
            "'rediss'; did you mean 'redis'?",
        ),
        (
            "quotes.yaml",
            lambda data: data["quotes"][0].update(claim="J1/99"),
            "quotes[0].claim: config/studies/jedlicka2024/claims.yaml has no statement 'J1/99'; "
            "did you mean 'J1/",
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
def test_unknown_names_in_other_files_are_refused(project, file, change, message):
    check_refusal(file, change, message)


def test_the_best_of_one_store_is_no_claim(project):
    edit(STUDY, stores=["aerospike"], tables=[], figures=[], expected_failures=[])
    with pytest.raises(KvstudyError, match=r"store: 'aerospike' is the study's only store"):
        check_source(STUDY, load_study(STUDY))
