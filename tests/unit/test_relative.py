"""Relative performance and a cache's break-even, on made rounds and on published values."""

import math
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.rounds import ROUNDS as TABLE
from kvstudy.analyse.findings.rounds import (
    Costs,
    Times,
    hit_probability,
    printed,
    published_costs,
    rounds,
)
from kvstudy.analyse.tidy.files import CELL, ROUNDS
from kvstudy.analyse.tidy.results import read_published
from kvstudy.exhibits.figures.rounds import BreakEvenPlot, RelativePlot
from kvstudy.exhibits.table import Table
from kvstudy.exhibits.tables.rounds import duration, span
from kvstudy.layout.grid import Grid
from kvstudy.layout.looks import StyleSheet, styles
from kvstudy.stats.intervals import Estimate, Interval, trimmed_mean
from kvstudy.study.kinds import TABLES
from kvstudy.study.parts import PrintedForm, Source

from . import small_results as small

TITLES = {"db": "Database", "cache": "Cache"}
LOOKED = small.looked(styles(TITLES, dict.fromkeys(TITLES, "#0072b2")))
ONE = {"workload": "w", "baseline": "db", "store": "cache", "name": "t", "caption": "T"}
TWO = {"workload": "w", "database": "db", "cache": "cache", "name": "b", "caption": "B"}
WRITES = TABLES["relative"](kind="relative", operation="insert", **ONE)
EVEN = TABLES["break-even"](kind="break-even", **TWO)
SPREAD = [0.9, 0.98, 1.0, 1.05, 3.0]
NBSP, TEN_THOUSAND = "\N{NO-BREAK SPACE}", "10\N{NARROW NO-BREAK SPACE}000"
# us of one operation.
TIMES = {
    ("db", "insert"): 1300.0,
    ("db", "read"): 120.0,
    ("db", "delete"): 1300.0,
    ("cache", "insert"): 40.0,
    ("cache", "read"): 40.0,
    ("cache", "delete"): 40.0,
}


def relative_rows(
    times: dict = TIMES, spread: list[float] = SPREAD, records: int = 10_000, cells: int = 1
) -> pd.DataFrame:
    """``rounds.csv`` of cells whose times are ``times`` by ``spread``, after one warm-up round."""
    rows = []
    for (store, operation), us in times.items():
        for repetition in range(1, cells + 1):
            key = [store, "w", f"r{records}", str(repetition), records]
            rows.append([*key, 1, "no", operation, 10_000, 10_000, 9e9])
            for number, factor in enumerate(spread, start=2):
                ns = 10_000 * 1000 * us * factor * repetition
                rows.append([*key, number, "yes", operation, 10_000, 10_000, ns])
    return ROUNDS.frame(rows)


def analysed(frame: pd.DataFrame) -> pd.DataFrame:
    return rounds(frame, frame[CELL].drop_duplicates())


@pytest.fixture
def published(tmp_path: Path) -> pd.DataFrame:
    """As the source of the study printed it, with 10 000 records."""
    path = tmp_path / "published.csv"
    path.write_text(
        "study,table,store,workload,operation,records,operations,metric,unit,value,printed\n"
        + "".join(
            f"s,T,{store},w,{operation},{records},10000,{metric},{unit},{value},{text}\n"
            for store, operation, records, metric, unit, value, text in [
                ("db", "insert", 10_000, "runtime", "ms", 13_000, "13 s"),
                ("db", "insert", 10_000, "throughput", "ops/s", 763, ""),
                ("cache", "insert", 10_000, "runtime", "ms", 400, '"0,4 s"'),
                ("cache", "insert", 10_000, "throughput", "ops/s", 24_631, "24 631"),
                ("cache/db", "insert", 10_000, "relative_performance", "ratio", 32, "1:32"),
                ("db", "insert", 1, "runtime", "ms", 0, "0 ms"),
                ("db", "insert", 1, "throughput", "ops/s", "", "-"),
                ("cache", "insert", 1, "runtime", "ms", 0, "0 ms"),
                ("db", "read", 10_000, "runtime", "ms", 1_200, '"1,2 s"'),
                ("db", "read", 10_000, "throughput", "ops/s", 8_117, "8 117"),
                ("cache", "read", 10_000, "runtime", "ms", 400, '"0,4 s"'),
                ("cache", "read", 10_000, "throughput", "ops/s", 22_883, "22 883"),
                ("cache/db", "read", 10_000, "break_even", "reads/write", 2.5, '"2,5"'),
                ("cache/db", "read", 10_000, "hit_probability", "%", 60, "60%"),
            ]
        ),
        encoding="utf-8",
    )
    return read_published(path)


def rows_of(table: Table, results: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    of = small.analysis(rounds=results)
    return table.rows(small.run(analysis=of, swept=SimpleNamespace(published=published)))


def grid_of(
    table: Table,
    frame: pd.DataFrame,
    published: pd.DataFrame | None = None,
    result: pd.DataFrame | None = None,
) -> Grid:
    study = small.study()
    with_commas = study.source.model_copy(update={"printed": PrintedForm(decimal_mark=",")})
    run = small.run(
        study=study.model_copy(update={"source": with_commas}),
        titles=TITLES,
        swept=SimpleNamespace(published=published),
        headline_analysis=SimpleNamespace(
            rounds=analysed(relative_rows()) if result is None else result
        ),
    )
    return table.grids(frame, run)[0]


def test_the_time_is_the_trimmed_mean_of_the_rounds_that_count():
    result = analysed(relative_rows())
    assert list(result.columns) == TABLE.columns
    row = Times(result, "w").row("db", 10_000, "insert")
    expected = trimmed_mean([1300 * factor for factor in SPREAD])
    assert row.time == pytest.approx(expected.value) == pytest.approx(1300 * 3.03 / 3)
    assert row.mean == pytest.approx(1300 * sum(SPREAD) / 5)
    assert row.time + 4.302653 * row.error == pytest.approx(expected.high)
    assert (row.rounds, row.cells, row.freedom) == (5, 1, 2)


def test_void_cells_do_not_count():
    frame = relative_rows(cells=2)
    one = frame[CELL].drop_duplicates().query("repetition == '1'")
    assert (rounds(frame, one)["cells"] == 1).all()


def test_of_several_cells_the_error_is_over_the_cells():
    row = Times(analysed(relative_rows(cells=3)), "w").row("db", 10_000, "insert")
    single = 1300 * 3.03 / 3
    assert row.time == pytest.approx(2 * single)
    assert row.error == pytest.approx(single / 3**0.5)
    assert (row.cells, row.freedom) == (3, 2)


def test_of_few_rounds_nothing_is_dropped_and_one_has_no_spread():
    assert Times(analysed(relative_rows(spread=[1, 2])), "w").row("db", 10_000, "read").time == 180
    times = Times(analysed(relative_rows(spread=[1])), "w")
    assert times.estimate("db", 10_000, "read") == Estimate(120, None, None)
    ratio = times.relative("db", "cache", 10_000, "read")
    assert ratio == Interval(3, None, None)


def test_relative_performance_of_two_stores(published):
    frame = rows_of(WRITES, analysed(relative_rows()), published)
    ours, theirs = (frame[frame["origin"] == origin] for origin in ("measured", "published"))
    (row,) = ours[ours["records"] == 10_000].itertuples()
    assert row.baseline_ms == pytest.approx(13_000 * 1.01)
    assert row.store_rate == pytest.approx(25_000 / 1.01)
    assert row.ratio == pytest.approx(32.5)
    assert row.low < 32.5 < row.high
    # A size that only the source has stays, with nothing measured.
    (one,) = ours[ours["records"] == 1].itertuples()
    assert pd.isna(one.ratio)
    assert pd.isna(one.baseline_ms)
    assert theirs["ratio"].tolist()[1:] == [32]
    grid = grid_of(WRITES, frame, published)
    (section,) = grid.sections
    assert [str(line.label) for line in section.lines] == ["1", "", TEN_THOUSAND, ""]
    assert section.lines[2].texts[:5:2] == [f"13.1{NBSP}s", f"404{NBSP}ms", "1:32.5"]
    text, _html = small.both(grid)
    # As it is printed, but for the decimal mark; a value without a printed form by itself.
    for printed_form in (r"13\,s", r"0.4\,s", r"24\,631", "1:32", "763", r"0\,ms"):
        assert printed_form in text
    assert "not how another server would perform" in text


def test_a_ratio_that_the_rounds_do_not_tell_from_one_is_a_tie():
    same = TIMES | {("cache", "insert"): 1301.0}
    frame = rows_of(WRITES, analysed(relative_rows(same, [0.8, 0.9, 1, 1.1, 1.2])), None)
    (section,) = grid_of(WRITES, frame).sections
    assert section.lines[0].texts[4].endswith("~")


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0.594, "0.594 ms"),
        (999, "999 ms"),
        (1_300, "1.30 s"),
        (119_000, "119 s"),
        (1_572_000, "26.2 min"),
    ],
)
def test_durations(milliseconds, text):
    assert duration(milliseconds) == text.replace(" ", NBSP)


def test_the_published_formula_gives_the_published_crossing(published):
    """13 + 1.2 N = (13 + 0.4) + (0.4 + 1.2 + 0.4) + 0.4 (N - 1) at N = 2.5; 60 % hit there."""
    costs = published_costs(published, "w", "db", "cache", 10_000, "runtime")
    for reads, without, cached in (
        (1, 14.2, 15.4),
        (2, 15.4, 15.8),
        (3, 16.6, 16.2),
        (4, 17.8, 16.6),
    ):
        # The source prints s per 10 000 repetitions.
        assert costs.without(reads) / 100 == pytest.approx(without)
        assert costs.cached(reads) / 100 == pytest.approx(cached)
    assert costs.crossing().value == pytest.approx(2.5)
    assert hit_probability(costs.crossing()).value == pytest.approx(0.6)
    assert printed(published, "w", "db", "cache") == {10_000: (2.5, 0.6)}
    # What the source leaves out.
    assert published["value"].isna().sum() == 1
    # The rates are printed more exactly.
    rates = published_costs(published, "w", "db", "cache", 10_000, "throughput").crossing()
    assert rates.value == pytest.approx(2.571, abs=0.001)
    assert published_costs(published, "w", "db", "cache", 1, "runtime") is None


def test_reads_that_find_nothing_are_named():
    few = relative_rows(records=10).assign(ok=1_500)
    result = analysed(pd.concat([few, relative_rows()]))
    (note,) = grid_of(EVEN, rows_of(EVEN, result, None), result=result).notes[1:]
    assert note.startswith("With 10 records, 85 % of the reads find nothing")
    # Nothing is said of them where there are none.
    assert len(grid_of(EVEN, rows_of(EVEN, analysed(relative_rows()), None)).notes) == 1


def test_an_end_that_is_cut_off_is_none():
    assert span(0, 10.4) == "below 10.4"
    assert span(5.14, math.inf) == "above 5.14"


def test_at_the_crossing_both_cost_the_same():
    parts = [Estimate(value, value / 50, 2) for value in (1300, 120, 35, 42, 38)]
    costs = Costs(*parts)
    crossing = costs.crossing()
    assert costs.without(crossing.value) == pytest.approx(costs.cached(crossing.value))
    assert crossing.low < crossing.value < crossing.high
    hits = hit_probability(crossing)
    assert hits.low < hits.value < hits.high < 1


def test_hit_probability_of_open_and_unknown_ends():
    assert hit_probability(Interval(4, 0.5, float("inf"))) == Interval(0.75, 0, 1)
    assert hit_probability(Interval(4, None, None)) == Interval(0.75, None, None)


def test_break_even_beside_the_source(published):
    frame = rows_of(EVEN, analysed(relative_rows(spread=[0.99, 0.995, 1, 1.005, 1.01])), published)
    assert frame["origin"].tolist() == ["measured", "run times", "rates", "printed"]
    ours = frame.iloc[0]
    assert ours["crossing"] == pytest.approx(2.5)
    assert ours["low"] < 2.5 < ours["high"]
    assert ours["hits_low"] < 0.6 < ours["hits_high"]
    text, _html = small.both(grid_of(EVEN, frame))
    for words in ("2.50", "2.57", r"60\,\%", r"61\,\%", "from rates", "as printed"):
        assert words in text


def test_a_cache_that_reads_no_faster_never_pays_off():
    slow = TIMES | {("cache", "read"): 130.0}
    frame = rows_of(EVEN, analysed(relative_rows(slow)), None)
    assert frame["crossing"].tolist() == [float("inf")]
    (section,) = grid_of(EVEN, frame).sections
    assert section.lines[0].texts[5] == "never"
    plot = BreakEvenPlot(kind="break-even", records=10_000, **TWO)
    table = small.rows(plot, analysed(relative_rows(slow)), None)
    assert table["crossing"].isna().all()
    assert (table["cached"] > table["without"]).all()
    small.painted(plot, table, LOOKED)


def test_without_deletions_of_the_cache_there_is_no_break_even():
    some = {key: value for key, value in TIMES.items() if key != ("cache", "delete")}
    assert rows_of(EVEN, analysed(relative_rows(some)), None).empty
    small.both(grid_of(EVEN, rows_of(EVEN, analysed(relative_rows(some)), None)))


def test_the_figure_of_the_costs(published):
    plot = BreakEvenPlot(kind="break-even", records=20_000, **TWO)
    both = pd.concat([analysed(relative_rows()), analysed(relative_rows(records=10))])
    table = small.rows(plot, both, published)
    assert table["panel"].unique().tolist() == ["published", "measured"]
    # The next fewer records that were measured.
    assert set(table["records"]) == {10_000}
    three = table[(table["panel"] == "published") & (table["reads"] == 3)].iloc[0]
    assert (three["without"], three["cached"]) == pytest.approx((1660, 1620))
    author = Source(key="s", author="Somebody", title="T", year=2014, published_as="Thesis")
    study = small.study().model_copy(update={"source": author})
    drawing = small.painted(plot, table, StyleSheet(study, LOOKED.stores))
    titles = [ax.get_title(loc="left").replace("\n", " ") for ax in drawing.axes]
    assert titles == [
        f"Published (Somebody, 2014): {TEN_THOUSAND} records",
        f"Measured: {TEN_THOUSAND} records",
    ]
    assert small.rows(plot, both.head(0), None).empty


def test_the_figure_of_the_ratios(published):
    plot = RelativePlot(kind="relative", operations=["insert", "read"], **ONE)
    wild = analysed(relative_rows(spread=[0.1, 0.2, 1, 9, 20], records=1))
    table = small.rows(plot, pd.concat([wild, analysed(relative_rows())]), published)
    chosen = table[table["operation"] == "insert"].set_index(["origin", "records"])
    assert chosen.loc[("measured", 10_000), "ratio"] == pytest.approx(32.5)
    assert chosen.loc[("published", 10_000), "ratio"] == 32
    assert chosen.loc[("measured", 1), "high"] == float("inf")
    drawing = small.painted(plot, table, LOOKED)
    (ax,) = drawing.axes
    assert {line.get_label() for line in ax.lines if not line.get_label().startswith("_")} == {
        *("insert, measured", "insert, published", "read, measured")
    }
    low, high = ax.get_ylim()
    assert 0 < low < 1
    assert 32.5 < high < 1000
