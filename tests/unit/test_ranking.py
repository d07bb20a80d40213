"""The tables of places and of ratios to one store: undecided pairs, gaps and the source."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.pairs import pairs
from kvstudy.analyse.findings.spread import spread_of
from kvstudy.analyse.tidy.files import CELL
from kvstudy.analyse.tidy.results import Results
from kvstudy.errors import KvstudyError
from kvstudy.layout.grid import notes_of
from kvstudy.layout.numbers import MARK, significant
from kvstudy.layout.rich_text import grey, rich
from kvstudy.stats.intervals import geometric_mean
from kvstudy.study.kinds import TABLES
from kvstudy.study.load import load_study

from . import small_results as small

TABLE = small.table("ranking", lines=[{"title": "Updating", "workload": "a"}])
P99 = "99th percentile of latency"


def rates(workload: str = "a", **stores: list[float]) -> pd.DataFrame:
    """Throughput of a workload by store and repetition."""
    rows = [
        dict(zip(CELL, [store, workload, "r10_o20_t1", str(number)], strict=True))
        | {"operation": "overall", "metric": "throughput", "unit": "ops/s", "value": value}
        for store, values in stores.items()
        for number, value in enumerate(values, start=1)
    ]
    return pd.DataFrame(rows)


def ranked(
    bound: tuple[str, ...] = (),
    published: dict | None = None,
    inconsistent: str = "",
    compared: list[list[str]] | None = None,
    **stores,
):
    values = rates(**stores)
    means = values.groupby("store")["value"].mean()
    geometric = values.groupby("store")["value"].agg(geometric_mean)
    result = SimpleNamespace(
        measured=lambda store, *_: (
            SimpleNamespace(n=len(stores[store]), mean=means[store], shown=geometric[store])
            if store in stores
            else None
        ),
        published=lambda store, workload, operation, metric: (published or {}).get((store, metric)),
        inconsistent=lambda store, *_: store == inconsistent,
        state=lambda store, _: SimpleNamespace(label="invalid"),
    )
    limits = pd.DataFrame(
        [("a", store, "client") for store in bound], columns=["workload", "store", "limit"]
    )
    example = pairs(spread_of(values, paired=True), [*small.TITLES], compared=compared)
    analysis = small.analysis(pairs=example, bottleneck=limits)
    run = small.run(results=result, analysis=analysis, compared=compared or [list(small.TITLES)])
    for name, store in run.stores.items():
        store.embedded = name not in run.compared[0]
    frame = TABLE.rows(run)
    return frame, TABLE.grids(frame, run)[0]


def places(frame: pd.DataFrame) -> dict[str, float]:
    return frame.dropna(subset="place").set_index("store")["place"].to_dict()


def test_told_stores_have_places_of_their_own():
    frame, grid = ranked(redis=[100, 101, 99], riak=[50, 51, 50], memcached=[200, 199, 202])
    assert places(frame) == {"memcached": 1, "redis": 2, "riak": 3}
    cells = grid.lines[0].texts
    assert cells[0].startswith("Memcached 0.20")
    assert r"\newline" not in "".join(cells)


def test_stores_that_the_runs_do_not_tell_apart_share_a_place():
    frame, grid = ranked(redis=[110, 95, 104], riak=[50, 51, 50], memcached=[100, 120, 90])
    assert places(frame) == {"redis": 1, "memcached": 1, "riak": 3}
    cells = grid.lines[0].texts
    # By geometric means, 102.8 and 102.6, and not by plain ones, 103 and 103.3; then the other way
    # round, whatever the study's order.
    assert cells[0].index("Redis") < cells[0].index("Memcached")
    turned, grid = ranked(redis=[100, 120, 90], riak=[50, 51, 50], memcached=[110, 95, 104])
    assert places(turned) == {"redis": 1, "memcached": 1, "riak": 3}
    cells = grid.lines[0].texts
    assert cells[0].index("Memcached") < cells[0].index("Redis")
    assert "~" in cells[0]
    assert "=" not in cells[0]
    notes = " ".join(grid.notes)
    assert "Updating, undecided: Memcached / Redis (3 runs; about" in notes
    assert "tell" not in notes
    assert cells[1] == ""


def test_equality_is_shown_and_not_assumed():
    _, grid = ranked(redis=[100, 101, 102], memcached=[102, 101, 100.5])
    cells = grid.lines[0].texts
    assert "=" in cells[0]
    assert "~" not in cells[0]
    assert "undecided:" not in " ".join(grid.notes).replace("~: undecided", "")


def test_an_embedded_store_has_no_place_among_servers():
    speeds = {"redis": [100, 101, 99], "riak": [50, 51, 50], "memcached": [200, 199, 202]}
    frame, grid = ranked(compared=[["redis", "riak"], ["memcached"]], **speeds)
    assert places(frame) == {"redis": 1, "riak": 2}
    assert "Memcached has no rank in Updating: embedded" in " ".join(grid.notes)


def test_an_undecided_pair_may_stand_at_two_places():
    frame, grid = ranked(redis=[100, 101, 99], riak=[90, 140, 95], memcached=[120, 121, 119])
    assert places(frame) == {"memcached": 1, "riak": 1, "redis": 2}
    notes = " ".join(grid.notes)
    riak = small.TITLES["riak"]
    assert f"undecided: Memcached / {riak} (3 runs" in notes
    assert f"{riak} / Redis (3 runs; about" in notes


def test_one_run_makes_no_order():
    frame, grid = ranked(redis=[100], riak=[50], memcached=[200])
    assert set(places(frame).values()) == {1}
    assert "One run decides nothing" in " ".join(grid.notes)


def test_a_store_without_values_has_no_place_and_a_reason():
    frame, grid = ranked(redis=[100, 101, 99], memcached=[200, 199, 202])
    assert places(frame) == {"memcached": 1, "redis": 2}
    assert any("has no rank in Updating: invalid" in note for note in grid.notes)


def test_a_store_that_the_client_limits_is_marked():
    _, grid = ranked(("redis",), redis=[100, 101, 99], memcached=[200, 199, 202])
    assert "\N{PILCROW SIGN}" in grid.lines[0].texts[1]
    assert any("the client, not the store" in note for note in grid.notes)


def test_the_sources_places_stand_below_and_come_from_its_values_where_it_printed_none():
    speeds = {("redis", "throughput"): 10.0, ("riak", "throughput"): 30.0}
    frame, grid = ranked(published=speeds, redis=[100, 101, 99])
    assert frame.set_index("store")["published_place"].dropna().to_dict() == {"redis": 2, "riak": 1}
    printed = grid.lines[1]
    assert printed.published
    ranks = speeds | {("redis", "throughput_rank"): 1.0, ("riak", "throughput_rank"): 2.0}
    frame, _ = ranked(published=ranks, redis=[100, 101, 99])
    assert frame.set_index("store")["published_place"].dropna().to_dict() == {"redis": 1, "riak": 2}


def test_a_published_place_that_rests_on_an_inconsistent_value_is_marked():
    speeds = {("redis", "throughput"): 10.0, ("riak", "throughput"): 30.0}
    _, grid = ranked(published=speeds, inconsistent="redis", redis=[100, 101, 99])
    here, present = grid.lines[:2]
    assert not any(MARK in cell for cell in here.texts)
    assert [MARK in cell for cell in present.texts][:2] == [False, True]
    assert any(
        "Inconsistent with the source's other values." in str(note) for note in notes_of([grid])
    )


def test_an_unknown_workload_is_named(project):
    path = project / "config/studies/jedlicka2024/study.yaml"
    path.write_text(path.read_text().replace("workload: mean}", "workload: means}"))
    with pytest.raises(KvstudyError, match=r"lines\[0\].workload: unknown workload 'means'"):
        load_study(path)


class Published(SimpleNamespace):
    """Results of which a test gives the published values alone."""

    published_ratio = Results.published_ratio


@pytest.fixture
def wide(monkeypatch):
    """A table with more workloads and stores than have marks on the first page."""
    monkeypatch.setattr("kvstudy.exhibits.grid_strips.MOST_STRIPS", 0)


def grid(published: dict | None = None, scale: float = 1, **baseline: str):
    """Its rows of throughput relative to the baseline, and what every report shows."""
    run = grid_run(published, scale, **baseline)
    table = TABLES["grid"].automatic(run.study)[0]
    rows = table.rows(run)
    (example,) = table.grids(rows, run)
    rows = rows[(rows["metric"] == "throughput") & (rows["baseline"] == rows["baseline"][0])]
    return rows.set_index(["workload", "store"]), example


def grid_run(published: dict | None = None, scale: float = 1, **baseline: str):
    """Of Redis and Memcached, whose ratios in three repetitions are 1, 2, 4 in a and 4, 2, 1 in c.

    Their logarithms have the mean ln 2 and the standard deviation ln 2 in both, so the interval
    is 2 times or by exp(4.303 * 0.693 / 3 ** 0.5) = 5.595.
    """
    values = pd.concat(
        [
            rates("a", redis=[100, 100, 100], memcached=[100, 200, 400]),
            rates("c", redis=[10, 20, 40], memcached=[40, 40, 40]),
        ]
    )
    study = small.study(workloads=["a", "c"], **baseline)
    tails = [["redis", "a", "read", 99.0, 150.0, 100], ["memcached", "c", "read", 99.0, 9.0, 99]]
    keys = ["store", "workload", "operation", "percent", "value", "beyond"]
    latencies = values.assign(operation="read", metric="latency_p99", unit="us")
    return small.run(
        study=study,
        scale=scale,
        values=pd.concat([values, latencies.assign(value=1000 / latencies["value"])]),
        results=Published(
            published=lambda store, workload, *_: (published or {}).get((store, workload)),
            inconsistent=lambda store, workload, *_: (store, workload) == ("memcached", "c"),
        ),
        analysis=small.analysis(
            pairs=pairs(spread_of(values, paired=True), study.store_names),
            percentiles=pd.DataFrame(tails, columns=keys),
        ),
    )


def number(row) -> str:
    return f"{significant(row['low'])} to {significant(row['high'])}"


@pytest.mark.usefixtures("wide")
def test_ratios_to_one_store_and_their_mean_within_each_repetition():
    frame, example = grid()
    for workload in ("a", "c"):
        row = frame.loc[workload, "memcached"]
        assert row["ratio"] == pytest.approx(2)
        assert 0.3 < row["low"] < 1 < 9 < row["high"] < 12
        assert (row["n"], row["first_place"], row["last_place"]) == (3, 1, 2)
    # The geometric mean of both workloads is 2 in every repetition. That is luck: its interval is
    # narrower than those of the workloads by the root of their number, and no more.
    row = frame.loc["mean", "memcached"]
    widths = [
        math.log(frame.loc[name, "memcached"]["high"] / frame.loc[name, "memcached"]["low"])
        for name in ("a", "mean")
    ]
    assert row["ratio"] == pytest.approx(2)
    assert 1.4 < widths[0] / widths[1] < 3
    assert frame["p99"].dropna().to_dict() == {("a", "redis"): 150.0}
    assert example.corner == "Relative to Redis"
    assert [str(line.label).strip("\xa0") for line in example.lines][:3] == [
        "Redis",
        "rank",
        "p99",
    ]
    assert example.lines[0].texts == ["1", "1", "1"]
    assert example.lines[1].texts == ["1\N{EN DASH}2"] * 3
    assert example.lines[3].texts == ["\N{EN DASH}"] * 3
    # What the runs do not decide is grey.
    between = [number(frame.loc[name, "memcached"]) for name in ("a", "mean")]
    assert [line.cells[0].text for line in example.lines[4:6]] == [grey("2.00"), grey(between[0])]
    assert [line.cells[2].text for line in example.lines[4:6]] == [grey("2.00"), grey(between[1])]
    assert any("Measured ratios in grey: undecided." in note for note in example.notes)


def test_a_section_per_workload_has_the_fastest_first_with_marks_on_one_axis():
    speeds = {("redis", "a"): 2.0, ("memcached", "a"): 3.0, ("redis", "c"): 1.0}
    frame, example = grid(speeds)
    assert [section.workload for section in example.sections] == ["", "a", "c", "mean"]
    assert [section.title for section in example.sections][1].startswith("Workload A: 50")
    assert list(map(str, example.columns))[1:] == [
        *("Ratio", "95\N{NARROW NO-BREAK SPACE}% interval", "Published ratio", "kops/s", "p99")
    ]
    axis, *sections = example.sections
    assert axis.lines[0].cells[0].strip.labelled
    memcached, redis = sections[0].lines[:2]
    assert [str(memcached.label), str(redis.label)] == ["Memcached", "Redis"]
    assert memcached.texts[1:] == [
        *("2.00", number(frame.loc["a", "memcached"]), "1.50", "0.200", "\N{EN DASH}")
    ]
    strip = memcached.cells[0].strip
    assert (strip.value, strip.published, strip.faint) == (pytest.approx(2), 1.5, True)
    assert strip.axis.has(frame.loc["a", "memcached"]["high"]) or strip.high > 9
    assert redis.texts[1:] == ["1", "", "", "0.100", "150 \N{MICRO SIGN}s"]
    assert not sections[1].lines[0].cells[0].strip.published
    assert "No p99: fewer than 100 above it." in example.notes[0]


def test_published_values_of_the_baseline_alone_make_no_column():
    _frame, example = grid({("redis", "a"): 2.0, ("redis", "c"): 1.0})
    assert "Published ratio" not in list(map(str, example.columns))
    assert "published" not in " ".join(example.notes)


def test_of_latencies_the_smallest_is_first():
    run = grid_run()
    table = TABLES["grid"].automatic(run.study)[0]
    (example,) = table.choices(table.rows(run), run)["Redis", P99]
    # Memcached has half the latency of Redis; Riak KV has none.
    lines = [str(line.label) for line in example.sections[1].lines]
    assert lines == ["Memcached", "Redis", small.TITLES["riak"]]
    assert not any("kops" in str(head) for head in example.columns)


@pytest.mark.usefixtures("wide")
def test_a_reader_chooses_the_store_and_the_metric_and_each_ratio_has_its_own_interval():
    run = grid_run()
    table = TABLES["grid"].automatic(run.study)[0]
    rows = table.rows(run)
    choices = table.choices(rows, run)
    names = {(store, metric) for metric in ("Throughput", P99) for store in ("Redis", "Memcached")}
    assert (next(iter(choices)), set(choices)) == (("Redis", "Throughput"), names)
    assert choices["Redis", "Throughput"] == table.grids(rows, run)
    (example,) = choices["Memcached", P99]
    assert example.corner == "Relative to Memcached"
    # Half the throughput and half the latency turned round; no places, no other lines. In c
    # Memcached's percentile is of too few operations.
    dash = "\N{EN DASH}"
    (row,) = rows.query("baseline == 'memcached' and store == 'redis' and workload == 'a'")[
        rows["metric"] == "latency_p99"
    ].to_dict("records")
    lines = [[grey("2.00"), rich(dash)], [grey(number(row)), rich("")]]
    assert [[cell.text for cell in line.cells] for line in example.lines[:2]] == lines
    assert "below 1 is faster. Read in A." in example.notes[0]


def test_the_baseline_is_the_studys_and_a_trial_run_has_no_places():
    frame, example = grid(scale=0.1, baseline="memcached")
    assert frame.loc["a", "redis"]["ratio"] == pytest.approx(0.5)
    assert example.corner == "Relative to Memcached"
    assert "place" not in " ".join([str(line.label) for line in example.lines] + example.notes)


def test_embedded_stores_are_related_to_the_first_of_them():
    run = grid_run()
    speeds = {"redis": [10, 11, 12], "riak": [5, 6, 7], "memcached": [90, 91, 92]}
    run.values = pd.concat([rates(**speeds), rates("c", **speeds)])
    run.compared = [["redis"], ["riak", "memcached"]]
    run.stores["riak"].kind = run.stores["memcached"].kind = "embedded"
    example = pairs(run.spread, run.study.store_names, compared=run.compared)
    run.headline_analysis = small.analysis(pairs=example, floor=run.analysis.floor)
    table = TABLES["grid"].automatic(run.study)[0]
    frame = table.rows(run)
    of = frame.query("baseline == 'riak' and workload == 'a' and metric == 'throughput'")
    selected = of[of["store"].isin(small.TITLES)].set_index("store")["ratio"]
    assert selected.round(1).to_dict() == {"riak": 1, "memcached": 15.3}
    choices = table.choices(frame, run).values()
    titles = {section.title for (shown,) in choices for section in shown.sections}
    assert {"In memory, relative to Redis", "Embedded"} <= titles


@pytest.mark.usefixtures("wide")
def test_the_ratios_of_the_source_stand_below_in_grey():
    speeds = {("redis", "a"): 2.0, ("memcached", "a"): 4.0, ("redis", "c"): 1.0}
    frame, example = grid(speeds | {("memcached", "c"): 8.0})
    assert frame.loc["mean", "memcached"]["published"] == pytest.approx(4)
    (line,) = [line for line in example.lines if line.published]
    assert [MARK in cell for cell in line.texts] == [False, True, True]
    frame, _ = grid(speeds)
    assert frame["published"].drop(index="redis", level="store").dropna().to_list() == [2.0]
