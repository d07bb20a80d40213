"""The figure that compares every two stores."""

import math
from itertools import product
from types import SimpleNamespace

import pandas as pd
import pytest
from kvstudy.analyse.findings.pairs import FLOOR
from kvstudy.analyse.tidy.files import SUMMARY
from kvstudy.analyse.tidy.results import Results
from kvstudy.layout.numbers import MARK, OTHER_SIZE
from kvstudy.layout.plot import log_ticks
from kvstudy.study.model import Study
from matplotlib.figure import Figure

from . import small_results as small

FLOORS = FLOOR.frame([["a", "r10_o20_t1", "redis", 3, 1.2, 1.1, 1.3, 0.01, 0.01, 1.2]])


def ratios(
    pairs: pd.DataFrame, floor: pd.DataFrame, study: Study, source: Results | None = None
) -> pd.DataFrame:
    analysis = SimpleNamespace(pairs=pairs, floor=floor)
    run = small.run(study=study, analysis=analysis, results=source or small.results(source=False))
    return small.figure("ratios").rows(run)


def draw_ratios(table: pd.DataFrame, study: Study) -> Figure:
    return small.painted(small.figure("ratios"), table, small.looked(of=study))


def test_ratios_lead_with_the_faster_store_with_the_floor_beside_them():
    study = small.study(stores=["memcached", "redis"])
    table = ratios(small.analysis().pairs, FLOORS, study).set_index("workload")
    assert table.loc["a", ["one", "other"]].tolist() == ["redis", "memcached"]
    # 2000/1000 and 2200/1020.
    assert table.loc["a", "ratio"] == pytest.approx(2.077, abs=1e-3)
    assert 1 < table.loc["a", "low"] < table.loc["a", "ratio"] < table.loc["a", "high"]
    assert table.loc["a", "floor"] == 1.2
    assert table.loc["c", "floor"] == 1.2
    level = FLOORS.assign(floor=1.0)
    assert ratios(small.analysis().pairs, level, study)["floor"].isna().all()


def test_a_panel_per_workload_with_the_floor_as_a_band():
    table = ratios(small.analysis().pairs, FLOORS, small.study())
    figure = draw_ratios(table, small.study())
    first, second = figure.axes
    assert [ax.get_title(loc="left") for ax in (first, second)] == ["Workload A", "Workload C"]
    assert [label.get_text() for label in first.get_yticklabels()] == ["Redis / Memcached"]
    assert [len(ax.patches) for ax in (first, second)] == [1, 1]
    band = first.patches[0].get_extents().transformed(first.transData.inverted())
    assert (band.x0, band.x1) == pytest.approx((1 / 1.2, 1.2))


def test_every_axis_has_two_to_five_numbers():
    lows = (1e-5, 1e-3, 0.02, 0.09, 0.2, 0.31, 0.5, 0.61, 0.8, 0.9)
    highs = (1.1, 1.2, 1.9, 2.1, 4.9, 9, 11, 80, 3000, 1e6)
    for low, high in product(lows, highs):
        # With room at both ends, as the figure is drawn.
        ticks = [
            tick for tick in log_ticks(low / 1.1, high * 1.1) if low / 1.1 <= tick <= 1.1 * high
        ]
        assert 2 <= len(ticks) <= 5, (low, high, ticks)


def test_one_store_has_nothing_to_compare():
    assert ratios(small.analysis().pairs.head(0), FLOORS, small.study(stores=["redis"])).empty


def test_equal_ratios_are_square_and_those_in_the_floor_faint():
    pairs = small.analysis().pairs.assign(decision="undecided", in_floor="yes")
    figure = draw_ratios(ratios(pairs, FLOORS, small.study()), small.study())
    point = next(line for line in figure.axes[0].lines if line.get_marker() == "o")
    assert point.get_alpha() < 0.5
    equal = small.analysis().pairs.assign(decision="equal")
    figure = draw_ratios(ratios(equal, FLOORS, small.study()), small.study())
    assert "s" in [line.get_marker() for line in figure.axes[0].lines]


def published(inconsistent: str = "", **rates: float) -> Results:
    """The source's throughputs under workload a; its audit finds inconsistent that of one store."""
    rows = [
        ["small", "T 1", store, "a", "overall", "throughput", "ops/s", rate, store == inconsistent]
        for store, rate in rates.items()
    ]
    columns = ["study", "table", "store", "workload", "operation", "metric", "unit", "value"]
    values = pd.DataFrame(rows, columns=[*columns, "inconsistent"])
    return Results(SUMMARY.frame(), small.cells(), values)


def test_published_ratios_are_hollow_diamonds_beside_the_measured_ones():
    study = small.study(stores=["redis", "memcached", "riak"])
    source = published("riak", redis=500.0, riak=1000.0, memcached=100.0)
    table = ratios(small.analysis().pairs, FLOORS, study, source)
    of_a = table[table["workload"] == "a"].set_index(["one", "other"])
    assert of_a["published"].to_dict() == {
        ("redis", "memcached"): 5,
        ("redis", "riak"): 0.5,
        ("memcached", "riak"): 0.1,
    }
    assert of_a["inconsistent"].tolist() == ["no", "yes", "yes"]
    # Riak was not measured.
    assert of_a["ratio"].notna().tolist() == [True, False, False]
    figure = draw_ratios(table, study)
    (diamonds,) = [line for line in figure.axes[0].lines if line.get_marker() == "D"]
    # Below the measured ones.
    assert diamonds.get_ydata()[0] > 0
    assert diamonds.get_xdata().tolist() == [5, 0.5, 0.1]
    assert diamonds.get_markerfacecolor() == "white"
    assert [text.get_text() for text in figure.axes[0].texts] == [MARK, MARK]
    (legend,) = figure.legends
    assert legend.get_texts()[-1].get_text() == "inconsistent with the source's other values"
    assert len({ax.get_xlim() for ax in figure.axes}) == 1


def test_ratios_of_another_size_are_marked():
    run = small.run(analysis=SimpleNamespace(pairs=small.analysis().pairs, floor=FLOORS))
    run.results, run.other_sizes = small.results(source=False), {("memcached", "a")}
    table = small.figure("ratios").rows(run)
    assert table.set_index("workload")["other_size"].to_dict() == {"a": "yes", "c": "no"}
    figure = draw_ratios(table, small.study())
    assert [[text.get_text() for text in ax.texts] for ax in figure.axes] == [[OTHER_SIZE], []]
    (legend,) = figure.legends
    measured = "measured, with its 95 % interval"
    assert [text.get_text() for text in legend.get_texts()] == [measured, "other size"]
    figure = draw_ratios(table.assign(low=math.nan, high=math.nan), small.study())
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["other size"]
