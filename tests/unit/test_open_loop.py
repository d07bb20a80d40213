"""Cells at fixed rates: which there are, at which rates, and what is said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.findings.open_loop import latencies, rates
from kvstudy.analyse.findings.repetitions import INTERVALS
from kvstudy.analyse.tidy.files import MEASUREMENTS, SERIES
from kvstudy.analyse.tidy.open_loop import TABLES, TARGETS, OpenLoopTables
from kvstudy.documents.report.cells import DisplayNames, with_states
from kvstudy.documents.report.course import open_loop_facts
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import Grid
from kvstudy.layout.looks import styles
from kvstudy.layout.rich_text import DASH, italic
from kvstudy.measure.planning.screen import rows
from kvstudy.render.paper import use_style
from kvstudy.share.trace.provenance import cells_of
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME
from kvstudy.study.cells import closed_loop, find_cell, plan, rate_trial
from kvstudy.study.cells import shown as shown_sizes
from kvstudy.study.combinations import most_cells
from kvstudy.study.load import load_study
from kvstudy.study.parts import Parameters
from matplotlib.figure import Figure

from tests.cell_texts import html_cells
from tests.histogram_rows import histograms
from tests.project import SLUG, edit

from . import small_results as small

NOTHING = OpenLoopTables(*(table.frame() for table in TABLES))


@pytest.fixture
def study(pretend_study: Path) -> Path:
    return edit(pretend_study, open_loop=True)


# The plan.


def test_open_loop_cells_come_last_and_are_shuffled_per_repetition(study):
    loaded = load_study(study)
    cells = plan(loaded)
    closed = closed_loop(cells)
    assert cells[: len(closed)] == closed == plan(loaded.model_copy(update={"open_loop": None}))
    trials = [cell for cell in cells if cell.sets_rate]
    opened = cells[len(closed) + len(trials) :]
    # One trial cell for each store and workload, before the cells whose rates it sets.
    assert cells[len(closed) : -len(opened)] == trials
    assert {cell.repetition for cell in trials} == {0}
    assert len(trials) == len({(cell.store, cell.workload) for cell in trials}) == 4
    for cell in opened:
        trial = rate_trial(cells, cell)
        selected = next(
            each for each in closed if each.path == f"{trial.store}/{trial.workload}/{SLUG}/rep1"
        )
        # It is one more of the closed-loop cells, under a name of its own.
        assert trial == replace(selected, repetition=0, closed=SLUG)
        assert trial.path == f"{cell.store}/{cell.workload}/{SLUG}_trial/rep0"
    # Two stores, workloads a and c (insert has no run phase), two loads, two repetitions.
    assert len(opened) == len({cell.path for cell in opened}) == 16
    blocks = [opened[:8], opened[8:]]
    assert [{cell.repetition for cell in block} for block in blocks] == [{1}, {2}]
    names = [[(c.store, c.workload, c.load) for c in block] for block in blocks]
    assert sorted(names[0]) == sorted(names[1])
    assert names[0] != names[1]
    assert plan(loaded.model_copy(update={"seed": 2}))[-len(opened) :] != opened
    more = plan(loaded.with_repetitions(3))
    assert [cell for cell in more if cell.load and cell.repetition < 3] == opened
    assert [cell for cell in more if cell.sets_rate] == trials
    assert len(cells) <= most_cells(loaded)


@pytest.mark.parametrize("shown", [30_000, 100_000])
def test_an_open_loop_cell_takes_about_as_long_as_the_closed_one_that_is_shown(
    pretend_study, shown
):
    sizes = {"records": 1000, "operations": [30_000, 100_000], "threads": 2}
    sizes["shown"] = {"operations": shown}
    study = load_study(edit(pretend_study, open_loop={"loads": [0.5]}))
    study = study.model_copy(update={"parameters": Parameters.model_validate(sizes)})
    cells = {cell.parameters: cell for cell in plan(study) if cell.load and cell.workload == "a"}
    name = f"r1000_o{shown}_t2_load50"
    assert {name: cell.operations for name, cell in cells.items()} == {name: shown // 2}
    # Of 10 000 none are taken away: that is the floor.
    small_ones = [cell.operations for cell in plan(study, 0.2) if cell.load]
    assert set(small_ones) == {10_000}
    cell = cells[name]
    assert dict(cell.properties)["measurement.interval"] == "both"
    assert cell.closed == f"r1000_o{shown}_t2"


def test_a_timed_cell_lasts_as_long_as_the_closed_one(pretend_study):
    sizes = {"records": 1000, "operations": 2000, "seconds": 60}
    study = load_study(edit(pretend_study, open_loop=True, parameters=sizes))
    assert {cell.seconds for cell in plan(study) if cell.load} == {60}


def test_without_the_key_there_are_none(pretend_study):
    assert closed_loop(plan(load_study(pretend_study))) == plan(load_study(pretend_study))
    off = load_study(edit(pretend_study, open_loop=False))
    assert off.open_loop is None
    assert off.tables_of("open-loop") == off.figures_of("open-loop") == []


def test_a_study_that_only_loads_has_no_open_loop(pretend_study):
    edit(pretend_study, workloads=["insert"], tables=[], figures=[], open_loop=True)
    with pytest.raises(KvstudyError, match="open_loop: no workload of the study has a run phase"):
        load_study(pretend_study)


def test_a_rate_of_the_study_is_no_maximum(pretend_study):
    sizes = {"records": 1000, "operations": 2000, "properties": {"target": 100}}
    with pytest.raises(KvstudyError, match="the property 'target' gives workload 'a' a rate"):
        load_study(edit(pretend_study, open_loop=True, parameters=sizes))


# What is computed of them.


TRIAL = "redis/a/r10_o20_t1_trial/rep0"


def at_rates(achieved: tuple[float, float] = (1000, 995), seconds: int = 4) -> OpenLoopTables:
    """Redis, workload a, 50 % load, two repetitions; 4 000 operations of each kind."""
    cells, values, series, counts, targets = [], [], [], [], []
    for repetition, throughput in zip(("1", "2"), achieved, strict=True):
        key = ["redis", "a", "r10_o20_t1_load50", repetition]
        cells.append([*key, "measured", "", "", "9", ""])
        # Of the whole run time, a part of which the client connects.
        values.append([*key, "run", "overall", "throughput", "ops/s", 0.9 * throughput])
        for second, value in enumerate([0, throughput / 2, *[throughput] * seconds], start=1):
            series.append([*key, "run", second, value])
        for operation in ("read", "update"):
            for latency, count in ((100, 3800), (200, 200)):
                counts.append([*key, "run", operation, latency, count])
            for latency, count in ((150, 3000), (30_000, 1000)):
                counts.append([*key, "run", f"intended {operation}", latency, count])
        targets.append([*key, "r10_o20_t1", 50.0, 1000.0, TRIAL, 2000.0, ""])
    # The trial cell is in the same tables, and in nothing that is computed of them.
    trial = ["redis", "a", "r10_o20_t1_trial", "0"]
    cells.append([*trial, "measured", "", "", "8", ""])
    values.append([*trial, "run", "overall", "throughput", "ops/s", 2000.0])
    series += [[*trial, "run", second, 2000.0] for second in range(1, 6)]
    counts.append([*trial, "run", "read", 1e9, 10**6])
    return OpenLoopTables(
        pd.DataFrame(cells, columns=small.CELL_COLUMNS),
        MEASUREMENTS.frame(values),
        SERIES.frame(series),
        histograms(counts),
        TARGETS.frame(targets),
    )


def test_a_rate_is_reached_at_99_percent(pretend_study):
    (row,) = rates(at_rates()).itertuples()
    assert (row.parameters, row.load, row.n, row.reached) == ("r10_o20_t1", 50, 2, 2)
    assert (row.target, row.share_low) == (pytest.approx(1000), pytest.approx(0.995))
    (row,) = rates(at_rates(achieved=(1000, 989))).itertuples()
    assert (row.n, row.reached, row.short) == (2, 1, 0)


def test_a_short_run_is_judged_by_its_whole_run_time():
    (row,) = rates(at_rates(seconds=2)).itertuples()
    assert (row.n, row.reached, row.short) == (2, 0, 2)
    assert row.share_high == pytest.approx(0.9)


def test_percentiles_are_of_both_times_and_of_all_operations():
    result = latencies(at_rates()).set_index(["operation", "time", "percent"])
    assert result.loc[("read", "service", 99.0), "value"] == 200
    assert result.loc[("read", "intended", 99.0), "value"] == 30_000
    together = result.loc[("all", "service", 95.0)]
    assert (together["value"], together["beyond"], together["n"]) == (100, 800, 2)
    assert set(result["parameters"]) == {"r10_o20_t1"}


def test_void_and_missing_cells_are_not_among_them():
    result = at_rates()
    result.cells.loc[0, "invalid"] = "too many failures"
    assert rates(result)["n"].tolist() == [1]
    assert set(latencies(result)["n"]) == {1}
    result.cells["status"] = "failed"
    assert rates(result).empty
    assert latencies(result).empty
    assert rates(NOTHING).empty
    assert latencies(NOTHING).empty


def analysed(result: OpenLoopTables) -> Analysis:
    return small.analysis(open_rates=rates(result), open_percentiles=latencies(result))


def shown(collected: OpenLoopTables) -> tuple[pd.DataFrame, Grid]:
    study = small.study(stores=["redis", "riak"], open_loop={"workloads": ["a"]})
    titles = {"redis": "Redis", "riak": "Riak"}
    run = small.run(study=study, analysis=analysed(collected), titles=titles)
    (table,) = study.tables_of("open-loop")
    frame = table.rows(run)
    return frame, table.grids(frame, run)[0]


def test_the_table_has_rates_and_both_times():
    _, grid = shown(at_rates())
    redis, riak = grid.sections
    assert [str(line.label) for line in redis.lines] == ["50 %", "80 %"]
    assert redis.lines[0].texts == [
        *("1\N{NARROW NO-BREAK SPACE}000", "99.7 %"),
        *("0.100", "0.100", "0.200", DASH),
        *("0.150", "30.0", "30.0", DASH),
    ]
    assert set(redis.lines[1].texts) == {DASH}
    assert [str(line.label) for line in riak.lines] == ["50 %", "80 %"]
    assert len(grid.notes) == 1
    tex, html = small.both(grid)
    assert "0.200" in html_cells(html)
    assert r"\multicolumn{4}{c}{Intended time (ms)}" in tex


def test_a_rate_that_was_not_reached_is_marked():
    _, grid = shown(at_rates(achieved=(500, 500)))
    cells = grid.sections[0].lines[0].cells
    assert str(cells[1]) == "50.0 % !"
    assert cells[2].text == italic("0.100")
    assert "rate missed" in grid.notes[1]


def test_notes_of_the_targets_stand_below_the_table():
    result = at_rates()
    result.targets["note"] = f"trial-gone cell={TRIAL}"
    _, grid = shown(result)
    assert grid.notes[-1].startswith(
        f"Redis, 50 %: its rate was set by {TRIAL}, which has been removed"
    )


def drawn(collected: OpenLoopTables, titles: dict[str, str]) -> tuple[pd.DataFrame, Figure]:
    """The rows of the figure of these stores, and the figure."""
    use_style()
    study, figure = small.study(stores=list(titles)), small.figure("open-loop", workload="a")
    table = figure.rows(small.run(study=study, analysis=analysed(collected)))
    look = styles(titles, dict.fromkeys(titles, "#d55e00"))
    return table, small.painted(figure, small.as_csv(table), small.looked(look))


def test_the_figure_shows_what_has_enough_operations_beyond():
    table, figure = drawn(at_rates(), {"redis": "Redis", "riak": "Riak"})
    # 16 of 16 000 operations are beyond 99.9 %.
    assert set(table["percent"]) == {50.0, 99.0}
    redis, riak = figure.axes
    lines = [(line.get_linestyle(), line.get_ydata().tolist()) for line in redis.lines]
    lines = [line for line in lines if line[0] != "None"]
    assert sorted(lines) == [("-", [150]), ("-", [30_000]), ("--", [100]), ("--", [200])]
    assert [text.get_text() for text in riak.texts] == ["not measured"]


def test_a_rate_that_was_not_reached_is_crossed_in_the_figure():
    _, figure = drawn(at_rates(achieved=(500, 500)), {"redis": "R"})
    crosses = [line for line in figure.axes[0].lines if line.get_marker() == "x"]
    assert sum(len(line.get_xdata()) for line in crosses) == 4
    (legend,) = figure.legends
    assert "rate not reached" in [text.get_text() for text in legend.get_texts()]


def test_without_cells_the_figure_has_no_rows():
    assert drawn(NOTHING, {"redis": "Redis"})[0].empty


def test_the_text_knows_rates_times_and_gaps():
    study = small.study(open_loop={"workloads": ["a"]})
    result = at_rates(achieved=(1000, 900))
    analysis = analysed(result)
    gap = ["riak", "a", "r10_o20_t1_load80", "1", "not measured", "no server", "", "9", ""]
    failed = ["riak", "a", "r10_o20_t1_trial", "0", "failed", "no server", "", "8", ""]
    more = pd.DataFrame([gap, failed], columns=small.CELL_COLUMNS)
    rows = with_states(pd.concat([result.cells, more]))
    names = DisplayNames(study, small.TITLES | {"riak": "Riak"}, {})
    facts = open_loop_facts(names, rows, analysis)
    # Trial cells are counted by themselves.
    assert (facts.planned, facts.measured, facts.trials) == (3, 2, 2)
    (trial_gap,) = facts.trial_gaps
    assert (trial_gap.store, trial_gap.status) == ("Riak", "failed")
    whole = {"store": "redis", "workload": "a", "parameters": "r10_o20_t1", "unit": "ops/s"}
    whole |= {"operation": "overall", "metric": "throughput", "n": 2, "value": 2500.0}
    with_closed = small.analysis(
        open_rates=analysis.open_rates,
        open_percentiles=analysis.open_percentiles,
        intervals=pd.DataFrame([whole]),
    )
    assert open_loop_facts(names, rows, with_closed).trial_range == pytest.approx((0.8, 0.8))
    (missed,) = facts.missed
    assert (missed.store, missed.share_low, missed.short) == ("Redis", pytest.approx(0.9), 0)
    assert facts.widest is None
    (gap,) = facts.gaps
    assert (gap.store, gap.runs, gap.reason) == ("Riak", ["80 % repetition 1"], "no server")
    reached = replace(analysis, open_rates=rates(at_rates()))
    widest = open_loop_facts(names, rows, reached).widest
    assert (widest.service, widest.intended) == (200, 30_000)


def test_the_largest_difference_is_one_of_time_not_of_ratio():
    names = DisplayNames(small.study(open_loop={"workloads": ["a"]}), small.TITLES, {})
    keys = ["store", "workload", "parameters", "load", "operation", "percent", "beyond"]
    times = {"redis": (10.0, 500.0), "memcached": (9e3, 20e3)}
    percentiles = [
        [store, "a", "p", 50, ALL, 99.0, 1000, time, value]
        for store, both in times.items()
        for time, value in zip((SERVICE_TIME, INTENDED_TIME), both, strict=True)
    ]
    rates = [[store, "a", "p", 50, 1000.0, 1.0, 1, 1, 0, ""] for store in times]
    rate_keys = [*keys[:3], "load", "target", "share_low", "reached", "n", "short", "note"]
    analysis = SimpleNamespace(
        open_rates=pd.DataFrame(rates, columns=rate_keys),
        intervals=INTERVALS.frame(),
        open_percentiles=pd.DataFrame(percentiles, columns=[*keys, "time", "value"]),
    )
    facts = open_loop_facts(names, with_states(small.cells().head(0)), analysis)
    assert facts.widest.store == "Memcached"


def test_a_cell_of_the_plan_is_found_by_its_name(study):
    cell = find_cell(plan(load_study(study)), f"pretend/a/{SLUG}_load80/rep2")
    assert (cell.load, cell.operations) == (80, 2000)


def test_trial_cells_stand_behind_the_table_of_the_rates_and_behind_no_other(study):
    loaded = load_study(study)
    planned, headline = plan(loaded), shown_sizes(loaded)
    behind = {
        part.name: set(cells_of(part, loaded, planned, headline))
        for part in [*loaded.tables, *loaded.drawn_figures]
    }
    trials = {cell.path for cell in planned if cell.sets_rate}
    of_a = {cell.path for cell in planned if cell.closed and cell.workload == "a"}
    assert behind["open-loop-a"] == of_a
    assert {path for path in of_a if "_trial/rep0" in path} == {
        path for path in trials if "/a/" in path
    }
    others = {name: paths for name, paths in behind.items() if not name.startswith("open-loop-")}
    # The machine is that of all that was measured.
    assert {name for name, paths in others.items() if paths & trials} == {"machine"}


def test_the_plan_has_a_line_of_trial_cells_and_foretells_their_time(study):
    cells = plan(load_study(study))
    outlook = SimpleNamespace(wanted=cells, done=frozenset())
    closed = next(cell for cell in cells if cell.path == f"pretend/a/{SLUG}/rep1")
    result = rows(outlook, lambda cell: None)["pretend"]
    assert {name for name in result if name.startswith("a")} == {
        *("a", "a, trial", "a, 50 % load", "a, 80 % load"),
    }
    assert result["a, trial"]["cells"] == 1
    # A closed-loop cell shows what its trial cell takes.
    trial = next(cell for cell in cells if cell.sets_rate and cell.path.startswith("pretend/a/"))
    assert (trial.records, trial.operations, trial.seconds, trial.properties) == (
        *(closed.records, closed.operations, closed.seconds, closed.properties),
    )
