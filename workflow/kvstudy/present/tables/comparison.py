"""Table that compares one store with another: throughput per workload, and what failed."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, change, grouped, share
from kvstudy.analyse.tidy.summary import OPERATIONS
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked, rejected_note, with_mark
from kvstudy.present.typeset.source import label_of
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table, interval_head
from kvstudy.stats.ratios import paired_ratio, unpaired_ratio
from kvstudy.study.base import Name
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.results import Results
    from kvstudy.present.typeset.source import Source
    from kvstudy.study.model import Study

COLUMNS = [
    *["workload", "repetitions", "baseline", "store", "change", "low", "high"],
    *["failed_operation", "failed_baseline", "failed_store"],
    *["published_baseline", "published_store", "published_change"],
    *["published_failed_baseline", "published_failed_store"],
    *["rejected_baseline", "rejected_store", "floor", "note"],
]
# Of what a share failed.
KINDS = {
    "read": N_("reads"),
    "update": N_("updates"),
    "insert": N_("inserts"),
    "scan": N_("scans"),
    "read-modify-write": N_("read-modify-writes"),
}
SINGLE_OPERATIONS = [name for name in OPERATIONS if name != "overall"]


class ComparisonTable(Table):
    """Throughput and failed operations of one store against another, per workload."""

    controls = "noise floor"

    kind: Literal["comparison"] = Field(
        description="Throughput and failed operations of one store against another."
    )
    baseline: Name = Field(description="The store that is the 100 %.")
    store: Name = Field(description="The store that is compared with it.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload, then the mean of all workloads.

        ``baseline`` and ``store`` are mean throughputs in ops/s over the
        ``repetitions`` that both have; of imported logs, whose repetitions only share a
        number, over all runs of each (``repetitions``: of the one that has fewer).
        ``change`` is the ratio of their geometric means less one, ``low`` and ``high`` its
        95 % interval (NaN for fewer than two), paired by repetition but for imported logs.
        ``failed_*`` are shares (0 to 1) of the operations of the kind ``failed_operation``
        that failed, the kind that failed most. ``floor`` is the noise floor of the workload
        (``findings.pairs.floors``): what changes by a smaller factor could be one store. A value
        that does not exist is NaN.
        """
        study, floor = run.study, run.headline_analysis.floor.set_index("workload")["floor"]
        workloads = study.workload_names + ([MEAN] if len(study.workloads) > 1 else [])
        rows = [_row(self, study, run.results, name) for name in workloads]
        frame = pd.DataFrame(rows, columns=COLUMNS)
        return frame.assign(floor=frame["workload"].map(floor))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per workload, below it what the source published."""
        lines = []
        for row in rows.itertuples():
            title = run.study.workload(row.workload).title
            lines.append(Line(title, _here(row), workload=row.workload))
            if any(there := _there(row)):
                cells = [cell or DASH for cell in there]
                line = Line(_("published"), cells, workload=row.workload, published=True)
                lines.append(line)
        groups = [(_("Throughput (ops/s)"), 2), (pgettext("of throughput", "Change"), 2)]
        both = [marked(run.titles[name], store=name) for name in (self.baseline, self.store)]
        columns = [*both, pgettext("of ratios", "mean"), interval_head(), *both]
        notes = _notes(rows, run.study)
        groups.append((_("Failed"), 2))
        return [
            Grid(
                columns,
                [Section("", lines)],
                notes,
                groups=groups,
                paper=Paper(gap=".22em", head=20),
            )
        ]

    def published_rows(self, source: Source) -> pd.Series:
        """All values of the two stores that it is about, wherever they were published."""
        values = source.values
        of_both = values["store"].isin([self.baseline, self.store])
        speed = (values["operation"] == "overall") & (values["metric"] == "throughput")
        return of_both & (speed | values["metric"].isin(["throughput_change", "failed_share"]))

    def published_grid(self, source: Source) -> Grid | None:
        """A line per workload, a column per metric and store."""
        values = source.values[self.published_rows(source)].dropna(subset="value")
        if values.loc[values["store"] == self.store].empty:
            return None
        columns = [
            (metric, store)
            for metric in ("throughput", "throughput_change", "failed_share")
            for store in (self.baseline, self.store)
            if not values.query("metric == @metric and store == @store").empty
        ]
        by_key = {(row.workload, row.metric, row.store): row for row in values.itertuples()}
        lines = []
        for name in [*source.study.workload_names, MEAN]:
            cells = [by_key.get((name, *column)) for column in columns]
            if any(cells):
                title = source.study.workload(name).title
                lines.append(Line(title, [source.cell(row) for row in cells]))
        heads = {row.metric: label_of(row) for row in values.itertuples()}
        places = ", ".join(sentence(table) for table in dict.fromkeys(values["table"]))
        notes = [_("From: {}.").format(places)]
        failing = [row.operation for row in values.itertuples() if row.metric == "failed_share"]
        if failing:
            kinds = list_of(_(operation) for operation in dict.fromkeys(failing))
            notes.append(_("Failed: share of the {} operations.").format(kinds))
        titles = [(heads[metric], source.title(store)) for metric, store in columns]
        stores = [store for _, store in columns]
        return source.table(titles, [Section("", lines)], notes=notes, stores=stores)


def _row(
    table: ComparisonTable, study: Study, results: Results, workload: str
) -> dict[str, object]:
    both = [table.baseline, table.store]
    runs = [results.runs(store, workload, "overall", "throughput") for store in both]
    if not study.imported:
        shared = sorted(set(runs[0]) & set(runs[1]))
        runs = [{repetition: of[repetition] for repetition in shared} for of in runs]
    number = min(len(of) for of in runs)
    means = [fmean(of.values()) if number else math.nan for of in runs]
    row = dict.fromkeys(COLUMNS, math.nan) | {
        "workload": workload,
        "repetitions": number,
        "baseline": means[0],
        "store": means[1],
        "failed_operation": "",
        "note": _note(table, results, workload),
    }
    if number:
        ratio = (
            unpaired_ratio(runs[1].values(), runs[0].values())
            if study.imported
            else paired_ratio(runs[1], runs[0])
        )
        row["change"] = ratio.value - 1
        if ratio.low is not None:
            row |= {"low": ratio.low - 1, "high": ratio.high - 1}
    shares = {
        operation: [results.failed_share(store, workload, operation) for store in both]
        for operation in SINGLE_OPERATIONS
    }
    shares = {name: of for name, of in shares.items() if None not in of}
    if shares:
        worst = max(shares, key=lambda name: max(shares[name]))
        row["failed_operation"] = worst
        row["failed_baseline"], row["failed_store"] = shares[worst]
    for name, store in (("baseline", table.baseline), ("store", table.store)):
        row[f"published_{name}"] = results.published(store, workload, "overall", "throughput")
        row[f"rejected_{name}"] = results.rejected(store, workload, "overall", "throughput")
        row[f"published_failed_{name}"] = _published_failed(results, store, workload)
    gain = results.published(table.store, workload, "overall", "throughput_change")
    row["published_change"] = None if gain is None else gain / 100
    return row


def _published_failed(results: Results, store: str, workload: str) -> float | None:
    shares = (
        results.published(store, workload, operation, "failed_share")
        for operation in SINGLE_OPERATIONS
    )
    return next((value / 100 for value in shares if value is not None), None)


def _note(table: ComparisonTable, results: Results, workload: str) -> str:
    if workload == MEAN:
        return ""
    problems = [
        problem
        for store in (table.baseline, table.store)
        for problem in results.state(store, workload).problems
    ]
    return "; ".join(dict.fromkeys(problems))


def _here(row) -> list[str]:
    interval = DASH
    if not pd.isna(row.low):
        interval = between(change(row.low).removesuffix(" %"), change(row.high))
    cells = [_number(row.baseline), _number(row.store), _change(row.change), interval]
    return [
        cell or DASH for cell in [*cells, *map(_share, (row.failed_baseline, row.failed_store))]
    ]


def _there(row) -> list[str]:
    return [
        with_mark(_number(row.published_baseline), row.rejected_baseline),
        with_mark(_number(row.published_store), row.rejected_store),
        _change(row.published_change),
        "",
        _share(row.published_failed_baseline),
        _share(row.published_failed_store),
    ]


def _notes(frame: pd.DataFrame, study: Study) -> list[str]:
    notes = []
    numbers = sorted({int(n) for n in frame["repetitions"] if n})
    if numbers:
        runs = str(numbers[0])
        if numbers[-1] == 1:
            text = _(
                "Here: one run each. Change: how much higher the throughput of the second is; one "
                "run has no interval."
            )
        elif study.imported:
            text = _(
                "Here: means of {} runs. Change: how much higher the throughput of the second is, "
                "as the ratio of the geometric means, with its 95 % interval (Welch's, on "
                "logarithms; not paired, for repetitions of imported logs only have the same "
                "number)."
            )
        else:
            text = _(
                "Here: means of {} runs. Change: how much higher the throughput of the second is, "
                "as the geometric mean of the repetitions' ratios, with its 95 % interval (paired "
                "by repetition, t distribution on logarithms)."
            )
        if numbers[-1] != numbers[0]:
            runs = between(runs, str(numbers[-1]))
        notes.append(text.format(runs))
    inside = [
        study.workload(row.workload).title
        for row in frame.itertuples()
        if 1 / row.floor <= 1 + row.change <= row.floor
    ]
    if inside:
        notes.append(_("Not above the noise floor: {}.").format(", ".join(inside)))
    some = frame[(frame["failed_baseline"] > 0) | (frame["failed_store"] > 0)]
    if len(some):
        kinds = list_of(_(KINDS[name]) for name in some["failed_operation"].unique())
        notes.append(
            _("Failed: share of the {}; no other operations failed more often.").format(kinds)
        )
    if frame[["rejected_baseline", "rejected_store"]].any(axis=None):
        notes.append(rejected_note())
    for text in dict.fromkeys(note for note in frame["note"] if note):
        text = sentence(text)
        notes.append(text[:1].upper() + text[1:] + ".")
    return notes


def _number(value: float) -> str:
    return "" if pd.isna(value) else marked(grouped(f"{value:.0f}"), value)


def _change(value: float) -> str:
    return "" if pd.isna(value) else marked(change(value), value)


def _share(value: float) -> str:
    return "" if pd.isna(value) else marked(share(value), value)
