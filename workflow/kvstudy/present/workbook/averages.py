"""The two sheets of averages: stores side by side, and everything with its spread."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import chain

from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.present.workbook.content import (
    MAIN,
    SIZES,
    Content,
    Setting,
    number_format,
    operation_order,
    operation_title,
    rank,
    unit_text,
)
from kvstudy.present.workbook.runs import Places
from kvstudy.present.workbook.sheet import GREY, NOTHING, Book, Column, Sheet
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN

FIRST = [
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
            for rows in (summary, content.run.swept.published_values())
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
        columns, numbers = list(FIRST), {}
        by_the_source = {store for store, *_ in self._published}
        for store in stores:
            numbers[store] = len(columns)
            columns.append(Column(content.title(store), NUMBER, 16))
            if store in by_the_source:
                columns.append(Column(f"{content.title(store)}, published", NUMBER, 16))
        heading = content.heading("means over the runs")
        sheet = Sheet(self._book, name, columns, len(FIRST), heading)
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
