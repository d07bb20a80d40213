"""Tables of results: one column per store, published values beside the measured ones.

The arrangement is the thesis's (tables 4.2-4.5): run time and throughput, then
for each operation and for the combined operations the number of operations and
the latencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from string import ascii_lowercase

import pandas as pd

from kvstudy.analyse.tidy.numbers import MARK, between, fixed, grouped, sign
from kvstudy.analyse.tidy.results import Results, State, Value
from kvstudy.language.current import _, pgettext
from kvstudy.language.locale import decimal, decimal_mark
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH
from kvstudy.present.tables.markup import Rich, hanging, marked, note, phantom, raised
from kvstudy.present.tables.rejected import rejected_note
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.metrics import LATENCIES, METRICS
from kvstudy.study.model import Study
from kvstudy.study.table_kinds import ResultsTable

# Marks a percentile with few operations beyond it.
RARE = "\N{DAGGER}"


@dataclass
class Column:
    """The two sub-columns of a store. ``empty`` says why it has no values, if it has none.

    ``mark`` refers to the notes about it.
    """

    store: str
    title: str
    state: State
    empty: str
    mark: str = ""


@dataclass
class Row:
    """One line. ``cells`` are the measured and the published value per store."""

    label: str
    cells: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Section:
    title: str
    rows: list[Row]


def long_form(table: ResultsTable, study: Study, results: Results) -> pd.DataFrame:
    """Everything that the table shows, one value a row, unrounded.

    Columns: store, operation, metric, unit, n, mean, sd, cov, min, max,
    published, rejected, note. A value that does not exist is NaN; the note says why.
    """
    rows = []
    for operation, metric in _lines(table, results):
        for store in study.store_names:
            value = results.measured(store, table.workload, operation, metric)
            state = results.state(store, table.workload)
            nothing = Value(0, *[math.nan] * 5, METRICS[metric].unit)
            found = value or nothing
            rows.append(
                {
                    "store": store,
                    "operation": operation,
                    "metric": metric,
                    "unit": METRICS[metric].unit,
                    "n": found.n,
                    **{key: getattr(found, key) for key in ("mean", "sd", "cov", "min", "max")},
                    "published": results.published(store, table.workload, operation, metric),
                    "rejected": results.rejected(store, table.workload, operation, metric),
                    "note": "; ".join(state.problems),
                }
            )
    return pd.DataFrame(rows)


def content(
    table: ResultsTable, study: Study, results: Results, titles: dict[str, str]
) -> dict[str, object]:
    """What the templates need: ``columns``, ``sections``, ``middle``, ``notes``, ...

    ``titles`` maps store names to the names that people read.
    """
    columns = []
    for name in study.store_names:
        state = results.state(name, table.workload)
        columns.append(Column(name, titles[name], state, sentence(state.label)))
    used: set[str] = set()
    sections: list[Section] = []
    last = None
    for operation, metric in _lines(table, results):
        if operation != last:
            sections.append(Section("" if operation == "overall" else _title(operation), []))
            last = operation
        label, unit = _(METRICS[metric].row), METRICS[metric].unit
        row = Row(label if unit == "count" else f"{label} ({sign(unit)})")
        for store in study.store_names:
            value = results.measured(store, table.workload, operation, metric)
            here = _measured(table, results, store, operation, metric, value, used)
            there = results.published(store, table.workload, operation, metric)
            marks = MARK if results.rejected(store, table.workload, operation, metric) else ""
            used.update(marks)
            row.cells.append((here, _number(metric, there, marks)))
        sections[-1].rows.append(row)
    lines = sum(len(section.rows) for section in sections)
    return {
        "columns": columns,
        "here_head": pgettext("column", "here"),
        "published_head": pgettext("column", "published"),
        "sections": sections,
        # The line at whose height a column without values says so.
        "middle": lines // 2,
        "with_published": results.has_published,
        "notes": _notes(table, study, results, columns, used),
    }


def _lines(table: ResultsTable, results: Results) -> list[tuple[str, str]]:
    """Operation and metric of each line, top to bottom."""
    lines = [("overall", metric) for metric in ("runtime", "throughput")]
    for operation in results.operations(table.workload):
        lines += [(operation, metric) for metric in ("operations", *LATENCIES)]
    return lines


def _title(operation: str) -> str:
    words = _words(operation).capitalize()
    return _("{} (plain mean)").format(words) if "+" in operation else words


def _words(operation: str) -> str:
    return " + ".join(_(name) for name in operation.split("+"))


def _number(metric: str, value: float | None, marks: str = "") -> str:
    """``value`` for a right-aligned column: whole numbers keep the decimals' place free.

    ``marks`` stand high behind the number without taking room.
    """
    if value is None:
        return DASH
    text = grouped(fixed(metric, value))
    rich = Rich.escape(text) + (hanging(raised(marks)) if marks else "")
    return marked(rich + ("" if decimal_mark() in text else phantom(decimal(".0"))), value)


def _measured(
    table: ResultsTable,
    results: Results,
    store: str,
    operation: str,
    metric: str,
    value: Value | None,
    used: set[str],
) -> str:
    if value is None:
        # A column without any value says so once, in its middle.
        empty = results.state(store, table.workload).label
        return "" if empty else DASH
    marks = ""
    if value.cov > NOISY:
        marks += "*"
        used.add("*")
    if percent := METRICS[metric].percent:
        parts = operation.split("+")
        counts = [results.measured(store, table.workload, part, "operations") for part in parts]
        if any(c is not None and c.min * (100 - percent) / 100 < ENOUGH_BEYOND for c in counts):
            marks += RARE
            used.add(RARE)
    return _number(metric, value.mean, marks)


def _notes(
    table: ResultsTable, study: Study, results: Results, columns: list[Column], used: set[str]
) -> list[str]:
    notes: list[str] = []
    numbers = {column.state.counted for column in columns if column.state.counted}
    if numbers:
        runs = str(min(numbers))
        if len(numbers) > 1:
            runs = between(runs, str(max(numbers)))
        notes.append(
            _("Here: one run. Latencies are service times.")
            if numbers == {1}
            else _("Here: the mean of {} runs. Latencies are service times.").format(runs)
        )
        if max(numbers) > 1:
            notes.append(
                _(
                    "Percentiles: the plain mean of the runs' percentiles, which is no percentile "
                    "of all operations; those are in the table of percentiles."
                )
            )
    combined = results.all_operations(table.workload)
    if combined and "+" in combined:
        known = any(
            results.published(store, table.workload, combined, "latency_mean") is not None
            for store in study.store_names
        )
        text = (
            _(
                "{}: the plain mean of the operations' values (the source's definition), not "
                "weighted by the number of operations, which is summed."
            )
            if known
            else _(
                "{}: the plain mean of the operations' values, not weighted by the number of "
                "operations, which is summed."
            )
        )
        notes.append(text.format(_words(combined).capitalize()))
    if scale := _other_size(table, study, results):
        notes.append(scale)
    if "*" in used:
        notes.append(
            note(
                "*",
                _("The coefficient of variation over the runs is above {}.").format(
                    f"{NOISY * 100:.0f}\N{NARROW NO-BREAK SPACE}%"
                ),
            )
        )
    if RARE in used:
        notes.append(
            note(
                RARE,
                _("Fewer than {} operations of a run lie beyond the percentile.").format(
                    ENOUGH_BEYOND
                ),
            )
        )
    if MARK in used:
        notes.append(rejected_note())
    return notes + _marked(columns)


def _marked(columns: list[Column]) -> list[str]:
    """The reasons of incomplete columns; sets the columns' marks. Equal reasons share one."""
    marks: dict[str, str] = {}
    for column in columns:
        state = column.state
        if not state.problems:
            continue
        reasons = "; ".join(sentence(problem) for problem in state.details)
        what = (
            _("mean of {} of {} runs").format(state.counted, state.planned)
            if state.counted
            else sentence(state.label)
        )
        text = what[:1].upper() + what[1:]
        if reasons != what:
            text += f": {reasons}"
        column.mark = marks.setdefault(text, ascii_lowercase[len(marks)])
    return [note(mark, f"{text}.") for text, mark in marks.items()]


def _other_size(table: ResultsTable, study: Study, results: Results) -> str:
    """A sentence when a run here has other numbers of operations than the source's, or ""."""
    operation = results.all_operations(table.workload)
    for store in study.store_names:
        here = results.measured(store, table.workload, operation or "", "operations")
        there = results.published(store, table.workload, operation or "", "operations")
        if here and there and abs(here.mean / there - 1) > 0.01:
            return _(
                "A run has {} operations here and {} in the source: their run times and maxima do "
                "not compare."
            ).format(*(grouped(fixed("operations", each)) for each in (here.mean, there)))
    return ""
