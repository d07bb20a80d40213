"""Percentiles of latency: over all runs, and at fixed rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.open_loop import REACHED, of_workload
from kvstudy.exhibits.table import Table, sections_of
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import (
    CellText,
    Grid,
    Paper,
    TableRow,
    TableSection,
    cell_of,
    number_cell,
)
from kvstudy.layout.numbers import operation_word, rate, share, significant, whole
from kvstudy.layout.rich_text import DASH, italic
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME, Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

SHOWN = [50.0, 95.0, 99.0, 99.9]


class PercentilesTable(Table):
    """Percentiles from the histograms of all repetitions; a part of every report."""

    in_template = True
    own_caption = N_("Percentiles of service time over all runs")

    kind: Literal["percentiles"] = Field(
        description="Percentiles of the latencies of each workload over all repetitions."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """The rows of the analysis."""
        return run.headline_analysis.percentiles

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters, a line per store and operation."""

        def lines(store: str, of_store: pd.DataFrame) -> list[TableRow]:
            return [
                TableRow(
                    f"{run.titles[store]}, {operation_word(operation)}",
                    [_merged(row) for _percent, row in of.reindex(SHOWN).iterrows()],
                    store,
                )
                for operation, of in of_store.set_index("percent").groupby("operation", sort=False)
            ]

        sections = sections_of(rows, run.study, lines)
        if not sections:
            sections = [
                TableSection("", [TableRow(_("no run has a histogram"), [DASH] * len(SHOWN))])
            ]
        notes = [
            _("Service times in µs over the operations of all runs."),
            _("Percentiles with fewer than {} slower operations are omitted.").format(
                ENOUGH_BEYOND
            ),
        ]
        if (rows["n"] > 1).any():
            notes.insert(1, _("In brackets: range of the single runs."))
        heads = [decimal(f"{percent:g} %") for percent in SHOWN]
        return [Grid(heads, sections, [" ".join(notes)])]


def _merged(row: pd.Series) -> CellText:
    """The percentile of all runs, and the range of the single ones."""
    if not row["beyond"] >= ENOUGH_BEYOND:
        return DASH
    of_runs = f" [{whole(row['low'])}{DASH}{whole(row['high'])}]" if row["n"] > 1 else ""
    return cell_of(whole(row["value"]) + of_runs, row["value"])


TIMES_SHOWN = [(time, percent) for time in (SERVICE_TIME, INTENDED_TIME) for percent in SHOWN]


class OpenLoopTable(Table):
    """Latencies of a workload at fixed rates; a part of every report with open-loop cells."""

    in_template = True
    cells = "open loop"
    by_itself = True
    own_caption = N_("Latency at fixed rates, {}")

    kind: Literal["open-loop"] = "open-loop"
    workload: Name

    def rows(self, run: Run) -> pd.DataFrame:
        """A row per store, load, operation, kind of time and percentage."""
        rates, latencies = run.headline_analysis.open_rates, run.headline_analysis.open_percentiles
        return of_workload(rates, latencies, self.workload)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per store, a line per load."""
        together = rows[rows["operation"] == ALL]
        several = together["parameters"].nunique() > 1
        sections = []
        for store in run.study.store_names:
            lines = []
            of_store = together[together["store"] == store]
            for (parameters, load), of in of_store.groupby(["parameters", "load"], sort=True):
                label = decimal(f"{load:g} %") + (f", {parameters}" if several else "")
                lines.append(TableRow(label, _at_rate(of), store))
            lines += [
                TableRow(decimal(f"{percent} %"), [DASH] * (2 + len(TIMES_SHOWN)), store)
                for percent in run.study.open_loop.percents
                if percent not in set(of_store["load"])
            ]
            sections.append(TableSection(run.titles[store], lines))
        times = [_("Service time (ms)"), _("Intended time (ms)")]
        groups = [("", 1), ("", 1), *((time, len(SHOWN)) for time in times)]
        percents = [decimal(f"{percent:g} %") for percent in SHOWN]
        columns = [_("Rate"), pgettext("rate", "Reached"), *percents, *percents]
        notes, paper = _rate_notes(together, run.titles), Paper(gap=".22em", head=20)
        return [Grid(columns, sections, notes, _("Load"), groups, paper=paper)]


def _at_rate(group: pd.DataFrame) -> list[CellText]:
    first = group.iloc[0]
    reached, part = first["reached"] == first["n"], first["achieved"] / first["target"]
    cells = [
        number_cell(first["target"], whole),
        cell_of(f"{significant(part * 100)} %{'' if reached else ' !'}", part),
    ]
    of = group.set_index(["time", "percent"]).reindex(TIMES_SHOWN)
    for value in (of["value"] / 1000).where(of["beyond"] >= ENOUGH_BEYOND):
        cells.append(number_cell(value, lambda ms: rate(ms) if reached else italic(rate(ms))))
    return cells


def _rate_notes(together: pd.DataFrame, titles: dict[str, str]) -> list[str]:
    notes = [
        _(
            "Load: share of the throughput of the store's trial cell. Rate: target operations "
            "per second over all threads. Reached: achieved share of the rate in the whole "
            "seconds of sending (above 100 % after a slow start). Then latency percentiles in "
            "ms over all operations and repetitions. Percentiles with fewer than {} slower "
            "operations are omitted."
        ).format(ENOUGH_BEYOND)
    ]
    rates = together.drop_duplicates(["store", "parameters", "load"])
    if (rates["reached"] < rates["n"]).any():
        notes.append(
            _(
                "!: rate missed (less than {} of it in at least one run), so the latencies, in "
                "italics, do not belong to this load."
            ).format(share(REACHED))
        )
    for row in rates.itertuples():
        if row.note:
            load = decimal(f"{row.load:g} %")
            notes.append(f"{titles[row.store]}, {load}: {sentence(row.note)}.")
    return notes
