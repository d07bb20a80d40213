"""The sheets that are tables: single runs, averages of them, and the cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, groupby

import pandas as pd
from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.analyse.tidy.summary import COUNTS, measured_phases
from kvstudy.present.workbook.content import (
    MAIN,
    SIZES,
    Content,
    Setting,
    as_utc,
    number_format,
    operation_order,
    operation_title,
    rank,
    unit_text,
)
from kvstudy.present.workbook.sheet import GREY, NOTHING, Book, Column, Sheet, quoted
from kvstudy.study.cells import cell_path
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN
from kvstudy.study.raw import sums_digest

# Store, workload, parameters and operation of a value, and its metric.
Key = tuple[str, str, str, str, str]


@dataclass
class Places:
    """The cells of the runs that count, by what they are values of."""

    # Of each value: its sheet and column, and the rows by repetition.
    _places: dict[Key, tuple[str, int, dict[str, int]]] = field(default_factory=dict)

    def add(self, key: Key, repetition: str, sheet: str, row: int, column: int) -> None:
        """A run's value stands in ``row`` and ``column`` (from 0) of ``sheet``."""
        self._places.setdefault(key, (sheet, column, {}))[2][repetition] = row

    def count(self, key: Key) -> int:
        """How many runs that count have this value."""
        return len(self._places[key][2]) if key in self._places else 0

    def cell(self, key: Key, repetition: str) -> str:
        """``J5``: the run with this ``repetition``, on its sheet."""
        _, column, rows = self._places[key]
        return xl_rowcol_to_cell(rows[repetition], column)

    def ranges(self, key: Key) -> str:
        """``'Redis'!J5:J7``; runs that are not adjacent in several ranges with commas."""
        sheet, column, rows = self._places[key]
        parts = []
        # Adjacent rows are as far from their places in the list.
        for _, part in groupby(enumerate(rows.values()), lambda item: item[1] - item[0]):
            cells = [xl_rowcol_to_cell(row, column) for _, row in part]
            parts.append(f"{quoted(sheet)}!{':'.join(dict.fromkeys((cells[0], cells[-1])))}")
        return ",".join(parts)


FIRST = [
    Column("Workload", width=16),
    *SIZES,
    Column("Phase", width=7),
    Column("Operation", width=26),
    Column("Run", "0", 6),
    Column("Status", width=13),
]


class Runs:
    """Writes the sheets of single runs, and tells ``places`` where the values stand."""

    def __init__(self, content: Content, places: Places) -> None:
        self._content, self._places = content, places
        measured, values = content.run.measurements, content.run.values
        units = dict(zip(measured["metric"], measured["unit"], strict=True))
        self._columns = {name: _column(name, units[name]) for name in sorted(units, key=rank)}
        derived = values["operation"].str.contains("+", regex=False) | (values["workload"] == MEAN)
        rows = pd.concat([measured, values[derived]])
        # By metric, of each run, phase and operation; and the phases and operations of a setting.
        self._values: dict[tuple[str, ...], dict[str, float]] = {}
        self._lines: dict[Setting, set[tuple[str, str]]] = {}
        names = [*SETTING, "phase", "operation", "repetition", "metric", "value"]
        for *key, metric, value in rows[names].itertuples(index=False):
            self._values.setdefault(tuple(key), {})[metric] = value
            self._lines.setdefault(tuple(key[:3]), set()).add(tuple(key[3:5]))
        self._phase = measured_phases(measured)

    def write(self, book: Book, name: str, stores: list[str], with_store: bool) -> None:
        """Fill the sheet ``name`` with the runs of ``stores``, which a column may name."""
        content = self._content
        first = [Column("Store", width=22)] * with_store + FIRST
        columns = [*first, *self._columns.values(), Column("Reason", width=70, aside=True)]
        title = content.heading("single runs")
        sheet = Sheet(book, name, columns, len(first), title, pages_wide=2)
        for store in stores:
            for setting in content.settings:
                if setting[0] == store:
                    self._setting(sheet, setting, with_store)
            for key in self._values:
                if key[:2] == (store, MEAN):
                    self._mean(sheet, key, with_store)
        sheet.done()

    def _setting(self, sheet: Sheet, setting: Setting, with_store: bool) -> None:
        """The rows of one setting; why a run has no value stands in the first of its rows."""
        content, explained = self._content, set()
        lines = self._lines.get(setting, {("", "")})
        for phase, operation in sorted(lines, key=lambda line: (line[0], operation_order(line[1]))):
            for row in content.outcomes.get(setting, []):
                status, reason = content.status(row)
                style = {} if status == "measured" else NOTHING
                sheet.next((setting, phase, operation))
                if with_store:
                    sheet.text("Store", content.title(setting[0]))
                content.write_sizes(sheet, *setting[1:], store=setting[0])
                sheet.write("Phase", phase, operation_title(operation), int(row.repetition))
                sheet.text("Status", status, **style)
                if row.repetition not in explained:
                    sheet.text("Reason", reason, **NOTHING)
                explained.add(row.repetition)
                self._numbers(sheet, (*setting, phase, operation, row.repetition), style)

    def _numbers(self, sheet: Sheet, key: tuple[str, ...], style: dict[str, object]) -> None:
        """The values of a run; those of all operations together are formulas of the others."""
        *setting, phase, operation, repetition = key
        for metric, value in self._values.get(key, {}).items():
            column = self._columns[metric].header
            if "+" in operation:
                parts = ((*setting, part, metric) for part in operation.split("+"))
                cells = ",".join(self._places.cell(part, repetition) for part in parts)
                what = "SUM" if metric in COUNTS else "AVERAGE"
                sheet.formula(column, f"={what}({cells})", value)
            else:
                sheet.number(column, value, **style)
            if not style and phase == self._phase[setting[1]]:
                self._add(sheet, (*setting, operation, metric), repetition)

    def _mean(self, sheet: Sheet, key: tuple[str, ...], with_store: bool) -> None:
        store, workload, parameters, _, operation, repetition = key
        sheet.next((store, workload))
        if with_store:
            sheet.text("Store", self._content.title(store))
        sheet.text("Workload", self._content.workload(MEAN))
        sheet.write("Operation", operation_title(operation), int(repetition), "measured")
        cells = ",".join(
            self._places.cell((store, name, slug, operation, "throughput"), repetition)
            for name, slug in self._content.run.headline.items()
        )
        value = self._values[key]["throughput"]
        sheet.formula(self._columns["throughput"].header, f"=AVERAGE({cells})", value)
        self._add(sheet, (store, workload, parameters, operation, "throughput"), repetition)

    def _add(self, sheet: Sheet, key: Key, repetition: str) -> None:
        column = sheet.number_of(self._columns[key[4]].header)
        self._places.add(key, repetition, sheet.name, sheet.row, column)


def _column(metric: str, unit: str) -> Column:
    sign = f" ({unit_text(unit)})" if unit_text(unit) else ""
    return Column(metric_of(metric).title + sign, number_format(unit))


QUANTITY = [
    Column("Workload", width=20),
    *SIZES,
    Column("Operation", width=25),
    Column("Quantity", width=30),
    Column("Unit", width=8),
]
# Columns of several quantities; each value has the format of its own.
NUMBER = "General"
# Operation and metric.
Line = tuple[str, str]
SPREAD = [
    Column("Store", width=16),
    *QUANTITY,
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


class Averages:
    """Writes both sheets. A setting has rows of the summary, and of what the source published."""

    def __init__(self, content: Content, places: Places, book: Book) -> None:
        self._content, self._places, self._book = content, places, book
        study, summary = content.study, content.run.summary
        self._means, self._published = (
            {
                setting: {(row.operation, row.metric): row for row in of.itertuples()}
                for setting, of in rows.groupby(["store", "workload", "parameters"], sort=False)
            }
            for rows in (summary, content.run.swept.published_values)
        )
        # Those of the study's own stores by workload, and then the means of all workloads.
        settings = [key for key in content.settings if key[0] in study.store_names]
        # A stable sort: stores and sizes keep their order.
        settings.sort(key=lambda key: study.workload_names.index(key[1]))
        settings += [key for key in chain(self._means, self._published) if key[1] == MEAN]
        self._settings: list[Setting] = list(dict.fromkeys(settings))

    def side_by_side(self, name: str) -> None:
        """Write the means with a column per store; a line is one quantity of one operation.

        A store of which the source published something has a second column for it.
        """
        content, stores = self._content, self._content.study.store_names
        columns, numbers = list(QUANTITY), {}
        by_the_source = {store for store, *_ in self._published}
        for store in stores:
            numbers[store] = len(columns)
            columns.append(Column(content.title(store), NUMBER, 16))
            if store in by_the_source:
                columns.append(Column(f"{content.title(store)}, published", NUMBER, 16))
        heading = content.heading("means over the runs")
        sheet = Sheet(self._book, name, columns, len(QUANTITY), heading)
        for place in dict.fromkeys(setting[1:] for setting in self._settings):
            settings = [(store, *place) for store in stores]
            rows = [
                of.get(setting, {}) for of in (self._published, self._means) for setting in settings
            ]
            units = {key: row.unit for of in rows for key, row in of.items() if key[1] in MAIN}
            for key in _lines(sheet, place, units):
                content.write_sizes(sheet, *place)
                _quantity(sheet, key, units[key])
                for setting in settings:
                    means, column = self._means.get(setting, {}), numbers[setting[0]]
                    if published := self._published.get(setting, {}).get(key):
                        _write_published(sheet, column + 1, published)
                    if key in means:
                        formula = f"=AVERAGE({self._places.ranges((*setting, *key))})"
                        form = number_format(units[key])
                        sheet.formula(column, formula, means[key].mean, num_format=form)
                    # With a throughput it has values, and this one just does not exist.
                    elif place[0] != MEAN and ("overall", "throughput") not in means:
                        sheet.text(column, content.label(setting), align="right", **NOTHING)
        sheet.done()

    def with_spread(self, name: str) -> None:
        """Write a line per store and quantity: runs, mean, spread, and what was published."""
        content = self._content
        heading = content.heading("means, spread and published values")
        sheet = Sheet(self._book, name, SPREAD, 1, heading)
        for setting in self._settings:
            means, published = self._means.get(setting, {}), self._published.get(setting, {})
            units = {key: row.unit for key, row in (means | published).items()}
            note = "" if setting[1] == MEAN else content.problems(setting)
            for key in _lines(sheet, setting, units or {("", ""): ""}):
                sheet.text("Store", content.title(setting[0]))
                content.write_sizes(sheet, *setting[1:], store=setting[0])
                if units:
                    _quantity(sheet, key, units[key])
                if key in means:
                    self._spread(sheet, (*setting, *key), means[key])
                if key in published:
                    value = published[key].value
                    _write_published(sheet, "Published", published[key])
                    if key in means and value:
                        ratio = means[key].mean / value
                        _write_ratio(sheet, "Here by published", "Mean", "Published", ratio)
                if not means:
                    sheet.text("Mean", content.label(setting), align="right", **NOTHING)
                # Once for a setting.
                sheet.text("Note", note, **NOTHING)
                note = ""
        sheet.done()

    def _spread(self, sheet: Sheet, key: tuple[str, ...], row) -> None:
        form = number_format(row.unit)
        ranges = self._places.ranges(key)
        sheet.formula("Runs", f"=COUNT({ranges})", int(row.n))
        sheet.formula("Mean", f"=AVERAGE({ranges})", row.mean, num_format=form)
        sheet.formula("Smallest", f"=MIN({ranges})", row.min, num_format=form)
        sheet.formula("Largest", f"=MAX({ranges})", row.max, num_format=form)
        # One run has no deviation, and a mean of 0 none to relate it to.
        if not math.isnan(row.sd):
            sheet.formula("Standard deviation", f"=STDEV({ranges})", row.sd, num_format=form)
            if not math.isnan(row.cov):
                _write_ratio(
                    sheet, "Coefficient of variation", "Standard deviation", "Mean", row.cov
                )


def _write_ratio(sheet: Sheet, column: str, above: str, below: str, value: float) -> None:
    sheet.formula(column, f"={sheet.cell(above)}/{sheet.cell(below)}", value)


def _write_published(sheet: Sheet, column: str | int, row) -> None:
    """Grey, with a mark where the audit rejects the value."""
    form = number_format(row.unit) + (f'"{MARK}"' if row.rejected else "")
    sheet.number(column, row.value, num_format=form, font_color=GREY)


def _quantity(sheet: Sheet, key: Line, unit: str) -> None:
    operation, metric = key
    sheet.write("Operation", operation_title(operation), metric_of(metric).title, unit_text(unit))


def _lines(sheet: Sheet, place: tuple[str, ...], keys: Iterable[Line]) -> Iterator[Line]:
    """Begin a line for each operation and metric in order, a block for each operation."""
    for operation, metric in sorted(keys, key=lambda key: (operation_order(key[0]), rank(key[1]))):
        sheet.next((place, operation))
        yield operation, metric


CELLS = [
    Column("Store", width=26),
    Column("Workload", width=16),
    Column("Parameters", width=22),
    Column("Run", "0", 6),
    Column("Status", width=13),
    Column("Position in the order", "0", 9),
    Column("Started", width=24),
    Column("Duration (s)", "0.0", 10),
    Column("Server version", width=12),
    Column("SHA-256 of the cell's file SHA256SUMS", width=68),
    Column("Reason", width=70, aside=True),
]


def cells(content: Content, book: Book, name: str) -> None:
    """Write one row per planned cell."""
    sheet = Sheet(book, name, CELLS, 4, content.heading("cells and checksums"))
    for setting in content.settings:
        for row in content.outcomes.get(setting, []):
            store, workload, parameters = setting
            status, reason = content.status(row)
            sheet.next()
            sheet.write("Store", content.title(store), content.workload(workload), parameters)
            position = float(row.position) if row.position else None
            sheet.write("Run", int(row.repetition), status, position, as_utc(row.started))
            sheet.write("Duration (s)", row.wall_seconds, row.server_version)
            digest = sums_digest(content.run.raw / cell_path(*setting, row.repetition))
            sheet.text(CELLS[-2].header, digest, font_name="Courier New", font_size=9)
            sheet.text("Reason", reason)
    sheet.done()
