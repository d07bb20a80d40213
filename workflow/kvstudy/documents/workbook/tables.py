"""The sheets of single runs, of their means and spread, and of the cells."""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.analyse.tidy.files import SETTING, path_of
from kvstudy.analyse.tidy.summary import COUNTS, measured_phases, shown_mean
from kvstudy.documents.workbook.content import (
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
from kvstudy.documents.workbook.references import CellReferences
from kvstudy.documents.workbook.sheet import GREY, NOTHING, Book, Column, Sheet
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import Statistic
from kvstudy.layout.numbers import MARK
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN
from kvstudy.study.raw import sums_digest

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
                self._places.add(place, repetition, sheet.name, sheet.row, column, value)


# Columns of several quantities; each value has the format of its own.
NUMBER = "General"
SPREAD = [
    Column("Store", width=16),
    Column("Workload", width=20),
    *SIZES,
    Column("Operation", width=25),
    Column("Quantity", width=30),
    Column("Unit", width=8),
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
KEYS = [*SETTING, "operation", "metric"]
# What is calculated from the single runs besides the mean, by its column in ``summary.csv``.
KINDS = {"Standard deviation": "sd", "Smallest": "min", "Largest": "max"}


def averages(content: Content, places: CellReferences, book: Book, name: str) -> None:
    """Write a line per store and quantity: runs, mean, spread, and what was published."""
    heading = content.heading("means, spread and published values")
    sheet = Sheet(book, name, SPREAD, 1, heading)
    frame = _averaged(content)
    of_setting = dict(list(frame.groupby(SETTING)))
    for setting in _settings(content, frame):
        rows = of_setting.get(setting, frame.head(0).reindex([0]))
        state = content.state(setting)
        note = "" if setting[1] == MEAN else "; ".join(map(sentence, state.problems))
        for row in rows.itertuples():
            # The lines of one operation are a block.
            sheet.next((setting, row.operation))
            sheet.put("Store", content.title(setting[0]))
            content.write_sizes(sheet, *setting[1:], setting[0])
            if pd.notna(row.metric):
                quantity = (metric_of(row.metric).title, unit_text(row.unit))
                sheet.write("Operation", operation_title(row.operation), *quantity)
            if pd.notna(row.n):
                _statistics(sheet, row, places)
            if pd.notna(row.published):
                # With a mark where the audit finds the value inconsistent.
                form = number_format(row.unit) + (f'"{MARK}"' if row.inconsistent else "")
                sheet.put("Published", row.published, num_format=form, font_color=GREY)
                ratio = row.shown / row.published if row.published else math.nan
                formula = f"={sheet.cell('Mean')}/{sheet.cell('Published')}"
                sheet.formula("Here by published", formula, ratio)
            if rows["mean"].isna().all():
                sheet.put("Mean", state.label, align="right", **NOTHING)
            # Once for a setting.
            sheet.put("Note", note, **NOTHING)
            note = ""
    sheet.done()


def _averaged(content: Content) -> pd.DataFrame:
    """Means and published values of all settings, each in the order of its quantities."""
    published = content.run.swept.published_values.rename(columns={"value": "published"})
    keys = [*KEYS, "unit"]
    rows = content.run.summary.merge(published, how="outer", on=keys)
    lines = zip(map(operation_order, rows["operation"]), map(rank, rows["metric"]), strict=True)
    # A value that the source has not is not inconsistent.
    rows = rows.assign(line=list(lines), inconsistent=rows["inconsistent"].eq(True))
    rows["shown"] = shown_mean(rows)
    return rows.astype({"n": "Int64"}).sort_values("line")


def _settings(content: Content, rows: pd.DataFrame) -> list[Setting]:
    """The settings of the study's own stores by workload, then the means of all workloads."""
    study = content.study
    settings = [key for key in content.settings if key[0] in study.store_names]
    # A stable sort: stores and sizes keep their order.
    settings.sort(key=lambda key: study.workload_names.index(key[1]))
    means = rows.loc[rows["workload"] == MEAN, SETTING].drop_duplicates()
    order = {name: number for number, name in enumerate(study.store_names)}
    means = means.sort_values("store", key=lambda names: names.map(order), kind="stable")
    return [*settings, *means.itertuples(index=False, name=None)]


def _statistics(sheet: Sheet, row, places: CellReferences) -> None:
    """Write the formulas over the runs behind a ``row``: the mean is geometric of rates."""
    keys = (tuple(getattr(row, key) for key in KEYS),)
    runs = places.ranges(*keys)
    mean = "mean" if pd.isna(row.geometric) else "geometric"
    for column, kind, name in [("Mean", mean, "shown"), *((c, k, k) for c, k in KINDS.items())]:
        if pd.notna(value := getattr(row, name)):
            formula = places.formula(Statistic(kind, keys), value)
            sheet.formula(column, formula, value, num_format=number_format(row.unit))
    sheet.formula("Runs", f"=COUNT({runs})", row.n)
    if pd.notna(row.cv):
        sheet.formula("Coefficient of variation", f"=STDEV({runs})/AVERAGE({runs})", row.cv)


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
