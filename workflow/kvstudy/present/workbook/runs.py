"""A sheet per store with its single runs: one row per run, phase and operation."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.analyse.tidy.summary import COUNTS, measured_phases
from kvstudy.present.workbook.content import (
    SIZES,
    Content,
    Setting,
    number_format,
    operation_rank,
    operation_title,
    rank,
    unit_text,
)
from kvstudy.present.workbook.sheet import GREY, Book, Column, Sheet, quoted
from kvstudy.study.metrics import metric_of
from kvstudy.study.parts import MEAN

# Store, workload, parameters and operation of a value, and its metric.
Key = tuple[str, str, str, str, str]


@dataclass
class Places:
    """The cells of the runs that count, by what they are values of."""

    _found: dict[Key, tuple[str, int, list[int]]] = field(default_factory=dict)

    def add(self, key: Key, sheet: str, row: int, column: int) -> None:
        """A run's value stands in ``row`` and ``column`` (from 0) of ``sheet``."""
        self._found.setdefault(key, (sheet, column, []))[2].append(row)

    def __contains__(self, key: Key) -> bool:
        return key in self._found

    def count(self, key: Key) -> int:
        """How many runs that count have this value."""
        return len(self._found[key][2]) if key in self._found else 0

    def cell(self, key: Key, number: int) -> str:
        """``J5``: the run with this ``number`` (from 0) among those that count, on its sheet."""
        _, column, rows = self._found[key]
        return xl_rowcol_to_cell(rows[number], column)

    def ranges(self, key: Key) -> str:
        """``'Redis'!J5:J7``; runs that are not adjacent in several ranges with commas."""
        sheet, column, rows = self._found[key]
        parts = []
        # Adjacent rows are as far from their places in the list.
        for _, part in groupby(enumerate(rows), lambda item: item[1] - item[0]):
            cells = [xl_rowcol_to_cell(row, column) for _, row in part]
            parts.append(f"{quoted(sheet)}!{':'.join(dict.fromkeys((cells[0], cells[-1])))}")
        return ",".join(parts)


CONTROLS = "Controls"
FIRST = [
    Column("Workload", width=16),
    *SIZES,
    Column("Phase", width=7),
    Column("Operation", width=26),
    Column("Run", "0", 6),
    Column("Status", width=13),
]
NOT_COUNTED = {"italic": True, "font_color": GREY}


class Runs:
    """Writes the sheets of single runs, and tells ``places`` where the values stand."""

    def __init__(self, content: Content, places: Places) -> None:
        self._content = content
        self._places = places
        measured = content.run.measurements
        units = dict(zip(measured["metric"], measured["unit"], strict=True))
        self._metrics = sorted(units, key=rank)
        self._units = units
        self._measured = _table(measured)
        self._counted = _table(content.run.values)
        self._phase = measured_phases(measured)
        self._block: tuple | None = None
        # The operations of each setting by phase.
        self._known: dict[Setting, dict[str, set[str]]] = {}
        for *setting, phase, operation, _ in self._measured:
            phases = self._known.setdefault(tuple(setting), {})
            phases.setdefault(phase, set()).add(operation)
        self._combined = {key[:3]: key[4] for key in self._counted if "+" in key[4]}

    def write(self, book: Book, name: str, stores: list[str], with_store: bool) -> None:
        """Fill the sheet ``name`` with the runs of ``stores``, which a column may name."""
        content, start = self._content, int(with_store)
        columns = [Column("Store", width=22)] * start + FIRST
        for metric in self._metrics:
            title, unit = metric_of(metric).title, self._units[metric]
            sign = f" ({unit_text(unit)})" if unit_text(unit) else ""
            columns.append(Column(title + sign, number_format(unit)))
        columns.append(Column("Reason", width=70, aside=True))
        title = content.heading("single runs")
        sheet = Sheet(book, name, columns, start + len(FIRST), title, pages_wide=2)
        for store in stores:
            for setting in content.settings:
                if setting[0] == store:
                    self._setting(sheet, setting, start)
            self._mean(sheet, store, start)
        sheet.done()

    def _setting(self, sheet: Sheet, setting: Setting, start: int) -> None:
        phases = self._known.get(setting, {})
        if not phases:
            for row in self._content.outcomes.get(setting, []):
                self._begin(sheet, setting, start, "", "", row)
                self._reason(sheet, start, row)
            return
        told: set[str] = set()
        for phase in sorted(phases):
            at: dict[tuple[str, str], int] = {}
            for operation in sorted(phases[phase], key=operation_rank):
                for row in self._content.outcomes[setting]:
                    self._begin(sheet, setting, start, phase, operation, row)
                    at[operation, row.repetition] = sheet.row
                    if row.repetition not in told:
                        self._reason(sheet, start, row)
                    told.add(row.repetition)
                    self._values(sheet, (*setting, phase, operation, row.repetition), start, row)
            if phase == self._phase[setting[1]] and setting in self._combined:
                self._combine(sheet, setting, start, phase, at)

    def _begin(
        self, sheet: Sheet, setting: Setting, start: int, phase: str, operation: str, row
    ) -> None:
        content = self._content
        store, workload, parameters = setting
        status, _ = content.status(row)
        sheet.next()
        block = (setting, phase, operation)
        if block != self._block:
            sheet.rule()
        self._block = block
        if start:
            sheet.text(0, content.title(store))
        content.write_sizes(sheet, start, workload, parameters, store)
        title = operation_title(operation) if operation else ""
        sheet.write(start + 4, phase, title, int(row.repetition))
        sheet.text(start + 7, status, **({} if status == "measured" else NOT_COUNTED))

    def _reason(self, sheet: Sheet, start: int, row) -> None:
        """Why the run has no value, once for all of its rows."""
        _, reason = self._content.status(row)
        sheet.text(start + len(FIRST) + len(self._metrics), reason, **NOT_COUNTED)

    def _values(self, sheet: Sheet, key: tuple, start: int, row) -> None:
        store, workload, parameters, phase, operation, _ = key
        counts = self._content.status(row)[0] == "measured"
        for metric, value in self._measured.get(key, {}).items():
            column = self._column(metric, start)
            sheet.number(column, value, **({} if counts else NOT_COUNTED))
            if counts and phase == self._phase[workload]:
                place = (store, workload, parameters, operation, metric)
                self._places.add(place, sheet.name, sheet.row, column)

    def _combine(self, sheet: Sheet, setting: Setting, start: int, phase: str, at: dict) -> None:
        """The rows of all operations together, each from the rows of the same run."""
        combined = self._combined[setting]
        for row in self._content.outcomes[setting]:
            values = self._counted.get((*setting, phase, combined, row.repetition), {})
            self._begin(sheet, setting, start, phase, combined, row)
            rows = [at[operation, row.repetition] for operation in combined.split("+")]
            for metric, value in values.items():
                column = self._column(metric, start)
                cells = ",".join(xl_rowcol_to_cell(each, column) for each in rows)
                what = "SUM" if metric in COUNTS else "AVERAGE"
                sheet.formula(column, f"={what}({cells})", value)
                self._places.add((*setting, combined, metric), sheet.name, sheet.row, column)

    def _mean(self, sheet: Sheet, store: str, start: int) -> None:
        column = self._column("throughput", start) if "throughput" in self._units else 0
        for key, values in self._counted.items():
            if key[0] != store or key[1] != MEAN:
                continue
            sheet.next()
            if self._block is not None:
                sheet.rule()
            self._block = None
            if start:
                sheet.text(0, self._content.title(store))
            sheet.text(start, self._content.workload(MEAN))
            sheet.write(start + 5, operation_title("overall"), int(key[5]), "measured")
            cells = ",".join(
                self._places.cell((store, name, slug, "overall", "throughput"), number)
                for name, slug in self._content.run.headline.items()
                for number in [self._number_of(store, name, slug, key[5])]
            )
            sheet.formula(column, f"=AVERAGE({cells})", values["throughput"])
            place = (store, MEAN, key[2], "overall", "throughput")
            self._places.add(place, sheet.name, sheet.row, column)

    def _number_of(self, store: str, workload: str, parameters: str, repetition: str) -> int:
        """How many runs that count come before this one."""
        rows = self._content.outcomes[store, workload, parameters]
        counted = [row.repetition for row in rows if self._content.status(row)[0] == "measured"]
        return counted.index(repetition)

    def _column(self, metric: str, start: int) -> int:
        return start + len(FIRST) + self._metrics.index(metric)


def _table(frame) -> dict[tuple, dict[str, float]]:
    """The values by metric of each run, phase and operation."""
    names = ["store", "workload", "parameters", "phase", "operation", "repetition"]
    found: dict[tuple, dict[str, float]] = {}
    rows = frame[[*names, "metric", "value"]].itertuples(index=False, name=None)
    for *key, metric, value in rows:
        found.setdefault(tuple(key), {})[metric] = value
    return found
