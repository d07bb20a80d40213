"""The sheets that are tables: single runs, averages of them, and the cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import groupby

import pandas as pd
from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.analyse.tidy.files import SETTING, path_of
from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.analyse.tidy.summary import COUNTS, measured_phases, shown_mean
from kvstudy.language.reasons import sentence
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
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN
from kvstudy.study.raw import sums_digest

# Store, workload, parameters and operation of a value, and its metric.
Key = tuple[str, str, str, str, str]


@dataclass
class CellReferences:
    """The cells of the runs that count, by what they are values of."""

    # Of each value: its sheet and column, and the rows by repetition.
    _places: dict[Key, tuple[str, int, dict[str, int]]] = field(default_factory=dict)

    def add(self, key: Key, repetition: str, sheet: str, row: int, column: int) -> None:
        """A run's value is in ``row`` and ``column`` (from 0) of ``sheet``."""
        self._places.setdefault(key, (sheet, column, {}))[2][repetition] = row

    def count(self, key: Key) -> int:
        """Return the number of counted runs with this value."""
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
    """Writes the sheets of single runs, and shows ``places`` where the values stand."""

    def __init__(self, content: Content, places: CellReferences) -> None:
        self._content, self._places = content, places
        measured, values = content.run.measurements, content.run.values
        units = dict(zip(measured["metric"], measured["unit"], strict=True))
        self._columns = {}
        for name in sorted(units, key=rank):
            unit = unit_text(units[name])
            header = metric_of(name).title + (f" ({unit})" if unit else "")
            self._columns[name] = Column(header, number_format(units[name]))
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
                    sheet.next(key[:2])
                    self._run(sheet, key, with_store)
        sheet.done()

    def _setting(self, sheet: Sheet, setting: Setting, with_store: bool) -> None:
        """The rows of one setting; why a run has no value is in the first of its rows."""
        explained = set()
        lines = self._lines.get(setting, {("", "")})
        for line in sorted(lines, key=lambda line: (line[0], operation_order(line[1]))):
            for row in self._content.outcomes[setting].itertuples():
                status, reason = self._content.status(row)
                sheet.next((setting, line))
                self._run(sheet, (*setting, *line, row.repetition), with_store, status)
                if row.repetition not in explained:
                    sheet.put("Reason", reason, **NOTHING)
                explained.add(row.repetition)

    def _run(
        self, sheet: Sheet, key: tuple[str, ...], with_store: bool, status: str = "measured"
    ) -> None:
        """A row: what it is of, and its values; those that combine others are formulas of them."""
        store, workload, parameters, phase, operation, repetition = key
        content, style = self._content, {} if status == "measured" else NOTHING
        if with_store:
            sheet.put("Store", content.title(store))
        content.write_sizes(sheet, workload, parameters, store)
        shown_phase = "" if workload == MEAN else phase
        sheet.write("Phase", shown_phase, operation_title(operation), int(repetition))
        sheet.put("Status", status, **style)
        for metric, value in self._values.get(key, {}).items():
            column = sheet.number_of(self._columns[metric].header)
            settings, operations = [key[:3]], operation.split("+")
            if workload == MEAN:
                settings = [(store, *shown) for shown in content.run.headline.items()]
            parts = [(*of, part, metric) for of in settings for part in operations]
            if workload == MEAN or "+" in operation:
                cells = ",".join(self._places.cell(part, repetition) for part in parts)
                what = "SUM" if metric in COUNTS else "AVERAGE"
                if workload == MEAN and not content.study.source:
                    what = "GEOMEAN"
                sheet.formula(column, f"={what}({cells})", value)
            else:
                sheet.put(column, value, **style)
            if not style and phase == self._phase.get(workload, phase):
                place = (*key[:3], operation, metric)
                self._places.add(place, repetition, sheet.name, sheet.row, column)


QUANTITY = [
    Column("Workload", width=20),
    *SIZES,
    Column("Operation", width=25),
    Column("Quantity", width=30),
    Column("Unit", width=8),
]
# Columns of several quantities; each value has the format of its own.
NUMBER = "General"
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
# What is calculated from the single runs: the formula, and the column of ``summary.csv``. The mean
# is the one that fits the quantity.
KEYS = [*SETTING, "operation", "metric"]
FORMULAS = {
    "Runs": ("COUNT", "n"),
    "Smallest": ("MIN", "min"),
    "Largest": ("MAX", "max"),
    "Standard deviation": ("STDEV", "sd"),
}


class AverageSheets:
    """Writes both sheets of means, and of what the source published next to them."""

    def __init__(self, content: Content, places: CellReferences, book: Book) -> None:
        self._content, self._places, self._book = content, places, book
        study, summary = content.study, content.run.summary
        published = content.run.swept.published_values.rename(columns={"value": "published"})
        # Those of the study's own stores by workload, and then the means of all workloads.
        settings = [key for key in content.settings if key[0] in study.store_names]
        # A stable sort: stores and sizes keep their order.
        settings.sort(key=lambda key: study.workload_names.index(key[1]))
        both = pd.concat([summary[SETTING], published[SETTING]])
        settings += both[both["workload"] == MEAN].itertuples(index=False, name=None)
        self._settings: list[Setting] = list(dict.fromkeys(settings))
        rows = summary.merge(published, how="outer", on=[*SETTING, "operation", "metric", "unit"])
        lines = zip(map(operation_order, rows["operation"]), map(rank, rows["metric"]), strict=True)
        # A value that the source has not is not inconsistent.
        rows = rows.assign(line=list(lines), inconsistent=rows["inconsistent"].eq(True))
        rows["shown"] = shown_mean(rows)
        self._rows = rows.astype({"n": "Int64"}).sort_values("line")

    def side_by_side(self, name: str) -> None:
        """Write the means with a column per store; a line is one quantity of one operation.

        A store of which the source published something has a second column for it.
        """
        content, stores = self._content, self._content.study.store_names
        rows, columns, numbers = self._rows, list(QUANTITY), {}
        by_the_source = set(rows.loc[rows["published"].notna(), "store"])
        for store in stores:
            numbers[store] = len(columns)
            columns.append(Column(content.title(store), NUMBER, 16))
            if store in by_the_source:
                columns.append(Column(f"{content.title(store)}, published", NUMBER, 16))
        heading = content.heading("means over the runs")
        sheet = Sheet(self._book, name, columns, len(QUANTITY), heading)
        shown = rows[rows["store"].isin(stores) & rows["metric"].isin(MAIN)]
        of_place = dict(list(shown.groupby(["workload", "parameters"])))
        for place in dict.fromkeys(setting[1:] for setting in self._settings):
            lines = of_place.get(place, shown.head(0)).groupby(["operation", "metric"], sort=False)
            for _key, line in lines:
                by_store = {row.store: row for row in line.itertuples()}
                self._begin(sheet, place, next(iter(by_store.values())))
                for store, column in numbers.items():
                    row = by_store.get(store)
                    if row and pd.notna(row.published):
                        _write_published(sheet, column + 1, row)
                    if row and pd.notna(row.mean):
                        self._mean(sheet, column, row)
                    elif place[0] != MEAN:
                        # "" where runs count, and this value just does not exist.
                        label = content.state((store, *place)).label
                        sheet.put(column, label, align="right", **NOTHING)
        sheet.done()

    def with_spread(self, name: str) -> None:
        """Write a line per store and quantity: runs, mean, spread, and what was published."""
        content = self._content
        heading = content.heading("means, spread and published values")
        sheet = Sheet(self._book, name, SPREAD, 1, heading)
        of_setting = dict(list(self._rows.groupby(SETTING)))
        for setting in self._settings:
            rows = of_setting.get(setting, self._rows.head(0).reindex([0]))
            state = content.state(setting)
            note = "" if setting[1] == MEAN else "; ".join(map(sentence, state.problems))
            for row in rows.itertuples():
                self._begin(sheet, setting[1:], row, setting[0])
                for column, (function, value) in FORMULAS.items():
                    self._formula(sheet, column, function, row, getattr(row, value))
                self._mean(sheet, "Mean", row)
                if pd.notna(row.cv):
                    runs = self._runs(row)
                    ratio = f"=STDEV({runs})/AVERAGE({runs})"
                    sheet.formula("Coefficient of variation", ratio, row.cv)
                if pd.notna(row.published):
                    _write_published(sheet, "Published", row)
                    ratio = row.shown / row.published if row.published else math.nan
                    _write_ratio(sheet, "Here by published", "Mean", "Published", ratio)
                if rows["mean"].isna().all():
                    sheet.put("Mean", state.label, align="right", **NOTHING)
                # Once for a setting.
                sheet.put("Note", note, **NOTHING)
                note = ""
        sheet.done()

    def _begin(self, sheet: Sheet, place: tuple[str, str], row, store: str = "") -> None:
        """Begin a line of one quantity; those of one operation are a block."""
        sheet.next((store, place, row.operation))
        if store:
            sheet.put("Store", self._content.title(store))
        self._content.write_sizes(sheet, *place, store)
        if pd.notna(row.metric):
            quantity = (metric_of(row.metric).title, unit_text(row.unit))
            sheet.write("Operation", operation_title(row.operation), *quantity)

    def _mean(self, sheet: Sheet, column: str | int, row) -> None:
        """The geometric mean of rates, the plain one of all else."""
        if row.geometric == 0:
            # GEOMEAN takes no 0.
            sheet.put(column, 0.0)
            return
        function = "AVERAGE" if pd.isna(row.geometric) else "GEOMEAN"
        self._formula(sheet, column, function, row, row.shown)

    def _runs(self, row) -> str:
        """Return the references of the runs behind a ``row``."""
        return self._places.ranges(tuple(getattr(row, name) for name in KEYS))

    def _formula(self, sheet: Sheet, column: str | int, function: str, row, value: float) -> None:
        """Return the formula ``function`` over the runs behind a ``row``; empty for NaN."""
        if pd.notna(value):
            form = {} if function == "COUNT" else {"num_format": number_format(row.unit)}
            sheet.formula(column, f"={function}({self._runs(row)})", value, **form)


def _write_ratio(sheet: Sheet, column: str, above: str, below: str, value: float) -> None:
    sheet.formula(column, f"={sheet.cell(above)}/{sheet.cell(below)}", value)


def _write_published(sheet: Sheet, column: str | int, row) -> None:
    """Grey, with a mark where the audit finds the value inconsistent."""
    form = number_format(row.unit) + (f'"{MARK}"' if row.inconsistent else "")
    sheet.put(column, row.published, num_format=form, font_color=GREY)


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
        for row in content.outcomes[setting].itertuples():
            store, workload, parameters = setting
            status, reason = content.status(row)
            sheet.next()
            sheet.write("Store", content.title(store), content.workload(workload), parameters)
            position = float(row.position) if row.position else None
            sheet.write("Run", int(row.repetition), status, position, as_utc(row.started))
            sheet.write("Duration (s)", row.wall_seconds, row.server_version)
            digest = sums_digest(content.run.raw / path_of(row))
            sheet.put(CELLS[-2].header, digest, font_name="Courier New", font_size=9)
            sheet.put("Reason", reason)
    sheet.done()
