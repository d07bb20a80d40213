"""A figure of each kind with a table as its CSV gives it, for the tests of charts."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from kvstudy.exhibits.figures.bars import AveragesFigure
from kvstudy.exhibits.figures.latencies import Box
from kvstudy.exhibits.figures.open_loop import OpenLoopFigure
from kvstudy.exhibits.figures.rounds import BreakEvenPlot, RelativePlot
from kvstudy.exhibits.figures.tradeoff import Tradeoff
from kvstudy.layout.looks import Style, StyleSheet, styles
from kvstudy.study.exhibits import AnyFigure
from kvstudy.study.model import Study

from . import small_results as small
from . import (
    test_figures,
    test_figures_course,
    test_grids,
    test_open_loop,
    test_over_sizes,
    test_paths,
    test_ratio_plot,
    test_relative,
    test_separation,
    test_tradeoff,
)

LONG = r"A store with a very long name, 12.3-beta_%&#\<b>"
SPECTRUM = ["store", "workload", "parameters", "operation", "percent", "value", "low", "high"]
SETTING = {"workload": "a", "parameters": "r10_o20_t1"}


@dataclass(frozen=True)
class Drawn:
    """A figure, what it shows, and what it is of."""

    figure: AnyFigure
    table: pd.DataFrame
    study: Study
    styles: dict[str, Style]

    @property
    def text(self) -> str:
        return small.chart_text(self.figure, self.table, StyleSheet(self.study, self.styles))


def every_chart() -> dict[str, Drawn]:
    """One of each kind by its name; stores have names that need escaping, cells are missing."""
    example = {**_of_small(), **_of_sizes(), **_of_rounds()}
    return {
        name: Drawn(figure, small.as_csv(table), study, look)
        for name, (figure, table, study, look) in example.items()
    }


def _of_small() -> dict[str, tuple]:
    study = small.study(open_loop={"workloads": ["a"]})
    look = styles(small.TITLES, small.COLORS)
    named = {figure.name: figure for figure in study.drawn_figures}
    times = test_figures_course.table(
        {("redis", "1"): test_figures_course.WARM, ("redis", "2"): [900.0] * 40},
        test_figures_course.resources("redis", 40, ("client", "server", "machine")),
    )
    present = test_ratio_plot
    source = present.published(redis=500.0, riak=1000.0, memcached=100.0)
    compared = present.ratios(small.analysis().pairs, present.FLOORS, study, source)
    rates, _ = test_open_loop.drawn(test_open_loop.at_rates(achieved=(500, 500)), small.TITLES)
    tables = {
        "speed": small.bars(named["speed"], study, small.results()),
        "percentiles": small.bars(named["percentiles"], study, small.results()),
        "run-order": test_figures.runs().replace({"store": {"memcached": "redis-again"}}),
        "ratios": compared,
        "time-a": times,
        "spectrum": _spectrum(),
    }
    named["time-a"] = small.figure("time", workload="a")
    example = {name: (named[name], table, study, look) for name, table in tables.items()}
    tradeoff = Tradeoff(kind="tradeoff", **test_tradeoff.KEYS)
    example["tradeoff"] = (tradeoff, test_tradeoff.rows(), study, look)
    loop = OpenLoopFigure(name="open", caption="O", workload="a")
    example["open"] = (loop, rates, study, look)
    apart = small.figure("separation")
    example["separation"] = (apart, test_separation.plotted(), study, look)
    example["delay"] = (test_paths.FIGURE, test_paths.example(), study, look)
    versus = small.figure("scatter", baseline="redis", store="memcached")
    measured = versus.rows(small.run(analysis=small.analysis()))
    example["scatter"] = (versus, measured, study, look)
    return example


def _spectrum() -> pd.DataFrame:
    rows = [
        [store, *SETTING.values(), "read", percent, factor * us, factor * us / 2, factor * us * 2]
        for store, factor in (("redis", 1), ("memcached", 3))
        for percent, us in ((0.0, 0), (50.0, 100), (90.0, 180), (99.0, 900), (99.9, 5000))
    ]
    return pd.DataFrame(rows, columns=SPECTRUM).assign(n=2, beyond=10)


def _of_sizes() -> dict[str, tuple]:
    over = test_over_sizes.swept_study()
    titles = {"redis": LONG, "riak": "Riak"}
    look = styles(titles, small.COLORS)
    table = test_over_sizes.lines_of(over, {("redis", "a", 3)})
    example = {"lines": (over.figures[0], table, over, look)}
    of = test_grids.study()
    look = styles(
        {"redis": LONG, "mongodb": "MongoDB", "cassandra": "Cassandra"},
        {name: each.color for name, each in test_grids.LOOKS.items()},
    )
    faults = {("cassandra", "product-read", "*"): ("failed", "the server died", "")}
    example["map"] = (test_grids.heatmap(), test_grids.mapped(of, faults), of, look)
    box = {"name": "box", "kind": "box", "caption": "B", "workload": "product-read"}
    table = test_grids.boxed(of, ["redis", "mongodb"], faults)
    example["box"] = (Box.model_validate(box), table, of, look)
    means = {"name": "means", "kind": "averages", "caption": "M", "unit": "s"}
    figure = AveragesFigure.model_validate(means | {"workloads": of.workload_names})
    table = figure.rows(small.run(study=of, swept=test_grids.made_up(of)))
    example["means"] = (figure, table, of, look)
    return example


def _of_rounds() -> dict[str, tuple]:
    study = small.study()
    look = styles({"db": LONG, "cache": "Cache & <co>"}, {"db": "#0072b2", "cache": "#d55e00"})
    result = test_relative.analysed(
        pd.concat(test_relative.relative_rows(records=records) for records in (100, 1000, 10_000))
    )
    ratio = RelativePlot(kind="relative", operations=["insert", "read"], **test_relative.ONE)
    even = BreakEvenPlot(kind="break-even", records=10_000, **test_relative.TWO)
    return {
        "relative": (ratio, small.rows(ratio, result, None), study, look),
        "break-even": (even, small.rows(even, result, None), study, look),
    }
