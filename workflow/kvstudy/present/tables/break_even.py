"""From how many reads per write on a cache pays off, over the number of records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.rounds import (
    FROM,
    Costs,
    Times,
    costs_of,
    hit_probability,
    printed,
    published_costs,
)
from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.language.current import N_, _
from kvstudy.libraries import pd
from kvstudy.present.tables.relative import span
from kvstudy.present.typeset.latex import DASH, marked, number_cell
from kvstudy.present.typeset.table import Grid, Line, Section, Table
from kvstudy.study.kinds import Caching

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

PRINTED = "printed"
# What a line of the source's values is made from.
ORIGINS = {
    "run times": N_("from its run times"),
    "rates": N_("from its rates"),
    PRINTED: N_("as it is printed"),
}
TIMES = ["write", "read", "cache_write", "cache_read", "cache_delete"]
COLUMNS = [
    *["records", "origin", *TIMES],
    *["crossing", "low", "high", "hits", "hits_low", "hits_high"],
]


class BreakEvenTable(Caching, Table):
    """The number of reads per write from which a cache pays off."""

    cells = "every size"

    kind: Literal["break-even"] = Field(
        description="From how many reads per write on a cache pays off, over the records."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        return self.values(run.headline_analysis.rounds, run.swept.published)

    def values(self, rounds: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
        """One row per number of records that was measured, then those of the source.

        Columns: records, origin (measured; run times, rates: the source's, by the same formula;
        printed: what the source states), times of one operation in us, crossing (reads per
        write; infinite where the cache never pays off) with its 95 % interval low to high,
        hits (the hit probability there, 0 to 1) with its own. NaN for what is not known.
        """
        times = Times(rounds, self.workload)
        pair = (self.database, self.cache)
        lines = []
        for records in times.records:
            costs = costs_of(times, *pair, records)
            if costs is not None:
                lines.append([records, MEASURED, *_numbers(costs)])
        for records, (crossing, hits) in printed(published, self.workload, *pair).items():
            for metric, origin in FROM.items():
                costs = published_costs(published, self.workload, *pair, records, metric)
                if costs is not None:
                    lines.append([records, origin, *_numbers(costs)])
            unknown = [math.nan] * 2
            lines.append([records, PRINTED, *[math.nan] * 5, crossing, *unknown, hits, *unknown])
        return pd.DataFrame(lines, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[2:], float))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per number of records, those of the source below."""
        database, cache = run.titles[self.database], run.titles[self.cache]
        here = [Line(grouped(str(row.records)), _cells(row)) for row in _of(rows, MEASURED)]
        sections = [Section(_("Measured, by records"), here or [Line(_("nothing"), [DASH] * 9)])]
        theirs = [
            Line(f"{grouped(str(row.records))}, {_(ORIGINS[origin])}", _cells(row))
            for origin in (*FROM.values(), PRINTED)
            for row in _of(rows, origin)
        ]
        notes = [
            _(
                "Times of one operation in µs: write and read of {}; write, read and deletion of "
                "{}. Crossing: reads per write from which on the cache pays off, with its 95 % "
                "interval (Fieller's, from the errors of the times). Hits: the share of reads that "
                "find their record in the cache then."
            ).format(database, cache)
        ]
        if theirs:
            sections.append(Section(_("Published, by records"), theirs))
            notes.append(_("The source's deletions are taken to cost as much as its writes."))
        columns = [
            *[f"{database}: W", "R", f"{cache}: w", "r", "D"],
            *[_("Crossing"), "95 %", _("Hits"), "95 %"],
        ]
        return [Grid(columns, sections, notes)]


def _numbers(costs: Costs) -> list[float | None]:
    values = [getattr(costs, name).value for name in TIMES]
    crossing = costs.crossing()
    if crossing is None:
        return [*values, math.inf, None, None, math.nan, None, None]
    hits = hit_probability(crossing)
    ends = (crossing.value, crossing.low, crossing.high)
    return [*values, *ends, hits.value, hits.low, hits.high]


def _of(frame: pd.DataFrame, origin: str):
    return frame[frame["origin"] == origin].itertuples()


def _cells(row) -> list[str]:
    times = [getattr(row, name) for name in TIMES]
    cells = [number_cell(time, lambda time: grouped(significant(time))) for time in times]
    if math.isinf(row.crossing):
        return [*cells, _("never"), DASH, DASH, DASH]
    interval = DASH if pd.isna(row.low) else span(row.low, row.high)
    hits = f"{_percent(row.hits_low)}{DASH}{_percent(row.hits_high)}"
    if pd.isna(row.hits_low):
        hits = DASH
    crossing = marked(significant(row.crossing), row.crossing)
    return [*cells, crossing, interval, marked(f"{_percent(row.hits)} %", row.hits), hits]


def _percent(share: float) -> str:
    return f"{share * 100:.0f}"
