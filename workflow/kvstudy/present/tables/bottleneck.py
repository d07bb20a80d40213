"""The table of what limits each store's throughput."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.bottleneck import TWICE
from kvstudy.analyse.tidy.numbers import share, significant
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, number_cell
from kvstudy.present.typeset.table import Grid, Line, Table, interval, sections_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class BottleneckTable(Table):
    """What limits each store's throughput; a part of every report."""

    controls = "all"
    own_caption = N_("What limits the throughput")

    kind: Literal["bottleneck"] = Field(
        description="CPU of client and server, and whether the client is the limit."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        return run.headline_analysis.bottleneck

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and parameters."""
        tried = rows["clients"].notna().any()
        cores = rows["machine_cores"].max()
        columns = [_("Client µs"), _("Server µs"), _("Client cores"), _("Server cores")]
        columns += [_("In calls")]
        columns += [_("Clients"), _("Twice as many")] if tried else [_("Of ceiling")]
        notes = [
            _("Geometric means over the runs. Client µs, Server µs: CPU time per operation."),
            _("Client cores, Server cores: cores in use.")
            if pd.isna(cores)
            else _("Client cores, Server cores: cores in use, of {}.").format(f"{cores:.0f}"),
            _("In calls: share of the client threads' time in calls to the store."),
            _(
                "Clients: how many share the threads. Twice as many: throughput of twice as many "
                "clients relative to theirs, with its 95 % interval; without it, these are the "
                "most that were tried."
            )
            if tried
            else _("Of ceiling: throughput relative to that of YCSB without a store."),
        ]

        def line(store: str, of: pd.DataFrame) -> Line:
            return Line(run.titles[store], _cells(of.iloc[0], tried), store)

        sections = sections_of(rows, run.study, line)
        return [Grid([*columns, _("Client-bound")], sections, [" ".join(notes)], sortable=True)]


def _cells(row: pd.Series, tried: bool) -> list[str]:
    if not tried:
        more = [number_cell(row["ceiling"], share)]
    else:
        more = [number_cell(row["clients"], "{:.0f}".format), DASH]
        if pd.notna(row["twice"]):
            ratio, low, high = row[TWICE]
            more[1] = f"{significant(ratio)} ({interval(ratio, low, high)})"
    return [
        *(number_cell(row[name], significant) for name in ("client_cpu", "server_cpu")),
        *(
            number_cell(row[name], lambda cores: significant(cores, 2))
            for name in ("client_cores", "server_cores")
        ),
        number_cell(row["in_call"], share),
        *more,
        sentence(row["client_bound"]) or DASH,
    ]
