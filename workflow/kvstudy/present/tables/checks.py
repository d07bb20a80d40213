"""Tables that say how far the values can be trusted: ratios, percentiles, runs.

Each is made from a table of the run's analysis, which is also its CSV.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import between, grouped, share, significant
from kvstudy.analyse.tidy.results import Results
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.present.tables.markup import grey, marked, stacked
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.ratios import Decision
from kvstudy.stats.warmup import STEADY_SECONDS, Steadiness
from kvstudy.study.metrics import LATENCIES, METRICS
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

DASH = "\N{EN DASH}"
TIE = "~"
EQUAL = "="
BOUND = "\N{DAGGER}"
SHOWN_PERCENTS = [50.0, 95.0, 99.0, 99.9]
# The mean of fewer whole seconds says nothing of a run.
FEWEST_WHOLE = 3
# Columns of ratios that fit the width of a page.
MOST_COLUMNS = 6
# Of those whose headings have parameters.
MOST_WITH_PARAMETERS = 4
# The percentages of which sources publish averages, by what they are called in summary.csv.
AVERAGED = {METRICS[name].percent: name for name in LATENCIES if METRICS[name].percent}
RUN_COLUMNS = [
    *[N_("Ops/s"), N_("95 % interval"), N_("CoV"), N_("Whole"), N_("Rest"), N_("Cut")],
    *[N_("Client"), N_("Server"), N_("Steady")],
]


@dataclass
class Line:
    """A label and the cells to its right; ``value`` is the label's, if it is a number.

    ``store`` (or several with spaces between) and ``workload`` are what the line is of.
    """

    label: str
    cells: list[str]
    store: str = ""
    workload: str = ""
    value: float | None = None


@dataclass
class Section:
    """Lines below a title; ``columns`` are given where they are others than before."""

    title: str
    lines: list[Line]
    columns: list[str] | None = None
    workload: str = ""


@dataclass
class Part:
    """Sections with the same columns, below one head."""

    columns: list[str]
    sections: list[Section]


Grid = dict[str, object]


def parts(grid: Grid) -> list[Part]:
    """What a table is on paper: its ``blocks``, where it has some, or else its sections."""
    sections = grid.get("blocks", grid["sections"])
    by_columns = groupby(sections, lambda section: section.columns or grid["columns"])
    return [Part(columns, list(some)) for columns, some in by_columns]


def ratios(analysis: Analysis, study: Study, titles: dict[str, str]) -> Grid:
    """Throughput of one store by another's: a line per pair, a column per workload.

    On paper (``blocks``) columns that do not fit beside the others stand below them.
    """
    pairs, floor = analysis.pairs, analysis.floor
    bound = set(
        analysis.bottleneck.query("client_bound == 'yes'")[SETTING].itertuples(
            index=False, name=None
        )
    )
    names = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
    shown = [
        (name, parameters)
        for name in names
        for parameters in pairs.loc[pairs["workload"] == name, "parameters"].unique()
    ]
    # As many in each block, or one fewer.
    several = len({name for name, _ in shown}) < len(shown)
    most = MOST_WITH_PARAMETERS if several else MOST_COLUMNS
    blocks = max(1, -(-len(shown) // most))
    ends = [len(shown) * block // blocks for block in range(blocks + 1)]

    def sections(some: list[tuple[str, str]]) -> list[Section]:
        columns = [_heading(study, shown, *column) for column in some]
        found = []
        if len(floor):
            store = floor["store"].iloc[0]
            cells = [_floor(floor, *column) for column in some]
            lines = _two_lines(_("{} by itself").format(titles[store]), cells, store)
            found.append(Section(_("Noise floor"), lines, columns))
        lines = []
        for one, other in combinations(study.store_names, 2):
            cells = [_ratio(pairs, *column, one, other, bound) for column in some]
            if any(first != DASH for first, _ in cells):
                lines += _two_lines(f"{titles[one]} / {titles[other]}", cells, f"{one} {other}")
        return [*found, Section(_("Two stores") if len(floor) else "", lines, columns)]

    whole = sections(shown)
    return {
        "columns": whole[0].columns,
        "sections": whole,
        "blocks": [each for start, end in pairwise(ends) for each in sections(shown[start:end])],
        "notes": [
            _(
                "Ratio of the mean throughputs (geometric, {}), below it the 95 % interval. {}: "
                "undecided (Holm's correction for the number of pairs of a workload), with the "
                "number of runs that would decide in brackets. "
                "{}: equal, the whole interval is within ±10\N{NO-BREAK SPACE}%. "
                "Grey: not above the noise floor. {}: the client limits one of the two."
            ).format(_pairing(study), TIE, EQUAL, BOUND)
        ],
    }


def _heading(study: Study, shown: list[tuple[str, str]], name: str, parameters: str) -> str:
    """The workload's short name, with its parameters below it if it has several."""
    text = study.workload(name).short
    if sum(other == name for other, _ in shown) > 1:
        text = stacked(text, parameters)
    return marked(text, workload=name)


def _two_lines(label: str, cells: list[tuple[str, str]], store: str) -> list[Line]:
    """One line, and a second one below it if any cell has something there."""
    first, second = ([cell[place] for cell in cells] for place in (0, 1))
    return [Line(label, first, store), *([Line("", second, store)] if any(second) else [])]


def _floor(floor: pd.DataFrame, workload: str, parameters: str) -> tuple[str, str]:
    rows = floor[(floor["workload"] == workload) & (floor["parameters"] == parameters)]
    for row in rows.itertuples():
        return marked(significant(row.ratio), row.ratio), _interval(row.low, row.high)
    return DASH, ""


def _interval(low: float, high: float) -> str:
    return _("one run") if pd.isna(low) else between(significant(low), significant(high))


def interval_head() -> str:
    """The head of intervals, whose number stays with its sign."""
    return _("95 % interval").replace(" %", "\N{NARROW NO-BREAK SPACE}%")


def _pairing(study: Study) -> str:
    return _("not paired, by Welch's method") if study.imported else _("paired by repetition")


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
        marks = {Decision.UNDECIDED: TIE, Decision.EQUAL: EQUAL}.get(row.decision, "")
        if pd.notna(row.would_decide):
            marks += f" ({row.would_decide:.0f})"
        if any((store, workload, parameters) in bound for store in (one, other)):
            marks += BOUND
        text = marked(f"{significant(value)} {marks}".rstrip(), value)
        interval = _interval(low, high)
        if row.in_floor == "yes":
            return grey(text), grey(interval)
        return text, interval
    return DASH, ""


def with_averages(found: pd.DataFrame, results: Results) -> pd.DataFrame:
    """The percentiles of one workload with one more column, ``mean_of_runs`` (us).

    That is the plain mean of the values of the single runs, as sources print it; NaN
    where no percentiles of that workload were published, and for other percentages.
    """
    names = {
        (store, operation, metric)
        for store in found["store"].unique()
        for workload in found["workload"].unique()
        for operation in results.operations(workload)
        for metric in AVERAGED.values()
        if results.published(store, workload, operation, metric) is not None
    }
    if not names:
        return found.assign(mean_of_runs=float("nan"))
    means = []
    for row in found.itertuples():
        metric = AVERAGED.get(row.percent, "")
        value = results.measured(row.store, row.workload, row.operation, metric)
        means.append(float("nan") if value is None else value.mean)
    return found.assign(mean_of_runs=means)


def percentiles(found: pd.DataFrame, workload: str, titles: dict[str, str]) -> Grid:
    """Percentiles of all repetitions of ``workload`` together.

    ``found`` has a column ``mean_of_runs`` (``with_averages``); where it has values
    they stand beside the percentile.
    """
    averaged = found.dropna(subset="mean_of_runs")["percent"].unique()
    columns = [_percent(percent) for percent in SHOWN_PERCENTS]
    for percent in averaged:
        title = stacked(_("mean of the"), _("runs' values"))
        columns.insert(columns.index(_percent(percent)) + 1, title)
    sections = []
    for parameters, rows in _groups(found, workload):
        lines = []
        for (store, operation), group in _by_store(rows, titles, "operation"):
            by_percent = group.set_index("percent")
            cells = []
            for percent in SHOWN_PERCENTS:
                cells.append(_percentile(by_percent, percent))
                if percent in averaged:
                    cells.append((_average(by_percent, percent), ""))
            lines += _two_lines(f"{titles[store]}, {operation_word(operation)}", cells, store)
        sections.append(Section(parameters, lines))
    if not sections:
        lines = [Line(_("no run has a histogram"), [DASH] * len(columns))]
        sections.append(Section("", lines))
    notes = [
        _(
            "Service time in µs that this share of the operations does not exceed, from the "
            "histograms of all repetitions added up; below it the range of the single runs. "
            "A percentile with fewer than {} operations beyond it is left out. Closed loop: a "
            "thread waits for each answer."
        ).format(ENOUGH_BEYOND)
    ]
    if len(averaged):
        notes.append(
            _(
                "Mean of the runs' values: the plain mean of what the single runs have as the "
                "percentile to its left, which is what the source gives. It is no percentile of "
                "any set of operations, and stands here to compare with the source."
            )
        )
    return {"columns": columns, "sections": sections, "notes": notes}


def _percent(percent: float) -> str:
    return decimal(f"{percent:g} %")


def operation_word(operation: str) -> str:
    """``read`` or ``read+update`` as people read it."""
    return "+".join(_(name) for name in operation.split("+"))


def _average(by_percent: pd.DataFrame, percent: float) -> str:
    if percent not in by_percent.index or pd.isna(by_percent.loc[percent, "mean_of_runs"]):
        return DASH
    value = by_percent.loc[percent, "mean_of_runs"]
    return marked(grouped(f"{value:.0f}"), value)


def _percentile(by_percent: pd.DataFrame, percent: float) -> tuple[str, str]:
    if percent not in by_percent.index or by_percent.loc[percent, "beyond"] < ENOUGH_BEYOND:
        return DASH, ""
    row = by_percent.loc[percent]
    value, low, high = (grouped(f"{row[name]:.0f}") for name in ("value", "low", "high"))
    value = marked(value, row["value"])
    return value, f"{low}\N{EN DASH}{high}" if row["n"] > 1 else ""


def runs(
    intervals: pd.DataFrame, steadiness: pd.DataFrame, workload: str, titles: dict[str, str]
) -> Grid:
    """Interval, spread, warm-up and CPU of the runs of ``workload``."""
    overall = intervals[intervals["operation"] == "overall"]
    sections, restless = [], []
    for parameters, rows in _groups(overall, workload):
        lines = []
        for (store,), group in _by_store(rows, titles):
            by_metric = group.set_index("metric")
            seconds = steadiness.merge(group[SETTING].drop_duplicates(), on=SETTING)
            lines.append(Line(titles[store], _run_cells(by_metric, seconds), store))
            unsteady = (seconds["verdict"] == Steadiness.NOT_STEADY).sum()
            if unsteady:
                restless.append(
                    ngettext("{} ({} of {} runs)", "{} ({} of {} runs)", len(seconds)).format(
                        titles[store], unsteady, len(seconds)
                    )
                )
        sections.append(Section(parameters, lines))
    if not sections:
        sections.append(Section("", [Line(_("no valid run"), [DASH] * len(RUN_COLUMNS))]))
    notes = [
        _(
            "Ops/s: geometric mean of the runs with its 95 % interval (t on logarithms). "
            "CoV: standard deviation by mean. Whole, Rest: mean ops/s in the whole seconds of the "
            "runs, and in those after the warm-up, which took Cut seconds (means over the runs "
            "with at least {} whole seconds). Client, Server: CPU time of one operation in µs. "
            "Steady: runs that have a steady state after their warm-up, of all runs; too short: "
            "less than {} s remain, so nothing can be said."
        ).format(FEWEST_WHOLE, STEADY_SECONDS)
    ]
    if restless:
        # Next to the marks, since they say that a mean hides a change.
        notes.append(_("! No steady state: {}.").format(", ".join(restless)))
    columns = [_(column) for column in RUN_COLUMNS]
    return {"columns": columns, "sections": sections, "notes": notes, "sortable": True}


def _run_cells(by_metric: pd.DataFrame, seconds: pd.DataFrame) -> list[str]:
    if "throughput" not in by_metric.index:
        return [DASH] * len(RUN_COLUMNS)
    row = by_metric.loc["throughput"]
    interval = _("one run")
    if not pd.isna(row["low"]):
        interval = between(*(grouped(significant(row[name])) for name in ("low", "high")))
    spread = DASH
    if not pd.isna(row["cov"]):
        spread = marked(share(row["cov"]) + (" !" if row["cov"] > NOISY else ""), row["cov"])
    return [
        marked(grouped(significant(row["value"])), row["value"]),
        interval,
        spread,
        *_parts(seconds),
        *(_cpu(by_metric, side) for side in ("client_cpu", "server_cpu")),
        _steady(seconds["verdict"].tolist()),
    ]


def _cpu(by_metric: pd.DataFrame, metric: str) -> str:
    if metric not in by_metric.index:
        return DASH
    value = by_metric.loc[metric, "value"]
    return marked(significant(value), value)


def _parts(seconds: pd.DataFrame) -> list[str]:
    """Mean of whole runs, of what follows the warm-up, and the warm-up in s."""
    if seconds.empty:
        return [DASH] * 3
    seconds = seconds[seconds["seconds"] >= FEWEST_WHOLE].dropna(subset=["whole", "steady"])
    if seconds.empty:
        return [DASH] * 3
    whole, steady = (grouped(significant(seconds[name].mean())) for name in ("whole", "steady"))
    if not (seconds["cut"] > 0).any():
        # Nothing was cut off, so there is no other value.
        return [whole, DASH, "0"]
    return [whole, steady, f"{seconds['cut'].mean():.0f}"]


def _steady(verdicts: list[str]) -> str:
    if not verdicts:
        return DASH
    if all(verdict == Steadiness.TOO_SHORT for verdict in verdicts):
        return _("too short")
    steady = sum(verdict == Steadiness.STEADY for verdict in verdicts)
    flag = " !" if Steadiness.NOT_STEADY in verdicts else ""
    return _("{} of {}").format(steady, len(verdicts)) + flag


def _by_store(rows: pd.DataFrame, titles: dict[str, str], *more: str) -> Iterator[tuple]:
    """The groups of ``rows`` by store (and ``more``), the stores as in ``titles``."""
    for store in titles:
        yield from rows[rows["store"] == store].groupby(["store", *more], sort=False)


def by_workload(frame: pd.DataFrame, study: Study) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each workload and its parameters, with the title of their section."""
    return [
        (f"{use.title}, {parameters}" if parameters else use.title, rows)
        for use in study.workloads
        for parameters, rows in _groups(frame, use.name)
    ]


def _groups(frame: pd.DataFrame, workload: str) -> list[tuple[str, pd.DataFrame]]:
    """The rows of ``workload`` by their parameters, which have a name only if there are several."""
    groups = list(frame[frame["workload"] == workload].groupby("parameters", sort=False))
    return groups if len(groups) > 1 else [("", rows) for _, rows in groups]
