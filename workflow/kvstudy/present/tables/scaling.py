"""The table of scaling: where throughput saturates over the client threads."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import grouped, share, significant, sized
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, Rich, marked, note, number_cell, raised
from kvstudy.present.typeset.table import Grid, Line, Section, Table
from kvstudy.stats.laws import SATURATED

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class ScalingTable(Table):
    """Where throughput saturates; a part of every report with six thread counts or more."""

    cells = "every size"
    own_caption = N_("Throughput over client threads")

    kind: Literal["scaling"] = Field(
        description="Saturation and the universal scalability law, per store and workload."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        from kvstudy.analyse.findings.bottleneck import scaling
        from kvstudy.study.cells import sizes

        return scaling(run.values, sizes(run.study, run.scale))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and sizes."""
        marks: dict[str, str] = {}
        sections = []
        for use in run.study.workloads:
            mine = rows[rows["workload"] == use.name]
            for (records, operations), of in mine.groupby(["records", "operations"], sort=True):
                parts = [use.title, _sized("records", records)]
                if operations and mine["operations"].nunique() > 1:
                    parts.append(_sized("operations", operations))
                lines = [
                    _line(row, run.titles, marks)
                    for store in run.study.store_names
                    for row in of[of["store"] == store].itertuples()
                ]
                sections.append(Section(", ".join(parts), lines, workload=use.name))
        if not sections:
            sections = [Section("", [Line(_("no throughput over threads"), [DASH] * 6)])]
        columns = [
            *[_("Saturated at"), _("Knee at"), _("One thread")],
            *[_("Contention"), _("Coherency"), pgettext("from the fit", "Off")],
        ]
        notes = [
            _(
                "Saturated at: the fewest threads with {}% of the largest mean throughput. The "
                "other columns are the universal scalability law, fitted to all runs: knee, the "
                "threads of its largest throughput; ops/s of one thread; contention and coherency "
                "(what threads cost each other); off, how far a typical run is from it."
            ).format(f"{SATURATED * 100:.0f}"),
            *(note(mark, f"{text}.") for text, mark in marks.items()),
        ]
        return [Grid(columns, sections, notes, sortable=True)]


def _line(row, titles: dict[str, str], marks: dict[str, str]) -> Line:
    label = titles[row.store]
    if row.doubts:
        text = _("Doubtful: {}").format(sentence(row.doubts))
        mark = marks.setdefault(text, ascii_lowercase[len(marks) % 26])
        label = Rich.escape(label) + raised(mark)
    at = f"{row.saturation:.0f}"
    if math.isnan(row.saturation):
        at = _("above {}").format(f"{row.most:.0f}")
    if math.isnan(row.single):
        return Line(label, [at, *[DASH] * 5], row.store)
    knee = number_cell(row.knee, lambda knee: decimal(f"{knee:.1f}"))
    cells = [
        *[at, knee, marked(grouped(significant(row.single)), row.single)],
        *[_small(row.contention), _small(row.coherency), marked(share(row.off), row.off)],
    ]
    return Line(label, cells, row.store)


def _sized(size: str, number: float) -> str:
    return sized(size, int(number)).format(grouped(str(int(number))))


def _small(value: float) -> str:
    return marked(decimal("< 0.00001") if value < 1e-5 else significant(value, 2), value)
