"""Figures of the course of the runs, of CPU time and of all percentiles."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.over_time import steadiness
from kvstudy.analyse.findings.repetitions import Pooled, pool, spectrum
from kvstudy.analyse.tidy.files import RESOURCES, SERIES
from kvstudy.analyse.tidy.histograms import read_histograms
from kvstudy.analyse.tidy.results import Results
from kvstudy.analyse.tidy.summary import summarise
from kvstudy.exhibits.figures.time import MOST_INTERVALS
from kvstudy.render.paper import use_style
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from tests.histogram_rows import histograms

from . import small_results as small

TIME, SPECTRUM = small.figure("time", workload="a"), small.figure("spectrum")
WARM = [100.0] * 5 + [1000.0, 1001.0] * 20


@pytest.fixture(autouse=True)
def _style():
    use_style()


def resources(store: str, seconds: int, sides: tuple[str, ...]) -> pd.DataFrame:
    """The first run of workload a: client 0.5 cores, server 0.25 cores, machine 1 core."""
    rows = []
    for second in range(1, seconds + 1):
        for side in sides:
            row = dict.fromkeys(RESOURCES.columns)
            row |= {"store": store, "workload": "a", "parameters": "r10_o20_t1", "side": side}
            row |= {"repetition": "1", "phase": "run", "second": second + 0.5, "seconds": 1.0}
            if side == "machine":
                row["cores_busy"] = 1.0
            else:
                row["cores_user"] = 0.4 if side == "client" else 0.2
                row["cores_system"] = 0.1 if side == "client" else 0.05
            rows.append(row)
    return pd.DataFrame(rows, columns=RESOURCES.columns)


def table(
    runs: dict[tuple[str, str], list[float]],
    used: pd.DataFrame | None = None,
    results: Results | None = None,
) -> pd.DataFrame:
    """Of runs of workload a by store and repetition, a value for each second."""
    rows = [
        [store, "a", "r10_o20_t1", repetition, "run", second, rate]
        for (store, repetition), rates in runs.items()
        for second, rate in enumerate(rates, 1)
        if not pd.isna(rate)
    ]
    seconds = pd.DataFrame(rows, columns=SERIES.columns)
    analysis = SimpleNamespace(steadiness=steadiness(seconds))
    run = small.run(results=results or small.results(), analysis=analysis, headline_series=seconds)
    run.headline_resources = RESOURCES.frame() if used is None else used
    return TIME.rows(run)


def draw_timeline(table: pd.DataFrame) -> Figure:
    return small.painted(TIME, small.as_csv(table), small.looked())


def spectrum_table(table: pd.DataFrame) -> pd.DataFrame:
    return SPECTRUM.rows(small.run(analysis=SimpleNamespace(spectrum=table)))


def test_seconds_that_nobody_knows_are_a_hole_in_the_line():
    shown = table({("redis", "1"): [900.0] * 10 + [float("nan")] * 5 + [800.0] * 10})
    hole = shown[shown["low"].isna() & (shown["store"] == "redis")]
    assert hole[["start", "end"]].to_numpy().tolist() == [
        [10, 11],
        [11, 12],
        [12, 13],
        [13, 14],
        [14, 15],
    ]
    (line,) = draw_timeline(shown).axes[0].lines
    assert pd.isna(line.get_ydata()).sum() == 2 * len(hole)
    marks = [
        TIME.hover(row, small.looked()) for row in hole.assign(title="Redis").to_dict("records")
    ]
    assert {mark["exact"] for mark in marks} == {""}


def test_each_run_is_a_line_and_the_first_runs_warm_up_is_grey():
    shown = table({("redis", "1"): WARM, ("redis", "2"): [900.0] * 40})
    figure = draw_timeline(shown)
    upper = figure.axes[0]
    first, second = upper.lines
    # A second wide.
    assert first.get_xdata()[:4].tolist() == [0, 1, 1, 2]
    assert first.get_ydata()[[0, -1]].tolist() == [100, 1001]
    assert second.get_ydata().tolist() == [900] * 80
    assert {to_hex(line.get_color()) for line in upper.lines} == {small.COLORS["redis"]}
    (grey,) = upper.patches
    assert grey.get_extents().transformed(upper.transData.inverted()).x1 == pytest.approx(5)
    assert upper.get_title("left") == "Redis\nsteady: 2 of 2 runs"


def test_stores_without_a_line_say_why():
    # Memcached's runs took 20 s, but have no values per second; riak was not measured.
    shown = table({("redis", "1"): WARM})
    notes = shown[shown["note"] != ""].set_index("store")["note"].to_dict()
    assert notes == {"riak": "not measured", "memcached": "no values per second"}
    texts = [text.get_text() for ax in draw_timeline(shown).axes for text in ax.texts]
    assert sorted(texts) == ["no values per second", "not measured", "not recorded"]


def test_runs_under_three_seconds_are_too_short_to_draw():
    plan = small.cells()
    values = small.measurements(plan)
    values.loc[values["metric"] == "runtime", "value"] = 2500
    means = summarise(values, plan, list(small.TITLES), ["a", "c", "insert"])
    shown = table({("redis", "1"): [5.0, 6.0]}, results=Results(means, plan, None))
    assert shown.set_index("store").loc["redis", "note"] == "too short to draw"
    assert not any(ax.lines for ax in draw_timeline(shown).axes)


def test_a_short_run_is_too_short_to_judge_and_an_uneven_one_not_steady():
    short = table({("redis", "1"): [5.0] * 10})
    assert draw_timeline(short).axes[0].get_title("left") == "Redis\ntoo short to judge"
    uneven = table({("redis", "1"): [5.0, 9.0] * 20})
    assert draw_timeline(uneven).axes[0].get_title("left") == "Redis\nsteady: 0 of 1 run"


def test_a_long_run_is_thinned_without_hiding_a_drop():
    rates = [1000.0] * 5000
    rates[3333] = 1.0
    shown = table({("redis", "1"): rates})
    lines = shown[shown["strip"] == "throughput"]
    assert len(lines) <= MOST_INTERVALS
    (drop,) = lines[lines["low"] == 1].itertuples()
    assert drop.start <= 3333 < drop.end
    assert drop.high == 1000
    assert lines["end"].max() == 5000
    assert (lines["start"].iloc[1:].to_numpy() == lines["end"].iloc[:-1].to_numpy()).all()
    (area,) = draw_timeline(shown).axes[0].collections
    assert area.get_paths()[0].vertices[:, 1].min() == 1


def test_busy_cores_of_the_first_run_share_the_time_axis():
    used = resources("redis", 44, ("client", "server", "machine"))
    shown = table({("redis", "1"): WARM, ("redis", "2"): WARM}, used)
    cores = shown[shown["unit"] == "cores"].groupby("strip")["high"].unique().map(list).to_dict()
    assert cores == {"client": [0.5], "rest": [0.25], "server": [0.25]}
    # The row of the first second ends at 1.5 s and is a second long.
    assert shown[shown["strip"] == "client"].iloc[0][["start", "end"]].tolist() == [0.5, 1.5]
    figure = draw_timeline(shown)
    upper, lower = figure.axes[0], figure.axes[3]
    assert upper.get_xlim() == lower.get_xlim()
    labels = [text.get_text() for text in figure.legends[0].texts]
    assert labels == ["client", "server", "rest of the machine", "warm-up"]


def test_what_is_not_sampled_is_not_drawn():
    used = resources("redis", 44, ("client", "machine"))
    # The client ended before the last sample of the machine.
    last = used["second"].max()
    used = used[(used["side"] != "client") | (used["second"] < last)]
    shown = table({("redis", "1"): WARM}, used)
    strips = shown.dropna(subset="strip").groupby("strip")["end"].max().to_dict()
    assert strips == {"client": last - 1, "rest": last - 1, "throughput": 45}


def pooled(latencies: dict[tuple[str, str], dict[float, int]]) -> Pooled:
    rows = [
        [store, "a", "p", repetition, "run", "read", latency, count]
        for (store, repetition), counts in latencies.items()
        for latency, count in counts.items()
    ]
    return pool(read_histograms(histograms(rows)))


def test_spectrum_ends_where_few_operations_are_slower():
    runs = {("redis", "1"): {10.0: 9900, 500.0: 100}, ("redis", "2"): {10.0: 9000, 700.0: 1000}}
    result = spectrum(pooled(runs))
    last = result.iloc[-1]
    assert last["beyond"] >= 100
    # 20 000 operations: at 99.5 % there are 100 beyond, and the next place has fewer.
    assert 99.4 < last["percent"] <= 99.5
    assert (last["value"], last["low"], last["high"]) == (700, 500, 700)
    assert result.iloc[0][["percent", "value", "low", "high"]].tolist() == [0, 10, 10, 10]
    at_90 = result.set_index("percent").loc[90.0]
    assert (at_90["value"], at_90["beyond"]) == (10, 2000)


def test_spectrum_draws_a_line_and_a_band_per_store():
    runs = {(s, r): {10.0: 9900, 500.0 * int(r): 100} for s in small.TITLES for r in ("1", "2")}
    shown = spectrum_table(spectrum(pooled(runs)))
    (ax,) = small.painted(SPECTRUM, shown, small.looked()).axes
    assert [line.get_label() for line in ax.lines] == list(small.TITLES.values())
    assert [line.is_dashed() for line in ax.lines] == [False, True, True]
    assert len(ax.collections) == 3
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["50 %", "90 %", "99 %"]


def test_spectrum_without_histograms_or_of_other_stores():
    assert spectrum_table(spectrum(pooled({("redis-again", "1"): {10.0: 5000}}))).empty
