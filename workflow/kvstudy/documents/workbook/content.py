"""The content of a workbook, and access to it."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from functools import cached_property

import pandas as pd

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import CELLS, SETTING, path_of
from kvstudy.analyse.tidy.results import RepetitionStatus, state_of
from kvstudy.analyse.tidy.summary import operation_rank
from kvstudy.documents.workbook.sheet import Column, Sheet
from kvstudy.errors import DataError
from kvstudy.language.reasons import sentence
from kvstudy.layout.numbers import sign
from kvstudy.study.cells import Cell, closed_loop
from kvstudy.study.controls import CEILING, added, original
from kvstudy.study.metrics import METRICS

# What ``Content.write_sizes`` writes behind the workload.
SIZES = [
    Column("Records", "#,##0", 10),
    Column("Planned operations", "#,##0", 12),
    Column("Client threads", "0", 8),
]
FORMATS = {"ms": "#,##0", "ops/s": "#,##0.0", "us": "#,##0.0", "count": "#,##0", "%": "0.00"}
OTHER_FORMAT = "0.000"


def unit_text(unit: str) -> str:
    """The unit for a column of units; counts have none."""
    return "" if unit in ("count", "share") else sign(unit)


def number_format(unit: str) -> str:
    """The number format of values in ``unit``."""
    return FORMATS.get(unit, OTHER_FORMAT)


def rank(metric: str) -> tuple[int, str]:
    """For sorting metrics."""
    return (list(METRICS).index(metric) if metric in METRICS else len(METRICS), metric)


# Store, workload and parameters.
Setting = tuple[str, str, str]


class Content:
    """A ``run`` as its sheets show it."""

    def __init__(self, run: Run) -> None:
        """Raise DataError for a ``cells.csv`` with cells that the study does not plan."""
        self.run, self.study = run, run.study
        self._planned = closed_loop(run.planned.values())
        names = {cell.path for cell in self._planned}
        for number, row in enumerate(run.cells.itertuples(), start=2):
            if (name := path_of(row)) not in names:
                raise DataError(
                    f"{CELLS.path(run.folder)}:{number}: {name} is not planned by the study "
                    f"'{run.study.name}'; give the study and the --scale of the run, or parse again"
                )

    def heading(self, what: str) -> str:
        """Return the heading of a sheet's printed pages."""
        return f"{self.study.title}, {self.run.name}: {what}"

    @property
    def trial(self) -> str:
        """Return the notice of a trial run; "" for others."""
        if self.run.scale == 1:
            return ""
        return (
            f"Trial run: measured with {self.run.scale:g} times the records and operations of the "
            "study, to see that everything works. The numbers are no result."
        )

    def title(self, store: str) -> str:
        """Return the title of a store or a control."""
        titles = {CEILING.name: CEILING.title} | self.run.titles
        of = original(self.study, store)
        if store in titles or of not in titles:
            return titles.get(store, store)
        return f"{titles[of]} ({added(store)})"

    def workload(self, name: str) -> str:
        """Return the title of a workload."""
        return self.study.workload(name).title

    def write_sizes(self, sheet: Sheet, workload: str, parameters: str, store: str = "") -> None:
        """Write the workload, and records, operations and threads in the columns after it.

        They are those of ``store``, or the study's.
        """
        cell = self._cells.get((store, workload, parameters))
        sizes = (cell.records, cell.operations or None, cell.threads) if cell else ()
        sheet.write("Workload", self.workload(workload), *sizes)

    @cached_property
    def settings(self) -> dict[Setting, Cell]:
        """Each setting with one of its cells, in the order of the study and of the sizes."""
        workloads, stores = self.study.workload_names, self.study.store_names

        def place(cell: Cell) -> tuple:
            store = stores.index(cell.store) if cell.store in stores else len(stores)
            sizes = (cell.records, cell.operations, cell.threads)
            return (store, cell.store, workloads.index(cell.workload), *sizes)

        cells = sorted(self._planned, key=place)
        return {(cell.store, cell.workload, cell.parameters): cell for cell in cells}

    @cached_property
    def _cells(self) -> dict[Setting, Cell]:
        """``settings``, and below the store "" those of the study."""
        # A store with sizes of its own is under the study's.
        last = sorted(self.settings.items(), key=lambda item: item[1].beside is None)
        return self.settings | {("", *key[1:]): cell for key, cell in last}

    @cached_property
    def outcomes(self) -> dict[Setting, pd.DataFrame]:
        """The rows of ``cells.csv`` of each setting, by repetition; empty where none is planned."""
        rows = self.run.cells.sort_values(
            "repetition", key=lambda texts: texts.astype(int), kind="stable"
        )
        of_settings = dict(list(rows.groupby(SETTING, sort=False)))
        return defaultdict(lambda: rows.head(0), of_settings)

    def status(self, row) -> tuple[str, str]:
        """Return the status of a cell and its reason; invalid cells are measured, but excluded."""
        if row.status == "measured" and row.invalid:
            return "invalid", sentence(row.invalid)
        return row.status, sentence(row.reason)

    def state(self, setting: Setting) -> RepetitionStatus:
        """Return the runs of the setting without a value or excluded, with reasons."""
        return state_of(self.outcomes[setting])


def moment(text: str) -> datetime:
    """A time of ``cells.csv`` in UTC; one without a zone is taken to be that already."""
    time = datetime.fromisoformat(text)
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def as_utc(text: str) -> str:
    """``2026-11-21 22:26:43 UTC``; "" for nothing."""
    return f"{moment(text):%Y-%m-%d %H:%M:%S} UTC" if text else ""


def operation_order(operation: str) -> tuple[bool, int, str]:
    """For sorting: the whole phase, the operations, and those that are combined."""
    return (*operation_rank(operation), operation)


def operation_title(operation: str) -> str:
    """Return the title of an operation: the whole phase, or a combined row."""
    if operation == "overall":
        return "whole phase"
    return f"{operation} (plain mean)" if "+" in operation else operation
