"""The two sheets of averages: stores side by side, and everything with its spread."""

from __future__ import annotations

import math
from collections.abc import Iterator

from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.present.workbook.content import (
    MAIN,
    SIZES,
    Content,
    Setting,
    number_format,
    operation_rank,
    operation_title,
    rank,
    unit_text,
)
from kvstudy.present.workbook.runs import Places
from kvstudy.present.workbook.sheet import GREY, Book, Column, Sheet
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN

FIRST = [
    Column("Workload", width=20),
    *SIZES,
    Column("Operation", width=25),
    Column("Quantity", width=30),
    Column("Unit", width=8),
]
NOTHING = {"italic": True, "font_color": GREY}
# Columns of several quantities; each value has the format of its own.
NUMBER = "General"


def side_by_side(content: Content, places: Places, book: Book, name: str) -> None:
    """Write the means with a column per store; a line is one quantity of one operation.

    A store of which the source published something has a second column for it.
    """
    study, theirs = content.study, _published(content)
    by_the_source = {store for store, *_ in theirs}
    columns, at = list(FIRST), {}
    for store in study.store_names:
        at[store] = len(columns)
        columns.append(Column(content.title(store), NUMBER, 16))
        if store in by_the_source:
            columns.append(Column(f"{content.title(store)}, published", NUMBER, 16))
    sheet = Sheet(book, name, columns, len(FIRST), content.heading("means over the runs"))
    summary = content.run.summary
    summary = summary[summary["metric"].isin(MAIN)]
    means = {tuple(row[:5]): row[7] for row in summary.itertuples(index=False)}
    lines: dict[tuple[str, str], dict[tuple[str, str], str]] = {}
    for row in summary.itertuples():
        lines.setdefault((row.workload, row.parameters), {})[row.operation, row.metric] = row.unit
    for (store, *setting), values in theirs.items():
        for key, value in values.items():
            if store in study.store_names and value.metric in MAIN:
                lines.setdefault(tuple(setting), {}).setdefault(key, value.unit)
    for workload, parameters in _settings_of(content, lines):
        for (operation, metric), unit in _quantities(sheet, lines[workload, parameters]):
            content.write_sizes(sheet, 0, workload, parameters)
            _quantity(sheet, 4, operation, metric, unit)
            for store, column in at.items():
                setting, key = (store, workload, parameters), (operation, metric)
                if value := theirs.get(setting, {}).get(key):
                    _write_published(sheet, column + 1, value)
                key = (*setting, *key)
                if key in places:
                    form = number_format(unit)
                    formula = f"=AVERAGE({places.ranges(key)})"
                    sheet.formula(column, formula, means[key], number_format=form)
                # With a throughput it has values, and this one just does not exist.
                elif workload != MEAN and (*setting, "overall", "throughput") not in places:
                    sheet.text(column, content.label(setting), align="right", **NOTHING)
    sheet.done()


SPREAD = [
    Column("Store", width=16),
    *FIRST,
    Column("Runs", "0", 6),
    Column("Mean", NUMBER, 13),
    Column("Standard deviation", NUMBER, 13),
    Column("Coefficient of variation", "0.0%", 12),
    Column("Smallest", NUMBER, 13),
    Column("Largest", NUMBER, 13),
    Column("Published", NUMBER, 13),
    Column("Here by published", "0.000", 11),
    Column("Note", width=70, aside=True),
]
RUNS = 1 + len(FIRST)
MEAN_AT, SD, COV, LOW, HIGH, PUBLISHED, RATIO, NOTE = range(RUNS + 1, RUNS + 9)


def with_spread(content: Content, places: Places, book: Book, name: str) -> None:
    """Write a line per store and quantity: runs, mean, spread, and what the source published."""
    sheet = Sheet(book, name, SPREAD, 1, content.heading("means, spread and published values"))
    theirs = _published(content)
    means: dict[Setting, dict] = {}
    for row in content.run.summary.itertuples():
        setting = (row.store, row.workload, row.parameters)
        means.setdefault(setting, {})[row.operation, row.metric] = row
    for setting in _all(content):
        values, published = means.get(setting, {}), theirs.get(setting, {})
        units = {key: row.unit for key, row in (values | published).items()}
        note = "" if setting[1] == MEAN else content.problems(setting)
        for key, unit in _quantities(sheet, units or {("", ""): ""}):
            sheet.text(0, content.title(setting[0]))
            content.write_sizes(sheet, 1, *setting[1:], store=setting[0])
            if units:
                _quantity(sheet, 5, *key, unit)
            if row := values.get(key):
                _spread(sheet, places.ranges((*setting, *key)), row, unit)
            if key in published:
                value = published[key].value
                _write_published(sheet, PUBLISHED, published[key])
                if key in values and value:
                    _write_ratio(sheet, RATIO, MEAN_AT, PUBLISHED, values[key].mean / value)
            if not values:
                sheet.text(MEAN_AT, content.label(setting), align="right", **NOTHING)
            # Once for a setting.
            sheet.text(NOTE, note, **NOTHING)
            note = ""
    sheet.done()


def _spread(sheet: Sheet, ranges: str, row, unit: str) -> None:
    form = number_format(unit)
    sheet.formula(RUNS, f"=COUNT({ranges})", int(row.n))
    sheet.formula(MEAN_AT, f"=AVERAGE({ranges})", row.mean, number_format=form)
    sheet.formula(LOW, f"=MIN({ranges})", row.min, number_format=form)
    sheet.formula(HIGH, f"=MAX({ranges})", row.max, number_format=form)
    # One run has no deviation, and a mean of 0 none to relate it to.
    if not math.isnan(row.sd):
        sheet.formula(SD, f"=STDEV({ranges})", row.sd, number_format=form)
        if not math.isnan(row.cov):
            _write_ratio(sheet, COV, SD, MEAN_AT, row.cov)


def _write_ratio(sheet: Sheet, column: int, above: int, below: int, value: float) -> None:
    cells = [xl_rowcol_to_cell(sheet.row, each) for each in (above, below)]
    sheet.formula(column, "=" + "/".join(cells), value)


def _write_published(sheet: Sheet, column: int, row) -> None:
    """Grey, with a mark where the audit rejects the value."""
    form = number_format(row.unit) + (f'"{MARK}"' if row.rejected else "")
    sheet.number(column, row.value, number_format=form, font_color=GREY)


def _quantity(sheet: Sheet, start: int, operation: str, metric: str, unit: str) -> None:
    sheet.write(start, operation_title(operation), metric_of(metric).title, unit_text(unit))


def _all(content: Content) -> list[Setting]:
    """The settings of the study's own stores by workload, and then the means of all workloads."""
    own = [key for key in content.settings if key[0] in content.study.store_names]
    workloads = content.study.workload_names
    # A stable sort: stores and sizes keep their order.
    own.sort(key=lambda key: workloads.index(key[1]))
    rows = content.run.summary.query("workload == @MEAN")
    means = zip(rows["store"], rows["workload"], rows["parameters"], strict=True)
    return own + list(dict.fromkeys(means))


def _settings_of(content: Content, found: dict) -> list[tuple[str, str]]:
    """Workloads and parameters in the order of the study, those that have values."""
    ordered = list(dict.fromkeys(key[1:] for key in content.settings))
    workloads = content.study.workload_names
    ordered.sort(key=lambda key: workloads.index(key[0]))
    return [key for key in ordered if key in found] + [key for key in found if key[0] == MEAN]


def _quantities(
    sheet: Sheet, units: dict[tuple[str, str], str]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Begin a line for each operation and metric in order, a block for each operation."""
    last = None
    for key in sorted(units, key=lambda key: (operation_rank(key[0]), rank(key[1]))):
        sheet.next()
        if key[0] != last:
            sheet.rule()
        last = key[0]
        yield key, units[key]


def _published(content: Content) -> dict[Setting, dict]:
    """The published values of each setting, by operation and metric."""
    published: dict[Setting, dict] = {}
    for row in content.run.swept.published_values.itertuples():
        of_setting = published.setdefault((row.store, row.workload, row.parameters), {})
        of_setting[row.operation, row.metric] = row
    return published
