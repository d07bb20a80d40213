"""Real logs of YCSB 0.17.0, of every measurementtype, interval and exporter, whole and broken."""

import json
import re
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.check import check_load, check_run
from kvstudy.logs.ycsb.log import YcsbLog, parse

DATA = Path(__file__).parents[1] / "data" / "ycsb"
# These hold no results; the test of broken runs has them.
WITHOUT_RESULTS = {"redis-workloada-killed.out", "redis-feat-hdrfile.out"}
ALL = {path.name for path in [*DATA.glob("*.out"), *DATA.glob("*.json")]}
WITH_RESULTS = sorted(ALL - WITHOUT_RESULTS)
WITH_INTENDED = {f"redis-{name}.out" for name in ("both", "both-failed", "hdrraw", "hdrraw-failed")}
RUN = "redis-workloada-run-r3.out"


def text(file: str) -> str:
    return (DATA / file).read_text()


def log(file: str, interval: str = "op") -> YcsbLog:
    return parse(text(file), file, interval)


def edited(file: str, old: str, new: str) -> YcsbLog:
    assert old in text(file)
    return parse(text(file).replace(old, new), "run.out")


@pytest.mark.parametrize(
    ("file", "operations", "latencies"),
    [
        (RUN, 50187, "mean 68.3963576 min 12 max 9735 p95 119 p99 261"),
        (
            *("redis-hdr-rep1.out", 57635),
            "mean 49.737451 min 17 max 12415 p50 39 p95 90 p99 153 p99.9 1786",
        ),
        ("redis-workloada-json.json", 10095, "mean 191.060426 min 15 max 146815 p95 323 p99 2091"),
        ("basic-edge-histogram.out", 510, "mean 0.0156862745 min 0 max 3"),
    ],
)
def test_values_of_reads(file, operations, latencies):
    read = log(file).sections["READ"]
    assert (read.operations, read.failed, read.intended) == (operations, 0, {})
    expected = re.findall(r"(\S+) (\S+)", latencies)
    assert read.latencies == pytest.approx({f"latency_{name}": float(us) for name, us in expected})


def test_values_of_a_run():
    run = log(RUN)
    assert (run.runtime, run.attempted, run.failed) == (2004, 100_000, 0)
    assert run.throughput == pytest.approx(49900.1996)
    check_run(run, 100_000, None, "run.out")


def test_a_load_that_stored_all():
    check_load(log("redis-insert-100k-r3.out"), 100_000, "load.out")


@pytest.mark.parametrize("file", WITH_RESULTS)
def test_only_what_went_well_has_latencies(file):
    for section in log(file).sections.values():
        assert bool(section.latencies) == (section.operations > 0)


def test_a_histogram_of_milliseconds_has_no_percentiles_below_one():
    """YCSB prints 0 for them."""
    assert "[READ], 95thPercentileLatency(us), 0" in text("basic-edge-histogram.out")
    assert "latency_p95" not in log("basic-edge-histogram.out").sections["READ"].latencies
    # A real 0 of an HdrHistogram stays.
    assert log("basic-edge-maxtime3.out").sections["READ"].latencies["latency_p95"] == 0


def test_raw_has_labels_of_its_own():
    read = log("redis-raw.out").sections["READ"]
    matches = dict(re.findall(r"\[READ\], (\S+), (\S+)\n", text("redis-raw.out")))
    assert read.latencies["latency_mean"] == float(matches["Average"])
    assert read.latencies["latency_p99.9"] == float(matches["p99.9"])
    assert read.operations == int(matches["Return=OK"])


def test_raw_results_after_the_latencies_themselves():
    run = log("redis-raw-stdout.out")
    assert run.attempted == 40
    check_run(run, 40, None, "run.out")


@pytest.mark.parametrize(
    ("file", "double"), [("redis-hdrraw.out", "Raw"), ("redis-hdrhistogram.out", "Bucket")]
)
def test_combined_types_count_once_and_keep_the_finer_half(file, double):
    run = log(file)
    assert f"[{double}READ], " in text(file)
    assert set(run.sections) == {"READ", "UPDATE"}
    fine = re.search(r"\[HdrREAD\], 99thPercentileLatency\(us\), (\d+)", text(file))
    assert run.sections["READ"].latencies["latency_p99"] == int(fine[1])
    check_run(run, run.attempted, None, file)


def test_service_and_intended_latencies_are_kept_apart():
    read = log("redis-both.out").sections["READ"]
    for prefix, result in (("READ", read.latencies), ("Intended-READ", read.intended)):
        line = re.search(
            rf"\[{prefix}\], 99thPercentileLatency\(us\), (\d+)", text("redis-both.out")
        )
        assert result["latency_p99"] == int(line[1])
    assert read.intended["latency_mean"] > read.latencies["latency_mean"]


def test_failures_are_not_counted_again_as_intended():
    run = log("redis-both-failed.out")
    assert "[Intended-READ-FAILED], Operations, " in text("redis-both-failed.out")
    read = run.sections["READ"]
    assert read.failed == read.returns["NOT_FOUND"] > 0
    assert run.attempted == 400


def test_intended_latencies_alone_look_like_service_times():
    """So the property of the run has to tell."""
    plain = log("basic-edge-intended.out").sections["READ"]
    reply = log("basic-edge-intended.out", interval="intended").sections["READ"]
    assert reply.intended == plain.latencies
    assert reply.intended["latency_p99"] == 11775
    assert reply.latencies == {}
    assert reply.operations == 516


@pytest.mark.parametrize("file", ["redis-json.json", "redis-jsonarray.json"])
def test_the_exporters_agree(file):
    """The same entries as text, and behind lines of a driver on standard output."""
    entries = re.findall(
        r'"metric" : "(.+)",\s+"measurement" : "(.+)",\s+"value" : "?([^"\s]+)"?', text(file)
    )
    as_text = "".join(f"[{metric}], {label}, {value}\n" for metric, label, value in entries)
    assert len(entries) > 30
    run = log(file)
    assert run == parse(as_text, "run.out")
    assert run == parse("Connected.\n[INFO], driver, {1}\n" + text(file), "run.out")
    check_run(run, 3000, None, file)


def test_nan_of_the_json_exporters():
    """It is where no operation went well; where some did, it cannot be."""
    array = text("redis-jsonarray.json")
    failed = re.sub(r'(?<="READ",\n)(.*"AverageLatency\(us\)",\n.*: )[\d.]+', r'\1"NaN"', array)
    assert '"NaN"' in failed
    with pytest.raises(KvstudyError, match=r"\[READ\]: latencies that cannot be .*: mean nan"):
        parse(failed, "run.json")
    entries = [("OVERALL", "RunTime(ms)", 10), ("OVERALL", "Throughput(ops/sec)", 100.0)]
    entries += [("READ", "Operations", 0), ("READ", "AverageLatency(us)", "NaN")]
    entries += [("READ", "Return=ERROR", 1), ("READ-FAILED", "Operations", 1)]
    entries += [("CLEANUP", "Operations", 1)]
    none = [{"metric": a, "measurement": b, "value": c} for a, b, c in entries]
    read = parse(json.dumps(none), "run.json").sections["READ"]
    assert (read.operations, read.failed, read.latencies) == (0, 1, {})


@pytest.mark.parametrize("file", ["redis-json.json", "redis-jsonarray.json"])
def test_the_line_where_json_is_torn(file):
    cut_off = text(file)[: text(file).rindex('"metric"') + 20]
    line = cut_off.count("\n")
    with pytest.raises(KvstudyError, match=rf"^{file}: line {line}: the log is cut off in '"):
        parse(cut_off, file)


def test_windows_line_ends():
    assert parse(text(RUN).replace("\n", "\r\n"), "run.out") == log(RUN)


@pytest.mark.parametrize("file", ["redis-workloade-run.out", "redis-workloadf-run.out"])
def test_scans_and_read_modify_writes_are_counted_once(file):
    run = log(file)
    check_run(run, run.attempted, None, file)
    assert run.attempted in (1_000, 10_000, 100_000)


def test_batched_inserts_are_good_ones():
    load = log("mysql56-feat-batchapi.out")
    assert load.sections["INSERT"].operations == 10_050
    check_load(load, 10_050, "load.out")


@pytest.mark.parametrize(
    ("file", "operation", "returns", "attempted"),
    [
        ("riak-strong-run.out", "UPDATE", {"OK": 4957, "ERROR": 6}, 10_000),
        # They do not hide in the throughput.
        ("redis-feat-missing-run.out", "READ", {"OK": 632, "ERROR": 389}, 2_000),
        # With a section for each return code.
        ("redis-each-error.out", "READ", {"OK": 66, "NOT_FOUND": 76}, 300),
        # dataintegrity=true on records that were loaded without it.
        ("redis-integrity.out", "VERIFY", {"UNEXPECTED_STATE": 143}, 300),
    ],
)
def test_failed_operations_are_a_result(file, operation, returns, attempted):
    """And no broken measurement."""
    run = log(file)
    section = run.sections[operation]
    good = returns.get("OK", 0)
    assert section.returns == returns
    assert (section.operations, section.failed) == (good, sum(returns.values()) - good)
    check_run(run, attempted, None, file)


def test_latencies_of_failures_are_none_of_the_operation():
    assert log("redis-each-error.out").sections["READ"].latencies["latency_max"] == 12199


def test_a_timed_run_is_judged_by_its_time():
    run = log("basic-edge-maxtime3.out")
    check_run(run, 0, 3, "run.out")
    with pytest.raises(KvstudyError, match=r"ran 3\.\d of 10 s"):
        check_run(run, 0, 10, "run.out")


def test_sections_of_the_client_itself_are_no_operations():
    assert set(log("basic-edge-trackjvm.out").sections) == {"READ", "UPDATE"}


@pytest.mark.parametrize("file", WITH_RESULTS)
def test_a_log_cut_off_anywhere_is_refused_or_says_the_same(file):
    """In each line before its end, within its number and within its words."""
    interval = "both" if file in WITH_INTENDED else "op"
    whole_text = text(file)
    whole = log(file, interval)
    ends = {
        max(0, match.end() - back)
        for match in re.finditer("\n", whole_text)
        for back in (0, 1, 2, 3, 12)
    }
    refused = 0
    for end in ends - {len(whole_text)}:
        try:
            table = parse(whole_text[:end], file, interval)
            # As a phase is checked: with what it should have done.
            if "INSERT" in whole.sections and len(whole.sections) == 1:
                check_load(table, whole.sections["INSERT"].operations or 1, file)
            else:
                check_run(table, whole.attempted, None, file)
        except KvstudyError:
            refused += 1
        else:
            assert table == whole
    assert refused > len(ends) / 2


@pytest.mark.parametrize(
    ("file", "message"),
    [
        # The server died, and the client with it.
        ("redis-workloada-killed.out", "no [OVERALL] results of YCSB"),
        # HdrHistogram 2.1.4 on a JDK after 8: the export broke off after [OVERALL].
        ("redis-feat-hdrfile.out", "[OVERALL] reports 3000 operations, the sections 0"),
        ("redis-unreachable-run.out", "0 of 1000 operations were executed"),
        ("mongodb-workloada-killrestart.out", "60000 of 1000 operations were executed (4 ERROR)"),
        ("memcached-feat-dupload.out", "4 of 1000 operations were executed (4 ERROR)"),
    ],
)
def test_logs_of_broken_runs(file, message):
    with pytest.raises(KvstudyError) as error:
        check_run(log(file), 1000, None, file)
    assert str(error.value).startswith(f"{file}: {message}")


def test_a_phase_of_failures_only():
    log_of_failures = log("memcached-feat-dupload.out")
    with pytest.raises(KvstudyError, match=r"load\.out: 0 of 2000 records were .* \(4 ERROR\)"):
        check_load(log_of_failures, 2000, "load.out")
    with pytest.raises(KvstudyError, match=r"run\.out: no operation went well \(4 ERROR\)"):
        check_run(log_of_failures, 4, None, "run.out")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (RUN, "[READ], Return=OK, 50187", "[READ], Return=OK, 9"),
        ("riak-strong-run.out", "[UPDATE], Return=ERROR, 6", "[UPDATE], Return=ERROR, 5"),
    ],
)
def test_a_log_that_contradicts_itself_is_refused(file, old, new):
    run = edited(file, old, new)
    with pytest.raises(KvstudyError, match="contradicts itself"):
        check_run(run, run.attempted, None, "run.out")


@pytest.mark.parametrize(
    ("label", "old", "new", "message"),
    [
        ("[OVERALL], RunTime(ms)", "2004", "-2004", ""),
        ("[OVERALL], RunTime(ms)", "2004", "0", ""),
        ("[OVERALL], RunTime(ms)", "2004", "1e300", ""),
        ("[OVERALL], Throughput(ops/sec)", "49900.19", "4x", "line 2: '4x9600798405'"),
        ("[OVERALL], Throughput(ops/sec)", "49900.199600798405", "Infinity", "no time"),
        ("[OVERALL], Throughput(ops/sec)", "49900.199600798405", "-49900.2", ""),
        ("[OVERALL], Throughput(ops/sec)", "49900.199600798405", "1e308", ""),
        ("[READ], Operations", "50187", "50187.5", "line 12: '50187.5'"),
        ("[READ], Operations", "50187", "-50187", ""),
        ("[READ], Operations", "50187", "50_187", ""),
        ("[READ], Operations", "50187", f"1{50 * '0'}", ""),
        ("[READ], Return=OK", "50187", "-50187", ""),
        ("[UPDATE], Operations", "49813", "49812", "the sections 99999"),
    ],
)
def test_counts_and_times_without_sense_are_refused(label, old, new, message):
    with pytest.raises(KvstudyError, match=rf"^run\.out: .*{re.escape(message)}"):
        edited(RUN, f"{label}, {old}", f"{label}, {new}")


def test_a_section_without_its_number_of_operations_is_refused():
    with pytest.raises(KvstudyError, match=r"^run\.out: line 12: \[READ\] does not begin"):
        edited(RUN, "[READ], Operations,", "[READ], Counted,")


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("AverageLatency(us)", "-5"),
        ("AverageLatency(us)", "NaN"),
        ("AverageLatency(us)", "Infinity"),
        ("AverageLatency(us)", "1e23"),
        ("AverageLatency(us)", "6_8"),
        ("MinLatency(us)", "-1"),
        ("MinLatency(us)", "100000"),
        ("MaxLatency(us)", "0.001"),
        # Longer than the whole run.
        ("MaxLatency(us)", "1e23"),
        ("MaxLatency(us)", "inf"),
        ("95thPercentileLatency(us)", "-3"),
        ("95thPercentileLatency(us)", "500"),
        ("99thPercentileLatency(us)", "1000000"),
        ("99thPercentileLatency(us)", "nan"),
    ],
)
@pytest.mark.parametrize("file", [RUN, "basic-edge-histogram.out"])
def test_latencies_without_sense_are_refused(file, label, value):
    whole = text(file)
    line = re.compile(rf"^(\[READ\], {re.escape(label)}), .*$", re.MULTILINE)
    assert line.search(whole)
    with pytest.raises(KvstudyError, match=r"^run\.out: (line \d+|\[READ\]): "):
        parse(line.sub(rf"\1, {value}", whole, count=1), "run.out")


def test_percentiles_in_milliseconds_may_be_below_the_minimum():
    """A histogram of milliseconds rounds 1500 us down to 1 ms."""
    lines = ["[OVERALL], RunTime(ms), 20", "[OVERALL], Throughput(ops/sec), 50.0"]
    values = {"Operations": 1, "AverageLatency(us)": 1500, "LatencyVariance(us)": 0}
    values |= {"MinLatency(us)": 1500, "MaxLatency(us)": 1500, "95thPercentileLatency(us)": 1000}
    lines += [f"[READ], {label}, {value}" for label, value in values.items()]
    whole = "\n".join([*lines, "[READ], Return=OK, 1", "[CLEANUP], Operations, 1", ""])
    assert parse(whole, "run.out").sections["READ"].latencies["latency_p95"] == 1000
    with pytest.raises(KvstudyError, match="p95 1000"):
        parse(whole.replace("1500", "2500"), "run.out")


def test_two_runs_in_one_file_are_refused():
    with pytest.raises(KvstudyError, match=r"run\.out: line 32: a second \[OVERALL\] RunTime"):
        parse(text(RUN) + text(RUN), "run.out")


@pytest.mark.parametrize(
    ("foreign", "message"),
    [
        ("", "not a log of YCSB"),
        ("# redis-benchmark\nGET: 47000.12 requests per second\n", "not a log of YCSB"),
        ("READ   - Takes(s): 9.9, Count: 50187, OPS: 5042.1, Avg(us): 190\n", "not a log of YCSB"),
        ('{"metric": "up", "value": [1, "1"]}', "line 1: the log is cut off"),
        ("<html>404</html>", "not a log of YCSB"),
    ],
)
def test_what_no_exporter_of_ycsb_wrote(foreign, message):
    with pytest.raises(KvstudyError, match=rf"^run\.out: .*{message}"):
        parse(foreign, "run.out")
