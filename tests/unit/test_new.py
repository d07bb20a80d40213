"""``kvstudy new``: first versions that load, and what is refused."""

import functools
import re
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.language.reasons import sentence
from kvstudy.stores import providers
from kvstudy.stores.definition import load_store, stores_to_measure
from kvstudy.study.cells import plan
from kvstudy.study.load import load_study
from kvstudy.study.workload import load_workload

from tests.project import kvstudy

STUDY = Path("config/studies/mine/study.yaml")
STORE = Path("envs/stores/mine")


new = functools.partial(kvstudy, "new")


def with_all_keys(path: Path) -> None:
    """Take the # from each key that the user may want."""
    path.write_text(re.sub(r"^( *)#(?=(?:  )*\S)", r"\1", path.read_text(), flags=re.M))


def test_a_study_loads_and_has_the_cells_that_were_asked_for(project):
    done = new("study", "mine", *("--store", "redis", "--store", "memcached"), *GIVEN)
    assert done.exit_code == 0
    assert "kvstudy plan mine" in done.output
    study = load_study(STUDY)
    assert study.store_names == ["redis", "memcached"]
    assert len(plan(study)) == 2 * 2 * (2 + 2)
    assert {cell.records for cell in plan(study)} == {5000}


GIVEN = [
    *("--workload", "a", "--workload", "insert", "--records", "5000", "--operations", "7000"),
    *("--threads", "2", "--repetitions", "2"),
]


def test_each_value_of_a_list_is_in_a_figure(project):
    """Tables and bars have the last one alone: what else was measured would be shown nowhere."""
    sizes = ("--threads", "1,4,16", "--records", "10,20", "--operations", "50")
    new("study", "mine", "--store", "redis", "--workload", "a,insert", *sizes)
    curves = [figure for figure in load_study(STUDY).figures if figure.kind == "curves"]
    assert {figure.over for figure in curves} == {"threads", "records"}


def test_a_study_asks_for_stores_and_workloads(project):
    done = new("study", "mine", answers="redis, memcached\na,b\n")
    assert "Stores, with commas (aerospike, basic" in done.output
    study = load_study(STUDY)
    assert study.store_names == ["redis", "memcached"]
    assert study.workload_names == ["a", "b"]
    assert study.title == "Mine"


def test_every_key_that_a_study_offers_is_one(project):
    new("study", "mine", "--store", "redis", *GIVEN)
    before = STUDY.read_text()
    with_all_keys(STUDY)
    assert STUDY.read_text().count("\n#") < before.count("\n#")
    study = load_study(STUDY)
    assert study.source.year == 2024
    assert study.open_loop is not None
    assert study.expected_failures[0].store == "redis"
    assert study.parameters.seconds == 120


@pytest.mark.parametrize(
    "given",
    [
        [*("--store", "redis", "--store", "memcached"), *("--threads", "1", "--threads", "4")],
        ["--store", "redis, memcached", "--threads", "1,4,1"],
    ],
)
def test_what_is_given_several_times_is_collected(project, given):
    given += ["--records", "1000", "--operations", "10,20", "--repetitions", "2"]
    assert new("study", "mine", "--workload", "a,b", *given).exit_code == 0
    study = load_study(STUDY)
    assert (study.store_names, study.workload_names) == (["redis", "memcached"], ["a", "b"])
    assert (study.parameters.threads, study.parameters.operations) == ([1, 4], [10, 20])
    assert study.parameters.records == 1000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--repetitions", "2", "--repetitions", "3"], "--repetitions was given twice; give it on"),
        (["--threads", "1,x"], "'--threads': 'x' is not a valid"),
        (["--threads", "0"], "'--threads': 0 is not in the range x>=1"),
        (["--records", " , "], "'--records': ' , ' names nothing"),
    ],
)
def test_a_value_that_would_be_lost_is_refused(project, given, message):
    done = new("study", "mine", "--store", "redis", "--workload", "a", *given)
    assert done.exit_code == 2
    assert message in done.output
    assert not STUDY.exists()


def test_text_of_the_user_is_kept_as_it_is(project):
    title = 'Redis: "fast", or #1? Žluťoučký {{ kůň }}'
    new("study", "mine", "--title", title, "--store", "redis", *GIVEN)
    assert load_study(STUDY).title == title


def test_a_store_loads_and_says_what_is_missing(project):
    done = new("store", "mine", "--title", "My Store")
    assert "docs/stores.md" in done.output
    store = load_store(STORE)
    assert store.title == "My Store"
    problem = sentence(providers.missing_requirement(store, "native"))
    assert problem == "kvstudy has no YCSB binding for My Store"
    with pytest.raises(ValueError, match=r"envs/stores/mine/verbs.py: version\(\)"):
        store.verbs.version("127.0.0.1", 1)
    others = {load_store(path.parent).color for path in STORE.parent.glob("*/store.yaml")}
    assert len(others) == len(list(STORE.parent.iterdir()))


def test_every_key_that_a_store_offers_is_one(project):
    new("store", "mine")
    with_all_keys(STORE / "store.yaml")
    store = load_store(STORE)
    assert store.ycsb.db == "kvstudy.db.RedisClient"
    assert store.native.program == "mine-server"
    assert store.docker.image == "mine:1.2.3"
    assert store.misses == "get_misses"
    assert sentence(providers.missing_requirement(store, "native")).startswith(
        "no program mine-server"
    )


def test_a_workload_loads_with_and_without_its_further_properties(project):
    new("workload", "mine")
    path = Path("workloads/mine")
    first = load_workload(path)
    assert first["readproportion"] == "0.5"
    with_all_keys(path)
    assert load_workload(path).keys() > first.keys()


def test_a_new_study_of_new_store_and_workload(project):
    new("store", "mine")
    new("workload", "own")
    new("study", "mine", "--store", "mine", "--store", "redis", "--workload", "own")
    study = load_study(STUDY)
    assert {cell.workload for cell in plan(study)} == {"own"}
    assert stores_to_measure(study, STUDY)["mine"].ycsb is None


@pytest.mark.parametrize(
    ("arguments", "present"),
    [
        (["study", "smoke"], "config/studies/smoke"),
        (["store", "redis"], "envs/stores/redis"),
        (["workload", "a"], "workloads/a"),
    ],
)
def test_nothing_is_overwritten(project, arguments, present):
    files = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    with pytest.raises(KvstudyError, match=f"^{present}: already exists; edit it, or take"):
        new(*arguments)
    assert files == {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["study", "My Study"], "begins with a letter; take 'my-study'"),
        (["study", "../x"], "take 'x'"),
        (["study", "2024"], "take 'study-2024'"),
        (["study", "ž"], "take 'study'"),
        (["study", "single-cells"], "to something else; take 'my-single-cells'"),
        (["study", "x-partial"], "this ending to something else"),
        (["store", "Redis 7"], "take 'redis-7'"),
        (["store", "redis-again"], "this ending to something else"),
        (["workload", "mean"], "take 'my-mean'"),
        (["study", "mine", "--store", "reddis"], "unknown store 'reddis'; did you mean 'redis'?"),
        (["study", "mine", "--store", "redis", "--workload", "z"], "--workload: unknown workload"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(project, arguments, message):
    with pytest.raises(KvstudyError) as error:
        new(*arguments)
    assert message in str(error.value)
    assert not STUDY.parent.exists()


def test_no_store_named(project):
    with pytest.raises(KvstudyError, match="--store: name at least one of aerospike, "):
        new("study", "mine", answers=" , \n")


def test_outside_the_project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KvstudyError, match="run kvstudy in the project's folder"):
        new("workload", "mine")
