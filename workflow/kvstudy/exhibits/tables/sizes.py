"""Throughput over the sizes of cells: a line for each value, and where it saturates."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.exhibits.table import (
    Table,
    kind_of_means,
    number_of,
    span_of,
    throughput_of,
    values_head,
)
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import Grid, TableCell, TableRow, TableSection, cell_of, head_of
from kvstudy.layout.numbers import amount, grouped, rate, share, significant, whole
from kvstudy.layout.rich_text import DASH, grey, lines, note, raised, with_mark
from kvstudy.libraries import pd
from kvstudy.stats.laws import SATURATED
from kvstudy.study.base import SIZE_TITLES, SIZES, Name, Size, Sizes
from kvstudy.study.combinations import series_of
from kvstudy.study.exhibits import check_lines

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.combinations import Series as Over
    from kvstudy.study.model import Study
    from kvstudy.study.parts import Source


class SweepTable(Table):
    """Throughput over a size: a row for each value, columns for stores and other sizes."""

    in_template = True
    cells = "every size"

    kind: Literal["sweep"] = Field(description="Throughput over threads, records or operations.")
    workload: Name = Field(description="The workload.")
    over: Size = Field(description="The size of the rows.")
    where: Sizes = Field(
        default=Sizes(),
        description="The other sizes; a list makes a column for each. Default: the shown sizes.",
    )

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise KvstudyError for names that the study does not have, or a line without cells."""
        super().check(study, path, key)
        check_lines(self, study, path, key)

    def rows(self, run: Run) -> pd.DataFrame:
        """All values, one a row; see ``Swept.along`` for the columns."""
        frames = [
            run.swept.along(line, "overall", "throughput", self.plain_means(run.study))
            for line in self._lines(run.study)
        ]
        return pd.concat(frames, ignore_index=True)

    def _lines(self, study: Study) -> list[Over]:
        return series_of(study, self.over, self.where, [self.workload], study.store_names)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A column per store and other sizes, two where there are published values."""
        curves, plain = self._lines(run.study), self.plain_means(run.study)
        published = (rows["side"] == PUBLISHED).any()
        numbers = {size: {dict(curve.fixed).get(size) for curve in curves} for size in SIZES}
        columns = []
        for curve in curves:
            fixed = (amount(*of) for of in curve.fixed if len(numbers[of[0]]) > 1)
            parts = [run.titles[curve.store], ", ".join(fixed)]
            parts += [values_head(run.study)] if published else []
            columns.append(head_of(lines(*filter(None, parts)), store=curve.store))
            if published:
                columns.append(head_of(pgettext("column", "published"), store=curve.store))
        by_point = {
            (row.side, row.store, *(getattr(row, size) for size in SIZES)): row
            for row in rows.itertuples()
        }
        shown = []
        for size in sorted(rows[self.over].unique()):
            cells = []
            for curve in curves:
                sizes = dict(curve.fixed) | {self.over: size}
                point = (curve.store, *(sizes[name] for name in SIZES))
                cells.append(_measured(by_point.get((MEASURED, *point)), plain))
                if published:
                    point_of_source = by_point.get((PUBLISHED, *point))
                    cells.append(_cell(point_of_source, run.study.source).styled(grey))
            shown.append(TableRow(cell_of(whole(size), size), cells))
        notes = [_("Throughput in operations per second.")]
        runs = span_of(rows.loc[rows["side"] == MEASURED, "n"])
        if runs == "1":
            notes.append(_("One run each: the spread between runs is unknown."))
        elif runs:
            text = _("Measured: means of {} runs; their ranges are in the table's CSV file.")
            notes[0] += " " + kind_of_means(run.study, plain)
            notes.append(text.format(runs))
        if published:
            text = _("Published values are from another machine: compare ratios, not rates.")
            notes.append(text)
        sections = [TableSection(_(SIZE_TITLES[self.over]), shown)]
        return [Grid(columns, sections, notes, sortable=True)]


def _measured(row, plain: bool) -> TableCell:
    """``_cell`` with the runs behind it, of which it is the ``plain`` or the geometric mean."""
    cell = _cell(row)
    if cell.value is None:
        return cell
    runs = throughput_of(
        row.store, [(row.workload, row.parameters)], kind="mean" if plain else "geometric"
    )
    return replace(cell, runs=runs)


def _cell(row, source: Source | None = None) -> TableCell:
    """A measured throughput in whole operations/s, one of a ``source`` as it printed it."""
    if row is None:
        return cell_of(DASH)
    if math.isnan(row.value):
        return cell_of(sentence(row.note))
    digits = source.printed.digits("throughput", row.value) if source else f"{row.value:.0f}"
    text = grouped(digits.replace(",", ""))
    return cell_of(with_mark(text, row.inconsistent == "yes"), row.value)


class ScalingTable(Table):
    """The saturation of throughput, in every report with six thread counts or more."""

    in_template = True
    cells = "every size"
    own_caption = N_("Throughput by client threads")

    kind: Literal["scaling"] = Field(
        description="Saturation and the universal scalability law, per store and workload."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        from kvstudy.analyse.findings.bottleneck import scaling
        from kvstudy.analyse.tidy.swept import sizes

        return scaling(run.values, sizes(run.study, run.scale))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and sizes."""
        marks: dict[str, str] = {}
        columns = [
            (_("Saturated at"), _saturated),
            (_("Peak at"), number_of("knee", lambda knee: decimal(f"{knee:.1f}"))),
            (_("One thread"), number_of("single", rate)),
            (_("Contention"), number_of("contention", _small)),
            (_("Coherency"), number_of("coherency", _small)),
            (pgettext("from the fit", "Error"), number_of("off", share)),
        ]
        order = run.study.store_names.index
        sections = []
        for use in run.study.workloads:
            mine = rows[rows["workload"] == use.name]
            for (records, operations), of in mine.groupby(["records", "operations"], sort=True):
                parts = [use.title, amount("records", records)]
                if operations and mine["operations"].nunique() > 1:
                    parts.append(amount("operations", operations))
                series_of = []
                for row in of.sort_values("store", key=lambda names: names.map(order)).itertuples():
                    label = run.titles[row.store]
                    if row.doubts:
                        text = _("Doubtful: {}").format(sentence(row.doubts))
                        mark = marks.setdefault(text, ascii_lowercase[len(marks) % 26])
                        label += raised(mark)
                    series_of.append(
                        TableRow(label, [cell(row) for _head, cell in columns], row.store)
                    )
                sections.append(TableSection(", ".join(parts), series_of, workload=use.name))
        if not sections:
            sections = [
                TableSection(
                    "", [TableRow(_("no throughput at several thread counts"), [DASH] * 6)]
                )
            ]
        notes = [
            _(
                "Saturated at: the fewest threads with {}% of the largest mean throughput. "
                "Other columns: universal scalability law, fitted to all runs, with its peak "
                "(threads of the largest throughput), ops/s of one thread, contention and "
                "coherency, and the typical error of a run."
            ).format(f"{SATURATED * 100:.0f}"),
            *(note(mark, f"{text}.") for text, mark in marks.items()),
        ]
        return [Grid([head for head, _cell in columns], sections, notes, sortable=True)]


def _saturated(row) -> str:
    if math.isnan(row.saturation):
        return _("above {}").format(f"{row.most:.0f}")
    return f"{row.saturation:.0f}"


def _small(value: float) -> str:
    return decimal("< 0.00001") if value < 1e-5 else significant(value, 2)
