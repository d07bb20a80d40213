"""The table of scaling: where throughput saturates over the client threads."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import share, significant
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, Rich, note, raised
from kvstudy.present.typeset.table import Grid, Line, Section, Table, amount, number_of, rate
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
        columns = [
            (_("Saturated at"), _saturated),
            (_("Knee at"), number_of("knee", lambda knee: decimal(f"{knee:.1f}"))),
            (_("One thread"), number_of("single", rate)),
            (_("Contention"), number_of("contention", _small)),
            (_("Coherency"), number_of("coherency", _small)),
            (pgettext("from the fit", "Off"), number_of("off", share)),
        ]
        sections = []
        for use in run.study.workloads:
            mine = rows[rows["workload"] == use.name]
            for (records, operations), of in mine.groupby(["records", "operations"], sort=True):
                parts = [use.title, amount("records", records)]
                if operations and mine["operations"].nunique() > 1:
                    parts.append(amount("operations", operations))
                lines = []
                for store in run.study.store_names:
                    for row in of[of["store"] == store].itertuples():
                        cells = [cell(row) for _head, cell in columns]
                        lines.append(Line(_label(row, run.titles, marks), cells, store))
                sections.append(Section(", ".join(parts), lines, workload=use.name))
        if not sections:
            sections = [Section("", [Line(_("no throughput over threads"), [DASH] * 6)])]
        notes = [
            _(
                "Saturated at: the fewest threads with {}% of the largest mean throughput. The "
                "other columns are the universal scalability law, fitted to all runs: knee, the "
                "threads of its largest throughput; ops/s of one thread; contention and coherency "
                "(what threads cost each other); off, how far a typical run is from it."
            ).format(f"{SATURATED * 100:.0f}"),
            *(note(mark, f"{text}.") for text, mark in marks.items()),
        ]
        return [Grid([head for head, _cell in columns], sections, notes, sortable=True)]


def _label(row, titles: dict[str, str], marks: dict[str, str]) -> str:
    """The store, with one of the ``marks`` where the fit is doubtful."""
    if not row.doubts:
        return titles[row.store]
    text = _("Doubtful: {}").format(sentence(row.doubts))
    mark = marks.setdefault(text, ascii_lowercase[len(marks) % 26])
    return Rich.escape(titles[row.store]) + raised(mark)


def _saturated(row) -> str:
    if math.isnan(row.saturation):
        return _("above {}").format(f"{row.most:.0f}")
    return f"{row.saturation:.0f}"


def _small(value: float) -> str:
    return decimal("< 0.00001") if value < 1e-5 else significant(value, 2)
