"""The latency that the path between clients and servers adds to an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.paths import added_latency
from kvstudy.exhibits.table import Table, interval_head, number_of
from kvstudy.language.current import _
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import Grid, Statistic, TableCell, TableRow, TableSection, cell_of
from kvstudy.layout.numbers import between, grouped, significant
from kvstudy.layout.rich_text import DASH
from kvstudy.libraries import pd
from kvstudy.study.base import Name, Operation

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class PathTable(Table):
    """Mean latency by path, and what each path adds to that of the direct one."""

    probes = True

    kind: Literal["path"] = Field(
        description="What each path to a store (network, delay) adds to the mean latency of an "
        "operation, compared with the same store reached by loopback."
    )
    workload: Name = Field(description="The workload.")
    operation: Operation = Field(default="read", description="The operation.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per store that has a direct path, see ``added_latency``."""
        return added_latency(run, self.workload, self.operation)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per store that is reached directly, a line per path."""
        trips = rows["round_trips"]
        one_trip = trips.eq(1).all()

        def runs(row) -> Statistic:
            of = (row.store, self.workload, run.headline[self.workload], self.operation)
            return Statistic("mean", ((*of, "latency_mean"),))

        columns = [
            (_("Runs"), number_of("n", "{:.0f}".format)),
            (_("Mean latency"), number_of("latency", significant, runs)),
            (_("Added"), number_of("added", significant)),
            (interval_head(), _interval),
            (_("Measured delay"), number_of("delay", significant)),
        ]
        if not one_trip:
            columns.append((_("Round trips"), number_of("round_trips", "{:.0f}".format)))
        sections = []
        for direct, of in rows.groupby("direct", sort=False):
            lines = [
                TableRow(run.titles[row.store], [cell(row) for _head, cell in columns], row.store)
                for row in of.itertuples()
            ]
            sections.append(TableSection(run.stores[direct].product, lines))
        notes = [
            _(
                "Latencies of {} in µs, arithmetic means of the runs. Added: mean difference to "
                "the same store reached by loopback, paired by repetition."
            ).format(sentence(self.operation))
        ]
        if one_trip:
            notes.append(_("One operation is one round trip."))
        return [Grid([head for head, _cell in columns], sections, notes, corner=_("Path"))]


def _interval(row) -> TableCell:
    if pd.isna(row.added):
        return cell_of(DASH)
    # Unlike the ends of a ratio, these may be below 0.
    if pd.isna(row.low):
        return cell_of(_("one run"))
    return cell_of(between(*(grouped(significant(end)) for end in (row.low, row.high))))
