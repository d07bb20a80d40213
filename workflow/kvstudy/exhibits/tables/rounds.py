"""Times of two stores over the number of records: their ratio, and when a cache pays off."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.rounds import (
    FROM,
    ROUND_TIME,
    Costs,
    Times,
    costs_of,
    hit_probability,
    printed,
    published_costs,
)
from kvstudy.analyse.findings.spread import level_of
from kvstudy.analyse.tidy.results import over_records
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.exhibits.table import Table, number_of
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.layout.grid import (
    CellText,
    Grid,
    RunKey,
    Statistic,
    TableRow,
    TableSection,
    cell_of,
    number_cell,
)
from kvstudy.layout.numbers import between, grouped, rate, share, significant
from kvstudy.layout.rich_text import DASH, TIE, grey
from kvstudy.libraries import pd
from kvstudy.study.exhibits import Caching, OfRound, TwoStores

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

RATIO_COLUMNS = [
    *["records", "origin", "baseline_ms", "baseline_rate", "store_ms", "store_rate"],
    *["ratio", "low", "high", "rounds", "cells"],
]


class RelativeTable(TwoStores, Table):
    """Times and rates of two stores over the number of records, and their ratio."""

    in_template = True
    cells = "every size"

    kind: Literal["relative"] = Field(
        description="Times, rates and relative performance of two stores, by records."
    )
    operation: OfRound = Field(description="The operation of the rounds.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per number of records and origin (measured, published).

        Columns: records, origin, and for both stores the time of all operations of a round
        (ms) and the rate (ops/s); ratio (the baseline's time by the store's) with its 95 %
        interval low to high; rounds and cells behind them. NaN for what is not known.
        """
        times = Times(run.headline_analysis.rounds, self.workload, level_of(run.study))
        source = self._published(run)
        lines = []
        for records in sorted({*source, *times.records}):
            lines.append({"records": records, "origin": MEASURED} | self._numbers(times, records))
            if records in source:
                values = {name: value for name, (value, _printed) in source[records].items()}
                lines.append({"records": records, "origin": PUBLISHED} | values)
        return pd.DataFrame(lines, columns=RATIO_COLUMNS).astype(
            dict.fromkeys(RATIO_COLUMNS[2:], float)
        )

    def _numbers(self, times: Times, records: int) -> dict[str, float]:
        both = {"baseline": self.baseline, "store": self.store}
        rows = {role: times.row(name, records, self.operation) for role, name in both.items()}
        numbers = {}
        for role, row in rows.items():
            if row is not None:
                numbers[f"{role}_ms"] = row.time * row.operations / 1e3
                numbers[f"{role}_rate"] = 1e6 / row.time
        if ratio := times.relative(*both.values(), records, self.operation):
            numbers |= {"ratio": ratio.value, "low": ratio.low, "high": ratio.high}
            for name in ("rounds", "cells"):
                numbers[name] = min(getattr(row, name) for row in rows.values())
        return numbers

    def _keys(self, times: Times, records: int) -> list[tuple[RunKey, ...]]:
        """The keys of the baseline's times and of the store's; none where there is no time."""
        rows = [times.row(name, records, self.operation) for name in (self.baseline, self.store)]
        return [
            ((row.store, row.workload, row.parameters, self.operation, ROUND_TIME),) if row else ()
            for row in rows
        ]

    def _published(self, run: Run) -> dict[int, dict[str, tuple[float, str]]]:
        """By records that it has run times of: the source's values and how it printed them."""
        source = over_records(run.swept.published, self.workload)
        columns = {
            "baseline_ms": (self.baseline, "runtime"),
            "baseline_rate": (self.baseline, "throughput"),
            "store_ms": (self.store, "runtime"),
            "store_rate": (self.store, "throughput"),
            "ratio": (f"{self.store}/{self.baseline}", "relative_performance"),
        }
        return {
            records: {
                column: source.get((store, self.operation, metric, records), (math.nan, ""))
                for column, (store, metric) in columns.items()
            }
            for _store, operation, metric, records in source
            if (operation, metric) == (self.operation, "runtime")
        }

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per number of records, below it what the source printed."""
        source, pair = self._published(run), f"{self.baseline} {self.store}"
        times = Times(run.headline_analysis.rounds, self.workload)
        one, other = run.titles[self.baseline], run.titles[self.store]
        lines = []
        for row in rows.itertuples():
            if row.origin == MEASURED:
                label = cell_of(grouped(str(row.records)), row.records)
                lines.append(TableRow(label, _measured(row, self._keys(times, row.records)), pair))
            else:
                # Its words, with the decimal mark of the values above them.
                mark = run.study.source.printed.decimal_mark
                printed = [
                    decimal(text.replace(mark, "."))
                    or (DASH if math.isnan(value) else significant(value))
                    for value, text in source[row.records].values()
                ]
                lines.append(TableRow("", [grey(text) for text in [*printed, ""]], pair))
        notes = [
            _(
                "Total time of the {} operations of a round, and their rate; 1:x, where x is "
                "the time of {} divided by that of {}, with Fieller's 95 % interval. Times are "
                "sums of latencies, trimmed means over the counted rounds. {}: undecided, the "
                "interval contains 1."
            ).format(_(self.operation), one, other, TIE)
            + (" " + _("Below, in grey: published.") if source else "")
        ]
        if self.operation == "read":
            notes += _misses(run, self.workload)
        if (rows["cells"] == 1).any():
            notes.append(
                _(
                    "Intervals are over the rounds of one cell per size: they show how well the "
                    "rounds of one server and client repeat, not how another server would "
                    "perform."
                )
            )
        columns = [
            *(_("{}: time").format(one), "ops/s", _("{}: time").format(other), "ops/s"),
            *(f"{one}:{other}", _("95 % interval")),
        ]
        return [Grid(columns, [TableSection("", lines)], notes, corner=_("Records"))]


def _misses(run: Run, workload: str) -> list[str]:
    """A note of the reads that found nothing, where there are some."""
    rows = run.headline_analysis.rounds
    reads = rows[(rows["workload"] == workload) & (rows["operation"] == "read")]
    missed = reads[reads["missed"] > 0].groupby("records")["missed"].max()
    if missed.empty:
        return []
    text = _("With {} records, {} of the reads find nothing; their times are included.")
    counts = ", ".join(grouped(f"{records:.0f}") for records in missed.index)
    return [text.format(counts, ", ".join(map(share, missed)))]


def _measured(row, keys: list[tuple[RunKey, ...]]) -> list[CellText]:
    baseline, store = (Statistic("mean", of) if of else None for of in keys)
    cells = [
        *(number_cell(row.baseline_ms, duration, baseline), number_cell(row.baseline_rate, rate)),
        *(number_cell(row.store_ms, duration, store), number_cell(row.store_rate, rate)),
    ]
    if math.isnan(row.ratio):
        return [*cells, DASH, DASH]
    tie = f" {TIE}" if row.low <= 1 <= row.high else ""
    ratio = cell_of(f"1:{significant(row.ratio)}{tie}", row.ratio, Statistic("mean", *keys))
    return [*cells, ratio, _("one round") if math.isnan(row.low) else span(row.low, row.high)]


def span(low: float, high: float) -> str:
    """An interval; its upper end may be infinite."""
    if math.isinf(high):
        return _("above {}").format(significant(low))
    if low == 0:
        return _("below {}").format(significant(high))
    return between(significant(low), significant(high))


def duration(milliseconds: float) -> str:
    """With its unit: ms below a second, s up to two minutes, then min."""
    number, unit = milliseconds, "ms"
    if milliseconds >= 120_000:
        number, unit = milliseconds / 60_000, "min"
    elif milliseconds >= 1_000:
        number, unit = milliseconds / 1_000, "s"
    return f"{significant(number)}\N{NO-BREAK SPACE}{unit}"


PRINTED = "printed"
# What a line of the source's values is made from.
ORIGINS = {
    "run times": N_("from run times"),
    "rates": N_("from rates"),
    PRINTED: N_("as printed"),
}
TIMES = ["write", "read", "cache_write", "cache_read", "cache_delete"]
COST_COLUMNS = [
    *["records", "origin", *TIMES],
    *["crossing", "low", "high", "hits", "hits_low", "hits_high"],
]


class BreakEvenTable(Caching, Table):
    """The number of reads per write from which a cache pays off."""

    in_template = True
    cells = "every size"

    kind: Literal["break-even"] = Field(
        description="The number of reads per write from which a cache pays off, by records."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per number of records that was measured, then those of the source.

        Columns: records, origin (measured; run times, rates: the source's, by the same formula;
        printed: what the source states), times of one operation in us, crossing (reads per
        write; infinite where the cache never pays off) with its 95 % interval low to high,
        hits (the hit probability there, 0 to 1) with its own. NaN for what is not known.
        """
        times = Times(run.headline_analysis.rounds, self.workload, level_of(run.study))
        published, of = run.swept.published, (self.workload, self.database, self.cache)
        lines = [
            (records, MEASURED, _numbers(costs_of(times, self.database, self.cache, records)))
            for records in times.records
        ]
        for records, (crossing, hits) in printed(published, *of).items():
            for metric, origin in FROM.items():
                costs = published_costs(published, *of, records, metric)
                lines.append((records, origin, _numbers(costs)))
            lines.append((records, PRINTED, {"crossing": crossing, "hits": hits}))
        frame = pd.DataFrame(
            ({"records": records, "origin": origin} | of for records, origin, of in lines if of),
            columns=COST_COLUMNS,
        )
        return frame.astype(dict.fromkeys(COST_COLUMNS[2:], float))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per number of records, those of the source below."""
        database, cache = run.titles[self.database], run.titles[self.cache]

        def crossing(reads: float) -> str:
            return _("never") if math.isinf(reads) else significant(reads)

        columns = [
            (f"{database}: W", number_of("write", rate)),
            ("R", number_of("read", rate)),
            (f"{cache}: w", number_of("cache_write", rate)),
            ("r", number_of("cache_read", rate)),
            ("D", number_of("cache_delete", rate)),
            (_("Break-even"), number_of("crossing", crossing)),
            ("95 %", lambda row: DASH if math.isnan(row.low) else span(row.low, row.high)),
            (_("Hits"), number_of("hits", lambda hits: f"{hits * 100:.0f} %")),
            ("95 %", _hits),
        ]

        def lines(origin: str, words: str = "") -> list[TableRow]:
            return [
                TableRow(grouped(str(row.records)) + words, [cell(row) for _head, cell in columns])
                for row in rows[rows["origin"] == origin].itertuples()
            ]

        here = lines(MEASURED) or [TableRow(_("nothing"), [DASH] * len(columns))]
        theirs = [line for origin in ORIGINS for line in lines(origin, f", {_(ORIGINS[origin])}")]
        sections = [TableSection(_("Measured, by records"), here)]
        notes = [
            _(
                "Times per operation in µs: write and read of {}; write, read and deletion of "
                "{}. Break-even: reads per write from which the cache pays off, with Fieller's "
                "95 % interval. Hits: the cache's hit rate at that point."
            ).format(database, cache),
            *_misses(run, self.workload),
        ]
        if theirs:
            sections.append(TableSection(_("Published, by records"), theirs))
            notes.append(_("The source's deletions are assumed to take as long as its writes."))
        return [Grid([head for head, _cell in columns], sections, notes)]


def _numbers(costs: Costs | None) -> dict[str, float]:
    if costs is None:
        return {}
    numbers = {name: getattr(costs, name).value for name in TIMES}
    crossing = costs.crossing()
    if crossing is None:
        return numbers | {"crossing": math.inf}
    hits = hit_probability(crossing)
    return numbers | {
        **{"crossing": crossing.value, "low": crossing.low, "high": crossing.high},
        **{"hits": hits.value, "hits_low": hits.low, "hits_high": hits.high},
    }


def _hits(row) -> str:
    if math.isnan(row.hits_low):
        return DASH
    return f"{row.hits_low * 100:.0f}{DASH}{row.hits_high * 100:.0f}"
