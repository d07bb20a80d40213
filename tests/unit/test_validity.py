"""Failed and missed operations, goodput, and the servers' own counts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.validity import agreement, flagged, validity
from kvstudy.analyse.tidy.files import MEASUREMENTS, OUTCOMES
from kvstudy.analyse.tidy.outcomes import good, invalid, missed, outcomes
from kvstudy.analyse.tidy.probes import WHOLE, Probes, updating
from kvstudy.documents.report.cells import DisplayNames, validity_facts
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import TableSection
from kvstudy.logs.ycsb.log import parse
from kvstudy.study.cells import plan
from kvstudy.study.model import Study
from kvstudy.study.parts import ExpectedFailures
from pydantic import ValidationError

from . import small_results as small

DATA = Path(__file__).parents[1] / "data" / "ycsb"


def log(name: str):
    return parse((DATA / f"{name}.out").read_text(), name)


def manifest(counters: dict | None, misses: str | None = "misses") -> dict:
    server = {"counters": {"run": counters}, "misses": misses}
    return {"server": server, "client": {"kind": "kvstudy"}}


# Logs of real servers whose clients asked for keys that were never loaded.


def test_reads_that_the_client_calls_ok_are_missed():
    """YCSB's own Memcached binding says OK to reads, and ERROR to updates."""
    result = log("memcached-feat-missing-run")
    reads = result.sections["READ"].operations
    assert result.sections["READ"].failed == 0
    assert result.sections["UPDATE"].failed == result.failed > 0
    reply = manifest({"cmd_get": reads, "misses": 400})
    assert missed(reply, "run", result) == 400
    assert good(result, 400) == result.attempted - result.failed - 400
    # A counter can not take more than all reads away.
    assert good(result, 10 * reads) == result.attempted - result.failed - reads


def test_a_miss_that_is_a_failure_counts_once():
    """YCSB's own Redis binding says ERROR."""
    result = log("redis-feat-missing-run")
    reply = manifest({"misses": result.failed})
    assert result.failed > 0
    assert missed(reply, "run", result) == 0
    assert good(result, 0) == result.attempted - result.failed


def test_misses_are_unknown_without_a_counter():
    result = log("redis-feat-missing-run")
    assert missed(manifest(None), "run", result) is None
    assert missed(manifest({"HGETALL": 5}, misses=None), "run", result) is None
    assert missed({"server": {}, "client": {"kind": "kvstudy"}}, "run", result) is None
    # Nothing is read while loading.
    assert missed(manifest({"misses": 5}), "run", log("memcached-feat-dupload")) is None


def test_a_server_that_counted_nothing_is_not_one_that_was_not_asked():
    result = log("redis-feat-missing-run")
    kinds = {row["kind"] for row in outcomes(manifest({}), "run", result)}
    assert kinds == {"client", "status"}
    row = outcomes(manifest(None), "run", result)[-1]
    assert list(row.values()) == ["none", "", "no-counters", None]
    old = manifest({})
    del old["server"]["counters"]
    assert outcomes(old, "run", result)[-1]["name"] == "counters-not-recorded"


def expected(**values: object) -> ExpectedFailures:
    base = {"store": "memcached", "operation": "read", "up_to": 0.5, "reason": "r"}
    return ExpectedFailures.model_validate(base | values)


def declaring(*declared: ExpectedFailures) -> Study:
    return small.study(expected_failures=list(declared), noise_floor="memcached")


def test_misses_void_a_cell_unless_they_are_declared(project):
    cells = [cell for cell in plan(declaring()) if cell.workload == "a"]
    cell = next(cell for cell in cells if cell.store == "memcached")
    again = next(cell for cell in cells if cell.store == "memcached-again")
    result = log("redis-workloada-run-r3")
    assert result.failed == 0
    reads = result.sections["READ"].operations
    many, few = reads // 4, reads // 1000
    (reason,) = invalid(declaring(), cell, result, many)
    assert sentence(reason) == (
        f"the server counted {many} misses among the {reads} reads that YCSB reports as OK, more "
        "than the 0.10% that the study allows"
    )
    assert invalid(declaring(), cell, result, few) == []
    assert invalid(declaring(), cell, result, None) == []
    assert invalid(declaring(expected(kind="misses")), cell, result, many) == []
    assert invalid(declaring(expected(kind="misses")), again, result, many) == []
    for other in (
        expected(),
        expected(kind="misses", up_to=0.1),
        expected(kind="misses", store="redis"),
        expected(kind="misses", workload="b"),
    ):
        assert len(invalid(declaring(other), cell, result, many)) == 1


def test_only_reads_can_be_declared_as_missed():
    with pytest.raises(ValidationError, match="misses of read and scan, not of update"):
        expected(kind="misses", operation="update")


# Agreement with the probes of real servers.


def rows_of(store: str, statuses: dict, counters: dict | None, workload: str = "a") -> list[dict]:
    cell = {"store": store, "workload": workload, "parameters": "p", "repetition": "1"}
    rows = [{"kind": "client", "operation": "", "name": "kvstudy"}]
    for (operation, name), count in statuses.items():
        rows.append({"kind": "status", "operation": operation, "name": name, "count": count})
    if counters is None:
        rows.append({"kind": "none", "operation": "", "name": "counters-not-recorded"})
    for name, count in (counters or {}).items():
        rows.append({"kind": "counter", "operation": "", "name": name, "count": count})
    return [cell | row for row in rows]


def agreed(*cells: list[dict]) -> pd.DataFrame:
    frame = OUTCOMES.frame([row for cell in cells for row in cell])
    return agreement(frame, small.probes(), {"a"}).set_index("counter")


A = {("read", "OK"): 5_000, ("update", "OK"): 5_000}


def test_counters_that_agree():
    result = agreed(rows_of("redis", A, {"HGETALL": 5_000, "HSET": 5_000, "PING": 4}))
    assert result["deviation"].to_dict() == {"HGETALL": 0, "HSET": 0}
    assert flagged(result).empty


def test_counters_that_contradict():
    result = agreed(rows_of("redis", A, {"HGETALL": 4_900, "HSET": 5_030}))
    assert result.loc["HGETALL", ["most", "counted"]].tolist() == [5_000, 4_900]
    assert result["deviation"].to_dict() == pytest.approx({"HGETALL": -0.02, "HSET": 0.006})
    assert flagged(result).index.tolist() == ["HGETALL"]
    # A server that counted nothing at all.
    assert agreed(rows_of("redis", A, {}))["deviation"].tolist() == [-1, -1]


def test_failed_operations_may_have_reached_the_server_or_not():
    failing = A | {("update", "ERROR"): 500}
    for counted, deviation in ((5_000, 0), (5_250, 0), (5_500, 0), (4_500, -0.1), (6_050, 0.1)):
        result = agreed(rows_of("redis", failing, {"HGETALL": 5_000, "HSET": counted}))
        assert result.loc["HSET", "deviation"] == pytest.approx(deviation)


def test_a_missing_record_takes_what_the_probe_of_missing_keys_says():
    missing = {("read", "OK"): 4_000, ("read", "NOT_FOUND"): 1_000}
    result = agreed(rows_of("memcached", missing, {"cmd_get": 4_800, "get_misses": 1_000}))
    assert result.loc["cmd_get", ["least", "most"]].tolist() == [5_000, 5_000]
    assert result.loc["cmd_get", "deviation"] == pytest.approx(-0.04)


def test_rare_operations_are_not_predicted():
    rare = {("read", "OK"): 9_500, ("update", "OK"): 500}
    assert agreed(rows_of("redis", rare, {"HGETALL": 9_500})).index.tolist() == ["HGETALL"]


def test_updates_of_all_fields_have_a_step_of_their_own():
    probes = small.probes()
    values = probes._values["redis", "update-all", "command"]
    values["HSET"] = 2.0
    frame = OUTCOMES.frame(rows_of("redis", A, {"HGETALL": 5_000, "HSET": 10_000}))
    assert flagged(agreement(frame, probes, set())).empty
    assert len(flagged(agreement(frame, probes, {"a"}))) == 1
    study = small.study(parameters={"records": 1, "operations": 1})
    assert updating(study) == {"a"}
    properties = {"writeallfields": True}
    equal = small.study(parameters={"records": 1, "operations": 1, "properties": properties})
    assert updating(equal) == set()


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        (rows_of("riak", A, {"gets": 1}), "no probe: no server & no image"),
        (rows_of("redis", A, None), "the counters were not recorded"),
        (
            rows_of("redis", A | {("scan", "OK"): 9}, {"HSET": 1}),
            "the number of commands of a scan",
        ),
        (rows_of("unknown", A, {"HSET": 1}), "no probe: it has not been probed"),
        (
            [row | {"name": "ycsb.home"} for row in rows_of("redis", A, {})[:1]]
            + rows_of("redis", A, {})[1:],
            "probed with another client (kvstudy)",
        ),
    ],
)
def test_what_cannot_be_checked_has_a_reason(cell, reason):
    (row,) = agreed(cell).itertuples()
    assert sentence(row.reason).startswith(reason)
    assert pd.isna(row.deviation)


def test_a_probe_of_other_records_predicts_nothing():
    frame = OUTCOMES.frame(rows_of("redis", A, {"HGETALL": 9_000}))
    (row,) = agreement(frame, small.probes(), {"a"}, {("redis", "a")}).itertuples()
    assert sentence(row.reason) == "probed with other records"


def test_an_update_of_the_only_field_writes_the_whole_record():
    parameters = {"records": 1, "operations": 1, "properties": {"fieldcount": 1}}
    study = small.study(parameters=parameters)
    assert (updating(study), updating(study, WHOLE)) == (set(), {"a"})


def test_a_probe_without_counters_predicts_nothing():
    frame = OUTCOMES.frame(rows_of("s", A, {"HSET": 5}))
    facts = [["s", "", "client", "kvstudy", None, ""], ["s", "read", "operations", "", 5.0, ""]]
    probes = Probes(
        pd.DataFrame(facts, columns=["store", "step", "kind", "name", "value", "reason"])
    )
    (row,) = agreement(frame, probes, {"a"}).itertuples()
    assert row.reason == "no-command"


# The table and the text.


def run(failed: int, misses: float | None, invalid: str = "") -> tuple[pd.DataFrame, ...]:
    """Two cells of redis under A, 10 000 operations in 10 s each; the second one has the faults."""
    values, cells, rows = [], [], []
    for repetition in ("1", "2"):
        faults = repetition == "2"
        key = ["redis", "a", "p", repetition]
        cells.append([*key, "measured", "", invalid if faults else "", repetition, repetition])
        lost = (failed + (misses or 0)) if faults else 0
        result = {
            "runtime": 10_000.0,
            "throughput": 1_000.0,
            "operations": 10_000.0,
            "failed": float(failed if faults else 0),
            "goodput": (10_000 - lost) / 10,
        }
        if misses is not None:
            result["missed"] = misses if faults else 0.0
        values += [[*key, "run", "overall", name, "", value] for name, value in result.items()]
        values.append([*key, "load", "overall", "throughput", "ops/s", 5.0])
        statuses = A | ({("update", "ERROR"): failed} if faults and failed else {})
        counted = {"HGETALL": 5_000, "HSET": 5_000 - (200 if faults else 0)}
        rows += [row | {"repetition": repetition} for row in rows_of("redis", statuses, counted)]
    return (
        MEASUREMENTS.frame(values),
        pd.DataFrame(cells, columns=small.CELL_COLUMNS),
        OUTCOMES.frame(rows),
    )


def found_of(*faults) -> tuple[pd.DataFrame, pd.DataFrame]:
    measurements, cells, ends = run(*faults)
    compared = agreement(ends, small.probes(), {"a"})
    return validity(measurements, cells, ends, compared), compared


def test_the_sums_of_all_cells_void_ones_too():
    (row,) = found_of(30, 10.0, "many failed")[0].itertuples()
    assert (row.n, row.invalid, row.operations, row.good) == (2, 1, 20_000, 19_960)
    assert (row.failed, row.missed) == (30, 10)
    assert row.share == pytest.approx(0.002)
    # Wilson's interval for 40 of 20 000, by hand.
    assert (row.low, row.high) == pytest.approx((0.001469, 0.002722), abs=2e-6)
    assert (row.throughput, row.goodput) == (1_000, 998)
    assert row.kinds == "update: 30 ERROR"
    assert row.checked == 2
    assert row.deviation == pytest.approx(-0.04)


def test_a_throughput_that_its_source_has_rounded_loses_no_operation():
    measurements, *others = run(0, None)
    measurements.loc[measurements["metric"] == "throughput", "value"] = 999.9
    compared = agreement(others[1], small.probes(), {"a"})
    (row,) = validity(measurements, *others, compared).itertuples()
    assert (row.operations, row.good, row.share) == (20_000, 20_000, 0)


def test_without_a_failure_the_interval_ends_at_three_by_the_number():
    (row,) = found_of(0, None)[0].itertuples()
    assert (row.low, row.high) == (0, 3 / 20_000)
    assert pd.isna(row.missed)
    assert row.kinds == ""


def study() -> Study:
    return small.study(stores=["redis", "memcached"])


def sections(table: pd.DataFrame) -> list[TableSection]:
    (grid,) = small.table("validity").grids(table, small.run(study=study()))
    return grid.sections


def test_the_table_names_kinds_and_void_cells():
    result, _ = found_of(30, 10.0, "many failed")
    (section,) = sections(result)
    (line,) = section.lines
    assert (section.title, str(line.label)) == ("Workload A", "Redis")
    cells = [cell.replace("\N{NARROW NO-BREAK SPACE}", " ") for cell in line.texts]
    assert cells == [
        *["20 000", "19 960", "30", "10", "0.200", "0.147 to 0.272", "1 000", "998"],
        "\N{MINUS SIGN}4.0 %",
    ]
    assert line.notes == ["update: 30 ERROR", "1 of 2 cells are invalid"]


def facts_of(**tables: pd.DataFrame) -> SimpleNamespace:
    return validity_facts(small.analysis(**tables), DisplayNames(small.study(), small.TITLES, {}))


def test_stores_that_are_not_the_studys_are_left_out():
    result, compared = found_of(30, 10.0)
    result, compared = (frame.assign(store="redis-again") for frame in (result, compared))
    assert sections(result) == []
    facts = facts_of(validity=result, agreement=compared)
    assert (facts.invalid, facts.slower, facts.checked, facts.unchecked) == (0, [], 0, {})


def test_the_text_says_where_goodput_is_lower_and_counters_differ():
    result, compared = found_of(30, None, "many failed")
    facts = facts_of(validity=result, agreement=compared)
    assert facts.invalid == 1
    (slower,) = facts.slower
    assert (slower.store, slower.workload) == ("Redis", "Workload A")
    assert slower.share == pytest.approx(0.0015)
    assert facts.unknown == ["Redis"]
    assert facts.checked == 2
    (other,) = facts.disagreements
    assert other.cells == 1
    assert (other.repetition, other.counter, other.counted, other.expected) == (
        *("2", "HSET", 4_800, 5_000),
    )


def test_the_worst_of_several_repetitions_is_told():
    _, compared = found_of(30, None)
    compared.loc[compared["counter"] == "HSET", "deviation"] = [-0.02, -0.04]
    (worst,) = facts_of(agreement=compared).disagreements
    assert (worst.cells, worst.repetition, worst.counted) == (2, "2", 4_800)


def test_what_was_not_compared_is_named_with_its_workload_unless_it_is_all():
    other = rows_of("redis", {("read", "OK"): 9}, None, "c")
    compared = agreed(rows_of("redis", A, {}), other, rows_of("memcached", A, None)).reset_index()
    assert facts_of(agreement=compared).unchecked == {
        "counters-not-recorded": ["Redis under Workload C", "Memcached"]
    }
