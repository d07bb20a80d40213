"""The table of scaling: where throughput saturates over the client threads."""

from __future__ import annotations

import math
from string import ascii_lowercase

import pandas as pd

from kvstudy.analyse.claims.words import sized
from kvstudy.analyse.tidy.numbers import grouped, share, significant
from kvstudy.language.current import _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.present.tables.checks import DASH, Grid, Line, Section
from kvstudy.present.tables.markup import Rich, marked, note, raised
from kvstudy.stats.scalability import SATURATED
from kvstudy.study.model import Study


def content(frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """``frame`` is ``analysis.scaling``'s; a section per workload and sizes."""
    marks: dict[str, str] = {}
    sections = []
    for use in study.workloads:
        mine = frame[frame["workload"] == use.name]
        for (records, operations), rows in mine.groupby(["records", "operations"], sort=True):
            parts = [use.title, _sized("records", int(records))]
            if operations and mine["operations"].nunique() > 1:
                parts.append(_sized("operations", int(operations)))
            title = ", ".join(parts)
            lines = [
                _line(row, titles, marks)
                for store in study.store_names
                for row in rows[rows["store"] == store].itertuples()
            ]
            sections.append(Section(title, lines, workload=use.name))
    if not sections:
        sections.append(Section("", [Line(_("no throughput over threads"), [DASH] * 6)]))
    return {
        "columns": [
            *[_("Saturated at"), _("Knee at"), _("One thread")],
            *[_("Contention"), _("Coherency"), pgettext("from the fit", "Off")],
        ],
        "sections": sections,
        "sortable": True,
        "notes": [
            _(
                "Saturated at: the fewest threads with {}% of the largest mean throughput. The "
                "other columns are the universal scalability law, fitted to all runs: knee, the "
                "threads of its largest throughput; ops/s of one thread; contention and coherency "
                "(what threads cost each other); off, how far a typical run is from it."
            ).format(f"{SATURATED * 100:.0f}"),
            *(note(mark, f"{text}.") for text, mark in marks.items()),
        ],
    }


def _line(row, titles: dict[str, str], marks: dict[str, str]) -> Line:
    label = titles[row.store]
    if row.doubts:
        text = _("Doubtful: {}").format(sentence(row.doubts))
        mark = marks.setdefault(text, ascii_lowercase[len(marks) % 26])
        label = Rich.escape(label) + raised(mark)
    at = (
        _("above {}").format(f"{row.most:.0f}")
        if math.isnan(row.saturation)
        else f"{row.saturation:.0f}"
    )
    if math.isnan(row.single):
        return Line(label, [at, *[DASH] * 5], row.store)
    knee = DASH if math.isnan(row.knee) else marked(decimal(f"{row.knee:.1f}"), row.knee)
    cells = [
        *[at, knee, marked(grouped(significant(row.single)), row.single)],
        *[_small(row.contention), _small(row.coherency), marked(share(row.off), row.off)],
    ]
    return Line(label, cells, row.store)


def _sized(size: str, number: int) -> str:
    return sized(size, number).format(grouped(str(number)))


def _small(value: float) -> str:
    return marked(decimal("< 0.00001") if value < 1e-5 else significant(value, 2), value)
