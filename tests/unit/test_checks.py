"""The tables that say how far the values can be trusted."""

import pandas as pd
import pytest
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.over_time import STEADINESS
from kvstudy.analyse.findings.repetitions import PERCENTILES
from kvstudy.analyse.tidy.results import Results
from kvstudy.layout.grid import Grid
from kvstudy.layout.rich_text import DASH
from kvstudy.study.model import Study

from . import small_results as small

# Columns of the means of a run's seconds, and what was cut off.
MEANS = ["Whole", "Rest", "Cut"]


def lines(grid: Grid) -> dict[str, list[str]]:
    """Of the only section, or that of workload a."""
    section = grid.sections[0]
    return {str(line.label): line.texts for line in section.lines}


def row(grid: Grid, label: str) -> dict[str, str]:
    """The cells of a line by their columns."""
    return dict(zip(map(str, grid.columns), lines(grid)[label], strict=True))


def ratios(analysis: Analysis, study: Study | None = None) -> Grid:
    of = small.run(study=study or small.study(), analysis=analysis)
    return small.table("ratios").grids(analysis.pairs, of)[0]


def runs(intervals: pd.DataFrame, steadiness: pd.DataFrame) -> Grid:
    of = small.run(analysis=small.analysis(steadiness=steadiness))
    return small.table("runs").grids(intervals, of)[0]


def percentiles(table: pd.DataFrame, results: Results) -> Grid:
    of = small.run(analysis=small.analysis(percentiles=table), results=results)
    return small.grid_of(small.table("percentiles"), of)


def seconds(*runs: tuple) -> pd.DataFrame:
    """Runs of Redis, from their repetition on."""
    key = ["redis", "a", "r10_o20_t1"]
    return pd.DataFrame([[*key, *run] for run in runs], columns=STEADINESS.columns)


def with_pairs(**changes: object) -> Analysis:
    return small.analysis(pairs=small.analysis().pairs.assign(**changes))


def test_ratios_lead_with_the_faster_store():
    analysis = small.analysis()
    pairs = analysis.pairs
    assert pairs.loc[0, ["faster", "slower"]].tolist() == ["redis", "memcached"]
    grid = ratios(analysis)
    assert list(map(str, grid.columns)) == ["A", "C"]
    # 2000/1000 and 2200/1020.
    assert lines(grid)["Redis / Memcached"] == ["2.08", "2.08"]
    reverse = small.study(stores=["memcached", "redis"])
    assert lines(ratios(analysis, reverse)) == lines(grid)
    low, high = lines(grid)[""][0].split(" to ")
    assert float(low) < 2.08 < float(high)


@pytest.mark.parametrize(
    ("changes", "explained"),
    [
        ({"decision": "faster"}, ""),
        ({"decision": "undecided", "would_decide": 12}, "~ brackets"),
        ({"decision": "undecided", "would_decide": None}, "~"),
        ({"decision": "equal"}, "="),
        ({"decision": "faster", "in_floor": "yes"}, "Grey"),
    ],
)
def test_the_note_explains_the_signs_that_are_used(changes, explained):
    (note,) = ratios(with_pairs(**{"would_decide": None, "in_floor": "no"} | changes)).notes
    signs = ("~:", "brackets:", "=:", "Grey:", "\N{PILCROW SIGN}:")
    assert [each[:-1] for each in signs if each in note] == explained.split()


def test_what_is_undecided_is_marked_and_one_run_has_no_interval():
    analysis = with_pairs(decision="undecided", would_decide=12)
    grid = lines(ratios(analysis))
    assert grid["Redis / Memcached"][0] == "2.08 ~ (12)"
    single = with_pairs(low=None, high=None, decision="undecided", would_decide=None)
    assert lines(ratios(single))[""] == ["one run"] * 2


def test_runs_tell_interval_spread_and_steadiness():
    steadiness = seconds(
        ("1", 60, 5, "steady", 0.01, 901.0, 1001.0),
        ("2", 60, 10, "no steady state", 0.01, 902.0, 1002.0),
        # Two whole seconds: in no mean.
        ("3", 2, 0, "too short to judge", 0.1, 9.0, 9.0),
    )
    redis = row(runs(small.analysis().intervals, steadiness), "Redis")
    assert redis["CV"] == "6.7 %"
    assert redis["Steady"] == "1 of 2 ! (1 too short)"
    # Means over the two runs, which were cut after 5 and 10 s.
    assert [redis[name] for name in MEANS] == ["901", "1\N{NARROW NO-BREAK SPACE}001", "8"]
    assert "\N{NARROW NO-BREAK SPACE}" in redis["Ops/s"]
    noisy = small.analysis().intervals.assign(cv=0.2)
    grid = runs(noisy, steadiness.assign(verdict="too short to judge"))
    assert lines(grid)["Redis"][2] == "20 % !"
    assert lines(grid)["Redis"][-1] == "too short"


def test_percentiles_with_few_operations_beyond_are_left_out():
    key = ["redis", "a", "p", "read"]
    table = pd.DataFrame(
        [[*key, 50.0, 80, 70, 90, 3, 5000], [*key, 99.9, 900, 800, 1200, 3, 99]],
        columns=PERCENTILES.columns,
    )
    grid = percentiles(table, small.results(source=False))
    table = row(grid, "Redis, read")
    assert table == {"50 %": "80 [70\N{EN DASH}90]", "95 %": DASH, "99 %": DASH, "99.9 %": DASH}


@pytest.mark.parametrize(
    ("run", "means"),
    [
        # Fewer than three whole seconds have no mean.
        (("1", 2, 0, "too short to judge", 0.1, 33.0, 33.0), [DASH] * 3),
        # In a short run no warm-up was looked for.
        (("1", 9, 0, "too short to judge", 0.1, 50.0, 50.0), ["50.0", DASH, DASH]),
        # Without warm-up there is no second value.
        (("1", 40, 0, "steady", 0.1, 50.0, 50.0), ["50.0", DASH, "0"]),
    ],
)
def test_means_of_the_seconds_of_a_run(run, means):
    grid = runs(small.analysis().intervals, seconds(run))
    assert [row(grid, "Redis")[name] for name in MEANS] == means
    assert [row(grid, "Memcached")[name] for name in MEANS] == [DASH] * 3


def test_stores_stand_in_the_studys_order_not_in_that_of_the_runs():
    intervals = small.analysis().intervals.iloc[::-1]
    assert list(lines(runs(intervals, STEADINESS.frame()))) == ["Redis", "Memcached"]
    rows = [[store, "a", "p", "read", 50.0, 8, 8, 8, 1, 500] for store in ("memcached", "redis")]
    table = pd.DataFrame(rows, columns=PERCENTILES.columns)
    (section,) = percentiles(table, small.results(source=False)).sections
    assert [str(line.label) for line in section.lines] == ["Redis, read", "Memcached, read"]
