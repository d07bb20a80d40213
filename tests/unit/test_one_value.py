"""One number has one value: what several tables, figures and sentences print of the reference."""

from __future__ import annotations

import re
from io import BytesIO
from zipfile import ZipFile

import pandas as pd
import pytest
from kvstudy.layout.numbers import significant

from tests.project import ROOT

RUN = "jedlicka2024"
CELL = ["workload", "parameters"]


@pytest.fixture(scope="module")
def packed():
    """A function that reads a CSV file, or a text, of the archive."""
    with ZipFile(ROOT / f"reference/{RUN}.zip") as archive:

        def read(path: str) -> pd.DataFrame | str:
            content = archive.read(path)
            return pd.read_csv(BytesIO(content)) if path.endswith(".csv") else content.decode()

        yield read


def one_ratio(rows: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """``rows`` with each pair in the order of its names: ratio, low, high."""
    swap = rows[first] > rows[second]
    turned = rows.assign(
        **{first: rows[second], second: rows[first], "ratio": 1 / rows["ratio"]},
        **{"low": 1 / rows["high"], "high": 1 / rows["low"]},
    )
    both = pd.concat([rows[~swap], turned[swap]])
    return both.set_index([*CELL, first, second])[["ratio", "low", "high"]].sort_index()


def test_ratios_of_stores(packed):
    table = one_ratio(packed(f"results/{RUN}/tables/ratios.csv"), "faster", "slower")
    drawn = one_ratio(packed(f"figures/{RUN}/ratios.csv"), "one", "other")
    pd.testing.assert_frame_equal(table, drawn, check_names=False)
    grid = packed(f"results/{RUN}/tables/grid.csv")
    grid = grid.query("metric == 'throughput' and store != baseline")
    grid = one_ratio(grid[grid["parameters"].notna()], "store", "baseline")
    grid = grid[~grid.index.duplicated()]
    # Of all workloads together it has the geometric mean of their ratios, and calls it so.
    common = grid.drop(index="mean").index.intersection(table.index)
    assert len(common) == 24
    pd.testing.assert_frame_equal(grid.loc[common], table.loc[common], check_names=False)


def test_percentiles(packed):
    keys = ["store", *CELL, "operation"]
    table = packed(f"results/{RUN}/tables/percentiles.csv").query("percent == 99")
    table = table.set_index(keys)["value"]
    grid = packed(f"results/{RUN}/tables/grid.csv").dropna(subset="p99").set_index(keys)["p99"]
    drawn = packed(f"figures/{RUN}/tradeoff.csv").set_index(keys)["latency"]
    for other in (grid, drawn):
        assert len(other) >= 15
        assert other.to_dict() == table[other.index].to_dict()


def test_throughputs(packed):
    """Plain means in what reproduces the source's tables, geometric ones everywhere else."""
    drawn = packed(f"figures/{RUN}/throughput.csv").query("panel == 'measured'")
    ranks = packed(f"results/{RUN}/tables/ranking.csv").set_index(["workload", "store"])
    runs = packed(f"results/{RUN}/tables/runs.csv").query("metric == 'throughput'")
    summary = packed(f"results/{RUN}/summary.csv").query("metric == 'throughput'")
    summary = summary.set_index(["store", *CELL])
    geometric = runs.set_index(["store", *CELL])["value"]
    assert geometric.to_dict() == pytest.approx(summary["geometric"][geometric.index].to_dict())
    shown = packed(f"results/{RUN}/tables/grid.csv")["parameters"].dropna().unique()
    for name, table in (("a", "workload-a"), ("c", "workload-c"), ("insert", "insert-only")):
        rows = packed(f"results/{RUN}/tables/{table}.csv").query("metric == 'throughput'")
        means = rows.set_index("store")["mean"]
        assert means.to_dict() == pytest.approx(ranks.loc[name, "throughput"].to_dict(), rel=1e-12)
        bars = drawn[drawn["group"].str.lower() == name].set_index("store")["value"] * 1000
        selected = geometric[geometric.index.isin(shown, level="parameters")].xs(
            name, level="workload"
        )
        selected = selected.droplevel("parameters")
        assert bars.to_dict() == pytest.approx(selected[bars.index].to_dict(), rel=1e-12)
        # A geometric mean is below the plain one.
        assert (bars < means[bars.index]).all()
    points = packed(f"figures/{RUN}/tradeoff.csv").set_index(["store", *CELL])["throughput"]
    assert geometric[points.index].equals(points.rename("value"))


def test_numbers_of_sentences(packed):
    """Each ratio with an interval in the text is one of the tables."""
    body = packed(f"results/{RUN}/report/body.tex")
    interval = r"\((?:95\\,\\% interval )?([\d.]+) to ([\d.]+)\)"
    said = re.findall(rf"([\d.]+) times(?: the throughput of \w+)?(?: in \w+)? {interval}", body)
    # All that the text has: the rest is left to the tables.
    assert len(said) == len(re.findall(interval, body)) >= 4
    rows = packed(f"results/{RUN}/tables/ratios.csv")
    known = set()
    for row in rows.itertuples():
        known.add((row.ratio, row.low, row.high))
        known.add((1 / row.ratio, 1 / row.high, 1 / row.low))
    assert set(said) <= {tuple(map(significant, of)) for of in known}
