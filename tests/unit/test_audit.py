"""The audit of a source on made-up tables: each fault is found, and rounding is none."""

import math
from pathlib import Path

import pandas as pd
import pytest
import yaml
from kvstudy.analyse.audit.check import (
    MISFITS,
    Fits,
    Kind,
    PrintedNumber,
    half_unit,
    quoted,
    severity,
)
from kvstudy.analyse.audit.files import (
    AUDIT,
    audit,
    check_quote,
    consistency,
    gravest_first,
    judged_values,
    read_values,
)
from kvstudy.analyse.tidy.results import read_published
from kvstudy.errors import KvstudyError
from kvstudy.layout.rich_text import DASH
from kvstudy.study.quotes import Quotes
from kvstudy.study.reading import read_yaml
from pydantic import ValidationError

from tests.project import kvstudy

from . import small_results as small

HEAD = "study,table,store,workload,operation,metric,unit,value,records,threads,printed\n"
# Two threads; 1000 operations, 500 reads of 1 ms and 500 updates of 3 ms take 1 s.
GOOD = {
    ("overall", "throughput"): "1000.00",
    ("overall", "runtime"): "1000",
    ("read", "operations"): "500",
    ("read", "latency_mean"): "1000.00",
    ("read", "latency_min"): "400.33",
    ("read", "latency_max"): "9000",
    ("read", "latency_p95"): "2000",
    ("read", "latency_p99"): "4000.67",
    ("update", "operations"): "500",
    ("update", "latency_mean"): "3000.00",
    ("read+update", "operations"): "1000",
    ("read+update", "latency_mean"): "2000.00",
}
# What is printed where there is no value.
GAPS = {"": "-"}
UNITS = {"throughput": "ops/s", "runtime": "ms", "operations": "count"}
SETTING = {"threads": 2, "runs": 3, "operations": {"a": 1000}, "decimals": 2}
SPEED = "redis/a/overall/throughput"
READ, UPDATE = "redis/a/read/latency_mean", "redis/a/update/latency_mean"
SHARES = {"a": {"read": 0.5, "update": 0.5}}
QUOTE = {"place": "p", "says": "it", "value": 1}


def table(path: Path, **changes: str) -> Path:
    """The good values as a file; ``read__latency_min="1"`` changes one of them."""
    values = dict(GOOD)
    for name, value in changes.items():
        operation, metric = name.split("__")
        values[operation.replace("_and_", "+"), metric] = value
    lines = [
        f"s,Table 1,redis,a,{operation},{metric},{UNITS.get(metric, 'us')},{value},,,"
        f"{GAPS.get(value, '')}"
        for (operation, metric), value in values.items()
    ]
    path.write_text(HEAD + "\n".join(lines) + "\n")
    return path


def quotes_file(folder: Path, **keys: object) -> Path:
    path = folder / "quotes.yaml"
    path.write_text(yaml.safe_dump(keys))
    return path


def checks_of(path: Path, said: Quotes, shares: dict | None = None) -> list:
    values = read_values(path, said.setting.decimals)
    return consistency(values, said, shares or {})


def wrong(path: Path, setting: dict | None = None, failures: list | None = None) -> dict:
    """The kinds of checks that do not fit, with the first such check of each."""
    said = Quotes.model_validate({"setting": SETTING | (setting or {}), "failures": failures or []})
    checks = checks_of(path, said, SHARES)
    return {check.kind: check for check in reversed(checks) if check.fits in MISFITS}


def test_good_tables_fit(tmp_path):
    assert wrong(table(tmp_path / "p.csv")) == {}


@pytest.mark.parametrize(
    ("change", "kind", "given", "expected"),
    [
        ({"update__latency_mean": "3200.00"}, Kind.LITTLE, 1.05, 1),
        ({"overall__runtime": "990"}, Kind.RUNTIME, 990, 1000),
        ({"overall__runtime": "1011"}, Kind.RUNTIME, 1011, 1000),
        ({"read_and_update__latency_mean": "1999.98"}, Kind.COMBINED, 1999.98, 2000),
        ({"read_and_update__operations": "999"}, Kind.COMBINED, 999, 1000),
        ({"update__operations": "480"}, Kind.COUNTS, 980, 1000),
        ({"read__latency_min": "400.40"}, Kind.STEPS, 400.4, 400 + 1 / 3),
        ({"read__latency_p95": "4001"}, Kind.ORDER, 4001, 4000.67),
    ],
)
def test_each_fault_is_found(tmp_path, change, kind, given, expected):
    check = wrong(table(tmp_path / "p.csv", **change))[kind]
    assert (check.given, check.expected) == pytest.approx((given, expected))
    assert not check.low <= check.given <= check.high


def test_what_rounding_can_hide_is_no_fault(tmp_path):
    # 1999.995 printed as 2000.00, and 400.33 as 400.3.
    change = {"read__latency_mean": "999.99", "read__latency_min": "400.3"}
    assert wrong(table(tmp_path / "p.csv", **change)) == {}


def test_means_over_runs_may_multiply_to_more_but_one_run_may_not(tmp_path):
    path = table(tmp_path / "p.csv", overall__runtime="1006")
    assert wrong(path) == {}
    assert Kind.RUNTIME in wrong(path, {"runs": 1})


def test_a_rare_slow_operation_is_weighted_by_its_count(tmp_path):
    change = {"read__operations": "950", "update__operations": "50"}
    checks = checks_of(table(tmp_path / "p.csv", **change), Quotes())
    (check,) = (c for c in checks if (c.kind, c.metric) == (Kind.WEIGHTED, "latency_mean"))
    assert (check.given, check.expected) == pytest.approx((2000, 1100))
    assert check.fits == Fits.NONE


def test_failed_operations_are_missing_among_the_counts(tmp_path):
    stated = [{"place": "p. 1", "store": "redis", "operation": "update", "percent": 5}]
    check = wrong(table(tmp_path / "p.csv"), failures=stated)[Kind.FAILURES]
    assert (check.given, check.expected) == (1000, 975)
    # 2.5 % of all operations are missing: 5 % of the updates.
    fewer = {"update__operations": "475", "read_and_update__operations": "975"}
    path = table(tmp_path / "q.csv", **fewer, overall__throughput="975.00")
    assert Kind.FAILURES not in wrong(path, failures=stated)


def test_counts_that_scatter_too_much_for_means(tmp_path):
    change = {"read__operations": "560", "update__operations": "440"}
    check = wrong(table(tmp_path / "p.csv", **change))[Kind.MIXTURE]
    # z = 60/√250, three runs.
    assert check.given == pytest.approx(3 * 60**2 / 250)
    change = {"read__operations": "520", "update__operations": "480"}
    assert Kind.MIXTURE not in wrong(table(tmp_path / "p.csv", **change))


def test_more_than_n_times_the_throughput_of_one_thread(tmp_path):
    rows = [
        f"s,Table 5,redis,a,overall,throughput,ops/s,{value},{records},{threads},"
        for records, by_threads in ((10, (100, 250, 280)), (20, (100, 190, 303)))
        for threads, value in enumerate(by_threads, start=1)
    ]
    path = tmp_path / "p.csv"
    path.write_text(HEAD + "\n".join(rows) + "\n")
    check = wrong(path)[Kind.THREADS]
    assert (check.given, check.threads, check.records) == (1.25, 2, 10)
    kinds = [check.kind for check in checks_of(path, Quotes()) if check.fits in MISFITS]
    assert kinds.count(Kind.THREADS) == 1


@pytest.mark.parametrize(
    ("text", "value", "whole", "half"),
    [
        ("5081.13", 5081.13, 0, 0.005),
        ("967.9", 967.9, 2, 0.05),
        ("317", 317, 2, 0.005),
        ("317", 317, 0, 0.5),
        ("26,2 m", 1_572_000, 0, 3_000),
        ("21 277", 21_277, 0, 0.5),
        ("0 ms", 0, 0, 0.5),
        ("1:40", 40, 0, 0.5),
    ],
)
def test_half_a_unit_of_the_last_printed_digit(text, value, whole, half):
    assert half_unit(text, value, whole) == pytest.approx(half)


@pytest.mark.parametrize(
    ("text", "about", "half"),
    [
        ("27", False, 0.5),
        ("800", True, 50),
        ("800", False, 0.5),
        ("2.5", True, 0.05),
        ("0", True, 0.5),
    ],
)
def test_zeros_at_the_end_count_unless_it_is_about(text, about, half):
    number = quoted(text, about)
    assert number.high - number.value == pytest.approx(half)


def test_a_division_by_what_may_be_zero_is_refused():
    with pytest.raises(ZeroDivisionError):
        PrintedNumber.exact(1) / PrintedNumber.rounded(0.3, 0.5)


def said(path: Path, *result: dict) -> list:
    values = read_values(table(path / "p.csv"), 2)
    listed = [{"place": "p. 1", "says": "it", **each} for each in result]
    result = Quotes.model_validate({"quotes": listed}).quotes
    keys = (f"quotes.yaml: quotes[{index}].expected" for index in range(len(result)))
    return [check_quote(quote, values, key) for quote, key in zip(result, keys, strict=True)]


@pytest.mark.parametrize(
    ("value", "expected", "fits"),
    [
        ("1000", SPEED, Fits.YES),
        ("1001", SPEED, Fits.DIGITS),
        ("1020", SPEED, Fits.VALUE),
        ("1200", SPEED, Fits.RESULT),
        ("3", {"ratio": [UPDATE, READ]}, Fits.YES),
        ("200", {"change": [UPDATE, READ]}, Fits.YES),
        ("200.1", {"change": [UPDATE, READ]}, Fits.DIGITS),
        # Printed is a share of the larger number: 3 times as long is 200 % more, and no 67 %.
        ("66.67", {"change": [UPDATE, READ]}, Fits.RESULT),
        # As ratios 2.9 and 3: 3 % off, though 190 and 200 are 5 % apart.
        ("190", {"change": [UPDATE, READ]}, Fits.VALUE),
        # 1 % more and 1 % less is another order.
        ("1", {"change": [990, 1000]}, Fits.RESULT),
        ("-20", {"difference": [985, 1000]}, Fits.DIGITS),
        ("-2000", {"difference": [READ, UPDATE]}, Fits.YES),
        ("2000", {"mean": ["redis/a/*/latency_mean"]}, Fits.YES),
        ("6000", {"sum": ["redis/a/*/latency_mean"]}, Fits.YES),
        ("1000", {"least": ["*/a/*/latency_mean"]}, Fits.YES),
        ("3000", {"most": ["*/a/*/latency_mean"]}, Fits.YES),
        ("2.5", {"ratio": [{"sum": [1, 1.5]}, 1]}, Fits.YES),
        # Both are rounded: 8.5 by 3.5 is enough.
        ("2.4", {"ratio": ["8", "4"]}, Fits.YES),
        ("2.4", {"ratio": [8, 4]}, Fits.RESULT),
    ],
)
def test_a_number_of_the_text_against_the_tables(tmp_path, value, expected, fits):
    (check,) = said(tmp_path, {"value": value, "expected": expected})
    assert check.fits == fits


@pytest.mark.parametrize(
    ("value", "relation", "fits"),
    [
        ("900", "at least", Fits.YES),
        ("1100", "at least", Fits.VALUE),
        ("1100", "at most", Fits.YES),
        ("900", "at most", Fits.VALUE),
    ],
)
def test_what_is_expected_may_be_a_bound(tmp_path, value, relation, fits):
    quote = {"value": value, "relation": relation, "expected": SPEED}
    (check,) = said(tmp_path, quote)
    assert check.fits == fits


@pytest.mark.parametrize(
    ("off", "turned", "fits"),
    [
        (0.009, False, Fits.DIGITS),
        (-0.01, False, Fits.VALUE),
        (0.1, False, Fits.RESULT),
        (-math.inf, False, Fits.RESULT),
        (0.001, True, Fits.RESULT),
    ],
)
def test_severity_is_what_changes(off, turned, fits):
    assert severity(off, turned) == fits


def test_what_does_not_fit_is_listed_by_what_it_changes(tmp_path):
    # Off by 0.2, 40, 3 and 20 %.
    result = said(
        tmp_path,
        *({"value": value, "expected": SPEED} for value in (1002, 600, 1030, 1200)),
    )
    listed = gravest_first(pd.DataFrame([vars(check) for check in result]))
    assert list(listed["given"]) == [600, 1200, 1030, 1002]


LATENCIES = {(name, "latency_mean") for name in ("read", "update", "read+update")}
LONGER = {"update__latency_mean": "4000.00", "read_and_update__latency_mean": "2500.00"}


@pytest.mark.parametrize(
    ("changes", "inconsistent"),
    [
        ({}, set()),
        # 2 % off is no other result.
        ({"overall__runtime": "980"}, set()),
        ({"overall__runtime": "700"}, {("overall", "throughput"), ("overall", "runtime")}),
        (LONGER, LATENCIES),
        # The throughput only without its run time.
        (LONGER | {"overall__runtime": ""}, LATENCIES | {("overall", "throughput")}),
    ],
)
def test_values_that_cannot_be_true_together_are_inconsistent(
    tmp_path, project, changes, inconsistent
):
    published = table(tmp_path / "p.csv", **changes)
    checks = audit(small.study(), published, quotes_file(tmp_path, setting=SETTING))
    values = judged_values(read_published(published), checks)
    marked = values.loc[values["inconsistent"], ["operation", "metric"]]
    assert set(marked.itertuples(index=False, name=None)) == inconsistent


def test_a_number_without_a_table_has_no_verdict(tmp_path):
    (check,) = said(tmp_path, {"value": 5})
    assert check.fits == Fits.NONE
    assert math.isnan(check.expected)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("redi/a/overall/throughput", "has no value at 'redi/a/overall/throughput'; look up"),
        ("redis/a/*/latency_mean", "has 3 values at 'redis/a/*/latency_mean'; add sizes"),
    ],
)
def test_a_wrong_address_names_key_and_remedy(tmp_path, expected, message):
    with pytest.raises(KvstudyError, match=r"quotes\.yaml: quotes\[0\]\.expected: ") as error:
        said(tmp_path, {"value": 1, "expected": expected})
    assert message in str(error.value)


def test_a_ratio_to_0_is_refused(tmp_path):
    with pytest.raises(ValidationError, match="ratio: divides by 0; give another second value"):
        said(tmp_path, {"value": 1, "expected": {"ratio": [1, 0]}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"value": 5.1}, "quotes[0].value: loses digits without quotation marks"),
        ({"value": "5,1"}, "quotes[0].value: is no number like '5081.13'"),
        ({"expected": "redis/a"}, "quotes[0].expected: is no store/workload/operation/metric"),
        ({"expected": {"ratio": [1]}}, "quotes[0].expected.ratio: must be a list of 2 or more"),
        ({"expected": {"rate": [1]}}, "quotes[0].expected.rate: unknown key"),
        ({"expected": {"ratio": [1, 2], "sum": [1]}}, "give exactly one of ratio, change"),
        ({"expected": {"product": None}}, "give exactly one of ratio, change"),
        ({"expected": True}, "quotes[0].expected: must be an address, a number, or a key"),
        ({"relation": "is"}, "quotes[0].relation: must be one of equal, at least"),
        ({"say": "it"}, "quotes[0].say: unknown key"),
    ],
)
def test_a_wrong_quote_names_file_key_and_remedy(tmp_path, change, message):
    path = quotes_file(tmp_path, quotes=[QUOTE | change])
    with pytest.raises(KvstudyError) as error:
        read_yaml(path, Quotes)
    assert f"{path}: " in str(error.value)
    assert message in str(error.value)


def test_the_audit_is_read_as_it_was_written(tmp_path, project):
    checks = audit(small.study(), table(tmp_path / "p.csv"), None)
    checks.to_csv(tmp_path / "audit.csv", index=False)
    again = AUDIT.read(tmp_path)
    pd.testing.assert_frame_equal(again, checks.astype({"kind": str, "fits": str}))


def test_a_quote_of_a_table_that_is_not_there(tmp_path, project):
    path = quotes_file(tmp_path, quotes=[QUOTE | {"expected": READ}])
    with pytest.raises(KvstudyError, match=r"quotes\[0\]\.expected.*needs a published\.csv"):
        audit(small.study(), None, path)


def test_the_command_prints_what_does_not_fit(project):
    done = kvstudy("audit", "--study", "config/studies/jedlicka2024/study.yaml")
    assert done.exit_code == 0, done.output
    assert (
        "CHANGES A RESULT: Table 4.5 riak insert: operations, from throughput and run time"
        in done.output
    )
    assert Path("results/jedlicka2024/audit.csv").is_file()


def test_a_study_without_a_source_has_nothing_to_audit(project):
    with pytest.raises(KvstudyError, match=r"neither published\.csv nor quotes\.yaml"):
        kvstudy("audit", "--study", "config/studies/smoke/study.yaml")


def test_the_tables_of_the_audit_say_by_how_much(tmp_path, project):
    path = table(tmp_path / "p.csv", update__latency_mean="3200.00", overall__runtime="1011")
    checks = audit(small.study(), path, quotes_file(tmp_path, setting=SETTING))
    counts, misfits = small.table("audit").grids(checks, small.run())
    assert [line.texts for line in counts.lines][:2] == [
        ["1", DASH, "1", DASH, DASH, DASH],
        ["1", DASH, DASH, "1", DASH, DASH],
    ]
    # The run time changes digits only; it is counted, and not listed. Nobody printed the share.
    lines = {str(line.label).split("\n")[0]: line.texts for line in misfits.lines}
    assert not any("from throughput and run time" in label for label in lines)
    (of_calls,) = (cells for label, cells in lines.items() if "share of the time" in label)
    assert of_calls == ["1.05*", "at most 1.02", "+2.9 %"]
    assert misfits.notes == ["*: computed from what is printed."]
