"""Throughput over a size: a row for each value, published values beside the measured ones."""

from __future__ import annotations

import pandas as pd

from kvstudy.analyse.claims.words import sized
from kvstudy.analyse.tidy.numbers import between, grouped
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED, Swept
from kvstudy.language.current import _, pgettext
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH, Grid, Line, Section
from kvstudy.present.tables.markup import Rich, grey, marked, stacked
from kvstudy.present.tables.rejected import rejected_note, with_mark
from kvstudy.study.base import SIZE_TITLES
from kvstudy.study.combinations import Line as Over
from kvstudy.study.combinations import lines
from kvstudy.study.curves import SweepTable
from kvstudy.study.model import Study


def rows(table: SweepTable, study: Study, swept: Swept) -> pd.DataFrame:
    """All values, one a row; see ``Swept.along`` for the columns."""
    frames = [swept.along(line, "overall", "throughput") for line in _lines(table, study)]
    return pd.concat(frames, ignore_index=True)


def content(table: SweepTable, frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """What the template of checks needs of ``rows``."""
    found = _lines(table, study)
    published = (frame["side"] == PUBLISHED).any()
    columns: list[Rich] = []
    for line in found:
        fixed = _fixed(line, found)
        parts = [titles[line.store], fixed, "" if not published else pgettext("column", "here")]
        columns.append(_heading(parts, line.store))
        if published:
            columns.append(_heading([pgettext("column", "published")], line.store))
    values = sorted(frame[table.over].unique())
    printed = []
    for value in values:
        cells: list[str] = []
        for line in found:
            mine = frame[(frame["store"] == line.store) & (frame[table.over] == value)]
            for size, number in line.fixed:
                mine = mine[mine[size] == number]
            cells.append(_cell(mine, MEASURED))
            if published:
                cells.append(grey(_cell(mine, PUBLISHED)))
        printed.append(Line(grouped(str(int(value))), cells, value=value))
    runs = sorted({int(n) for n in frame.loc[frame["side"] == MEASURED, "n"] if n})
    return {
        "columns": columns,
        "sortable": True,
        "sections": [Section(_(SIZE_TITLES[table.over]), printed)],
        "notes": [
            *_notes(runs, bool(published)),
            *([rejected_note()] if (frame["rejected"] == "yes").any() else []),
        ],
    }


def _lines(table: SweepTable, study: Study) -> list[Over]:
    return lines(study, table.over, table.where, [table.workload], study.store_names)


def _fixed(line: Over, all_lines: list[Over]) -> str:
    """The sizes by which the table's columns differ."""
    return ", ".join(
        sized(size, number).format(grouped(str(number)))
        for place, (size, number) in enumerate(line.fixed)
        if len({each.fixed[place] for each in all_lines}) > 1
    )


def _heading(parts: list[str], store: str) -> Rich:
    return marked(stacked(*filter(None, parts)), store=store)


def _cell(rows: pd.DataFrame, side: str) -> str:
    mine = rows[rows["side"] == side]
    if mine.empty:
        return DASH
    row = mine.iloc[0]
    if pd.isna(row["value"]):
        return sentence(row["note"])
    text = marked(grouped(f"{row['value']:.0f}"), row["value"])
    return with_mark(text, row["rejected"] == "yes")


def _notes(runs: list[int], published: bool) -> list[str]:
    notes = [_("Throughput in operations per second.")]
    if runs == [1]:
        notes.append(
            _(
                "One run each: how much a value would differ from the next run is not known from "
                "them."
            )
        )
    elif runs:
        span = str(runs[0]) if len(runs) == 1 else between(str(runs[0]), str(runs[-1]))
        text = _("Here: means of {} runs; their ranges are in the table's CSV file.")
        notes.append(text.format(span))
    if published:
        notes.append(_("Published values are of another machine: compare ratios, not rates."))
    return notes
