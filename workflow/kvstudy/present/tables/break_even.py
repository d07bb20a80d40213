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
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import Grid, Line, Section, Table, number_of, rate
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
        """One row per number of records that was measured, then those of the source.

        Columns: records, origin (measured; run times, rates: the source's, by the same formula;
        printed: what the source states), times of one operation in us, crossing (reads per
        write; infinite where the cache never pays off) with its 95 % interval low to high,
        hits (the hit probability there, 0 to 1) with its own. NaN for what is not known.
        """
        times = Times(run.headline_analysis.rounds, self.workload)
        published, of = run.swept.published, (self.workload, self.database, self.cache)
        lines = []

        def add(records: int, origin: str, costs: Costs | None) -> None:
            if costs is not None:
                lines.append({"records": records, "origin": origin} | _numbers(costs))

        for records in times.records:
            add(records, MEASURED, costs_of(times, self.database, self.cache, records))
        for records, (crossing, hits) in printed(published, *of).items():
            for metric, origin in FROM.items():
                add(records, origin, published_costs(published, *of, records, metric))
            stated = {"records": records, "origin": PRINTED, "crossing": crossing, "hits": hits}
            lines.append(stated)
        return pd.DataFrame(lines, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[2:], float))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per number of records, those of the source below."""
        database, cache = run.titles[self.database], run.titles[self.cache]
        columns = [
            (f"{database}: W", number_of("write", rate)),
            ("R", number_of("read", rate)),
            (f"{cache}: w", number_of("cache_write", rate)),
            ("r", number_of("cache_read", rate)),
            ("D", number_of("cache_delete", rate)),
            (_("Crossing"), number_of("crossing", _crossing)),
            ("95 %", lambda row: DASH if math.isnan(row.low) else span(row.low, row.high)),
            (_("Hits"), number_of("hits", lambda share: f"{share * 100:.0f} %")),
            ("95 %", _hits),
        ]

        def lines(origin: str, words: str = "") -> list[Line]:
            return [
                Line(grouped(str(row.records)) + words, [cell(row) for _head, cell in columns])
                for row in rows[rows["origin"] == origin].itertuples()
            ]

        here = lines(MEASURED) or [Line(_("nothing"), [DASH] * len(columns))]
        theirs = [line for origin in ORIGINS for line in lines(origin, f", {_(ORIGINS[origin])}")]
        sections = [Section(_("Measured, by records"), here)]
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
        return [Grid([head for head, _cell in columns], sections, notes)]


def _numbers(costs: Costs) -> dict[str, float]:
    numbers = {name: getattr(costs, name).value for name in TIMES}
    crossing = costs.crossing()
    if crossing is None:
        return numbers | {"crossing": math.inf}
    hits = hit_probability(crossing)
    return numbers | {
        **{"crossing": crossing.value, "low": crossing.low, "high": crossing.high},
        **{"hits": hits.value, "hits_low": hits.low, "hits_high": hits.high},
    }


def _crossing(reads: float) -> str:
    return _("never") if math.isinf(reads) else significant(reads)


def _hits(row) -> str:
    if math.isnan(row.hits_low):
        return DASH
    return f"{row.hits_low * 100:.0f}{DASH}{row.hits_high * 100:.0f}"
