"""Real logs of YCSB 0.17.0: what they say, and which of them are broken measurements."""

from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.check import check_load, check_run
from kvstudy.logs.ycsb.log import parse

DATA = Path(__file__).parents[1] / "data" / "ycsb"


def text(name: str) -> str:
    return (DATA / f"{name}.out").read_text()


def log(name: str):
    return parse(text(name), f"{name}.out")


def test_values_of_a_run():
    run = log("redis-workloada-run-r3")
    assert run.runtime == 2004
    assert run.throughput == pytest.approx(49900.1996)
    assert run.sections["READ"].operations == 50187
    assert run.sections["READ"].latencies == {
        "latency_mean": pytest.approx(68.3963576),
        "latency_min": 12,
        "latency_max": 9735,
        "latency_p95": 119,
        "latency_p99": 261,
    }
    assert run.attempted == 100_000
    assert run.failed == 0
    check_run(run, 100_000, None, "run.out")


def test_a_load_that_stored_all():
    check_load(log("redis-insert-100k-r3"), 100_000, "load.out")


@pytest.mark.parametrize("name", ["redis-workloade-run", "redis-workloadf-run"])
def test_scans_and_read_modify_writes_are_counted_once(name):
    run = log(name)
    check_run(run, run.attempted, None, name)
    assert run.attempted in (1_000, 10_000, 100_000)


def test_batched_inserts_are_good_ones():
    load = log("mysql56-feat-batchapi")
    assert load.sections["INSERT"].operations == 10_050
    check_load(load, 10_050, "load.out")


def test_failed_operations_are_a_result_not_a_broken_measurement():
    run = log("riak-strong-run")
    assert run.sections["UPDATE"].failed == 6
    assert run.sections["UPDATE"].returns == {"OK": 4957, "ERROR": 6}
    check_run(run, 10_000, None, "run.out")


def test_failures_do_not_hide_in_the_throughput():
    run = log("redis-feat-missing-run")
    assert run.sections["READ"].failed == 389
    assert run.attempted == 2_000


def test_an_operation_that_never_went_well_has_no_latency():
    run = log("aerospike-workloadscan-run-r3")
    assert run.sections["SCAN"].operations == 0
    assert run.sections["SCAN"].latencies == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("redis-workloada-killed", "no [OVERALL] results of YCSB"),
        ("redis-unreachable-run", "0 of 1000 operations were executed"),
        ("mongodb-workloada-killrestart", "60000 of 1000 operations were executed (4 ERROR)"),
    ],
)
def test_broken_runs(name, message):
    with pytest.raises(KvstudyError) as error:
        check_run(log(name), 1000, None, f"{name}.out")
    assert message in str(error.value)
    assert f"{name}.out" in str(error.value)


def test_a_load_into_a_full_store():
    with pytest.raises(KvstudyError, match=r"0 of 2000 records were loaded \(4 ERROR\)"):
        check_load(log("memcached-feat-dupload"), 2000, "load.out")


def test_a_run_of_failures_only():
    with pytest.raises(KvstudyError, match=r"run\.out: no operation went well \(4 ERROR\)"):
        check_run(log("memcached-feat-dupload"), 4, None, "run.out")


def test_a_timed_run_is_judged_by_its_time():
    run = log("basic-edge-maxtime3")
    check_run(run, 0, 3, "run.out")
    with pytest.raises(KvstudyError, match=r"ran 3\.\d of 10 s"):
        check_run(run, 0, 10, "run.out")


def test_records_that_were_not_as_expected_have_failed():
    """dataintegrity=true on records that were loaded without it."""
    run = log("redis-integrity")
    assert (run.sections["VERIFY"].operations, run.sections["VERIFY"].failed) == (0, 143)
    assert run.attempted == 300
    check_run(run, 300, None, "run.out")


def test_failures_with_a_section_per_return_code():
    run = log("redis-each-error")
    assert (run.sections["READ"].operations, run.sections["READ"].failed) == (66, 76)
    assert run.sections["READ"].latencies["latency_max"] == 12199
    check_run(run, 300, None, "run.out")


def test_sections_of_the_client_itself_are_no_operations():
    assert set(log("basic-edge-trackjvm").sections) == {"READ", "UPDATE"}


@pytest.mark.parametrize("foreign", ["", "# redis-benchmark\nGET: 47000.12 requests per second\n"])
def test_a_foreign_log_is_refused(foreign):
    with pytest.raises(KvstudyError, match="not a log of YCSB"):
        parse(foreign, "run.out")


@pytest.mark.parametrize(
    ("name", "line", "edited"),
    [
        ("redis-workloada-run-r3", "[READ], Return=OK, 50187", "[READ], Return=OK, 9"),
        ("riak-strong-run", "[UPDATE], Return=ERROR, 6", "[UPDATE], Return=ERROR, 5"),
    ],
)
def test_a_log_that_contradicts_itself_is_refused(name, line, edited):
    assert line in text(name)
    run = parse(text(name).replace(line, edited), "run.out")
    with pytest.raises(KvstudyError, match="contradicts itself"):
        check_run(run, run.attempted, None, "run.out")
