"""Runs that stop when every comparison is decided: the bound, the looks, the study file."""

import numpy as np
import pandas as pd
import pytest
from kvstudy.analyse.findings.looks import LOOKS, Claimed, look_at, looks
from kvstudy.analyse.findings.pairs import pairs
from kvstudy.analyse.findings.spread import level_of, margin_of, spread_of
from kvstudy.exhibits.table import margin_words
from kvstudy.stats.intervals import error_rate, log_t_interval, plain_mean, trimmed_mean
from kvstudy.stats.stopping import level_of_look
from kvstudy.study.model import Study
from pydantic import ValidationError
from scipy import stats

from . import small_results as small

STORES = ["redis", "memcached"]
RUNS = [100, 103, 98, 99, 104]


def until(first: int = 2, last: int = 4, **more: float) -> Study:
    repetitions = {"from": first, "to": last} | more
    return small.study(stores=STORES, repetitions=repetitions, noise_floor=False)


def seen(study: Study, *runs: tuple[float, float], **more: object) -> pd.DataFrame:
    """The looks at runs of Redis and Memcached, as many as there are."""
    rows = [
        {"store": store, "workload": "a", "parameters": "p", "repetition": str(number)}
        | {"value": value}
        for number, both in enumerate(runs, start=1)
        for store, value in zip(STORES, both, strict=True)
    ]
    rule = {"level": level_of(study), "margin": margin_of(study)}
    spread = spread_of(pd.DataFrame(rows), paired=True, **rule)
    reached = study.with_repetitions(len(runs))
    return LOOKS.frame([look_at(spread, reached, number, **more) for number in looks(reached)])


@pytest.mark.parametrize(
    ("last", "error"), [(1, 0.05), (2, 0.0294), (3, 0.0221), (5, 0.0158), (10, 0.0106)]
)
def test_the_bound_is_pococks(last, error):
    """Pocock 1977, table 1: nominal levels of so many looks after equal parts."""
    assert 1 - level_of_look(1, last) == pytest.approx(error, abs=1e-4)


def test_later_first_looks_need_less():
    assert level_of_look(1, 12) > level_of_look(3, 12) > level_of_look(11, 12) > 0.95
    with pytest.raises(ValueError, match="there is no look"):
        level_of_look(4, 3)


def test_of_equal_normal_numbers_five_of_a_hundred_runs_are_called_different():
    random = np.random.default_rng(1)
    sums = random.normal(0, 1, (20_000, 12)).cumsum(axis=1)[:, 2:] / np.sqrt(np.arange(3, 13))
    bound = stats.norm.ppf((1 + level_of_look(3, 12)) / 2)
    assert (abs(sums) > bound).any(axis=1).mean() == pytest.approx(0.05, abs=0.006)


def test_a_run_is_looked_at_until_all_is_decided():
    result = seen(until(), (100, 60), (104, 90), (101, 61), (99, 70))
    assert result["repetitions"].tolist() == [2, 3, 4]
    assert result["undecided"].tolist()[:1] == [1]
    assert result["open"].iloc[0] == "a p redis / memcached"
    assert result["stop"].iloc[0] == ""
    last = result.iloc[-1]
    assert last["stop"] == ("most" if last["undecided"] else "decided")


def test_what_is_decided_at_once_stops_at_the_first_look():
    for runs in ([(100, 50), (101, 50.5)], [(100, 100.1), (101, 101)]):
        assert seen(until(), *runs)["stop"].tolist() == ["decided"]


def test_what_is_equal_is_for_the_study_to_say():
    runs = [(100, 101), (102, 102)]
    for margin, undecided in ((0.3, 0), (0.001, 1)):
        assert seen(until(margin=margin), *runs)["undecided"].tolist() == [undecided]
    assert margin_of(until()) == 0.1
    assert margin_words(small.study()) == "±10 %"
    assert margin_words(until(margin=0.025)) == "±2.5 %"
    assert until(margin=0.2).recorded_repetitions == {"from": 2, "to": 4, "margin": 0.2}
    assert until().recorded_repetitions == {"from": 2, "to": 4}


@pytest.mark.parametrize(
    ("claim", "comparisons", "undecided"),
    [
        (Claimed("X1", frozenset("a"), open=True), 1, "X1"),
        (Claimed("X1", frozenset("a"), open=False), 1, ""),
        (Claimed("X1", frozenset("b"), open=False), 2, "a p redis / memcached"),
        (Claimed("X1", frozenset("b"), open=True), 2, "X1; a p redis / memcached"),
    ],
)
def test_claims_stand_for_the_pairs_of_their_workloads(claim, comparisons, undecided):
    result = seen(until(), (100, 60), (104, 90), claimed=lambda repetitions, floors: [claim])
    assert result["comparisons"].tolist() == [comparisons]
    assert result["open"].tolist() == [undecided]
    assert result["stop"].tolist() == ["" if undecided else "decided"]


def test_a_study_with_a_number_is_not_looked_at():
    study = small.study(repetitions=3)
    assert (study.until, level_of(study)) == (None, 0.95)
    assert seen(study.with_repetitions(2), (1, 2), (1, 2)).empty


def test_intervals_of_a_run_that_may_stop_are_wider():
    rows = [
        {"store": store, "workload": "a", "parameters": "p", "repetition": str(number)}
        | {"value": value}
        for store, values in (("redis", (100, 103, 98)), ("memcached", (80, 85, 79)))
        for number, value in enumerate(values, start=1)
    ]
    fixed, stopping = (
        pairs(spread_of(pd.DataFrame(rows), paired=True, level=level), STORES).iloc[0]
        for level in (0.95, level_of(until(2, 12)))
    )
    assert fixed["ratio"] == stopping["ratio"]
    assert stopping["low"] < fixed["low"] < fixed["high"] < stopping["high"]


def test_so_are_those_of_single_means():
    level = level_of(until(2, 12))
    for estimate in (log_t_interval, plain_mean, trimmed_mean):
        fixed, stopping = estimate(RUNS), estimate(RUNS, level)
        assert fixed.value == stopping.value
        assert stopping.low < fixed.low < fixed.high < stopping.high
    assert error_rate(0, 1000, level).high > error_rate(0, 1000).high == 0.003


def test_as_many_repetitions_as_there_may_be_are_planned():
    study = until(2, 5)
    assert (study.repetitions, study.with_repetitions(3).repetitions) == (5, 3)
    assert study.with_repetitions(3).until == study.until
    assert small.study(repetitions=2).with_repetitions(7).repetitions == 7


@pytest.mark.parametrize(
    ("repetitions", "message"),
    [
        ({"from": 4, "to": 4}, "from .4. must be less than to .4."),
        ({"from": 1, "to": 4}, "greater than or equal to 2"),
        ({"from": 3}, "Field required"),
        ({"from": 3, "to": 5, "margin": 0}, "greater than 0"),
        ({"from": 3, "to": 5, "margin": 1}, "less than 1"),
        ({"from": 3, "to": 5, "until": 1}, "Extra inputs"),
    ],
)
def test_wrong_numbers_are_refused(repetitions, message):
    with pytest.raises(ValidationError, match=message):
        small.study(repetitions=repetitions)
