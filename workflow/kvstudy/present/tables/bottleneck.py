"""The table of what limits each store's throughput."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import share, significant
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import Grid, Table, interval, number_of, store_grid

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class BottleneckTable(Table):
    """What limits each store's throughput; a part of every report."""

    controls = "all"
    finding = "bottleneck"
    own_caption = N_("What limits the throughput")

    kind: Literal["bottleneck"] = Field(
        description="CPU of client and server, and whether the client is the limit."
    )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and parameters."""
        tried = rows["clients"].notna().any()
        cores = rows["machine_cores"].max()
        two_digits = partial(significant, digits=2)
        columns = [
            (_("Client µs"), number_of("client_cpu", significant)),
            (_("Server µs"), number_of("server_cpu", significant)),
            (_("Client cores"), number_of("client_cores", two_digits)),
            (_("Server cores"), number_of("server_cores", two_digits)),
            (_("In calls"), number_of("in_call", share)),
            *([] if tried else [(_("Of ceiling"), number_of("ceiling", share))]),
            *([(_("Clients"), number_of("clients", "{:.0f}".format))] if tried else []),
            *([(_("Twice as many"), _twice)] if tried else []),
            (_("Client-bound"), lambda row: sentence(row.client_bound) or DASH),
        ]
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
        return [store_grid(rows, run, columns, [" ".join(notes)], sortable=True)]


def _twice(row) -> str:
    if pd.isna(row.twice):
        return DASH
    ends = interval(row.twice, row.twice_low, row.twice_high)
    return f"{significant(row.twice)} ({ends})"
