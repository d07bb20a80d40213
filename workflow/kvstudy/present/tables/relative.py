"""Times and rates of two stores over the number of records, and their relative performance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.rounds import Times
from kvstudy.analyse.tidy.numbers import between, grouped, significant
from kvstudy.analyse.tidy.results import over_records
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.language.current import _
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, TIE, grey, marked, number_cell
from kvstudy.present.typeset.table import Grid, Line, Section, Table
from kvstudy.study.kinds import OfRound, TwoStores

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["records", "origin", "baseline_ms", "baseline_rate", "store_ms", "store_rate"],
    *["ratio", "low", "high", "rounds", "cells"],
]


class RelativeTable(TwoStores, Table):
    """Times and rates of two stores over the number of records, and their ratio."""

    cells = "every size"

    kind: Literal["relative"] = Field(
        description="Times, rates and relative performance of two stores over the records."
    )
    operation: OfRound = Field(description="The operation of the rounds.")

    def rows(self, run: Run) -> pd.DataFrame:
        return self.values(run.headline_analysis.rounds, run.swept.published)

    def values(self, rounds: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
        """One row per number of records and origin (measured, published).

        Columns: records, origin, and for both stores the time of all operations of a round
        (ms) and the rate (ops/s); ratio (the baseline's time by the store's) with its 95 %
        interval low to high; rounds and cells behind them. NaN for what is not known.
        """
        times = Times(rounds, self.workload)
        source = over_records(published, self.workload)
        sizes = {key[3] for key in source if key[1] == self.operation and key[2] == "runtime"}
        lines = []
        for records in sorted(sizes.union(times.records)):
            lines.append([records, MEASURED, *self._numbers(times, records)])
            if records in sizes:
                values = [
                    source.get((store, self.operation, metric, records), (math.nan, ""))[0]
                    for store, metric in self._keys()
                ]
                lines.append([records, PUBLISHED, *values, *[None] * 4])
        return pd.DataFrame(lines, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[2:], float))

    def _numbers(self, times: Times, records: int) -> list[float | None]:
        both = (self.baseline, self.store)
        of = [times.row(name, records, self.operation) for name in both]
        numbers: list[float | None] = []
        for row in of:
            known = row is not None and row.time is not None
            numbers += [row.time * row.operations / 1e3, 1e6 / row.time] if known else [None] * 2
        ratio = times.relative(*both, records, self.operation)
        if ratio is None:
            return numbers + [None] * 5
        least = [min(getattr(row, name) for row in of) for name in ("rounds", "cells")]
        return [*numbers, ratio.value, ratio.low, ratio.high, *least]

    def _keys(self) -> list[tuple[str, str]]:
        """Store and metric of the source's values, in the order of a line."""
        both = (self.baseline, self.store)
        keys = [(name, of) for name in both for of in ("runtime", "throughput")]
        return [*keys, (f"{self.store}/{self.baseline}", "relative_performance")]

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per number of records, below it what the source printed."""
        source = over_records(run.swept.published, self.workload)
        one, other = run.titles[self.baseline], run.titles[self.store]
        pair = f"{self.baseline} {self.store}"
        lines = []
        for row in rows.itertuples():
            if row.origin == MEASURED:
                label = grouped(str(row.records))
                lines.append(Line(label, _measured(row), store=pair, value=row.records))
            else:
                cells = [grey(text) for text in self._printed(source, row.records)]
                lines.append(Line("", cells, store=pair))
        notes = [
            _(
                "Records; the time of all {} operations of a round and their rate; {}:{}, the time "
                "of {} ÷ that of {}, with its 95 % interval (Fieller's, from the "
                "errors of the two times). Times are sums of latencies, trimmed means over the "
                "rounds that count. {}: undecided, the interval contains 1."
            ).format(_(self.operation), one, other, one, other, TIE)
            + (" " + _("Below, in grey: published.") if source else "")
        ]
        if (rows["cells"] == 1).any():
            notes.append(
                _(
                    "The intervals are over the rounds of one cell for each size: they show how "
                    "well the rounds of one server and client repeat, not how another server would "
                    "do."
                )
            )
        columns = [
            *(_("{}: time").format(one), "ops/s", _("{}: time").format(other), "ops/s"),
            *(f"{one}:{other}", _("95 % interval")),
        ]
        return [Grid(columns, [Section("", lines)], notes)]

    def _printed(self, source: dict, records: int) -> list[str]:
        cells = []
        for store, metric in self._keys():
            value, printed = source.get((store, self.operation, metric, records), (None, ""))
            missing = value is None or pd.isna(value)
            cells.append(printed or (DASH if missing else significant(value)))
        return [*cells, ""]


def _measured(row) -> list[str]:
    cells = []
    for time, rate in ((row.baseline_ms, row.baseline_rate), (row.store_ms, row.store_rate)):
        cells.append(number_cell(time, duration))
        cells.append(number_cell(rate, lambda rate: grouped(significant(rate))))
    if pd.isna(row.ratio):
        return [*cells, DASH, DASH]
    tie = f" {TIE}" if row.low <= 1 <= row.high else ""
    ratio = marked(f"1:{significant(row.ratio)}{tie}", row.ratio)
    return [*cells, ratio, _("one round") if pd.isna(row.low) else span(row.low, row.high)]


def span(low: float, high: float) -> str:
    """An interval; its upper end may be infinite."""
    if math.isinf(high):
        return _("above {}").format(significant(low))
    return between(significant(low), significant(high))


def duration(milliseconds: float) -> str:
    """With its unit: ms below a second, s up to two minutes, then min."""
    space = "\N{NO-BREAK SPACE}"
    if milliseconds < 1_000:
        return f"{significant(milliseconds)}{space}ms"
    seconds = milliseconds / 1_000
    if seconds < 120:
        return f"{significant(seconds)}{space}s"
    return f"{significant(seconds / 60)}{space}min"
