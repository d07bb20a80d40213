"""Throughput over a size: a row for each value, published values beside the measured ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, grouped, sized
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.language.current import _, pgettext
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import (
    DASH,
    Rich,
    grey,
    marked,
    stacked,
    with_mark,
)
from kvstudy.present.typeset.table import Grid, Line, Section, Table
from kvstudy.study.base import SIZE_TITLES, Name, Size, Sizes
from kvstudy.study.combinations import lines

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.combinations import Line as Over
    from kvstudy.study.model import Study


class SweepTable(Table):
    """Throughput over a size: a row for each value, columns for stores and other sizes."""

    cells = "every size"

    kind: Literal["sweep"] = Field(description="Throughput over threads, records or operations.")
    workload: Name = Field(description="The workload.")
    over: Size = Field(description="The size that the rows have.")
    where: Sizes = Field(
        default=Sizes(),
        description="The other sizes; a list makes a column for each. Left out: those shown.",
    )

    def check(self, study: Study, path: Path, key: str) -> None:
        """KvstudyError for names that the study does not have, or a line without cells."""
        from kvstudy.study.combinations import check_lines

        super().check(study, path, key)
        check_lines(self, study, path, key)

    def rows(self, run: Run) -> pd.DataFrame:
        """All values, one a row; see ``Swept.along`` for the columns."""
        frames = [run.swept.along(line, "overall", "throughput") for line in self._lines(run.study)]
        return pd.concat(frames, ignore_index=True)

    def _lines(self, study: Study) -> list[Over]:
        return lines(study, self.over, self.where, [self.workload], study.store_names)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A column per store and other sizes, two where there are published values."""
        curves = self._lines(run.study)
        published = bool((rows["side"] == PUBLISHED).any())
        columns: list[Rich] = []
        for curve in curves:
            here = pgettext("column", "here") if published else ""
            parts = filter(None, [run.titles[curve.store], _fixed(curve, curves), here])
            columns.append(marked(stacked(*parts), store=curve.store))
            if published:
                there = stacked(pgettext("column", "published"))
                columns.append(marked(there, store=curve.store))
        shown = []
        for size in sorted(rows[self.over].unique()):
            cells: list[str] = []
            for curve in curves:
                mine = rows[(rows["store"] == curve.store) & (rows[self.over] == size)]
                for other, number in curve.fixed:
                    mine = mine[mine[other] == number]
                cells.append(_cell(mine, MEASURED))
                if published:
                    cells.append(grey(_cell(mine, PUBLISHED)))
            shown.append(Line(grouped(str(int(size))), cells, value=size))
        notes = [_("Throughput in operations per second.")]
        runs = sorted({int(n) for n in rows.loc[rows["side"] == MEASURED, "n"] if n})
        if runs == [1]:
            notes.append(
                _(
                    "One run each: how much a value would differ from the next run is not known "
                    "from them."
                )
            )
        elif runs:
            span = str(runs[0]) if len(runs) == 1 else between(str(runs[0]), str(runs[-1]))
            text = _("Here: means of {} runs; their ranges are in the table's CSV file.")
            notes.append(text.format(span))
        if published:
            text = _("Published values are of another machine: compare ratios, not rates.")
            notes.append(text)
        sections = [Section(_(SIZE_TITLES[self.over]), shown)]
        return [Grid(columns, sections, notes, sortable=True)]


def _fixed(curve: Over, curves: list[Over]) -> str:
    """The sizes by which the table's columns differ."""
    return ", ".join(
        sized(size, number).format(grouped(str(number)))
        for place, (size, number) in enumerate(curve.fixed)
        if len({other.fixed[place] for other in curves}) > 1
    )


def _cell(rows: pd.DataFrame, side: str) -> str:
    mine = rows[rows["side"] == side]
    if mine.empty:
        return DASH
    row = mine.iloc[0]
    if pd.isna(row["value"]):
        return sentence(row["note"])
    text = marked(grouped(f"{row['value']:.0f}"), row["value"])
    return with_mark(text, row["rejected"] == "yes")
