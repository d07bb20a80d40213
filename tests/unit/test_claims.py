"""What is made of claims: each kind of statement, on small made data."""

import re
from dataclasses import astuple, replace
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.claims.file import Claim, Claims, load_claims
from kvstudy.analyse.claims.selection import ParameterGrid, ParameterSet, grid_of
from kvstudy.analyse.claims.stopping import claimed
from kvstudy.analyse.claims.table import (
    CLIENT_BOUND,
    COLUMNS,
    IN_FLOOR,
    JUDGED,
    UNEQUAL,
    judge_claims,
)
from kvstudy.analyse.claims.values import Values, measured_values, published_values
from kvstudy.analyse.claims.verdicts import Judge, Support, Verdict, combined_verdict, support_of
from kvstudy.analyse.findings.bottleneck import BOTTLENECK
from kvstudy.analyse.findings.looks import Claimed
from kvstudy.analyse.findings.pairs import FLOOR
from kvstudy.analyse.findings.rounds import Times, crossing
from kvstudy.analyse.findings.rounds import rounds as rounds_of
from kvstudy.analyse.tidy.files import CELL
from kvstudy.analyse.tidy.results import read_published
from kvstudy.documents.report.context import claim_facts
from kvstudy.exhibits.claim_words import ClaimNames, label
from kvstudy.exhibits.tables.claims import claim_line
from kvstudy.language.current import using
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import TableRow, notes_of
from kvstudy.stats.intervals import Interval
from kvstudy.stats.ratios import margin_bounds, unpaired_ratio
from kvstudy.study.kinds import TABLES
from kvstudy.study.load import load_study
from kvstudy.study.parts import MEAN

THESIS = Path("config/studies/jedlicka2024")

STORES = ["fast", "slow", "near"]
COUNTS = [1, 2, 4, 8, 16]
SETS = [ParameterSet(1000, 10000, count, f"t{count}") for count in COUNTS]
GRID = ParameterGrid({"a": SETS, "b": [SETS[-1]]}, {"a": SETS[-1], "b": SETS[-1]})
NOTHING = Values({})
NAMES = ClaimNames({"fast": "Fast", "slow": "Slow", "near": "Near"}, {"a": "A", "b": "B"})
WORKLOADS = [SimpleNamespace(name=name, short=short) for name, short in NAMES.workloads.items()]
# Operations per second with 16 threads, three repetitions.
SPEED = {"fast": (200, 210, 220), "slow": (100, 104, 111), "near": (101, 102, 112)}


def values(**changes: object) -> Values:
    """Throughput as in SPEED; b twice as fast; latencies its inverse, updates thrice reads'."""
    runs_of: dict = {}
    for store, speeds in SPEED.items():
        for workload, factor in (("a", 1), ("b", 2)):
            rates = {str(n): speed * factor for n, speed in enumerate(speeds, start=1)}
            reads = {n: 1e6 / rate for n, rate in rates.items()}
            runs_of[store, workload, "t16"] = {
                ("overall", "throughput"): rates,
                ("read", "latency_mean"): reads,
                ("update", "latency_mean"): {n: 3 * each for n, each in reads.items()},
                ("read+update", "latency_mean"): {n: 2 * each for n, each in reads.items()},
                ("read", "operations"): dict.fromkeys(rates, 1000.0),
                ("read", "failed"): dict.fromkeys(rates, 50.0 if store == "slow" else 0.0),
            }
    return Values(runs_of, **changes)


def of_run(
    rounds: pd.DataFrame,
    cells: pd.DataFrame,
    measured: pd.DataFrame | None = None,
    bottleneck: pd.DataFrame | None = None,
    floor: pd.DataFrame | None = None,
) -> Values:
    """The values of a run with these tables, of a study without updates."""
    if measured is None:
        measured = pd.DataFrame(columns=[*CELL, "operation", "metric", "value"])
    analysis = SimpleNamespace(
        bottleneck=BOTTLENECK.frame() if bottleneck is None else bottleneck,
        floor=FLOOR.frame() if floor is None else floor,
    )
    known = {key: [] for key in ("workloads", "stores", "store_names")}
    study = SimpleNamespace(source=object(), imported=None, until=None, **known)
    run = {
        "headline": {"a": "t16", "b": "t16"},
        "other_sizes": set(),
        "study": study,
        "analysis": analysis,
        "probes": None,
        "cells": cells,
        "rounds": rounds,
    }
    return measured_values(SimpleNamespace(values=measured, **run))


def rates(store: str, *speeds: float, runs: int = 3) -> dict:
    """Throughput over COUNTS under a, the same up to 1 % in each repetition."""
    return {
        (store, "a", f"t{count}"): {
            ("overall", "throughput"): {str(n): speed * (1 + n / 100) for n in range(1, runs + 1)}
        }
        for count, speed in zip(COUNTS, speeds, strict=True)
    }


def claims_of(statements: list[dict]) -> list[Claim]:
    """One claim with these statements."""
    claim = {"id": "X1", "claim": "?", "place": "p. 1", "said": "quoted", "statements": statements}
    return Claims.model_validate({"claims": [claim]}).claims


def judge(statement: dict) -> Judge:
    return claims_of([statement])[0].statements[0]._judge()


def judged(
    statements: list[dict],
    measured: Values | None = None,
    published: Values = NOTHING,
    grid: ParameterGrid = GRID,
    **more: object,
) -> pd.DataFrame:
    """The table of a claim with these statements."""
    return judge_claims(
        claims_of(statements), grid, STORES, measured or values(), published, **more
    )


def answer(statement: dict, measured: Values | None = None, published: Values = NOTHING):
    """The first row of a claim with this one statement."""
    return judged([statement], measured, published).iloc[0]


def parts_of(result: pd.DataFrame) -> list[str]:
    """The parts of the only claim, as they are read; spaces are plain."""
    line = claim_line(result, NAMES, measured=True, judged=True)
    return line.texts[1].replace("\xa0", " ").split("\n")


def notes_below(line: TableRow) -> list[str]:
    """What is below the verdict of a claim."""
    return line.texts[0].replace("\u202f", " ").split("\n")[1:]


def words(subject: str, names: ClaimNames = NAMES) -> str:
    """The words of a code, with plain spaces."""
    return re.sub("[\xa0\u202f]", " ", label(subject, names))


def verdict(statement: dict, measured: Values | None = None) -> str:
    return answer(statement, measured)["verdict"]


def statement(kind: str, **keys: object) -> dict:
    """Of workload a, unless it names another."""
    return {"kind": kind, "workload": "a"} | keys


def ratio(times: float, **more: object) -> dict:
    sides = {"of": {"store": "fast"}, "to": {"store": "slow"}}
    return statement("ratio", **sides | {"times": times} | more)


EQUAL = statement("equal", of={"store": "near"}, to={"store": "slow"})
# Of latencies: updates by reads.
BY_READS = {"metric": "latency_mean", "of": {"operation": "update"}, "to": {"operation": "read"}}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (statement("order", stores=["fast", "slow"]), "reproduced"),
        (statement("order", stores=["slow", "fast"]), "contradicted"),
        (statement("order", stores=["fast", "near", "slow"]), "undecided"),
        # Of a latency less is better.
        (statement("order", metric="latency_mean", stores=["fast", "slow"]), "reproduced"),
        (statement("best", workload=["a", "b"], store="fast"), "reproduced"),
        (statement("worst", store="fast"), "contradicted"),
        (ratio(2), "reproduced"),
        (ratio(4), "direction only"),
        (ratio(0.5), "contradicted"),
        (ratio(1.1, of={"store": "near"}), "undecided"),
        (ratio(2, store="slow", of={"workload": "b"}, to={"workload": "a"}), "reproduced"),
        (statement("factor", store="slow", **BY_READS, at_least=2, at_most=4), "reproduced"),
        (
            statement("factor", of={"store": STORES}, to={"store": STORES}, at_most=1.5),
            # The four ratios below 1 hold, and one of those above.
            "partly reproduced",
        ),
        (statement("equal", workload="b", store=STORES, **BY_READS), "contradicted"),
        (EQUAL, "reproduced"),
        (statement("bound", store="fast", at_least=150, at_most=300), "reproduced"),
        (statement("bound", store="fast", at_most=150), "contradicted"),
        (statement("bound", store="fast", at_most=210), "undecided"),
        (statement("value", store="fast", value=210), "not measured"),
    ],
)
def test_each_kind_of_statement_has_its_verdict(statement, expected):
    assert verdict(statement) == expected


def test_a_ratio_between_stores_is_paired_by_repetition_and_not_for_imported_logs():
    paired, apart = answer(ratio(2)), answer(ratio(2), values(paired=False))
    assert paired["value"] == pytest.approx(apart["value"])
    assert paired["n"] == apart["n"] == 3
    assert paired["high"] - paired["low"] < apart["high"] - apart["low"]


@pytest.mark.parametrize(
    "statement",
    [
        ratio(2),
        ratio(2, store="slow", of={"workload": "b"}, to={"workload": "a"}),
        statement("bound", store="fast", at_least=150),
        statement("bound", store="slow", operation="read", metric="failed_share", at_most=0.1),
    ],
)
@pytest.mark.parametrize("paired", [True, False])
def test_intervals_have_the_level_of_the_run(statement, paired):
    usual, stopping = (
        answer(statement, values(level=level, paired=paired)) for level in (0.95, 0.987)
    )
    assert usual["value"] == stopping["value"]
    assert stopping["low"] < usual["low"] < usual["high"] < stopping["high"]


def test_rounds_of_two_cells_are_not_paired():
    places = {(store, "a", "t16") for store in STORES}
    rounds = answer(ratio(2), values(in_rounds=places))
    welch = unpaired_ratio(SPEED["fast"], SPEED["slow"])
    assert (rounds["low"], rounds["high"]) == pytest.approx((welch.low, welch.high))


def test_one_repetition_is_undecided_and_its_value_is_shown():
    one = Values(
        {
            place: {key: {"1": runs["1"]} for key, runs in of.items()}
            for place, of in values().runs_of.items()
        }
    )
    result = answer(ratio(2), one)
    assert result["verdict"] == "undecided"
    assert (round(result["value"], 9), result["n"]) == (2, 1)
    assert pd.isna(result["low"])


def test_failed_operations_have_a_share_with_wilsons_interval():
    bound = statement("bound", operation="read", metric="failed_share")
    failing = bound | {"store": "slow", "at_least": 0.04, "at_most": 0.06}
    assert verdict(failing) == "reproduced"
    shown = answer(failing)
    assert (shown["value"], shown["n"]) == (0.05, 3000)
    # None failed: the bound is 3 divided by the number of operations.
    assert verdict(bound | {"store": "fast", "at_most": 0.001}) == "reproduced"
    assert verdict(bound | {"store": "fast", "at_most": 0.0001}) == "undecided"


TREND = statement("trend", store="fast", threads="all", over="threads")


def test_a_trend_is_the_change_from_the_first_to_the_last_size():
    rising = Values(rates("fast", 100, 200, 400, 800, 1600))
    result = answer(TREND | {"goes": "up"}, rising)
    assert result["verdict"] == "reproduced"
    assert result["value"] == pytest.approx(16)
    assert verdict(TREND | {"goes": "down"}, rising) == "contradicted"
    half = dict(list(rising.runs_of.items())[:-1])
    assert verdict(TREND | {"goes": "up"}, Values(half)) == "not measured"


def test_a_trend_can_end_where_throughput_saturates():
    falling = Values(rates("fast", 100, 200, 90, 60, 40))
    assert verdict(TREND | {"goes": "up"}, falling) == "contradicted"
    assert verdict(TREND | {"goes": "up", "until_saturation": True}, falling) == "reproduced"


def test_the_trend_of_a_ratio():
    both = Values(rates("fast", 100, 200, 400, 800, 1600) | rates("slow", 10, 12, 10, 12, 10))
    trend = {key: value for key, value in TREND.items() if key != "store"}
    growing = trend | {"of": {"store": "fast"}, "to": {"store": "slow"}, "goes": "up"}
    result = answer(growing, both)
    assert result["verdict"] == "reproduced"
    assert words(result["what"]) == "A: Fast / Slow; threads 1 to 16"


def test_a_trend_over_rounds_pairs_none():
    """Round 4 of one cell met nothing that round 4 of another one did."""
    both = rates("fast", 100, 200, 400, 800, 1600) | rates("slow", 10, 12, 10, 12, 10)
    trend = {key: value for key, value in TREND.items() if key != "store"}
    trend |= {"of": {"store": "fast"}, "to": {"store": "slow"}, "goes": "up"}
    first = ("fast", "a", "t1")
    (runs,) = both[first].values()
    turned = {("overall", "throughput"): dict(zip(("3", "1", "2"), runs.values(), strict=True))}
    shuffled = both | {first: turned}
    ends = {}
    for inside in (set(), set(both)):
        for order, runs in (("as run", both), ("shuffled", shuffled)):
            result = answer(trend, Values(runs, in_rounds=inside))
            ends[bool(inside), order] = result[["value", "low", "high"]].tolist()
    assert ends[True, "as run"] == pytest.approx(ends[True, "shuffled"])
    assert ends[False, "as run"] != pytest.approx(ends[False, "shuffled"])
    # The spread of each cell, 1 % from run to run, is in the interval.
    value, low, high = ends[True, "as run"]
    assert value == pytest.approx(16, rel=0.01)
    assert low < 15.9 < 16.1 < high


SATURATION = statement("saturation", store="fast", threads="all")


@pytest.mark.parametrize(
    ("speeds", "limits", "expected"),
    [
        ((10, 20, 40, 41, 41), {"at_least": 4, "at_most": 6}, "reproduced"),
        ((10, 20, 40, 80, 81), {"at_least": 4, "at_most": 6}, "contradicted"),
        # Still rising at the last count.
        ((10, 20, 40, 80, 160), {"at_least": 16}, "reproduced"),
        ((10, 20, 40, 80, 160), {"at_most": 8}, "contradicted"),
        # Whether it is 20 cannot be told with 16 threads.
        ((10, 20, 40, 80, 160), {"at_least": 20}, "not measured"),
        ((10, 20, 40, 80, 160), {"at_most": 16}, "not measured"),
    ],
)
def test_where_throughput_saturates(speeds, limits, expected):
    assert verdict(SATURATION | limits, Values(rates("fast", *speeds))) == expected


def test_the_point_of_saturation_may_differ_between_repetitions():
    unsteady = Values(rates("fast", 10, 20, 40, 41, 41))
    unsteady.runs_of["fast", "a", "t8"]["overall", "throughput"]["2"] = 80.0
    result = judged([SATURATION | {"at_most": 4}], unsteady)
    assert result["verdict"].tolist() == ["undecided"]
    assert "4 [4, 8] threads" in "\n".join(parts_of(result))


def test_one_store_saturates_first():
    first = statement("saturates-first", threads="all")
    all_three = Values(
        rates("fast", 10, 20, 40, 41, 41)
        | rates("slow", 10, 20, 40, 80, 160)
        | rates("near", 10, 20, 40, 80, 81)
    )
    assert verdict(first | {"store": "fast"}, all_three) == "reproduced"
    assert verdict(first | {"store": "near"}, all_three) == "partly reproduced"
    # There is one number of threads only.
    assert verdict(first | {"store": "fast", "workload": "b"}) == "not measured"


def test_from_how_many_reads_on_a_cache_pays_off():
    costs = {  # us: read of the database 120, of the cache 40, write to it 40
        ("slow", "a", "t16"): {"read": 120.0, "insert": 1300.0},
        ("fast", "a", "t16"): {"read": 40.0, "insert": 40.0},
    }
    by_hand = Values(
        {
            place: {
                (operation, "latency_mean"): {"1": cost, "2": cost * 1.01, "3": cost * 1.02}
                for operation, cost in of.items()
            }
            for place, of in costs.items()
        }
    )
    claimed = statement(
        "break-even", metric="latency_mean", cache="fast", database="slow", reads=2.5
    )
    result = answer(claimed, by_hand)
    assert result["verdict"] == "reproduced"
    assert result["value"] == pytest.approx(2.5)
    by_hand.runs_of["fast", "a", "t16"]["delete", "latency_mean"] = {"1": 80.0, "2": 81.0}
    assert answer(claimed, by_hand)["value"] == pytest.approx(3, 0.01)
    by_hand.runs_of["slow", "a", "t16"]["read", "latency_mean"] = {"1": 30.0, "2": 30.0}
    never = answer(claimed, by_hand)
    assert (never["verdict"], never["value"]) == ("contradicted", inf)
    # Two runs that differ much do not show that it never pays off, and one shows nothing.
    by_hand.runs_of["slow", "a", "t16"]["read", "latency_mean"] = {"1": 10.0, "2": 60.0}
    assert verdict(claimed, by_hand) == "undecided"
    by_hand.runs_of["slow", "a", "t16"]["read", "latency_mean"] = {"1": 30.0}
    assert verdict(claimed, by_hand) == "undecided"


def test_a_cache_that_may_never_pay_off_is_undecided():
    crossing = judge(statement("break-even", cache="fast", database="slow", reads=2.5))
    assert crossing.verdict(Interval(2.5, 1.9, inf)) == "undecided"
    assert crossing.verdict(Interval(2.5, 1.9, 3.6)) == "reproduced"
    assert crossing.verdict(Interval(9.0, 7.0, 12.0)) == "direction only"


@pytest.mark.parametrize(
    ("published", "measured", "verdict"),
    [
        (2.0, (2.1, 1.9, 2.3), "reproduced"),
        (0.5, (0.45, 0.4, 0.5), "reproduced"),
        (2.0, (2.5, 2.2, 2.8), "reproduced"),  # exactly 1.25 times
        (2.0, (1.6, 1.4, 1.8), "reproduced"),  # exactly 1/1.25
        (2.0, (2.51, 2.2, 2.8), "direction only"),
        (2.0, (1.59, 1.4, 1.8), "direction only"),
        (0.5, (0.1, 0.05, 0.2), "direction only"),
        (2.0, (1.9, 0.9, 4.0), "undecided"),
        (2.0, (0.8, 0.6, 1.05), "undecided"),
        (2.0, (1.5, 1.0, 2.2), "undecided"),  # a bound of 1 is contained
        (2.0, (1.0, 1.0, 1.0), "undecided"),
        (2.0, (0.8, 0.7, 0.9), "contradicted"),
        (0.9, (1.1, 1.05, 1.2), "contradicted"),
        (2.0, (2.0, None, None), "undecided"),  # one run
    ],
)
def test_claims_of_a_ratio(published, measured, verdict):
    assert judge(ratio(published)).verdict(Interval(*measured)) == verdict
    if measured[1]:
        # So has the inverse claim.
        value, low, high = (1 / number for number in measured)
        assert judge(ratio(1 / published)).verdict(Interval(value, high, low)) == verdict


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        ((1.0, 0.95, 1.05), "reproduced"),
        ((1.0, 0.91, 1.09), "reproduced"),
        ((1.03, 1.01, 1.05), "reproduced"),  # a real but small difference
        ((1.0, 0.7, 1.4), "undecided"),  # contains 1, and proves nothing
        ((1.1, 1.05, 1.15), "undecided"),
        ((0.95, 0.905, 1.0), "undecided"),
        ((1.5, 1.2, 1.9), "contradicted"),
        ((0.7, 0.6, 0.8), "contradicted"),
        ((1.0, None, None), "undecided"),
    ],
)
def test_claims_of_equality(measured, verdict):
    assert judge(EQUAL).verdict(Interval(*measured)) == verdict


def test_the_margin_is_the_same_both_ways_and_a_claim_may_have_another():
    assert margin_bounds(0.1) == pytest.approx((0.909091, 1.1))
    assert judge(EQUAL | {"margin": 0.5}).verdict(Interval(1.0, 0.7, 1.4)) == "reproduced"


def test_the_break_even_of_a_cell_with_rounds_is_that_of_the_table():
    """Trimmed means of the rounds of one cell; of several cells plain means over them."""
    rounds = []
    for store, costs in {
        "fast": {"read": 40, "insert": 38, "delete": 42},
        "slow": {"read": 120},
    }.items():
        for operation, us in costs.items():
            for number, factor in enumerate((1.0, 1.04, 0.97, 1.9, 1.01)):
                ns = us * factor * 1e4
                rounds.append([store, "a", "t16", "1", 16, operation, number, "yes", 10, 10, ns])
    names = ["store", "workload", "parameters", "repetition", "records", "operation", "round"]
    rounds = pd.DataFrame(rounds, columns=[*names, "counted", "operations", "ok", "ns"])
    again = rounds.assign(repetition="2", ns=rounds["ns"] * 1.1)
    claimed = statement("break-even", metric="throughput", reads=2.5)
    claimed |= {"cache": "fast", "database": "slow"}
    for all_rounds in (rounds, pd.concat([rounds, again])):
        cells = all_rounds[CELL].drop_duplicates().assign(invalid="", status="measured")
        measured = of_run(all_rounds, cells)
        shown = answer(claimed, measured)
        times = Times(rounds_of(all_rounds, cells[CELL]), "a")
        of = [("fast", "delete"), ("fast", "insert"), ("slow", "read"), ("fast", "read")]
        costs = [times.estimate(store, 16, operation) for store, operation in of]
        ends = shown[["value", "low", "high"]].tolist()
        assert ends == pytest.approx(astuple(crossing(*costs))[:3])


def test_the_smallest_the_largest_and_the_mean_of_several_ratios():
    several = Values(rates("fast", 100, 100, 200, 400, 800) | rates("slow", *[100] * 5))
    claim = ratio(8, threads="all")
    assert verdict(claim | {"take": "largest"}, several) == "reproduced"
    assert verdict(claim | {"take": "smallest"}, several) == "undecided"
    assert verdict(claim | {"times": 2.3, "take": "mean"}, several) == "reproduced"
    assert verdict(claim, several) == "undecided"
    best = claim | {"of": {"store": "fast", "threads": "best"}, "to": {"store": "slow"}}
    assert verdict(best | {"threads": "best"}, several) == "reproduced"
    of, to = {"threads": "largest"}, {"threads": "smallest"}
    assert answer(ratio(8, store="fast", of=of, to=to), several)["value"] == pytest.approx(8)
    # Not the smallest by itself: the geometric mean of 1, 2, 4 and 8.
    every = ratio(3, store="fast", of={"threads": "all"}, to=to, take="mean")
    assert answer(every, several)["value"] == pytest.approx(64**0.25)


def whole_of(**counts: int) -> str:
    """The verdict on a claim of so many parts with each verdict."""
    return combined_verdict(
        {Verdict(word.replace("_", " ")): count for word, count in counts.items()}
    )


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"reproduced": 6}, "reproduced"),
        ({"reproduced": 5, "direction_only": 1}, "direction only"),
        ({"reproduced": 5, "undecided": 1}, "undecided"),
        ({"reproduced": 5, "undecided": 1, "not_measured": 1}, "undecided"),
        ({"not_measured": 2}, "not measured"),
        # Some hold and some do not; without a majority on the other side.
        ({"reproduced": 5, "contradicted": 1}, "partly reproduced"),
        ({"direction_only": 1, "contradicted": 1}, "partly reproduced"),
        ({"reproduced": 1, "contradicted": 1, "undecided": 1}, "partly reproduced"),
        ({"reproduced": 2, "contradicted": 3}, "contradicted"),
        ({"contradicted": 1}, "contradicted"),
        # Nothing holds, and most is open.
        ({"contradicted": 1, "undecided": 2}, "undecided"),
        ({"contradicted": 2, "undecided": 2, "not_measured": 1}, "undecided"),
    ],
)
def test_a_claim_takes_its_verdict_from_how_many_parts_hold(counts, expected):
    assert whole_of(**counts) == expected


def test_what_is_derived_decides_nothing():
    said = ratio(2)
    derived = ratio(4, derived=True)
    result = judged([said, derived])
    assert set(result["verdict"]) == {"reproduced"}
    assert result["statement_verdict"].tolist() == ["reproduced", "direction only"]
    assert result["derived"].tolist() == ["no", "yes"]
    said_part, derived_part = parts_of(result)
    assert not said_part.startswith("derived, ")
    assert derived_part.startswith("derived, ")
    assert said_part.endswith("; reproduced")
    assert derived_part.endswith("; direction only")
    # Where there is nothing else, it is all that can be judged.
    assert judged([derived])["verdict"].tolist() == ["direction only"]


def test_short_cells_decide_nothing_and_say_so():
    short = values(short={("fast", "a", "t16")})
    for claim in (ratio(2), ratio(0.5)):
        result = answer(claim, short)
        assert result["verdict"] == "undecided"
        assert "short-cells" in result["marks"]
    result = answer(ratio(2, store="slow", of={"workload": "b"}, to={"workload": "a"}), short)
    assert result["verdict"] == "reproduced"


def test_extremes_of_cells_of_another_size_decide_nothing_and_say_so():
    measured = values(other_sizes={("slow", "a")})
    for of in measured.runs_of.values():
        of["read", "latency_min"] = {n: each / 9 for n, each in of["read", "latency_mean"].items()}
    least = {"metric": "latency_min", "operation": "read"}
    lowest = statement("best", store="fast", **least)
    result = answer(lowest, measured)
    assert result["verdict"] == "undecided"
    assert "unlike-extremes" in result["marks"]
    # Not among cells of one size, and not of a mean.
    assert verdict(lowest, replace(measured, other_sizes=set())) == "reproduced"
    assert verdict(lowest | {"metric": "latency_mean"}, measured) == "reproduced"


def test_a_mean_over_short_cells_is_as_short():
    # The mean is of t16, not of t1. In ms; 5 s in the mean are enough.
    times = {
        ("fast", "a", "t16"): (4900, 5000),
        ("fast", "b", "t16"): (4900, 5100),
        ("slow", "a", "t1"): (100, 200),
        ("slow", "a", "t16"): (6000, 7000),
    }
    measured = pd.DataFrame(
        [
            [*setting, str(repetition), "overall", "runtime", time]
            for setting, runs in times.items()
            for repetition, time in enumerate(runs, start=1)
        ],
        columns=[*CELL, "operation", "metric", "value"],
    )
    cells = pd.DataFrame(columns=[*CELL, "invalid", "status"])
    none = pd.DataFrame(columns=[*CELL, "operation", "counted", "operations", "ok", "ns"])
    result = of_run(none, cells, measured).short
    assert result == {("fast", "a", "t16"), ("slow", "a", "t1"), ("fast", MEAN, "all")}


def test_what_was_not_measured_is_counted_and_what_was_is_shown():
    missing = statement("order", stores=["fast", "slow", "redis"])
    result = answer(missing)
    assert result["verdict"] == "undecided"
    # What was measured is shown all the same, with how many parts were not.
    assert result["verdicts"] == "2 not measured, 1 reproduced"
    assert result["value"] == pytest.approx(2, 0.01)


def test_void_cells_count_as_not_measured_and_say_why():
    place = ("slow", "a", "t16")
    runs_of = {key: of for key, of in values().runs_of.items() if key != place}
    invalid = Values(runs_of, {place: "invalid: 12 % of updates failed"})
    result = answer(ratio(2), invalid)
    assert result["verdict"] == "not measured"
    assert result["reason"] == "invalid: 12 % of updates failed"
    absent = Values(runs_of, {place: "not measured"})
    assert verdict(ratio(2), absent) == "not measured"
    assert verdict(ratio(2, records=5)) == "not measured"


def test_a_difference_below_the_noise_floor_says_nothing():
    noisy = values(floor=2.5)
    result = answer(ratio(2), noisy)
    assert result["verdict"] == "undecided"
    assert result["marks"] == IN_FLOOR
    assert verdict(ratio(0.5), noisy) == "undecided"
    # That two stores are equal is no difference; and between workloads there is no floor.
    assert verdict(EQUAL, noisy) == "reproduced"
    between = ratio(2, store="slow", of={"workload": "b"}, to={"workload": "a"})
    assert verdict(between, noisy) == "reproduced"
    # However noisy, it is not five times as fast.
    factor = {key: value for key, value in ratio(2).items() if key != "times"} | {"kind": "factor"}
    assert verdict(factor | {"at_least": 5}, noisy) == "contradicted"
    assert verdict(factor | {"at_least": 1}, noisy) == "undecided"


def test_unequal_updates_are_judged_as_the_source_did_them_and_marked():
    records = {"fast": "lighter", "slow": "kept", "near": "kept"}
    measured = values(updating={"a"}, records=records)
    result = answer(ratio(2), measured)
    assert result["verdict"] == "reproduced"
    assert result["marks"] == UNEQUAL
    assert verdict(ratio(0.5), measured) == "contradicted"

    def marks(statement: dict, measured: Values = measured) -> str:
        return answer(statement, measured)["marks"]

    assert marks(ratio(2, workload="b")) == ""
    assert marks(EQUAL) == ""
    assert marks(ratio(2, store="fast", of={"workload": "b"}, to={"workload": "a"})) == ""
    # Where no probe shows, nothing is said against it.
    assert marks(ratio(2), values(updating={"a"}, records={"fast": "lighter"})) == ""
    # A mean over workloads has their updates in it.
    mean = {(s, "mean", "all"): values().runs_of[s, "a", "t16"] for s in STORES}
    in_mean = Values(mean, updating={"a"}, records=records)
    assert marks(ratio(2, workload="mean"), in_mean) == UNEQUAL


def test_a_run_that_repeats_the_source_exactly_reproduces_its_orders():
    """What the thesis printed, with a spread of 0.1 %, on stores whose updates differ."""
    study = load_study(THESIS / "study.yaml")
    grid = grid_of(study, 1.0)
    rows = read_published(THESIS / "published.csv")
    source = published_values(rows, grid, study.workload_names)
    shown = {use: sizes.slug for use, sizes in grid.shown.items()} | {"mean": "all"}
    runs_of = {
        (store, workload, shown[workload]): {
            key: {str(n): runs["source"] * (1 + n / 1000) for n in range(3)}
            for key, runs in of.items()
        }
        for (store, workload, _), of in source.runs_of.items()
    }
    records = {"redis": "kept", "riak": "lighter", "aerospike": "kept", "memcached": "lighter"}
    measured = Values(runs_of, updating={"a", "b"}, records=records)
    claims = load_claims(THESIS / "claims.yaml", study)
    result = judge_claims(claims, grid, study.store_names, measured, source)
    verdicts = dict(zip(result["id"], result["verdict"], strict=True))
    assert verdicts["J1"] == verdicts["J8"] == "reproduced"


def test_each_workload_of_a_statement_has_a_verdict_and_the_claim_the_weakest():
    order = statement("order", workload=["a", "b"], stores=["fast", "slow"])
    half = values()
    half.runs_of["slow", "b", "t16"]["overall", "throughput"] = {"1": 300.0, "2": 410.0, "3": 500.0}
    result = judged([order], half)
    assert result["statement_verdict"].tolist() == ["reproduced", "undecided"]
    assert result["verdict"].tolist() == ["undecided"] * 2
    parts = parts_of(result)
    assert [part[0] for part in parts] == ["A", "B"]
    assert [part.rpartition("; ")[2] for part in parts] == ["reproduced", "undecided"]


# Not one of the three is told from the other by these runs.
OPEN = statement("order", stores=["near", "slow"])
CLEAR = statement("order", stores=["fast", "slow"], workload="b")
MISSING = statement("order", stores=["riak", "slow"])


@pytest.mark.parametrize(
    ("statements", "workloads", "is_open"),
    [
        ([CLEAR], "b", False),
        ([OPEN], "a", True),
        ([CLEAR, OPEN], "ab", True),
        # The one that cannot be asked keeps nothing going.
        ([MISSING, CLEAR], "b", False),
        ([MISSING, OPEN], "a", True),
        ([CLEAR, OPEN | {"derived": True}], "b", False),
    ],
)
def test_a_claim_is_open_while_repetitions_can_decide_it(statements, workloads, is_open):
    (result,) = claimed(claims_of(statements), GRID, STORES, values())
    assert result == Claimed("X1", frozenset(workloads), is_open)


@pytest.mark.parametrize(
    ("statement", "changes"),
    [
        (MISSING, {}),
        (statement("value", store="fast", value=210), {}),
        (OPEN, {"short": {("near", "a", "t16")}}),
        (OPEN | {"metric": "latency_min"}, {}),
    ],
)
def test_what_repetitions_do_not_cure_keeps_no_run_going(statement, changes):
    assert [*claimed(claims_of([statement]), GRID, STORES, values(**changes))] == []


def test_a_range_over_repetitions_keeps_no_run_going():
    measured = Values(rates("fast", 100, 190, 350, 620, 640))
    point = statement("saturation", store="fast", threads="all", at_least=2, at_most=4)
    assert [*claimed(claims_of([point]), GRID, STORES, measured)] == []


def test_a_trial_run_has_values_and_no_verdicts():
    result = judged([ratio(2)], verdicts=False)
    assert not {each.value for each in Verdict} & set(result.iloc[0])
    line = claim_line(result, NAMES, measured=True, judged=False)
    shown = "\n".join([str(line.label), *line.texts]).replace("\xa0", " ")
    assert "reproduced" not in shown
    assert "A, 16 threads: Fast / Slow: 2." in shown


def test_client_bound_cells_are_marked_and_stay():
    result = answer(ratio(2), values(client_bound={("fast", "a", "t16")}))
    assert (result["verdict"], result["marks"]) == ("reproduced", CLIENT_BOUND)


def test_two_sizes_that_are_one_cell_at_a_small_scale_are_not_compared():
    sets = [ParameterSet(1000, 1, 1, "same"), ParameterSet(2000, 1, 1, "same")]
    grid = ParameterGrid({"a": sets}, {"a": sets[0]})
    runs = {("fast", "a", "same"): {("overall", "throughput"): {"1": 5.0, "2": 6.0}}}
    equal = statement("equal", store="fast")
    equal |= {"of": {"records": 2000}, "to": {"records": 1000}}
    result = judged([equal], Values(runs), grid=grid)
    assert result["verdict"].tolist() == ["not measured"]


def test_sizes_are_those_that_were_measured():
    """At scale 0.01 of 100 000 records, 1 000 were inserted; the source inserted all."""
    sizes = [
        ParameterSet(100_000 * n, None, 4, f"r{n}", (("records", 1000 * n), ("threads", 4)))
        for n in (1, 10)
    ]
    grid = ParameterGrid({"a": sizes}, {"a": sizes[0]})
    runs = {("fast", "a", f"r{n}"): {("overall", "throughput"): {"1": 5.0}} for n in (1, 10)}
    numbers = {("fast", "a", (100_000 * n, None, 4)): runs["fast", "a", f"r{n}"] for n in (1, 10)}
    equal = statement("equal", store="fast")
    equal |= {"of": {"records": 1_000_000}, "to": {"records": 100_000}}
    bound = statement("bound", store="fast", at_least=1)
    rows = judged([equal, bound], Values(runs), Values(numbers, by_slug=False), grid)
    names = ClaimNames(NAMES.stores, {"a": "Insert"})
    assert [words(text, names) for text in rows["what"]] == [
        "Insert, Fast: 10 000 records / 1 000 records",
        "Insert, Fast, 1 000 records; at least 1 ops/s",
    ]
    assert [words(text, names) for text in rows["published_what"]] == [
        "Insert, Fast: 1 000 000 records / 100 000 records",
        "Insert, Fast, 100 000 records; at least 1 ops/s",
    ]


def published(*rows: tuple, inconsistent: set = frozenset(), checks=None) -> Values:
    """``inconsistent`` are (store, workload) whose values the audit finds inconsistent."""
    columns = ["store", "workload", "operation", "metric", "value", "threads"]
    frame = pd.DataFrame(rows, columns=columns)
    marks = [row[:2] in inconsistent for row in rows]
    return published_values(frame.assign(inconsistent=marks), GRID, ["a", "b"], checks)


NAN = float("nan")
FAILED_UPDATES = {"operation": "update", "metric": "failed_share"}
PUBLISHED = [
    ("fast", "a", "overall", "throughput", 4000.0, NAN),
    ("slow", "a", "overall", "throughput", 2000.0, NAN),
    ("fast", "b", "overall", "throughput", 6000.0, 16),
    ("slow", "b", "overall", "throughput", NAN, NAN),
    ("slow", "mean", "update", "failed_share", 5.0, NAN),
]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (ratio(2), "supported"),
        (ratio(2.09), "supported"),
        (ratio(2.2), "not supported"),
        (ratio(2.2, within=0.11), "supported"),
        (ratio(2, workload="b"), "no data"),
        (ratio(2, workload=["a", "b"]), "supported in part"),
        (ratio(3, workload=["a", "b"]), "not supported"),
        (statement("order", stores=["slow", "fast"]), "not supported"),
        # The mean that the source does not print is computed of its tables.
        (statement("value", workload="mean", store="fast", value=5000), "supported"),
        (statement("value", workload="mean", store="fast", value=5500), "not supported"),
        (statement("value", workload="mean", store="slow", value=2000), "no data"),
        (
            statement("bound", workload="mean", store="slow", **FAILED_UPDATES, at_most=0.06),
            "supported",
        ),
    ],
)
def test_the_source_is_asked_too(statement, expected):
    assert answer(statement, published=published(*PUBLISHED))["source"] == expected


def test_a_claim_rests_on_values_that_the_audit_rejects():
    source = published(*PUBLISHED, inconsistent={("slow", "a")})

    def notes(statement: dict) -> list[str]:
        result = judged([statement], published=source)
        line = claim_line(result, NAMES, measured=False, judged=False)
        return [note.replace("\xa0", " ") for note in notes_below(line)]

    assert answer(ratio(2), published=source)["source"] == "supported"
    assert notes(ratio(2)) == ["rests on inconsistent published values: A, Slow, 16 threads"]
    # A claim that is denied rests on nothing.
    assert notes(ratio(3)) == []


def test_a_mean_with_a_rejected_value_in_it_is_rejected_too():
    mean = statement("value", workload="mean", store="fast", value=5000)
    result = answer(mean, published=published(*PUBLISHED, inconsistent={("fast", "b")}))
    assert result["rests_on"] == "in workload=mean store=fast"
    assert label(result["rests_on"], NAMES) == "mean, Fast"


@pytest.mark.parametrize(
    ("fits", "support", "notes"),
    [
        ("changes a result", "not supported", 1),
        ("changes a value", "supported in part", 1),
        ("changes digits", "supported", 0),
    ],
)
def test_the_audit_of_a_sentence_is_the_claims_too(fits, support, notes):
    check = {"claim": "X1/1", "fits": fits, "off": 0.2, "place": "p. 7", "unit": "%"}
    checks = pd.DataFrame([check | {"given": -50.0, "expected": -74.21}])
    result = judged([ratio(2)], published=published(*PUBLISHED, checks=checks))
    assert result["source"].tolist() == [support]
    assert (
        notes_below(claim_line(result, NAMES, measured=False, judged=False))
        == ["in the text, p. 7: printed \N{MINUS SIGN}50 %, should be \N{MINUS SIGN}74.2 %"][:notes]
    )


def test_a_rate_of_the_source_does_not_decide_the_verdict_here():
    statements = [statement("value", store="fast", value=9), ratio(2)]
    result = judged(statements, published=published(*PUBLISHED))
    assert set(result["verdict"]) == {"reproduced"}
    assert set(result["source"]) == {"not supported"}
    line = claim_line(result, NAMES, measured=True, judged=True)
    assert len(parts_of(result)) == 1
    _support, note = notes_below(line)
    assert note.endswith("4.00 kops/s")


def test_support_of_several():
    supported, none, denied = Support.SUPPORTED, Support.NO_DATA, Support.NOT
    assert support_of([supported, none]) == "supported in part"
    assert support_of([supported, none, denied]) == "not supported"
    assert support_of([none, none]) == "no data"


def test_measured_values_of_a_run():
    columns = ["store", "workload", "parameters", "repetition", "operation", "metric", "value"]
    rows = [["fast", "a", "t16", str(n), "overall", "throughput", 100.0 + n] for n in (1, 2)]
    cells = [["fast", "a", "t16", "1", ""], ["slow", "a", "t16", "1", "7 % failed"]]
    cells += [["near", "a", "t16", "1", ""]]
    cells = pd.DataFrame(cells, columns=[*columns[:4], "invalid"]).assign(status="measured")
    bound = pd.DataFrame([["fast", "a", "t16", "client"]], columns=[*columns[:3], "limit"])
    rounds = pd.DataFrame(
        [
            ["near", "a", "t16", "1", 3, "no", "read", 10, 99e9],
            ["near", "a", "t16", "1", 4, "yes", "read", 10, 1e6],
            ["slow", "a", "t16", "1", 4, "yes", "read", 10, 1e6],
        ],
        columns=[*columns[:4], "round", "counted", "operation", "operations", "ns"],
    )
    floor = pd.DataFrame([["a", "t16", 1.3]], columns=["workload", "parameters", "floor"])
    table = of_run(rounds, cells, pd.DataFrame(rows, columns=columns), bound, floor)
    assert table.runs_of["fast", "a", "t16"]["overall", "throughput"] == {"1": 101.0, "2": 102.0}
    assert sentence(table.why["slow", "a", "t16"]) == "invalid: 7 % failed"
    assert table.why["near", "a", "t16"] == "not measured"
    assert table.client_bound == {("fast", "a", "t16")}
    assert table.floor == 1.3
    # A rate from the sum of latencies, of the rounds that count.
    assert table.runs_of["near", "a", "t16"] == {
        ("read", "throughput"): {"1.4": 10000.0},
        ("read", "latency_mean"): {"1.4": 100.0},
    }
    # Rounds of invalid cells do not count.
    assert ("slow", "a", "t16") not in table.runs_of


def test_of_several_cells_with_rounds_the_cell_is_the_run():
    setting = ["near", "a", "t16"]
    columns = ["store", "workload", "parameters", "repetition"]
    rounds = [
        [*setting, cell, number, "yes", "read", 10, us * 1e4]
        for cell in ("1", "2")
        # The trimmed mean is 20 us in the first and 40 us in the second cell.
        for number, us in enumerate((1, 19, 20, 21, 99) if cell == "1" else (1, 39, 40, 41, 99))
    ]
    output = of_run(
        pd.DataFrame(
            rounds, columns=[*columns, "round", "counted", "operation", "operations", "ns"]
        ),
        pd.DataFrame(
            [[*setting, n, "", "measured"] for n in "12"], columns=[*columns, "invalid", "status"]
        ),
    )
    assert output.runs_of[tuple(setting)]["read", "latency_mean"] == {"1": 20.0, "2": 40.0}
    assert output.in_rounds == set()


def test_each_claim_has_one_line_with_a_sign_and_both_factors(tmp_path):
    source = published(*PUBLISHED, inconsistent={("slow", "a")})
    statements = [ratio(2), ratio(2, workload="b", of={"store": "far"})]
    study = SimpleNamespace(source=object(), imported=None, until=None, workloads=WORKLOADS)
    run = SimpleNamespace(folder=tmp_path, study=study, titles=NAMES.stores)
    scoreboard = TABLES["scoreboard"].automatic(study)[0]
    for verdicts in (True, False):
        tables = (
            judged([each], published=source, verdicts=verdicts).assign(id=f"X{number}")
            for number, each in enumerate(statements, start=1)
        )
        pd.concat(tables).to_csv(tmp_path / "claims.csv", index=False)
        (grid,) = scoreboard.grids(scoreboard.rows(run), run)
        first, second = grid.lines
        signs = ["\N{BLACK CIRCLE}", "\N{EN DASH}"] if verdicts else ["", ""]
        labels = [f"{sign} X{n} ?" for n, sign in enumerate(signs, 1)]
        assert [str(line.label) for line in grid.lines] == labels
        assert [first.cells[1].text.without("hanging"), first.texts[2][:4]] == ["2.00", "2.00"]
        assert second.texts[1:] == ["\N{EN DASH}"] * 2
        assert ("reproduced (1)" in str(notes_of([grid])[0])) == verdicts


def test_the_first_pages_count_what_the_source_says(tmp_path):
    """Of two orders one holds; what is derived counts nowhere, and is not what is shown."""
    statements = [
        statement("order", stores=["fast", "slow"]),
        statement("order", stores=["slow", "fast"]),
        ratio(4, derived=True),
    ]
    judged(statements).to_csv(tmp_path / "claims.csv", index=False)
    study = SimpleNamespace(source=object(), imported=None, until=None, workloads=WORKLOADS)
    scoreboard = TABLES["scoreboard"].automatic(study)[0]
    run = SimpleNamespace(folder=tmp_path, study=study, titles=NAMES.stores)
    (grid,) = scoreboard.grids(scoreboard.rows(run), run)
    (line,) = grid.lines
    assert str(line.label) == "\N{CIRCLE WITH LEFT HALF BLACK} X1 ? (1 of 2 hold)"
    assert "Slow / Fast" in line.texts[0].replace("\xa0", " ")
    assert "partly reproduced (1)" in notes_of([grid])[0]
    facts = claim_facts(tmp_path)
    assert facts.verdicts == [("partly reproduced", 1)]
    assert facts.parts == [("reproduced", 1), ("contradicted", 1)]
    assert facts.parts_count == 2
    assert facts.derived
    assert not facts.short


def test_undecided_claims_that_the_last_look_has_not_open_are_named(tmp_path):
    first = judged([ratio(2)]).assign(verdict="undecided", marks="some-short-cells")
    claims = [first, first.assign(id="X2"), first.assign(id="X3", verdict="reproduced")]
    pd.concat(claims).to_csv(tmp_path / "claims.csv", index=False)
    looks = pd.DataFrame({"open": ["X1; X2; X3", "X2; c r10_t1 fast / slow"]})
    assert claim_facts(tmp_path, looks=looks).undecidable == [("short-cells", ["X1"])]
    assert claim_facts(tmp_path, looks=looks[:0]).undecidable == []
    assert claim_facts(tmp_path).undecidable == []


def test_claims_csv_is_read_back(tmp_path):
    written = judged([ratio(2)], published=published(*PUBLISHED))
    written.to_csv(tmp_path / "claims.csv", index=False)
    result = JUDGED.read(tmp_path)
    assert list(result.columns) == COLUMNS
    assert result.loc[0, "what"] == "in workload=a threads=16; of store=fast; by store=slow"
    assert words(result.loc[0, "what"]) == "A, 16 threads: Fast / Slow"
    assert set(result["verdict"]) == {"reproduced"}


def test_claims_csv_is_one_for_all_languages():
    check = {"claim": "X1/1", "fits": "changes a value", "place": "Table 7", "unit": "%"}
    checks = pd.DataFrame([check | {"given": -50.5, "expected": -74.21, "off": 0.2}])
    source = published(*PUBLISHED, inconsistent={("slow", "a")}, checks=checks)
    statements = [
        ratio(2),
        TREND | {"goes": "up"},
        statement("bound", store="slow", metric="latency_mean", operation="read", at_most="10 ms"),
        statement("break-even", cache="fast", database="slow", reads=2.5),
    ]
    english = judged(statements, published=source)
    with using("cs"):
        czech = judged(statements, published=source)
        line = claim_line(czech, NAMES, measured=True, judged=True)
    pd.testing.assert_frame_equal(english, czech)
    assert english["what"].tolist() == [
        "in workload=a threads=16; of store=fast; by store=slow",
        "in workload=a store=fast; over size=threads first=1 last=16",
        "in workload=a store=slow metric=latency_mean operation=read threads=16; "
        "at-most amount=10 unit=ms",
        "in workload=a operation=read threads=16; of store=fast; before store=slow",
    ]
    assert english["misfit"][0] == "misfit 'place=Table 7' printed=-50.5 expected=-74.21 unit=%"
    shown = line.texts[1].replace("\xa0", " ").split("\n")
    assert shown[0].startswith("A, 16 vláken: Fast / Slow: ")
    assert shown[1].startswith("A, Fast; vlákna 1 až 16: ")
    assert "; nejvýše 10 ms: " in shown[2]
    assert "Fast před Slow" in shown[3]
    assert "vytištěno \N{MINUS SIGN}50,5 %, má být" in notes_below(line)[-1]
