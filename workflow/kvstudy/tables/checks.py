"""Tables that say how far the values can be trusted: ratios, percentiles, runs.

Each is made from a table of the run's analysis, which is also its CSV.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from kvstudy.analysis.files import Analysis
from kvstudy.study.model import MEAN, Study
from kvstudy.tables.latex import grey
from kvstudy.tidy.numbers import grouped, share, significant

DASH = "--"
TIE = "~"
EQUAL = "="
BOUND = "\N{DAGGER}"
SHOWN_PERCENTS = [50.0, 95.0, 99.0, 99.9]
# Columns of ratios that fit the width of a page.
MOST_COLUMNS = 6
NOISY = 0.10
KEYS = ["store", "workload", "parameters"]


@dataclass
class Line:
    label: str
    cells: list[str]


@dataclass
class Section:
    title: str
    lines: list[Line]


Grid = dict[str, object]


def ratios(analysis: Analysis, study: Study, titles: dict[str, str]) -> Grid:
    """Throughput of one store by another's: a line per pair, a column per workload."""
    pairs, floor = analysis.pairs, analysis.floor
    bound = set(
        analysis.bottleneck.query("client_bound == 'yes'")[KEYS].itertuples(index=False, name=None)
    )
    names = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
    shown = [
        (name, parameters)
        for name in names
        for parameters in pairs.loc[pairs["workload"] == name, "parameters"].unique()
    ][:MOST_COLUMNS]
    sections = []
    if len(floor):
        store = titles[floor["store"].iloc[0]]
        cells = [_floor(floor, *column) for column in shown]
        sections.append(Section("Noise floor", _two_lines(f"{store} / {store}", cells)))
    lines: list[Line] = []
    for one, other in combinations(study.store_names, 2):
        cells = [_ratio(pairs, *column, one, other, bound) for column in shown]
        if any(first != DASH for first, _ in cells):
            lines += _two_lines(f"{titles[one]} / {titles[other]}", cells)
    sections.append(Section("Two stores" if sections else "", lines))
    return {
        "columns": [study.workload(name).short for name, _ in shown],
        "sections": sections,
        "notes": [
            "Ratio of the mean throughputs (geometric, paired by repetition), below it the 95 % "
            f"interval. {TIE}: the runs do not tell the two apart (Holm's correction for the "
            f"number of pairs of a workload). {EQUAL}: equal, the whole interval is within "
            "±10 %. Grey: not above the noise floor. "
            f"{BOUND}: the client limits one of the two."
        ],
    }


def _two_lines(label: str, cells: list[tuple[str, str]]) -> list[Line]:
    return [
        Line(label, [first for first, _ in cells]),
        Line("", [second for _, second in cells]),
    ]


def _floor(floor: pd.DataFrame, workload: str, parameters: str) -> tuple[str, str]:
    rows = floor[(floor["workload"] == workload) & (floor["parameters"] == parameters)]
    for row in rows.itertuples():
        return significant(row.ratio), _interval(row.low, row.high)
    return DASH, ""


def _interval(low: float, high: float) -> str:
    return "one run" if pd.isna(low) else f"{significant(low)} to {significant(high)}"


def _ratio(
    pairs: pd.DataFrame,
    workload: str,
    parameters: str,
    one: str,
    other: str,
    bound: set[tuple[str, str, str]],
) -> tuple[str, str]:
    """The ratio one/other with its marks, and the interval below it."""
    rows = pairs[(pairs["workload"] == workload) & (pairs["parameters"] == parameters)]
    for row in rows.itertuples():
        if {row.faster, row.slower} != {one, other}:
            continue
        low, value, high = row.low, row.ratio, row.high
        if row.faster == other:
            low, value, high = 1 / high, 1 / value, 1 / low
        marks = TIE * (row.tied == "yes") + EQUAL * (row.equal == "yes")
        if any((store, workload, parameters) in bound for store in (one, other)):
            marks += BOUND
        text, interval = f"{significant(value)} {marks}".rstrip(), _interval(low, high)
        if row.in_floor == "yes":
            return grey(text), grey(interval)
        return text, interval
    return DASH, ""


def percentiles(found: pd.DataFrame, workload: str, titles: dict[str, str]) -> Grid:
    """Percentiles of all repetitions of ``workload`` together."""
    sections = []
    for parameters, rows in _groups(found, workload):
        lines = []
        for (store, operation), group in rows.groupby(["store", "operation"], sort=False):
            by_percent = group.set_index("percent")
            cells = [_percentile(by_percent, percent) for percent in SHOWN_PERCENTS]
            lines.append(Line(f"{titles[store]}, {operation}", cells))
        sections.append(Section(parameters, lines))
    return {
        "columns": [f"{percent:g} %" for percent in SHOWN_PERCENTS],
        "sections": sections,
        "notes": [
            "Service time in µs that this share of the operations does not exceed, from the "
            "histograms of all repetitions added up; in brackets the range of the single runs. "
            "A percentile with fewer than 100 operations beyond it is left out. Closed loop: a "
            "thread waits for each answer."
        ],
    }


def _percentile(by_percent: pd.DataFrame, percent: float) -> str:
    if percent not in by_percent.index or by_percent.loc[percent, "beyond"] < 100:
        return DASH
    row = by_percent.loc[percent]
    value, low, high = (grouped(f"{row[name]:.0f}") for name in ("value", "low", "high"))
    return f"{value} ({low}\N{EN DASH}{high})" if row["n"] > 1 else value


def runs(
    intervals: pd.DataFrame, steadiness: pd.DataFrame, workload: str, titles: dict[str, str]
) -> Grid:
    """Interval, spread, warm-up and CPU of the runs of ``workload``."""
    overall = intervals[intervals["operation"] == "overall"]
    sections = []
    for parameters, rows in _groups(overall, workload):
        lines = []
        for store, group in rows.groupby("store", sort=False):
            by_metric = group.set_index("metric")
            seconds = steadiness.merge(group[KEYS].drop_duplicates(), on=KEYS)
            lines.append(Line(titles[store], _run_cells(by_metric, seconds)))
        sections.append(Section(parameters, lines))
    return {
        "columns": ["Throughput (ops/s)", "95 % interval", "CoV", "Client", "Server", "Steady"],
        "sections": sections,
        "notes": [
            "Throughput: geometric mean of the runs with its 95 % interval (t on logarithms). "
            "CoV: standard deviation by mean. Client, Server: CPU time of one operation in µs. "
            "Steady: runs that have a steady state after their warm-up, of all runs; too short: "
            "less than 30 s remain, so nothing can be said."
        ],
    }


def _run_cells(by_metric: pd.DataFrame, seconds: pd.DataFrame) -> list[str]:
    if "throughput" not in by_metric.index:
        return [DASH] * 6
    row = by_metric.loc["throughput"]
    interval = "one run"
    if not pd.isna(row["low"]):
        interval = f"{grouped(significant(row['low']))} to {grouped(significant(row['high']))}"
    spread = DASH
    if not pd.isna(row["cov"]):
        spread = share(row["cov"]) + (" !" if row["cov"] > NOISY else "")
    return [
        grouped(significant(row["value"])),
        interval,
        spread,
        *(_cpu(by_metric, side) for side in ("client_cpu", "server_cpu")),
        _steady(seconds["verdict"].tolist()),
    ]


def _cpu(by_metric: pd.DataFrame, metric: str) -> str:
    return significant(by_metric.loc[metric, "value"]) if metric in by_metric.index else DASH


def _steady(verdicts: list[str]) -> str:
    if not verdicts:
        return DASH
    short = sum(verdict == "too short to judge" for verdict in verdicts)
    if short == len(verdicts):
        return "too short"
    return f"{sum(verdict == 'steady' for verdict in verdicts)} of {len(verdicts)}"


def _groups(frame: pd.DataFrame, workload: str) -> list[tuple[str, pd.DataFrame]]:
    """The rows of ``workload`` by their parameters, which have a name only if there are several."""
    groups = list(frame[frame["workload"] == workload].groupby("parameters", sort=False))
    return groups if len(groups) > 1 else [("", rows) for _, rows in groups]
