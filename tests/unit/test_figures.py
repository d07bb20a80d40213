"""The bar charts, by their CSV and by what is drawn; never by pixels."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest
from kvstudy.analyse.findings.over_time import ORDER
from kvstudy.documents.figures import write_figures
from kvstudy.errors import KvstudyError
from kvstudy.exhibits.bar_chart import (
    COLUMNS,
    GAP,
    UPPER_END,
    UPPER_START,
    with_broken,
    with_heights,
)
from kvstudy.exhibits.figures.bars import Bars
from kvstudy.layout.looks import Style, styles
from kvstudy.render.paper import MOST_SHAPES, save, use_style
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from pydantic import ValidationError

from . import small_results as small

LOOKS = styles(small.TITLES, small.COLORS)


@pytest.fixture(autouse=True)
def _style():
    use_style()


def chart(name: str = "percentiles", **changes: object) -> Bars:
    result = next(figure for figure in small.study().figures if figure.name == name)
    return Bars.model_validate(result.model_dump() | changes)


def draw(table: pd.DataFrame, stores: dict[str, Style] = LOOKS) -> Figure:
    return small.painted(chart("speed"), small.as_csv(table), small.looked(stores))


def drawn(ax) -> list[Rectangle]:
    """The bars from left to right."""
    result = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    return sorted(result, key=lambda patch: patch.get_x())


def torn_pieces(ax) -> list[tuple[float, float]]:
    """The ends of the pieces of bars that do not begin at zero."""
    pieces = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in drawn(ax)]
    return [piece for piece in pieces if piece[0] > 0]


def made_up(values: dict[str, list[float]], is_broken: str = "no") -> pd.DataFrame:
    """A table of one panel with the given values per store."""
    rows = [
        {
            **{"panel": "published", "group": f"Group {number}", "store": store, "unit": "ms"},
            **{
                "value": values[store][number],
                "broken": is_broken,
                "note": "",
                "inconsistent": "no",
            },
        }
        for number in range(len(next(iter(values.values()))))
        for store in values
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def draw_order(table: pd.DataFrame) -> Figure:
    return small.painted(small.figure("run-order"), table, small.looked())


def runs(repetitions: int = 2) -> pd.DataFrame:
    """Redis and Memcached in turn; each second run of Redis is 10 % faster."""
    rows = []
    for repetition in range(1, repetitions + 1):
        for place, store in enumerate(("redis", "memcached"), start=1):
            sequence = 2 * (repetition - 1) + place
            residual = (0.05 if repetition == 2 else -0.05) if repetitions > 1 else math.nan
            rows.append([store, "a", "p", str(repetition), sequence, sequence, 1000, residual])
    return pd.DataFrame(rows, columns=ORDER.columns)


def test_run_order_shows_each_run_against_its_cells_mean():
    figure = draw_order(runs())
    (ax,) = figure.axes
    points = {line.get_label(): line for line in ax.lines if line.get_label() in ("Redis",)}
    assert points["Redis"].get_xdata().tolist() == [1, 3]
    # Residuals are logarithms, the axis has shares.
    assert points["Redis"].get_ydata() == pytest.approx([math.exp(-0.05) - 1, math.exp(0.05) - 1])
    assert to_hex(points["Redis"].get_color()) == small.COLORS["redis"]


def test_run_order_shows_control_cells_without_a_store():
    table = runs().replace({"store": {"memcached": "redis-again"}})
    (ax,) = draw_order(table).axes
    points = {line.get_label(): line for line in ax.lines}
    assert points["control cells"].get_xdata().tolist() == [2, 4]
    assert "Memcached" not in points


def test_run_order_of_many_runs_is_a_picture_within_the_drawing(tmp_path):
    many = pd.concat([runs()] * MOST_SHAPES, ignore_index=True)
    save(draw_order(many.assign(repetition="1")), tmp_path / "order")
    drawing = (tmp_path / "order.svg").read_text()
    assert "<image" in drawing
    assert drawing.count("<use") < 100


def test_run_order_of_single_runs_says_that_there_is_nothing_to_see():
    assert small.figure("run-order").nothing(runs(repetitions=1)) == "no cell was measured twice"


def test_table_is_what_the_study_asks_for():
    table = small.bars(chart("speed"), small.study(), small.results())
    assert table["panel"].unique().tolist() == ["measured", "published"]
    assert table["group"].unique().tolist() == ["A", "C"]
    assert table["store"].tolist() == list(small.TITLES) * 4
    row = table.iloc[0]
    assert (row["value"], row["min"], row["max"], row["n"]) == (
        pytest.approx(4.4**0.5),
        2.0,
        2.2,
        2,
    )
    assert row["unit"] == "kops/s"
    gap = table.iloc[1]
    assert pd.isna(gap["value"])
    assert gap["note"] == "not measured"
    published = table[table["panel"] == "published"].iloc[0]
    assert published["value"] == pytest.approx(4.80104)
    assert pd.isna(published["min"])
    assert table[table["panel"] == "published"]["note"].tolist()[2] == "not published"


def test_all_operations_are_the_combined_ones_or_the_only_one():
    changes = {"workloads": ["a", "c"], "metrics": ["latency_p95"]}
    table = small.bars(chart(**changes), small.study(), small.results(source=False))
    assert table["panel"].unique().tolist() == ["measured"]
    assert table["value"].dropna().tolist() == pytest.approx([0.1, 2.0, 0.1, 2.0])


def test_failed_and_void_places_say_so():
    faults = {("redis", "a", n): ("failed", "died", "") for n in (1, 2)}
    faults |= {("memcached", "a", n): ("measured", "", "5 % failed") for n in (1, 2)}
    table = small.bars(chart("speed"), small.study(), small.results(faults))
    assert table["note"].tolist()[:3] == ["failed", "not measured", "invalid"]


def test_a_unit_that_does_not_fit_is_refused():
    with pytest.raises(
        ValidationError, match="latency_p95 has no unit 'kops/s'; give us or ms or s"
    ):
        chart(unit="kops/s")


def test_bars_have_the_heights_and_colours_of_the_table():
    table = small.bars(chart("speed"), small.study(), small.results())
    figure = draw(table)
    measured, published = figure.axes
    assert [bar.get_height() for bar in drawn(measured)] == pytest.approx([4.4**0.5, 1.02**0.5] * 2)
    assert [bar.get_height() for bar in drawn(published)] == pytest.approx([4.80104, 1.28398])
    colors = [to_hex(bar.get_facecolor()) for bar in drawn(measured)]
    assert colors == [small.COLORS["redis"], small.COLORS["memcached"]] * 2
    hatches = [bar.get_hatch() for bar in drawn(measured)]
    assert hatches[0] != hatches[1]
    assert hatches[:2] == hatches[2:]
    texts = [text.get_text() for text in measured.texts]
    assert texts == [*["2.10", "1.01"] * 2, *["not measured"] * 2]
    assert measured.get_title("left") == "Measured: mean of 2 runs"
    assert published.get_title("left") == "Published (A. Nobody, 2020)"
    assert len(figure.legends) == 1
    words = [text.get_text() for text in figure.legends[0].texts]
    assert words == [*small.TITLES.values(), "one run"]
    assert not torn_pieces(measured)


def marks(ax, marker: str) -> list[float]:
    lines = [line.get_ydata() for line in ax.lines if line.get_marker() == marker]
    return [float(y) for line in lines for y in line]


def test_dots_are_runs_and_two_have_no_whisker():
    table = small.bars(chart("speed"), small.study(), small.results())
    ax = draw(table).axes[0]
    assert marks(ax, "o")[:4] == [2.0, 2.2, 1.0, 1.02]
    assert not ax.collections


def test_whiskers_are_intervals_and_end_in_an_arrow_where_they_are_too_long():
    table = made_up({"redis": [1.0, 2.0]}).assign(n=3, runs="1 1 1", low=[0.5, 0.1], high=[1.5, 9])
    ax = draw(table, {"redis": LOOKS["redis"]}).axes[0]
    whiskers, rest = (
        [stem[:, 1].tolist() for stem in ax.collections[n].get_segments()] for n in (0, 1)
    )
    # The value is in a gap of the long one, for at its tip it would read as the interval's end.
    assert whiskers == [[0.5, 1.5], [0.1, 2.0]]
    assert rest == [[pytest.approx(2.6, abs=0.3), pytest.approx(3.2)]]
    assert [text.xy[1] for text in ax.texts] == [1.5, 2.0]
    assert marks(ax, "^") == [pytest.approx(3.2)]
    assert {text.get_rotation() for text in ax.texts} == {0}


def test_torn_bars_are_cut_and_keep_their_value():
    table = small.bars(chart(), small.study(), small.results())
    broken = table[(table["broken"] == "yes") & (table["panel"] == "published")]
    assert broken["value"].tolist() == pytest.approx([6.757, 11.86567])
    ax = draw(table).axes[1]
    heights = [bar.get_y() + bar.get_height() for bar in drawn(ax) if bar.get_y() == 0]
    stays, top = 1.9045, UPPER_END * 1.9045
    share = (6.757 - stays) / (11.86567 - stays)
    lower = stays * (UPPER_START + share * (UPPER_END - UPPER_START))
    below, above = (stays * end for end in GAP)
    assert heights == pytest.approx([1.273, below, 1.38633, stays, below, 1.84833])
    assert torn_pieces(ax) == [pytest.approx((above, lower)), pytest.approx((above, top))]
    assert stays < below < above < lower
    assert [text.get_text() for text in ax.texts][1::3] == ["6.76", "11.9"]
    # The axis says nothing about heights beyond the bars that stay.
    assert max(ax.get_yticks()) <= 1.9045
    assert ax.get_ylim()[1] > top
    assert ax.get_yscale() == "linear"


def torn() -> pd.DataFrame:
    """Bars of 1, 1, 9 and 4 ms, each of three runs; the last two are broken."""
    table = made_up({"redis": [1.0, 1.0, 9.0, 4.0]}).assign(n=3, min=0.9, max=1.1)
    table = table.assign(runs="0.9 1 1.1", low=0.8, high=1.4)
    table.loc[2, ["runs", "max", "low", "high", "broken"]] = ["8 9 10", 10, 7.0, 11.0, "yes"]
    table.loc[3, ["runs", "max", "low", "high", "broken"]] = ["4 4 4", 4, 3.5, 40.0, "yes"]
    return table


def test_what_is_of_a_torn_bar_stays_beside_it_in_proportion():
    drawn = with_heights(torn()).set_index("value")
    nine, four = drawn.loc[9.0], drawn.loc[4.0]
    # From 1.1, what stays, to 16, where a whisker ends in an arrow.
    step = 1.1 * (UPPER_END - UPPER_START) / (1.6 * 10 - 1.1)
    assert nine["dots"][1] == nine["height"]
    assert nine["height"] - nine["dots"][0] == pytest.approx(step)
    assert nine["upper"] - nine["lower"] == pytest.approx(4 * step)
    assert nine["height"] - four["height"] == pytest.approx(5 * step)
    assert four["upper"] == four["reach"] == pytest.approx(1.1 * UPPER_END)
    assert drawn["beyond"].tolist() == ["no", "no", "no", "yes"]
    assert drawn.loc[1.0, "height"].tolist() == [1.0, 1.0]
    assert four["lower"] > GAP[1] * 1.1


def test_torn_bars_have_dots_and_whiskers():
    ax = draw(torn(), {"redis": LOOKS["redis"]}).axes[0]
    heights = with_heights(torn())
    assert marks(ax, "o") == heights["dots"].sum()
    assert marks(ax, "^") == [heights["upper"].max()]
    assert len(torn_pieces(ax)) == 2


@pytest.mark.parametrize(
    "values",
    [
        {"redis": [0.0, 0.0], "riak": [0.0, 0.0]},
        {"redis": [5.0]},
        {"redis": [math.nan, 2.0], "riak": [1.0, math.nan]},
        {"redis": [math.nan], "riak": [math.nan]},
        {name: [float(n + 1) for n in range(12)] for name in small.TITLES},
    ],
)
def test_unusual_tables_are_drawn_in_their_places(values):
    table = made_up(values)
    (ax,) = draw(table, {name: LOOKS[name] for name in values}).axes
    heights = [bar.get_height() for bar in drawn(ax)]
    assert heights == table["value"].dropna().tolist()
    groups = len(next(iter(values.values())))
    assert len(ax.get_xticklabels()) == groups
    width = 0.92 / len(values)
    for bar, row in zip(drawn(ax), table.dropna(subset="value").itertuples(), strict=True):
        place = list(values).index(row.store)
        group = int(row.group.split()[1])
        assert bar.get_x() == pytest.approx(group - 0.46 + place * width)


def test_files_are_the_same_every_time(tmp_path):
    table = small.bars(chart(), small.study(), small.results())
    for name in ("first", "second"):
        save(draw(table), tmp_path / name)
    for kind in ("pdf", "svg", "png"):
        first, second = (tmp_path / f"{name}.{kind}" for name in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()
        assert first.stat().st_size > 5000
    pdf = (tmp_path / "first.pdf").read_bytes()
    assert b"/Subtype /Type3" not in pdf
    assert b"/FontFile2" in pdf
    assert b"/CreationDate" not in pdf


def test_dots_in_a_name_are_not_an_ending(tmp_path):
    save(draw(made_up({"redis": [1.0]}), {"redis": LOOKS["redis"]}), tmp_path / "a0.1")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a0.1.pdf", "a0.1.png", "a0.1.svg"]


def test_written_files_and_choice_of_figures(tmp_path):
    parts = {"results": small.results(), "analysis": small.analysis()}
    run = small.run(study_file=Path("small/study.yaml"), **parts)
    write_figures(run, tmp_path, ["speed", "run-order"])
    forms = ("csv", "pdf", "png", "svg", "vl.json")
    names = {f"{name}.{form}" for name in ("speed", "run-order") for form in forms}
    assert {path.name for path in tmp_path.iterdir()} == names
    table = pd.read_csv(tmp_path / "speed.csv")
    assert table.columns.tolist() == COLUMNS
    assert table["broken"].unique().tolist() == ["no"]
    with pytest.raises(
        KvstudyError, match="no figure 'sped'; there are speed, percentiles, run-order"
    ):
        write_figures(run, tmp_path, ["sped"])


def test_every_report_has_figures_and_its_study_may_name_them_itself():
    study = small.study()
    names = [figure.name for figure in study.figures if figure.drawn]
    assert names == ["speed", "percentiles", "run-order", "ratios", "spectrum"]
    selected = {"name": "tails", "kind": "spectrum", "caption": "Mine"}
    names = [figure.name for figure in small.study(figures=[selected]).figures]
    assert names == ["tails", "run-order", "ratios"]


# --- the rule that tears bars


TWELVE_GROUPS = [10 + number % 5 for number in range(48)]
MIN_MEAN = ["min", "min", "mean", "mean"]
# Jedlička 2024, figure 4.10, which he names as his example of broken bars:
# 95th and 99th percentile of Redis, Riak KV, Aerospike, Memcached in ms.
THESIS = [1.32, 6.07, 1.19, 1.74, 2.24, 10.65, 1.77, 2.83]


def heights_torn(values, **columns):
    table = pd.DataFrame({"panel": "measured", "value": values} | columns)
    table = with_broken(table.to_dict("records"))
    return table.loc[table["broken"] == "yes", "value"].tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([5], []),
        ([None, None], []),
        ([7, 7, 7, 7], []),
        ([0, 0, 0], []),
        ([0, 0, 5], []),
        ([3, 4, 5, 7], []),
        ([1, 1.2, 1.1, 10], [10]),
        # Three times the next: nothing is hidden by showing all.
        ([1, 1.2, 1.1, 3.6], []),
        # The break is where they are furthest apart: 0.133 and 0.206 stay.
        ([0.016, 0.206, 0.016, 0.029, 0.065, 1.21, 0.054, 0.133], [1.21]),
        ([10, None, 1.2, 1.1, 0], [10]),
        ([1, 1, 1, 1, 6, 30], [6, 30]),
        ([1, 1.1, 50, 60], [50, 60]),
        # More than half would be broken.
        ([1, 50, 60, 70], []),
        # Twice the next, but not three times the typical one.
        ([4, 4, 5, 10], []),
        # Three times the typical one, but close to the next.
        ([1, 1, 1, 2, 3, 4], []),
        # On the border all conditions hold: 3.5 times the next; and twice it, if another is.
        ([1, 1, 1.5, 5.25], [5.25]),
        ([1, 1, 1.5, 5.24], []),
        ([1, 1, 1, 1, 1.5, 3, 5.25], [3, 5.25]),
        ([1, 1, 1, 1, 1.5, 2.99, 5.25], []),
        # One bar against one other is no comparison with the others.
        ([1, 30], []),
        ([1, 1, 30], [30]),
        ([*TWELVE_GROUPS[:17], 900, *TWELVE_GROUPS[18:]], [900]),
        (THESIS, [6.07, 10.65]),
        # Neither order nor unit matters.
        (THESIS[::-1], [10.65, 6.07]),
        ([1000 * value for value in THESIS], [6070, 10650]),
    ],
)
def test_heights(values, expected):
    assert heights_torn(values) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "groups", "expected"),
    [
        ([0.02, 0.03, 0.18, 0.20], ["one"] * 4, [0.18, 0.20]),
        ([0.02, 0.03, 0.18, 0.20], MIN_MEAN, []),
        # A higher cut that leaves one of the group is taken instead.
        ([0.02, 0.03, 0.18, 0.70], MIN_MEAN, [0.70]),
        # One store has groups of one bar.
        ([1, 1, 1, 20], list("abci"), [20]),
    ],
)
def test_no_group_is_torn_as_a_whole(values, groups, expected):
    assert heights_torn(values, group=groups) == expected


def test_what_stays_must_show_its_whisker():
    assert heights_torn([1, 1, 1, 5], max=[1, 1, 1.2, 6]) == [5]
    assert heights_torn([1, 1, 1, 5], max=[1, 1, 1.5, 6]) == []
