"""Table that compares one store with another: throughput per workload, and what failed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from kvstudy.analyse.tidy.numbers import between, change, grouped, share
from kvstudy.analyse.tidy.results import Results
from kvstudy.analyse.tidy.summary import OPERATIONS
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import list_of
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH, interval_head
from kvstudy.present.tables.markup import marked
from kvstudy.present.tables.rejected import rejected_note, with_mark
from kvstudy.stats.ratios import paired_ratio, unpaired_ratio
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.table_kinds import ComparisonTable

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


@dataclass
class Row:
    """A printed line: its label, and the cells from left to right."""

    label: str
    cells: list[str]
    published: bool
    workload: str


def long_form(
    table: ComparisonTable, study: Study, results: Results, floor: pd.DataFrame
) -> pd.DataFrame:
    """One row per workload, then the mean of all workloads.

    ``baseline`` and ``store`` are mean throughputs in ops/s over the
    ``repetitions`` that both have; of imported logs, whose repetitions only share a
    number, over all runs of each (``repetitions``: of the one that has fewer).
    ``change`` is the ratio of their geometric means less one, ``low`` and ``high`` its
    95 % interval (NaN for fewer than two), paired by repetition but for imported logs.
    ``failed_*`` are shares (0 to 1) of the operations of the kind ``failed_operation``
    that failed, the kind that failed most. ``floor`` is the noise floor of the workload
    (``analysis.floor``): what changes by a smaller factor could be one store. A value
    that does not exist is NaN.
    """
    workloads = study.workload_names
    if len(workloads) > 1:
        workloads.append(MEAN)
    frame = pd.DataFrame([_row(table, study, results, name) for name in workloads], columns=COLUMNS)
    return frame.assign(floor=frame["workload"].map(floor.set_index("workload")["floor"]))


def content(
    table: ComparisonTable, frame: pd.DataFrame, study: Study, titles: dict[str, str]
) -> dict[str, object]:
    """What the templates need of ``long_form``: its stores, ``rows`` and ``notes``."""
    rows = []
    for row in frame.itertuples():
        rows.append(Row(study.workload(row.workload).title, _here(row), False, row.workload))
        there = _there(row)
        if any(there):
            rows.append(Row(_("published"), [cell or DASH for cell in there], True, row.workload))
    return {
        "baseline": marked(titles[table.baseline], store=table.baseline),
        "store": marked(titles[table.store], store=table.store),
        "heads": {
            "throughput": _("Throughput (ops/s)"),
            "change": pgettext("of throughput", "Change"),
            "failed": _("Failed"),
            "mean": pgettext("of ratios", "mean"),
            "interval": interval_head(),
        },
        "rows": rows,
        "notes": _notes(frame, study),
    }


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
    return [
        _number(row.baseline) or DASH,
        _number(row.store) or DASH,
        _change(row.change) or DASH,
        interval,
        _share(row.failed_baseline) or DASH,
        _share(row.failed_store) or DASH,
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
