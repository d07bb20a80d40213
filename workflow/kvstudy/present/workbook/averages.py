"""The two sheets of averages: stores side by side, and everything with its spread."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.present.workbook.content import (
    MAIN,
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
    Column("Records", "#,##0", 10),
    Column("Planned operations", "#,##0", 12),
    Column("Client threads", "0", 8),
    Column("Operation", width=25),
    Column("Quantity", width=30),
    Column("Unit", width=8),
]
NOTHING = {"italic": True, "font_color": GREY}
# Columns of several quantities; each value has the format of its own.
NUMBER = "General"


@dataclass(frozen=True)
class Published:
    """A published value, and the format that marks it where the audit rejects it."""

    value: float
    unit: str
    number_format: str


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
        for (operation, metric), value in values.items():
            if store in study.store_names and metric in MAIN:
                of_setting = lines.setdefault(tuple(setting), {})
                of_setting.setdefault((operation, metric), value.unit)
    for workload, parameters in _settings_of(content, lines):
        last = None
        for (operation, metric), unit in _sorted(lines[workload, parameters]):
            sheet.next()
            if operation != last:
                sheet.rule()
            last = operation
            _first(sheet, 0, content, workload, parameters)
            sheet.text(4, operation_title(operation))
            sheet.text(5, metric_of(metric).title)
            sheet.text(6, unit_text(unit))
            for store, column in at.items():
                if value := theirs.get((store, workload, parameters), {}).get((operation, metric)):
                    form = value.number_format
                    sheet.number(column + 1, value.value, number_format=form, font_color=GREY)
                key = (store, workload, parameters, operation, metric)
                if key in places:
                    form = number_format(unit)
                    formula = f"=AVERAGE({places.ranges(key)})"
                    sheet.formula(column, formula, means[key], number_format=form)
                elif workload != MEAN and not _any(places, key):
                    label = content.label((store, workload, parameters))
                    sheet.text(column, label, align="right", **NOTHING)
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
    title = content.heading("means, spread and published values")
    sheet = Sheet(book, name, SPREAD, 1, title)
    theirs = _published(content)
    means: dict[Setting, dict] = {}
    for row in content.run.summary.itertuples():
        setting = (row.store, row.workload, row.parameters)
        means.setdefault(setting, {})[row.operation, row.metric] = row
    for setting in _all(content):
        values = means.get(setting, {})
        units = {key: row.unit for key, row in values.items()}
        published = theirs.get(setting, {})
        units |= {key: value.unit for key, value in published.items()}
        note = "" if setting[1] == MEAN else content.problems(setting)
        last = None
        for key, unit in _sorted(units) if units else [(("", ""), "")]:
            sheet.next()
            if key[0] != last:
                sheet.rule()
            _line(sheet, content, setting, key, unit)
            if row := values.get(key):
                _spread(sheet, places.ranges((*setting, *key)), row, unit)
            if key in published:
                value, form = published[key].value, published[key].number_format
                sheet.number(PUBLISHED, value, number_format=form, font_color=GREY)
                if key in values and value:
                    cells = [xl_rowcol_to_cell(sheet.row, each) for each in (MEAN_AT, PUBLISHED)]
                    ratio = values[key].mean / value
                    sheet.formula(RATIO, "=" + "/".join(cells), ratio)
            if not values:
                label = content.label(setting)
                sheet.text(MEAN_AT, label, align="right", **NOTHING)
            if last is None:
                sheet.text(NOTE, note, **NOTHING)
            last = key[0]
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
            cells = [xl_rowcol_to_cell(sheet.row, each) for each in (SD, MEAN_AT)]
            sheet.formula(COV, "=" + "/".join(cells), row.cov)


def _line(
    sheet: Sheet, content: Content, setting: Setting, key: tuple[str, str], unit: str
) -> None:
    store, workload, parameters = setting
    sheet.text(0, content.title(store))
    _first(sheet, 1, content, workload, parameters, store)
    operation, metric = key
    if operation:
        sheet.text(5, operation_title(operation))
        sheet.text(6, metric_of(metric).title)
        sheet.text(7, unit_text(unit))


def _first(
    sheet: Sheet, start: int, content: Content, workload: str, parameters: str, store: str = ""
) -> None:
    sheet.text(start, content.workload(workload))
    for column, value in enumerate(content.sizes(workload, parameters, store), start=start + 1):
        sheet.number(column, value)


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


def _sorted(units: dict[tuple[str, str], str]) -> list[tuple[tuple[str, str], str]]:
    return sorted(units.items(), key=lambda item: (operation_rank(item[0][0]), rank(item[0][1])))


def _any(places: Places, key: tuple) -> bool:
    """Whether the store has any value of this setting: then this one just does not exist."""
    return (*key[:3], "overall", "throughput") in places


def _published(content: Content) -> dict[Setting, dict[tuple[str, str], Published]]:
    """The published values of each setting, by operation and metric."""
    published: dict[Setting, dict[tuple[str, str], Published]] = {}
    for row in content.run.swept.published_values().itertuples():
        form = number_format(row.unit) + (f'"{MARK}"' if row.rejected else "")
        of_setting = published.setdefault((row.store, row.workload, row.parameters), {})
        of_setting[row.operation, row.metric] = Published(row.value, row.unit, form)
    return published
