"""A small study with made-up values, for the tests of tables and figures."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
from kvstudy.analyse.findings.files import Analysis, analyse
from kvstudy.analyse.findings.spread import Spread, spread_of
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy import open_loop
from kvstudy.analyse.tidy.files import CELL, MEASUREMENTS, OUTCOMES, ROUNDS, SERIES
from kvstudy.analyse.tidy.probes import Probes, rows_of
from kvstudy.analyse.tidy.results import Results
from kvstudy.analyse.tidy.summary import per_repetition, summarise, throughputs
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.exhibits.figure import DrawnFigure, plot_of, read_figure
from kvstudy.exhibits.table import Table
from kvstudy.layout.grid import Grid
from kvstudy.layout.looks import Style, StyleSheet, styles
from kvstudy.render.html import html
from kvstudy.render.latex import latex
from kvstudy.render.paper import paint
from kvstudy.render.screen import as_json, spec
from kvstudy.study.kinds import FIGURES, TABLES
from kvstudy.study.model import Study
from matplotlib.figure import Figure

from tests.cell_texts import same_cells
from tests.project import ROOT

TITLES = {"redis": "Redis", "riak": r"Riak_%&#\<K>{V}$~^", "memcached": "Memcached"}
MEANINGS = {"redis": {"update": "HSET"}, "riak": {}, "memcached": {"update": "replace"}}
COLORS = {"redis": "#d55e00", "riak": "#cc79a7", "memcached": "#009e73"}
LATENCIES = ["latency_mean", "latency_min", "latency_max", "latency_p95", "latency_p99"]


def study(**changes: object) -> Study:
    example = Study.model_validate(
        {
            "name": "small",
            "title": "Small",
            "question": "Which?",
            "source": {
                "key": "small",
                "author": "A. Nobody",
                "title": "Small",
                "year": 2020,
                "published_as": "Thesis",
                "machine": [
                    {"component": "CPU", "name": "Old", "details": "50 % & more"},
                    {"component": "GPU", "name": "Fast"},
                ],
            },
            "stores": list(TITLES),
            "workloads": ["a", "c", {"name": "insert", "short": "Insert"}],
            "parameters": {"records": 10, "operations": 20},
            "repetitions": 2,
            "tables": [
                {"name": "machine", "kind": "machine", "caption": "Machine"},
                {"name": "one", "kind": "results", "workload": "a", "caption": "A"},
                {"name": "two", "kind": "results", "workload": "c", "caption": "C"},
            ],
            "figures": [
                {
                    "name": "speed",
                    "kind": "bars",
                    "caption": "Speed",
                    "workloads": ["a", "c"],
                    "operation": "overall",
                    "metrics": ["throughput"],
                    "unit": "kops/s",
                },
                {
                    "name": "percentiles",
                    "kind": "bars",
                    "caption": "Percentiles",
                    "workloads": ["a"],
                    "operation": "all",
                    "metrics": ["latency_p95", "latency_p99"],
                    "unit": "ms",
                },
            ],
            **changes,
        }
    )
    return example.with_open_loop() if example.open_loop else example


# Those of cells.csv that the steps behind `kvstudy parse` need.
CELL_COLUMNS = [*CELL, "status", "reason", "invalid", "position", "started"]


def cells(faults: dict[tuple[str, str, int], tuple[str, str, str]] | None = None) -> pd.DataFrame:
    """Two repetitions each; riak is not measured; ``faults`` are status, reason, invalid."""
    rows = []
    for store in TITLES:
        for workload in ("a", "c"):
            for repetition in (1, 2):
                status = ("measured", "", "")
                if store == "riak":
                    status = ("not measured", "no server & no image", "")
                status = (faults or {}).get((store, workload, repetition), status)
                rows.append([store, workload, "r10_o20_t1", str(repetition), *status, "1", ""])
    return pd.DataFrame(rows, columns=CELL_COLUMNS)


def measurements(plan: pd.DataFrame) -> pd.DataFrame:
    """Redis: 2000 and 2200 ops/s, 100 us; Memcached: 1000 and 1020 ops/s, 2000 us."""
    rows = []
    for cell in plan[plan["status"] == "measured"].itertuples():
        key = [cell.store, cell.workload, cell.parameters, cell.repetition, "run"]
        second = cell.repetition == "2"
        fast = cell.store == "redis"
        speed = (2200 if second else 2000) if fast else (1020 if second else 1000)
        rows.append([*key, "overall", "throughput", "ops/s", speed])
        rows.append([*key, "overall", "runtime", "ms", 20e6 / speed])
        rows.append([*key, "overall", "operations", "count", 20_000])
        rows.append([*key, "overall", "failed", "count", 0])
        rows.append([*key, "overall", "goodput", "ops/s", speed])
        for operation in ("read", "update") if cell.workload == "a" else ("read",):
            rows.append([*key, operation, "operations", "count", 10_000])
            for metric in LATENCIES:
                rows.append([*key, operation, metric, "us", 100 if fast else 2000])
    return pd.DataFrame(rows, columns=MEASUREMENTS.columns)


class Part(SimpleNamespace):
    """What is asked of a run, where it follows from its values."""

    @property
    def spread(self) -> Spread:
        return self.spread_of(throughputs(self.values))

    def spread_of(self, values: pd.DataFrame) -> Spread:
        return spread_of(values, self.study.imported is None, self.headline)


def run(**values: object) -> SimpleNamespace:
    """The parts of a run that a table or figure needs; all of its sizes are the headline's."""
    stores = {
        name: SimpleNamespace(
            title=title, color=COLORS[name], operations=MEANINGS[name], kind="memory"
        )
        for name, title in TITLES.items()
    }
    example = {"study": study(), "titles": TITLES, "stores": stores, "scale": 1.0} | values
    example.setdefault("claimed", lambda repetitions, floors: [])
    example.setdefault("headline", dict.fromkeys(example["study"].workload_names, "r10_o20_t1"))
    example.setdefault("compared", [example["study"].store_names])
    example.setdefault("values", _values())
    example.setdefault("other_sizes", set())
    example.setdefault("short", {})
    example.setdefault("several_paths", False)
    if "analysis" in example:
        example.setdefault("headline_analysis", example["analysis"])
    return Part(**example)


@functools.cache
def _values() -> pd.DataFrame:
    return per_repetition(measurements(cells()), cells(), ["a", "c", "insert"])


def figure(kind: str, **keys: object) -> DrawnFigure:
    """A figure of the ``kind``, as a study file with the ``keys`` names it."""
    return FIGURES[kind](**{"name": kind, "kind": kind, "caption": "F"} | keys)


def as_csv(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a figure as its CSV gives them, and as they are drawn."""
    return read_figure(io.StringIO(table.to_csv(index=False)))


def painted(figure: DrawnFigure, table: pd.DataFrame, styles: StyleSheet) -> Figure:
    """The form in print of a ``table`` as its CSV gives it."""
    return paint(plot_of(figure, table, styles))


def chart_text(figure: DrawnFigure, table: pd.DataFrame, styles: StyleSheet) -> str:
    """The form on a page, as its file has it."""
    return as_json(spec(plot_of(figure, table, styles)))


def rows(figure: DrawnFigure, rounds: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """What a figure shows of measured and of published rounds."""
    values = {"analysis": SimpleNamespace(rounds=rounds)}
    return figure.rows(run(swept=SimpleNamespace(published=published), **values))


def bars(figure: DrawnFigure, of: Study, results: Results) -> pd.DataFrame:
    """What a figure shows of the ``results``."""
    return figure.rows(run(study=of, results=results))


def looked(stores: dict[str, Style] | None = None, of: Study | None = None) -> StyleSheet:
    """How figures of the study ``of`` look."""
    return StyleSheet(of or study(), stores or styles(TITLES, COLORS))


def table(kind: str, **keys: object) -> Table:
    """A table of the ``kind``, as a study file with the ``keys`` names it."""
    return TABLES[kind](name=kind, kind=kind, caption="A table", **keys)


def grid_of(of: Table, run: SimpleNamespace) -> Grid:
    """The only one that the table ``of`` shows of the run."""
    (example,) = of.grids(of.rows(run), run)
    return example


def both(grid: Grid) -> tuple[str, str]:
    """A grid as LaTeX and as HTML, which have the same cells."""
    with contextlib.chdir(ROOT):
        tex, page = latex([grid]), html([grid], "checks")
    same_cells(tex, page)
    return tex, page


PUBLISHED = """\
study,table,store,workload,operation,metric,unit,value
small,Table 1,redis,a,overall,throughput,ops/s,4801.04
small,Table 1,riak,a,overall,throughput,ops/s,1283.98
small,Table 1,memcached,a,overall,throughput,ops/s,
small,Table 1,redis,a,read,operations,count,500157
small,Table 1,redis,a,read+update,operations,count,1000000
small,Table 1,redis,a,read+update,latency_mean,us,830.45
small,Table 1,redis,a,read+update,latency_p95,us,1273
small,Table 1,riak,a,read+update,latency_p95,us,6757
small,Table 1,memcached,a,read+update,latency_p95,us,1386.33
small,Table 1,redis,a,read+update,latency_p99,us,1904.5
small,Table 1,riak,a,read+update,latency_p99,us,11865.67
small,Table 1,memcached,a,read+update,latency_p99,us,1848.33
"""


def swept(of: Study) -> Swept:
    """Values of the study ``of`` at all of its sizes: none."""
    plan = cells()
    return Swept(of, 1.0, summarise(measurements(plan), plan, of.store_names, []), plan, None)


def results(
    faults: dict[tuple[str, str, int], tuple[str, str, str]] | None = None, source: bool = True
) -> Results:
    plan = cells(faults)
    summary = summarise(measurements(plan), plan, list(TITLES), ["a", "c", "insert"])
    published = pd.read_csv(io.StringIO(PUBLISHED)).assign(inconsistent=False) if source else None
    runs = per_repetition(measurements(plan), plan, ["a", "c", "insert"])
    return Results(summary, plan, published, lambda: runs)


def analysis(
    faults: dict[tuple[str, str, int], tuple[str, str, str]] | None = None, **tables: object
) -> Analysis:
    """Of the made-up values, with these ``tables`` in place of its own."""
    # The others are computed once.
    return Analysis(**vars(_analysis(tuple((faults or {}).items()))) | tables)


@functools.cache
def _analysis(faults: tuple) -> Analysis:
    return analysis_of(cells(dict(faults)), measurements(cells(dict(faults))))


def analysis_of(plan: pd.DataFrame, measured: pd.DataFrame) -> Analysis:
    """Of these values; they have neither seconds nor histograms nor counters."""
    run = Run("small", study())
    empty = {table.name: table.frame() for table in (SERIES, OUTCOMES, ROUNDS)}
    selected = {
        "cells": plan,
        "measurements": measured,
        "probes": probes(),
        "open_loop": open_loop.OpenLoopTables(*(table.frame() for table in open_loop.TABLES)),
        "pooled_latencies": {},
    }
    values = per_repetition(measured, plan, ["a", "c", "insert"])
    # In place of what is read from files.
    vars(run).update(**empty, **selected, values=values)
    return analyse(run)


FACTS = Path(__file__).parents[1] / "data" / "probes"


def probes() -> Probes:
    """What was found on real servers of Redis and Memcached; there is none of riak."""
    nothing = {"step": "", "name": "", "reason": ""}
    rows = [nothing | {"store": "riak", "kind": "none", "reason": "no server & no image"}]
    for store in ("redis", "memcached"):
        facts = json.loads((FACTS / f"{store}.json").read_text())
        rows += [nothing | {"store": store} | row for row in rows_of(facts)]
    return Probes(pd.DataFrame(rows))
